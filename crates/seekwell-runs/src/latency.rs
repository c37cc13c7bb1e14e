//! A latency distribution in numbers.

use serde::{Deserialize, Serialize};

/// A latency distribution in numbers. A percentile is absent if too few requests were made for
/// it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub ns_min: u64,
    pub ns_mean: f64,
    pub ns_p50: Option<u64>,
    /// 90 %.
    pub ns_p90: Option<u64>,
    /// 99 %.
    pub ns_p99: Option<u64>,
    /// 99.9 %.
    pub ns_p99_9: Option<u64>,
    /// 99.99 %.
    pub ns_p99_99: Option<u64>,
    pub ns_max: u64,
}

//! The metrics an experiment may be about: their names, directions and margins.

use seekwell_job::PlainJob;
use seekwell_stats::{Better, Margin};
use seekwell_sys::classify;

const TIMES: [&str; 7] = ["mean", "p50", "p90", "p99", "p99_9", "p99_99", "max"];

/// A name that is no metric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given} is not a metric; the nearest is {nearest}")]
pub struct UnknownMetric {
    pub given: String,
    /// The most similar name.
    pub nearest: String,
}

classify!(UnknownMetric: Usage);

/// Every metric a run can give, by name.
pub fn names() -> Vec<String> {
    let mut all = Vec::new();
    for op in ["read", "write", "flush", "discard"] {
        all.push(format!("{op}.requests_per_s"));
        if op != "flush" {
            all.push(format!("{op}.rate_bytes_per_s"));
        }
        for kind in ["latency_ns", "response_ns"] {
            all.extend(TIMES.iter().map(|time| format!("{op}.{kind}_{time}")));
        }
    }
    let whole = ["cpu_percent", "cpu_ns_per_request", "requests_per_syscall"];
    all.extend(whole.map(str::to_owned));
    all
}

/// Whether this is a metric.
///
/// # Errors
/// [`UnknownMetric`] with the nearest name.
pub fn check_metric(given: &str) -> Result<(), UnknownMetric> {
    let all = names();
    if all.iter().any(|name| name == given) {
        return Ok(());
    }
    // Of the operation that was named, where one was.
    let op = given.split_once('.').map_or("", |(op, _)| op);
    let other = |name: &String| name.split_once('.').is_none_or(|(of, _)| of != op);
    let far = |name: &String| seekwell_sys::distance(given, name);
    let nearest = all.into_iter().min_by_key(|name| (other(name), far(name)));
    let nearest = nearest.unwrap_or_default();
    Err(UnknownMetric { given: given.chars().take(60).collect(), nearest })
}

/// Which direction of a metric is good.
pub fn better(metric: &str) -> Better {
    let rate = metric.ends_with("_per_s") || metric == "requests_per_syscall";
    if rate { Better::Higher } else { Better::Lower }
}

/// The margin of a metric if none was declared: ±2 %, for a tail of a latency ±5 %.
pub fn default_margin(metric: &str) -> Margin {
    let tail = ["_p99", "_p99_9", "_p99_99", "_max"].iter().any(|end| metric.ends_with(end));
    if tail { Margin::P99 } else { Margin::THROUGHPUT }
}

/// The metric if none was named: requests a second of what is done mostly; bytes a second where
/// the arms differ in the size of a request; the 99th percentile of response times where requests
/// arrive at a rate that is given.
pub fn default_metric(a: &PlainJob, b: &PlainJob) -> String {
    let op = if a.main_op() == "read" { b.main_op() } else { a.main_op() };
    let what = if a.rate_iops.is_some() && b.rate_iops.is_some() {
        "response_ns_p99"
    } else if a.block_bytes != b.block_bytes {
        "rate_bytes_per_s"
    } else {
        "requests_per_s"
    };
    format!("{op}.{what}")
}

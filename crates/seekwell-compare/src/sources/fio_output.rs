//! What fio says of a run, whether in JSON or in print.

use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Default, Deserialize)]
pub(super) struct Output {
    #[serde(rename = "fio version")]
    pub(super) version: String,
    #[serde(default, rename = "global options")]
    pub(super) global: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) jobs: Vec<FioJob>,
    #[serde(default)]
    pub(super) client_stats: Vec<FioJob>,
}

#[derive(Default, Deserialize)]
pub(super) struct FioJob {
    pub(super) jobname: String,
    #[serde(default)]
    pub(super) error: i64,
    #[serde(default)]
    pub(super) total_err: u64,
    #[serde(default, rename = "job options")]
    pub(super) options: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) read: Direction,
    #[serde(default)]
    pub(super) write: Direction,
    #[serde(default)]
    pub(super) trim: Direction,
    #[serde(default)]
    pub(super) sync: Sync,
    #[serde(default)]
    pub(super) usr_cpu: f64,
    #[serde(default)]
    pub(super) sys_cpu: f64,
}

/// Reads, writes or discards of a job.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Direction {
    pub(super) bw_bytes: f64,
    pub(super) iops: f64,
    pub(super) runtime: f64,
    pub(super) total_ios: u64,
    pub(super) lat_ns: Latency,
    pub(super) clat_ns: Latency,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Sync {
    pub(super) total_ios: u64,
    pub(super) lat_ns: Latency,
}

/// A distribution, in nanoseconds.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Latency {
    pub(super) max: f64,
    pub(super) mean: f64,
    #[serde(rename = "N")]
    pub(super) n: u64,
    pub(super) percentile: BTreeMap<String, f64>,
}

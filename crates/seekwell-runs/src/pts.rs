//! Results of SNIA's Solid State Storage Performance Test Specification on one target.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Tests of the specification, in the order they are run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pts {
    /// Why it is not a result of the specification, each reason a phrase; empty if it is one.
    pub short: Vec<String>,
    /// The options by name; they must be the same when the run is resumed.
    pub asked: BTreeMap<String, String>,
    /// Those that have begun.
    pub tests: Vec<PtsTest>,
}

/// A test of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PtsKind {
    /// Random requests of eight sizes and seven shares of reads (section 7).
    Iops,
    /// Sequential requests of 1024 KiB (section 8).
    Tp,
    /// Sequential requests of 128 KiB (section 8).
    #[serde(rename = "tp-128k")]
    Tp128k,
    /// Response times of one request at a time (section 9).
    Latency,
    /// Rate and response times over what is outstanding (Demand Intensity / Response Time
    /// Histogram).
    Dirth,
    /// The rate while the load changes and comes back (Cross Stimulus Recovery).
    Xsr,
}

impl PtsKind {
    pub const ALL: [Self; 6] =
        [Self::Iops, Self::Tp, Self::Tp128k, Self::Latency, Self::Dirth, Self::Xsr];

    /// Its name, as in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Tp => "tp",
            Self::Tp128k => "tp-128k",
            Self::Latency => "latency",
            Self::Dirth => "dirth",
            Self::Xsr => "xsr",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PtsTest {
    pub kind: PtsKind,
    /// Written from start to end before it (workload-independent preconditioning); 0 where the
    /// specification does not ask for it.
    pub written_first_bytes: u64,
    pub series: Vec<PtsSeries>,
    /// All its rounds are done.
    pub finished: bool,
}

/// Cells that are measured one after the other, round after round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PtsSeries {
    /// The phase that is tracked over the rounds.
    pub phase: String,
    /// The tracked figure.
    pub measure: Measure,
    /// Its value in each round that has one.
    pub rounds: Vec<f64>,
    /// The rounds that the cells' values cover; `None` if all count or too few are done.
    pub window: Option<PtsWindow>,
    pub cells: Vec<PtsCell>,
}

/// The rounds that count: the first five in a row that are steady, or the last five.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PtsWindow {
    /// The first of them, from 0.
    pub from: u32,
    pub rounds: u32,
    pub steady: bool,
    /// The mean of the tracked figure.
    pub mean: f64,
    /// The highest less the lowest, as a share of the mean; at most 0.2 where it is steady.
    pub range: f64,
    /// By how much the fitted line moves over the window, as a share of the mean; at most 0.1
    /// either way where it is steady.
    pub excursion: f64,
}

/// A workload in the tables of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PtsCell {
    pub phase: String,
    pub read_percent: u8,
    pub block_bytes: u32,
    pub threads: u32,
    /// Outstanding in each thread.
    pub depth: u32,
    /// `None` if no round that counts has a value.
    pub found: Option<PtsFound>,
}

/// Means over the rounds that count, each over reads and writes together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PtsFound {
    pub requests_per_s: f64,
    pub rate_bytes_per_s: f64,
    pub latency_ns_mean: f64,
    /// The 99.999th percentile of the last round; `None` if it has fewer than a million requests.
    pub latency_ns_p99_999: Option<u64>,
    /// The longest of all these rounds.
    pub latency_ns_max: u64,
}

/// A figure of a round, over reads, writes and discards together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    RequestsPerS,
    RateBytesPerS,
    LatencyNsMean,
}

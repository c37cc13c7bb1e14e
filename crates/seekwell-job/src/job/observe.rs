//! Which figures and logs are wanted of a job, when it is good enough, and what an error does.

use super::By;
use seekwell_io::units::Nanos;

/// The depth is searched so that latency stays below a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyTarget {
    /// The latency.
    pub target: Nanos,
    /// It has to hold over this long.
    pub window: Nanos,
    /// For this share of requests, of 100.
    pub percentile: f64,
    /// The depth is adjusted to the end of the run, not fixed when found.
    pub keep_adjusting: bool,
}

/// Which figure has to be steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Requests a second.
    Iops,
    /// Bytes a second.
    Bandwidth,
    /// Completion latency.
    Latency,
}

/// The job ends when it is steady.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyState {
    /// Which figure.
    pub metric: Metric,
    /// Its slope is looked at, else its largest deviation from the mean.
    pub slope: bool,
    /// The most it may be: percent of the mean where `percent`, else in the metric's unit
    /// (requests/s, bytes/s, nanoseconds), per second for a slope.
    pub limit: f64,
    /// What `limit` is measured in.
    pub percent: bool,
    /// Over this long.
    pub duration: Nanos,
    /// Looked at only after this.
    pub ramp: Nanos,
    /// Looked at this often.
    pub check_interval: Nanos,
}

/// Which latencies get percentiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentiles {
    /// Submission latency.
    pub slat: bool,
    /// Completion latency.
    pub clat: bool,
    /// Both together.
    pub lat: bool,
}

/// Which figures are wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Percentiles from 0 to 100, rising.
    pub percentile_list: Vec<f64>,
    /// Of which latencies.
    pub percentiles: Percentiles,
}

/// Which latency of a window is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowValue {
    /// The mean.
    Mean,
    /// The largest.
    Max,
    /// The mean and the largest.
    Both,
}

/// Which log files are wanted, by the name they begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logs {
    /// Bandwidth (`write_bw_log`).
    pub bandwidth: Option<String>,
    /// Latencies (`write_lat_log`).
    pub latency: Option<String>,
    /// Requests a second (`write_iops_log`).
    pub iops: Option<String>,
    /// Histograms (`write_hist_log`).
    pub histogram: Option<String>,
    /// One value per window of this length; zero for one per request.
    pub average: Nanos,
    /// What of a window is written.
    pub window: WindowValue,
    /// With the offset of each request.
    pub offset: bool,
    /// With the time at which each request was issued.
    pub issue_time: bool,
    /// With the priority of each request.
    pub prio: bool,
    /// One file per clone (`per_job_logs`).
    pub per_job: bool,
    /// Times are those of the Unix clock.
    pub unix_epoch: bool,
    /// A histogram every so often.
    pub histogram_every: Nanos,
    /// Bins are merged 2^n to one.
    pub histogram_coarseness: u8,
}

impl Logs {
    /// Whether any is wanted.
    pub fn any(&self) -> bool {
        [&self.bandwidth, &self.latency, &self.iops, &self.histogram].iter().any(|l| l.is_some())
    }
}

/// What a failed request does. Without any of these it ends the job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Errors {
    /// The job goes on after a failed read.
    pub continue_read: bool,
    /// The job goes on after a failed write.
    pub continue_write: bool,
    /// The job goes on after a block that does not verify.
    pub continue_verify: bool,
    /// Error numbers (errno) that do not count: for reads, for writes, for verifying (which here
    /// takes the third place).
    pub ignore: By<Vec<i32>>,
}

//! What one interval showed: `seekwell/top/1`.

use seekwell_io::request::Op;
use seekwell_limits::Now;
use seekwell_trace::stats::document::{Latency, Span};
use serde::Serialize;

/// Everything that completed in one interval, and what was outstanding at its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Interval {
    /// `seekwell/top/1`.
    pub schema: &'static str,
    /// Its end.
    pub time: String,
    /// Its length in seconds.
    pub interval_s: f64,
    /// Where the figures come from.
    pub source: Source,
    /// Events that the kernel could not keep, or requests that it could not count; if there are
    /// any, the figures are too low.
    pub lost_events: u64,
    /// The disks, the busiest first.
    pub devices: Vec<Disk>,
}

/// Where figures come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The kernel counted; the smallest and the largest latency are those of their bins.
    Counts,
    /// Every event was read.
    Events,
}

/// At which place requests of a disk are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// Queued, given to the driver and completed: the disk has a request queue.
    Requests,
    /// Queued and completed: its driver takes bios as they are (zram, md, dm).
    Bios,
}

/// One disk.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disk {
    /// Its name.
    pub device: String,
    /// At which place its requests are seen; `None` before the first.
    pub seen: Option<Seen>,
    /// Requests that completed, as programs and file systems made them.
    pub requests: u64,
    /// The same a second.
    pub requests_per_s: f64,
    /// Requests that the device completed, after merging and splitting; `None` of bios.
    pub requests_at_device: Option<u64>,
    /// Requests that ended with an error.
    pub failed: u64,
    /// Operations that there were.
    pub operations: Vec<Flow>,
    /// Response time, and where there is a request queue its two parts.
    pub latencies: Vec<Latency>,
    /// Histograms of the same.
    pub histograms: Vec<Bins>,
    /// Requests outstanding on average.
    pub depth_mean: f64,
    /// Most requests outstanding at once; `None` for counts.
    pub depth_max: Option<u64>,
    /// Part of the time with any request outstanding.
    pub busy_share: f64,
    /// Requests outstanding at the end.
    pub outstanding: u64,
    /// How long the oldest of them has been outstanding.
    pub oldest_ns: Option<u64>,
    /// What limits it; `None` without requests, and where it could not be inspected.
    pub limit: Option<Now>,
    /// Who moved or waited most, by bytes.
    pub processes: Vec<Process>,
}

impl Disk {
    /// What one operation amounted to.
    pub fn flow(&self, op: Op) -> Option<&Flow> {
        self.operations.iter().find(|flow| flow.op == op)
    }

    /// Latencies of one kind.
    pub fn latency(&self, span: Span) -> Option<&Latency> {
        self.latencies.iter().find(|latency| latency.span == span)
    }
}

/// Requests of one operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flow {
    /// Which.
    pub op: Op,
    /// How many completed.
    pub requests: u64,
    /// The same a second.
    pub requests_per_s: f64,
    /// Their bytes.
    pub bytes: u64,
    /// The same a second.
    pub bytes_per_s: f64,
    /// The sum of their response times.
    pub waited_ns: u64,
    /// Their response times; see `seekwell_io::histogram`.
    pub bins: Vec<(u32, u64)>,
}

/// A histogram.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bins {
    /// From where to where.
    pub span: Span,
    /// Number of the bin, and how many; see `seekwell_io::histogram`.
    pub bins: Vec<(u32, u64)>,
}

/// A process whose requests completed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Process {
    /// Its name; empty if no process queued them.
    pub process: String,
    /// Its number.
    pub pid: u32,
    /// How many.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The sum of their response times.
    pub waited_ns: u64,
}

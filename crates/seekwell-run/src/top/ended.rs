//! What completed on one disk in an interval, from either source.

use super::document::{Bins, Disk, Flow, Process, Seen};
use crate::record::in_flight;
use seekwell_io::histogram::Histogram;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_sys::View;
use seekwell_trace::stats::document::{Latency, Span};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;

/// The requests that completed.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub seen: Option<Seen>,
    pub moved: [Moved; 4],
    pub failed: u64,
    /// From the queue to the driver.
    pub queue: Histogram,
    /// From the driver to the completion, for all requests that the device completed.
    pub device: Histogram,
}

/// The requests of one operation.
#[derive(Debug, Default)]
pub(super) struct Moved {
    pub requests: u64,
    pub bytes: u64,
    /// From the queue to the completion.
    pub response: Histogram,
}

/// How many requests were outstanding.
#[derive(Debug, Default)]
pub(super) struct Depth {
    pub mean: f64,
    /// `None` if only counts are known.
    pub max: Option<u64>,
    pub busy_share: f64,
    /// At the end of the interval.
    pub outstanding: u64,
    pub oldest_ns: Option<u64>,
}

impl Ended {
    /// The figures of a disk for an interval of `seconds`.
    pub fn figures(&self, name: &str, seconds: f64, depth: Depth) -> Disk {
        let per_s = |n: u64| if seconds > 0.0 { n as f64 / seconds } else { 0.0 };
        let mut response = Histogram::default();
        let mut operations = Vec::new();
        for (op, moved) in Op::ALL.into_iter().zip(&self.moved) {
            response.merge(&moved.response);
            if moved.requests > 0 {
                operations.push(Flow {
                    op,
                    requests: moved.requests,
                    requests_per_s: per_s(moved.requests),
                    bytes: moved.bytes,
                    bytes_per_s: per_s(moved.bytes),
                    waited_ns: u64::try_from(moved.response.sum_ns()).unwrap_or(u64::MAX),
                    bins: moved.response.sparse(),
                });
            }
        }
        let requests = operations.iter().map(|flow| flow.requests).sum();
        let spans = Span::ALL.into_iter().zip([&self.queue, &self.device, &response]);
        let spans: Vec<(Span, &Histogram)> = spans.filter(|(_, h)| h.count() > 0).collect();
        let latency = |(span, h): &(Span, &Histogram)| Latency::of(*span, None, h);
        let bins = |(span, h): &(Span, &Histogram)| Bins { span: *span, bins: h.sparse() };
        let at_device = self.device.count();
        Disk {
            device: name.to_owned(),
            seen: self.seen,
            requests,
            requests_per_s: per_s(requests),
            requests_at_device: (self.seen == Some(Seen::Requests)).then_some(at_device),
            failed: self.failed,
            operations,
            latencies: spans.iter().filter_map(latency).collect(),
            histograms: spans.iter().map(bins).collect(),
            depth_mean: depth.mean,
            depth_max: depth.max,
            busy_share: depth.busy_share,
            outstanding: depth.outstanding,
            oldest_ns: depth.oldest_ns,
            limit: None,
            processes: Vec::new(),
        }
    }
}

/// Since when a disk has had requests that were queued before `top` started.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Held(Option<Nanos>);

impl Held {
    /// Adds them to the figures if they hang. Requests seen only once may have been queued since
    /// the interval ended.
    pub fn add_to(&mut self, disk: &mut Disk, until: Nanos, folder: &Path, view: &dyn View) {
        let idle = disk.requests + disk.outstanding == 0;
        let held = if idle { in_flight(view, folder) } else { 0 };
        if held == 0 {
            self.0 = None;
        } else if let Some(since) = self.0 {
            (disk.outstanding, disk.oldest_ns) = (held, Some(until.since(since).0));
            (disk.depth_mean, disk.depth_max, disk.busy_share) = (held as f64, Some(held), 1.0);
        } else {
            self.0 = Some(until);
        }
    }
}

/// What a process did.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usage {
    pub requests: u64,
    pub bytes: u64,
    pub waited_ns: u64,
}

impl Usage {
    pub fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.waited_ns = self.waited_ns.saturating_add(other.waited_ns);
    }
}

/// The processes that moved the most bytes and those that waited longest, by number and name.
pub(super) fn leading(sums: HashMap<(u32, String), Usage>, most: usize) -> Vec<Process> {
    let process = |((pid, process), Usage { requests, bytes, waited_ns })| Process {
        process,
        pid,
        requests,
        bytes,
        waited_ns,
    };
    let mut all: Vec<Process> = sums.into_iter().map(process).collect();
    all.sort_by_key(|process| (Reverse(process.waited_ns), process.pid));
    let rest = all.split_off(all.len().min(most));
    let mut moved: Vec<u64> = all.iter().chain(&rest).map(|process| process.bytes).collect();
    moved.sort_unstable_by_key(|bytes| Reverse(*bytes));
    let least = moved.get(most.saturating_sub(1)).map_or(1, |bytes| (*bytes).max(1));
    all.extend(rest.into_iter().filter(|process| process.bytes >= least));
    all.sort_by_key(|process| (Reverse(process.bytes), Reverse(process.waited_ns)));
    all
}

/// Sorts disks, the busiest first.
pub(super) fn busiest_first(disks: &mut [Disk]) {
    disks.sort_by(|a, b| {
        let key = |disk: &Disk| (disk.depth_mean, disk.requests_per_s);
        key(b).partial_cmp(&key(a)).unwrap_or(std::cmp::Ordering::Equal)
    });
}

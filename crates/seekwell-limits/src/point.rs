//! A phase as a point: how deep, how large, how fast.

use seekwell_io::workload::{Pace, Pattern, Workload};
use seekwell_runs::Phase;

/// Under this share of the bytes reaching the device, a number is a cache's.
const HONEST_SHARE: f64 = 0.9;

/// What the requests of a phase are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Read,
    Write,
    Mixed,
}

impl Op {
    /// Its name in documents; a mix has none.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Read => Some("read"),
            Self::Write => Some("write"),
            Self::Mixed => None,
        }
    }

    /// Writes of reads, reads of writes.
    pub const fn other(self) -> Option<Self> {
        match self {
            Self::Read => Some(Self::Write),
            Self::Write => Some(Self::Read),
            Self::Mixed => None,
        }
    }
}

/// A phase of a closed loop past the page cache, of which every request went to the device.
#[derive(Debug, Clone, Copy)]
pub struct Point<'a> {
    pub phase: &'a Phase,
    pub op: Op,
    pub sequential: bool,
    /// Bytes of a request, on average.
    pub bytes: f64,
    /// Requests outstanding, of all threads.
    pub depth: u32,
    /// Reads and writes.
    pub requests_per_s: f64,
    pub bytes_per_s: f64,
    /// Whether writes are flushed as they come.
    pub flushes: bool,
}

impl<'a> Point<'a> {
    pub fn of(phase: &'a Phase) -> Option<Self> {
        let workload = phase.workload.plain()?;
        let Pace::Closed { depth } = workload.pace else { return None };
        if !is_honest(phase, workload) || !workload.discards.is_none() {
            return None;
        }
        let (requests_per_s, bytes_per_s) = rates(phase)?;
        Some(Self {
            phase,
            op: match workload.read_percent {
                0 => Op::Write,
                100.. => Op::Read,
                _ => Op::Mixed,
            },
            sequential: workload.pattern == Pattern::Sequential,
            bytes: size(workload).unwrap_or(bytes_per_s / requests_per_s),
            depth: depth.saturating_mul(workload.threads).max(1),
            requests_per_s,
            bytes_per_s,
            flushes: workload.flush_every > 0,
        })
    }

    pub fn is_large(&self) -> bool {
        self.bytes >= f64::from(64 << 10)
    }

    pub fn is_random_read(&self, depth: u32) -> bool {
        self.op == Op::Read && !self.sequential && !self.is_large() && self.depth == depth
    }

    /// Whether it differs from another in depth alone.
    pub fn is_like(&self, other: &Self) -> bool {
        let (a, b) = (self.bytes, other.bytes);
        let same_kind = self.op == other.op && self.sequential == other.sequential;
        same_kind && self.flushes == other.flushes && (a / b - 1.0).abs() < 0.05
    }
}

fn is_honest(phase: &Phase, workload: &Workload) -> bool {
    // Buffered writes that are flushed one by one wait for the device too.
    let reaches = workload.direct || workload.read_percent == 0 && workload.flush_every == 1;
    reaches && phase.median("device_share").is_none_or(|share| share >= HONEST_SHARE)
}

/// Requests and bytes a second of reads and writes, if there are any; one follows from the other
/// where requests are of one size.
pub fn rates(phase: &Phase) -> Option<(f64, f64)> {
    let sum = |metric: &str| -> Option<f64> {
        let of = |op: &&str| phase.median(&format!("{op}.{metric}"));
        let sum: f64 = ["read", "write"].iter().filter_map(of).sum();
        (sum.is_finite() && sum > 0.0).then_some(sum)
    };
    let size = || size(phase.workload.plain()?);
    match (sum("requests_per_s"), sum("rate_bytes_per_s")) {
        (Some(requests), Some(bytes)) => Some((requests, bytes)),
        (Some(requests), None) => Some((requests, requests * size()?)),
        (None, Some(bytes)) => Some((bytes / size()?, bytes)),
        (None, None) => None,
    }
}

/// The size of every request, if they have one.
fn size(workload: &Workload) -> Option<f64> {
    match workload.sizes.as_slice() {
        [only] if only.bytes > 0 => Some(f64::from(only.bytes)),
        _ => None,
    }
}

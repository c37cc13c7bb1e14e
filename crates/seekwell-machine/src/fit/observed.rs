//! What a machine is fitted to: facts of the disk, and phases with what they gave.

use super::{FitError, MOST_DRIFT_PERCENT};
use crate::link::SataSpeed;
use seekwell_io::workload::{Pace, Pattern, Workload};

/// Bytes of the requests of which a curve over depth is made.
const CURVE_BYTES: u32 = 4096;

/// What is known of the disk without measuring.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// What the machine is to be called.
    pub title: String,
    /// Bytes that can be addressed.
    pub capacity_bytes: u64,
    /// Bytes of a sector.
    pub sector_bytes: u32,
    /// Whether it is reported as rotating.
    pub rotational: Option<bool>,
    /// Revolutions per minute, where it says.
    pub rpm: Option<f64>,
    /// The queue depth it reports.
    pub depth: Option<u32>,
    /// The agreed speed of its SATA link, if it has one.
    pub link: Option<SataSpeed>,
}

/// A phase and what it gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// Its name.
    pub phase: String,
    /// What it did.
    pub workload: Workload,
    /// Reads and writes a second: median of the repeats.
    pub requests_per_s: f64,
    /// Half of what lies between the lowest and the highest repeat, in percent of the median.
    pub spread_percent: f64,
    /// Times of single reads.
    pub reads: Times,
    /// Times of single writes.
    pub writes: Times,
}

/// Adds what a later run of the same disk gave. Where it repeats a job, the disk then and the disk
/// now are compared, and all that the run gave is scaled to the disk as it was: a fit to two states
/// of a disk is a fit to neither. What was allowed for is added to the spread of the repeats.
///
/// # Errors
/// [`FitError::Drifted`] where the disk is not the same any more.
pub fn join(
    observed: &mut Vec<Observed>,
    run: &str,
    mut later: Vec<Observed>,
) -> Result<(), FitError> {
    let ratio = |now: &Observed| {
        let then = observed.iter().find(|then| then.measured(&now.workload))?;
        Some((now.requests_per_s / then.requests_per_s, then.phase.clone()))
    };
    let known: Vec<(f64, String)> = later.iter().filter_map(ratio).collect();
    let ratio = super::mean(known.iter().map(|(ratio, _)| ratio.ln())).exp();
    let drift_percent = 100.0 * (ratio - 1.0);
    if drift_percent.abs() > MOST_DRIFT_PERCENT {
        let phases = known.into_iter().map(|(_, phase)| phase).collect();
        return Err(FitError::Drifted { run: run.to_owned(), phases, drift_percent });
    }
    for one in &mut later {
        one.requests_per_s /= ratio;
        one.spread_percent += drift_percent.abs();
        for times in [&mut one.reads, &mut one.writes] {
            times.points.iter_mut().for_each(|(_, ns)| *ns *= ratio);
            times.mean_ns = times.mean_ns.map(|ns| ns * ratio);
        }
    }
    observed.append(&mut later);
    Ok(())
}

/// Times of single requests, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Times {
    /// Points of their distribution, ascending: the share of requests that take at most this many
    /// nanoseconds. Empty if nothing is known of it.
    pub points: Vec<(f64, f64)>,
    /// Their mean in nanoseconds.
    pub mean_ns: Option<f64>,
}

impl Times {
    /// The distribution by factors of the mean.
    pub fn factors(&self) -> Option<Vec<(f64, f64)>> {
        let mean = self.mean_ns.filter(|mean| *mean > 0.0 && self.points.len() > 1)?;
        let rounded = |value: f64| (value * 1e4).round() / 1e4;
        Some(self.points.iter().map(|(share, ns)| (*share, rounded(ns / mean))).collect())
    }
}

/// What a phase shows of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A point of the curve: random reads at a depth.
    Curve(u32),
    /// Random writes at a depth.
    Writes(u32),
    /// Large reads in sequence.
    SequentialRead,
    /// Large writes in sequence.
    SequentialWrite,
    /// Other reads of more than the curve's, large at random places or small in sequence.
    OtherRead,
    /// The same of writes.
    OtherWrite,
    /// Random reads beside random writes.
    Mix,
    /// One write made durable after the other.
    Commit,
}

impl Observed {
    /// Requests kept outstanding, of all threads.
    pub fn depth(&self) -> u32 {
        self.workload.pace.depth() * self.workload.threads
    }

    /// What it shows; `None` for what no fit uses.
    pub fn role(&self) -> Option<Role> {
        let w = &self.workload;
        let closed = matches!(w.pace, Pace::Closed { .. });
        let [size] = w.sizes.as_slice() else { return None };
        if !closed || !w.direct || !w.discards.is_none() || self.requests_per_s <= 0.0 {
            return None;
        }
        let small = size.bytes == CURVE_BYTES;
        let large = size.bytes > 4 * CURVE_BYTES;
        match (w.pattern, w.read_percent, w.flush_every) {
            (Pattern::Random, 100, 0) if small => Some(Role::Curve(self.depth())),
            (Pattern::Random, 0, 0) if small => Some(Role::Writes(self.depth())),
            (Pattern::Random, 1..100, 0) if small => Some(Role::Mix),
            (Pattern::Sequential, 100, 0) if large => Some(Role::SequentialRead),
            (Pattern::Sequential, 0, 0) if large => Some(Role::SequentialWrite),
            (Pattern::Sequential, 0, 1) if small && self.depth() == 1 => Some(Role::Commit),
            (_, 100, 0) if size.bytes > CURVE_BYTES => Some(Role::OtherRead),
            (_, 0, 0) if size.bytes > CURVE_BYTES => Some(Role::OtherWrite),
            _ => None,
        }
    }

    /// Whether a job is the one that was measured here.
    pub fn measured(&self, job: &Workload) -> bool {
        let w = &self.workload;
        let depth = job.pace.depth() * job.threads;
        w.pattern == job.pattern
            && w.read_percent == job.read_percent
            && w.max_bytes() == job.max_bytes()
            && self.depth() == depth
            && w.flush_every == job.flush_every
            && (w.offset_bytes, w.region_bytes) == (job.offset_bytes, job.region_bytes)
    }

    /// Time of a request in a closed loop, in nanoseconds.
    pub fn time_ns(&self) -> f64 {
        f64::from(self.depth()) * 1e9 / self.requests_per_s
    }
}

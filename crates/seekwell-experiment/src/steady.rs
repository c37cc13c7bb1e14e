//! Whether the disk had settled inside the runs.
//!
//! A single run of a noisy machine wanders without meaning anything, so it is the mean course of an
//! arm's runs that is judged, and only against what the runs agree on: chance averages out over
//! them, and what is left is what every run does, such as a write cache that fills up half-way.

use crate::document::Run;
use seekwell_io::measurement::Series;
use seekwell_io::units::Nanos;
use seekwell_stats::{Arm, InRun, Traffic, over_runs};

/// Runs shorter than this are not judged: five samples of a second.
pub const SHORTEST_JUDGED: Nanos = Nanos::from_millis(5000);

/// Parts a run is cut into.
const PARTS: usize = 20;

/// The rate over a run in equal parts as shares of its mean, the last step left out if it is not
/// whole. Empty when the run was too short to be judged, or did nothing.
pub fn course(series: &Series, elapsed: Nanos) -> Vec<f64> {
    if elapsed < SHORTEST_JUDGED || series.step_ns == Nanos::ZERO {
        return Vec::new();
    }
    let whole = (elapsed.0 / series.step_ns.0) as usize;
    let rates: Vec<f64> = series.steps[..whole.min(series.steps.len())]
        .iter()
        .map(|step| step.requests.iter().sum::<u64>() as f64)
        .collect();
    let width = (rates.len() / PARTS).max(1);
    let parts: Vec<f64> = rates.chunks_exact(width).map(|c| c.iter().sum()).collect();
    let mean = parts.iter().sum::<f64>() / parts.len().max(1) as f64;
    if mean > 0.0 { parts.into_iter().map(|p| p / mean).collect() } else { Vec::new() }
}

/// The courses of an arm's runs, judged; `None` if no run has one.
pub(crate) fn judge(runs: &[Run], arm: Arm, traffic: Traffic) -> Option<InRun> {
    let of_arm = runs.iter().filter(|r| r.arm == arm && !r.course.is_empty());
    over_runs(&of_arm.map(|r| r.course.as_slice()).collect::<Vec<_>>(), traffic)
}

//! What a ratio typically is, from rounds in which both sides were measured.

use seekwell_runs::together::Efficiency;
use seekwell_stats::estimate;

/// On the log scale: exact by signed ranks from six rounds on, Student's below.
pub fn efficiency(ratios: &[f64]) -> Option<Efficiency> {
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let estimate = estimate(&logs)?;
    let interval = estimate.interval95.or(estimate.t95)?;
    Some(Efficiency {
        ratio: estimate.centre.exp(),
        low: interval.low.exp(),
        high: interval.high.exp(),
    })
}

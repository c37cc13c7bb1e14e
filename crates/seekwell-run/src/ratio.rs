//! What a ratio typically is, from rounds in which both sides were measured.

use seekwell_runs::together::Ratio;
use seekwell_stats::estimate;

/// On the log scale: exact by signed ranks from six rounds on, Student's below.
pub fn typical(ratios: &[f64]) -> Option<Ratio> {
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let estimate = estimate(&logs)?;
    let interval = estimate.interval95.or(estimate.t95)?;
    Some(Ratio { ratio: estimate.centre.exp(), low: interval.low.exp(), high: interval.high.exp() })
}

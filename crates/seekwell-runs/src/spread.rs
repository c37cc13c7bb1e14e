//! One metric over several runs.

use serde::{Deserialize, Serialize};

/// A metric over repeats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Middle value (mean of the middle two).
    pub median: f64,
    /// Smallest; of a machine that was fitted to a disk, less by the fit's error.
    pub low: f64,
    /// Largest; of a machine that was fitted to a disk, more by the fit's error.
    pub high: f64,
    pub n: u32,
}

impl Spread {
    /// The spread of some values; `None` of none, or where one is not a number.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let half = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[half]
        } else {
            f64::midpoint(sorted[half - 1], sorted[half])
        };
        Some(Self {
            median,
            low: sorted[0],
            high: sorted[sorted.len() - 1],
            n: sorted.len() as u32,
        })
    }

    /// (high − low) / median: how far apart the repeats are.
    pub fn relative(&self) -> f64 {
        if self.median == 0.0 { 0.0 } else { (self.high - self.low) / self.median }
    }
}

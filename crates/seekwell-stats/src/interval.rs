//! Intervals on the log scale, and as percentages.

use serde::{Deserialize, Serialize};

/// A closed interval. Of log ratios wherever this crate makes one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end, not below `low`.
    pub high: f64,
}

impl Interval {
    /// Half of the distance between the ends.
    pub fn half_width(self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Whether `x` lies in it, ends included.
    pub fn contains(self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// Whether all of it lies strictly between `-bound` and `bound`.
    pub fn within(self, bound: f64) -> bool {
        -bound < self.low && self.high < bound
    }

    /// The same interval as changes in per cent, for an interval of log ratios.
    pub fn percent(self) -> Self {
        Self { low: percent(self.low), high: percent(self.high) }
    }
}

/// A log ratio as a change in per cent: ln 1.05 gives 5.
pub fn percent(log_ratio: f64) -> f64 {
    log_ratio.exp_m1() * 100.0
}

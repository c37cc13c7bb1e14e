//! Two groups of runs that were not interleaved: stored configurations, each run several times.
//!
//! Everything that changed between the groups is in the difference, so the numbers come with the
//! design's caveat. One run of each is a difference, never a verdict.

use crate::design::log;
use crate::gate::Gate;
use crate::interval::{Interval, percent};
use crate::margin::{Better, Margin};
use crate::rank::{median_sorted, sorted};
use crate::rank_sum::{mann_whitney, shift_interval};
use crate::verdict::{Sample, Verdict, decide};
use serde::{Deserialize, Serialize};

/// Fewest runs of each for which two groups of one size have a 95 % interval: 2 / C(8, 4) is below
/// 0.05, 2 / C(6, 3) not.
const RUNS_FLOOR: u32 = 4;

/// How the runs compared were laid out in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Blocks or pairs in a random order.
    Interleaved,
    /// Several runs of each, at separate times.
    Separate,
    /// One run of each.
    OneEach,
}

impl Design {
    /// The design of two groups of stored runs.
    pub fn of_runs(a: usize, b: usize) -> Self {
        if a <= 1 && b <= 1 { Self::OneEach } else { Self::Separate }
    }

    /// What must accompany every number of this design.
    pub fn caveat(self) -> Option<&'static str> {
        match self {
            Self::Interleaved => None,
            Self::Separate => Some(
                "not interleaved: whatever else changed between the runs is part of the difference",
            ),
            Self::OneEach => {
                Some("one run each: how far two runs of one setting lie apart is not known")
            }
        }
    }
}

/// Two groups of stored runs compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupComparison {
    /// How they were laid out; its caveat belongs beside the numbers.
    pub design: Design,
    /// Median of A, in the metric's unit.
    pub median_a: f64,
    /// Median of B, in the metric's unit.
    pub median_b: f64,
    /// Change from A to B in per cent, from the shift of the logarithms; `None` when a value has
    /// none.
    pub percent: Option<f64>,
    /// Its 95 % interval, per cent; `None` with too few runs.
    pub interval95: Option<Interval>,
    /// Two-sided p value of the rank-sum test; `None` for one run each.
    pub p: Option<f64>,
    /// The verdict; [`Verdict::TooFew`] for one run each, always.
    pub verdict: Verdict,
}

/// Compares runs of A with runs of B that were not interleaved, one value per run. `None` when a
/// group is empty. A value without a logarithm makes the verdict [`Verdict::Invalid`], without an
/// estimate.
pub fn compare_groups(
    a: &[f64],
    b: &[f64],
    margin: Margin,
    better: Better,
) -> Option<GroupComparison> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let design = Design::of_runs(a.len(), b.len());
    let median = |x| sorted(x).map_or(f64::NAN, |sorted| median_sorted(&sorted));
    let mut comparison = GroupComparison {
        design,
        median_a: median(a),
        median_b: median(b),
        percent: None,
        interval95: None,
        p: None,
        verdict: Verdict::TooFew {
            have: Sample::Runs { a: a.len() as u32, b: b.len() as u32 },
            need: Sample::Runs { a: RUNS_FLOOR, b: RUNS_FLOOR },
        },
    };
    let logs = |x: &[f64]| x.iter().map(|v| log(*v)).collect::<Option<Vec<f64>>>();
    let (Some(log_a), Some(log_b)) = (logs(a), logs(b)) else {
        let index = a.iter().chain(b).position(|v| log(*v).is_none()).unwrap_or_default() as u32;
        comparison.verdict = Verdict::Invalid { gate: Gate::NotANumber { index } };
        return Some(comparison);
    };
    let test = mann_whitney(&log_a, &log_b)?;
    comparison.percent = Some(percent(test.shift));
    if design == Design::OneEach {
        return Some(comparison);
    }
    comparison.p = Some(test.p);
    let wide = shift_interval(&log_a, &log_b, 0.95);
    comparison.interval95 = wide.map(Interval::percent);
    if let (Some(wide), Some(narrow)) = (wide, shift_interval(&log_a, &log_b, 0.90)) {
        let sample = Sample::Runs { a: a.len() as u32, b: b.len() as u32 };
        comparison.verdict = decide(test.shift, wide, narrow, sample, margin, better);
    }
    Some(comparison)
}

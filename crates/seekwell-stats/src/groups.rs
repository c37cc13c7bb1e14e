//! Two groups of runs that were not interleaved: stored configurations, each run several times.
//!
//! Everything that changed between the groups is in the difference, so the numbers come with the
//! design's caveat. One run of each is a difference, never a verdict.

use crate::design::log;
use crate::gate::Gate;
use crate::interval::{Interval, percent};
use crate::margin::{Better, Margin};
use crate::rank::{cutoff, doubled_ranks, median_sorted, sorted, tail, two_sided};
use crate::verdict::{Sample, Verdict, decide};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// Fewest runs of each for which two groups of one size have a 95 % interval: 2 / C(8, 4) is below
/// 0.05, 2 / C(6, 3) not.
const RUNS_FLOOR: u32 = 4;
/// Up to so many values in both groups the distribution with ties is computed exactly.
const EXACT_TIES: usize = 60;

/// How the runs compared were laid out in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Blocks or pairs in a random order.
    Interleaved,
    /// Several runs of each, at times of their own.
    Separate,
    /// One run of each.
    OneEach,
}

impl Design {
    /// The design of two groups of stored runs.
    pub fn of_runs(a: usize, b: usize) -> Self {
        if a <= 1 && b <= 1 { Self::OneEach } else { Self::Separate }
    }

    /// What must be said beside every number of this design.
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

/// Test and estimate of the shift between two groups.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MannWhitney {
    /// Pairs in which the second group's value is the higher, ties counting a half.
    pub statistic: f64,
    /// Two-sided p value: exact, given the ties; with ties among more than 60 values normal.
    pub p: f64,
    /// Median of all differences second - first (Hodges & Lehmann 1963).
    pub shift: f64,
}

/// The rank-sum test of Mann & Whitney (1947, Ann. Math. Statist. 18:50–60) with the shift that
/// belongs to it. `None` when a group is empty or a value not finite.
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Option<MannWhitney> {
    let differences = differences(first, second)?;
    let shift = median_sorted(&differences);
    let all: Vec<f64> = first.iter().chain(second).copied().collect();
    let (ranks, ties) = doubled_ranks(&all);
    let sum: usize = ranks[first.len()..].iter().sum();
    let (m, n) = (first.len(), second.len());
    let doubled = sum - n * (n + 1);
    let p = if ties.len() == all.len() {
        two_sided(&null_distribution(m, n), doubled / 2)
    } else if all.len() <= EXACT_TIES {
        two_sided(&rank_sums(&ranks, n), sum)
    } else {
        normal_p(doubled as f64 / 2.0, m as f64, n as f64, &ties)
    };
    Some(MannWhitney { statistic: doubled as f64 / 2.0, p, shift })
}

/// Interval of the shift second - first with at least `confidence`: of the mn sorted differences D,
/// and k the largest with P(U <= k) <= (1 - confidence) / 2, it is [D(k+1), D(mn-k)]. `None` when
/// the groups are too small for it, a value is not finite, or the confidence not inside (0, 1).
pub fn shift_interval(first: &[f64], second: &[f64], confidence: f64) -> Option<Interval> {
    let differences = differences(first, second)?;
    let k = cutoff(&null_distribution(first.len(), second.len()), tail(confidence)?)?;
    Some(Interval { low: *differences.get(k)?, high: differences[differences.len() - 1 - k] })
}

fn differences(first: &[f64], second: &[f64]) -> Option<Vec<f64>> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    sorted(&first.iter().flat_map(|x| second.iter().map(move |y| y - x)).collect::<Vec<_>>())
}

/// P(U = u) for u = 0 … mn without ties. The largest of all values is one of the second group with
/// chance n / (m + n), and then above all m of the first (Mann & Whitney 1947, their recurrence).
pub fn null_distribution(m: usize, n: usize) -> Vec<f64> {
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; n + 1];
    for i in 1..=m {
        for j in 1..=n {
            let share = j as f64 / (i + j) as f64;
            let mut weights = vec![0.0; i * j + 1];
            for (u, p) in row[j].iter().enumerate() {
                weights[u] += (1.0 - share) * p;
            }
            for (u, p) in row[j - 1].iter().enumerate() {
                weights[u + i] += share * p;
            }
            row[j] = weights;
        }
    }
    row.swap_remove(n)
}

/// Distribution of the sum of `take` of the ranks, each choice equally likely.
fn rank_sums(ranks: &[usize], take: usize) -> Vec<f64> {
    let total: usize = ranks.iter().sum();
    let mut chosen = vec![vec![0.0; total + 1]; take + 1];
    chosen[0][0] = 1.0;
    for (seen, &rank) in ranks.iter().enumerate() {
        for count in (1..=take.min(seen + 1)).rev() {
            let (fewer, more) = chosen.split_at_mut(count);
            for (sum, ways) in fewer[count - 1][..=total - rank].iter().enumerate() {
                more[0][sum + rank] += ways;
            }
        }
    }
    let mut weights = chosen.swap_remove(take);
    let ways: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= ways);
    weights
}

/// Normal approximation with the variance corrected for ties and half a step of continuity.
fn normal_p(statistic: f64, m: f64, n: f64, ties: &[usize]) -> f64 {
    let total = m + n;
    let tied: f64 = ties.iter().map(|t| (t * t * t - t) as f64).sum();
    let variance = m * n / 12.0 * (total + 1.0 - tied / (total * (total - 1.0)));
    if variance == 0.0 {
        return 1.0;
    }
    let away = ((statistic - m * n / 2.0).abs() - 0.5).max(0.0);
    2.0 * Normal::standard().cdf(-away / variance.sqrt())
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

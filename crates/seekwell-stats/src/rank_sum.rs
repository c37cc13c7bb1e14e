//! The rank-sum test of two groups, and the shift between them.

use crate::interval::Interval;
use crate::rank::{cutoff, doubled_ranks, median_sorted, sorted, tail, two_sided};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// With ties, the exact distribution is computed up to this many values in both groups together.
const EXACT_TIES: usize = 60;

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

//! One sample, is its centre 0, and where is it: Wilcoxon's signed-rank test, the estimate of
//! Hodges and Lehmann that belongs to it, and the interval that inverts it.
//!
//! Convention for the test: zeros are dropped (Wilcoxon 1945), equal magnitudes share their
//! mid-rank, and the null distribution is the exact one given those ranks. The estimate and the
//! interval need no convention: they use every value as it is, and with ties the interval is at
//! worst a little too wide.

use crate::interval::Interval;
use crate::rank::{cutoff, doubled_ranks, median_sorted, sorted, tail, two_sided};
use serde::{Deserialize, Serialize};

/// Result of the test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SignedRank {
    /// Values that are not zero.
    pub used: u32,
    /// Zeros, dropped.
    pub zeros: u32,
    /// T+, the sum of the ranks of the positive values.
    pub statistic: f64,
    /// Exact two-sided p value; 1 when nothing is left to rank.
    pub p: f64,
}

/// Wilcoxon's signed-rank test of the centre being 0 (Wilcoxon 1945, Biometrics Bulletin 1:80–83),
/// exact for any number of values; time grows with the third power of it (60 values take less than
/// a millisecond). `None` when a value is not finite.
pub fn signed_rank(d: &[f64]) -> Option<SignedRank> {
    if d.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let used: Vec<f64> = d.iter().copied().filter(|x| *x != 0.0).collect();
    let (ranks, _) = doubled_ranks(&used.iter().map(|x| x.abs()).collect::<Vec<_>>());
    let positive = |(x, rank): (&f64, &usize)| if *x > 0.0 { *rank } else { 0 };
    let statistic: usize = used.iter().zip(&ranks).map(positive).sum();
    Some(SignedRank {
        used: used.len() as u32,
        zeros: (d.len() - used.len()) as u32,
        statistic: statistic as f64 / 2.0,
        p: two_sided(&null(&ranks), statistic),
    })
}

/// P(T+ = t) for t = 0, 1, … n(n+1)/2, without ties, exactly.
pub fn null_distribution(n: u32) -> Vec<f64> {
    null(&(1..=n as usize).collect::<Vec<_>>())
}

/// Distribution of the sum of those ranks whose fair coins show heads: each rank in turn is added
/// or not, one convolution each. Weights are halved in place, so they stay probabilities.
fn null(ranks: &[usize]) -> Vec<f64> {
    let mut weights = vec![0.0; ranks.iter().sum::<usize>() + 1];
    weights[0] = 1.0;
    let mut reach = 0;
    for &rank in ranks {
        reach += rank;
        for sum in (0..=reach).rev() {
            let with = if sum >= rank { weights[sum - rank] } else { 0.0 };
            weights[sum] = f64::midpoint(weights[sum], with);
        }
    }
    weights
}

/// The n(n+1)/2 averages of all pairs, each value with itself included, sorted (Walsh 1949, Ann.
/// Math. Statist. 20:64–81). `None` when a value is not finite.
fn walsh(d: &[f64]) -> Option<Vec<f64>> {
    let mut averages = Vec::with_capacity(d.len() * (d.len() + 1) / 2);
    for (i, x) in d.iter().enumerate() {
        averages.extend(d[i..].iter().map(|y| f64::midpoint(*x, *y)));
    }
    sorted(&averages)
}

/// The median of the Walsh averages (Hodges & Lehmann 1963, Ann. Math. Statist. 34:598–611): the
/// typical block, in the unit of `d`. NaN when there are no values or one is not finite.
pub fn hodges_lehmann(d: &[f64]) -> f64 {
    walsh(d).map_or(f64::NAN, |averages| median_sorted(&averages))
}

/// The interval that holds the centre with at least `confidence` (0.95 for 95 %): all centres that
/// the signed-rank test does not reject. With the M sorted Walsh averages W and k the largest with
/// P(T+ <= k) <= (1 - confidence) / 2 it is [W(k+1), W(M-k)] (Hollander, Wolfe & Chicken 2014,
/// "Nonparametric Statistical Methods", 3.3). `None` when there are too few values for that
/// confidence (95 % needs 6), a value is not finite, or the confidence is not inside (0, 1).
pub fn interval(d: &[f64], confidence: f64) -> Option<Interval> {
    let k = cutoff(&null_distribution(d.len() as u32), tail(confidence)?)?;
    let averages = walsh(d)?;
    Some(Interval { low: *averages.get(k)?, high: averages[averages.len() - 1 - k] })
}

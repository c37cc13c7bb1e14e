//! Sorting, medians and mid-ranks, shared by the rank tests.

/// Sorted copy, or `None` when a value is not finite.
pub(crate) fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}

/// Median of sorted values; NaN when there are none.
pub(crate) fn median_sorted(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    match n {
        0 => f64::NAN,
        _ if n % 2 == 1 => sorted[n / 2],
        _ => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Ranks of `values` from 1, times two so that the mid-ranks of ties are whole numbers, and the
/// sizes of the groups of equal values, ones included.
pub(crate) fn doubled_ranks(values: &[f64]) -> (Vec<usize>, Vec<usize>) {
    let mut by_value: Vec<usize> = (0..values.len()).collect();
    by_value.sort_by(|&x, &y| values[x].total_cmp(&values[y]));
    let mut ranks = vec![0; values.len()];
    let mut ties = Vec::new();
    for group in by_value.chunk_by(|&x, &y| values[x] == values[y]) {
        let before: usize = ties.iter().sum();
        for &i in group {
            ranks[i] = 2 * before + group.len() + 1;
        }
        ties.push(group.len());
    }
    (ranks, ties)
}

/// Two-sided p value of an exact distribution: twice the smaller tail, at most 1.
pub(crate) fn two_sided(probabilities: &[f64], observed: usize) -> f64 {
    let low: f64 = probabilities[..=observed].iter().sum();
    let high: f64 = probabilities[observed..].iter().sum();
    (2.0 * low.min(high)).min(1.0)
}

/// Largest k with P(X <= k) <= `tail`, or `None` when even P(X = 0) is above it.
pub(crate) fn cutoff(probabilities: &[f64], tail: f64) -> Option<usize> {
    let mut below = 0.0;
    let mut cut = None;
    for (k, p) in probabilities.iter().enumerate() {
        below += p;
        if below > tail {
            break;
        }
        cut = Some(k);
    }
    cut
}

/// The probability left in each tail by a two-sided interval; `None` unless 0 < confidence < 1.
pub(crate) fn tail(confidence: f64) -> Option<f64> {
    (confidence > 0.0 && confidence < 1.0).then_some((1.0 - confidence) / 2.0)
}

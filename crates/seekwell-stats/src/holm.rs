//! Several metrics of one comparison: the one named first stands alone, the others share the error.

use serde::{Deserialize, Serialize};

/// A p value and what is left of it beside the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adjusted<T> {
    /// Name of the metric, as given.
    pub name: T,
    /// Its own p value.
    pub p: f64,
    /// Adjusted for all that were given; compare with 0.05.
    pub adjusted: f64,
}

/// Holm's step-down adjustment (Holm 1979, Scand. J. Statist. 6:65–70), in the order given: the
/// i-th smallest of m is multiplied by m - i + 1, made monotone and cut at 1. The chance of any
/// false claim among all is then at most the level, however the metrics depend on each other.
/// A p value that is not a number counts as 1.
pub fn holm<T: Clone>(tests: &[(T, f64)]) -> Vec<Adjusted<T>> {
    let p = |i: usize| if tests[i].1.is_nan() { 1.0 } else { tests[i].1.clamp(0.0, 1.0) };
    let mut by_p: Vec<usize> = (0..tests.len()).collect();
    by_p.sort_by(|&x, &y| p(x).total_cmp(&p(y)));
    let mut adjusted = vec![1.0; tests.len()];
    let mut least: f64 = 0.0;
    for (step, &i) in by_p.iter().enumerate() {
        least = least.max(p(i) * (tests.len() - step) as f64).min(1.0);
        adjusted[i] = least;
    }
    tests
        .iter()
        .zip(adjusted)
        .enumerate()
        .map(|(i, ((name, _), adjusted))| Adjusted { name: name.clone(), p: p(i), adjusted })
        .collect()
}

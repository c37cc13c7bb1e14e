//! What one cache of all devices misses under a policy: the sampled accesses of all of them in one
//! order, played on caches of sizes scaled down by the rate (Waldspurger et al., Cache Modeling and
//! Optimization using Miniature Simulations, ATC 2017).

use super::Fleet;
use super::blocks::Sample;
use super::document::PolicyCurve;
use super::entry::group_of;
use super::miss::{Missed, curve};
use super::policy::Policy;
use std::collections::HashMap;

/// A curve for each policy from samples in order.
pub(super) fn curves(
    policies: &[Policy],
    samples: &[Sample],
    rate_log2: u32,
    fleet: &Fleet,
) -> Vec<PolicyCurve> {
    let mut numbers: HashMap<u64, u32> = HashMap::new();
    let accesses: Vec<(u32, u8)> = samples
        .iter()
        .map(|sample| {
            let next = numbers.len() as u32;
            let number = *numbers.entry(sample.hash).or_insert(next);
            (number, group_of(sample.hash, rate_log2) as u8)
        })
        .collect();
    let blocks = numbers.len();
    let sizes = (0..usize::BITS).map(|power| 1 << power);
    let sizes: Vec<usize> = sizes.take_while(|size| *size < blocks * 2).collect();
    let one = |policy: &Policy| {
        let missed = sizes.iter().map(|size| policy.misses(*size, blocks, &accesses));
        let missed: Vec<Missed> = missed.collect();
        let curve = curve(&missed, rate_log2, fleet.touched.accesses, blocks as u64);
        PolicyCurve {
            policy: *policy,
            miss_ratio: curve.miss_ratio,
            miss_ratio_error: curve.error,
            few_samples: curve.few_samples,
        }
    };
    policies.iter().map(one).collect()
}

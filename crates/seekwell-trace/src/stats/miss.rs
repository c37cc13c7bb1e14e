//! A curve of miss ratios from counts of misses, and how far chance may have moved it.
//!
//! Sampled blocks fall into 16 groups by their hash. How far the misses of the groups lie apart
//! says how far those of another sample would lie from these (random groups: Wolter, Introduction
//! to Variance Estimation, chapter 2).

use super::entry::{BLOCK_BITS, GROUPS};
use super::sum::total;

/// A size that holds fewer sampled blocks says nothing.
const FEW: u64 = 64;
/// The 97.5 % quantile of Student's t with 15 degrees of freedom.
const T_975: f64 = 2.131;

/// Misses of a cache of one size, in sampled blocks and accesses.
#[derive(Debug, Clone)]
pub(super) struct Missed {
    pub blocks: u64,
    pub groups: [u64; GROUPS],
}

/// The curve.
#[derive(Debug, Clone, Default)]
pub(super) struct Curve {
    /// Size of the cache in bytes, and the share of accesses that it misses; smallest first.
    pub miss_ratio: Vec<(u64, f64)>,
    /// Half of the 95 % interval at each; empty if nothing was sampled.
    pub error: Vec<f64>,
    /// So many of the first points rest on too few samples.
    pub few_samples: usize,
}

/// Points of the sizes, which are in order, for this many accesses in all and these sampled blocks.
/// Accesses expected and not sampled are hits (the correction of SHARDS).
pub(super) fn curve(sizes: &[Missed], rate_log2: u32, accesses: u64, touched: u64) -> Curve {
    let all = accesses as f64;
    let weight = f64::from(rate_log2).exp2();
    let mut curve = Curve::default();
    for size in sizes {
        let misses = total(&size.groups) as f64;
        let bytes = u128::from(size.blocks) << rate_log2 << BLOCK_BITS;
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        curve.miss_ratio.push((bytes, (misses * weight / all).min(1.0)));
        if rate_log2 > 0 {
            let groups = GROUPS as f64;
            let apart = |n: &u64| (*n as f64 - misses / groups).powi(2);
            let variance = size.groups.iter().map(apart).sum::<f64>() * groups / (groups - 1.0);
            let error = T_975 * (variance * (1.0 - 1.0 / weight)).sqrt() * weight / all;
            curve.error.push(error.min(1.0));
            let few = size.blocks.min(touched) < FEW;
            curve.few_samples += usize::from(few);
        }
    }
    curve
}

impl Curve {
    /// The smallest cache that misses no more than half of what can be hit at all; `None` if too
    /// few samples were taken.
    pub fn half_of_hits(&self) -> Option<u64> {
        let hits = 1.0 - self.miss_ratio.last()?.1;
        let half = self.miss_ratio.iter().position(|point| 1.0 - point.1 >= hits / 2.0)?;
        (hits > 0.0 && half >= self.few_samples).then(|| self.miss_ratio[half].0)
    }
}

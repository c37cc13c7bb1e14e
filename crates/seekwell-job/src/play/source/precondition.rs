//! Writes that leave an SSD as random writing to its end would (`sprandom`), in one pass.
//!
//! In the steady state of a drive with greedy garbage collection, regions of flash in which a share
//! v of the pages is still valid take room in proportion to 1/v, from v = 1 down to the share at
//! which a region is collected, 1 − 1/WA, where the write amplification WA is about 0.5/OP + 0.7
//! for a share OP of spare room (P. Desnoyers, *Analytic Models of SSD Write Performance*, ACM
//! Transactions on Storage 8(2), 2012). So of n regions of the same size, written one after the
//! other, the k-th is to keep (1 − 1/WA)^(1 − k/(n−1)) of its pages. The others are made invalid by
//! writing them again, at the start of the next region.

use crate::job::Precondition;
use rand_xoshiro::Xoshiro256PlusPlus;
use seekwell_io::workload::{Permutation, below};
use std::collections::VecDeque;

/// Shares are drawn in steps of one in this many.
const STEPS: u64 = 1 << 20;

/// Draws the blocks of one pass.
#[derive(Debug)]
pub struct Preconditioner {
    /// Blocks in the order of their first writes.
    order: Permutation,
    next: u64,
    /// Writes in each region.
    writes: u64,
    /// Of the blocks of each region, the share that is written again, in [`STEPS`].
    invalid: Vec<u64>,
    region: usize,
    /// First writes still to be made in this region.
    fresh: u64,
    /// Blocks of the last region that are to be written again.
    again: VecDeque<u64>,
    /// Blocks of this region that the next one writes again.
    chosen: VecDeque<u64>,
}

impl Preconditioner {
    /// For `blocks` blocks.
    pub fn new(rule: Precondition, blocks: u64, seed: u64) -> Self {
        let physical = rule.physical_blocks(blocks);
        let regions = u64::from(rule.regions).clamp(1, physical.max(1));
        let collected = 1.0 - 1.0 / (0.5 / rule.spare + 0.7);
        let last = (regions - 1).max(1) as f64;
        let invalid = |k: u64| {
            let valid = collected.powf(1.0 - k as f64 / last);
            ((1.0 - valid) * STEPS as f64).round() as u64
        };
        let writes = physical / regions;
        Self {
            order: Permutation::new(blocks, seed),
            next: 0,
            writes,
            invalid: (0..regions).map(invalid).collect(),
            region: 0,
            fresh: writes,
            again: VecDeque::new(),
            chosen: VecDeque::new(),
        }
    }

    /// The next block; none after the last region, or once every block was written and none is to
    /// be written again.
    pub fn next(&mut self, rng: &mut Xoshiro256PlusPlus) -> Option<u64> {
        let block = loop {
            if let Some(block) = self.again.pop_front() {
                break block;
            }
            if self.fresh > 0 {
                if self.next == self.order.len() {
                    return None;
                }
                self.fresh -= 1;
                self.next += 1;
                break self.order.at(self.next - 1);
            }
            if self.region + 1 == self.invalid.len() {
                return None;
            }
            self.region += 1;
            self.again = std::mem::take(&mut self.chosen);
            self.fresh = self.writes.saturating_sub(self.again.len() as u64);
        };
        if below(rng, STEPS) < self.invalid[self.region] {
            self.chosen.push_back(block);
        }
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng;

    #[test]
    fn every_block_is_written_and_as_much_again_as_there_is_spare_room() {
        for (spare, regions) in [(0.07, 50), (0.15, 100), (0.4, 200)] {
            let rule = Precondition { spare, regions };
            let blocks = 200_000;
            let mut drawn = Preconditioner::new(rule, blocks, 3);
            let rng = &mut Xoshiro256PlusPlus::seed_from_u64(1);
            let mut written = vec![0_u32; blocks as usize];
            let mut all = 0;
            while let Some(block) = drawn.next(rng) {
                written[block as usize] += 1;
                all += 1;
            }
            let once = written.iter().filter(|n| **n > 0).count() as f64 / blocks as f64;
            let more = f64::from(all) / blocks as f64 - 1.0;
            assert!(once > 0.97, "{once} of all blocks with {spare} spare");
            assert!((more / spare - 1.0).abs() < 0.1, "{more} more with {spare} spare");
        }
    }

    #[test]
    fn regions_keep_the_less_the_earlier_they_were_written() {
        let rule = Precondition { spare: 0.15, regions: 10 };
        let mut drawn = Preconditioner::new(rule, 1_000_000, 3);
        let rng = &mut Xoshiro256PlusPlus::seed_from_u64(1);
        let mut last_in = vec![usize::MAX; 1_000_000];
        while let Some(block) = drawn.next(rng) {
            last_in[block as usize] = drawn.region;
        }
        let kept = |region: usize| {
            let here = last_in.iter().filter(|last| **last == region).count() as f64;
            here / drawn.writes as f64
        };
        // Write amplification is 4.03, and 0.752 of a region is valid when it is collected.
        for region in 0..9 {
            let expected = 0.752_f64.powf(1.0 - region as f64 / 9.0);
            assert!((kept(region) - expected).abs() < 0.01, "{region}: {}", kept(region));
        }
    }
}

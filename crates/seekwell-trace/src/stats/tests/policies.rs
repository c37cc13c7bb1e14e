//! Policies against caches that are kept the plain way, and against libCacheSim.

use super::golden::{data, vscsi};
use super::{Noise, at, stats_of};
use crate::stats::blocks::blocks_of;
use crate::stats::document::PolicyCurve;
use crate::stats::seen::Seen;
use crate::stats::{Options, Policy};
use seekwell_io::request::Op;
use std::collections::HashMap;

/// Misses of a cache of `size` blocks, kept as a list with the next to go in front.
fn misses(policy: Policy, blocks: &[u64], size: usize) -> usize {
    let mut cache: Vec<(u64, bool)> = Vec::new();
    let (mut missed, mut hand) = (0, 0);
    for block in blocks {
        if let Some(found) = cache.iter().position(|(b, _)| b == block) {
            cache[found].1 = true;
            if policy == Policy::Lru {
                let used = cache.remove(found);
                cache.push(used);
            }
            continue;
        }
        missed += 1;
        if cache.len() == size {
            let mut gone = 0;
            match policy {
                Policy::Clock => {
                    while cache[0].1 {
                        let (block, _) = cache.remove(0);
                        cache.push((block, false));
                    }
                }
                Policy::Sieve => {
                    gone = hand % size;
                    while cache[gone].1 {
                        cache[gone].1 = false;
                        gone = (gone + 1) % size;
                    }
                    hand = gone;
                }
                _ => {}
            }
            cache.remove(gone);
            // Past the newest the hand begins again, before the next one comes.
            hand = if gone == size - 1 { 0 } else { hand };
        }
        cache.push((*block, false));
    }
    missed
}

fn curves(blocks: &[u64], rate_log2: u32) -> Vec<PolicyCurve> {
    let records: Vec<_> =
        blocks.iter().enumerate().map(|(i, b)| at(Op::Read, *b, i as u64 * 1000)).collect();
    let options = Options { rate_log2, policies: Policy::ALL.to_vec(), ..Options::default() };
    stats_of(&records, options).policies
}

#[test]
fn lru_fifo_clock_and_sieve_miss_what_a_cache_that_is_kept_misses() {
    let mut noise = Noise(77);
    let blocks: Vec<u64> = (0..6000).map(|_| noise.skewed(500)).collect();
    for curve in curves(&blocks, 0) {
        if matches!(curve.policy, Policy::S3Fifo | Policy::Arc) {
            continue;
        }
        for (bytes, miss) in curve.miss_ratio {
            let size = (bytes / 4096) as usize;
            let kept = misses(curve.policy, &blocks, size) as f64 / blocks.len() as f64;
            assert!((miss - kept).abs() < 1e-9, "{} of {size}: {miss} and {kept}", curve.policy);
        }
    }
}

#[test]
fn a_sample_gives_the_curve_of_every_policy_within_its_error() {
    let mut noise = Noise(78);
    let blocks: Vec<u64> = (0..200_000).map(|_| noise.skewed(60_000)).collect();
    for (exact, sampled) in curves(&blocks, 0).iter().zip(curves(&blocks, 3)) {
        let points = sampled.miss_ratio.iter().zip(&sampled.miss_ratio_error);
        for ((bytes, miss), error) in points.skip(sampled.few_samples) {
            let Some((_, whole)) = exact.miss_ratio.iter().find(|p| p.0 == *bytes) else {
                continue;
            };
            let apart = (miss - whole).abs();
            assert!(apart <= 2.0 * error + 0.005, "{} of {bytes}: {apart}", exact.policy);
        }
    }
}

/// Misses of libCacheSim 0.3.5 (its Python package), each policy with its defaults, of the blocks
/// of 4 KiB of its sample trace as objects of size 1; caches of 8,192 and 65,536 blocks.
const LIBCACHESIM: [(Policy, [u64; 2]); 6] = [
    (Policy::Lru, [1_016_977, 857_352]),
    (Policy::Fifo, [1_017_501, 819_697]),
    (Policy::Clock, [1_017_274, 883_946]),
    (Policy::S3Fifo, [1_004_832, 786_676]),
    (Policy::Sieve, [1_010_914, 817_365]),
    (Policy::Arc, [1_000_227, 888_400]),
];

#[test]
fn every_policy_misses_as_often_as_that_of_libcachesim() {
    let Some(bytes) = data("traces/cloudPhysicsIO.vscsi") else { return };
    let mut numbers: HashMap<u64, u32> = HashMap::new();
    let mut accesses = Vec::new();
    for record in vscsi(&bytes).iter().filter(|record| record.len > 0) {
        let (first, last) = blocks_of(&Seen::of(record));
        for block in first..=last {
            let next = numbers.len() as u32;
            accesses.push((*numbers.entry(block).or_insert(next), 0));
        }
    }
    assert_eq!((accesses.len(), numbers.len()), (1_141_869, 269_210));
    for (policy, theirs) in LIBCACHESIM {
        for (size, theirs) in [1 << 13, 1 << 16].into_iter().zip(theirs) {
            let ours = policy.misses(size, numbers.len(), &accesses).groups[0];
            assert_eq!(ours, theirs, "{policy} of {size}");
        }
    }
}

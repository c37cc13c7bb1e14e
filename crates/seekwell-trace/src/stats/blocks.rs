//! Which blocks of 4 KiB are touched, how often, by what and when, and how far apart.
//!
//! Each device has a table of its blocks whose hashed address lies below a bound that was chosen
//! beforehand, and each of them stands for as many as the bound leaves out (spatial sampling as in
//! SHARDS, Waldspurger et al., FAST 2015). A block that is followed was seen from its first access
//! on.

use super::document::{Follows, Reuse, Space, Succession};
use super::entry::{BLOCK_BITS, BlockEntry, GROUPS, NOBODY, bound, group_of, hash_of};
use super::log_bins::LogBins;
use super::lru::Lru;
use super::miss::{Missed, curve};
use super::ratio::share;
use super::seen::{Reads, Seen};
use super::sum::{Sum, sums, total};
use crate::record::Fields;
use seekwell_io::request::Op;
use std::collections::BTreeMap;

/// The miss ratio is shown at one in this many bins of distances, which are 16 for each doubling.
const EVERY: usize = 4;

/// The first and the last block of a request with data.
pub(super) fn blocks_of(record: &Seen<Blocks>) -> (u64, u64) {
    (record.offset() >> BLOCK_BITS, (record.end() - 1) >> BLOCK_BITS)
}

sums! {
    /// What is known of all blocks. All but `accesses` is of those that are followed.
    struct Touched {
        /// Of all blocks.
        accesses: u64,
        /// Those of devices that have not ended as well.
        blocks: u64,
        read: u64,
        written: u64,
        both: u64,
        updated: u64,
        /// How many blocks were touched how often.
        busy: BTreeMap<u64, u64>,
        /// By what was before (read, write) and what came.
        after: [[LogBins; 2]; 2],
        update: LogBins,
        timed: bool,
        /// Distances, by the part of the sample.
        distances: [LogBins; GROUPS],
        /// First accesses, likewise.
        cold: [u64; GROUPS],
    }
}

/// A sampled access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sample {
    pub at: u64,
    /// The device, and which of its sampled accesses it is.
    pub seed: u64,
    pub number: u64,
    /// Stands for the block and its device.
    pub hash: u64,
}

/// How blocks are followed.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    pub rate_log2: u32,
    pub reuse: bool,
}

/// The blocks of one device.
#[derive(Debug)]
pub(super) struct Blocks {
    seed: u64,
    table: Vec<BlockEntry>,
    used: usize,
    lru: Lru,
    now: u64,
    sampled: u64,
}

impl Reads for Blocks {
    const FIELDS: Fields = Fields::ARRIVAL.and(Fields::OFFSET).and(Fields::LENGTH);
}

impl Blocks {
    pub fn new(seed: u64) -> Self {
        let table = vec![BlockEntry::EMPTY; 16];
        Self { seed, table, used: 0, lru: Lru::default(), now: 0, sampled: 0 }
    }

    /// A request. Sampled accesses go to `samples` where they are wanted.
    #[inline]
    pub fn add(
        &mut self,
        sums: &mut Touched,
        how: How,
        record: &Seen<Self>,
        mut samples: Option<&mut Vec<Sample>>,
    ) {
        if record.len() == 0 || !matches!(record.op(), Op::Read | Op::Write) {
            return;
        }
        if let Some(at) = record.arrival().get() {
            sums.timed = true;
            self.now = self.now.max(at.0);
        }
        let (first, last) = blocks_of(record);
        sums.accesses += last - first + 1;
        for block in first..=last {
            let hash = hash_of(self.seed, block);
            if hash <= bound(how.rate_log2) {
                self.access(sums, how, block, hash, record.op() == Op::Write);
                if let Some(samples) = &mut samples {
                    let Self { seed, now: at, sampled: number, .. } = *self;
                    samples.push(Sample { at, seed, number, hash });
                }
                self.sampled += 1;
            }
        }
    }

    fn access(&mut self, sums: &mut Touched, how: How, block: u64, hash: u64, write: bool) {
        let at = self.slot(block, hash);
        let now = self.now;
        let entry = &mut self.table[at];
        let new = !entry.is_used();
        if new {
            *entry = BlockEntry::of(block);
        } else {
            let after = now.saturating_sub(entry.last);
            sums.after[usize::from(entry.wrote)][usize::from(write)].add(after);
            if write && entry.writes > 0 {
                sums.update.add(now.saturating_sub(entry.last_write));
            }
        }
        entry.last = now;
        entry.wrote = write;
        if write {
            entry.last_write = now;
            entry.writes = entry.writes.saturating_add(1);
        } else {
            entry.reads = entry.reads.saturating_add(1);
        }
        if how.reuse {
            let group = group_of(hash, how.rate_log2);
            match self.lru.access(new, at, &mut self.table) {
                // As the cache that would still hold the block.
                Some(distance) => sums.distances[group].add(distance + 1),
                None => sums.cold[group] += 1,
            }
        }
        if new {
            sums.blocks += 1;
            self.used += 1;
            if self.used * 4 > self.table.len() * 3 {
                self.grow();
            }
        }
    }

    /// Where the block is, or where it has to be put.
    #[inline]
    fn slot(&self, block: u64, hash: u64) -> usize {
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let found = self.table[at].block;
            if found == block || found == NOBODY {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let larger = vec![BlockEntry::EMPTY; self.table.len() * 2];
        let old = std::mem::replace(&mut self.table, larger);
        for entry in old.into_iter().filter(BlockEntry::is_used) {
            let at = self.slot(entry.block, hash_of(self.seed, entry.block));
            self.table[at] = entry;
        }
    }

    /// Nothing more happens on this device.
    pub fn end(self, sums: &mut Touched) {
        for entry in self.table.iter().filter(|entry| entry.is_used()) {
            sums.read += u64::from(entry.reads > 0);
            sums.written += u64::from(entry.writes > 0);
            sums.both += u64::from(entry.reads > 0 && entry.writes > 0);
            sums.updated += u64::from(entry.writes > 1);
            let times = u64::from(entry.reads) + u64::from(entry.writes);
            sums.busy.entry(times).or_default().merge(1);
        }
    }
}

impl Touched {
    pub fn space(&self, rate_log2: u32) -> Space {
        let bytes = |blocks: u64| {
            u64::try_from(u128::from(blocks) << rate_log2 << BLOCK_BITS).unwrap_or(u64::MAX)
        };
        let accesses = self.busy.iter().map(|(times, n)| u128::from(*times) * u128::from(*n));
        let all: u128 = accesses.sum();
        // The share of accesses that go to the busiest blocks.
        let top = |parts: u64| {
            let (mut left, mut got) = (self.blocks.div_ceil(parts), 0);
            for (times, n) in self.busy.iter().rev() {
                let taken = left.min(*n);
                got += u128::from(*times) * u128::from(taken);
                left -= taken;
            }
            (all > 0).then(|| got as f64 / all as f64)
        };
        Space {
            block_bytes: 1 << BLOCK_BITS,
            estimated: rate_log2 > 0,
            sampled_share: (-f64::from(rate_log2)).exp2(),
            accesses: self.accesses,
            footprint_bytes: bytes(self.blocks),
            read_bytes: bytes(self.read),
            written_bytes: bytes(self.written),
            read_and_written_bytes: bytes(self.both),
            updated_bytes: bytes(self.updated),
            update_coverage: share(self.updated, self.blocks),
            busiest_1_percent_share: top(100),
            busiest_10_percent_share: top(10),
        }
    }

    pub fn succession(&self, rate_log2: u32) -> Vec<Succession> {
        let kinds = [
            (Follows::ReadAfterRead, &self.after[0][0]),
            (Follows::ReadAfterWrite, &self.after[1][0]),
            (Follows::WriteAfterRead, &self.after[0][1]),
            (Follows::WriteAfterWrite, &self.after[1][1]),
            (Follows::Update, &self.update),
        ];
        let timed = |time: Option<u64>| time.filter(|_| self.timed);
        kinds
            .into_iter()
            .map(|(kind, bins)| Succession {
                kind,
                accesses: bins.count().saturating_mul(1 << rate_log2),
                after_ns_mean: bins.mean().filter(|_| self.timed),
                after_ns_p50: timed(bins.quantile(0.5)),
                after_ns_p90: timed(bins.quantile(0.9)),
                after_ns_p99: timed(bins.quantile(0.99)),
            })
            .collect()
    }

    /// What a cache of each size would miss, where every device has one of its own.
    pub fn reuse(&self, rate_log2: u32) -> Option<Reuse> {
        if self.accesses == 0 {
            return None;
        }
        let mut all = LogBins::default();
        self.distances.iter().for_each(|bins| all.merge(bins.clone()));
        let bins = all.len();
        let mut missed: Vec<Missed> = all
            .cumulative(bins)
            .iter()
            .map(|(blocks, _)| Missed { blocks: *blocks, groups: self.cold })
            .collect();
        for (group, distances) in self.distances.iter().enumerate() {
            let count = distances.count();
            for (size, (_, hit)) in missed.iter_mut().zip(distances.cumulative(bins)) {
                size.groups[group].merge(count - hit);
            }
        }
        let mut bin = 0;
        missed.retain(|_| {
            bin += 1;
            bin % EVERY == 0 || bin == bins
        });
        let curve = curve(&missed, rate_log2, self.accesses, self.blocks);
        let bytes = |q| {
            let blocks = all.quantile(q)?;
            u64::try_from(u128::from(blocks) << rate_log2 << BLOCK_BITS).ok()
        };
        let scaled =
            |n: u64| (n as f64 * f64::from(rate_log2).exp2() / self.accesses as f64).min(1.0);
        Some(Reuse {
            estimated: rate_log2 > 0,
            sampled_share: (-f64::from(rate_log2)).exp2(),
            cold_share: scaled(total(&self.cold)),
            distance_bytes_p50: bytes(0.5),
            distance_bytes_p90: bytes(0.9),
            half_of_hits_bytes: curve.half_of_hits(),
            miss_ratio: curve.miss_ratio,
            miss_ratio_error: curve.error,
            few_samples: curve.few_samples,
        })
    }
}

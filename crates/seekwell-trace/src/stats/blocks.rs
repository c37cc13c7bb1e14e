//! Which blocks of 4 KiB are touched, how often, by what and when, and how far apart.
//!
//! A table holds every block until there are too many of them or too many accesses. From then on it
//! holds those whose hashed address lies below a bound, which is halved whenever the table is full
//! again, and each stands for as many as the bound leaves out (spatial sampling as in SHARDS,
//! Waldspurger et al., FAST 2015). A block that stays was seen from its first access on.

use super::document::{Follows, Space, Succession};
use super::entry::{BLOCK_BITS, BlockEntry, NOBODY, bound, mix, weight_of};
use super::limits::Limits;
use super::log_bins::LogBins;
use super::lru::Lru;
use super::ratio::share;
use crate::record::Record;
use seekwell_io::request::Op;

/// Devices told apart; requests to any further one count as that of the last.
pub(super) const DEVICES: u32 = 4095;
/// Accesses handled together, so that their cache misses overlap.
const TOGETHER: usize = 32;

#[derive(Debug, Clone, Copy)]
struct Access {
    key: u64,
    hash: u64,
    at: u64,
    write: bool,
}

/// Device in the upper 12 bits, number of the block in the others: the two never mix, for an offset
/// has 52 bits of block number at most.
fn key_of(device: u32, block: u64) -> u64 {
    (u64::from(device.min(DEVICES - 1)) << 52) | block
}

/// The first and the last block of a request with data.
pub(super) const fn blocks_of(record: &Record) -> (u64, u64) {
    (record.offset >> BLOCK_BITS, (record.end() - 1) >> BLOCK_BITS)
}

/// Everything that is kept for each block.
#[derive(Debug)]
pub(super) struct Blocks {
    limits: Limits,
    table: Vec<BlockEntry>,
    used: usize,
    /// A block stands for 2^level.
    level: u32,
    accesses: u64,
    pending: Vec<Access>,
    /// By what was before (read, write) and what came.
    after: [[LogBins; 2]; 2],
    update: LogBins,
    lru: Option<Lru>,
    timed: bool,
    now: u64,
}

impl Blocks {
    pub fn new(limits: Limits, reuse: bool) -> Self {
        Self {
            limits,
            table: vec![BlockEntry::EMPTY; 1 << 10],
            used: 0,
            level: 0,
            accesses: 0,
            pending: Vec::with_capacity(TOGETHER),
            after: Default::default(),
            update: LogBins::default(),
            lru: reuse.then(|| Lru::new(limits)),
            timed: false,
            now: 0,
        }
    }

    #[inline]
    pub fn add(&mut self, record: &Record) {
        if record.len == 0 || !matches!(record.op, Op::Read | Op::Write) {
            return;
        }
        if let Some(at) = record.arrival().get() {
            self.timed = true;
            self.now = self.now.max(at.0);
        }
        let (first, last) = blocks_of(record);
        let write = record.op == Op::Write;
        self.accesses += last - first + 1;
        for block in first..=last {
            let key = key_of(record.device, block);
            let hash = mix(key);
            if hash <= bound(self.level) {
                self.pending.push(Access { key, hash, at: self.now, write });
                if self.pending.len() == TOGETHER {
                    self.work_off();
                }
            }
        }
    }

    /// Handles what is pending. The slots are read once beforehand: those loads do not wait for
    /// each other, so that the cache misses of a group overlap.
    pub fn work_off(&mut self) {
        if self.table.len() > 1 << 14 {
            let mask = self.table.len() - 1;
            let touched = self
                .pending
                .iter()
                .fold(0, |sum, access| sum ^ self.table[access.hash as usize & mask].key);
            std::hint::black_box(touched);
        }
        let pending = std::mem::take(&mut self.pending);
        for access in &pending {
            // The bound may have fallen since.
            if access.hash <= bound(self.level) {
                self.access(access);
            }
        }
        self.pending = pending;
        self.pending.clear();
        if self.level == 0 && self.accesses > self.limits.exact_table_accesses {
            self.thin_to(self.limits.sampled_blocks);
        }
    }

    fn access(&mut self, access: &Access) {
        let at = self.slot(access);
        let weight = weight_of(self.level);
        let entry = &mut self.table[at];
        let new = entry.key == NOBODY;
        if new {
            *entry = BlockEntry { key: access.key, ..BlockEntry::EMPTY };
        } else {
            let after = access.at.saturating_sub(entry.last);
            self.after[usize::from(entry.wrote)][usize::from(access.write)].add(after, weight);
            if access.write && entry.writes > 0 {
                self.update.add(access.at.saturating_sub(entry.last_write), weight);
            }
        }
        entry.last = access.at;
        entry.wrote = access.write;
        if access.write {
            entry.last_write = access.at;
            entry.writes = entry.writes.saturating_add(1);
        } else {
            entry.reads = entry.reads.saturating_add(1);
        }
        if let Some(lru) = &mut self.lru {
            lru.access(access.hash, new, at, &mut self.table);
        }
        if new {
            self.used += 1;
            self.make_room();
        }
    }

    /// Where the block is, or where it has to be put.
    #[inline]
    fn slot(&self, access: &Access) -> usize {
        let mask = self.table.len() - 1;
        let mut at = access.hash as usize & mask;
        loop {
            let key = self.table[at].key;
            if key == access.key || key == NOBODY {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    fn make_room(&mut self) {
        let most =
            if self.level == 0 { self.limits.exact_blocks } else { self.limits.sampled_blocks };
        if self.used > most {
            self.thin_to(self.limits.sampled_blocks);
        } else if self.used * 4 > self.table.len() * 3 {
            self.rebuild(self.table.len() * 2);
        }
    }

    /// Halves the bound until at most this many blocks are left.
    fn thin_to(&mut self, blocks: usize) {
        loop {
            self.level += 1;
            let bound = bound(self.level);
            let left = self.table.iter().filter(|entry| entry.within(bound)).count();
            if left <= blocks {
                self.used = left;
                return self.rebuild((left * 2).next_power_of_two().max(1 << 10));
            }
        }
    }

    fn rebuild(&mut self, slots: usize) {
        let old = std::mem::replace(&mut self.table, vec![BlockEntry::EMPTY; slots]);
        let bound = bound(self.level);
        let mask = slots - 1;
        for entry in old.into_iter().filter(|entry| entry.within(bound)) {
            let mut at = mix(entry.key) as usize & mask;
            while self.table[at].key != NOBODY {
                at = (at + 1) & mask;
            }
            self.table[at] = entry;
        }
        if let Some(lru) = &mut self.lru {
            lru.table_was_rebuilt(bound, &mut self.table);
        }
    }

    pub fn space(&self) -> Space {
        let weight = weight_of(self.level);
        let held = || self.table.iter().filter(|entry| entry.key != NOBODY);
        let bytes = |wanted: fn(&BlockEntry) -> bool| {
            let blocks = held().filter(|entry| wanted(entry)).count();
            (blocks as f64 * weight) as u64 * (1 << BLOCK_BITS)
        };
        let mut busy: Vec<u64> =
            held().map(|entry| u64::from(entry.reads) + u64::from(entry.writes)).collect();
        busy.sort_unstable_by(|a, b| b.cmp(a));
        let all: u64 = busy.iter().sum();
        let top = |parts: usize| {
            let most = busy.len().div_ceil(parts);
            share(busy[..most].iter().sum(), all)
        };
        let updated = held().filter(|entry| entry.writes > 1).count() as u64;
        Space {
            block_bytes: 1 << BLOCK_BITS,
            estimated: self.level > 0,
            sampled_share: 1.0 / weight,
            accesses: self.accesses,
            footprint_bytes: bytes(|_| true),
            read_bytes: bytes(|entry| entry.reads > 0),
            written_bytes: bytes(|entry| entry.writes > 0),
            read_and_written_bytes: bytes(|entry| entry.reads > 0 && entry.writes > 0),
            updated_bytes: bytes(|entry| entry.writes > 1),
            update_coverage: share(updated, self.used as u64),
            busiest_1_percent_share: top(100),
            busiest_10_percent_share: top(10),
        }
    }

    pub fn succession(&self) -> Vec<Succession> {
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
                accesses: bins.weight().round() as u64,
                after_ns_mean: bins.mean().filter(|_| self.timed),
                after_ns_p50: timed(bins.quantile(0.5)),
                after_ns_p90: timed(bins.quantile(0.9)),
                after_ns_p99: timed(bins.quantile(0.99)),
            })
            .collect()
    }

    pub fn reuse(&self) -> Option<super::document::Reuse> {
        self.lru.as_ref().and_then(|lru| lru.finish(self.accesses))
    }
}

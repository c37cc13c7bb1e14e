//! Reuse distances and the miss ratio of an LRU cache of any size, in one pass.
//!
//! Blocks stand in the order of their last use in a Fenwick tree; the distance of an access is the
//! number of blocks that stand behind its block (Mattson's stack distance; the tree is Bennett and
//! Kruskal's). With many blocks or accesses only those with a small hash are followed, at most a
//! fixed number of them, and each distance is scaled up (SHARDS of fixed size, Waldspurger et al.,
//! FAST 2015, with its correction: accesses expected and not sampled are hits at distance zero).

use super::document::Reuse;
use super::entry::{BLOCK_BITS, BlockEntry, bound, weight_of};
use super::limits::Limits;
use super::log_bins::LogBins;

/// Points of the miss-ratio curve for each doubling of the cache; a divisor of 16.
const POINTS_PER_OCTAVE: usize = 4;

#[derive(Debug)]
pub(super) struct Lru {
    limits: Limits,
    /// A block stands for 2^level.
    level: u32,
    /// Fenwick tree over places: how many blocks have their last use there. One-based.
    tree: Vec<u32>,
    next: usize,
    followed: usize,
    sampled: u64,
    distances: LogBins,
    cold: f64,
}

impl Lru {
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            level: 0,
            tree: vec![0; (1 << 11) + 1],
            next: 1,
            followed: 0,
            sampled: 0,
            distances: LogBins::default(),
            cold: 0.0,
        }
    }

    /// One access to the block in `table[at]`.
    #[inline]
    pub fn access(&mut self, hash: u64, new: bool, at: usize, table: &mut [BlockEntry]) {
        if hash > bound(self.level) {
            return;
        }
        self.sampled += 1;
        let weight = weight_of(self.level);
        if new {
            self.cold += weight;
            self.followed += 1;
        } else {
            let place = table[at].place as usize;
            let behind = self.followed - self.up_to(place);
            self.distances.add(((behind as u64) << self.level) + 1, weight);
            if self.next == place + 1 {
                return;
            }
            self.change(place, u32::MAX);
        }
        if self.next >= self.tree.len() {
            // The place just given up must not count: it is marked as the newest.
            table[at].place = u32::MAX;
            self.pack(bound(self.level), table);
            let most = self.limits.sampled_blocks;
            let too_many = match self.level {
                0 => self.sampled > self.limits.exact_reuse_accesses,
                _ => self.followed > most,
            };
            if too_many {
                self.thin_to(most, table);
            }
            return;
        }
        table[at].place = self.next as u32;
        self.change(self.next, 1);
        self.next += 1;
    }

    /// The blocks moved, and those above `bound` are gone.
    pub fn table_was_rebuilt(&mut self, table_bound: u64, table: &mut [BlockEntry]) {
        while bound(self.level) > table_bound {
            self.level += 1;
        }
        self.pack(bound(self.level), table);
    }

    fn thin_to(&mut self, blocks: usize, table: &mut [BlockEntry]) {
        loop {
            self.level += 1;
            let bound = bound(self.level);
            if table.iter().filter(|entry| entry.within(bound)).count() <= blocks {
                return self.pack(bound, table);
            }
        }
    }

    /// Renumbers the places of all blocks that are followed, in order and without gaps.
    fn pack(&mut self, bound: u64, table: &mut [BlockEntry]) {
        let mut order: Vec<(u32, u32)> = Vec::with_capacity(self.followed);
        for (at, entry) in table.iter().enumerate().filter(|(_, entry)| entry.within(bound)) {
            order.push((entry.place, at as u32));
        }
        order.sort_unstable();
        for (place, (_, at)) in order.iter().enumerate() {
            table[*at as usize].place = place as u32 + 1;
        }
        self.followed = order.len();
        self.next = self.followed + 1;
        let places = (self.followed * 2).next_power_of_two().max(1 << 11);
        self.tree.clear();
        self.tree.resize(places + 1, 0);
        self.tree[1..=self.followed].fill(1);
        for at in 1..places {
            let parent = at + (at & at.wrapping_neg());
            if parent <= places {
                self.tree[parent] += self.tree[at];
            }
        }
    }

    fn change(&mut self, mut place: usize, by: u32) {
        while place < self.tree.len() {
            self.tree[place] = self.tree[place].wrapping_add(by);
            place += place & place.wrapping_neg();
        }
    }

    fn up_to(&self, mut place: usize) -> usize {
        let mut sum = 0;
        while place > 0 {
            sum += self.tree[place] as usize;
            place &= place - 1;
        }
        sum
    }

    /// The curve, for this many accesses in all.
    pub fn finish(&self, accesses: u64) -> Option<Reuse> {
        if accesses == 0 {
            return None;
        }
        let all = accesses as f64;
        let missing = all - self.cold - self.distances.weight();
        let curve = self.distances.cumulative();
        let hits = |weight: f64| ((weight + missing) / all).clamp(0.0, 1.0);
        let last = curve.last().map_or(0.0, |(_, weight)| hits(*weight));
        // A sample tells nothing of caches that would hold less than one of its blocks.
        let kept = |i: usize, blocks: u64| {
            let every = (i + 1).is_multiple_of(16 / POINTS_PER_OCTAVE) || i + 1 == curve.len();
            every && blocks >= 1 << self.level
        };
        let points = curve.iter().enumerate().filter(|(i, (blocks, _))| kept(*i, *blocks));
        let miss_ratio: Vec<(u64, f64)> = points
            .map(|(_, (blocks, weight))| (blocks << BLOCK_BITS, 1.0 - hits(*weight)))
            .collect();
        let half = miss_ratio.iter().find(|(_, miss)| 1.0 - miss >= last / 2.0);
        let bytes = |q| self.distances.quantile(q).map(|blocks| blocks << BLOCK_BITS);
        Some(Reuse {
            estimated: self.level > 0,
            sampled_share: 1.0 / weight_of(self.level),
            cold_share: (self.cold / all).min(1.0),
            distance_bytes_p50: bytes(0.5),
            distance_bytes_p90: bytes(0.9),
            half_of_hits_bytes: half.map(|(bytes, _)| *bytes).filter(|_| last > 0.0),
            miss_ratio,
        })
    }
}

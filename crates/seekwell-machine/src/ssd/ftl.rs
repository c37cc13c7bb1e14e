//! Where written pages lie, as far as it decides what garbage collection costs.
//!
//! A full page table of a 256 GB drive takes 256 MB and a cache miss per write. What time and write
//! amplification need is less: how many valid pages each superblock has. So the log is real (an
//! open superblock, a greedy choice of the one with the fewest valid pages, its pages moved), but a
//! page is remembered by two bits only:
//!
//! - *Ordered* pages, written in sequence, lie with their neighbours: each MiB of addresses knows
//!   the two superblocks that hold them. Writing a file over in sequence therefore empties
//!   superblocks whole, as it does in a drive.
//! - *Scattered* pages are all alike: which superblock loses one when it is written over is drawn
//!   with a chance proportional to the superblock's scattered pages. For writes spread evenly over
//!   what is scattered, each valid page is as likely as any other to be the next to go, and this is
//!   the exact process (L. Xiang, B. Kurkoski, "An Improved Analytical Expression for Write
//!   Amplification in NAND Flash", 2012; P. Desnoyers, "Analytic Modeling of SSD Write
//!   Performance", 2012). Hot and cold pages among the scattered are not told apart.
//!
//! Memory: 2 bits a page touched and 8 bytes a MiB: 16 + 2 MB for 256 GB when all is touched.

use super::params::{Fill, SsdParams};
use super::steady::steady_blocks;
use super::tallies::Tallies;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Units of a region: 64 bytes of two-bit states, one cache line.
const REGION: u64 = 256;
/// Units of a word of states.
const WORD: u64 = 32;
/// Superblocks kept free, so that moving pages always has somewhere to move them.
const RESERVE: usize = 2;
/// The low bit of every state in a word.
const LOW: u64 = 0x5555_5555_5555_5555;

/// State of a unit that was never written, or was discarded.
const UNMAPPED: u64 = 0;
/// State of a unit written out of sequence.
const SCATTERED: u64 = 1;
/// State of a unit in the first superblock of its region; the next is for the second.
const ORDERED: u64 = 2;

/// Where a unit lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapping {
    Unmapped,
    /// Anywhere.
    Scattered,
    /// With its neighbours.
    Ordered,
}

/// What the log did so far, in mapping units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogCounts {
    /// Written by the host.
    pub host: u64,
    /// Written for the mapping itself, or left empty by a flush.
    pub overhead: u64,
    /// Moved by garbage collection.
    pub moved: u64,
    /// Superblocks erased.
    pub erased: u64,
}

/// The log and what is valid in it.
#[derive(Debug)]
pub struct Ftl {
    block_units: u32,
    units: u64,
    /// Two bits a unit, each XOR `flip`, so that the pages of zeros the system gives are the states
    /// at the beginning.
    states: Vec<u64>,
    flip: u64,
    /// The superblocks of each region's ordered units.
    homes: Vec<[u32; 2]>,
    valid: Vec<u32>,
    scattered: Tallies,
    /// Those neither free nor open.
    closed: Vec<bool>,
    free: Vec<u32>,
    open: u32,
    filled: u32,
    gc_open: Option<u32>,
    gc_filled: u32,
    rng: Xoshiro256PlusPlus,
    counts: LogCounts,
    pacing: Pacing,
}

/// Spreads the moves of garbage collection evenly over the writes of the next superblock.
#[derive(Debug, Default)]
struct Pacing {
    share: u64,
    credit: u64,
    owed: u64,
    erases: u32,
}

impl Ftl {
    /// The drive when time begins, for parameters that were checked.
    pub fn new(params: &SsdParams) -> Self {
        let block_units = params.superblock_units();
        let (units, blocks) = (params.units(), params.superblocks() as usize);
        let regions = units.div_ceil(REGION) as usize;
        let mut homes = vec![[u32::MAX; 2]; regions];
        let (flip, valid, scattered) = match params.fill {
            Fill::Empty => (0, vec![0; blocks], vec![0; blocks]),
            Fill::Sequential => {
                let valid = lay_out(units, block_units, blocks, &mut homes);
                (LOW << 1, valid, vec![0; blocks])
            }
            Fill::Random => {
                let mut valid = steady_blocks(units, block_units, blocks - RESERVE - 1);
                valid.resize(blocks, 0);
                (LOW, valid.clone(), valid)
            }
        };
        let mut closed: Vec<bool> = valid.iter().map(|count| *count > 0).collect();
        // A steady drive's emptied superblocks are free; all others hold something.
        let mut free: Vec<u32> = (0..blocks as u32).filter(|b| !closed[*b as usize]).collect();
        free.reverse();
        let open = free.pop().expect("the check left room for free superblocks");
        closed[open as usize] = false;
        Self {
            block_units,
            units,
            states: vec![0; regions * (REGION / WORD) as usize],
            flip,
            homes,
            valid,
            scattered: Tallies::new(scattered, block_units),
            closed,
            free,
            open,
            filled: 0,
            gc_open: None,
            gc_filled: 0,
            rng: Xoshiro256PlusPlus::seed_from_u64(params.seed),
            counts: LogCounts::default(),
            pacing: Pacing::default(),
        }
    }

    /// What the log did so far.
    pub const fn counts(&self) -> LogCounts {
        self.counts
    }

    /// Has the processor fetch what is known of a unit, which is soon asked for: of a large drive
    /// it lies in no cache, and waiting for it would be most of the time of a write.
    pub fn expect(&self, unit: u64) {
        let word = self.states.get((unit / WORD) as usize);
        #[cfg(target_arch = "x86_64")]
        if let Some(word) = word {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a hint about an address reads and writes nothing; this one is of a word.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(word).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = word;
    }

    /// Where a unit lies.
    pub fn place(&self, unit: u64) -> Mapping {
        let word = self.states[(unit / WORD) as usize] ^ self.flip;
        match (word >> (2 * (unit % WORD))) & 3 {
            UNMAPPED => Mapping::Unmapped,
            SCATTERED => Mapping::Scattered,
            _ => Mapping::Ordered,
        }
    }

    /// Writes units, in sequence with their neighbours or not.
    pub fn write(&mut self, first: u64, count: u64, in_sequence: bool) {
        self.counts.host += count;
        let (mut at, end) = (first, first + count);
        while at < end {
            if self.filled == self.block_units {
                self.open_next();
            }
            let room = u64::from(self.block_units - self.filled);
            let to = end.min((at / REGION + 1) * REGION).min(at + room);
            let (region, open, n) = ((at / REGION) as usize, self.open, (to - at) as u32);
            self.forget(at, to);
            let state = if in_sequence {
                ORDERED + self.home(region, open) as u64
            } else {
                self.scattered.add(open, n);
                SCATTERED
            };
            self.set(at, to, state);
            self.valid[open as usize] += n;
            debug_assert!(self.valid[open as usize] <= self.block_units, "more than a superblock");
            self.filled += n;
            at = to;
        }
    }

    /// Appends units that nothing is mapped to.
    pub fn append_overhead(&mut self, mut count: u32) {
        self.counts.overhead += u64::from(count);
        while count > 0 {
            if self.filled == self.block_units {
                self.open_next();
            }
            let n = count.min(self.block_units - self.filled);
            self.filled += n;
            count -= n;
        }
    }

    /// Forgets whole units.
    pub fn discard(&mut self, first: u64, count: u64) {
        let (mut at, end) = (first, first + count);
        while at < end {
            let to = end.min((at / REGION + 1) * REGION);
            self.forget(at, to);
            at = to;
        }
    }

    /// The units to move along with `written` units of log.
    pub fn take_moves(&mut self, written: u32) -> u64 {
        let pacing = &mut self.pacing;
        pacing.credit += u64::from(written) * pacing.share;
        let moves = (pacing.credit / u64::from(self.block_units)).min(pacing.owed);
        pacing.credit %= u64::from(self.block_units);
        pacing.owed -= moves;
        moves
    }

    /// The superblocks to erase since this was last asked.
    pub fn take_erases(&mut self) -> u32 {
        std::mem::take(&mut self.pacing.erases)
    }

    /// The slot of `open` among a region's superblocks, in place of the one that holds less.
    fn home(&mut self, region: usize, open: u32) -> usize {
        if let Some(slot) = self.homes[region].iter().position(|home| *home == open) {
            return slot;
        }
        let held = [0, 1].map(|slot| self.region_count(region, ORDERED + slot));
        let slot = usize::from(held[1] < held[0]);
        if held[slot] > 0 {
            self.scatter(region, slot);
        }
        self.homes[region][slot] = open;
        slot
    }

    /// The units of a region in one of its superblocks count as scattered from now on.
    fn scatter(&mut self, region: usize, slot: usize) {
        let home = self.homes[region][slot];
        let held = self.region_count(region, ORDERED + slot as u64);
        self.scattered.add(home, held);
        for word in self.region_words(region) {
            let state = self.states[word] ^ self.flip;
            let here = matching(state, ORDERED + slot as u64);
            self.states[word] = ((state & !(here * 3)) | (here * SCATTERED)) ^ self.flip;
        }
    }

    fn region_words(&self, region: usize) -> std::ops::Range<usize> {
        let words = (REGION / WORD) as usize;
        region * words..(region + 1) * words
    }

    fn region_count(&self, region: usize, state: u64) -> u32 {
        // The last region may have states beyond the end; none of them counts.
        let inside = self.units - (region as u64 * REGION).min(self.units);
        let mut left = inside;
        let mut count = 0;
        for word in self.region_words(region) {
            let mask = mask(0, left.min(WORD));
            count += (matching(self.states[word] ^ self.flip, state) & mask).count_ones();
            left -= left.min(WORD);
        }
        count
    }

    /// Unmaps units within one region: the superblocks that hold them hold them no longer.
    fn forget(&mut self, from: u64, to: u64) {
        let (mut scattered, mut ordered) = (0, [0; 2]);
        for (word, mask) in words(from, to) {
            let state = self.states[word] ^ self.flip;
            scattered += (matching(state, SCATTERED) & mask).count_ones();
            for slot in [0, 1] {
                ordered[slot] += (matching(state, ORDERED + slot as u64) & mask).count_ones();
            }
            self.states[word] = (state & !(mask * 3)) ^ self.flip;
        }
        for slot in [0, 1] {
            if ordered[slot] > 0 {
                let home = self.homes[(from / REGION) as usize][slot];
                self.valid[home as usize] -= ordered[slot];
            }
        }
        for _ in 0..scattered {
            let block = self.scattered.draw(&mut self.rng);
            self.valid[block as usize] -= 1;
        }
    }

    /// Sets the states of units that are unmapped.
    fn set(&mut self, from: u64, to: u64, state: u64) {
        for (word, mask) in words(from, to) {
            self.states[word] ^= mask * state;
        }
    }

    /// The open superblock is full: opens another and collects until the reserve is there again.
    fn open_next(&mut self) {
        self.closed[self.open as usize] = true;
        self.open = self.take_free();
        self.filled = 0;
        let before = self.counts.moved;
        while self.free.len() < RESERVE {
            self.collect();
        }
        let pacing = &mut self.pacing;
        pacing.owed += self.counts.moved - before;
        pacing.share = pacing.owed;
        pacing.credit = 0;
        self.assert_superblocks();
    }

    /// A free superblock, which holds nothing.
    fn take_free(&mut self) -> u32 {
        let block = self.free.pop().expect("the reserve is kept free");
        assert_eq!(self.valid[block as usize], 0, "superblock {block} is free and holds pages");
        assert!(!self.closed[block as usize], "superblock {block} is free and closed");
        block
    }

    /// Each superblock is free, closed or open.
    fn assert_superblocks(&self) {
        let closed = self.closed.iter().filter(|closed| **closed).count();
        let open = 1 + usize::from(self.gc_open.is_some());
        assert_eq!(closed + self.free.len() + open, self.valid.len(), "superblocks were lost");
    }

    /// Moves what is valid out of the superblock with the fewest valid units, and erases it.
    fn collect(&mut self) {
        let closed = self.closed.iter().zip(&self.valid).enumerate();
        let (victim, _) = closed
            .filter_map(|(block, (closed, valid))| closed.then_some((block as u32, *valid)))
            .min_by_key(|(_, valid)| *valid)
            .expect("all but a few superblocks are closed");
        let held = self.valid[victim as usize];
        self.counts.moved += u64::from(held);
        self.counts.erased += 1;
        self.pacing.erases += 1;
        if held > self.scattered.get(victim) {
            self.move_ordered(victim);
        }
        let mut left = self.scattered.get(victim);
        while left > 0 {
            let (to, room) = self.gc_room();
            let n = left.min(room);
            self.scattered.subtract(victim, n);
            self.scattered.add(to, n);
            self.shift(victim, to, n);
            left -= n;
        }
        let (valid, scattered) = (self.valid[victim as usize], self.scattered.get(victim));
        assert_eq!((valid, scattered), (0, 0), "superblock {victim} is erased with valid pages");
        self.closed[victim as usize] = false;
        self.free.insert(0, victim);
    }

    /// Moves the ordered units of a superblock, region by region; those of a region that would have
    /// to be parted count as scattered.
    fn move_ordered(&mut self, victim: u32) {
        for region in 0..self.homes.len() {
            for slot in [0, 1] {
                if self.homes[region][slot] != victim {
                    continue;
                }
                let held = self.region_count(region, ORDERED + slot as u64);
                self.homes[region][slot] = u32::MAX;
                if held == 0 {
                    continue;
                }
                let (to, room) = self.gc_room();
                if held <= room {
                    self.homes[region][slot] = to;
                    self.shift(victim, to, held);
                } else {
                    self.homes[region][slot] = victim;
                    self.scatter(region, slot);
                }
            }
        }
    }

    /// Counts units as moved into garbage collection's own superblock.
    fn shift(&mut self, from: u32, to: u32, units: u32) {
        assert!(units <= self.valid[from as usize], "superblock {from} lacks what is moved");
        assert!(units <= self.block_units - self.gc_filled, "superblock {to} has no room");
        self.valid[from as usize] -= units;
        self.valid[to as usize] += units;
        self.gc_filled += units;
    }

    /// Garbage collection's own superblock, another one where it is full, and its room.
    fn gc_room(&mut self) -> (u32, u32) {
        if let Some(open) = self.gc_open {
            let room = self.block_units - self.gc_filled;
            if room > 0 {
                return (open, room);
            }
            self.closed[open as usize] = true;
        }
        let open = self.take_free();
        self.gc_open = Some(open);
        self.gc_filled = 0;
        (open, self.block_units)
    }
}

/// The words that hold the states of units within a region, each with the low bits of those states.
fn words(from: u64, to: u64) -> impl Iterator<Item = (usize, u64)> {
    (from / WORD..to.div_ceil(WORD)).map(move |word| {
        let begin = from.max(word * WORD) - word * WORD;
        let end = to.min((word + 1) * WORD) - word * WORD;
        (word as usize, mask(begin, end))
    })
}

/// The low bits of the states of units `from..to` of a word.
const fn mask(from: u64, to: u64) -> u64 {
    if from >= to { 0 } else { (LOW >> (2 * (WORD - (to - from)))) << (2 * from) }
}

/// The low bits of those states in a word that are `state`.
const fn matching(word: u64, state: u64) -> u64 {
    let differs = word ^ (LOW * state);
    !(differs | (differs >> 1)) & LOW
}

/// Puts all regions into superblocks one after the other; returns the valid units of each.
fn lay_out(units: u64, block_units: u32, blocks: usize, homes: &mut [[u32; 2]]) -> Vec<u32> {
    let mut valid = vec![0_u32; blocks];
    let mut block = 0;
    for (region, home) in homes.iter_mut().enumerate() {
        let held = (units - region as u64 * REGION).min(REGION) as u32;
        if valid[block] + held > block_units {
            block += 1;
        }
        valid[block] += held;
        home[0] = block as u32;
    }
    valid
}

#[cfg(test)]
impl Ftl {
    /// Asserts what holds between any two calls, page by page.
    pub fn assert_consistent(&self) {
        let mut ordered = vec![0_u32; self.valid.len()];
        let mut scattered = 0_u64;
        for region in 0..self.homes.len() {
            scattered += u64::from(self.region_count(region, SCATTERED));
            for slot in [0, 1] {
                let held = self.region_count(region, ORDERED + slot as u64);
                if held > 0 {
                    ordered[self.homes[region][slot] as usize] += held;
                }
            }
        }
        assert_eq!(scattered, self.scattered.total());
        for (block, count) in ordered.iter().enumerate() {
            let all = count + self.scattered.get(block as u32);
            assert_eq!(self.valid[block], all, "superblock {block}");
            assert!(all <= self.block_units);
        }
        self.assert_superblocks();
        for block in &self.free {
            assert_eq!(self.valid[*block as usize], 0, "a free superblock holds something");
        }
    }

    /// Counts a page of every closed superblock twice.
    pub fn miscount(&mut self) {
        let closed = self.valid.iter_mut().zip(&self.closed).filter(|(_, closed)| **closed);
        closed.for_each(|(valid, _)| *valid += 1);
    }
}

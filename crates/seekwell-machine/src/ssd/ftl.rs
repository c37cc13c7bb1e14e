//! Where written units lie, as far as it decides what garbage collection costs.
//!
//! The log is real: an open superblock takes what the host writes; victims are chosen among the
//! closed ones, and what they still hold is moved to a superblock of the collector's own. Units are
//! not placed within a superblock. Each only knows the *set* it was written in, all units that
//! went to one superblock then. Moving a superblock moves its sets as a whole, so that it costs one
//! step however much it holds, and a unit is found by following its set from superblock to
//! superblock. Where a victim does not fit what is left of the collector's superblock it is split:
//! which of its units went to which of the two is then drawn by how many of each are left.
//!
//! Hot and cold units, sequential runs and discards thus cost what they cost in a drive. Only the
//! order within a superblock, which nothing but such a split depends on, is left out.
//!
//! Of a drive with large superblocks one unit in every few stands for its neighbours (see
//! [`grain`]), as one address in many stands for a cache's (C. Waldspurger et al., "Efficient MRC
//! Construction with SHARDS", FAST '15). What reads must know of a unit, whether it was written and
//! how, is kept of each.
//!
//! Of a drive with zones only the states of units are kept: the host writes whole superblocks over,
//! so nothing is ever moved.
//!
//! Memory: 2 bits a unit and 4 bytes a sample: at most 61 and 61 MB for 1 TB.

use super::params::{Collection, Fill, SsdParams};
use super::scramble;
use super::steady::Filled;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;

/// Superblocks kept free, so that moving units always has somewhere to move them.
const RESERVE: u32 = 2;
/// Samples of a superblock, at least: how many are valid differs by chance by a hundredth or two,
/// as it does in a drive with superblocks of that many units.
const SAMPLES: u32 = 2048;

/// The place of a set in the table of sets.
type SetId = u32;
/// The set of a sample that was not touched since time began.
const FIRST: SetId = 0;
/// No set.
const NONE: SetId = SetId::MAX;

/// Units of a word of states.
const WORD: u64 = 32;
/// The low bit of every state in a word.
const LOW: u64 = 0x5555_5555_5555_5555;
/// States of units.
const UNMAPPED: u64 = 0;
const SCATTERED: u64 = 1;
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

/// The valid samples that were written, or moved, to one superblock.
#[derive(Debug, Clone, Copy)]
struct Set {
    held: u32,
    /// Those of them that were moved to the first of `to`; the rest went to the second.
    to_first: u32,
    /// Where they were moved; [`NONE`] while they are in their superblock.
    to: [SetId; 2],
}

/// The log and what is valid in it.
#[derive(Debug)]
pub struct Ftl {
    block_units: u32,
    superblocks: u32,
    collection: Collection,
    /// The host collects: the drive has zones.
    zoned: bool,
    /// Two bits a unit, each XOR `flip`, so that the pages of zeros the system gives are the states
    /// at the beginning.
    states: Vec<u64>,
    flip: u64,
    /// Units that one of them stands for, a power of two.
    grain: u64,
    /// The set of each sample.
    samples: Vec<SetId>,
    /// Where samples are that were not touched since time began.
    filled: Filled,
    sets: Vec<Set>,
    /// Places in `sets` that are not in use.
    unused: Vec<SetId>,
    /// Sets in the superblocks that are full, in the order in which they were filled.
    closed: VecDeque<SetId>,
    free: u32,
    open: SetId,
    open_used: u32,
    gc_open: Option<SetId>,
    gc_used: u32,
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
        let superblocks = params.superblocks() as u32;
        let grain = grain(block_units);
        let zoned = params.zones.is_some();
        let (samples, fill) = match zoned {
            true => (0, Fill::Empty),
            false => (params.units() / u64::from(grain), params.fill),
        };
        let filled = Filled::new(fill, samples, block_units / grain, superblocks - RESERVE);
        let state = match params.fill {
            Fill::Empty => UNMAPPED,
            Fill::Sequential => ORDERED,
            Fill::Random => SCATTERED,
        };
        let set = |held| Set { held, to_first: 0, to: [NONE; 2] };
        let mut sets = vec![set(0)];
        sets.extend(filled.held().map(set));
        let closed: VecDeque<SetId> = (1..sets.len() as SetId).collect();
        let mut ftl = Self {
            block_units,
            superblocks,
            collection: params.collection,
            zoned,
            states: vec![0; params.units().div_ceil(WORD) as usize],
            flip: LOW * state,
            grain: grain.into(),
            samples: vec![FIRST; samples as usize],
            filled,
            unused: Vec::new(),
            free: superblocks - closed.len() as u32,
            closed,
            sets,
            open: NONE,
            open_used: 0,
            gc_open: None,
            gc_used: 0,
            rng: Xoshiro256PlusPlus::seed_from_u64(params.seed),
            counts: LogCounts::default(),
            pacing: Pacing::default(),
        };
        ftl.open = ftl.take_free();
        ftl
    }

    /// What the log did so far.
    pub const fn counts(&self) -> LogCounts {
        self.counts
    }

    /// Has the processor fetch what is known of a unit, which is soon asked for: of a large drive
    /// it lies in no cache, and waiting for it would be most of the time of a write.
    pub fn expect(&self, unit: u64) {
        #[cfg(target_arch = "x86_64")]
        if let Some(word) = self.states.get((unit / WORD) as usize) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a hint about an address reads and writes nothing; this one is of a word.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(word).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = unit;
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
        self.set_states(first, first + count, if in_sequence { ORDERED } else { SCATTERED });
        if self.zoned {
            return;
        }
        let (mut at, end) = (first, first + count);
        while at < end {
            if self.open_used == self.block_units {
                self.open_next();
            }
            let n = (end - at).min(u64::from(self.block_units - self.open_used));
            for group in self.samples_of(at, at + n) {
                self.forget(group);
                self.samples[group] = self.open;
                self.sets[self.open as usize].held += 1;
            }
            self.open_used += n as u32;
            at += n;
        }
    }

    /// Appends units that nothing is mapped to.
    pub fn append_overhead(&mut self, mut count: u32) {
        self.counts.overhead += u64::from(count);
        if self.zoned {
            return;
        }
        while count > 0 {
            if self.open_used == self.block_units {
                self.open_next();
            }
            let n = count.min(self.block_units - self.open_used);
            self.open_used += n;
            count -= n;
        }
    }

    /// Forgets whole units.
    pub fn discard(&mut self, first: u64, count: u64) {
        self.set_states(first, first + count, UNMAPPED);
        for group in self.samples_of(first, first + count) {
            self.forget(group);
            self.samples[group] = NONE;
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

    fn set_states(&mut self, from: u64, to: u64, state: u64) {
        for word in from / WORD..to.div_ceil(WORD) {
            let begin = from.max(word * WORD) - word * WORD;
            let end = to.min((word + 1) * WORD) - word * WORD;
            let mask =
                if begin < end { (LOW >> (2 * (WORD - (end - begin)))) << (2 * begin) } else { 0 };
            let word = &mut self.states[word as usize];
            *word = (*word & !(mask * 3)) | ((mask * state) ^ (self.flip & (mask * 3)));
        }
    }

    /// The groups of units whose sample is in a range.
    fn samples_of(&self, from: u64, to: u64) -> impl Iterator<Item = usize> + use<> {
        let (grain, groups) = (self.grain, self.samples.len() as u64);
        (from / grain..to.div_ceil(grain).min(groups)).filter_map(move |group| {
            let sample = group * grain + (scramble(group) & (grain - 1));
            (from..to).contains(&sample).then_some(group as usize)
        })
    }

    /// The set a sample was written in.
    fn set_of(&self, sample: usize) -> SetId {
        match self.samples[sample] {
            FIRST => self.filled.superblock(sample as u64).map_or(NONE, |at| at as SetId + 1),
            set => set,
        }
    }

    /// The superblock that holds a sample holds it no longer.
    fn forget(&mut self, sample: usize) {
        let mut set = self.set_of(sample);
        while set != NONE {
            let to = self.follow(set);
            if to == NONE {
                let held = &mut self.sets[set as usize].held;
                *held = held.checked_sub(1).expect("the superblock holds the sample");
            }
            set = to;
        }
    }

    /// Takes one sample out of a set that was moved; returns the set it was moved to, or [`NONE`]
    /// of a set that was not.
    fn follow(&mut self, set: SetId) -> SetId {
        let it = &mut self.sets[set as usize];
        if it.to[0] == NONE {
            return NONE;
        }
        let mut rank = || ((self.rng.next_u64() >> 32) * u64::from(it.held)) >> 32;
        let first = it.to_first == it.held || (it.to_first > 0 && rank() < it.to_first.into());
        it.held -= 1;
        it.to_first -= u32::from(first);
        if it.held == 0 {
            self.unused.push(set);
        }
        it.to[usize::from(!first)]
    }

    /// The open superblock is full: opens another and collects until the reserve is there again.
    fn open_next(&mut self) {
        self.closed.push_back(self.open);
        self.open = self.take_free();
        self.open_used = 0;
        let before = self.counts.moved;
        while self.free < RESERVE {
            self.collect();
        }
        let pacing = &mut self.pacing;
        pacing.owed += self.counts.moved - before;
        pacing.share = pacing.owed;
        pacing.credit = 0;
        // Each superblock is free, closed or open.
        let open = 1 + u32::from(self.gc_open.is_some());
        let known = self.closed.len() as u32 + self.free + open;
        assert_eq!(known, self.superblocks, "superblocks were lost");
    }

    /// A set in a free superblock.
    fn take_free(&mut self) -> SetId {
        self.free = self.free.checked_sub(1).expect("the reserve is kept free");
        let set = Set { held: 0, to_first: 0, to: [NONE; 2] };
        if let Some(id) = self.unused.pop() {
            self.sets[id as usize] = set;
            return id;
        }
        self.sets.push(set);
        (self.sets.len() - 1) as SetId
    }

    /// Moves what is valid out of a superblock, and erases it.
    fn collect(&mut self) {
        let victim = self.victim();
        let held = self.sets[victim as usize].held;
        self.counts.moved += u64::from(held) * self.grain;
        self.counts.erased += 1;
        self.pacing.erases += 1;
        self.sets[victim as usize] = if held == 0 {
            self.unused.push(victim);
            Set { held, to_first: 0, to: [NONE; 2] }
        } else {
            let (first, room) = self.gc_room();
            let to_first = self.move_to(first, held.min(room));
            // By chance a superblock may hold a few samples more than one has room for.
            let second = if to_first < held { self.gc_room().0 } else { NONE };
            self.move_to(second, held - to_first);
            Set { held, to_first, to: [first, second] }
        };
        self.free += 1;
    }

    /// Moves samples to garbage collection's own superblock; returns their count.
    fn move_to(&mut self, set: SetId, samples: u32) -> u32 {
        if samples > 0 {
            self.sets[set as usize].held += samples;
            self.gc_used += samples;
        }
        samples
    }

    /// Takes the next superblock to collect from those that are full.
    fn victim(&mut self) -> SetId {
        let index = match self.collection {
            Collection::Fifo => 0,
            Collection::Greedy => {
                let held = |set: &SetId| self.sets[*set as usize].held;
                let least = self.closed.iter().enumerate().min_by_key(|(_, set)| held(set));
                least.map_or(0, |(index, _)| index)
            }
        };
        self.closed.remove(index).expect("all but a few superblocks are closed")
    }

    /// Garbage collection's own superblock, another one if it is full, and its room in samples.
    fn gc_room(&mut self) -> (SetId, u32) {
        let block_samples = self.block_units / self.grain as u32;
        if let Some(open) = self.gc_open {
            let room = block_samples.saturating_sub(self.gc_used);
            if room > 0 {
                return (open, room);
            }
            self.closed.push_back(open);
        }
        let open = self.take_free();
        self.gc_open = Some(open);
        self.gc_used = 0;
        (open, block_samples)
    }
}

/// Units of a superblock that one of them stands for: a power of two that leaves at least
/// [`SAMPLES`] of each superblock, and 1 for smaller ones.
const fn grain(block_units: u32) -> u32 {
    let most = block_units / SAMPLES;
    if most == 0 { 1 } else { 1 << most.ilog2() }
}

#[cfg(test)]
impl Ftl {
    /// Asserts what holds between any two calls: the sets in superblocks hold what is mapped.
    pub fn assert_consistent(&self) {
        let in_flash = self.closed.iter().copied().chain([self.open]).chain(self.gc_open);
        let held: u64 = in_flash.map(|set| u64::from(self.sets[set as usize].held)).sum();
        let samples = 0..self.samples.len();
        let mapped = samples.clone().filter(|sample| self.set_of(*sample) != NONE).count();
        assert_eq!(held, mapped as u64);
        for group in samples {
            let unit = group as u64 * self.grain + (scramble(group as u64) & (self.grain - 1));
            assert_eq!(self.set_of(group) != NONE, self.place(unit) != Mapping::Unmapped);
        }
        // What was moved is where it was moved to: all ways together lead to what is held there.
        let mut came = vec![0_u32; self.sets.len()];
        for sample in 0..self.samples.len() {
            let set = self.set_of(sample);
            if set != NONE {
                came[set as usize] += 1;
            }
        }
        for (id, set) in self.sets.iter().enumerate() {
            if !self.unused.contains(&(id as SetId)) && set.to[0] != NONE {
                came[set.to[0] as usize] += set.to_first;
                if set.held > set.to_first {
                    came[set.to[1] as usize] += set.held - set.to_first;
                }
            }
        }
        for (id, set) in self.sets.iter().enumerate() {
            if !self.unused.contains(&(id as SetId)) {
                assert_eq!(set.held, came[id], "set {id}");
            }
        }
    }

    /// Loses a sample of every closed superblock.
    pub fn miscount(&mut self) {
        self.closed.iter().for_each(|set| self.sets[*set as usize].held -= 1);
    }
}

//! A plain read cache: copies a block to the SSD when it was missed often enough.
//!
//! What `bcache` and `dm-cache` do in their write-through and write-around modes. The miss that
//! makes a block worth keeping reads the whole block from the slow part, which is then written to
//! the SSD. Memory: about 28 bytes a block held and 32 for the misses remembered; 15 MiB for each
//! GiB on the SSD with blocks of 4 KiB, 240 KiB with 256 KiB.

use super::hosts::HostCommands;
use super::lists::{Lists, PageMap};
use super::pair::{Pair, Piece, Side};
use crate::limits::{OutOfRange, within};
use crate::part::{Command, Done, Part};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use serde::{Deserialize, Serialize};

/// Which block goes when another needs its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Eviction {
    /// The one not read for the longest time.
    Lru,
    /// The one copied first.
    Fifo,
}

/// What a write does to the SSD; it always goes to the slow part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writes {
    /// Blocks on the SSD are written there too.
    Through,
    /// Blocks on the SSD are given up.
    Around,
}

/// A read cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadCacheParams {
    /// Bytes of a block.
    pub block_bytes: u32,
    /// Which block goes.
    pub eviction: Eviction,
    /// The miss of a block, counted from 1, at which it is copied.
    pub promote_at_miss: u32,
    /// What writes do.
    pub writes: Writes,
}

impl ReadCacheParams {
    /// Whether such a cache can be.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        within("block_bytes", self.block_bytes, 4096..=1 << 24)?;
        within("block_bytes modulo 512", self.block_bytes % 512, 0..=0)?;
        within("promote_at_miss", self.promote_at_miss, 1..=1000)
    }
}

/// What a read cache did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadCacheCounts {
    /// Blocks read from the SSD.
    pub hits: u64,
    /// Blocks read from the slow part.
    pub misses: u64,
    /// Bytes copied to the SSD.
    pub filled_bytes: u64,
    /// Blocks on the SSD, or on their way there, made void by writes and discards.
    pub voided: u64,
    /// Blocks that went for others.
    pub evicted: u64,
    /// Blocks the SSD holds.
    pub held: u64,
    /// Blocks the SSD has room for.
    pub slots: u64,
}

/// For whom a piece is.
#[derive(Debug, Clone, Copy)]
enum Owner {
    /// A command, by its number.
    Host(u32),
    Fill(u32),
}

/// A block on its way to the SSD.
#[derive(Debug, Clone, Copy)]
enum Coming {
    /// The command by that number reads it.
    Read(u32),
    /// It is being written to the SSD.
    Filling {
        /// It was written over meanwhile.
        is_void: bool,
    },
}

/// An SSD as read cache in front of a slow part.
#[derive(Debug)]
pub struct ReadCache<F, S> {
    params: ReadCacheParams,
    pair: Pair<F, S, Owner>,
    hosts: HostCommands,
    /// Blocks with a place on the SSD.
    blocks: Lists<1>,
    coming: PageMap<Coming>,
    slots: u32,
    /// Misses of blocks, in a table where a block may take the place of another.
    misses: Vec<(u32, u32)>,
    finished: Vec<(Owner, Done)>,
    counts: ReadCacheCounts,
}

impl<F: Part, S: Part> ReadCache<F, S> {
    /// An empty cache.
    ///
    /// # Errors
    /// As [`ReadCacheParams::check`], or a part of too few or too many blocks.
    pub fn new(params: ReadCacheParams, fast: F, slow: S) -> Result<Self, OutOfRange> {
        params.check()?;
        let block = u64::from(params.block_bytes);
        within("capacity of the SSD", fast.capacity(), block..=block << 31)?;
        within("capacity of the slow part", slow.capacity(), block..=block << 31)?;
        let slots = (fast.capacity() / block) as u32;
        let remembered = if params.promote_at_miss > 1 { 4 * slots as usize } else { 1 };
        Ok(Self {
            params,
            pair: Pair::new(fast, slow),
            hosts: HostCommands::default(),
            blocks: Lists::new(),
            coming: PageMap::default(),
            slots,
            misses: vec![(u32::MAX, 0); remembered.next_power_of_two()],
            finished: Vec::new(),
            counts: ReadCacheCounts::default(),
        })
    }

    /// The SSD.
    pub const fn fast(&self) -> &F {
        self.pair.fast()
    }

    /// What it is in front of.
    pub const fn slow(&self) -> &S {
        self.pair.slow()
    }

    /// What it did so far, and how full it is.
    pub const fn counts(&self) -> ReadCacheCounts {
        let held = self.blocks.len(0) as u64;
        ReadCacheCounts { held, slots: self.slots as u64, ..self.counts }
    }

    /// The numbers of the blocks that bytes touch.
    fn touched(&self, offset: u64, len: u32) -> std::ops::Range<u32> {
        let block = u64::from(self.params.block_bytes);
        (offset / block) as u32..(offset + u64::from(len)).div_ceil(block) as u32
    }

    /// The first byte on the SSD of a block that is there.
    fn slot(&self, block: u32) -> Option<u64> {
        if self.coming.contains_key(&block) {
            return None;
        }
        Some(u64::from(self.blocks.place_of(block)?) * u64::from(self.params.block_bytes))
    }

    /// A block was missed: is it to be copied?
    fn promotes(&mut self, block: u32) -> bool {
        if self.coming.contains_key(&block) {
            return false;
        }
        if self.params.promote_at_miss == 1 {
            return true;
        }
        let index = block.wrapping_mul(0x9e37_79b1) as usize & (self.misses.len() - 1);
        let entry = &mut self.misses[index];
        if entry.0 != block {
            *entry = (block, 0);
        }
        entry.1 += 1;
        entry.1 >= self.params.promote_at_miss
    }

    fn begin_read(&mut self, number: u32, command: Command, now: Nanos) {
        let Command { offset, len, durable, .. } = command;
        let (end, block_bytes) = (offset + u64::from(len), u64::from(self.params.block_bytes));
        for block in self.touched(offset, len) {
            let begin = u64::from(block) * block_bytes;
            let mut from = offset.max(begin);
            let mut to = end.min(begin + block_bytes);
            let (side, at) = if let Some(slot) = self.slot(block) {
                self.counts.hits += 1;
                if self.params.eviction == Eviction::Lru {
                    self.blocks.put(block, 0);
                }
                (Side::Fast, slot + (from - begin))
            } else {
                self.counts.misses += 1;
                if begin + block_bytes <= self.capacity() && self.promotes(block) {
                    self.coming.insert(block, Coming::Read(number));
                    (from, to) = (begin, begin + block_bytes);
                }
                (Side::Slow, from)
            };
            let len = (to - from) as u32;
            let piece = Piece { side, op: Op::Read, offset: at, len, durable };
            self.pair.join(piece, Owner::Host(number), now);
        }
        let pieces = self.pair.end_joined(Owner::Host(number), now);
        self.hosts.add(number, pieces);
    }

    fn write_blocks(&mut self, number: u32, command: Command, now: Nanos) {
        let Command { op, offset, len, durable, .. } = command;
        let block_bytes = u64::from(self.params.block_bytes);
        let end = offset + u64::from(len);
        for block in self.touched(offset, len) {
            if let Some(Coming::Filling { is_void }) = self.coming.get_mut(&block) {
                self.counts.voided += u64::from(!*is_void);
                *is_void = true;
            }
            let Some(slot) = self.slot(block) else { continue };
            if self.params.writes == Writes::Around || op == Op::Discard {
                self.blocks.remove(block);
                self.counts.voided += 1;
                continue;
            }
            let begin = u64::from(block) * block_bytes;
            let (from, to) = (offset.max(begin), end.min(begin + block_bytes));
            let (offset, len) = (slot + (from - begin), (to - from) as u32);
            let piece = Piece { side: Side::Fast, op, offset, len, durable };
            self.pair.give(piece, Owner::Host(number), now);
            self.hosts.add(number, 1);
        }
    }

    /// A read is done that some blocks were to be copied from.
    fn fill(&mut self, number: u32, command: Command, current: bool, now: Nanos) {
        for block in self.touched(command.offset, command.len) {
            let is_ours =
                matches!(self.coming.get(&block), Some(Coming::Read(by)) if *by == number);
            if !is_ours {
                continue;
            }
            self.coming.remove(&block);
            if !current || !self.make_room() {
                continue;
            }
            self.blocks.put(block, 0);
            let len = self.params.block_bytes;
            let slot = self.slot(block);
            self.coming.insert(block, Coming::Filling { is_void: false });
            self.counts.filled_bytes += u64::from(len);
            let offset = slot.unwrap_or(0);
            let piece = Piece { side: Side::Fast, op: Op::Write, offset, len, durable: false };
            self.pair.give(piece, Owner::Fill(block), now);
        }
    }

    /// Makes a place free. False where the block to go is itself still on its way.
    fn make_room(&mut self) -> bool {
        if self.blocks.len(0) < self.slots {
            return true;
        }
        let Some(old) = self.blocks.oldest(0) else { return false };
        if self.coming.contains_key(&old) {
            return false;
        }
        self.counts.evicted += 1;
        self.blocks.remove(old)
    }

    fn happened(&mut self, owner: Owner, piece: Done, now: Nanos, done: &mut Vec<Done>) {
        match owner {
            Owner::Host(number) => {
                let Some((whole, last)) = self.hosts.piece_done(number, piece) else { return };
                if whole.command.op == Op::Read {
                    self.fill(number, whole.command, whole.current, now);
                }
                done.push(last);
            }
            Owner::Fill(block) => {
                let was = self.coming.remove(&block);
                if matches!(was, Some(Coming::Filling { is_void: true })) {
                    self.blocks.remove(block);
                }
            }
        }
    }
}

impl<F: Part, S: Part> Part for ReadCache<F, S> {
    fn capacity(&self) -> u64 {
        self.pair.slow().capacity()
    }

    fn depth(&self) -> u32 {
        self.pair.slow().depth()
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        let number = self.hosts.begin(command, u64::from(self.params.block_bytes));
        let Command { op, offset, len, durable, .. } = command;
        if op == Op::Read {
            return self.begin_read(number, command, now);
        }
        self.hosts.add(number, 1);
        let piece = Piece { side: Side::Slow, op, offset, len, durable };
        self.pair.give(piece, Owner::Host(number), now);
        self.write_blocks(number, command, now);
    }

    fn next(&self) -> Nanos {
        self.pair.next()
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        while self.pair.next() <= now {
            let at = self.pair.next();
            let mut finished = std::mem::take(&mut self.finished);
            self.pair.advance(at, &mut finished);
            for (owner, piece) in finished.drain(..) {
                self.happened(owner, piece, at, done);
            }
            self.finished = finished;
        }
    }
}

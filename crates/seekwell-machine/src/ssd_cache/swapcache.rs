//! `DragonFly`'s swapcache: an SSD that keeps clean pages which memory is about to give up.
//!
//! Source: `sys/vm/vm_swapcache.c` and `swapcache(8)` of `DragonFly`. The host's memory is part of
//! the model, because only what memory gives up gets here: pages age from an active to an inactive
//! list and leave from there. Ten times a second a kernel thread takes pages that became inactive
//! and writes a limited number of them to the SSD, as long as its bucket holds bytes; when
//! the bucket is empty, writing stops until it holds `min_burst_bytes` again. At 75 % of use
//! writing stops and space is freed in the order of addresses down to 70 %. A read of a page that
//! is neither in memory nor on the SSD goes to the slow part; a write makes what the SSD holds
//! void.
//!
//! Simplified: pages of files and of metadata are treated alike, and writes go to the
//! slow part at once, so every page in memory is clean. Memory: 28 bytes for each 4 KiB of the
//! host's memory (7 MiB a GiB) and about 16 for each 4 KiB on the SSD (4 MiB a GiB).

use super::hosts::HostCommands;
use super::pair::{Pair, Piece, Side};
use crate::limits::{OutOfRange, within};
use crate::lists::{Lists, PageMap};
use crate::part::{Command, Done, Part};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const PAGE: u64 = 4096;
/// Pages written to the SSD by one command at most: 128 KiB.
const CLUSTER: u32 = 32;
/// Time between two looks of the kernel thread.
const POLL: Nanos = Nanos::from_millis(100);
const ACTIVE: u8 = 0;
const INACTIVE: u8 = 1;
/// A slot of the SSD that is free.
const FREE: u32 = u32::MAX;
/// A slot whose page was written over while it was on its way to the SSD.
const VOID: u32 = u32::MAX - 1;

/// A swapcache and the memory before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwapcacheParams {
    /// Bytes of host memory that hold pages.
    pub memory_bytes: u64,
    /// Share of it that holds inactive pages, in percent.
    pub inactive_percent: u32,
    /// Time of a read that memory answers, in nanoseconds.
    pub memory_ns: u32,
    /// Bytes a second the bucket gains (`accrate`; 100,000).
    pub rate_bytes_per_s: u64,
    /// Bytes in the bucket at the beginning (`curburst`; 4,000,000,000).
    pub burst_bytes: u64,
    /// The most it holds afterwards (`maxburst`; 2,000,000,000).
    pub max_burst_bytes: u64,
    /// What it must hold again once it was empty (`minburst`; 10,000,000).
    pub min_burst_bytes: u64,
    /// Pages written at one look (`maxlaunder`; 256).
    pub max_launder_pages: u32,
    /// Pages that must have become inactive before the thread looks at them (`hysteresis`).
    pub hysteresis_pages: u32,
}

impl SwapcacheParams {
    /// The manual's values, for a host with that much memory. The defaults of shares and times,
    /// which the manual does not give: half of memory inactive, 2 µs for a page in memory.
    pub const fn defaults(memory_bytes: u64) -> Self {
        Self {
            memory_bytes,
            inactive_percent: 50,
            memory_ns: 2_000,
            rate_bytes_per_s: 100_000,
            burst_bytes: 4_000_000_000,
            max_burst_bytes: 2_000_000_000,
            min_burst_bytes: 10_000_000,
            max_launder_pages: 256,
            hysteresis_pages: 256,
        }
    }

    /// Whether such a cache can be.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        within("memory_bytes", self.memory_bytes, 16 * PAGE..=1 << 42)?;
        within("inactive_percent", self.inactive_percent, 1..=99)?;
        within("memory_ns", self.memory_ns, 0..=1_000_000_000)?;
        within("rate_bytes_per_s", self.rate_bytes_per_s, 10..=1 << 40)?;
        within("burst_bytes", self.burst_bytes, 0..=1 << 50)?;
        within("max_burst_bytes", self.max_burst_bytes, PAGE..=1 << 50)?;
        within("min_burst_bytes", self.min_burst_bytes, PAGE..=self.max_burst_bytes)?;
        within("max_launder_pages", self.max_launder_pages, 1..=1 << 20)?;
        let inactive = self.memory_bytes / PAGE * u64::from(self.inactive_percent) / 100;
        within("hysteresis_pages", self.hysteresis_pages, 1..=inactive.max(1))
    }
}

/// What a swapcache did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SwapcacheCounts {
    /// Pages read that were in memory.
    pub memory_hits: u64,
    /// Pages read from the SSD.
    pub ssd_hits: u64,
    /// Pages read from the slow part.
    pub misses: u64,
    /// Bytes written to the SSD.
    pub filled_bytes: u64,
    /// Pages on the SSD made void by writes and discards.
    pub voided: u64,
    /// Pages freed because the SSD was 75 % full.
    pub cleaned: u64,
    /// Pages the SSD holds.
    pub held: u64,
    /// Pages the SSD has room for.
    pub slots: u64,
    /// Bytes in the bucket.
    pub tokens: u64,
}

/// For whom a piece is.
#[derive(Debug, Clone, Copy)]
enum Owner {
    /// A command, by its number.
    Host(u32),
    /// Filling this many slots from this one on.
    Fill(u32, u32),
}

/// A page on the SSD.
#[derive(Debug, Clone, Copy)]
struct Kept {
    slot: u32,
    /// The SSD has it; until then it is on its way.
    there: bool,
}

/// An SSD as swapcache in front of a slow part.
#[derive(Debug)]
pub struct Swapcache<F, S> {
    params: SwapcacheParams,
    pair: Pair<F, S, Owner>,
    hosts: HostCommands,
    memory: Lists<2>,
    /// Pages in the order they became inactive, as far as the thread has not seen them.
    candidates: VecDeque<u32>,
    /// The thread goes on where it stopped, whatever the number of candidates.
    scanning: bool,
    kept: PageMap<Kept>,
    /// The page in each slot of the SSD.
    slots: Vec<u32>,
    /// Slots that are not free.
    used: u32,
    /// Where the next page is written, and where cleaning goes on.
    fill_at: u32,
    clean_at: u32,
    cleaning: bool,
    dry: bool,
    tokens: u64,
    poll: Nanos,
    /// Reads that memory answers wholly: when, and their numbers.
    answers: VecDeque<(Nanos, u32)>,
    finished: Vec<(Owner, Done)>,
    counts: SwapcacheCounts,
}

impl<F: Part, S: Part> Swapcache<F, S> {
    /// An empty memory and an empty SSD.
    ///
    /// # Errors
    /// As [`SwapcacheParams::check`], or a part of more than 2³¹ pages.
    pub fn new(params: SwapcacheParams, fast: F, slow: S) -> Result<Self, OutOfRange> {
        params.check()?;
        within("capacity of the SSD", fast.capacity(), 16 * PAGE..=PAGE << 31)?;
        within("capacity of the slow part", slow.capacity(), PAGE..=PAGE << 31)?;
        let slots = (fast.capacity() / PAGE) as usize;
        Ok(Self {
            tokens: params.burst_bytes,
            params,
            pair: Pair::new(fast, slow),
            hosts: HostCommands::default(),
            memory: Lists::new(),
            candidates: VecDeque::new(),
            scanning: false,
            kept: PageMap::default(),
            slots: vec![FREE; slots],
            used: 0,
            fill_at: 0,
            clean_at: 0,
            cleaning: false,
            dry: false,
            poll: POLL,
            answers: VecDeque::new(),
            finished: Vec::new(),
            counts: SwapcacheCounts::default(),
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
    pub fn counts(&self) -> SwapcacheCounts {
        SwapcacheCounts {
            held: u64::from(self.used),
            slots: self.slots.len() as u64,
            tokens: self.tokens,
            ..self.counts
        }
    }

    /// Where a page is answered from now.
    fn source(&self, page: u32) -> Source {
        if self.memory.list_of(page).is_some() {
            return Source::Memory;
        }
        match self.kept.get(&page) {
            Some(Kept { slot, there: true }) => Source::Ssd(*slot),
            _ => Source::Slow,
        }
    }

    fn begin_read(&mut self, number: u32, command: Command, now: Nanos) {
        let Command { offset, len, durable, .. } = command;
        let end = offset + u64::from(len);
        for page in offset / PAGE..end.div_ceil(PAGE) {
            let begin = page * PAGE;
            let (from, to) = (offset.max(begin), end.min(begin + PAGE));
            let (side, at) = match self.source(page as u32) {
                Source::Memory => {
                    self.counts.memory_hits += 1;
                    self.memory.put(page as u32, ACTIVE);
                    continue;
                }
                Source::Ssd(slot) => {
                    self.counts.ssd_hits += 1;
                    (Side::Fast, u64::from(slot) * PAGE + (from - begin))
                }
                Source::Slow => {
                    self.counts.misses += 1;
                    (Side::Slow, from)
                }
            };
            let len = (to - from) as u32;
            let piece = Piece { side, op: Op::Read, offset: at, len, durable };
            self.pair.join(piece, Owner::Host(number), now);
        }
        let mut pieces = self.pair.end_joined(Owner::Host(number), now);
        if pieces == 0 {
            pieces = 1;
            let at = now + Nanos(u64::from(self.params.memory_ns));
            self.answers.push_back((at, number));
        }
        self.hosts.add(number, pieces);
    }

    /// What is written or discarded is in neither memory nor SSD.
    fn forget(&mut self, offset: u64, len: u32) {
        let end = offset + u64::from(len);
        for page in offset / PAGE..end.div_ceil(PAGE) {
            self.memory.remove(page as u32);
            let Some(kept) = self.kept.remove(&(page as u32)) else { continue };
            self.counts.voided += 1;
            if kept.there {
                self.slots[kept.slot as usize] = FREE;
                self.used -= 1;
            } else {
                self.slots[kept.slot as usize] = VOID;
            }
        }
    }

    /// Whole pages that were read or written are in memory, and others leave it.
    fn remember(&mut self, offset: u64, len: u32) {
        let pages = self.params.memory_bytes / PAGE;
        let inactive = (pages * u64::from(self.params.inactive_percent) / 100) as u32;
        let active = pages as u32 - inactive;
        let end = offset + u64::from(len);
        for page in offset.div_ceil(PAGE)..end / PAGE {
            self.memory.put(page as u32, ACTIVE);
            while self.memory.len(ACTIVE) > active
                && let Some(old) = self.memory.oldest(ACTIVE)
            {
                self.memory.put(old, INACTIVE);
                self.candidates.push_back(old);
            }
            while self.memory.len(INACTIVE) > inactive
                && let Some(old) = self.memory.oldest(INACTIVE)
            {
                self.memory.remove(old);
            }
            // What became inactive before that many others did is not inactive any more.
            while self.candidates.len() > inactive as usize {
                self.candidates.pop_front();
            }
        }
    }

    /// Whether the next look of the thread would do something.
    fn would_work(&self) -> bool {
        let enough = self.candidates.len() >= self.params.hysteresis_pages as usize;
        enough || (self.scanning && !self.candidates.is_empty()) || self.is_full()
    }

    fn is_full(&self) -> bool {
        u64::from(self.used) * 4 >= self.slots.len() as u64 * 3
    }

    /// Lets the thread look at `now`, which is its time.
    fn look(&mut self, now: Nanos) {
        self.gain(1);
        self.poll = now + POLL;
        self.cleaning |= self.is_full();
        if self.cleaning {
            self.clean();
        }
        let enough = self.candidates.len() >= self.params.hysteresis_pages as usize;
        if self.cleaning || self.dry || !(self.scanning || enough) {
            return;
        }
        let mut run = (0, 0);
        let mut left = self.params.max_launder_pages;
        while left > 0 && !self.dry && !self.is_full() {
            let Some(page) = self.candidates.pop_front() else { break };
            if self.memory.list_of(page) == Some(INACTIVE) && !self.kept.contains_key(&page) {
                let slot = self.take_slot(page);
                if run.1 > 0 && (run.0 + run.1 != slot || run.1 == CLUSTER) {
                    self.fill(run, now);
                    run = (slot, 0);
                }
                run = (slot - run.1, run.1 + 1);
                left -= 1;
            }
        }
        if run.1 > 0 {
            self.fill(run, now);
        }
        self.scanning = !self.candidates.is_empty();
    }

    /// What the bucket gains in `polls` tenths of a second.
    fn gain(&mut self, polls: u64) {
        let gained = (self.params.rate_bytes_per_s / 10).saturating_mul(polls);
        // What it held at the beginning may be more than it may hold later.
        let most = self.params.max_burst_bytes.max(self.tokens);
        self.tokens = self.tokens.saturating_add(gained).min(most);
        self.dry &= self.tokens < self.params.min_burst_bytes;
    }

    /// A free slot for a page; three quarters of them at most are in use.
    fn take_slot(&mut self, page: u32) -> u32 {
        let slots = self.slots.len() as u32;
        while self.slots[self.fill_at as usize] != FREE {
            self.fill_at = (self.fill_at + 1) % slots;
        }
        let slot = self.fill_at;
        self.slots[slot as usize] = page;
        self.kept.insert(page, Kept { slot, there: false });
        self.used += 1;
        self.tokens = self.tokens.saturating_sub(PAGE);
        self.dry = self.tokens < PAGE;
        slot
    }

    fn fill(&mut self, (first, count): (u32, u32), now: Nanos) {
        let (offset, len) = (u64::from(first) * PAGE, count * PAGE as u32);
        self.counts.filled_bytes += u64::from(len);
        let piece = Piece { side: Side::Fast, op: Op::Write, offset, len, durable: false };
        self.pair.give(piece, Owner::Fill(first, count), now);
    }

    fn filled(&mut self, first: u32, count: u32) {
        for slot in first..first + count {
            let page = self.slots[slot as usize];
            if page == VOID {
                self.slots[slot as usize] = FREE;
                self.used -= 1;
            } else if let Some(kept) = self.kept.get_mut(&page) {
                kept.there = true;
            }
        }
    }

    /// Frees slots in the order of their addresses until 70 % are used.
    fn clean(&mut self) {
        let slots = self.slots.len() as u32;
        for _ in 0..slots {
            if u64::from(self.used) * 10 <= u64::from(slots) * 7 {
                self.cleaning = false;
                return;
            }
            let page = self.slots[self.clean_at as usize];
            if self.kept.get(&page).is_some_and(|kept| kept.there) {
                self.kept.remove(&page);
                self.slots[self.clean_at as usize] = FREE;
                self.used -= 1;
                self.counts.cleaned += 1;
            }
            self.clean_at = (self.clean_at + 1) % slots;
        }
    }

    fn end(&mut self, number: u32, piece: Done, done: &mut Vec<Done>) {
        let Some((whole, last)) = self.hosts.piece_done(number, piece) else { return };
        let Command { op, offset, len, .. } = whole.command;
        if whole.current && matches!(op, Op::Read | Op::Write) {
            self.remember(offset, len);
        }
        done.push(last);
    }
}

enum Source {
    Memory,
    Ssd(u32),
    Slow,
}

impl<F: Part, S: Part> Part for Swapcache<F, S> {
    fn capacity(&self) -> u64 {
        self.pair.slow().capacity()
    }

    fn depth(&self) -> u32 {
        self.pair.slow().depth()
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        let number = self.hosts.begin(command, PAGE);
        let Command { op, offset, len, durable, .. } = command;
        if op == Op::Read {
            return self.begin_read(number, command, now);
        }
        self.forget(offset, len);
        self.hosts.add(number, 1);
        let piece = Piece { side: Side::Slow, op, offset, len, durable };
        self.pair.give(piece, Owner::Host(number), now);
    }

    fn next(&self) -> Nanos {
        let answer = self.answers.front().map_or(Nanos::MAX, |(at, _)| *at);
        let poll = if self.would_work() { self.poll } else { Nanos::MAX };
        self.pair.next().min(answer).min(poll)
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        loop {
            let at = self.next();
            if at > now {
                break;
            }
            // Looks at which there was nothing to do.
            self.skip(at);
            let mut finished = std::mem::take(&mut self.finished);
            self.pair.advance(at, &mut finished);
            for (owner, piece) in finished.drain(..) {
                match owner {
                    Owner::Host(number) => self.end(number, piece, done),
                    Owner::Fill(first, count) => self.filled(first, count),
                }
            }
            self.finished = finished;
            while let Some((due, number)) = self.answers.front().copied()
                && due <= at
            {
                self.answers.pop_front();
                self.end(number, Done { tag: 0, ready: at, at }, done);
            }
            if self.would_work() && self.poll <= at {
                self.look(at);
            }
        }
        self.skip(now);
    }
}

impl<F: Part, S: Part> Swapcache<F, S> {
    /// Looks before `now` at which there was nothing to do but to fill the bucket.
    fn skip(&mut self, now: Nanos) {
        if now > self.poll && !self.would_work() {
            let polls = now.since(self.poll).0.div_ceil(POLL.0);
            self.gain(polls);
            self.poll += Nanos(polls * POLL.0);
        }
    }
}

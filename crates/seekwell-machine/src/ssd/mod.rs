//! A solid-state drive.
//!
//! A command passes the controller's processor, which does one thing at a time, and then:
//!
//! - a *read* takes the dies that hold its pages and the channels that carry them, all at once
//!   if they are different ones; what is still in the buffer or was read ahead takes neither,
//!   and what was never written is answered without looking;
//! - a *write* is done once all of it is in the buffer. From there it goes to the end of a log that
//!   runs over all dies in turn, so the buffer empties as fast as dies program; when it is full,
//!   writes wait. Part of the flash may be programmed faster, one bit a cell (see `slc`). Garbage
//!   collection moves pages by the same dies (see `ftl`);
//! - a *flush*, and a write with FUA, waits until what was written before is programmed. The piece
//!   of log that is not full yet is programmed as it is;
//! - a *discard* frees pages, so that garbage collection has less to move. A drive with zones (see
//!   `zones`) collects none.
//!
//! A drive decides by its mapping which die holds a page. Here ordered pages lie on one die after
//! the other and scattered ones on a die chosen by a hash of their address, which needs no table
//! and gives the same collisions. The rules for dies and channels are those of `NVMeVirt` (S.-H.
//! Kim et al., "NVMeVirt: A Versatile Software-defined Virtual NVMe Device", FAST '23), with queues
//! in place of its times of next availability, so that reads may pass programs.

mod ahead;
mod buffer;
mod events;
mod flash;
mod ftl;
mod map;
mod params;
mod slc;
mod steady;
mod streams;
#[cfg(test)]
mod tests;
mod write;
mod zones;

pub use ftl::LogCounts;
pub use params::{Collection, Fill, FirmwareParams, MovesAtOnce, SlcParams, SsdParams, WritePause};
pub use zones::{WritePointers, ZoneLayout, ZoneParams};

use crate::limits::OutOfRange;
use crate::part::{Command, Done, Part, Usage, Written};
use crate::serial::Serial;
use ahead::{Ahead, ReadAhead};
use buffer::Buffer;
use events::{Event, Events};
use flash::{Flash, PageRead, Reader};
use ftl::{Ftl, Mapping};
use map::MapCache;
use params::UNIT_BYTES;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use slc::Slc;
use std::collections::VecDeque;
use streams::Streams;
use write::Gate;

const UNIT: u64 = UNIT_BYTES as u64;

/// A command the drive has.
#[derive(Debug, Clone, Copy)]
struct Active {
    command: Command,
    /// It continues where an earlier one of its kind ended.
    continues: bool,
    /// Pages of a read that are not there yet; mapping units of a write not in the buffer yet.
    left: u32,
    /// When the first page of a read was there.
    ready: Nanos,
    /// When the last of its pages so far was there.
    end: Nanos,
}

/// What the processor has done its part of.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// One flash page of a read command: place in the table and number of the page.
    Page(u32, u64),
    /// The whole of any other command.
    Whole(u32),
}

/// The die whose turn it is. What the host writes, what garbage collection moves and what is to be
/// erased lie in superblocks of their own, and each goes over all dies.
#[derive(Debug, Clone, Copy, Default)]
struct NextDie {
    host: Turn,
    moves: Turn,
    erases: Turn,
}

/// Erases that are still to be done, each by one die. They are spread over the pieces of log that
/// fill the next superblock, so that writes never wait for all dies.
#[derive(Debug, Clone, Copy, Default)]
struct Erases {
    owed: u32,
    /// Owed when the last ones were added, which is how many are done in a superblock's time.
    share: u32,
    credit: u64,
}

impl Erases {
    /// Adds erases, and takes those to be done with one more of a superblock's `pieces`.
    fn due(&mut self, more: u32, pieces: u32) -> u32 {
        self.owed += more;
        if more > 0 {
            self.share = self.owed;
        }
        self.credit += u64::from(self.share);
        let due = (self.credit / u64::from(pieces)).min(u64::from(self.owed)) as u32;
        self.credit %= u64::from(pieces);
        self.owed -= due;
        due
    }
}

/// One number after the other, from 0 again after the last.
#[derive(Debug, Clone, Copy, Default)]
struct Turn(u32);

impl Turn {
    const fn turn(&mut self, of: u32) -> u32 {
        let this = self.0;
        self.0 = (this + 1) % of;
        this
    }
}

/// What a drive did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SsdCounts {
    /// What was written to the log, in units of 4 KiB.
    pub log: LogCounts,
    /// Units moved from flash of one bit a cell to dense flash.
    pub folded: u64,
    /// How long the processor was at work.
    pub processor_busy: Nanos,
    /// How long the channels were busy, all added up.
    pub channels_busy: Nanos,
}

/// A solid-state drive, without its link.
#[derive(Debug)]
pub struct Ssd {
    params: SsdParams,
    ftl: Ftl,
    flash: Flash,
    buffer: Buffer,
    slc: Slc,
    ahead: ReadAhead,
    /// Where not all of the mapping is at hand.
    map: Option<MapCache>,
    events: Events,
    processor: Serial,
    /// What the processor works on, by the time it will be done with it.
    steps: VecDeque<(Nanos, Step)>,
    /// Writes that wait for room in the buffer, in order.
    waiting: VecDeque<u32>,
    gate: Gate,
    /// Writes begun that are not in the buffer yet.
    writes_begun: u32,
    /// Commands behind as many of those as there are slots for, in order.
    behind: VecDeque<u32>,
    actives: Vec<Active>,
    free: Vec<u32>,
    reading: Streams,
    writing: Streams,
    next_die: NextDie,
    /// Units to be moved that do not fill a die's program yet.
    moves: u64,
    erases: Erases,
    /// Hundredths of a page that the mapping's log is behind.
    map_debt: u32,
}

impl Ssd {
    /// A drive at time zero.
    ///
    /// # Errors
    /// As [`SsdParams::check`].
    pub fn new(params: SsdParams) -> Result<Self, OutOfRange> {
        params.check()?;
        let ahead_pages = u64::from(params.read_ahead_bytes / params.page_bytes);
        let buffer_units = (params.buffer_bytes / UNIT) as u32;
        Ok(Self {
            ftl: Ftl::new(&params),
            flash: Flash::new(&params),
            buffer: Buffer::new(buffer_units, params.program_units()),
            slc: Slc::new(&params),
            ahead: ReadAhead::new(ahead_pages, streams::STREAMS as u64),
            map: params.map_cache_bytes.map(MapCache::new),
            events: Events::default(),
            processor: Serial::default(),
            steps: VecDeque::new(),
            waiting: VecDeque::new(),
            gate: Gate::new(&params),
            writes_begun: 0,
            behind: VecDeque::new(),
            actives: Vec::new(),
            free: Vec::new(),
            reading: Streams::new(),
            writing: Streams::new(),
            next_die: NextDie::default(),
            moves: 0,
            erases: Erases::default(),
            map_debt: 0,
            params,
        })
    }

    /// What it did so far.
    pub fn counts(&self) -> SsdCounts {
        SsdCounts {
            log: self.ftl.counts(),
            folded: self.slc.folded() * u64::from(self.params.program_units()),
            processor_busy: self.processor.busy(),
            channels_busy: self.flash.channels_busy(),
        }
    }

    fn keep(&mut self, active: Active) -> u32 {
        if let Some(index) = self.free.pop() {
            self.actives[index as usize] = active;
            return index;
        }
        self.actives.push(active);
        (self.actives.len() - 1) as u32
    }

    /// Whether a command has to wait for writes that were given before it.
    fn is_held_up(&self) -> bool {
        !self.behind.is_empty() || self.params.write_slots.is_some_and(|n| self.writes_begun >= n)
    }

    /// Begins the commands that no write holds up any longer.
    fn begin_held_up(&mut self, now: Nanos) {
        while self.params.write_slots.is_some_and(|n| self.writes_begun < n)
            && let Some(index) = self.behind.pop_front()
        {
            self.begin(index, now);
        }
    }

    /// Gives a command to the processor.
    fn begin(&mut self, index: u32, now: Nanos) {
        let firmware = self.params.firmware;
        let Command { op, offset, len, .. } = self.actives[index as usize].command;
        let cost = match op {
            Op::Read => return self.begin_read(index, now),
            Op::Write => {
                let units = units_of(offset, offset + u64::from(len));
                self.actives[index as usize].left = units as u32;
                self.writes_begun += 1;
                u64::from(firmware.write_ns) + units * u64::from(firmware.write_unit_ns)
            }
            Op::Flush => u64::from(firmware.flush_ns),
            Op::Discard => u64::from(firmware.discard_ns),
        };
        let start = self.processor.reserve(now, Nanos(cost));
        self.steps.push_back((start + Nanos(cost), Step::Whole(index)));
    }

    /// Gives a read to the processor, page by page.
    fn begin_read(&mut self, index: u32, now: Nanos) {
        let Command { offset, len, .. } = self.actives[index as usize].command;
        let firmware = self.params.firmware;
        let page_bytes = u64::from(self.params.page_bytes);
        let end = offset + u64::from(len);
        let units = units_of(offset, end);
        let unit_ns = u64::from(firmware.read_unit_ns);
        let command_ns = u64::from(firmware.read_ns);
        let start = self.processor.reserve(now, Nanos(command_ns + units * unit_ns));
        let mut at = Nanos(start.0 + command_ns);
        let pages = offset / page_bytes..end.div_ceil(page_bytes).max(offset / page_bytes + 1);
        self.actives[index as usize].left = (pages.end - pages.start) as u32;
        for page in pages {
            let from = offset.max(page * page_bytes);
            at += Nanos(units_of(from, end.min((page + 1) * page_bytes)) * unit_ns);
            self.steps.push_back((at, Step::Page(index, page)));
        }
    }

    /// The processor is to look up one page of a read, and has its part of the mapping read first
    /// if that is not at hand.
    fn look_up(&mut self, index: u32, page: u64, now: Nanos) {
        let unit = page * u64::from(self.params.page_bytes) / UNIT;
        if self.load_map(unit, unit + 1, Some(Reader::Map(index, page)), now) == 0 {
            self.read_page(index, page, now);
        }
    }

    /// Sees that the mapping of units `first..end` is at hand; it is to be changed if no read waits
    /// for it. Returns how many segments are read.
    fn load_map(&mut self, first: u64, end: u64, reader: Option<Reader>, now: Nanos) -> u32 {
        let mut missed = 0;
        if self.map.is_none() {
            return missed;
        }
        for segment in MapCache::segments(first, end) {
            let asked = self.map.as_mut().and_then(|map| map.ask(segment, reader.is_none()));
            let Some(miss) = asked else { continue };
            missed += 1;
            self.pad(miss.writes_back.into(), now);
            let reader = reader.unwrap_or(Reader::Merge);
            self.sense(self.home(!segment), !segment, reader, UNIT_BYTES, now);
        }
        missed
    }

    /// The processor has looked up one page of a read.
    fn read_page(&mut self, index: u32, page: u64, now: Nanos) {
        let active = self.actives[index as usize];
        let Command { offset, len, .. } = active.command;
        let page_bytes = u64::from(self.params.page_bytes);
        let end = offset + u64::from(len);
        let (from, to) = (offset.max(page * page_bytes), end.min((page + 1) * page_bytes));
        let mut ordered = 0;
        let mut left = 0;
        for unit in from / UNIT..to.div_ceil(UNIT) {
            let bytes = to.min((unit + 1) * UNIT).saturating_sub(from.max(unit * UNIT)) as u32;
            if self.buffer.holds(unit) {
                continue;
            }
            match self.ftl.place(unit) {
                Mapping::Unmapped => {}
                Mapping::Ordered => ordered += bytes,
                Mapping::Scattered => {
                    left += 1;
                    self.sense(self.home(unit), unit, Reader::Command(index), bytes, now);
                }
            }
        }
        let mut there = now;
        if ordered > 0 {
            match self.ahead.want(page, to == (page + 1) * page_bytes, index) {
                Ahead::Here(at) => there = now.max(at),
                Ahead::Coming => left += 1,
                Ahead::Unknown => {
                    left += 1;
                    self.sense(self.stripe(page), page, Reader::Command(index), ordered, now);
                }
            }
        }
        if active.continues && to == end {
            self.fetch_ahead(end.div_ceil(page_bytes), now);
        }
        // The page itself counts as one until here; what it needs from the flash takes its place.
        self.actives[index as usize].left += left;
        self.page_there(index, there, there);
    }

    /// A page, or what the flash holds of one, is there for a command: from `ready` to `end`.
    fn page_there(&mut self, index: u32, ready: Nanos, end: Nanos) {
        let active = &mut self.actives[index as usize];
        active.ready = active.ready.min(ready);
        active.end = active.end.max(end);
        active.left -= 1;
        if active.left == 0 {
            let at = active.end + Nanos(u64::from(self.params.read_latency_ns));
            self.events.arrange(at, Event::Done(index));
        }
    }

    /// Reads the pages after those a sequential reader has had.
    fn fetch_ahead(&mut self, first: u64, now: Nanos) {
        let page_bytes = u64::from(self.params.page_bytes);
        let last = (first + self.ahead.pages()).min(self.params.capacity_bytes / page_bytes);
        for page in first..last {
            let unit = page * page_bytes / UNIT;
            let in_flash = self.ftl.place(unit) == Mapping::Ordered && !self.buffer.holds(unit);
            if in_flash && self.ahead.fetch(page) {
                let bytes = self.params.page_bytes;
                self.sense(self.stripe(page), page, Reader::Ahead(page), bytes, now);
            }
        }
    }

    /// The die of a scattered unit.
    fn home(&self, unit: u64) -> u32 {
        one_of(scramble(unit), self.params.dies())
    }

    /// The die of an ordered page.
    fn stripe(&self, page: u64) -> u32 {
        (page % u64::from(self.params.dies())) as u32
    }

    /// Has a die read a page; `place` decides how fast it is.
    fn sense(&mut self, die: u32, place: u64, reader: Reader, bytes: u32, now: Nanos) {
        let times = &self.params.sense_ns;
        let ns = times[one_of(scramble(!place), times.len() as u32) as usize];
        let read = PageRead { reader, bytes, sense: Nanos(u64::from(ns)) };
        self.flash.read(die, read, now, &mut self.events);
    }

    /// A die has sensed a page and carries it away.
    fn sensed(&mut self, die: u32, event: u64, now: Nanos) {
        let Some((read, _, end)) = self.flash.sensed(die, event, now, &mut self.events) else {
            return;
        };
        match read.reader {
            Reader::Command(index) => self.page_there(index, end, end),
            // The segment's few microseconds on the channel are not waited for.
            Reader::Map(index, page) => self.read_page(index, page, now),
            Reader::Ahead(page) => {
                self.ahead.here(page, end);
                while let Some(index) = self.ahead.served(page) {
                    self.page_there(index, end, end);
                }
            }
            Reader::Merge => {}
        }
    }

    /// The processor is done with a command that is no read.
    fn done_with(&mut self, index: u32, now: Nanos) {
        let Command { op, offset, len, .. } = self.actives[index as usize].command;
        match op {
            Op::Read => unreachable!("reads go page by page"),
            Op::Write => {
                let end = offset + u64::from(len);
                self.load_map(offset / UNIT, end.div_ceil(UNIT), None, now);
                self.waiting.push_back(index);
                self.admit(now);
            }
            Op::Flush => self.make_durable(index, now),
            Op::Discard => {
                let (first, end) = (offset.div_ceil(UNIT), (offset + u64::from(len)) / UNIT);
                self.ftl.discard(first, end.saturating_sub(first));
                self.events.arrange(now, Event::Done(index));
            }
        }
    }

    fn happen(&mut self, now: Nanos, event: Event, number: u64, done: &mut Vec<Done>) {
        match event {
            Event::Sensed(die) => self.sensed(die, number, now),
            Event::Sent(die) => self.flash.sent(die, number, now, &mut self.events),
            Event::Worked(die) => self.worked(die, number, now),
            Event::Open => self.open(now),
            Event::Idle => self.begin_folding(now),
            Event::Done(index) => {
                let Active { command, ready, .. } = self.actives[index as usize];
                let is_read = command.op == Op::Read;
                let latency = Nanos(u64::from(self.params.read_latency_ns));
                let ready = if is_read { (ready + latency).min(now) } else { now };
                done.push(Done { tag: command.tag, ready, at: now });
                self.free.push(index);
                if self.free.len() == self.actives.len() {
                    self.rest(now);
                }
            }
        }
    }
}

impl Part for Ssd {
    fn capacity(&self) -> u64 {
        self.params.capacity_bytes
    }

    fn depth(&self) -> u32 {
        self.params.depth
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        let Command { op, offset, len, .. } = command;
        let continues = match op {
            Op::Read => self.reading.continues(offset, len),
            Op::Write => self.writing.continues(offset, len),
            Op::Flush | Op::Discard => false,
        };
        let active = Active { command, continues, left: 0, ready: Nanos::MAX, end: now };
        let index = self.keep(active);
        self.slc.wake();
        self.ftl.expect(offset / UNIT);
        if self.is_held_up() {
            self.behind.push_back(index);
        } else {
            self.begin(index, now);
        }
    }

    fn usage(&self) -> Usage {
        let SsdCounts { log, folded, .. } = self.counts();
        let written = Written {
            host_bytes: log.host * UNIT,
            media_bytes: (log.host + log.overhead + log.moved + folded) * UNIT,
            collected_bytes: log.moved * UNIT,
            erased_superblocks: log.erased,
        };
        Usage { written: Some(written), ..Usage::default() }
    }

    fn next(&self) -> Nanos {
        let step = self.steps.front().map_or(Nanos::MAX, |(at, _)| *at);
        step.min(self.events.next())
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        loop {
            let event = self.events.next();
            match self.steps.front() {
                Some((at, step)) if *at <= now && *at <= event => {
                    let (at, step) = (*at, *step);
                    self.steps.pop_front();
                    match step {
                        Step::Page(index, page) => self.look_up(index, page, at),
                        Step::Whole(index) => self.done_with(index, at),
                    }
                }
                _ if event <= now => {
                    let Some((at, number, event)) = self.events.pop() else { return };
                    self.happen(at, event, number, done);
                }
                _ => return,
            }
        }
    }
}

/// Mapping units that bytes `from..to` touch.
const fn units_of(from: u64, to: u64) -> u64 {
    to.div_ceil(UNIT) - from / UNIT
}

/// Spreads numbers evenly (the finalizer of `SplitMix64`, G. Steele et al., 2014).
const fn scramble(number: u64) -> u64 {
    let mut x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// One of `n`, chosen by an evenly spread number.
const fn one_of(spread: u64, n: u32) -> u32 {
    (((spread >> 32) * n as u64) >> 32) as u32
}

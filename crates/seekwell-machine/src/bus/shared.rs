//! A bus of drives that hold it while they take a command and while data crosses.
//!
//! As SCSI drives do in DiskSim: a drive that is given a command keeps the bus while it works out
//! what to do, gives it up where it has to fetch data first, and takes it again when it has them. A
//! write's data crosses at once. Whoever wants the bus meanwhile waits, in order of asking.

use crate::hdd::After;
use crate::part::{Command, Done, Part, Usage};
use crate::serial::{ByTag, Leaving, Serial};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// A bus as those on it share it.
#[derive(Debug, Clone, Default)]
pub struct SharedLine(Arc<Mutex<Serial>>);

/// How a drive uses its bus.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BusUse {
    /// How long it keeps the bus when it is given a read.
    pub read_command: After,
    /// How long it keeps the bus when it is given a write, before its data.
    pub write_command: After,
    /// Nanoseconds of a sector of 512 bytes to the host.
    pub read_sector_ns: u64,
    /// Nanoseconds of a sector from the host.
    pub write_sector_ns: u64,
    /// Share of a read that is there before its data begins to cross, 0 to 1.
    pub read_watermark: f64,
    /// How long it keeps the bus after a read's data, which the part counts before them.
    pub read_done: Nanos,
}

/// A part on buses that it shares. It counts the data of writes itself, and that of reads not.
#[derive(Debug)]
pub struct OnShared<P> {
    part: P,
    lines: Vec<SharedLine>,
    bus: BusUse,
    outstanding: ByTag<(bool, u32)>,
    last_read: bool,
    /// Commands by the time at which the bus is theirs.
    arriving: VecDeque<(Nanos, Command)>,
    /// What is done in the part, by the time at which the host knows.
    leaving: Leaving,
    finished: Vec<Done>,
}

impl<P: Part> OnShared<P> {
    /// A part on buses. Whoever holds the parts on a bus calls them in order of time.
    pub fn new(part: P, lines: Vec<SharedLine>, bus: BusUse) -> Self {
        Self {
            part,
            lines,
            bus,
            outstanding: ByTag::default(),
            last_read: false,
            arriving: VecDeque::new(),
            leaving: Leaving::default(),
            finished: Vec::new(),
        }
    }

    /// Takes the buses for `span`, not before `from`, and says from when on.
    fn take(&self, from: Nanos, span: Nanos) -> Nanos {
        self.lines.iter().fold(from, |from, line| {
            line.0.lock().unwrap_or_else(PoisonError::into_inner).reserve(from, span)
        })
    }

    /// When the host knows that something is done.
    fn leave(&self, end: Done) -> Done {
        let (read, len) = self.outstanding.get(end.tag);
        if !read {
            return Done { at: self.take(end.at, Nanos::ZERO), ..end };
        }
        let BusUse { read_sector_ns, read_watermark, read_done, .. } = self.bus;
        let (ready, there) = (end.ready.since(read_done), end.at.since(read_done));
        let span = u64::from(len).div_ceil(SECTOR) * read_sector_ns;
        let filling = there.since(ready).0 as f64 * read_watermark;
        // As late as it can begin without ending later for it.
        let latest = (there.0 + read_sector_ns).saturating_sub(span);
        let begin = Nanos((ready.0 + filling as u64).max(latest));
        let kept = Nanos(span) + read_done;
        Done { at: (self.take(begin, kept) + kept).max(end.at), ..end }
    }
}

const SECTOR: u64 = 512;

impl<P: Part> Part for OnShared<P> {
    fn capacity(&self) -> u64 {
        self.part.capacity()
    }

    fn depth(&self) -> u32 {
        self.part.depth()
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        let read = command.op != Op::Write;
        self.outstanding.set(command.tag, (read, command.len));
        let kept = if read { self.bus.read_command } else { self.bus.write_command };
        let sectors = if read { 0 } else { u64::from(command.len).div_ceil(SECTOR) };
        let span = kept.after(self.last_read) + sectors * self.bus.write_sector_ns;
        self.last_read = read;
        let at = self.take(now, Nanos(span));
        if at > now {
            self.arriving.push_back((at, command));
        } else {
            self.part.submit(command, now);
        }
    }

    fn next(&self) -> Nanos {
        let arrival = self.arriving.front().map_or(Nanos::MAX, |(at, _)| *at);
        self.part.next().min(arrival).min(self.leaving.next())
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        self.part.advance(now, &mut self.finished);
        for end in std::mem::take(&mut self.finished) {
            let left = self.leave(end);
            self.leaving.push(left);
        }
        while let Some(&(at, command)) = self.arriving.front().filter(|(at, _)| *at <= now) {
            self.arriving.pop_front();
            self.part.submit(command, at.max(now));
        }
        self.leaving.take(now, done);
    }

    fn usage(&self) -> Usage {
        self.part.usage()
    }
}

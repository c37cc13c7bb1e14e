//! A bus that several drives take in turn, each of which counts its own crossing.
//!
//! A drive says when its data would have crossed were it alone. Where another's crossing lay in
//! between, it ends later by as much as the bus was taken. Crossings are put in order by their
//! ends: a drive is not held up before it has something to give.

use crate::part::{Command, Done, Part};
use crate::serial::{ByTag, Serial};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::sync::{Arc, Mutex, PoisonError};

/// A bus as those on it share it.
#[derive(Debug, Clone, Default)]
pub struct SharedLine(Arc<Mutex<Serial>>);

impl SharedLine {
    /// Takes the bus for a crossing that would have ended at `end`, and says when it does.
    fn cross(&self, end: Nanos, span: Nanos) -> Nanos {
        let mut line = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        line.book(Nanos(end.0.saturating_sub(span.0)), span) + span
    }
}

/// Nanoseconds of a sector of 512 bytes on a bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectorTimes {
    /// To the host.
    pub read: u64,
    /// From the host.
    pub write: u64,
}

/// A part on buses that it shares.
#[derive(Debug)]
pub struct OnShared<P> {
    part: P,
    lines: Vec<SharedLine>,
    times: SectorTimes,
    /// How long the data of each command takes to cross.
    crossings: ByTag<Nanos>,
    /// What is done in the part and crosses yet.
    crossing: Vec<Done>,
    finished: Vec<Done>,
}

impl<P: Part> OnShared<P> {
    /// A part on buses. Whoever holds the parts on a bus calls them in order of time.
    pub fn new(part: P, lines: Vec<SharedLine>, times: SectorTimes) -> Self {
        let crossings = ByTag::default();
        Self { part, lines, times, crossings, crossing: Vec::new(), finished: Vec::new() }
    }

    /// When what is done at `end` has crossed.
    fn cross(&self, end: Done) -> Done {
        let span = self.crossings.get(end.tag);
        let at = self.lines.iter().fold(end.at, |at, line| line.cross(at, span));
        Done { at, ..end }
    }
}

impl<P: Part> Part for OnShared<P> {
    fn capacity(&self) -> u64 {
        self.part.capacity()
    }

    fn depth(&self) -> u32 {
        self.part.depth()
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        let sector = if command.op == Op::Read { self.times.read } else { self.times.write };
        let sectors = u64::from(command.len).div_ceil(512);
        self.crossings.set(command.tag, Nanos(sectors * sector));
        self.part.submit(command, now);
    }

    fn next(&self) -> Nanos {
        let crossed = self.crossing.iter().map(|end| end.at).min().unwrap_or(Nanos::MAX);
        self.part.next().min(crossed)
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        self.part.advance(now, &mut self.finished);
        for end in std::mem::take(&mut self.finished) {
            let crossed = self.cross(end);
            self.crossing.push(crossed);
        }
        self.crossing.sort_by_key(|end| end.at);
        let there = self.crossing.partition_point(|end| end.at <= now);
        done.extend(self.crossing.drain(..there));
    }

    fn processor(&self) -> Nanos {
        self.part.processor()
    }
}

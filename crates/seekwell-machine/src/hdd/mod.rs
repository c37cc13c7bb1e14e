//! A hard drive: zones, arm, rotation, segmented cache, write buffer, reordering.
//!
//! The angle of the platters is a function of the time, so nothing happens per sector or per
//! revolution. A command that needs the arm gets all its times when the arm turns to it. Reading
//! ahead and writing back go on between commands without events: how far they have come is worked
//! out when it matters.
//!
//! What overlaps, at a command's arrival: its overhead with the arm's work for an earlier one, data
//! crossing the interface with sectors passing under the head, and the host's data with the seek.
//!
//! The structure follows C. Ruemmler and J. Wilkes, "An introduction to disk drive modeling" (IEEE
//! Computer 27(3), 1994) and the parameters of the DiskSim 4 manual (J. Bucy et al.,
//! CMU-PDL-08-101), from whose files [`crate::disksim`] makes drives.

mod buffer;
mod cache;
mod error;
mod faster;
mod layout;
mod mechanics;
mod order;
mod params;
mod read;
mod seek;
mod write;

#[cfg(test)]
mod layout_tests;
#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod tests;

pub use error::ParamsError;
pub use params::{
    After, Cache, Interface, Layout, MAX_CYLINDERS, Overhead, Params, Pause, Queue, ReadAhead,
    Sparing, SurfaceOrder, WriteBuffer, Zone,
};
pub use seek::SeekCurve;

use crate::part::{Command, Done, Part};
use buffer::{Dirty, Room};
use cache::{Hit, Segments};
use mechanics::{Cursor, Mechanics, Position};
use order::{Run, Turn, Waiting, WaitsFor};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use read::Ahead;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A hard drive.
#[derive(Debug)]
pub struct Hdd {
    params: Params,
    mechanics: Mechanics,
    segments: Segments,
    dirty: Dirty,
    arm: Arm,
    ahead: Option<Ahead>,
    run: Run,
    turn: Turn,
    /// Whether a waiting command continues the run.
    streams: bool,
    /// Commands that could not be done at once, oldest first.
    waiting: Vec<Waiting>,
    flushes: usize,
    /// How many of them are writes without room.
    buffered: usize,
    /// What is done or will be, by time.
    finished: BinaryHeap<Reverse<Finished>>,
    /// Commands finished so far, which orders those of the same time.
    sequence: u64,
    interface_free: u64,
    /// When the last command came or was done.
    busy_until: u64,
    last_read: bool,
    /// The sector after the last write's.
    last_written: u64,
    /// How far the platters have turned at time zero, in nanoseconds.
    turned: u64,
}

/// The arm as its last obligatory work leaves it.
#[derive(Debug)]
struct Arm {
    position: Position,
    /// When that work is done.
    free: u64,
}

/// A command's end.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finished {
    at: u64,
    sequence: u64,
    ready: u64,
    tag: u32,
}

impl Hdd {
    /// A drive at rest over its first cylinder, all segments empty. The seed decides the angle the
    /// platters have at time zero.
    pub fn new(params: Params, seed: u64) -> Result<Self, ParamsError> {
        params.check()?;
        let mechanics = Mechanics::new(&params);
        let sectors = mechanics.geometry.sectors();
        if sectors == 0 {
            let field = "sectors that hold data";
            return Err(ParamsError::Range { field, value: 0.0, least: 1.0, most: 1e15 });
        }
        let turned = Xoshiro256PlusPlus::seed_from_u64(seed).next_u64() % mechanics.period;
        let position = Position { cylinder: params.layout.zones[0].first_cylinder, head: 0 };
        Ok(Self {
            segments: Segments::new(&params.cache),
            dirty: Dirty::new(&params.write),
            arm: Arm { position, free: turned },
            ahead: None,
            run: Run::NONE,
            turn: Turn::FIRST,
            streams: false,
            waiting: Vec::with_capacity(params.queue.depth as usize),
            flushes: 0,
            buffered: 0,
            finished: BinaryHeap::new(),
            sequence: 0,
            interface_free: 0,
            busy_until: turned,
            last_read: false,
            last_written: u64::MAX,
            turned,
            mechanics,
            params,
        })
    }

    /// What the drive is made of.
    pub const fn params(&self) -> &Params {
        &self.params
    }

    /// The time on the drive's own scale, on which the platters are at angle 0 at time zero.
    const fn own(&self, now: Nanos) -> u64 {
        now.0.saturating_add(self.turned)
    }

    fn finish(&mut self, tag: u32, ready: u64, at: u64) {
        self.sequence += 1;
        self.busy_until = self.busy_until.max(at);
        let end = Finished { at, sequence: self.sequence, ready: ready.min(at), tag };
        self.finished.push(Reverse(end));
    }

    fn queue(&mut self, next: Waiting) {
        self.flushes += usize::from(next.kind == WaitsFor::Flush);
        self.buffered += usize::from(next.kind == WaitsFor::Buffered);
        self.streams |= self.run.continues_with(&next);
        self.waiting.push(next);
    }

    fn leave_queue(&mut self, index: usize) -> Waiting {
        let next = self.waiting.remove(index);
        self.flushes -= usize::from(next.kind == WaitsFor::Flush);
        self.buffered -= usize::from(next.kind == WaitsFor::Buffered);
        next
    }

    /// When the arm turns to the next of the commands that wait: at once to what goes on where it
    /// is, and to the buffer.
    fn next_choice(&self) -> u64 {
        let at_once = self.streams || self.flushes > 0 || self.buffered == self.waiting.len();
        let turnaround = if at_once { 0 } else { self.params.overhead.turnaround.0 };
        self.arm.free + turnaround
    }

    /// Lets background work go on until `now`.
    fn catch_up(&mut self, now: u64) {
        while self.arm.free <= now {
            self.dirty.finish();
            if !self.waiting.is_empty() || self.dirty.waiting.is_empty() {
                break;
            }
            let first = self.dirty.waiting.iter().map(|extent| extent.eligible).min();
            let rested = self.busy_until + self.params.write.idle_delay.0;
            let rested = if self.params.write.idle_delay.0 == 0 { 0 } else { rested };
            let begin = self.arm.free.max(first.unwrap_or(0)).max(rested);
            if begin > now {
                break;
            }
            self.write_back(begin);
        }
        self.read_ahead_until(now);
    }

    /// Turns the arm to whatever waits, as long as it is free.
    fn dispatch(&mut self, now: u64) {
        while !self.waiting.is_empty() && self.next_choice() <= now {
            self.dirty.finish();
            if self.accept_waiting(now) || self.end_flushes(now) {
                continue;
            }
            match self.choose(now) {
                Some(index) => {
                    let next = self.leave_queue(index);
                    self.streams = self.params.overhead.turnaround.0 > 0
                        && self.waiting.iter().any(|waiting| self.run.continues_with(waiting));
                    match next.kind {
                        WaitsFor::Read => self.read(&next, now, true),
                        _ => self.write_through(&next, now, true),
                    }
                }
                None if self.dirty.waiting.is_empty() => break,
                None => self.write_back(now),
            }
        }
    }

    /// Takes into the buffer the waiting write with room there that the arm would reach soonest.
    fn accept_waiting(&mut self, now: u64) -> bool {
        if self.flushes > 0 || self.buffered == 0 {
            return false;
        }
        let window = self.params.queue.window as usize;
        let found = self.waiting.iter().enumerate().take(window).filter(|(_, waiting)| {
            waiting.kind == WaitsFor::Buffered
                && self.dirty.room(waiting.start, waiting.end) != Room::None
        });
        let phase = now % self.mechanics.period;
        let found = found.min_by_key(|(_, waiting)| self.cost(waiting, now, phase));
        let Some(index) = found.map(|(index, _)| index) else { return false };
        let next = self.leave_queue(index);
        let room = self.dirty.room(next.start, next.end);
        self.write_to_buffer(&next, room, now, true);
        true
    }

    fn end_flushes(&mut self, now: u64) -> bool {
        if self.flushes == 0 || !self.dirty.is_clean() {
            return false;
        }
        let flush = self.waiting.iter().position(|waiting| waiting.kind == WaitsFor::Flush);
        let Some(index) = flush else { return false };
        let next = self.leave_queue(index);
        let at = now + self.params.write.flush_overhead.0;
        self.arm.free = self.arm.free.max(at);
        self.finish(next.tag, at, at);
        true
    }

    /// Whether a command that arrives at `now` finds the arm without obligatory work.
    fn is_idle(&self, now: u64) -> bool {
        self.waiting.is_empty() && self.arm.free <= now
    }

    fn accept_read(&mut self, next: Waiting, now: u64) {
        let idle = self.is_idle(now);
        let busy_hits = self.params.cache.hits_while_busy;
        if self.dirty.overlaps(next.start, next.end) {
            let hits = self.params.cache.hits_on_written && self.params.cache.enabled;
            if hits && busy_hits && self.dirty.holds(next.start, next.end) {
                self.read_held(&next, now, false);
            } else {
                self.queue(next);
            }
            return;
        }
        let whole = busy_hits && matches!(self.segments.look(next.start, next.end), Hit::Full(_));
        if idle || (whole && self.run.continues_with(&next)) {
            self.run = Run::after(&next, self.params.queue.window);
        }
        if idle {
            self.read(&next, now, false);
        } else if whole {
            self.read_held(&next, now, false);
        } else {
            self.queue(next);
        }
    }

    fn accept_write(&mut self, next: Waiting, now: u64) {
        let idle = self.is_idle(now);
        if next.kind == WaitsFor::Through {
            if idle {
                self.run = Run::after(&next, self.params.queue.window);
                self.write_through(&next, now, false)
            } else {
                self.queue(next)
            }
            return;
        }
        let room = self.dirty.room(next.start, next.end);
        let ordered = matches!(room, Room::With(_) | Room::Joins);
        let at_once = idle || self.params.cache.hits_while_busy || ordered;
        if room != Room::None && at_once && self.flushes == 0 {
            self.write_to_buffer(&next, room, now, false);
        } else {
            self.queue(next);
        }
    }

    fn kind_of(&self, command: &Command, sectors: u64) -> WaitsFor {
        match command.op {
            Op::Read => WaitsFor::Read,
            Op::Flush => WaitsFor::Flush,
            _ if command.durable => WaitsFor::Through,
            _ if self.params.write.write_back && self.dirty.fits(sectors) => WaitsFor::Buffered,
            _ => WaitsFor::Through,
        }
    }

    /// The cursor of the arm after its obligatory work, at `at` or later.
    fn cursor(&self, sector: u64, at: u64) -> Cursor {
        Cursor { sector, at: at.max(self.arm.free), position: self.arm.position }
    }
}

impl Part for Hdd {
    fn capacity(&self) -> u64 {
        self.mechanics.geometry.sectors() * u64::from(self.params.sector_bytes)
    }

    fn depth(&self) -> u32 {
        self.params.queue.depth
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        let now = self.own(now);
        self.catch_up(now);
        self.busy_until = self.busy_until.max(now);
        let bytes = u64::from(self.params.sector_bytes);
        let start = command.offset / bytes;
        let end = (command.offset + u64::from(command.len)).div_ceil(bytes);
        let short = self.params.overhead.write_hit.read.0;
        if command.op == Op::Discard || (end <= start && command.op != Op::Flush) {
            self.finish(command.tag, now + short, now + short);
            return;
        }
        let kind = self.kind_of(&command, end.saturating_sub(start));
        if kind == WaitsFor::Flush {
            if self.dirty.is_clean() {
                self.finish(command.tag, now + short, now + short);
                return;
            }
            self.queue(Waiting::flush(command.tag, now));
        } else {
            let spot = self.mechanics.geometry.locate(start);
            let next = Waiting {
                tag: command.tag,
                kind,
                start,
                end,
                arrived: now,
                position: Position { cylinder: spot.cylinder, head: spot.head },
                phase: self.mechanics.phase(&spot),
            };
            match kind {
                WaitsFor::Read => self.accept_read(next, now),
                _ => self.accept_write(next, now),
            }
        }
        self.dispatch(now);
    }

    fn next(&self) -> Nanos {
        let end = self.finished.peek().map_or(u64::MAX, |Reverse(end)| end.at);
        let choice = if self.waiting.is_empty() { u64::MAX } else { self.next_choice() };
        match end.min(choice) {
            u64::MAX => Nanos::MAX,
            at => Nanos(at.saturating_sub(self.turned)),
        }
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        let now = self.own(now);
        if !self.waiting.is_empty() && self.next_choice() <= now {
            self.catch_up(now);
            self.dispatch(now);
        }
        while let Some(Reverse(end)) = self.finished.peek()
            && end.at <= now
        {
            let (ready, at) = (end.ready - self.turned, end.at - self.turned);
            done.push(Done { tag: end.tag, ready: Nanos(ready), at: Nanos(at) });
            self.finished.pop();
        }
    }
}

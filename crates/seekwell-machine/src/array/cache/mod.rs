//! The memory of an array's controller, as a part in front of an array or of a drive.
//!
//! A write is acknowledged from the memory as long as there is room and a battery; it goes below
//! when the memory fills or the controller is idle, in order of address and contiguous ranges
//! together, so that what was small writes may become full stripes. A read that is here does not go
//! below.

mod lines;
mod params;

#[cfg(test)]
mod tests;

pub use params::{CacheParams, WritePolicy};

use crate::limits::OutOfRange;
use crate::part::{Command, Done, Part, Usage};
use crate::serial::Serial;
use lines::Lines;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::collections::VecDeque;

/// Something behind a controller's cache.
///
/// [`Part::depth`] is that of what is below; more may be given.
#[derive(Debug)]
pub struct Cached<P> {
    params: CacheParams,
    below: P,
    lines: Lines,
    /// Lines that may be held, and lines above which there is no waiting for idleness.
    limit: u32,
    destage_above: u32,
    memory: Serial,
    /// Commands by the time at which the controller is done with them.
    arrived: VecDeque<(Nanos, Command)>,
    stalled: VecDeque<Command>,
    /// What is to go below when it takes more.
    waiting: VecDeque<Job>,
    /// Tags that are not below, and the job of each tag that is.
    free: Vec<u32>,
    jobs: Vec<Option<Job>>,
    /// Reads that wait for a fetch: its tag, and the read.
    attached: Vec<(u32, Command)>,
    /// Commands of the host that are not done.
    outstanding: u32,
    /// When the host was last heard of.
    heard: Nanos,
    destaging: u32,
    /// The line after the last one written below.
    cursor: u64,
    read_end: u64,
    finished: Vec<Done>,
}

/// What a command below is for.
#[derive(Debug, Clone, Copy)]
enum Job {
    /// A command of the host's as it is.
    Pass(Command),
    /// What a read of the host's lacks.
    Fetch { command: Command, offset: u64, len: u32 },
    /// What is likely to be read next.
    Ahead { offset: u64, len: u32 },
    /// What was written and only acknowledged.
    Destage { offset: u64, len: u32 },
}

impl Job {
    /// The command that goes below.
    const fn command(&self, tag: u32) -> Command {
        let (op, offset, len) = match *self {
            Self::Pass(command) => return Command { tag, ..command },
            Self::Fetch { offset, len, .. } | Self::Ahead { offset, len } => {
                (Op::Read, offset, len)
            }
            Self::Destage { offset, len } => (Op::Write, offset, len),
        };
        Command { tag, op, offset, len, durable: false }
    }

    /// Whether it brings all of a range.
    const fn brings(&self, from: u64, to: u64) -> bool {
        match *self {
            Self::Fetch { offset, len, .. } | Self::Ahead { offset, len } => {
                offset <= from && to <= offset + len as u64
            }
            Self::Pass(_) | Self::Destage { .. } => false,
        }
    }
}

impl<P: Part> Cached<P> {
    /// A cache in front of something.
    ///
    /// # Errors
    /// As [`CacheParams::check`].
    pub fn new(params: CacheParams, below: P) -> Result<Self, OutOfRange> {
        params.check()?;
        let depth = below.depth().min(256);
        Ok(Self {
            lines: Lines::new(params.line_bytes(), params.lines()),
            limit: params.share(params.dirty_limit_percent).max(1),
            destage_above: params.share(params.destage_percent),
            memory: Serial::default(),
            arrived: VecDeque::new(),
            stalled: VecDeque::new(),
            waiting: VecDeque::new(),
            free: (0..depth).rev().collect(),
            jobs: vec![None; depth as usize],
            attached: Vec::new(),
            outstanding: 0,
            heard: Nanos::ZERO,
            destaging: 0,
            cursor: 0,
            read_end: 0,
            finished: Vec::new(),
            params,
            below,
        })
    }

    /// What is behind the cache.
    pub const fn below(&self) -> &P {
        &self.below
    }

    /// Does what can be done about a command now.
    fn handle(&mut self, command: Command, now: Nanos, done: &mut Vec<Done>) {
        match command.op {
            Op::Read => self.read(command, now, done),
            Op::Write if self.params.writes_back() => self.stalled.push_back(command),
            Op::Flush if self.params.writes_back() => self.end(command.tag, now, now, done),
            Op::Write => {
                if self.params.keeps_reads {
                    self.lines.fill(command.offset, command.len);
                }
                self.waiting.push_back(Job::Pass(command));
            }
            Op::Discard => {
                self.lines.forget(command.offset, command.len);
                self.waiting.push_back(Job::Pass(command));
            }
            Op::Flush => self.waiting.push_back(Job::Pass(command)),
        }
    }

    /// A read: from here, with something that is coming anyhow, or from below.
    fn read(&mut self, command: Command, now: Nanos, done: &mut Vec<Done>) {
        let end = command.offset + u64::from(command.len);
        let continues = std::mem::replace(&mut self.read_end, end) == command.offset;
        let Some((offset, len)) = self.lines.missing(command.offset, command.len) else {
            self.lines.touch(command.offset, command.len);
            self.end(command.tag, now, now, done);
            return;
        };
        let range = (offset, offset + u64::from(len));
        let brings = |job: &Option<Job>| job.is_some_and(|job| job.brings(range.0, range.1));
        if self.params.keeps_reads
            && let Some(tag) = self.jobs.iter().position(brings)
        {
            self.attached.push((tag as u32, command));
            return;
        }
        self.waiting.push_back(Job::Fetch { command, offset, len });
        let ahead = u64::from(self.params.read_ahead_bytes).min(self.below.capacity() - end);
        if continues
            && self.params.keeps_reads
            && let Some((offset, len)) = self.lines.missing(end, ahead as u32)
        {
            self.waiting.push_back(Job::Ahead { offset, len });
        }
    }

    /// Takes the writes that there is room for, in order.
    fn accept(&mut self, now: Nanos, done: &mut Vec<Done>) {
        while let Some(&command) = self.stalled.front() {
            let Command { tag, offset, len, .. } = command;
            if self.lines.touched(offset, len) > u64::from(self.limit) {
                // More than would ever fit goes past the memory.
                self.lines.forget(offset, len);
                self.waiting.push_back(Job::Pass(command));
            } else {
                let held = u64::from(self.lines.held()) + self.lines.would_hold(offset, len);
                if held > u64::from(self.limit) {
                    return;
                }
                self.lines.write(offset, len);
                self.end(tag, now, now, done);
            }
            self.stalled.pop_front();
        }
    }

    /// A command of the host's is done.
    fn end(&mut self, tag: u32, ready: Nanos, at: Nanos, done: &mut Vec<Done>) {
        self.outstanding -= 1;
        done.push(Done { tag, ready, at });
    }

    /// When the controller is idle enough to write below what it need not yet.
    fn idle_at(&self) -> Nanos {
        let can = self.outstanding == 0
            && self.lines.has_dirty()
            && self.destaging < self.params.destages_at_once
            && !self.free.is_empty();
        if can { self.heard + Nanos(self.params.idle_ns) } else { Nanos::MAX }
    }

    /// Gives below as much as it takes: first what the host waits for, then what must or may be
    /// written.
    fn issue(&mut self, now: Nanos) {
        while let (false, Some(tag)) = (self.waiting.is_empty(), self.free.last().copied()) {
            let Some(job) = self.waiting.pop_front() else { return };
            self.give(job, tag, now);
        }
        while let Some(tag) = self.free.last().copied() {
            let must = self.lines.held() > self.destage_above || !self.stalled.is_empty();
            if self.destaging == self.params.destages_at_once || !(must || self.idle_at() <= now) {
                return;
            }
            let most = self.params.destage_bytes;
            let Some((offset, len)) = self.lines.destage(self.cursor, most) else { return };
            self.cursor = (offset + u64::from(len)) / self.params.line_bytes();
            self.destaging += 1;
            self.give(Job::Destage { offset, len }, tag, now);
        }
    }

    fn give(&mut self, job: Job, tag: u32, now: Nanos) {
        self.free.pop();
        self.jobs[tag as usize] = Some(job);
        self.below.submit(job.command(tag), now);
    }

    /// Something below is done.
    fn finish(&mut self, end: Done, now: Nanos, done: &mut Vec<Done>) {
        let Some(job) = self.jobs[end.tag as usize].take() else { return };
        self.free.push(end.tag);
        match job {
            Job::Pass(command) => self.end(command.tag, end.ready, end.at, done),
            Job::Destage { offset, len } => {
                self.destaging -= 1;
                self.lines.destaged(offset, len);
            }
            Job::Ahead { offset, len } => self.lines.fill(offset, len),
            Job::Fetch { command, offset, len } => {
                if self.params.keeps_reads {
                    self.lines.fill(offset, len);
                }
                self.end(command.tag, end.ready, end.at, done);
            }
        }
        while let Some(index) = self.attached.iter().position(|(tag, _)| *tag == end.tag) {
            let (_, command) = self.attached.remove(index);
            // Here now; if the memory had no room for it, to be fetched again.
            self.read(command, now, done);
        }
    }
}

impl<P: Part> Part for Cached<P> {
    fn capacity(&self) -> u64 {
        self.below.capacity()
    }

    fn depth(&self) -> u32 {
        self.below.depth()
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        let mut cost = u64::from(self.params.command_ns);
        if let (Op::Read | Op::Write, 1..) = (command.op, self.params.bytes_per_s) {
            let bytes = u64::from(command.len) * 1_000_000_000;
            cost += bytes.div_ceil(self.params.bytes_per_s);
        }
        let start = self.memory.reserve(now, Nanos(cost));
        self.arrived.push_back((start + Nanos(cost), command));
        self.outstanding += 1;
        self.heard = now;
    }

    fn next(&self) -> Nanos {
        let arrival = self.arrived.front().map_or(Nanos::MAX, |(at, _)| *at);
        self.below.next().min(arrival).min(self.idle_at())
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        let mut at = Nanos::ZERO;
        loop {
            // What became possible by something later does not happen before it.
            at = at.max(self.next());
            if at > now {
                return;
            }
            let mut finished = std::mem::take(&mut self.finished);
            self.below.advance(at, &mut finished);
            for end in finished.drain(..) {
                self.finish(end, at, done);
            }
            self.finished = finished;
            if self.arrived.front().is_some_and(|(arrival, _)| *arrival <= at)
                && let Some((_, command)) = self.arrived.pop_front()
            {
                self.handle(command, at, done);
            }
            self.accept(at, done);
            self.issue(at);
        }
    }

    fn usage(&self) -> Usage {
        self.below.usage()
    }
}

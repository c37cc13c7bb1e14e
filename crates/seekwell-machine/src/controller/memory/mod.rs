//! A controller with memory before one drive, as DiskSim's `disksim_cachemem`.
//!
//! A read takes what is in memory and fetches the rest; a write goes to lines of memory. A line
//! that has to go for another is written first if the drive lacks any of it. Lines in use are
//! locked: what is fetched or written to alone, what is read or on its way to the drive shared. A
//! command that could take more than its part of the lines goes past the memory, so that commands
//! never deadlock on each other's lines.

mod lines;

#[cfg(test)]
mod tests;

use crate::driver::{QueueParams, QueuedAccess, Station};
use crate::limits::{OutOfRange, within};
use crate::part::{Command, Done, Part, Usage};
use crate::serial::{Leaving, Serial};
use lines::{Lines, Room};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::collections::{HashMap, VecDeque};

/// When a write is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteScheme {
    /// When the drive has it.
    Synchronous,
    /// When the memory has it, which the drive gets at once.
    Through,
    /// When the memory has it, which the drive gets when the room is needed.
    Back,
}

/// A controller with memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryParams {
    /// Lines of memory.
    pub lines: u32,
    /// Sectors of a line.
    pub line_sectors: u32,
    /// When a write is done.
    pub scheme: WriteScheme,
    /// The most neighbouring lines that are written together.
    pub cluster_lines: u32,
    /// The most lines that one fetch fills; 0 for any.
    pub fetch_lines: u32,
    /// Nanoseconds for a sector to or from the host.
    pub sector_ns: u64,
    /// Commands taken at once.
    pub depth: u32,
    /// The queue before the drive.
    pub queue: QueueParams,
    /// The most that the drive is given at once.
    pub pending: u32,
}

#[derive(Debug, Clone, Copy)]
struct Job {
    command: Command,
    from: u64,
    to: u64,
    /// The first line that is not locked yet.
    line: u64,
    /// Accesses to the drive that it waits for.
    pending: u32,
}

/// What an access to the drive is for; all but the first name its range of sectors.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    /// A range that a job lacks.
    Fetch(u32, u64, u64),
    /// A range in the way of a job.
    Clean(u32, u64, u64),
    /// What a job wrote, and whether the job ends with it.
    Write(u32, bool),
    /// A job that goes past the memory.
    Pass(u32),
}

/// A drive behind a controller's memory.
#[derive(Debug)]
pub struct MemoryCache<P> {
    params: MemoryParams,
    drive: Station<P>,
    lines: Lines,
    jobs: Vec<Option<Job>>,
    purposes: HashMap<u32, Purpose>,
    next_owner: u32,
    /// Jobs that wait for a line, by its number.
    locked_out: Vec<(u64, u32)>,
    /// Jobs that wait for any line.
    crowded_out: VecDeque<u32>,
    host: Serial,
    leaving: Leaving,
}

impl<P: Part> MemoryCache<P> {
    /// An empty memory before a drive.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that cannot be.
    pub fn new(params: MemoryParams, drive: P) -> Result<Self, OutOfRange> {
        within("lines", params.lines, 2..=1 << 24)?;
        within("line_sectors", params.line_sectors, 1..=1 << 16)?;
        within("cluster_lines", params.cluster_lines, 0..=1 << 16)?;
        within("depth", params.depth, 1..=65_536)?;
        within("pending", params.pending, 1..=65_536)?;
        within("sector_ns", params.sector_ns, 0..=1_000_000_000)?;
        Ok(Self {
            drive: Station::new(drive, params.pending, params.queue),
            lines: Lines::new(params.lines as usize, params.line_sectors.into()),
            jobs: Vec::new(),
            purposes: HashMap::new(),
            next_owner: 0,
            locked_out: Vec::new(),
            crowded_out: VecDeque::new(),
            host: Serial::default(),
            leaving: Leaving::default(),
            params,
        })
    }

    fn access(&mut self, purpose: Purpose, op: Op, (from, to): (u64, u64), now: Nanos) {
        let owner = self.next_owner;
        self.next_owner = owner.wrapping_add(1);
        self.purposes.insert(owner, purpose);
        self.drive.add(QueuedAccess::new(owner, op, from, to - from, now), now);
    }

    /// Takes a job as far as it goes: lines, then what it lacks, then its end.
    fn step(&mut self, index: u32, now: Nanos) {
        let Some(mut job) = self.jobs[index as usize] else { return };
        let last = self.lines.numbers(job.from, job.to).end;
        while job.line < last {
            if !self.lines.holds(job.line) {
                match self.lines.allocate(job.line, self.params.cluster_lines.into()) {
                    Room::Made => {}
                    Room::After(runs) => {
                        job.pending = runs.len() as u32;
                        self.jobs[index as usize] = Some(job);
                        for (from, to) in runs {
                            self.access(
                                Purpose::Clean(index, from, to),
                                Op::Write,
                                (from, to),
                                now,
                            );
                        }
                        return;
                    }
                    Room::None => {
                        self.jobs[index as usize] = Some(job);
                        return self.crowded_out.push_back(index);
                    }
                }
            }
            let size = self.lines.size();
            let (from, to) = (job.from.max(job.line * size), job.to.min((job.line + 1) * size));
            let alone = job.command.op == Op::Write || !self.lines.is_valid(from, to);
            if !self.lines.lock(job.line, index, alone) {
                self.jobs[index as usize] = Some(job);
                return self.locked_out.push((job.line, index));
            }
            job.line += 1;
        }
        self.jobs[index as usize] = Some(job);
        if job.command.op == Op::Read
            && let Some((from, to)) = self.lacking(&job)
        {
            self.access(Purpose::Fetch(index, from, to), Op::Read, (from, to), now);
            return;
        }
        self.end(index, job, now);
    }

    fn lacking(&self, job: &Job) -> Option<(u64, u64)> {
        let from = self.lines.first(job.from, job.to, false)?;
        let to = self.lines.first(from, job.to, true).unwrap_or(job.to);
        let most = match u64::from(self.params.fetch_lines) {
            0 => u64::MAX,
            lines => (from / self.lines.size() + 1).saturating_add(lines) * self.lines.size(),
        };
        Some((from, to.min(most)))
    }

    fn end(&mut self, index: u32, job: Job, now: Nanos) {
        let span = Nanos((job.to - job.from) * self.params.sector_ns);
        let at = self.host.reserve(now, span) + span;
        let scheme = self.params.scheme;
        let written = job.command.op == Op::Write;
        if written {
            self.lines.fill(job.from, job.to, scheme == WriteScheme::Back);
        }
        if !written || scheme != WriteScheme::Synchronous {
            self.leaving.end(job.command.tag, at);
        }
        if written && scheme != WriteScheme::Back {
            let purpose = Purpose::Write(index, scheme == WriteScheme::Synchronous);
            return self.access(purpose, Op::Write, (job.from, job.to), now);
        }
        self.leave(index, job, now);
    }

    fn leave(&mut self, index: u32, job: Job, now: Nanos) {
        self.jobs[index as usize] = None;
        for number in self.lines.numbers(job.from, job.to) {
            self.lines.touch(number);
            self.lines.unlock(number, index);
        }
        self.wake(self.lines.numbers(job.from, job.to), now);
    }

    /// Goes on with what waited for lines that are given up.
    fn wake(&mut self, numbers: std::ops::Range<u64>, now: Nanos) {
        let waits = |(line, _): &mut (u64, u32)| numbers.contains(line);
        let woken: Vec<(u64, u32)> = self.locked_out.extract_if(.., waits).collect();
        let crowded = std::mem::take(&mut self.crowded_out);
        for index in woken.into_iter().map(|(_, index)| index).chain(crowded) {
            self.step(index, now);
        }
    }

    fn finish(&mut self, owner: u32, now: Nanos) {
        match self.purposes.remove(&owner) {
            Some(Purpose::Fetch(index, from, to)) => {
                self.lines.fill(from, to, false);
                self.step(index, now);
            }
            Some(Purpose::Clean(index, from, to)) => {
                self.lines.release(from, to);
                let mut left = 0;
                if let Some(job) = &mut self.jobs[index as usize] {
                    job.pending -= 1;
                    left = job.pending;
                }
                if left == 0 {
                    self.step(index, now);
                }
                self.wake(self.lines.numbers(from, to), now);
            }
            Some(Purpose::Write(index, ends)) => {
                let Some(job) = self.jobs[index as usize] else { return };
                if ends {
                    self.leaving.end(job.command.tag, now);
                }
                self.leave(index, job, now);
            }
            Some(Purpose::Pass(index)) => {
                if let Some(job) = self.jobs[index as usize].take() {
                    self.leaving.end(job.command.tag, now);
                }
            }
            None => {}
        }
    }
}

impl<P: Part> Part for MemoryCache<P> {
    fn capacity(&self) -> u64 {
        self.drive.part().capacity()
    }

    fn depth(&self) -> u32 {
        self.params.depth
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        let Some((from, to)) = command.sectors() else {
            return self.leaving.end(command.tag, now);
        };
        let line = from / self.lines.size();
        let job = Job { command, from, to, line, pending: 0 };
        let index = self.jobs.iter().position(Option::is_none).unwrap_or(self.jobs.len());
        if index == self.jobs.len() {
            self.jobs.push(None);
        }
        self.jobs[index] = Some(job);
        let needed = self.lines.numbers(from, to).count() as u64 * u64::from(self.params.depth);
        if needed > u64::from(self.params.lines) {
            let purpose = Purpose::Pass(index as u32);
            return self.access(purpose, command.op, (from, to), now);
        }
        self.step(index as u32, now);
    }

    fn next(&self) -> Nanos {
        self.drive.next().min(self.leaving.next())
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        if self.drive.next() <= now {
            let mut entries = Vec::new();
            self.drive.advance(now, &mut entries);
            for (owner, _) in entries.into_iter().flat_map(|entry| entry.owners) {
                self.finish(owner, now);
            }
            self.drive.issue(now);
        }
        self.leaving.take(now, done);
    }

    fn usage(&self) -> Usage {
        self.drive.part().usage()
    }
}

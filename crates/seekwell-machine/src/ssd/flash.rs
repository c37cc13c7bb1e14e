//! Dies and channels: who is busy until when.
//!
//! A die does one thing at a time. A read senses a page into the die's register and then waits for
//! the channel to carry it away; the register, and so the die, is occupied until then. Programs
//! bring their data first. Reads go before programs and erases, up to a number of them, and suspend
//! one that has begun.

use super::events::{Event, Events};
use super::params::{MovesAtOnce, SsdParams};
use crate::serial::Serial;
use seekwell_io::units::Nanos;
use std::collections::VecDeque;

/// No read.
const NONE: u32 = u32::MAX;

/// Who waits for a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// A command, by its place in the table.
    Command(u32),
    /// A segment of the mapping, for a page of a command.
    Map(u32, u64),
    /// Reading ahead: a flash page, by its number.
    Ahead(u64),
    /// A write of a part of a page, which goes on by itself.
    Merge,
}

/// A read of (a part of) a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRead {
    /// Who waits.
    pub reader: Reader,
    /// Bytes to carry away.
    pub bytes: u32,
    /// Time to sense it.
    pub sense: Nanos,
}

/// What a die does beside reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DieWork {
    /// Programs a piece of the log, by its number.
    Program(u64),
    /// The same in flash of one bit a cell.
    ProgramSlc(u64),
    /// Moves a piece from there to dense flash.
    Fold,
    /// Reads pages and programs them again: garbage collection.
    Move,
    /// Erases its block of a superblock.
    Erase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Sensing(PageRead),
    /// The register is occupied until then.
    Sending(Nanos),
    Working {
        job: DieWork,
        /// From then on it can be suspended.
        from: Nanos,
        end: Nanos,
    },
}

#[derive(Debug)]
struct Die {
    state: State,
    /// Number of the event it waits for; 0 for none. An event with another number is void.
    event: u64,
    first: u32,
    last: u32,
    jobs: VecDeque<DieWork>,
    suspended: Option<(DieWork, Nanos)>,
    /// Reads that went before the job that waits or is suspended.
    passed: u32,
}

/// All dies and channels.
#[derive(Debug)]
pub struct Flash {
    dies: Vec<Die>,
    channels: Vec<Serial>,
    /// Reads that wait, each with the next one of its die; free ones are chained from `free`.
    reads: Vec<(PageRead, u32)>,
    free: u32,
    channel_bytes_per_s: u64,
    times: Times,
}

/// How long things take.
#[derive(Debug, Clone, Copy)]
struct Times {
    program: Nanos,
    program_slc: Nanos,
    transfer: Nanos,
    sense: Nanos,
    erase: Nanos,
    suspend: Nanos,
    reads_ahead: u32,
    /// What is moved crosses a channel page by page, whenever nothing else does.
    moves_yield: bool,
}

impl Flash {
    /// All idle.
    pub fn new(params: &SsdParams) -> Self {
        let die = |_| Die {
            state: State::Idle,
            event: 0,
            first: NONE,
            last: NONE,
            jobs: VecDeque::new(),
            suspended: None,
            passed: 0,
        };
        let nanos = |ns: u32| Nanos(u64::from(ns));
        let slowest = params.sense_ns.iter().copied().max().unwrap_or(0);
        Self {
            dies: (0..params.dies()).map(die).collect(),
            channels: vec![Serial::default(); params.channels as usize],
            reads: Vec::new(),
            free: NONE,
            channel_bytes_per_s: params.channel_bytes_per_s,
            times: Times {
                program: nanos(params.program_ns),
                program_slc: nanos(params.slc.map_or(params.program_ns, |slc| slc.program_ns)),
                transfer: transfer(params.piece_bytes(), params.channel_bytes_per_s),
                sense: nanos(slowest),
                erase: nanos(params.erase_ns),
                suspend: nanos(params.suspend_ns),
                reads_ahead: params.reads_ahead,
                moves_yield: params.moves_at_once != MovesAtOnce::default(),
            },
        }
    }

    /// A die gets a read.
    pub fn read(&mut self, die: u32, read: PageRead, now: Nanos, events: &mut Events) {
        let index = self.keep(read);
        let it = &mut self.dies[die as usize];
        if it.first == NONE {
            it.first = index;
        } else {
            self.reads[it.last as usize].1 = index;
        }
        let it = &mut self.dies[die as usize];
        it.last = index;
        if let State::Working { job, from, end } = it.state {
            let at = now.max(from);
            if it.passed < self.times.reads_ahead && at < end {
                it.suspended = Some((job, end - at));
                it.state = State::Idle;
                self.sense(die, at + self.times.suspend, events);
            }
        } else {
            self.wake(die, now, events);
        }
    }

    /// A die gets a job.
    pub fn work(&mut self, die: u32, job: DieWork, now: Nanos, events: &mut Events) {
        self.dies[die as usize].jobs.push_back(job);
        self.wake(die, now, events);
    }

    /// A die has sensed. Returns the read, when its data begins to come and when it has come;
    /// `None` for a void event.
    pub fn sensed(
        &mut self,
        die: u32,
        event: u64,
        now: Nanos,
        events: &mut Events,
    ) -> Option<(PageRead, Nanos, Nanos)> {
        let it = &mut self.dies[die as usize];
        let State::Sensing(read) = it.state else { return None };
        if it.event != event {
            return None;
        }
        let span = transfer(u64::from(read.bytes), self.channel_bytes_per_s);
        let channel = die as usize % self.channels.len();
        let start = self.channels[channel].reserve(now, span);
        it.state = State::Sending(start + span);
        it.event = 0;
        self.wake(die, now, events);
        Some((read, start, start + span))
    }

    /// A die's register is empty.
    pub fn sent(&mut self, die: u32, event: u64, now: Nanos, events: &mut Events) {
        if self.dies[die as usize].event == event {
            self.begin(die, now, events);
        }
    }

    /// A die has done a job, which is returned; `None` for a void event.
    pub fn worked(
        &mut self,
        die: u32,
        event: u64,
        now: Nanos,
        events: &mut Events,
    ) -> Option<DieWork> {
        let it = &mut self.dies[die as usize];
        let State::Working { job, .. } = it.state else { return None };
        if it.event != event {
            return None;
        }
        it.passed = 0;
        self.begin(die, now, events);
        Some(job)
    }

    /// How long the channels were, or are reserved to be, busy in all.
    pub fn channels_busy(&self) -> Nanos {
        self.channels.iter().fold(Nanos::ZERO, |sum, channel| sum + channel.busy())
    }

    fn keep(&mut self, read: PageRead) -> u32 {
        if self.free == NONE {
            self.reads.push((read, NONE));
            return (self.reads.len() - 1) as u32;
        }
        let index = self.free;
        self.free = self.reads[index as usize].1;
        self.reads[index as usize] = (read, NONE);
        index
    }

    /// Something waits for a die: it begins if it is idle, or as soon as its register is empty.
    fn wake(&mut self, die: u32, now: Nanos, events: &mut Events) {
        let it = &mut self.dies[die as usize];
        match it.state {
            State::Idle => self.begin(die, now, events),
            State::Sending(free) if it.event == 0 => {
                if it.first == NONE && it.jobs.is_empty() && it.suspended.is_none() {
                    return;
                }
                if free <= now {
                    self.begin(die, now, events);
                } else {
                    it.event = events.arrange(free, Event::Sent(die));
                }
            }
            _ => {}
        }
    }

    /// Nothing occupies a die: what comes next?
    fn begin(&mut self, die: u32, now: Nanos, events: &mut Events) {
        let it = &mut self.dies[die as usize];
        it.event = 0;
        let job_waits = it.suspended.is_some() || !it.jobs.is_empty();
        if it.first != NONE && (!job_waits || it.passed < self.times.reads_ahead.max(1)) {
            self.sense(die, now, events);
        } else if let Some((job, left)) = it.suspended.take() {
            let end = now + left;
            it.state = State::Working { job, from: now, end };
            it.event = events.arrange(end, Event::Worked(die));
        } else if let Some(job) = it.jobs.pop_front() {
            self.start(die, job, now, events);
        } else {
            it.state = State::Idle;
        }
    }

    /// Begins to sense for the first read that waits for this die.
    fn sense(&mut self, die: u32, at: Nanos, events: &mut Events) {
        let it = &mut self.dies[die as usize];
        let index = it.first;
        let (read, next) = self.reads[index as usize];
        it.first = next;
        self.reads[index as usize].1 = self.free;
        self.free = index;
        if it.suspended.is_some() || !it.jobs.is_empty() {
            it.passed += 1;
        }
        it.state = State::Sensing(read);
        it.event = events.arrange(at + read.sense, Event::Sensed(die));
    }

    fn start(&mut self, die: u32, job: DieWork, now: Nanos, events: &mut Events) {
        let times = self.times;
        let channel = die as usize % self.channels.len();
        let channel = &mut self.channels[channel];
        let (from, end) = match job {
            DieWork::Program(_) | DieWork::ProgramSlc(_) => {
                let loaded = channel.reserve(now, times.transfer) + times.transfer;
                let dense = matches!(job, DieWork::Program(_));
                (loaded, loaded + if dense { times.program } else { times.program_slc })
            }
            DieWork::Move | DieWork::Fold => {
                let both = times.transfer + times.transfer;
                let begun = if times.moves_yield { now } else { channel.reserve(now, both) };
                let loaded = begun + both + times.sense;
                (loaded, loaded + times.program)
            }
            DieWork::Erase => (now, now + times.erase),
        };
        let it = &mut self.dies[die as usize];
        it.state = State::Working { job, from, end };
        it.event = events.arrange(end, Event::Worked(die));
    }
}

/// Time of bytes on a channel.
fn transfer(bytes: u64, bytes_per_s: u64) -> Nanos {
    Nanos((bytes * 1_000_000_000).div_ceil(bytes_per_s))
}

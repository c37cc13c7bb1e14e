//! A controller that keeps copies of one drive on another, as DiskSim's `disksim_cachedev`.
//!
//! Everything lies at the same sectors of both. A read goes to the copy where all of it is there,
//! and otherwise to the drive, after which it is copied; a write goes to the copy. What only the
//! copy has goes to the drive when that has had nothing to do for a while.

use crate::driver::{QueueParams, QueuedAccess, Station};
use crate::limits::{OutOfRange, within};
use crate::part::{Command, Done, Part, Usage};
use crate::serial::{Leaving, Serial};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::collections::HashMap;

const SECTOR: u64 = 512;
/// The most sectors that there are copies of.
const MOST_SECTORS: u64 = 1 << 30;
/// The most sectors that are taken to the drive at once.
const MOST_MOVED: u64 = 1 << 20;

/// A controller that keeps copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheDeviceParams {
    /// Sectors of the drive, from its first, of which there are copies.
    pub sectors: u64,
    /// Whether what is written goes to the drive at once.
    pub through: bool,
    /// Time without anything to do after which the drive gets what only the copy has.
    pub idle_ns: u64,
    /// Nanoseconds for a sector to or from the host.
    pub sector_ns: u64,
    /// Commands taken at once.
    pub depth: u32,
    /// The queue before each drive.
    pub queue: QueueParams,
    /// The most that a drive is given at once.
    pub pending: u32,
}

#[derive(Debug, Clone, Copy)]
enum Purpose {
    /// A read, which the drive does if it is not copied.
    Read {
        command: Command,
        copied: bool,
    },
    /// A write, which the copy has after it if that is large enough.
    Write {
        command: Command,
        copied: bool,
    },
    Copy,
    /// To take to the drive what was written.
    Through,
    /// To take from the copy what the drive lacks.
    Fetch,
    /// To take it to the drive.
    Return,
}

#[derive(Debug)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(sectors: u64) -> Self {
        Self(vec![0; sectors.div_ceil(64) as usize])
    }

    fn get(&self, sector: u64) -> bool {
        let word = self.0.get((sector / 64) as usize).copied().unwrap_or(0);
        word >> (sector % 64) & 1 == 1
    }

    fn set(&mut self, from: u64, to: u64, on: bool) {
        for sector in from..to {
            if let Some(word) = self.0.get_mut((sector / 64) as usize) {
                let bit = 1 << (sector % 64);
                *word = if on { *word | bit } else { *word & !bit };
            }
        }
    }

    /// The first range of sectors that are on.
    fn first(&self) -> Option<(u64, u64)> {
        let word = self.0.iter().position(|word| *word != 0)?;
        let from = word as u64 * 64 + u64::from(self.0[word].trailing_zeros());
        let off = (from..from + MOST_MOVED).find(|&sector| !self.get(sector));
        Some((from, off.unwrap_or(from + MOST_MOVED)))
    }
}

/// A drive and the one that copies of it are on.
#[derive(Debug)]
pub struct CacheDevice<P> {
    params: CacheDeviceParams,
    drive: Station<P>,
    copy: Station<P>,
    valid: Bits,
    dirty: Bits,
    purposes: HashMap<u32, (Purpose, u64, u64)>,
    next_owner: u32,
    /// When the drive will have had nothing to do for long enough.
    idle_at: Nanos,
    host: Serial,
    leaving: Leaving,
}

impl<P: Part> CacheDevice<P> {
    /// A drive without copies.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that cannot be.
    pub fn new(params: CacheDeviceParams, drive: P, copy: P) -> Result<Self, OutOfRange> {
        within("sectors", params.sectors, 1..=(copy.capacity() / SECTOR).min(MOST_SECTORS))?;
        within("idle_ns", params.idle_ns, 0..=3_600_000_000_000)?;
        within("sector_ns", params.sector_ns, 0..=1_000_000_000)?;
        within("depth", params.depth, 1..=65_536)?;
        within("pending", params.pending, 1..=65_536)?;
        Ok(Self {
            drive: Station::new(drive, params.pending, params.queue),
            copy: Station::new(copy, params.pending, params.queue),
            valid: Bits::new(params.sectors),
            dirty: Bits::new(params.sectors),
            purposes: HashMap::new(),
            next_owner: 0,
            idle_at: Nanos::MAX,
            host: Serial::default(),
            leaving: Leaving::default(),
            params,
        })
    }

    /// The drive that is copied.
    pub const fn drive(&self) -> &P {
        self.drive.part()
    }

    /// Gives one of the two an access.
    fn access(&mut self, purpose: Purpose, on_copy: bool, op: Op, range: (u64, u64), now: Nanos) {
        let owner = self.next_owner;
        self.next_owner = owner.wrapping_add(1);
        let (from, to) = range;
        self.purposes.insert(owner, (purpose, from, to));
        let entry = QueuedAccess::new(owner, op, from, to - from, now);
        if on_copy {
            self.copy.add(entry, now);
        } else {
            self.idle_at = Nanos::MAX;
            self.drive.add(entry, now);
        }
    }

    fn finish(&mut self, owner: u32, now: Nanos) {
        let Some((purpose, from, to)) = self.purposes.remove(&owner) else { return };
        let range = (from, to);
        match purpose {
            Purpose::Read { command, copied } => {
                if !copied && to < self.params.sectors {
                    self.access(Purpose::Copy, true, Op::Write, range, now);
                }
                self.leave(command, range, now);
            }
            Purpose::Write { command, copied } => {
                if copied {
                    self.valid.set(from, to, true);
                    self.dirty.set(from, to, true);
                    if self.params.through {
                        self.access(Purpose::Through, false, Op::Write, range, now);
                    }
                }
                self.leave(command, range, now);
            }
            Purpose::Copy => self.valid.set(from, to, true),
            Purpose::Through => self.dirty.set(from, to, false),
            Purpose::Fetch => self.access(Purpose::Return, false, Op::Write, range, now),
            Purpose::Return => {
                self.dirty.set(from, to, false);
                self.clean(now);
            }
        }
    }

    /// The host has what it asked for, after its data crossed.
    fn leave(&mut self, command: Command, (from, to): (u64, u64), now: Nanos) {
        let span = Nanos((to - from) * self.params.sector_ns);
        let at = self.host.reserve(now, span) + span;
        self.leaving.end(command.tag, at);
    }

    /// Takes to the drive what it lacks, when neither has anything to do.
    fn clean(&mut self, now: Nanos) {
        if self.drive.is_idle()
            && self.copy.is_idle()
            && let Some(range) = self.dirty.first()
        {
            self.access(Purpose::Fetch, true, Op::Read, range, now);
        }
    }
}

impl<P: Part> Part for CacheDevice<P> {
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
        let within = to < self.params.sectors;
        if command.op == Op::Read {
            let copied = within && (from..to).all(|sector| self.valid.get(sector));
            self.access(Purpose::Read { command, copied }, copied, Op::Read, (from, to), now);
        } else {
            let purpose = Purpose::Write { command, copied: within };
            self.access(purpose, within, Op::Write, (from, to), now);
        }
    }

    fn next(&self) -> Nanos {
        self.drive.next().min(self.copy.next()).min(self.leaving.next()).min(self.idle_at)
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        let mut entries = Vec::new();
        let drive_works = self.drive.next() <= now;
        if drive_works {
            self.drive.advance(now, &mut entries);
        }
        let rests = !entries.is_empty() && self.drive.is_idle();
        if rests {
            self.idle_at = now + Nanos(self.params.idle_ns);
        }
        if self.copy.next() <= now {
            self.copy.advance(now, &mut entries);
        }
        for (owner, _) in entries.into_iter().flat_map(|entry| entry.owners) {
            self.finish(owner, now);
        }
        self.drive.issue(now);
        self.copy.issue(now);
        if self.idle_at <= now {
            self.idle_at = Nanos::MAX;
            self.clean(now);
        }
        self.leaving.take(now, done);
    }

    fn usage(&self) -> Usage {
        self.drive.part().usage() + self.copy.part().usage()
    }
}

//! What every modelled part of a machine is to whatever it is plugged into.

use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::ops::Add;

/// A command as a part sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// What the giver knows it by, unlike that of any other command this part has at the time.
    pub tag: u32,
    /// What to do.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub len: u32,
    /// A write that is durable when it is done (FUA).
    pub durable: bool,
}

impl Command {
    /// The sectors of 512 bytes that a read or write touches, from the first to before the last;
    /// none of what moves no data.
    pub fn sectors(&self) -> Option<(u64, u64)> {
        let sectors = (self.offset / 512, (self.offset + u64::from(self.len)).div_ceil(512));
        (matches!(self.op, Op::Read | Op::Write) && self.len > 0).then_some(sectors)
    }
}

/// A command that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// The tag it was given with.
    pub tag: u32,
    /// From when on its data could be moved on while the rest was still coming: a link above may
    /// begin then, but cannot end before `at`. Equal to `at` if nothing can overlap.
    pub ready: Nanos,
    /// When the part was done with it.
    pub at: Nanos,
}

/// What parts have used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time of the host.
    pub processor: Nanos,
    /// What drives that report it have written; `None` if none does.
    pub written: Option<Written>,
}

impl Usage {
    /// Processor time alone.
    pub const fn of_processor(processor: Nanos) -> Self {
        Self { processor, written: None }
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let written = match (self.written, other.written) {
            (Some(a), Some(b)) => Some(Written {
                host_bytes: a.host_bytes + b.host_bytes,
                media_bytes: a.media_bytes + b.media_bytes,
                collected_bytes: a.collected_bytes + b.collected_bytes,
                erased_superblocks: a.erased_superblocks + b.erased_superblocks,
            }),
            (a, b) => a.or(b),
        };
        Self { processor: self.processor + other.processor, written }
    }
}

/// What was written to a drive, and by it to its flash or platters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// By the host.
    pub host_bytes: u64,
    /// To the medium: that, and what the drive moves and adds.
    pub media_bytes: u64,
    /// Moved by garbage collection, of `media_bytes`.
    pub collected_bytes: u64,
    /// Superblocks that it erased.
    pub erased_superblocks: u64,
}

/// A part of a machine: takes commands, lets time pass, says what is done.
///
/// Whoever holds a part calls it with times that never go back. After `submit`, and after
/// `advance`, `next` says when something will happen inside; the holder calls `advance` with that
/// time, or with any earlier one, before it goes on to a later one.
pub trait Part: Send {
    /// Bytes that can be addressed.
    fn capacity(&self) -> u64;

    /// The most commands it takes at once, at least 1.
    fn depth(&self) -> u32;

    /// Takes a command at `now`. Its data lies within the capacity, no more than `depth` commands
    /// are outstanding, and nothing is left to happen before `now`.
    fn submit(&mut self, command: Command, now: Nanos);

    /// The earliest time at which something happens by itself; [`Nanos::MAX`] for never. Background
    /// work without end (reading ahead, writing back) counts only where it can be seen from
    /// outside.
    fn next(&self) -> Nanos;

    /// Does everything that happens up to and at `now` and appends what is done, in order of time.
    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>);

    /// The host waits: it gives no more commands before `until` unless one is done. A part that
    /// holds commands back for others to join them need not; most hold nothing back.
    fn host_waits(&mut self, _until: Nanos, _now: Nanos) {}

    /// What this part and those it holds have used so far.
    fn usage(&self) -> Usage {
        Usage::default()
    }
}

impl<P: Part + ?Sized> Part for Box<P> {
    fn capacity(&self) -> u64 {
        (**self).capacity()
    }

    fn depth(&self) -> u32 {
        (**self).depth()
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        (**self).submit(command, now);
    }

    fn next(&self) -> Nanos {
        (**self).next()
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        (**self).advance(now, done);
    }

    fn host_waits(&mut self, until: Nanos, now: Nanos) {
        (**self).host_waits(until, now);
    }

    fn usage(&self) -> Usage {
        (**self).usage()
    }
}

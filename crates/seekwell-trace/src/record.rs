//! One traced request, in the one shape that every format is read into and written from.

use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::fmt;
use std::ops::BitOr;

/// A time that may be missing, in eight bytes: nanoseconds on the clock of the trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(u64);

impl Stamp {
    /// It is unknown.
    pub const NONE: Self = Self(u64::MAX);

    /// A known time.
    pub const fn at(time: Nanos) -> Self {
        Self(time.0)
    }

    /// The time, if it is known.
    pub const fn get(self) -> Option<Nanos> {
        if self.0 == u64::MAX { None } else { Some(Nanos(self.0)) }
    }

    /// This time, or else the other.
    pub const fn or(self, other: Self) -> Self {
        if self.0 == u64::MAX { other } else { self }
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get() {
            Some(at) => write!(f, "{}", at.0),
            None => f.write_str("-"),
        }
    }
}

impl From<Option<Nanos>> for Stamp {
    fn from(time: Option<Nanos>) -> Self {
        time.map_or(Self::NONE, Self::at)
    }
}

/// What more is known of a request, as bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u16);

impl Flags {
    /// Someone waits for it (REQ_SYNC).
    pub const SYNC: Self = Self(1);
    /// Durable when it completes (REQ_FUA).
    pub const FUA: Self = Self(1 << 1);
    /// What was written before is made durable first (REQ_PREFLUSH).
    pub const PREFLUSH: Self = Self(1 << 2);
    /// The file system's own data (REQ_META).
    pub const META: Self = Self(1 << 3);
    /// Read before anyone asked (REQ_RAHEAD).
    pub const READ_AHEAD: Self = Self(1 << 4);
    /// The drive's cache answered; only traces of drives say so.
    pub const CACHE_HIT: Self = Self(1 << 5);
    /// A zone command, a SCSI or NVMe passthrough: counted, never replayed.
    pub const OTHER: Self = Self(1 << 6);
    /// Secure erase instead of plain discard.
    pub const SECURE: Self = Self(1 << 7);
    /// It was merged with others or split on its way to the device: what the device got of it are
    /// records flagged [`Flags::REQUEST`].
    pub const BIO: Self = Self(1 << 8);
    /// A request as the device got it, made of records flagged [`Flags::BIO`].
    pub const REQUEST: Self = Self(1 << 9);

    /// Whether all bits of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These without those of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Some of the fields of a [`Record`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fields(u16);

impl Fields {
    /// [`Record::queued`].
    pub const QUEUED: Self = Self(1);
    /// [`Record::issued`].
    pub const ISSUED: Self = Self(1 << 1);
    /// [`Record::completed`].
    pub const COMPLETED: Self = Self(1 << 2);
    /// [`Record::offset`].
    pub const OFFSET: Self = Self(1 << 3);
    /// [`Record::len`].
    pub const LENGTH: Self = Self(1 << 4);
    /// [`Record::op`].
    pub const OP: Self = Self(1 << 5);
    /// [`Record::flags`].
    pub const FLAGS: Self = Self(1 << 6);
    /// [`Record::device`].
    pub const DEVICE: Self = Self(1 << 7);
    /// [`Record::pid`].
    pub const PID: Self = Self(1 << 8);
    /// [`Record::process`].
    pub const PROCESS: Self = Self(1 << 9);
    /// [`Record::cpu`].
    pub const CPU: Self = Self(1 << 10);
    /// [`Record::error`].
    pub const ERROR: Self = Self(1 << 11);
    /// What [`Record::arrival`] says: `queued`, and `issued` only where that is missing.
    pub const ARRIVAL: Self = Self(1 << 12);
    /// All of them.
    pub const ALL: Self = Self((1 << 13) - 1);

    /// These and those of `other`.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These without those of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether all of `other` are among them.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One request as it was seen.
///
/// Most are one thing from the program to the device. Where the block layer merged or split what it
/// was asked for, there is one record for each bio, with the time it was issued and completed, and
/// one for each request that the device got, without a time it was queued.
///
/// A request whose payload carries a flush (PREFLUSH with data) is one record with that flag; a
/// flush without data is `op: Flush` with `len` 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// When it entered the block layer (Q).
    pub queued: Stamp,
    /// When it was given to the driver (D).
    pub issued: Stamp,
    /// When it was done (C).
    pub completed: Stamp,
    /// First byte.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub len: u32,
    /// Index into [`crate::source::Tables::devices`].
    pub device: u32,
    /// Process that queued it; 0 where unknown.
    pub pid: u32,
    /// Index into [`crate::source::Tables::processes`]; 0 is the unknown one.
    pub process: u32,
    /// CPU that queued it.
    pub cpu: u16,
    /// Errno it ended with; 0 when it went well or nothing is known.
    pub error: u16,
    /// What more is known.
    pub flags: Flags,
    /// What it does.
    pub op: Op,
}

impl Record {
    /// A request of which nothing else is known.
    pub const fn new(op: Op, offset: u64, len: u32) -> Self {
        Self {
            queued: Stamp::NONE,
            issued: Stamp::NONE,
            completed: Stamp::NONE,
            offset,
            len,
            device: 0,
            pid: 0,
            process: 0,
            cpu: 0,
            error: 0,
            flags: Flags(0),
            op,
        }
    }

    /// Whether a program or file system asked for it in this form.
    pub const fn was_asked_for(&self) -> bool {
        !self.flags.has(Flags::REQUEST)
    }

    /// Whether the device got it in this form.
    pub const fn reached_device(&self) -> bool {
        !self.flags.has(Flags::BIO)
    }

    /// When it came: queued, or else issued.
    pub const fn arrival(&self) -> Stamp {
        self.queued.or(self.issued)
    }

    /// First byte after it; saturates where a hostile trace goes past the end.
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.len as u64)
    }
}

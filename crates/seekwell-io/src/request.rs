//! One request to a target and what became of it.

use crate::failure::FailureKind;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Op {
    /// Data from the target.
    Read = 0,
    /// Data to the target.
    Write = 1,
    /// Everything written so far made durable (fsync, FLUSH CACHE).
    Flush = 2,
    /// A range the target may forget (TRIM, DEALLOCATE).
    Discard = 3,
}

impl Op {
    /// All operations, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Flush, Self::Discard];

    /// The name used in documents: `read`, `write`, `flush`, `discard`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Discard => "discard",
        }
    }

    /// Whether this changes what the target holds.
    pub const fn destroys(self) -> bool {
        matches!(self, Self::Write | Self::Discard)
    }
}

/// One read, write, flush or discard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// What to do.
    pub op: Op,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// How many bytes; 0 for a flush.
    pub len: u32,
    /// When it was wanted, on the target's clock. Response time counts from here. A closed loop
    /// wants nothing at a time of its own and leaves it `None`.
    pub wanted: Option<Nanos>,
    /// What its source knows it by; nothing else looks at it.
    pub id: u32,
    /// A write that is durable when it is done (FUA); of no meaning elsewhere.
    pub durable: bool,
    /// The submission queue of the thread that issues it, numbered from 0. Modelled machines with
    /// NVMe drives serve these in turn; a real target has its own.
    pub queue: u16,
}

/// What each read and write asks of the kernel beside moving data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Flags {
    /// Each write is done whole or not at all, also when power fails (`RWF_ATOMIC`, Linux 6.11).
    pub atomic: bool,
    /// What goes through the page cache does not stay there (`RWF_DONTCACHE`, Linux 6.14).
    pub uncached: bool,
    /// The processor polls for completions, and the device raises no interrupts
    /// (`IORING_SETUP_IOPOLL`).
    pub polled: bool,
}

impl Flags {
    /// Nothing is asked.
    pub const NONE: Self = Self { atomic: false, uncached: false, polled: false };

    /// Whether nothing is asked.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

/// A request that holds a tag: `slot` names its buffer and comes back in its completion.
#[derive(Debug, Clone, Copy)]
pub struct Tagged {
    /// The tag, below the depth the target was opened with.
    pub slot: u32,
    /// The request itself.
    pub request: Request,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The tag it was submitted with.
    pub slot: u32,
    /// Bytes transferred (meaningless for flush and discard), or how it failed.
    pub result: Result<u32, FailureKind>,
    /// When it completed, on the target's clock.
    pub at: Nanos,
}

//! The phases of a checkup that rules look for.

use crate::document::Phase;
use std::fmt;

/// A phase of the checkup; its text is the name of the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseId {
    /// Reads that the page cache answers on purpose.
    CachedRead,
    SequentialRead,
    /// Sequential writes of 1 MiB.
    SequentialWrite,
    /// Random reads of 4 KiB at this depth.
    RandomRead(u32),
    /// Random reads of one logical block at this depth.
    BlockRead(u32),
    /// Random writes of 4 KiB at this depth.
    RandomWrite(u32),
    /// Random reads of 128 KiB at depth 8.
    LargeRead,
    /// Random writes of 128 KiB at depth 8.
    LargeWrite,
    /// Random requests of 4 KiB, of which 70 % are reads, at depth 32.
    Mix,
    /// Writes of 4 KiB, each followed by a flush.
    Commit,
}

impl fmt::Display for PhaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CachedRead => f.write_str("cached-read"),
            Self::SequentialRead => f.write_str("seq-read-1m"),
            Self::SequentialWrite => f.write_str("seq-write-1m"),
            Self::RandomRead(depth) => write!(f, "rand-read-4k-d{depth}"),
            Self::BlockRead(depth) => write!(f, "rand-read-block-d{depth}"),
            Self::RandomWrite(depth) => write!(f, "rand-write-4k-d{depth}"),
            Self::LargeRead => f.write_str("rand-read-128k-d8"),
            Self::LargeWrite => f.write_str("rand-write-128k-d8"),
            Self::Mix => f.write_str("mix-70-30-4k-d32"),
            Self::Commit => f.write_str("commit-4k"),
        }
    }
}

impl From<PhaseId> for String {
    fn from(id: PhaseId) -> Self {
        id.to_string()
    }
}

impl Phase {
    /// Whether it is this phase of the checkup.
    pub fn is(&self, id: PhaseId) -> bool {
        self.name == id.to_string()
    }
}

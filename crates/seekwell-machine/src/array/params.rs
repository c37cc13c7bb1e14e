//! What an array is made of and what its controller costs.

use super::layout::{Level, Rotation};
use super::member::Order;
use crate::limits::{OutOfRange, within};
use serde::{Deserialize, Serialize};

/// How the new parity is found when a stripe is written in part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParityUpdate {
    /// From the old data and parity or from the rest of the stripe, whichever takes fewer reads;
    /// from the rest where both take as many.
    FewestReads,
    /// From the old data and parity where fewer units are written than this share of the members,
    /// DiskSim's "RMW vs. reconstruct".
    Threshold {
        /// Percent of the members.
        percent: u32,
    },
}

/// Which copy is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadChoice {
    /// Always the first.
    Primary,
    /// One after the other.
    RoundRobin,
    /// The one whose last access ended nearest.
    Nearest,
    /// The one with the fewest accesses before it, and among these the nearest.
    ShortestQueue,
}

/// An array and its controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayParams {
    /// How data is spread.
    pub level: Level,
    /// Bytes of a stripe unit, a multiple of 512.
    pub stripe_unit_bytes: u32,
    /// How parity moves, on RAID 5.
    pub rotation: Rotation,
    /// How new parity is found.
    pub parity_update: ParityUpdate,
    /// Which copy is read.
    pub read_choice: ReadChoice,
    /// The member that failed, from 0, in an array that goes on without it.
    #[serde(default)]
    pub failed: Option<u32>,
    /// The order in which a member gets what waits for it.
    pub order: Order,
    /// Commands that the controller takes at once.
    pub depth: u32,
    /// Time of the controller's processor for one command, in nanoseconds.
    pub command_ns: u32,
    /// Time of the controller's processor for one access to a member, in nanoseconds.
    pub access_ns: u32,
    /// Bytes a second that the exclusive-or passes: everything that a write with parity reads or
    /// writes passes once. 0 where it takes no time.
    pub xor_bytes_per_s: u64,
}

/// An array that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ArrayError {
    #[error(transparent)]
    Range(#[from] OutOfRange),
    #[error("stripe_unit_bytes is {bytes}, not a multiple of 512")]
    Unaligned { bytes: u32 },
    /// Too few members for the level, or an odd number for pairs.
    #[error("{members} members, where {level:?} needs {needs}")]
    Members { members: usize, level: Level, needs: &'static str },
    /// A member failed that is not there, or that the array cannot do without.
    #[error("failed is {member}, where {members} members of {level:?} cannot go on without it")]
    Lost { member: u32, members: usize, level: Level },
    #[error("a member holds {bytes} bytes, less than a stripe unit")]
    Small { bytes: u64 },
}

impl ArrayParams {
    /// An array of that level whose controller takes no time.
    pub const fn bare(level: Level, stripe_unit_bytes: u32) -> Self {
        Self {
            level,
            stripe_unit_bytes,
            rotation: Rotation::LeftSymmetric,
            parity_update: ParityUpdate::FewestReads,
            read_choice: ReadChoice::ShortestQueue,
            failed: None,
            order: Order::Arrival,
            depth: 255,
            command_ns: 0,
            access_ns: 0,
            xor_bytes_per_s: 0,
        }
    }

    /// Whether such an array can be made of that many members.
    ///
    /// # Errors
    /// [`ArrayError`] with the first thing that is wrong.
    pub fn check(&self, members: usize) -> Result<(), ArrayError> {
        within("stripe_unit_bytes", self.stripe_unit_bytes, 512..=1 << 31)?;
        if !self.stripe_unit_bytes.is_multiple_of(512) {
            return Err(ArrayError::Unaligned { bytes: self.stripe_unit_bytes });
        }
        if let ParityUpdate::Threshold { percent } = self.parity_update {
            within("parity_update.percent", percent, 0..=100)?;
        }
        within("depth", self.depth, 1..=65_535)?;
        within("command_ns", self.command_ns, 0..=1_000_000_000)?;
        within("access_ns", self.access_ns, 0..=1_000_000_000)?;
        within("xor_bytes_per_s", self.xor_bytes_per_s, 0..=1_000_000_000_000)?;
        let (fits, needs) = match self.level {
            Level::Raid0 => (members >= 1, "one or more"),
            Level::Raid1 => (members >= 2, "two or more"),
            Level::Raid4 | Level::Raid5 => (members >= 3, "three or more"),
            Level::Raid10 => (members >= 4 && members.is_multiple_of(2), "four or more, in pairs"),
        };
        let fits = fits && members <= 255;
        if !fits {
            return Err(ArrayError::Members { members, level: self.level, needs });
        }
        match self.failed {
            Some(member) if member as usize >= members || self.level == Level::Raid0 => {
                Err(ArrayError::Lost { member, members, level: self.level })
            }
            _ => Ok(()),
        }
    }
}

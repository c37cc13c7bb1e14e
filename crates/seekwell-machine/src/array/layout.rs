//! Where the bytes of an array lie on its members.
//!
//! The members' space is cut into stripe units; units at the same place on all members are a
//! stripe. Left-symmetric and its three relatives are as in Lee and Katz, "The Performance of
//! Parity Placements in Disk Arrays" (1993), numbered 1 to 4 by DiskSim as "Parity rotation type".

use serde::{Deserialize, Serialize};

/// How data is spread and kept twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Striped over all members.
    Raid0,
    /// The same on all members.
    Raid1,
    /// Striped with parity on the last member.
    Raid4,
    /// Striped with parity that rotates over the members.
    Raid5,
    /// Striped over pairs of members that hold the same.
    Raid10,
}

/// How parity and data move from stripe to stripe of a RAID 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rotation {
    /// Parity from the last member down; data follows it around.
    LeftSymmetric,
    /// Parity from the last member down; data always from the first member on.
    LeftAsymmetric,
    /// Parity from the first member up; data always from the first member on.
    RightAsymmetric,
    /// Parity from the first member up; data follows it around.
    RightSymmetric,
}

/// The arithmetic of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    level: Level,
    rotation: Rotation,
    members: u32,
    /// Bytes of a stripe unit.
    unit: u64,
    /// Stripes that fit on the smallest member.
    stripes: u64,
}

/// A contiguous range within one stripe unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Which stripe.
    pub stripe: u64,
    /// Which of the stripe's data units, from 0.
    pub column: u32,
    /// First byte within the unit.
    pub from: u64,
    /// Bytes.
    pub len: u32,
}

impl Layout {
    /// The layout over members of at least `member_bytes`. The unit of a RAID 1 is the whole
    /// member.
    pub const fn new(
        level: Level,
        rotation: Rotation,
        members: u32,
        unit: u64,
        member_bytes: u64,
    ) -> Self {
        let unit = if matches!(level, Level::Raid1) { member_bytes } else { unit };
        Self { level, rotation, members, unit, stripes: member_bytes / unit }
    }

    /// Data units of a stripe.
    pub const fn columns(&self) -> u32 {
        match self.level {
            Level::Raid0 => self.members,
            Level::Raid1 => 1,
            Level::Raid4 | Level::Raid5 => self.members - 1,
            Level::Raid10 => self.members / 2,
        }
    }

    /// On how many members each data unit lies.
    pub const fn copies(&self) -> u32 {
        match self.level {
            Level::Raid0 | Level::Raid4 | Level::Raid5 => 1,
            Level::Raid1 => self.members,
            Level::Raid10 => 2,
        }
    }

    /// Whether stripes have parity.
    pub const fn has_parity(&self) -> bool {
        matches!(self.level, Level::Raid4 | Level::Raid5)
    }

    /// Members.
    pub const fn members(&self) -> u32 {
        self.members
    }

    /// Bytes of a stripe unit.
    pub const fn unit(&self) -> u64 {
        self.unit
    }

    /// Bytes that the array holds.
    pub const fn capacity(&self) -> u64 {
        self.stripes * self.unit * self.columns() as u64
    }

    /// The stripe a byte of the array lies in.
    pub const fn stripe_of(&self, offset: u64) -> u64 {
        offset / self.unit / self.columns() as u64
    }

    /// The member with the parity of a stripe, if there is parity.
    pub const fn parity(&self, stripe: u64) -> u32 {
        let turn = (stripe % self.members as u64) as u32;
        match (self.level, self.rotation) {
            (Level::Raid5, Rotation::LeftSymmetric | Rotation::LeftAsymmetric) => {
                self.members - 1 - turn
            }
            (Level::Raid5, Rotation::RightSymmetric | Rotation::RightAsymmetric) => turn,
            _ => self.members - 1,
        }
    }

    /// The first of the members with a data unit; its copies are on those that follow.
    pub const fn member(&self, stripe: u64, column: u32) -> u32 {
        match (self.level, self.rotation) {
            (Level::Raid5, Rotation::LeftSymmetric | Rotation::RightSymmetric) => {
                (self.parity(stripe) + 1 + column) % self.members
            }
            (Level::Raid5, Rotation::LeftAsymmetric | Rotation::RightAsymmetric) => {
                if column < self.parity(stripe) { column } else { column + 1 }
            }
            _ => column * self.copies(),
        }
    }

    /// Which of a stripe's data units a member of an array with parity has; `None` for the parity.
    pub fn column(&self, stripe: u64, member: u32) -> Option<u32> {
        (0..self.columns()).find(|&column| self.member(stripe, column) == member)
    }

    /// The byte on the member at which a place within a stripe unit lies.
    pub const fn on_member(&self, stripe: u64, from: u64) -> u64 {
        stripe * self.unit + from
    }

    /// A range of the array, cut where stripe units end.
    pub fn pieces(&self, offset: u64, len: u32) -> impl Iterator<Item = Piece> + use<> {
        let (unit, columns) = (self.unit, u64::from(self.columns()));
        let (mut at, end) = (offset, offset + u64::from(len));
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let (index, from) = (at / unit, at % unit);
            let len = (unit - from).min(end - at) as u32;
            at += u64::from(len);
            Some(Piece { stripe: index / columns, column: (index % columns) as u32, from, len })
        })
    }
}

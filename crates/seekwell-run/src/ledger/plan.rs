//! Where each write of a ledger goes and what it holds. Both follow from the plan, so that a
//! ledger need only say how many writes were acknowledged.
//!
//! Writes are numbered from 1. A batch is the writes between two flushes; each of them goes to a
//! stripe of its own, so that no two to the same block are in flight. Every
//! sector bears the mark of seekwell, with the number of its write as the stamp, and behind it the
//! ledger's identity, the sector's place and random bytes drawn from these three:
//!
//! ```text
//! byte 0       8          16        24         32         40                   512
//!      | mark  | write    | balance | identity | place    | random             |
//! ```

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::SplitMix64;
use seekwell_sys::mark::{self, SECTOR};
use serde::{Deserialize, Serialize};

/// The most blocks: the check keeps four bytes for each.
pub const MOST_BLOCKS: u32 = 1 << 26;
/// The most writes between two flushes.
pub const MOST_PER_FLUSH: u32 = 1024;
/// The largest block.
pub const LARGEST_BLOCK: u32 = 1 << 20;

/// What makes writes durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durable {
    /// A flush after each batch.
    Flush,
    /// Each write itself (FUA).
    Fua,
}

/// The writes of a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Distinguishes the blocks of this ledger from those of any other.
    pub id: u64,
    /// The length of a write.
    pub block_bytes: u32,
    /// How many blocks are written, from the start of the device.
    pub blocks: u32,
    /// Writes that are outstanding together, and then flushed.
    pub batch: u32,
    /// What makes them durable.
    pub durable: Durable,
}

/// What a sector holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// What this write put there.
    Write(u32),
    /// Data of this ledger that no write put there.
    Damaged,
    /// Data that is not of this ledger.
    Other,
}

/// A plan that cannot be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum PlanError {
    #[error("blocks of {found} bytes: 512 to {LARGEST_BLOCK} are needed, a multiple of 512")]
    Block { found: u32 },
    #[error("{found} writes between two flushes: 1 to {MOST_PER_FLUSH} are needed")]
    Batch { found: u32 },
    #[error(
        "{found} blocks: {needed} to {MOST_BLOCKS} are needed; change the size or the block size"
    )]
    Blocks { found: u64, needed: u32 },
}

impl Plan {
    /// This plan, if it can be carried out.
    ///
    /// # Errors
    /// Which of its numbers is out of range.
    pub fn checked(self) -> Result<Self, PlanError> {
        let Self { block_bytes, blocks, batch, .. } = self;
        if !block_bytes.is_multiple_of(SECTOR as u32)
            || !(SECTOR as u32..=LARGEST_BLOCK).contains(&block_bytes)
        {
            return Err(PlanError::Block { found: block_bytes });
        }
        if !(1..=MOST_PER_FLUSH).contains(&batch) {
            return Err(PlanError::Batch { found: batch });
        }
        Self::check_blocks(u64::from(blocks), batch)?;
        Ok(self)
    }

    /// How many blocks there can be for batches of this length.
    ///
    /// # Errors
    /// If there are fewer than a batch, or too many.
    pub fn check_blocks(found: u64, batch: u32) -> Result<u32, PlanError> {
        let blocks = u32::try_from(found).ok().filter(|n| (batch..=MOST_BLOCKS).contains(n));
        blocks.ok_or(PlanError::Blocks { found, needed: batch })
    }

    /// How much of the device is written.
    pub const fn bytes(&self) -> u64 {
        self.blocks as u64 * self.block_bytes as u64
    }

    /// The batch of a write, counted from 0.
    pub const fn batch_of(&self, write: u32) -> u32 {
        (write - 1) / self.batch
    }

    /// The block that a write goes to.
    ///
    /// # Panics
    /// For write 0, which does not exist.
    pub fn block_of(&self, write: u32) -> u32 {
        assert!(write > 0, "writes are numbered from 1");
        let stripe = self.blocks / self.batch;
        let mut random = SplitMix64::seed_from_u64(self.id ^ u64::from(write));
        (write - 1) % self.batch * stripe + (random.next_u64() % u64::from(stripe)) as u32
    }

    const fn sectors(&self) -> u64 {
        self.block_bytes as u64 / SECTOR as u64
    }

    /// Fills a block with what a write holds.
    pub fn fill(&self, write: u32, block: &mut [u8]) {
        let first = u64::from(self.block_of(write)) * self.sectors();
        for (place, sector) in (first..).zip(block.chunks_exact_mut(SECTOR)) {
            self.fill_sector(write, place, sector);
        }
    }

    fn fill_sector(&self, write: u32, place: u64, sector: &mut [u8]) {
        let seed = self.id ^ u64::from(write) << 32 ^ place;
        SplitMix64::seed_from_u64(seed).fill_bytes(&mut sector[40..]);
        sector[8..16].copy_from_slice(&u64::from(write).to_le_bytes());
        sector[24..32].copy_from_slice(&self.id.to_le_bytes());
        sector[32..40].copy_from_slice(&place.to_le_bytes());
        mark::put(sector);
    }

    /// What each sector of a block holds.
    pub fn found<'a>(&'a self, block: u32, data: &'a [u8]) -> impl Iterator<Item = Found> + 'a {
        let first = u64::from(block) * self.sectors();
        let sectors = (first..).zip(data.chunks_exact(SECTOR));
        sectors.map(move |(place, sector)| self.found_in(block, place, sector))
    }

    fn found_in(&self, block: u32, place: u64, sector: &[u8]) -> Found {
        if sector[24..32] != self.id.to_le_bytes() {
            return Found::Other;
        }
        let stamp = sector[8..16].try_into().map_or(0, u64::from_le_bytes);
        let write = u32::try_from(stamp).unwrap_or(0);
        if write == 0 || self.block_of(write) != block {
            return Found::Damaged;
        }
        let mut wanted = [0; SECTOR];
        self.fill_sector(write, place, &mut wanted);
        if sector == wanted { Found::Write(write) } else { Found::Damaged }
    }
}

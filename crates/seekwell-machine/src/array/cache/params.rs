//! What a controller's cache is.

use super::lines::{MOST_SECTORS, SECTOR_BYTES};
use crate::limits::{OutOfRange, within};
use serde::{Deserialize, Serialize};

/// When a write is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// When it is in the cache, as long as the cache's battery keeps it.
    Back,
    /// When it is below.
    Through,
}

/// The memory of a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheParams {
    /// Bytes of memory for data.
    pub size_bytes: u64,
    /// Sectors of 512 bytes of a line.
    pub line_sectors: u32,
    /// When a write is acknowledged.
    pub write: WritePolicy,
    /// Whether the memory outlives a power failure. Without, the firmware writes through.
    pub battery: bool,
    /// Whether data read from below is kept.
    pub keeps_reads: bool,
    /// Bytes read ahead when a read that was not here continues the one before.
    pub read_ahead_bytes: u32,
    /// Percent of the lines that may be dirty; a write beyond waits.
    pub dirty_limit_percent: u32,
    /// Percent of the lines above which dirty ones are written below without waiting to be idle.
    pub destage_percent: u32,
    /// Nanoseconds without a command after which the controller is idle and writes below.
    pub idle_ns: u64,
    /// The most bytes written below at once: contiguous, and not across a multiple of this, so that
    /// with the width of a stripe full stripes are written where all of one is dirty.
    pub destage_bytes: u32,
    /// The most writes below at the same time.
    pub destages_at_once: u32,
    /// Time of the controller for one command, in nanoseconds.
    pub command_ns: u32,
    /// Bytes a second that the memory takes or gives; 0 where it takes no time.
    pub bytes_per_s: u64,
}

impl CacheParams {
    /// A write-back cache of that size with a battery, in lines of 64 KiB.
    pub const fn write_back(size_bytes: u64) -> Self {
        Self {
            size_bytes,
            line_sectors: 128,
            write: WritePolicy::Back,
            battery: true,
            keeps_reads: true,
            read_ahead_bytes: 0,
            dirty_limit_percent: 75,
            destage_percent: 50,
            idle_ns: 50_000_000,
            destage_bytes: 262_144,
            destages_at_once: 8,
            command_ns: 0,
            bytes_per_s: 0,
        }
    }

    /// Whether such a cache can be.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        within("line_sectors", self.line_sectors, 1..=MOST_SECTORS)?;
        within("size_bytes", self.size_bytes, self.line_bytes()..=1 << 40)?;
        within("dirty_limit_percent", self.dirty_limit_percent, 1..=100)?;
        within("destage_percent", self.destage_percent, 0..=u64::from(self.dirty_limit_percent))?;
        within("idle_ns", self.idle_ns, 0..=3_600_000_000_000)?;
        within("destage_bytes", self.destage_bytes, 512..=1 << 30)?;
        within("destages_at_once", self.destages_at_once, 1..=256)?;
        within("read_ahead_bytes", self.read_ahead_bytes, 0..=1 << 30)?;
        within("command_ns", self.command_ns, 0..=1_000_000_000)?;
        within("bytes_per_s", self.bytes_per_s, 0..=1_000_000_000_000)
    }

    /// Whether writes are acknowledged when they are in the memory.
    pub(super) fn writes_back(&self) -> bool {
        self.write == WritePolicy::Back && self.battery
    }

    pub(super) fn line_bytes(&self) -> u64 {
        u64::from(self.line_sectors) * SECTOR_BYTES
    }

    /// Lines there are: at most 2³¹, as the size is at most 2⁴⁰ bytes.
    pub(super) fn lines(&self) -> u32 {
        (self.size_bytes / self.line_bytes()) as u32
    }

    pub(super) fn share(&self, percent: u32) -> u32 {
        (u64::from(self.lines()) * u64::from(percent) / 100) as u32
    }
}

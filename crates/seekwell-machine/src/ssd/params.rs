//! What an SSD is built of.

use super::zones::ZoneParams;
use crate::limits::{OutOfRange, within};
use serde::{Deserialize, Serialize};

/// Bytes of a mapping unit: the least that is mapped, moved and counted on its own.
pub const UNIT_BYTES: u32 = 4096;

/// What a drive holds when time begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// Nothing: as after a secure erase. Reads find nothing in the flash and do not touch it.
    Empty,
    /// Every byte written once from the first to the last.
    Sequential,
    /// Written over at random until garbage collection is in its steady state.
    Random,
}

/// Which superblock garbage collection empties next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Collection {
    /// The one with the fewest valid units.
    #[default]
    Greedy,
    /// The one that was filled first.
    Fifo,
}

/// How many programs of moved pages garbage collection gives each die at once. What the host writes
/// queues behind them; with 0 the dies get one after the other, spread evenly over the host's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MovesAtOnce {
    /// While every write finds room in the buffer.
    pub relaxed: u32,
    /// From when the buffer was full until no write waits any longer.
    pub pressed: u32,
}

/// Periodic work of the firmware, during which no write is taken into the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WritePause {
    /// Its period, in nanoseconds.
    pub every_ns: u32,
    /// How long it lasts, in nanoseconds; less than the period.
    pub lasts_ns: u32,
}

/// What the controller's processor spends. It does one thing at a time, and so is what bounds a
/// drive's requests per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirmwareParams {
    /// Time per read command, in nanoseconds.
    pub read_ns: u32,
    /// Time per 4 KiB of a read, in nanoseconds.
    pub read_unit_ns: u32,
    /// Time per write command, in nanoseconds.
    pub write_ns: u32,
    /// Time per 4 KiB of a write, in nanoseconds.
    pub write_unit_ns: u32,
    /// Time per flush, in nanoseconds, without the programming it waits for.
    pub flush_ns: u32,
    /// Time per discard, in nanoseconds, whatever its length.
    pub discard_ns: u32,
}

/// Flash programmed one bit a cell, which takes writes until it is full and is emptied while no
/// command comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcParams {
    /// Bytes of data that fit, beside `flash_bytes`.
    pub bytes: u64,
    /// Time to program as much of it as one program of the dense mode holds, in nanoseconds.
    pub program_ns: u32,
    /// Time without a command after which its data begins to be moved to the dense flash, in
    /// nanoseconds.
    pub idle_ns: u64,
}

const fn sector() -> u32 {
    512
}

/// An SSD.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SsdParams {
    /// Bytes that can be addressed.
    pub capacity_bytes: u64,
    /// Bytes of a sector, 512 or 4096: what requests have to be multiples of.
    #[serde(default = "sector")]
    pub sector_bytes: u32,
    /// Bytes of flash for data and spare, without the bytes for error correction.
    pub flash_bytes: u64,
    /// Commands taken at once.
    pub depth: u32,
    /// Channels between controller and flash.
    pub channels: u32,
    /// Dies on each channel.
    pub dies_per_channel: u32,
    /// Bytes of a flash page: what one read senses.
    pub page_bytes: u32,
    /// Pages a die programs at once (planes, or one-shot programming of several levels).
    pub program_pages: u32,
    /// Pages of an erase block.
    pub pages_per_block: u32,
    /// Time to sense a page, in nanoseconds; pages have one of these in equal shares (cells of
    /// several bits read their lower pages faster).
    pub sense_ns: Vec<u32>,
    /// Time to program, in nanoseconds.
    pub program_ns: u32,
    /// Time to erase a block, in nanoseconds.
    pub erase_ns: u32,
    /// Time to suspend a program or erase for a read, in nanoseconds.
    pub suspend_ns: u32,
    /// Reads that may pass one program or erase, waiting or begun. With 0 nothing that has begun is
    /// suspended, and reads and programs take turns.
    pub reads_ahead: u32,
    /// Rate of a channel, in bytes a second.
    pub channel_bytes_per_s: u64,
    /// The processor.
    pub firmware: FirmwareParams,
    /// Time of a read that keeps nothing busy, in nanoseconds: decoding, error correction, queues.
    pub read_latency_ns: u32,
    /// The same of a write.
    pub write_latency_ns: u32,
    /// Bytes of written data the drive may hold that are not in flash yet.
    pub buffer_bytes: u64,
    /// Time between units of 4 KiB that the buffer takes, in nanoseconds, from when it was full
    /// until no write waits any longer: firmware that keeps writes at an even pace below what the
    /// flash could take.
    #[serde(default)]
    pub write_gap_ns: u32,
    /// When it takes no writes; `None` if it always takes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_pause: Option<WritePause>,
    /// Writes that wait for room in the buffer before commands behind them, reads too, have to wait
    /// for them; no number of them holds up reads if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_slots: Option<u32>,
    /// Capacitors keep the buffer when power fails: a flush has nothing to wait for.
    pub buffer_protected: bool,
    /// Bytes read ahead of a sequential reader; 0 for none.
    pub read_ahead_bytes: u32,
    /// Pages of the mapping's own log programmed for every hundred pages written out of sequence.
    pub map_percent: u32,
    /// Bytes of the mapping kept in memory, the drive's own or the host's; all of it if missing. A
    /// read that needs another part senses that first; a changed part is written back later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_cache_bytes: Option<u64>,
    /// Which superblock is emptied next.
    #[serde(default)]
    pub collection: Collection,
    /// How many pieces of moved pages garbage collection gives each die at once.
    #[serde(default)]
    pub moves_at_once: MovesAtOnce,
    /// What it holds when time begins.
    pub fill: Fill,
    /// Its cache of flash with one bit a cell; none without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc: Option<SlcParams>,
    /// Its zones, if it has any: then the host decides what is written over, and nothing is moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZoneParams>,
    /// Seeds which units of a superblock are moved together; no part of a description.
    #[serde(skip)]
    pub seed: u64,
}

impl SsdParams {
    /// Dies in all.
    pub const fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    /// Mapping units that can be addressed.
    pub const fn units(&self) -> u64 {
        self.capacity_bytes.div_ceil(UNIT_BYTES as u64)
    }

    /// Mapping units a die programs at once.
    pub const fn program_units(&self) -> u32 {
        self.program_pages * (self.page_bytes / UNIT_BYTES)
    }

    /// Bytes a die programs at once.
    pub const fn piece_bytes(&self) -> u64 {
        self.program_units() as u64 * UNIT_BYTES as u64
    }

    /// Mapping units of a superblock: one block in every plane of every die, erased together.
    pub const fn superblock_units(&self) -> u32 {
        self.dies() * self.pages_per_block * self.program_units()
    }

    /// Superblocks in all.
    pub const fn superblocks(&self) -> u64 {
        self.flash_bytes / (self.superblock_units() as u64 * UNIT_BYTES as u64)
    }

    /// The least flash there must be: for the data, and without zones for the superblocks that are
    /// being filled and those kept free.
    fn least_flash_bytes(&self) -> u64 {
        if let Some(zones) = self.zones {
            return self.capacity_bytes / zones.zone_bytes.max(1) * zones.capacity_bytes;
        }
        let data = self.units().div_ceil(u64::from(self.superblock_units() / 256 * 256));
        (data + 6) * u64::from(self.superblock_units()) * u64::from(UNIT_BYTES)
    }

    /// Whether such a drive can be.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        const SECOND: u64 = 1_000_000_000;
        within("capacity_bytes", self.capacity_bytes, 1 << 20..=1 << 47)?;
        if self.sector_bytes != 512 {
            within("sector_bytes", self.sector_bytes, 4096..=4096)?;
        }
        within("depth", self.depth, 1..=65_536)?;
        within("channels", self.channels, 1..=64)?;
        within("dies_per_channel", self.dies_per_channel, 1..=64)?;
        within("page_bytes", self.page_bytes, 4096..=65_536)?;
        within("page_bytes modulo 4096", self.page_bytes % UNIT_BYTES, 0..=0)?;
        within("program_pages", self.program_pages, 1..=64)?;
        within("pages_per_block", self.pages_per_block, 1..=8192)?;
        within("superblock_units", self.superblock_units(), 256..=1 << 26)?;
        within("flash_bytes", self.flash_bytes, self.least_flash_bytes()..=1 << 48)?;
        within("superblocks", self.superblocks(), 1..=1 << 20)?;
        within("number of sense_ns", self.sense_ns.len() as u64, 1..=16)?;
        for sense in &self.sense_ns {
            within("sense_ns", *sense, 1..=SECOND)?;
        }
        within("program_ns", self.program_ns, 1..=SECOND)?;
        within("erase_ns", self.erase_ns, 1..=SECOND)?;
        within("suspend_ns", self.suspend_ns, 0..=SECOND)?;
        within("channel_bytes_per_s", self.channel_bytes_per_s, 1_000_000..=1 << 40)?;
        let firmware = &self.firmware;
        within("firmware.read_ns", firmware.read_ns, 0..=SECOND)?;
        within("firmware.read_unit_ns", firmware.read_unit_ns, 0..=SECOND)?;
        within("firmware.write_ns", firmware.write_ns, 0..=SECOND)?;
        within("firmware.write_unit_ns", firmware.write_unit_ns, 0..=SECOND)?;
        within("firmware.flush_ns", firmware.flush_ns, 0..=SECOND)?;
        within("firmware.discard_ns", firmware.discard_ns, 0..=SECOND)?;
        within("read_latency_ns", self.read_latency_ns, 0..=SECOND)?;
        within("write_latency_ns", self.write_latency_ns, 0..=SECOND)?;
        if let Some(slc) = self.slc {
            within("slc.bytes", slc.bytes, self.piece_bytes()..=1 << 44)?;
            within("slc.program_ns", slc.program_ns, 1..=self.program_ns.into())?;
            within("slc.idle_ns", slc.idle_ns, 1..=3600 * SECOND)?;
        }
        within("moves_at_once.relaxed", self.moves_at_once.relaxed, 0..=4096)?;
        within("moves_at_once.pressed", self.moves_at_once.pressed, 0..=4096)?;
        let least = 2 * self.piece_bytes();
        within("buffer_bytes", self.buffer_bytes, least..=1 << 34)?;
        within("write_gap_ns", self.write_gap_ns, 0..=SECOND)?;
        if let Some(pause) = self.write_pause {
            within("write_pause.every_ns", pause.every_ns, 1..=SECOND)?;
            within("write_pause.lasts_ns", pause.lasts_ns, 0..=u64::from(pause.every_ns) - 1)?;
        }
        within("write_slots", self.write_slots.unwrap_or(u32::MAX), 1..=u32::MAX.into())?;
        within("read_ahead_bytes", self.read_ahead_bytes, 0..=1 << 26)?;
        if let Some(zones) = self.zones {
            zones.check(self.capacity_bytes)?;
            within("fill, random = 1, with zones", u32::from(self.fill == Fill::Random), 0..=0)?;
        }
        within("map_cache_bytes", self.map_cache_bytes.unwrap_or(4096), 4096..=1 << 34)?;
        within("map_percent", self.map_percent, 0..=1000)
    }
}

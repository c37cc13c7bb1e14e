//! What a hard drive is described by.

use super::error::ParamsError;
use super::seek::SeekCurve;
use seekwell_io::units::Nanos;
use serde::{Deserialize, Serialize};

/// A hard drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Bytes of a sector.
    pub sector_bytes: u32,
    /// Bytes of a sector on the medium, a multiple of [`Params::sector_bytes`]; equal to it where
    /// not given. A write that covers one in part reads it first, and writes it a turn later.
    #[serde(default)]
    pub physical_bytes: Option<u32>,
    /// Revolutions per minute.
    pub rpm: f64,
    /// Recording surfaces, each with a head.
    pub surfaces: u32,
    /// Where sectors lie on the surfaces.
    pub layout: Layout,
    /// Time of a seek by its distance.
    pub seek: SeekCurve,
    /// Time to select another head and settle on its track.
    #[serde(rename = "head_switch_ns")]
    pub head_switch: Nanos,
    /// What a seek or head switch before a write takes longer, in nanoseconds; less if negative.
    pub write_settle_ns: i64,
    /// The segments read data is kept in.
    pub cache: Cache,
    /// The buffer for data to be written.
    pub write: WriteBuffer,
    /// What the electronics take.
    pub overhead: Overhead,
    /// The interface, where the drive itself is to count the transfer. With `None` data crosses in
    /// no time, and a link above adds its own.
    pub interface: Option<Interface>,
    /// Queued commands and their order.
    pub queue: Queue,
}

const fn yes() -> bool {
    true
}

const fn whole() -> f64 {
    1.0
}

/// Zones, and what becomes of bad sectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// The order of surfaces.
    pub order: SurfaceOrder,
    /// Where spare sectors are.
    pub sparing: Sparing,
    /// From the first cylinder on; cylinders between two zones hold no data.
    pub zones: Vec<Zone>,
    /// Sectors the drive offers, if that is less than its zones hold.
    pub sectors: Option<u64>,
}

/// The order in which the surfaces of a cylinder are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SurfaceOrder {
    /// The same in every cylinder.
    Same,
    /// Reversed in every second cylinder of a zone, so that a cylinder switch keeps the head.
    ReversedByZone,
    /// Reversed in cylinders with odd numbers.
    ReversedByCylinder,
}

/// Where spare sectors are. Each zone has their number ([`Zone::spares`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sparing {
    /// There are none, and no bad sectors either.
    None,
    /// Whole tracks at the end of a zone; [`Zone::slips`] holds tracks of the zone.
    Tracks,
    /// At the end of each track.
    PerTrack,
    /// At the end of each cylinder, or at its beginning; bad sectors push those after them on to
    /// the end of the cylinder, or of the zone.
    PerCylinder {
        /// Spares come first in the cylinder.
        at_front: bool,
        /// Bad sectors push on to the end of the zone.
        to_zone_end: bool,
    },
    /// At the end of each group of this many cylinders, counted from the beginning of the zone.
    PerRange(u32),
    /// At the end of the zone. Bad sectors are taken from them, or from the zone beside them.
    PerZone {
        /// Bad sectors shorten the zone and leave the spares.
        beside: bool,
    },
    /// None set aside: each bad sector shortens its zone.
    AtEnd,
}

/// Cylinders with the same number of sectors on a track.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// First cylinder.
    pub first_cylinder: u32,
    /// Last cylinder.
    pub last_cylinder: u32,
    /// Sectors of a track.
    pub sectors_per_track: u32,
    /// Sectors from the index to the first sector of the zone.
    #[serde(default)]
    pub first_offset: f64,
    /// Sectors at the zone's beginning that hold no data.
    #[serde(default)]
    pub reserved: u32,
    /// Sectors by which a track begins later than the one before it in the cylinder.
    pub track_skew: f64,
    /// Sectors by which a cylinder's first track begins later than the track before it.
    pub cylinder_skew: f64,
    /// Spare sectors (tracks for [`Sparing::Tracks`]) per unit of the sparing.
    #[serde(default)]
    pub spares: u32,
    /// Bad sectors that are passed over, counted from the zone's beginning, ascending.
    #[serde(default)]
    pub slips: Vec<u64>,
}

/// Until where a drive reads on after what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAhead {
    /// It does not.
    None,
    /// To the end of the track.
    Track,
    /// To the end of the cylinder.
    Cylinder,
    /// Until the segment is full.
    Segment,
    /// To the end of the track, and of the next where the segment holds all since the track before.
    NextTrack,
}

/// Segments that keep read data, and reading ahead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Segments, at least 1; each holds one contiguous range.
    pub segments: u32,
    /// Sectors of a segment.
    pub segment_sectors: u32,
    /// Whether data stays in segments to be read again.
    pub enabled: bool,
    /// How far the drive reads ahead.
    pub read_ahead: ReadAhead,
    /// Sectors that are read ahead before another command has its turn.
    pub min_ahead: u32,
    /// The most sectors that are read ahead; 0 for what the segment allows.
    pub max_ahead: u32,
    /// Whether reading ahead may replace what was asked for.
    pub ahead_over_requested: bool,
    /// Whether a read found in the cache makes a drive at rest read ahead from there.
    pub ahead_on_hit: bool,
    /// Whether sectors that pass before the wanted ones are kept too.
    pub keep_passing: bool,
    /// Whether a read that begins with the very sector being read ahead continues it.
    pub join_at_edge: bool,
    /// Whether a read of which the cache holds the beginning crosses the interface at once, with
    /// less there than [`Interface::read_watermark`] asks for.
    #[serde(default = "yes")]
    pub part_at_once: bool,
    /// Whether a sector read from the medium needs its room in the segment when it begins to pass,
    /// not when it has passed. It matters to reads longer than a segment.
    #[serde(default = "yes")]
    pub room_at_begin: bool,
    /// Whether what was written can be read from the cache.
    pub hits_on_written: bool,
    /// Whether a command that needs no arm is done while the arm moves for another.
    pub hits_while_busy: bool,
    /// Whether reading ahead stops within a sector rather than after it.
    pub stop_within_sector: bool,
    /// Whether sectors are read from wherever the head lands in them.
    pub zero_latency_read: bool,
    /// Whether sectors are written from wherever the head lands in them.
    pub zero_latency_write: bool,
}

/// The buffer for data to be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteBuffer {
    /// Whether a write is done when the buffer has its data.
    pub write_back: bool,
    /// Contiguous ranges of unwritten data, at least 1.
    pub extents: u32,
    /// The most sectors of such a range.
    pub extent_sectors: u32,
    /// Whether a write that continues another shares its range.
    pub combine: bool,
    /// Whether the range takes one of the cache's segments.
    pub takes_segment: bool,
    /// How long the drive is idle before it starts to write back.
    #[serde(rename = "idle_delay_ns")]
    pub idle_delay: Nanos,
    /// What each range written back costs before the arm moves.
    #[serde(rename = "destage_overhead_ns")]
    pub destage_overhead: Nanos,
    /// What a flush of a buffer that holds unwritten data costs by itself.
    #[serde(rename = "flush_overhead_ns")]
    pub flush_overhead: Nanos,
    /// The least time from accepting a write to its place on the medium, if it continues no other.
    #[serde(rename = "min_positioning_ns")]
    pub min_positioning: Nanos,
    /// Sectors of a write, or all if it has fewer, that are in the buffer before the first goes
    /// to the medium; at least 1.
    pub start_sectors: u32,
}

/// An overhead that depends on what the command before was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// After a read.
    #[serde(rename = "read_ns")]
    pub read: Nanos,
    /// After a write.
    #[serde(rename = "write_ns")]
    pub write: Nanos,
}

impl After {
    /// Nanoseconds after a read, or after a write.
    pub(crate) const fn after(self, read: bool) -> u64 {
        if read { self.read.0 } else { self.write.0 }
    }
}

/// What the electronics take.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overhead {
    /// A read whose first sector is in the cache.
    pub read_hit: After,
    /// A read that needs the medium from the beginning.
    pub read_miss: After,
    /// A write to the buffer.
    pub write_hit: After,
    /// A write that is done when it is on the medium.
    pub write_miss: After,
    /// To finish a read.
    #[serde(rename = "read_done_ns")]
    pub read_done: Nanos,
    /// To finish a write.
    #[serde(rename = "write_done_ns")]
    pub write_done: Nanos,
    /// Before data crosses the interface.
    #[serde(rename = "data_preparation_ns")]
    pub data_preparation: Nanos,
    /// To take the interface again after it was given up.
    #[serde(rename = "reselect_ns")]
    pub reselect: Nanos,
    /// To give the interface up during a read.
    pub read_disconnect: After,
    /// To give the interface up during a write.
    #[serde(rename = "write_disconnect_ns")]
    pub write_disconnect: Nanos,
    /// Between two commands that need the arm, when the second has been waiting.
    #[serde(rename = "turnaround_ns")]
    pub turnaround: Nanos,
    /// What replaces these in a write that follows another write and does not continue it, where
    /// the drive gives the interface up between such a command and its data.
    #[serde(default)]
    pub pause: Option<Pause>,
}

/// A write whose drive gives the interface up once more, before its data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// The command.
    #[serde(rename = "command_ns")]
    pub command: Nanos,
    /// From the command to the first movement of the arm.
    #[serde(rename = "seek_delay_ns")]
    pub seek_delay: Nanos,
    /// To give the interface up after the command.
    #[serde(rename = "disconnect_ns")]
    pub disconnect: Nanos,
    /// Until the drive asks for the interface again.
    #[serde(rename = "wait_ns")]
    pub wait: Nanos,
    /// To give the interface up after the data.
    #[serde(rename = "second_disconnect_ns")]
    pub second_disconnect: Nanos,
    /// To take the interface again for the status.
    #[serde(rename = "second_reselect_ns")]
    pub second_reselect: Nanos,
}

/// The interface.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// Nanoseconds for a sector to the host.
    pub read_sector_ns: u64,
    /// Nanoseconds for a sector from the host.
    pub write_sector_ns: u64,
    /// Share of a read, or of the segment if that is less, that is in the buffer before the
    /// transfer begins, 0 to 1.
    pub read_watermark: f64,
    /// Share of a write, or of the segment if that is less, that may still be unwritten when the
    /// transfer of one longer than the segment goes on, 0 to 1.
    #[serde(default = "whole")]
    pub write_watermark: f64,
    /// Whether watermarks are shares of a segment whatever the length of a command.
    #[serde(default)]
    pub watermarks_of_segment: bool,
    /// Whether the drive keeps the interface when a read has to wait for the medium.
    #[serde(default = "yes")]
    pub holds_for_read: bool,
    /// Whether the drive keeps the interface when a write has to wait for room in the segment.
    #[serde(default = "yes")]
    pub holds_for_write: bool,
}

impl Interface {
    /// An interface of that many nanoseconds a sector each way, kept during a transfer, which
    /// begins with the first sector.
    pub const fn new(read_sector_ns: u64, write_sector_ns: u64) -> Self {
        Self {
            read_sector_ns,
            write_sector_ns,
            read_watermark: 0.0,
            write_watermark: 1.0,
            watermarks_of_segment: false,
            holds_for_read: true,
            holds_for_write: true,
        }
    }

    /// Sectors of a watermark for a command of `sectors` with a segment of `size`.
    pub(super) fn mark(&self, share: f64, sectors: u64, size: u64) -> u64 {
        let marked = if self.watermarks_of_segment {
            (size as f64 * share).ceil() as u64
        } else {
            (sectors.min(size) as f64 * share) as u64
        };
        marked.clamp(1, sectors.max(1))
    }
}

/// Queued commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Commands taken at once.
    pub depth: u32,
    /// How many of the oldest the next is chosen from; 1 for first come, first served.
    pub window: u32,
    /// A sector that would be reached with less than this to spare is counted as just missed.
    #[serde(rename = "miss_margin_ns")]
    pub miss_margin: Nanos,
    /// How much a command that waits is preferred: thousandths of its waiting time taken off its
    /// access time.
    pub ageing_permille: u32,
    /// Whether the arm may move for the next command while the last one's data still cross.
    pub preseek: bool,
}

/// The most cylinders: more than any drive has had, few enough for a table by distance.
pub const MAX_CYLINDERS: u32 = 4_000_000;

/// The most sectors of slipped tracks in a zone.
const MOST_SLIPPED: f64 = 1e7;

fn range(field: &'static str, value: f64, least: f64, most: f64) -> Result<(), ParamsError> {
    if value >= least && value <= most {
        return Ok(());
    }
    Err(ParamsError::Range { field, value, least, most })
}

impl Params {
    /// Addressable sectors of a sector on the medium.
    pub(super) fn physical_sectors(&self) -> u64 {
        u64::from(self.physical_bytes.map_or(1, |bytes| bytes / self.sector_bytes))
    }

    /// Checks every field against its legal range.
    pub fn check(&self) -> Result<(), ParamsError> {
        range("sector_bytes", self.sector_bytes.into(), 256.0, 65_536.0)?;
        if let Some(physical) = self.physical_bytes {
            range("physical_bytes", physical.into(), self.sector_bytes.into(), 65_536.0)?;
            let rest = physical % self.sector_bytes;
            range("physical_bytes modulo sector_bytes", rest.into(), 0.0, 0.0)?;
        }
        range("rpm", self.rpm, 100.0, 100_000.0)?;
        range("surfaces", self.surfaces.into(), 1.0, 256.0)?;
        let (second, tenth) = (1e9, 1e8);
        range("head_switch", self.head_switch.0 as f64, 0.0, tenth)?;
        range("write_settle_ns", self.write_settle_ns as f64, -tenth, tenth)?;
        range("cache.segments", self.cache.segments.into(), 1.0, 65_536.0)?;
        range("cache.segment_sectors", self.cache.segment_sectors.into(), 1.0, 1e9)?;
        range("cache.min_ahead", self.cache.min_ahead.into(), 0.0, 1e9)?;
        range("cache.max_ahead", self.cache.max_ahead.into(), 0.0, 1e9)?;
        range("write.extents", self.write.extents.into(), 1.0, 1e6)?;
        range("write.extent_sectors", self.write.extent_sectors.into(), 1.0, 1e9)?;
        range("write.start_sectors", self.write.start_sectors.into(), 1.0, 1e9)?;
        range("queue.depth", self.queue.depth.into(), 1.0, 65_536.0)?;
        range("queue.window", self.queue.window.into(), 1.0, 65_536.0)?;
        range("queue.miss_margin", self.queue.miss_margin.0 as f64, 0.0, tenth)?;
        range("queue.ageing_permille", self.queue.ageing_permille.into(), 0.0, 1e6)?;
        if let Some(interface) = self.interface {
            range("interface.read_sector_ns", interface.read_sector_ns as f64, 0.0, second)?;
            range("interface.write_sector_ns", interface.write_sector_ns as f64, 0.0, second)?;
            range("interface.read_watermark", interface.read_watermark, 0.0, 1.0)?;
            range("interface.write_watermark", interface.write_watermark, 0.0, 1.0)?;
        }
        self.check_overheads()?;
        self.layout.check()?;
        self.seek.check()
    }

    fn check_overheads(&self) -> Result<(), ParamsError> {
        let o = &self.overhead;
        let w = &self.write;
        let pause = o.pause.unwrap_or_default();
        let all = [
            ("overhead.read_hit.read", o.read_hit.read),
            ("overhead.read_hit.write", o.read_hit.write),
            ("overhead.read_miss.read", o.read_miss.read),
            ("overhead.read_miss.write", o.read_miss.write),
            ("overhead.write_hit.read", o.write_hit.read),
            ("overhead.write_hit.write", o.write_hit.write),
            ("overhead.write_miss.read", o.write_miss.read),
            ("overhead.write_miss.write", o.write_miss.write),
            ("overhead.read_done", o.read_done),
            ("overhead.write_done", o.write_done),
            ("overhead.data_preparation", o.data_preparation),
            ("overhead.reselect", o.reselect),
            ("overhead.read_disconnect.read", o.read_disconnect.read),
            ("overhead.read_disconnect.write", o.read_disconnect.write),
            ("overhead.write_disconnect", o.write_disconnect),
            ("overhead.turnaround", o.turnaround),
            ("overhead.pause.command", pause.command),
            ("overhead.pause.seek_delay", pause.seek_delay),
            ("overhead.pause.disconnect", pause.disconnect),
            ("overhead.pause.wait", pause.wait),
            ("overhead.pause.second_disconnect", pause.second_disconnect),
            ("overhead.pause.second_reselect", pause.second_reselect),
            ("write.idle_delay", w.idle_delay),
            ("write.destage_overhead", w.destage_overhead),
            ("write.flush_overhead", w.flush_overhead),
            ("write.min_positioning", w.min_positioning),
        ];
        all.into_iter().try_for_each(|(field, value)| range(field, value.0 as f64, 0.0, 1e12))
    }
}

impl Layout {
    fn check(&self) -> Result<(), ParamsError> {
        range("layout.zones", self.zones.len() as f64, 1.0, 100_000.0)?;
        if let Sparing::PerRange(cylinders) = self.sparing {
            range("layout.sparing range", cylinders.into(), 1.0, MAX_CYLINDERS.into())?;
        }
        let mut next = 0;
        for (index, zone) in self.zones.iter().enumerate() {
            zone.check(index, next)?;
            if self.sparing == Sparing::Tracks {
                let (value, least) = (zone.slips.len() as f64, 0.0);
                let most = MOST_SLIPPED / f64::from(zone.sectors_per_track);
                if value > most {
                    let field = "slips";
                    return Err(ParamsError::Zone { zone: index, field, value, least, most });
                }
            }
            next = zone.last_cylinder + 1;
        }
        Ok(())
    }
}

impl Zone {
    fn check(&self, zone: usize, next: u32) -> Result<(), ParamsError> {
        let last = f64::from(MAX_CYLINDERS - 1);
        let first = f64::from(self.first_cylinder);
        let turn = f64::from(self.sectors_per_track);
        let rules = [
            ("first_cylinder", first, f64::from(next), last),
            ("last_cylinder", self.last_cylinder.into(), first, last),
            ("sectors_per_track", turn, 1.0, 65_536.0),
            ("first_offset", self.first_offset, -1e9, 1e9),
            ("track_skew", self.track_skew, -1e6, 1e6),
            ("cylinder_skew", self.cylinder_skew, -1e6, 1e6),
            ("slips", self.slips.len() as f64, 0.0, 1e6),
        ];
        for (field, value, least, most) in rules {
            if !(value >= least && value <= most) {
                return Err(ParamsError::Zone { zone, field, value, least, most });
            }
        }
        let unsorted = self.slips.windows(2).find(|pair| pair[0] > pair[1]);
        if let Some(pair) = unsorted {
            let (value, least, most) = (pair[1] as f64, pair[0] as f64, f64::INFINITY);
            return Err(ParamsError::Zone { zone, field: "slips", value, least, most });
        }
        Ok(())
    }
}

//! A disk block as a drive.

use super::error::DisksimError;
use super::keys::Keys;
use super::model;
use super::tree::{Block, Document, Value};
use crate::hdd::{After, Cache, Interface, Overhead, Params, Pause, Queue, ReadAhead, WriteBuffer};
use seekwell_io::units::Nanos;

/// Bytes of a block in DiskSim.
const SECTOR: u32 = 512;
/// What a drive that gives the bus up before a write's data waits for before it writes, in DiskSim.
const HESITANT_SECTORS: u32 = 10;
/// The type of a controller with a queue and a cache of its own.
pub(super) const SMART: f64 = 3.0;

/// Parameters that change no time of a drive, and why.
const WITHOUT_EFFECT: [(&str, &str); 2] = [
    ("Avg sectors per cylinder", "an estimate for queue policies that do not know the geometry"),
    ("Calc sector by sector", "how DiskSim computes a transfer, not how long it takes"),
];

/// A drive and what of its description the model has no use for.
#[derive(Debug, Clone, PartialEq)]
pub struct Drive {
    /// The component's name: `disk0`.
    pub name: String,
    /// The block it is made of.
    pub model: String,
    /// The drive.
    pub params: Params,
    /// `KEY = VALUE` of what the file specifies and the model ignores.
    pub not_modelled: Vec<String>,
}

/// The drive of that name, or the first one. `open` gives the table of seek times.
pub fn drive(
    document: &Document,
    name: Option<&str>,
    open: &mut dyn FnMut(&str) -> std::io::Result<String>,
) -> Result<Drive, DisksimError> {
    let missing = || DisksimError::NoSuch { what: name.unwrap_or("disksim_disk").to_owned() };
    let first = || document.components("disksim_disk").next();
    let name = name.or_else(first).ok_or_else(missing)?;
    let block = document.block_of(name).ok_or_else(missing)?;
    let mut left = Vec::new();
    let keys = Keys::new(block);
    let part = model::read(keys.block("Model")?, open, &mut left)?;
    let scale = keys.find("Time scale for overheads").map_or(Ok(1.0), super::keys::number)?;
    let params = Params {
        sector_bytes: SECTOR,
        physical_bytes: None,
        rpm: part.rpm,
        surfaces: part.surfaces,
        layout: part.layout,
        seek: part.seek,
        head_switch: part.head_switch,
        write_settle_ns: part.write_settle_ns,
        cache: cache(&keys)?,
        write: write_buffer(&keys)?,
        overhead: overheads(&keys, scale)?,
        interface: Some(interface(&keys, document, name)?),
        queue: queue(&keys)?,
    };
    for (key, _) in WITHOUT_EFFECT {
        keys.find(key);
    }
    // It ends the least reading ahead; anything beyond ends with any write.
    if params.cache.min_ahead == 0 {
        keys.find("Write hit stop prefetch");
    }
    keys.left(&mut left);
    let source = params.check();
    source.map_err(|source| DisksimError::Drive { drive: block.name.clone(), source })?;
    Ok(Drive { name: name.to_owned(), model: block.name.clone(), params, not_modelled: left })
}

fn cache(keys: &Keys<'_>) -> Result<Cache, DisksimError> {
    let ahead = keys.need("Buffer continuous read")?;
    let (min_ahead, most_ahead) =
        (keys.count("Minimum read-ahead (blks)")?, keys.count("Maximum read-ahead (blks)")?);
    let read_ahead = match super::keys::whole(ahead)? {
        0 => ReadAhead::None,
        1 => ReadAhead::Track,
        2 => ReadAhead::Cylinder,
        3 => ReadAhead::Segment,
        4 => ReadAhead::NextTrack,
        _ => return Err(super::keys::wrong(ahead, "0 to 4")),
    };
    // With scheme 4 the track alone says how far; elsewhere the most is never below the least.
    let max_ahead = match read_ahead {
        ReadAhead::NextTrack => 0,
        _ => most_ahead.max(min_ahead),
    };
    let all = keys.count("Number of buffer segments")?;
    let separate = keys.flag("Use separate write segment")?;
    Ok(Cache {
        segments: if separate { all.saturating_sub(1).max(1) } else { all.max(1) },
        segment_sectors: keys.count("Segment size (in blks)")?,
        enabled: keys.flag("Enable caching in buffer")?,
        read_ahead,
        min_ahead,
        max_ahead,
        // A maximum counts from the end of the request, whatever the segment holds of it.
        ahead_over_requested: keys.flag("Read-ahead over requested")? || max_ahead > 0,
        ahead_on_hit: keys.flag("Read-ahead on idle hit")?,
        keep_passing: keys.flag("Read any free blocks")?,
        join_at_edge: keys.flag("Allow almost read hits")?,
        hits_on_written: keys.flag("Allow read hits on write data")?,
        part_at_once: keys.flag("Immed transfer partial hit")?,
        room_at_begin: keys.flag("Read directly to buffer")?,
        hits_while_busy: keys.flag("Allow sneaky full read hits")?,
        stop_within_sector: keys.flag("Stop prefetch in sector")?,
        zero_latency_read: keys.flag("Immediate buffer read")?,
        zero_latency_write: keys.flag("Immediate buffer write")?,
    })
}

fn write_buffer(keys: &Keys<'_>) -> Result<WriteBuffer, DisksimError> {
    let hesitant = keys.flag("Extra write disconnect")?;
    Ok(WriteBuffer {
        write_back: keys.flag("Fast write level")?,
        extents: keys.count("Maximum number of write segments")?.max(1),
        extent_sectors: keys.count("Segment size (in blks)")?,
        combine: keys.flag("Combine seq writes")?,
        takes_segment: !keys.flag("Use separate write segment")?,
        idle_delay: Nanos::ZERO,
        destage_overhead: Nanos::ZERO,
        flush_overhead: Nanos::ZERO,
        min_positioning: keys.span("Minimum seek delay", 1.0)?,
        start_sectors: if hesitant { HESITANT_SECTORS } else { 1 },
    })
}

fn overheads(keys: &Keys<'_>, scale: f64) -> Result<Overhead, DisksimError> {
    let every = keys.span("Per-request overhead time", scale)?;
    let gives_up = !keys.flag("Never disconnect")?;
    let span = |key: &str| keys.span(key, scale);
    let given_up = |key: &str| {
        let time = keys.span(key, scale)?;
        Ok(if gives_up { time } else { Nanos::ZERO })
    };
    let pause = Pause {
        command: span("Extradisc command overhead")?,
        seek_delay: span("Extradisc seek delta")?,
        disconnect: span("Extradisc disconnect overhead")?,
        // The one time that is not scaled.
        wait: keys.span("Extradisc inter-disconnect delay", 1.0)?,
        second_disconnect: span("Extradisc 2nd disconnect overhead")?,
        second_reselect: span("Other reselect overhead")?,
    };
    let pauses = keys.flag("Extra write disconnect")? && gives_up;
    let pair = |read: &str, write: &str| {
        Ok(After { read: span(read)? + every, write: span(write)? + every })
    };
    Ok(Overhead {
        read_hit: pair("Read hit over. after read", "Read hit over. after write")?,
        read_miss: pair("Read miss over. after read", "Read miss over. after write")?,
        write_hit: pair("Write hit over. after read", "Write hit over. after write")?,
        write_miss: pair("Write miss over. after read", "Write miss over. after write")?,
        read_done: span("Read completion overhead")?,
        write_done: span("Write completion overhead")?,
        data_preparation: span("Data preparation overhead")?,
        reselect: given_up("First reselect overhead")?,
        read_disconnect: After {
            read: given_up("Read disconnect afterread")?,
            write: given_up("Read disconnect afterwrite")?,
        },
        write_disconnect: given_up("Write disconnect overhead")?,
        turnaround: Nanos::ZERO,
        pause: pauses.then_some(pause),
    })
}

/// The buses and controllers between a drive and the first controller that has data of its own, or
/// the driver, that controller included.
pub(super) fn above<'d>(document: &'d Document, name: &str) -> Vec<&'d Block> {
    let path = document.topology.as_ref().and_then(|root| root.path(name)).unwrap_or_default();
    let mut blocks = Vec::new();
    for node in path.iter().rev() {
        let Some(block) = document.block_of(&node.name) else { continue };
        match block.kind.as_str() {
            "disksim_bus" => blocks.push(block),
            "disksim_ctlr" => {
                blocks.push(block);
                if is_smart(block) {
                    break;
                }
            }
            _ => {}
        }
    }
    blocks
}

/// Whether a block is a controller with a queue of its own.
pub(super) fn is_smart(block: &Block) -> bool {
    block.kind == "disksim_ctlr"
        && block.get("type").is_some_and(|kind| kind.value == Value::Number(SMART))
}

/// A sector crosses as fast as the slowest of disk, buses and controllers lets it.
fn interface(keys: &Keys<'_>, document: &Document, name: &str) -> Result<Interface, DisksimError> {
    let own = keys.span("Bulk sector transfer time", 1.0)?;
    let (mut read, mut write) = (own, own);
    for block in above(document, name) {
        let keys = Keys::new(block);
        if block.kind == "disksim_bus" {
            read = read.max(keys.span("Read block transfer time", 1.0)?);
            write = write.max(keys.span("Write block transfer time", 1.0)?);
        } else {
            let both = keys.span("Bulk sector transfer time", 1.0)?;
            (read, write) = (read.max(both), write.max(both));
        }
    }
    let never = keys.flag("Never disconnect")?;
    let high = keys.number_or_zero("High (read) water mark")?;
    Ok(Interface {
        // Who keeps the interface anyhow waits for no more than the first sector.
        read_watermark: if never { 0.0 } else { high },
        write_watermark: keys.number_or_zero("Low (write) water mark")?,
        watermarks_of_segment: !keys.flag("Set watermark by reqsize")?,
        holds_for_read: never || keys.flag("Hold bus entire read xfer")?,
        holds_for_write: never || keys.flag("Hold bus entire write xfer")?,
        ..Interface::new(read.0, write.0)
    })
}

fn queue(keys: &Keys<'_>) -> Result<Queue, DisksimError> {
    let depth = keys.count("Max queue length")?.max(1);
    let policy = keys.find("Scheduler").and_then(|scheduler| match &scheduler.value {
        Value::Block(block) => block.get("Scheduling policy"),
        _ => None,
    });
    // Policy 1 is first come, first served; the others look at the whole queue.
    let in_order = policy.map_or(Ok(1), super::keys::whole)? == 1;
    Ok(Queue {
        depth,
        window: if in_order { 1 } else { depth },
        miss_margin: Nanos::ZERO,
        ageing_permille: 0,
        preseek: keys.number_or_zero("Preseeking level")? > 0.0,
    })
}

//! Controllers with a queue and a cache of their own, and what the driver sees of the devices.

use super::super::error::DisksimError;
use super::super::keys::{Keys, number, numbers, unsupported, whole};
use super::super::tree::{Block, Document, Parameter, Value};
use super::devices::Device;
use super::queue;
use crate::controller::{CacheDeviceParams, MemoryParams, WriteScheme};
use crate::driver::QueueParams;

/// What the driver has a queue for.
#[derive(Debug, Clone)]
pub(super) struct Port {
    /// The device that it addresses, by number.
    pub device: usize,
    /// The most it is given at once where the driver leaves queueing to it.
    pub depth: u32,
    /// The controller's cache before it.
    pub cache: Option<Cache>,
}

#[derive(Debug, Clone)]
pub(super) enum Cache {
    Memory(MemoryParams),
    /// Copies on another device, by its number.
    Device(CacheDeviceParams, usize),
}

/// What the driver addresses, in the order of the devices.
pub(super) fn ports(
    document: &Document,
    devices: &[Device],
    left: &mut Vec<String>,
) -> Result<Vec<Port>, DisksimError> {
    let mut ports = Vec::new();
    let mut hidden = Vec::new();
    for (number, device) in devices.iter().enumerate() {
        let Some(name) = &device.controller else {
            ports.push(Port { device: number, depth: device.depth, cache: None });
            continue;
        };
        let missing = || DisksimError::NoSuch { what: name.clone() };
        let block = document.block_of(name).ok_or_else(missing)?;
        let depth = Keys::new(block).count("Maximum queue length")?.saturating_add(1);
        let behind = devices.iter().filter(|other| other.controller.as_ref() == Some(name)).count();
        let cache = cache(block, depth, devices, left)?;
        match &cache {
            Cache::Memory(_) if behind == 1 => {}
            // The copies are the controller's own.
            Cache::Device(_, copy) if behind == 2 && *copy == number => continue,
            Cache::Device(_, copy) if behind == 2 => hidden.push(*copy),
            _ => {
                return Err(DisksimError::Expected {
                    place: block.place.clone(),
                    expected: "a cache of one device alone",
                    found: format!("{behind} devices below {name}"),
                });
            }
        }
        ports.push(Port { device: number, depth, cache: Some(cache) });
    }
    ports.retain(|port| !hidden.contains(&port.device));
    Ok(ports)
}

/// What both kinds of cache take from their controller.
#[derive(Clone, Copy)]
struct Common {
    sector_ns: u64,
    depth: u32,
    queue: QueueParams,
    pending: u32,
}

fn cache(
    block: &Block,
    depth: u32,
    devices: &[Device],
    left: &mut Vec<String>,
) -> Result<Cache, DisksimError> {
    let keys = Keys::new(block);
    let common = Common {
        sector_ns: keys.span("Bulk sector transfer time", 1.0)?.0,
        depth,
        queue: queue::read(keys.block("Scheduler")?)?,
        pending: keys.count("Max per-disk pending count")?.max(1),
    };
    let cache = keys.block("Cache")?;
    let keys = Keys::new(cache);
    if let Some(largest) = keys.find("Max request size") {
        let key = format!("{} = {}", largest.key, largest.value);
        if !left.contains(&key) {
            left.push(key);
        }
    }
    match cache.kind.as_str() {
        "disksim_cachemem" => memory(&keys, common),
        "disksim_cachedev" => device(&keys, common, devices),
        _ => Err(super::refused(cache)),
    }
}

fn memory(keys: &Keys<'_>, common: Common) -> Result<Cache, DisksimError> {
    let Common { sector_ns, depth, queue, pending } = common;
    let line_sectors = keys.count("Line size")?.max(1);
    only(keys, "SLRU segments", &[1.0])?;
    only(keys, "Bit granularity", &[1.0])?;
    only(keys, "Lock granularity", &[f64::from(line_sectors)])?;
    only(keys, "Shared read locks", &[1.0])?;
    only(keys, "Replacement policy", &[SLRU])?;
    only(keys, "Flush idle delay", &[-1.0])?;
    keys.zero(&[
        "Allocation policy",
        "Flush policy",
        "Flush period",
        "Read prefetch type",
        "Write prefetch type",
        "Line-by-line fetches",
    ])?;
    Ok(Cache::Memory(MemoryParams {
        lines: keys.count("Cache size")? / line_sectors,
        line_sectors,
        scheme: scheme(keys.need("Write scheme")?)?,
        cluster_lines: keys.count("Flush max line cluster")?,
        fetch_lines: keys.count("Max gather")?,
        sector_ns,
        depth,
        queue,
        pending,
    }))
}

fn device(keys: &Keys<'_>, common: Common, devices: &[Device]) -> Result<Cache, DisksimError> {
    let Common { sector_ns, depth, queue, pending } = common;
    keys.zero(&["Flush policy", "Flush period"])?;
    let copy = keys.need("Cache device")?;
    let name = copy.value.to_string();
    let number = devices.iter().position(|device| device.name == name);
    let when = keys.need("Write scheme")?;
    let params = CacheDeviceParams {
        sectors: whole(keys.need("Cache size")?)?,
        through: match scheme(when)? {
            WriteScheme::Back => false,
            WriteScheme::Through => true,
            WriteScheme::Synchronous => return Err(unsupported(when)),
        },
        idle_ns: keys.span("Flush idle delay", 1.0)?.0,
        sector_ns,
        depth,
        queue,
        pending,
    };
    Ok(Cache::Device(params, number.ok_or_else(|| unsupported(copy))?))
}

/// Least recently used in segments.
const SLRU: f64 = 2.0;

/// Refuses a value that is there and not the only one that is modelled.
fn only(keys: &Keys<'_>, key: &'static str, modelled: &[f64]) -> Result<(), DisksimError> {
    let parameter = keys.need(key)?;
    let found = match parameter.value {
        Value::List(_) => numbers(parameter)?,
        _ => vec![number(parameter)?],
    };
    if found == modelled { Ok(()) } else { Err(unsupported(parameter)) }
}

fn scheme(parameter: &Parameter) -> Result<WriteScheme, DisksimError> {
    match whole(parameter)? {
        1 => Ok(WriteScheme::Synchronous),
        2 => Ok(WriteScheme::Through),
        3 => Ok(WriteScheme::Back),
        _ => Err(unsupported(parameter)),
    }
}

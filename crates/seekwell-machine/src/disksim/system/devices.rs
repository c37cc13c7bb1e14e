//! The devices of a file: what each is, and on which buses.

use super::super::drive::{SMART, above, drive, is_smart};
use super::super::error::DisksimError;
use super::super::keys::{Keys, number, unsupported, whole, wrong};
use super::super::tree::{Block, Document, Node, Value};
use crate::bus::BusUse;
use crate::hdd::{self, After, Hdd, Interface};
use crate::model::AnyPart;
use crate::part::Part;
use crate::simple::{SimpleDisk, SimpleParams};
use seekwell_io::units::Nanos;

#[derive(Debug, Clone)]
pub(super) struct Device {
    /// The component's name.
    pub name: String,
    /// What it is.
    pub kind: DeviceKind,
    /// Buses that it shares with others, by number.
    pub lines: Vec<usize>,
    /// How it uses them.
    pub bus: BusUse,
    /// The most it is given at once where the driver leaves queueing to it.
    pub depth: u32,
    /// The controller with a queue of its own that it hangs on.
    pub controller: Option<String>,
    /// Devices with equal numbers turn together.
    pub spindle: u64,
}

#[derive(Debug, Clone)]
pub(super) enum DeviceKind {
    Disk(Box<hdd::Params>),
    /// A drive of constant access time.
    Simple(SimpleParams),
}

/// How a file's text is read.
pub(super) type Open<'o> = &'o mut dyn FnMut(&str) -> std::io::Result<String>;

/// The kinds of components that a system is made of, beside its devices.
const COMPONENTS: [&str; 4] = ["disksim_bus", "disksim_ctlr", "disksim_iodriver", "disksim_stats"];

const MOST_DEVICES: usize = 255;

impl Device {
    /// The device at rest. On a shared bus the bus counts the data of reads.
    pub fn build(&self, seed: u64) -> Result<AnyPart, DisksimError> {
        let shares = !self.lines.is_empty();
        match &self.kind {
            DeviceKind::Disk(params) => {
                let seed = seed.wrapping_mul(1021).wrapping_add(self.spindle);
                let mut params = (**params).clone();
                if let Some(interface) = params.interface.as_mut().filter(|_| shares) {
                    interface.read_sector_ns = 0;
                }
                let made = Hdd::new(params, seed);
                let drive = || self.name.clone();
                let made = made.map_err(|source| DisksimError::Drive { drive: drive(), source })?;
                Ok(Box::new(made))
            }
            DeviceKind::Simple(params) => {
                let read_sector_ns = if shares { 0 } else { params.read_sector_ns };
                let made = SimpleDisk::new(SimpleParams { read_sector_ns, ..*params });
                let part = || self.name.clone();
                let made = made.map_err(|source| DisksimError::Range { part: part(), source })?;
                Ok(Box::new(made))
            }
        }
    }
}

/// All devices in the order in which the file makes them, which numbers them.
pub(super) fn read(
    document: &Document,
    open: Open<'_>,
    left: &mut Vec<String>,
) -> Result<Vec<Device>, DisksimError> {
    check_components(document)?;
    let names = document.instances.iter().filter(|made| {
        let block = document.block(&made.of);
        block.is_some_and(|block| ["disksim_disk", "disksim_simpledisk"].contains(&&*block.kind))
    });
    let names: Vec<&str> = names.flat_map(|made| made.names.iter().map(String::as_str)).collect();
    if names.len() > MOST_DEVICES {
        let what = format!("room for {} devices: {MOST_DEVICES} are the most", names.len());
        return Err(DisksimError::NoSuch { what });
    }
    let mut devices = Vec::new();
    for (number, name) in names.iter().enumerate() {
        devices.push(device(document, name, number as u64, open, left)?);
    }
    for (index, mates) in spindles(document)?.into_iter().enumerate() {
        for device in devices.iter_mut().filter(|device| mates.contains(&device.name)) {
            device.spindle = names.len() as u64 + index as u64;
        }
    }
    share_buses(document, &mut devices);
    Ok(devices)
}

/// Sees that everything the file makes is known, and that what it asks of it is modelled.
fn check_components(document: &Document) -> Result<(), DisksimError> {
    for made in &document.instances {
        let Some(block) = document.block(&made.of) else { continue };
        let keys = Keys::new(block);
        match block.kind.as_str() {
            "disksim_bus" => {
                kind(block, &[1.0, 2.0])?;
                keys.zero(&["Arbitration time"])?;
            }
            "disksim_ctlr" => {
                kind(block, &[1.0, SMART])?;
                keys.zero(&["Scale for delays"])?;
            }
            "disksim_iodriver" => {
                kind(block, &[1.0])?;
                keys.zero(&["Constant access time"])?;
            }
            other => {
                let known = ["disksim_disk", "disksim_simpledisk"];
                if !known.contains(&other) && !COMPONENTS.contains(&other) {
                    return Err(DisksimError::Expected {
                        place: block.place.clone(),
                        expected: "a component that is modelled",
                        found: other.to_owned(),
                    });
                }
            }
        }
    }
    Ok(())
}

/// Refuses types of a component that are not modelled.
fn kind(block: &Block, known: &[f64]) -> Result<(), DisksimError> {
    let keys = Keys::new(block);
    let parameter = keys.need("type")?;
    if known.contains(&number(parameter)?) { Ok(()) } else { Err(unsupported(parameter)) }
}

fn device(
    document: &Document,
    name: &str,
    spindle: u64,
    open: Open<'_>,
    left: &mut Vec<String>,
) -> Result<Device, DisksimError> {
    let missing = || DisksimError::NoSuch { what: name.to_owned() };
    let block = document.block_of(name).ok_or_else(missing)?;
    if document.topology.as_ref().and_then(|root| root.path(name)).is_none() {
        return Err(DisksimError::NoSuch { what: format!("{name} in the topology") });
    }
    let keys = Keys::new(block);
    let depth = keys.count("Max queue length")?.max(1);
    let (kind, bus) = if block.kind == "disksim_disk" {
        let mut made = drive(document, Some(name), open)?;
        made.not_modelled.retain(|key| !left.contains(key));
        left.append(&mut made.not_modelled);
        let bus = disk_bus(&made.params);
        (DeviceKind::Disk(Box::new(made.params)), bus)
    } else {
        let params = simple(document, name, &keys)?;
        (DeviceKind::Simple(params), simple_bus(&params))
    };
    let controller = smart_controller(document, name);
    let name = name.to_owned();
    Ok(Device { name, kind, lines: Vec::new(), bus, depth, controller, spindle })
}

/// How a disk uses its bus: it keeps it during the overhead of a command.
fn disk_bus(params: &hdd::Params) -> BusUse {
    let interface = params.interface.unwrap_or(Interface::new(0, 0));
    let overhead = &params.overhead;
    BusUse {
        read_command: overhead.read_miss,
        write_command: if params.write.write_back {
            overhead.write_hit
        } else {
            overhead.write_miss
        },
        read_sector_ns: interface.read_sector_ns,
        write_sector_ns: interface.write_sector_ns,
        read_watermark: interface.read_watermark,
        read_done: overhead.read_done,
    }
}

/// How a simple disk uses its bus: for data alone.
fn simple_bus(params: &SimpleParams) -> BusUse {
    BusUse {
        read_command: After::default(),
        write_command: After::default(),
        read_sector_ns: params.read_sector_ns,
        write_sector_ns: params.write_sector_ns,
        read_watermark: 1.0,
        read_done: Nanos::ZERO,
    }
}

fn simple(document: &Document, name: &str, keys: &Keys<'_>) -> Result<SimpleParams, DisksimError> {
    keys.zero(&["Bus transaction latency", "Never disconnect"])?;
    let own = keys.span("Bulk sector transfer time", 1.0)?;
    let (mut read, mut write) = (own, own);
    for block in above(document, name) {
        let keys = Keys::new(block);
        let both = keys.span("Bulk sector transfer time", 1.0)?;
        read = read.max(both).max(keys.span("Read block transfer time", 1.0)?);
        write = write.max(both).max(keys.span("Write block transfer time", 1.0)?);
    }
    Ok(SimpleParams {
        sectors: whole(keys.need("Block count")?)?,
        overhead_ns: keys.span("Command overhead", 1.0)?.0,
        access_ns: keys.span("Access time", 1.0)?.0,
        read_sector_ns: read.0,
        write_sector_ns: write.0,
        depth: keys.count("Max queue length")?.max(1),
    })
}

/// The nearest controller above a device that has a queue of its own.
fn smart_controller(document: &Document, name: &str) -> Option<String> {
    let path = document.topology.as_ref().and_then(|root| root.path(name))?;
    let smart = |node: &&&Node| document.block_of(&node.name).is_some_and(is_smart);
    path.iter().rev().find(smart).map(|node| node.name.clone())
}

/// Which devices turn together.
fn spindles(document: &Document) -> Result<Vec<Vec<String>>, DisksimError> {
    let sets = document.blocks.iter().filter(|block| block.kind == "disksim_syncset");
    let members = |block: &Block| {
        let keys = Keys::new(block);
        let names = keys.list("devices")?.iter().map(Value::to_string).collect();
        Ok(names)
    };
    sets.map(members).collect()
}

/// Notes the buses of one user at a time that several devices are on.
fn share_buses(document: &Document, devices: &mut [Device]) {
    let exclusive = |block: &Block| {
        block.kind == "disksim_bus"
            && block.get("type").is_some_and(|kind| kind.value == Value::Number(1.0))
    };
    let mut buses: Vec<(String, Vec<usize>)> = Vec::new();
    for (index, device) in devices.iter().enumerate() {
        let path = document.topology.as_ref().and_then(|root| root.path(&device.name));
        for node in path.unwrap_or_default().iter().rev() {
            if device.controller.as_ref() == Some(&node.name) {
                break;
            }
            if !document.block_of(&node.name).is_some_and(exclusive) {
                continue;
            }
            match buses.iter_mut().find(|(name, _)| *name == node.name) {
                Some((_, users)) => users.push(index),
                None => buses.push((node.name.clone(), vec![index])),
            }
        }
    }
    let shared = buses.into_iter().filter(|(_, users)| users.len() > 1);
    for (line, (_, users)) in shared.enumerate() {
        for index in users {
            devices[index].lines.push(line);
        }
    }
}

pub(super) fn sectors(part: &AnyPart) -> u64 {
    part.capacity() / 512
}

pub(super) fn number_of(
    devices: &[Device],
    value: &Value,
    keys: &Keys<'_>,
) -> Result<usize, DisksimError> {
    let name = value.to_string();
    let found = devices.iter().position(|device| device.name == name);
    match found {
        Some(number) => Ok(number),
        None => Err(wrong(keys.need("devices")?, "devices that the file makes")),
    }
}

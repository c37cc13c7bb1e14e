//! From the bytes of the kernel's buffers to events, in the terms of [`crate::pair`].

use super::error::CaptureError;
use super::format::Field;
use super::plan::{Event as Described, Plan, Tracepoint};
use super::process::Birth;
use super::raw::{RawEvent, SIZE};
use super::transport::{Chunk, Encoding};
use crate::pair::{Event, EventKind, rwbs};
use crate::source::{Device, Tables};
use seekwell_io::units::Nanos;
use std::collections::HashMap;
use std::fs;

#[derive(Debug, Default)]
pub(super) struct Decoded {
    /// Births, in no order.
    pub births: Vec<Birth>,
    /// Events that cannot be read, and gaps that are counted nowhere else.
    pub lost: u64,
}

/// Knows the layouts and gives numbers to names.
pub(super) struct Decoder {
    encoding: Encoding,
    /// The kernel's numbers of the disks, in the order of the plan.
    devices: Vec<u64>,
    /// Whether others join them as their requests come.
    others: bool,
    names: Names,
}

impl Decoder {
    pub fn new(encoding: Encoding, plan: &Plan) -> Self {
        let number = |major: u32, minor: u32| u64::from(major << 20 | minor);
        let devices = plan.disks.iter().map(|disk| number(disk.major, disk.minor)).collect();
        Self { encoding, devices, others: plan.others, names: Names::default() }
    }

    /// Reads a chunk; its events go to `out` in the order of their CPU.
    pub fn decode(
        &mut self,
        chunk: &Chunk,
        tables: &mut Tables,
        out: &mut impl Extend<Event>,
        decoded: &mut Decoded,
    ) -> Result<(), CaptureError> {
        let Self { encoding, devices, others, names } = self;
        let mut known = |dev, tables: &mut Tables| {
            if *others {
                meet(dev, devices, tables);
            }
            devices.iter().position(|known| *known == dev).map(|device| device as u32)
        };
        match encoding {
            Encoding::Pages(events, layout, size) => {
                let mut each = |at: u64, bytes: &[u8]| {
                    let Some(event) = events.of(bytes) else { return };
                    if event.kind == Tracepoint::Task {
                        decoded.births.extend(birth(event, at, bytes));
                        return;
                    }
                    let Some(dev) = event.slots.device.and_then(|field| field.number(bytes)) else {
                        decoded.lost += 1;
                        return;
                    };
                    // Of a disk that is not recorded.
                    let Some(device) = known(dev, tables) else { return };
                    match block(event, names, tables, (Nanos(at), chunk.cpu, device), bytes) {
                        Some(event) => out.extend([event]),
                        None => decoded.lost += 1,
                    }
                };
                for page in chunk.bytes.chunks_exact(*size) {
                    let missed = layout.walk(page, &mut each);
                    missed.map_err(|wrong| CaptureError::Buffer { cpu: chunk.cpu, wrong })?;
                }
            }
            Encoding::Raw => {
                for raw in chunk.bytes.chunks_exact(SIZE).filter_map(RawEvent::of) {
                    match raw.kind().and_then(Tracepoint::means) {
                        None => decoded.births.push(raw.birth()),
                        Some(kind) => {
                            let dev = u64::from(raw.dev);
                            let Some(device) = known(dev, tables) else { continue };
                            let process = match kind {
                                EventKind::Queue => names.number(raw.name(), tables),
                                _ => 0,
                            };
                            out.extend([raw.event(kind, (chunk.cpu, device, process))]);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Notes a disk that has not been seen before.
fn meet(dev: u64, devices: &mut Vec<u64>, tables: &mut Tables) {
    if devices.contains(&dev) {
        return;
    }
    let numbers = format!("{}:{}", dev >> 20, dev & 0xf_ffff);
    let link = fs::read_link(format!("/sys/dev/block/{numbers}")).ok();
    let name = link.as_ref().and_then(|link| link.file_name()?.to_str());
    let name = name.unwrap_or(&numbers).to_owned();
    devices.push(dev);
    tables.devices.push(Device { name, ..Device::default() });
}

/// An event of a disk; `None` if it cannot be read.
fn block(
    event: &Described,
    names: &mut Names,
    tables: &mut Tables,
    (at, cpu, device): (Nanos, u16, u32),
    bytes: &[u8],
) -> Option<Event> {
    let slots = &event.slots;
    let number = |slot: Option<Field>| slot.and_then(|field| field.number(bytes));
    let sector = number(slots.sector)?;
    let letters = slots.letters.and_then(|field| field.text(bytes))?;
    let sectors = match event.kind {
        Tracepoint::Split => number(slots.new_sector)?.saturating_sub(sector),
        _ => number(slots.sectors)?,
    };
    let (op, flags) = rwbs::parse(letters, sectors == 0)?;
    let kind = event.kind.means()?;
    let process = match slots.comm.and_then(|field| field.text(bytes)) {
        Some(name) if kind == EventKind::Queue => names.number(name, tables),
        _ => 0,
    };
    let error = number(slots.error).map_or(0, |n| (n as u32).cast_signed().unsigned_abs());
    Some(Event {
        at,
        offset: Event::offset_of(sector),
        len: u32::try_from(sectors.saturating_mul(512)).unwrap_or(u32::MAX),
        device,
        pid: number(slots.task).unwrap_or(0) as u32,
        process,
        cpu,
        error: u16::try_from(error).unwrap_or(u16::MAX),
        flags,
        op,
        kind,
    })
}

fn birth(event: &Described, at: u64, bytes: &[u8]) -> Option<Birth> {
    let number = |slot: Option<Field>| slot.and_then(|field| field.number(bytes));
    Some(Birth {
        at,
        parent: number(event.slots.task)? as u32,
        child: number(event.slots.child)? as u32,
        clone_flags: number(event.slots.clone_flags)?,
    })
}

/// Numbers of names. One process often makes many requests in a row.
#[derive(Debug, Default)]
struct Names {
    numbers: HashMap<Vec<u8>, u32>,
    last: (Vec<u8>, u32),
}

impl Names {
    fn number(&mut self, name: &[u8], tables: &mut Tables) -> u32 {
        if self.last.0 == name {
            return self.last.1;
        }
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                let number = tables.processes.len() as u32;
                tables.processes.push(String::from_utf8_lossy(name).into_owned());
                self.numbers.insert(name.to_vec(), number);
                number
            }
        };
        self.last = (name.to_vec(), number);
        number
    }
}

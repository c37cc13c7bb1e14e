//! Zones of a zoned device: reading the report and resetting or finishing a zone.
//!
//! It follows `linux/blkzoned.h`, which covers ZBC, ZAC and NVMe zoned namespaces alike. Positions
//! are in bytes from the start of the device.

use rustix::fs::SeekFrom;
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, Setter, Updater, ioctl, opcode};
use seekwell_sys::classify;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;

/// Where a zone can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneKind {
    /// Anywhere; it has no write pointer.
    Conventional,
    /// Only at the write pointer, as on host-managed devices.
    SequentialRequired,
    /// Anywhere, preferably at the write pointer (host-aware devices).
    SequentialPreferred,
}

/// The state of a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneCondition {
    /// The only condition of a conventional zone.
    NoPointer,
    Empty,
    /// Opened by a write.
    ImplicitlyOpen,
    /// Opened by a command.
    ExplicitlyOpen,
    /// Partly written, but not open.
    Closed,
    Full,
    ReadOnly,
    /// Neither readable nor writable.
    Offline,
}

/// One zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone {
    pub start: u64,
    pub len: u64,
    /// How many bytes can be written, from the start.
    pub capacity: u64,
    /// Where data may end: the write pointer if the zone has one, otherwise the end of what can be
    /// read.
    pub write_pointer: u64,
    pub kind: ZoneKind,
    pub condition: ZoneCondition,
}

impl Zone {
    /// Where the next zone begins.
    pub const fn end(&self) -> u64 {
        self.start + self.len
    }

    /// The end of the part that can be written.
    pub const fn capacity_end(&self) -> u64 {
        self.start + self.capacity
    }

    /// Where it may hold data.
    pub const fn written(&self) -> Range<u64> {
        self.start..self.write_pointer
    }

    /// Whether it only accepts writes at its write pointer.
    pub fn in_order(&self) -> bool {
        self.kind == ZoneKind::SequentialRequired
    }

    /// Whether it counts towards `max_active_zones`.
    pub const fn is_active(&self) -> bool {
        use ZoneCondition::{Closed, ExplicitlyOpen, ImplicitlyOpen};
        matches!(self.condition, ImplicitlyOpen | ExplicitlyOpen | Closed)
    }
}

/// Why the zones could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ZonesError {
    #[error("the kernel does not report them: {0}")]
    Kernel(#[from] io::Error),
    /// A report contradicts itself or `linux/blkzoned.h`.
    #[error("the kernel reports an impossible zone at byte {at}: {what}")]
    Malformed { at: u64, what: &'static str },
}

classify!(ZonesError: Refused);

/// `struct blk_zone_report` without its zones.
const HEADER: usize = 16;
/// `struct blk_zone`.
const ENTRY: usize = 64;
/// Zones of one report.
const AT_ONCE: usize = 512;
const REPORT: usize = HEADER + AT_ONCE * ENTRY;
/// `BLK_ZONE_REP_CAPACITY`: entries have a capacity; without it, the capacity is the length.
const HAS_CAPACITY: u32 = 1;
const SECTOR: u64 = 512;

const BLKREPORTZONE: Opcode = opcode::read_write::<[u8; HEADER]>(0x12, 130);
const BLKRESETZONE: Opcode = opcode::write::<[u64; 2]>(0x12, 131);
const BLKGETNRZONES: Opcode = opcode::read::<u32>(0x12, 133);
const BLKFINISHZONE: Opcode = opcode::write::<[u64; 2]>(0x12, 136);

/// A zone management command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneChange {
    /// Discards the data and moves the write pointer to the start.
    Reset,
    /// Makes the zone full.
    Finish,
}

/// Sends a zone management command for one zone.
pub(crate) fn change(device: impl AsFd, zone: &Zone, change: ZoneChange) -> io::Result<()> {
    assert!(zone.kind != ZoneKind::Conventional, "a conventional zone has no write pointer");
    assert!(zone.len > 0, "an empty range would mean the whole device");
    let range = [zone.start / SECTOR, zone.len / SECTOR];
    let done = match change {
        // SAFETY: the command reads a `struct blk_zone_range`, two u64, through the pointer.
        ZoneChange::Reset => unsafe { ioctl(device, Setter::<BLKRESETZONE, _>::new(range)) },
        // SAFETY: as for the other command.
        ZoneChange::Finish => unsafe { ioctl(device, Setter::<BLKFINISHZONE, _>::new(range)) },
    };
    done.map_err(Into::into)
}

/// The zones of an open device.
pub(crate) fn zones_of(device: impl AsFd) -> Result<Vec<Zone>, ZonesError> {
    // SAFETY: the command writes one u32 through the pointer.
    let count = match unsafe { ioctl(&device, Getter::<BLKGETNRZONES, u32>::new()) } {
        Ok(count) => count as usize,
        // No block device, or a kernel without zones.
        Err(Errno::NOTTY | Errno::INVAL) => 0,
        Err(errno) => return Err(ZonesError::Kernel(errno.into())),
    };
    let mut zones: Vec<Zone> = Vec::new();
    let mut report = Box::new([0; REPORT]);
    while zones.len() < count {
        let at = zones.last().map_or(0, Zone::end);
        report[..8].copy_from_slice(&(at / SECTOR).to_ne_bytes());
        report[8..12].copy_from_slice(&(AT_ONCE as u32).to_ne_bytes());
        // SAFETY: the command reads the header and writes it and at most as many entries as it
        // says, for which the buffer has room.
        unsafe { ioctl(&device, Updater::<BLKREPORTZONE, [u8; REPORT]>::new(&mut report)) }
            .map_err(|errno| ZonesError::Kernel(errno.into()))?;
        let more = reported_zones(&report[..], at)?;
        if more.is_empty() {
            return Err(ZonesError::Malformed { at, what: "zones are missing from here on" });
        }
        zones.extend(more);
    }
    if let Some(at) = zones.last().map(Zone::end) {
        let size = rustix::fs::seek(&device, SeekFrom::End(0)).map_err(io::Error::from)?;
        // For a partition the kernel reports the zones of the disk.
        if at != size {
            return Err(ZonesError::Malformed {
                at,
                what: "the zones do not end where the device ends",
            });
        }
    }
    Ok(zones)
}

/// Parses one answer to `BLKREPORTZONE`, whose first zone begins at byte `start`.
///
/// # Errors
/// [`ZonesError::Malformed`] if the bytes are not a valid report.
pub fn reported_zones(report: &[u8], start: u64) -> Result<Vec<Zone>, ZonesError> {
    let malformed = |at, what| ZonesError::Malformed { at, what };
    let word = |at: usize| {
        let bytes = report.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_ne_bytes(bytes))
    };
    let (Some(count), Some(flags)) = (word(8), word(12)) else {
        return Err(malformed(start, "the report has no header"));
    };
    let entries = report[HEADER..].chunks_exact(ENTRY);
    if count as usize > entries.len() {
        return Err(malformed(start, "the report is shorter than it says"));
    }
    let mut at = start;
    let mut zones = Vec::with_capacity(count as usize);
    for entry in entries.take(count as usize) {
        let zone = zone(entry, flags).map_err(|what| malformed(at, what))?;
        if zone.start != at {
            return Err(malformed(at, "it does not begin where the one before it ends"));
        }
        at = zone.end();
        zones.push(zone);
    }
    Ok(zones)
}

/// One `struct blk_zone`.
fn zone(entry: &[u8], flags: u32) -> Result<Zone, &'static str> {
    let sectors = |at: usize| {
        let bytes = entry[at..at + 8].try_into().unwrap_or_default();
        u64::from_ne_bytes(bytes).checked_mul(SECTOR)
    };
    let beyond = "its position does not fit into 64 bits";
    let (start, len) = sectors(0).zip(sectors(8)).ok_or(beyond)?;
    let end = start.checked_add(len).ok_or(beyond)?;
    let capacity = if flags & HAS_CAPACITY > 0 { sectors(32) } else { Some(len) };
    let capacity = capacity
        .filter(|c| *c > 0 && *c <= len)
        .ok_or("its capacity is 0 or exceeds its length")?;
    let kind = match entry[24] {
        1 => ZoneKind::Conventional,
        2 => ZoneKind::SequentialRequired,
        3 => ZoneKind::SequentialPreferred,
        _ => return Err("its type is unknown"),
    };
    let condition = match entry[25] {
        0 => ZoneCondition::NoPointer,
        1 => ZoneCondition::Empty,
        2 => ZoneCondition::ImplicitlyOpen,
        3 => ZoneCondition::ExplicitlyOpen,
        4 => ZoneCondition::Closed,
        13 => ZoneCondition::ReadOnly,
        14 => ZoneCondition::Full,
        15 => ZoneCondition::Offline,
        _ => return Err("its condition is unknown"),
    };
    let write_pointer = match (kind, condition) {
        (_, ZoneCondition::Offline) => start,
        // How far a read-only zone was written is not reported.
        (ZoneKind::Conventional, _) | (_, ZoneCondition::ReadOnly) => end,
        (_, ZoneCondition::NoPointer) => return Err("a sequential zone has no write pointer"),
        (_, ZoneCondition::Empty) => start,
        // The pointer of a full zone is not valid.
        (_, ZoneCondition::Full) => start + capacity,
        _ => {
            let pointer = sectors(16).filter(|at| (start..=start + capacity).contains(at));
            pointer.ok_or("its write pointer is outside of it")?
        }
    };
    Ok(Zone { start, len, capacity, write_pointer, kind, condition })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An entry of a report, in sectors.
    fn entry(place: [u64; 3], kind: u8, condition: u8, capacity: u64) -> Vec<u8> {
        let mut entry: Vec<u8> = place.iter().flat_map(|sectors| sectors.to_ne_bytes()).collect();
        entry.extend([kind, condition, 0, 0, 0, 0, 0, 0]);
        entry.extend(capacity.to_ne_bytes());
        entry.resize(ENTRY, 0);
        entry
    }

    fn report(flags: u32, entries: &[Vec<u8>]) -> Vec<u8> {
        let mut report = vec![0; 8];
        report.extend((entries.len() as u32).to_ne_bytes());
        report.extend(flags.to_ne_bytes());
        report.extend(entries.concat());
        report
    }

    #[test]
    fn where_a_zone_may_hold_data_follows_from_its_kind_and_condition() {
        let conventional = entry([0, 8, u64::MAX], 1, 0, 8);
        let sequential = |n: u64, pointer: u64, condition: u8| {
            entry([8 * n, 8, 8 * n + pointer], 2, condition, 6)
        };
        let zones = [
            conventional,
            sequential(1, 0, 1),
            sequential(2, 3, 2),
            sequential(3, 6, 4),
            sequential(4, 8, 14),
            sequential(5, 1, 13),
            sequential(6, 1, 15),
        ];
        let zones = reported_zones(&report(HAS_CAPACITY, &zones), 0).unwrap();
        let written: Vec<u64> = zones.iter().map(|z| (z.write_pointer - z.start) / 512).collect();
        assert_eq!(written, [8, 0, 3, 6, 6, 8, 0]);
        assert_eq!(zones[1].capacity_end(), (8 + 6) * 512);
        assert!(zones[1..].iter().all(Zone::in_order) && !zones[0].in_order());
        let active: Vec<bool> = zones.iter().map(Zone::is_active).collect();
        assert_eq!(active, [false, false, true, true, false, false, false]);
    }

    #[test]
    fn without_the_flag_a_zone_holds_all_of_its_length() {
        let zones = reported_zones(&report(0, &[entry([16, 8, 20], 3, 3, 0)]), 16 * 512).unwrap();
        assert_eq!((zones[0].capacity, zones[0].write_pointer), (4096, 20 * 512));
    }

    #[test]
    fn a_report_that_cannot_be_is_refused_with_the_place() {
        let wrong = |entries: &[Vec<u8>], start| {
            reported_zones(&report(HAS_CAPACITY, entries), start).unwrap_err().to_string()
        };
        let good = entry([0, 8, 0], 2, 1, 8);
        assert!(wrong(&[good.clone(), good.clone()], 0).contains("byte 4096"));
        assert!(wrong(&[good], 4096).contains("does not begin"));
        assert!(wrong(&[entry([0, 8, 9], 2, 2, 8)], 0).contains("write pointer"));
        assert!(wrong(&[entry([0, 8, 7], 2, 2, 6)], 0).contains("write pointer"));
        assert!(wrong(&[entry([0, 8, 0], 2, 0, 8)], 0).contains("no write pointer"));
        assert!(wrong(&[entry([0, 8, 0], 2, 1, 9)], 0).contains("capacity"));
        assert!(wrong(&[entry([0, 8, 0], 4, 1, 8)], 0).contains("type"));
        assert!(wrong(&[entry([0, 8, 0], 2, 5, 8)], 0).contains("condition"));
        assert!(wrong(&[entry([u64::MAX, 8, 0], 2, 1, 8)], 0).contains("64 bits"));
        let mut short = report(0, &[entry([0, 8, 0], 2, 1, 8)]);
        short.truncate(HEADER + ENTRY - 1);
        assert!(reported_zones(&short, 0).unwrap_err().to_string().contains("shorter"));
        assert!(reported_zones(&short[..15], 0).unwrap_err().to_string().contains("header"));
    }

    #[test]
    fn what_is_no_zoned_device_has_no_zones() {
        let file = tempfile::tempfile().unwrap();
        assert!(zones_of(&file).unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn zones_of_any_bytes_lie_one_after_the_other(
            bytes in proptest::collection::vec(any::<u8>(), 0..300), start: u64,
        ) {
            let mut at = start;
            for zone in reported_zones(&bytes, start).unwrap_or_default() {
                prop_assert_eq!(zone.start, at);
                prop_assert!((zone.start..=zone.end()).contains(&zone.write_pointer));
                at = zone.end();
            }
        }
    }
}

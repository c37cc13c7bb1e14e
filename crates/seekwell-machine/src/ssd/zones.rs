//! The zones of a drive that only accepts writes at write pointers (NVMe zoned namespaces).
//!
//! The host writes a zone from its start on and resets it before it writes it again. The drive
//! therefore needs no garbage collection: its write amplification is 1. What a reset or a finish
//! takes is waited for by the host that asked for it and disturbs nothing else. That is what
//! K. Doekemeijer et al. measured ("Performance Characterization of NVMe Flash Devices with Zoned
//! Namespaces", CLUSTER '23) except that writes beside them lengthened resets, which is left out.

use crate::limits::{OutOfRange, within};
use seekwell_io::units::Nanos;
use serde::{Deserialize, Serialize};

/// How a drive is divided into zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneParams {
    /// Bytes from the start of one zone to that of the next.
    pub zone_bytes: u64,
    /// Bytes of a zone that can be written.
    pub capacity_bytes: u64,
    /// Zones that may be open at once; any number if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_open: Option<u32>,
    /// Time to reset an empty zone, in nanoseconds.
    pub reset_empty_ns: u64,
    /// The same of a full zone; between the two it grows with what is written.
    pub reset_full_ns: u64,
    /// Time to finish an empty zone, in nanoseconds; less by the share that is written.
    pub finish_ns: u64,
}

impl ZoneParams {
    /// Whether a drive of `drive_bytes` can be divided like this.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that does not fit.
    pub fn check(&self, drive_bytes: u64) -> Result<(), OutOfRange> {
        const MINUTE: u64 = 60_000_000_000;
        within("zones.zone_bytes", self.zone_bytes, 1 << 16..=drive_bytes)?;
        within("capacity_bytes modulo zones.zone_bytes", drive_bytes % self.zone_bytes, 0..=0)?;
        within("number of zones", drive_bytes / self.zone_bytes, 1..=1 << 20)?;
        within("zones.capacity_bytes", self.capacity_bytes, 1 << 16..=self.zone_bytes)?;
        within("zones.capacity_bytes modulo 4096", self.capacity_bytes % 4096, 0..=0)?;
        within("zones.most_open", self.most_open.unwrap_or(1), 1..=1 << 20)?;
        within("zones.reset_empty_ns", self.reset_empty_ns, 0..=self.reset_full_ns)?;
        within("zones.reset_full_ns", self.reset_full_ns, 0..=MINUTE)?;
        within("zones.finish_ns", self.finish_ns, 0..=MINUTE)
    }

    /// How long it takes to reset a zone that holds `written` bytes.
    pub fn reset(&self, written: u64) -> Nanos {
        let more = self.reset_full_ns - self.reset_empty_ns;
        Nanos(self.reset_empty_ns + share(more, written, self.capacity_bytes))
    }

    /// How long it takes to finish a zone that holds `written` bytes.
    pub fn finish(&self, written: u64) -> Nanos {
        let left = self.capacity_bytes.saturating_sub(written);
        Nanos(share(self.finish_ns, left, self.capacity_bytes))
    }
}

/// The zones of a drive when time begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneLayout {
    /// How the drive is divided.
    pub params: ZoneParams,
    /// Whether all zones are full; otherwise all are empty.
    pub full: bool,
}

impl ZoneLayout {
    /// Where each zone of a drive of `drive_bytes` begins, and its write pointer.
    pub fn zones(self, drive_bytes: u64) -> impl Iterator<Item = (u64, u64)> {
        let ZoneParams { zone_bytes, capacity_bytes, .. } = self.params;
        let written = if self.full { capacity_bytes } else { 0 };
        let starts = (0..drive_bytes / zone_bytes).map(move |zone| zone * zone_bytes);
        starts.map(move |start| (start, start + written))
    }
}

/// The write pointers of a drive, by which it refuses writes elsewhere.
///
/// Resets do not reach it: a write to the start of a zone implies that the host has reset it.
#[derive(Debug, Clone)]
pub struct WritePointers {
    zones: ZoneParams,
    /// By zone, in bytes from the start of the drive.
    at: Vec<u64>,
}

impl WritePointers {
    /// Those of a drive of `drive_bytes`.
    pub fn new(layout: ZoneLayout, drive_bytes: u64) -> Self {
        let at = layout.zones(drive_bytes).map(|(_, pointer)| pointer).collect();
        Self { zones: layout.params, at }
    }

    /// Whether the drive accepts a write; then it moves the pointer.
    pub fn write(&mut self, offset: u64, len: u32) -> bool {
        let (start, end) = (offset - offset % self.zones.zone_bytes, offset + u64::from(len));
        let Some(pointer) = self.at.get_mut((offset / self.zones.zone_bytes) as usize) else {
            return false;
        };
        let accepted =
            (offset == *pointer || offset == start) && end <= start + self.zones.capacity_bytes;
        if accepted {
            *pointer = end;
        }
        accepted
    }
}

fn share(of: u64, part: u64, whole: u64) -> u64 {
    (u128::from(of) * u128::from(part.min(whole)) / u128::from(whole)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const ZONES: ZoneParams = ZoneParams {
        zone_bytes: 4 * MIB,
        capacity_bytes: 3 * MIB,
        most_open: Some(2),
        reset_empty_ns: 100,
        reset_full_ns: 700,
        finish_ns: 900,
    };

    #[test]
    fn writes_are_accepted_at_write_pointers_and_after_a_reset() {
        let mut empty = WritePointers::new(ZoneLayout { params: ZONES, full: false }, 8 * MIB);
        let mib = MIB as u32;
        assert!(empty.write(4 * MIB, mib) && empty.write(5 * MIB, mib));
        assert!(!empty.write(5 * MIB, mib), "behind the pointer");
        assert!(!empty.write(7 * MIB, mib), "before it");
        assert!(empty.write(6 * MIB, mib) && !empty.write(7 * MIB, mib), "the zone is full");
        assert!(empty.write(4 * MIB, 3 * mib), "it was reset");
        assert!(!empty.write(0, 4 * mib), "more than its capacity");
        assert!(!empty.write(8 * MIB, mib), "no zone");
        let mut full = WritePointers::new(ZoneLayout { params: ZONES, full: true }, 8 * MIB);
        assert!(!full.write(3 * MIB, mib) && full.write(0, mib));
    }

    #[test]
    fn a_reset_takes_longer_and_a_finish_shorter_the_more_is_written() {
        let times = |written| (ZONES.reset(written).0, ZONES.finish(written).0);
        assert_eq!(times(0), (100, 900));
        assert_eq!(times(MIB), (300, 600));
        assert_eq!(times(3 * MIB), (700, 0));
    }

    #[test]
    fn a_drive_is_divided_into_whole_zones() {
        assert_eq!(ZONES.check(8 * MIB), Ok(()));
        let wrong = |zones: ZoneParams, drive| zones.check(drive).expect_err("does not fit").field;
        assert_eq!(wrong(ZONES, 9 * MIB), "capacity_bytes modulo zones.zone_bytes");
        assert_eq!(wrong(ZONES, MIB), "zones.zone_bytes");
        let larger = ZoneParams { capacity_bytes: 5 * MIB, ..ZONES };
        assert_eq!(wrong(larger, 8 * MIB), "zones.capacity_bytes");
        let faster_full = ZoneParams { reset_full_ns: 50, ..ZONES };
        assert_eq!(wrong(faster_full, 8 * MIB), "zones.reset_empty_ns");
    }
}

//! The part of the mapping that a drive without memory for all of it has at hand.
//!
//! The mapping lies in the flash, in segments of one mapping unit with four bytes for each unit
//! that they map. What of it is at hand is a table by the segment's number: any range that fits is
//! there as a whole, and two segments as far apart as the table is long displace each other. A
//! segment that was changed is written before another takes its place. (A. Gupta, Y. Kim and B.
//! Urgaonkar, "DFTL", ASPLOS '09, with least recently used order in place of the table.)

use super::params::UNIT_BYTES;

/// Bytes of the mapping for each unit.
const ENTRY_BYTES: u32 = 4;

/// Units that a segment maps.
const SEGMENT_UNITS: u64 = (UNIT_BYTES / ENTRY_BYTES) as u64;

/// The segments at hand.
#[derive(Debug)]
pub struct MapCache {
    slots: Vec<Slot>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    segment: u64,
    changed: bool,
}

/// A segment that has to be read before it can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Miss {
    /// The one whose place it takes was changed, and is to be written.
    pub writes_back: bool,
}

impl MapCache {
    /// So many bytes of the mapping, which begin with that of the first unit.
    pub fn new(bytes: u64) -> Self {
        let count = bytes / u64::from(UNIT_BYTES);
        Self { slots: (0..count).map(|segment| Slot { segment, changed: false }).collect() }
    }

    /// The segments that map units `first..end`.
    pub const fn segments(first: u64, end: u64) -> std::ops::Range<u64> {
        first / SEGMENT_UNITS..end.div_ceil(SEGMENT_UNITS)
    }

    /// Asks for a segment, to change it or only to read it; `None` if it is at hand.
    pub fn ask(&mut self, segment: u64, changes: bool) -> Option<Miss> {
        let index = (segment % self.slots.len() as u64) as usize;
        let slot = &mut self.slots[index];
        if slot.segment == segment {
            slot.changed |= changes;
            return None;
        }
        let writes_back = slot.changed;
        *slot = Slot { segment, changed: changes };
        Some(Miss { writes_back })
    }
}

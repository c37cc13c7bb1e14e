//! Whether there is something on a device: partition tables, file systems, RAID members, volume
//! managers, encryption, swap.
//!
//! The start and the end of the device are read once and compared with the table in `table.rs`.
//! The table holds what the command that a refusal names removes again, no more: whatever else lies
//! there is unknown data (`labels.rs`). A sector that bears our own mark holds no signature, though
//! random data in it may look like one of two bytes.

mod checks;
mod table;

use seekwell_sys::mark;
use std::fmt;
use table::{CLEAR_LVM, CLEAR_MD, CLEAR_ZFS, Offsets, ROWS, Row};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The standard name, as `blkid` and `wipefs` print it where they know it.
    pub name: &'static str,
    /// Where its magic number is, in bytes from the start of the device or partition.
    pub offset_bytes: u64,
}

impl Signature {
    /// The command that removes the mark, once it is certain that it should go.
    pub fn clear_command(&self, device: &str) -> String {
        match self.name {
            CLEAR_LVM => format!("pvremove {device}"),
            CLEAR_MD => format!("mdadm --zero-superblock {device}"),
            CLEAR_ZFS => format!("zpool labelclear -f {device}"),
            _ => format!("wipefs --all {device}"),
        }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.name, self.offset_bytes)
    }
}

/// The two ends of a device.
pub(crate) struct Window<'a> {
    pub size_bytes: u64,
    /// Its logical block size, in which a GPT is written.
    pub block_bytes: u64,
    pub head: &'a [u8],
    pub tail: &'a [u8],
}

impl Window<'_> {
    /// `len` bytes at `offset`, if they are on the device and were read.
    pub(crate) fn get(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let end = offset.checked_add(len as u64)?;
        if end > self.size_bytes {
            return None;
        }
        if end <= self.head.len() as u64 {
            return self.head.get(offset as usize..end as usize);
        }
        let start = offset.checked_sub(self.size_bytes.checked_sub(self.tail.len() as u64)?)?;
        let start = usize::try_from(start).ok()?;
        self.tail.get(start..start + len)
    }

    /// Whether the sector with this byte bears our mark.
    fn is_ours(&self, offset: u64) -> bool {
        let start = offset - offset % mark::SECTOR as u64;
        self.get(start, mark::SECTOR).is_some_and(mark::is_on)
    }

    pub(crate) fn u16_le(&self, offset: u64) -> Option<u16> {
        Some(u16::from_le_bytes(self.get(offset, 2)?.try_into().ok()?))
    }

    pub(crate) fn u32_le(&self, offset: u64) -> Option<u32> {
        Some(u32::from_le_bytes(self.get(offset, 4)?.try_into().ok()?))
    }

    pub(crate) fn u32_be(&self, offset: u64) -> Option<u32> {
        self.u32_le(offset).map(u32::swap_bytes)
    }
}

pub(crate) fn recognise(window: &Window<'_>) -> Vec<Signature> {
    let mut found: Vec<Signature> = Vec::new();
    for row in ROWS {
        if found.iter().any(|s| s.name == row.name) {
            continue;
        }
        let at = row.places.iter().find_map(|place| match_at(window, row, *place));
        found.extend(at.map(|offset_bytes| Signature { name: row.name, offset_bytes }));
    }
    found
}

fn match_at(window: &Window<'_>, row: &Row, place: Offsets) -> Option<u64> {
    place.offsets(window).find(|offset| {
        window.get(*offset, row.magic.len()) == Some(row.magic)
            && !window.is_ours(*offset)
            && row.check.is_none_or(|check| check(window, *offset) == Some(true))
    })
}

#[cfg(test)]
mod tests;

//! Whether there is something on a device: partition tables, file systems, RAID members, volume
//! managers, encryption, swap.
//!
//! The start and the end of the device are read once and compared with the table in `table.rs`.
//! Magic numbers of two bytes would be met by chance on one device in 65,536, and a device that
//! was filled with random data must not be refused for that, so those rows check a few more fields.
//! The rest errs on the side of refusing.

mod checks;
mod table;

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use table::{CLEAR_LVM, CLEAR_MD, CLEAR_ZFS, Place, ROWS, Row};

/// Read at the start: the last secondary LUKS2 header lies at 4 MiB.
const HEAD_BYTES: u64 = (4 << 20) + 4096;
/// Read at the end: the outermost place of a Promise RAID mark is 3087 sectors before the end.
const TAIL_BYTES: u64 = 2 << 20;

/// One thing that was found on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The standard name, as `blkid` and `wipefs` print it where they know it.
    pub name: &'static str,
    /// Where its magic number is, in bytes from the start of the device.
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

/// Reads the start and the end of a device of `size_bytes` and says what is on it: the first place
/// of each kind, in the order of the table. Empty when nothing is recognised.
///
/// # Errors
/// The error of the read. A device that cannot be read is not known to be empty.
pub fn signatures_of(device: &File, size_bytes: u64) -> io::Result<Vec<Signature>> {
    let mut head = vec![0; size_bytes.min(HEAD_BYTES) as usize];
    device.read_exact_at(&mut head, 0)?;
    let mut tail = vec![0; size_bytes.min(TAIL_BYTES) as usize];
    let tail_at = size_bytes - tail.len() as u64;
    device.read_exact_at(&mut tail, tail_at)?;
    Ok(recognise(&Window { size_bytes, head: &head, tail: &tail }))
}

/// The two ends of a device.
pub(crate) struct Window<'a> {
    pub size_bytes: u64,
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

fn match_at(window: &Window<'_>, row: &Row, place: Place) -> Option<u64> {
    for offset in place.offsets(window.size_bytes) {
        let hit = window.get(offset, row.magic.len()) == Some(row.magic);
        if hit && row.check.is_none_or(|check| check(window, offset) == Some(true)) {
            return Some(offset);
        }
    }
    None
}

#[cfg(test)]
mod tests;

//! The places of a device where labels lie: its start and its end.
//!
//! What is in the table of signatures is refused always. What is not may still be somebody's: a
//! volume of a database has no signature at all. So every sector there must be blank or bear the
//! mark of seekwell; other data is overwritten only by who names exactly that data.

use crate::signature::{Signature, Window, recognise};
use rustix::io::Errno;
use seekwell_sys::mark;
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::str::FromStr;

/// Read at the start: the last secondary LUKS2 header lies at 4 MiB.
pub(crate) const HEAD_BYTES: u64 = (4 << 20) + 4096;
/// Read at the end: the outermost place of a Promise RAID mark is 3087 sectors before the end.
pub(crate) const TAIL_BYTES: u64 = 2 << 20;

/// Names the unknown data in the label areas of a device, so that consent to its loss is consent to
/// the loss of nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(u32);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a fingerprint has 8 hexadecimal digits; the refusal to overwrite unknown data names it")]
pub struct NotAFingerprint;

impl FromStr for Fingerprint {
    type Err = NotAFingerprint;

    fn from_str(text: &str) -> Result<Self, NotAFingerprint> {
        let digits = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let value = digits.then(|| u32::from_str_radix(text, 16).ok()).flatten();
        value.map(Self).ok_or(NotAFingerprint)
    }
}

/// Data that is neither in the table of signatures nor our own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownData {
    /// The node of the device or partition that holds the first of it.
    pub device: String,
    /// Where the first sector of it is, in bytes from the start of that device.
    pub offset_bytes: u64,
    /// What that sector begins with.
    pub begins: [u8; 16],
    pub unknown_bytes: u64,
    pub looked_at_bytes: u64,
    pub fingerprint: Fingerprint,
}

impl fmt::Display for UnknownData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, offset_bytes, .. } = self;
        let (unknown, all) = (self.unknown_bytes.div_ceil(1024), self.looked_at_bytes / 1024);
        write!(f, "{unknown} of the {all} KiB where labels lie, first at byte {offset_bytes} of ")?;
        write!(f, "{device}:")?;
        self.begins.iter().try_for_each(|byte| write!(f, " {byte:02x}"))
    }
}

/// What was found in the label areas of one device or several.
#[derive(Debug)]
pub(crate) struct Survey {
    hash: u64,
    looked_at_bytes: u64,
    unknown_bytes: u64,
    first: Option<(String, u64, [u8; 16])>,
    /// The areas with unknown data, in bytes from the start of the whole device.
    pub strange: Vec<Range<u64>>,
}

impl Survey {
    pub(crate) fn new() -> Self {
        let hash = 0xcbf2_9ce4_8422_2325;
        Self { hash, looked_at_bytes: 0, unknown_bytes: 0, first: None, strange: Vec::new() }
    }

    /// Judges the areas of a device that begins at `start` of the whole one.
    pub(crate) fn add(&mut self, node: &str, start: u64, labels: &Labels) {
        let tail_at = labels.size_bytes - labels.tail.len() as u64;
        for (at, area) in [(0, &labels.head), (tail_at, &labels.tail)] {
            self.looked_at_bytes += area.len() as u64;
            let before = self.unknown_bytes;
            for (i, sector) in area.chunks(mark::SECTOR).enumerate() {
                if mark::is_on(sector) || sector == &[0; mark::SECTOR][..sector.len()] {
                    continue;
                }
                let offset = at + (i * mark::SECTOR) as u64;
                self.mix(&(start + offset).to_le_bytes());
                self.mix(sector);
                self.unknown_bytes += sector.len() as u64;
                self.first.get_or_insert_with(|| {
                    let begins = *sector.first_chunk().unwrap_or(&[0; 16]);
                    (node.to_owned(), offset, begins)
                });
            }
            if self.unknown_bytes > before {
                self.strange.push(start + at..start + at + area.len() as u64);
            }
        }
    }

    /// FNV-1a (Fowler, Noll, Vo) over words of eight bytes, each folded once more because its high
    /// bits would not reach down.
    fn mix(&mut self, bytes: &[u8]) {
        for bytes in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            self.hash ^= u64::from_le_bytes(word);
            self.hash = self.hash.wrapping_mul(0x0100_0000_01b3);
            self.hash ^= self.hash >> 32;
        }
    }

    /// What nobody knows, if there is any.
    pub(crate) fn unknown(&self) -> Option<UnknownData> {
        let (device, offset_bytes, begins) = self.first.clone()?;
        Some(UnknownData {
            device,
            offset_bytes,
            begins,
            unknown_bytes: self.unknown_bytes,
            looked_at_bytes: self.looked_at_bytes,
            fingerprint: Fingerprint((self.hash >> 32) as u32),
        })
    }
}

/// The two ends of a device as they were read.
pub(crate) struct Labels {
    size_bytes: u64,
    block_bytes: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Labels {
    /// Reads the ends of the `size_bytes` from `start` on.
    pub(crate) fn read(device: &File, start: u64, size_bytes: u64) -> io::Result<Self> {
        let mut head = vec![0; size_bytes.min(HEAD_BYTES) as usize];
        device.read_exact_at(&mut head, start)?;
        let mut tail = vec![0; size_bytes.min(TAIL_BYTES) as usize];
        let tail_at = start.saturating_add(size_bytes) - tail.len() as u64;
        device.read_exact_at(&mut tail, tail_at)?;
        let block_bytes = match rustix::fs::ioctl_blksszget(device) {
            Ok(bytes) => u64::from(bytes),
            // An image in a file.
            Err(Errno::NOTTY | Errno::INVAL) => 512,
            Err(errno) => return Err(errno.into()),
        };
        Ok(Self { size_bytes, block_bytes, head, tail })
    }

    pub(crate) fn signatures(&self) -> Vec<Signature> {
        recognise(&Window {
            size_bytes: self.size_bytes,
            block_bytes: self.block_bytes,
            head: &self.head,
            tail: &self.tail,
        })
    }
}

/// Reads the start and the end of a device of `size_bytes` and says what is on it: the first place
/// of each kind, in the order of the table. Empty when nothing is recognised.
///
/// # Errors
/// The error of the read. A device that cannot be read is not known to be empty.
pub fn signatures_of(device: &File, size_bytes: u64) -> io::Result<Vec<Signature>> {
    Ok(Labels::read(device, 0, size_bytes)?.signatures())
}

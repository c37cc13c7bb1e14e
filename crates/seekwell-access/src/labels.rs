//! The places of a device where labels lie, its start and its end, and what it holds elsewhere.
//!
//! What is in the table of signatures is refused always. What is not may still be somebody's: a
//! volume of a database has no signature at all, nor has a file system whose start was wiped by
//! mistake. So every sector that is looked at must be blank or bear the mark of seekwell; data of
//! others is overwritten only by who names exactly that data.

use crate::places::{places, without};
use crate::signature::{Signature, Window, recognise};
use rustix::fs::Advice;
use rustix::io::Errno;
use seekwell_sys::mark;
use seekwell_sys::units::grouped;
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Read at the start: the last secondary LUKS2 header lies at 4 MiB.
pub(crate) const HEAD_BYTES: u64 = (4 << 20) + 4096;
/// Read at the end: the outermost place of a Promise RAID mark is 3087 sectors before the end.
pub(crate) const TAIL_BYTES: u64 = 2 << 20;

/// Names the unknown data in the label areas of a device and the first beyond them, so that consent
/// to its loss is not consent to the loss of whatever is there next.
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
    pub size_bytes: u64,
    pub fingerprint: Fingerprint,
}

impl fmt::Display for UnknownData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, offset_bytes, .. } = self;
        let sectors = |bytes: u64| grouped(bytes.div_ceil(mark::SECTOR as u64) as f64);
        let (unknown, looked_at) = (sectors(self.unknown_bytes), sectors(self.looked_at_bytes));
        write!(f, "in {unknown} of {looked_at} sectors that were looked at, ")?;
        write!(f, "of {} in all; first at byte {offset_bytes} of ", sectors(self.size_bytes))?;
        write!(f, "{device}:")?;
        self.begins.iter().try_for_each(|byte| write!(f, " {byte:02x}"))
    }
}

/// How long data beyond the label areas is looked for. Once it was accepted, three times as long:
/// all that is found then is zeroed, so that the next runs, which look at the same places in the
/// same order, find nothing even where they get further.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// What was found on a device.
#[derive(Debug)]
pub(crate) struct Survey {
    pub size_bytes: u64,
    hash: u64,
    pub looked_at_bytes: u64,
    unknown_bytes: u64,
    first: Option<(String, u64, [u8; 16])>,
    /// The device itself and its partitions.
    parts: Vec<Range<u64>>,
    /// What was not looked at yet.
    rest: Vec<Range<u64>>,
    /// What holds unknown data, in bytes from the start of the whole device.
    pub strange: Vec<Range<u64>>,
}

impl Survey {
    pub(crate) fn new(size_bytes: u64) -> Self {
        Self {
            size_bytes,
            hash: 0xcbf2_9ce4_8422_2325,
            looked_at_bytes: 0,
            unknown_bytes: 0,
            first: None,
            parts: Vec::new(),
            rest: std::iter::once(0..size_bytes).collect(),
            strange: Vec::new(),
        }
    }

    /// Judges the areas of a device that begins at `start` of the whole one.
    pub(crate) fn add(&mut self, node: &str, start: u64, labels: &Labels) {
        self.parts.push(start..start + labels.size_bytes);
        let tail_at = labels.size_bytes - labels.tail.len() as u64;
        for (at, area) in [(0, &labels.head), (tail_at, &labels.tail)] {
            let whole = start + at..start + at + area.len() as u64;
            self.took(std::slice::from_ref(&whole));
            let before = self.unknown_bytes;
            for (i, sector) in strange_sectors(area) {
                let offset = at + i;
                self.mix(&(start + offset).to_le_bytes());
                self.mix(sector);
                self.found(node, offset, sector);
            }
            if self.unknown_bytes > before {
                self.strange.push(whole);
            }
        }
    }

    /// Looks for data everywhere else, where anything is `stored`, until the time is over.
    ///
    /// # Errors
    /// The error of the read. A device that cannot be read is not known to be empty.
    pub(crate) fn look_beyond(
        &mut self,
        (device, node): (&File, &str),
        stored: &[Range<u64>],
        seed: u64,
        limit: Duration,
    ) -> io::Result<()> {
        let begun = Instant::now();
        self.took(&without(&self.rest, stored));
        let places = places(self.size_bytes, &self.parts, &self.rest, seed);
        rustix::fs::fadvise(device, 0, None, Advice::Random)?;
        let mut named = false;
        let mut buffer = Vec::new();
        for place in places {
            if begun.elapsed() >= limit {
                break;
            }
            buffer.resize((place.end - place.start) as usize, 0);
            device.read_exact_at(&mut buffer, place.start)?;
            self.looked_at_bytes += place.end - place.start;
            for (i, sector) in strange_sectors(&buffer) {
                let offset = place.start + i;
                if !named {
                    named = true;
                    self.mix(&offset.to_le_bytes());
                    self.mix(sector);
                }
                self.found(node, offset, sector);
                self.is_strange(offset);
            }
        }
        rustix::fs::fadvise(device, 0, None, Advice::Normal)?;
        Ok(())
    }

    /// These ranges need no other look.
    fn took(&mut self, ranges: &[Range<u64>]) {
        let left = |rest: &[Range<u64>]| rest.iter().map(|r| r.end - r.start).sum::<u64>();
        let rest = without(&self.rest, ranges);
        self.looked_at_bytes += left(&self.rest) - left(&rest);
        self.rest = rest;
    }

    fn found(&mut self, node: &str, offset: u64, sector: &[u8]) {
        self.unknown_bytes += sector.len() as u64;
        self.first.get_or_insert_with(|| {
            (node.to_owned(), offset, *sector.first_chunk().unwrap_or(&[0; 16]))
        });
    }

    /// Marks the largest block that a device may have, which holds this byte.
    fn is_strange(&mut self, offset: u64) {
        let start = offset - offset % 4096;
        let end = (start + 4096).min(self.size_bytes);
        match self.strange.last_mut() {
            Some(last) if last.start <= start && start <= last.end => last.end = last.end.max(end),
            _ => self.strange.push(start..end),
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

    /// What is unknown, if anything.
    pub(crate) fn unknown(&self) -> Option<UnknownData> {
        let (device, offset_bytes, begins) = self.first.clone()?;
        Some(UnknownData {
            device,
            offset_bytes,
            begins,
            unknown_bytes: self.unknown_bytes,
            looked_at_bytes: self.looked_at_bytes,
            size_bytes: self.size_bytes,
            fingerprint: Fingerprint((self.hash >> 32) as u32),
        })
    }
}

/// The sectors that are neither blank nor ours, each with where it begins.
fn strange_sectors(data: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let sectors = data.chunks(mark::SECTOR).enumerate();
    let strange = sectors.filter(|(_, sector)| {
        *sector != &[0; mark::SECTOR][..sector.len()] && !mark::is_on(sector)
    });
    strange.map(|(i, sector)| ((i * mark::SECTOR) as u64, sector))
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

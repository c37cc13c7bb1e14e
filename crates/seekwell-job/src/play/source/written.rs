//! What a clone has written where: which write each block holds, so that it can be read back.

use super::super::address::Address;
use super::walk::Region;
use crate::job::{Blocks, Job};

/// A write that a block holds whole or in part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Entry {
    /// Number of the write, from 1; 0 for none.
    sequence: u32,
    /// Its length in bytes in the block it begins in; 0 in those that follow.
    len: u32,
}

/// A write that is still there as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Where, in the clone's own numbers.
    pub address: u64,
    /// Bytes.
    pub len: u32,
    /// Number of the write.
    pub sequence: u32,
}

/// One file's share of the table.
#[derive(Debug)]
struct Part {
    region: Region,
    entries: Vec<Entry>,
}

/// The table of one clone.
#[derive(Debug)]
pub struct Written {
    address: Address,
    /// All offsets and lengths are multiples of this many bytes.
    unit: u64,
    files: Vec<Part>,
}

impl Written {
    /// Bytes of memory that a table over `bytes` of data needs.
    pub const fn needs(bytes: u64, unit: u64) -> u64 {
        bytes.div_ceil(unit).saturating_mul(size_of::<Entry>() as u64)
    }

    /// Nothing written yet in any of `regions`.
    pub fn new(address: Address, regions: &[Region], unit: u64) -> Self {
        let part = |region: &Region| Part {
            region: *region,
            entries: vec![Entry::default(); region.bytes.div_ceil(unit) as usize],
        };
        Self { address, unit, files: regions.iter().map(part).collect() }
    }

    fn place(&self, address: u64) -> (usize, usize) {
        let (file, offset) = self.address.split(address);
        let part = &self.files[file as usize];
        (file as usize, ((offset - part.region.start) / self.unit) as usize)
    }

    /// A write was handed out.
    #[inline]
    pub fn add(&mut self, piece: Piece) {
        let (file, first) = self.place(piece.address);
        let blocks = u64::from(piece.len).div_ceil(self.unit) as usize;
        let entries = &mut self.files[file].entries[first..first + blocks];
        entries.fill(Entry { sequence: piece.sequence, len: 0 });
        entries[0].len = piece.len;
    }

    /// Whether a write is still there whole.
    pub fn holds(&self, piece: Piece) -> bool {
        let (file, first) = self.place(piece.address);
        let blocks = u64::from(piece.len).div_ceil(self.unit) as usize;
        let entries = &self.files[file].entries[first..first + blocks];
        entries[0].len == piece.len && entries.iter().all(|e| e.sequence == piece.sequence)
    }

    /// A write was read back: it need not be again.
    pub fn forget(&mut self, piece: Piece) {
        let (file, first) = self.place(piece.address);
        let blocks = u64::from(piece.len).div_ceil(self.unit) as usize;
        self.files[file].entries[first..first + blocks].fill(Entry::default());
    }

    /// The first whole write at or after a place in the table, and the place after it.
    pub fn after(&self, (mut file, mut block): (usize, usize)) -> Option<(Piece, (usize, usize))> {
        while file < self.files.len() {
            let part = &self.files[file];
            while let Some(entry) = part.entries.get(block) {
                let start = part.region.start + block as u64 * self.unit;
                let address = self.address.join(file as u32, start);
                let piece = Piece { address, len: entry.len, sequence: entry.sequence };
                if entry.sequence > 0 && entry.len > 0 && self.holds(piece) {
                    let blocks = u64::from(entry.len).div_ceil(self.unit) as usize;
                    return Some((piece, (file, block + blocks)));
                }
                block += 1;
            }
            (file, block) = (file + 1, 0);
        }
        None
    }
}

/// What offsets and lengths of a job's writes are multiples of.
pub fn unit(job: &Job) -> u64 {
    let sizes: Vec<u64> = match &job.blocks.write {
        Blocks::Fixed(bytes) => vec![u64::from(*bytes)],
        Blocks::Range { min, .. } => vec![u64::from(*min)],
        Blocks::Split(s) => s.iter().map(|s| u64::from(s.bytes)).collect(),
    };
    sizes.into_iter().fold(job.align_bytes.write.max(1), gcd)
}

const fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_read_back_is_what_no_later_write_touched(
            writes in prop::collection::vec((0usize..2, 0u64..40, 1u64..6), 1..60),
        ) {
            let address = Address::new(2);
            let regions = [Region { start: 4096, bytes: 45 * 512 }; 2];
            let mut table = Written::new(address, &regions, 512);
            let mut bytes = vec![0u32; 2 * 45];
            for (i, (file, block, blocks)) in writes.iter().enumerate() {
                let sequence = i as u32 + 1;
                let at = address.join(*file as u32, 4096 + block * 512);
                table.add(Piece { address: at, len: *blocks as u32 * 512, sequence });
                let first = file * 45 + *block as usize;
                bytes[first..first + *blocks as usize].fill(sequence);
            }
            let mut expected: Vec<u32> = (1..=writes.len() as u32)
                .filter(|s| {
                    let there = bytes.iter().filter(|b| *b == s).count() as u64;
                    there == writes[*s as usize - 1].2
                })
                .collect();
            let mut found = Vec::new();
            let mut at = (0, 0);
            while let Some((piece, next)) = table.after(at) {
                found.push(piece.sequence);
                at = next;
            }
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}

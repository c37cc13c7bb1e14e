//! The head of a verified block, in fio's own layout, so that what fio wrote can be checked.
//!
//! ```text
//!   0  u16  0xacca            16  u64  offset in the file     34  u16  number of the write
//!   2  u16  kind of sum       24  u32  time, seconds          36  u32  CRC-32C of bytes 0 to 35
//!   4  u32  length            28  u32  time, nanoseconds      40       the sum over what follows
//!   8  u64  seed of the data  32  u16  number of the clone
//! ```
//!
//! All little-endian; CRC-32C without its final inversion. Read off blocks that fio 3.33 wrote. Its
//! CRC-32C, CRC-16, CRC-7, MD5, xxHash and SHA-3 are the same as here; for the others fio writes
//! what no other program computes, and here they are what their standards say.

use super::sum::{self, LONGEST};
use crate::job::Checksum;

/// What a header begins with.
const MAGIC: u16 = 0xacca;
/// Its length without the sum.
pub const BYTES: usize = 40;

/// What a header says of its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Where the block begins in the file.
    pub offset: u64,
    /// What its data were drawn from.
    pub seed: u64,
    /// Number of the clone that wrote it, from 1.
    pub clone: u16,
    /// Number of the write, as far as sixteen bits go.
    pub sequence: u16,
}

/// What is wrong with a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// `magic`, `type`, `length`, `offset`, `sequence`, `seed`, `header`, `checksum` or `pattern`.
    pub what: &'static str,
    /// Where in the block, if it is known.
    pub at: Option<usize>,
    /// In hexadecimal.
    pub expected: String,
    /// In hexadecimal.
    pub found: String,
}

/// Length of a header with its sum.
pub const fn len(kind: Checksum) -> usize {
    BYTES + sum::len(kind)
}

/// Puts the header at the start of `block`, whose rest is filled.
pub fn write(kind: Checksum, header: &Header, block: &mut [u8]) {
    let mut digest = [0; LONGEST];
    sum::sum(kind, &block[len(kind)..], &mut digest);
    let length = block.len() as u32;
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &MAGIC.to_le_bytes());
    put(2, &sum::number(kind).to_le_bytes());
    put(4, &length.to_le_bytes());
    put(8, &header.seed.to_le_bytes());
    put(16, &header.offset.to_le_bytes());
    // No time: a block is the same whenever it was written.
    put(24, &[0; 8]);
    put(32, &header.clone.to_le_bytes());
    put(34, &header.sequence.to_le_bytes());
    put(BYTES, &digest[..sum::len(kind)]);
    let crc = sum::plain_crc32c(&block[..36]);
    block[36..40].copy_from_slice(&crc.to_le_bytes());
}

/// Checks a block that is to begin at `offset` of its file and, if they are known, to hold the
/// write of this number and data drawn from this seed.
///
/// # Errors
/// The first [`Difference`].
pub fn check(
    kind: Checksum,
    offset: u64,
    (sequence, seed): (Option<u16>, Option<u64>),
    block: &[u8],
) -> Result<(), Difference> {
    let field = |what, at: usize, expected: &[u8]| {
        let found = &block[at..at + expected.len()];
        if found == expected {
            return Ok(());
        }
        let differs = found.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(0);
        Err(Difference { what, at: Some(at + differs), expected: hex(expected), found: hex(found) })
    };
    field("magic", 0, &MAGIC.to_le_bytes())?;
    field("header", 36, &sum::plain_crc32c(&block[..36]).to_le_bytes())?;
    field("type", 2, &sum::number(kind).to_le_bytes())?;
    field("length", 4, &(block.len() as u32).to_le_bytes())?;
    field("offset", 16, &offset.to_le_bytes())?;
    if let Some(sequence) = sequence {
        field("sequence", 34, &sequence.to_le_bytes())?;
    }
    if let Some(seed) = seed {
        field("seed", 8, &seed.to_le_bytes())?;
    }
    let mut digest = [0; LONGEST];
    sum::sum(kind, &block[len(kind)..], &mut digest);
    let expected = &digest[..sum::len(kind)];
    let found = &block[BYTES..len(kind)];
    if found == expected {
        return Ok(());
    }
    // The header holds the sum of what was written; the data give another.
    Err(Difference { what: "checksum", at: None, expected: hex(found), found: hex(expected) })
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KINDS: [Checksum; 15] = [
        Checksum::Meta,
        Checksum::Md5,
        Checksum::Crc64,
        Checksum::Crc32,
        Checksum::Crc32c,
        Checksum::Crc16,
        Checksum::Crc7,
        Checksum::Sha256,
        Checksum::Sha512,
        Checksum::Sha3_224,
        Checksum::Sha3_256,
        Checksum::Sha3_384,
        Checksum::Sha3_512,
        Checksum::Xxhash,
        Checksum::Sha1,
    ];

    fn block(kind: Checksum) -> Vec<u8> {
        let mut block: Vec<u8> = (0..512u32).map(|i| (i * 7) as u8).collect();
        write(kind, &Header { offset: 8192, seed: 5, clone: 1, sequence: 9 }, &mut block);
        block
    }

    proptest! {
        #[test]
        fn any_flipped_bit_is_found_but_in_what_a_header_alone_does_not_cover(
            kind in 0usize..15, bit in 0usize..512 * 8,
        ) {
            let kind = KINDS[kind];
            let mut block = block(kind);
            let written = (Some(9), Some(5));
            prop_assert_eq!(check(kind, 8192, written, &block), Ok(()));
            block[bit / 8] ^= 1 << (bit % 8);
            let covered = kind != Checksum::Meta || bit / 8 < BYTES;
            prop_assert_eq!(check(kind, 8192, written, &block).is_err(), covered);
        }
    }

    #[test]
    fn a_block_of_another_place_or_of_an_earlier_write_is_not_taken_for_this_one() {
        let block = block(Checksum::Crc32c);
        let what = |offset, written| check(Checksum::Crc32c, offset, written, &block);
        assert_eq!(what(4096, (None, None)).unwrap_err().what, "offset");
        assert_eq!(what(8192, (Some(10), None)).unwrap_err().what, "sequence");
        assert_eq!(what(8192, (Some(9), Some(6))).unwrap_err().what, "seed");
        assert_eq!(what(8192, (None, None)), Ok(()));
    }
}

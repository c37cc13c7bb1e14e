//! What has to hold beside a short magic number. Each check gets the offset of the magic number
//! and answers none when a field lies outside what was read.

use super::Window;

/// A check of the fields around a magic number.
pub(super) type Check = fn(&Window<'_>, u64) -> Option<bool>;

/// The journal of an ext3 or ext4 on a device of its own: the feature says so. All other fields
/// may be damaged or, as the number of inodes, zero. The magic is 56 bytes into the superblock.
pub(super) fn journal(window: &Window<'_>, magic: u64) -> Option<bool> {
    Some(window.u32_le(magic + 40)? & 0x8 != 0)
}

/// A record of an XFS log: version, length and format are plausible.
pub(super) fn xfs_log(window: &Window<'_>, magic: u64) -> Option<bool> {
    let (version, len) = (window.u32_be(magic + 8)?, window.u32_be(magic + 12)?);
    let format = window.u32_be(magic + 300)?;
    Some((1..=3).contains(&version) && len.cast_signed() > 0 && (1..=3).contains(&format))
}

/// A DOS partition table or boot loader: each of the four entries is either active or not.
pub(super) fn mbr(window: &Window<'_>, magic: u64) -> Option<bool> {
    let table = window.get(magic.checked_sub(64)?, 64)?;
    let plausible = table.chunks(16).all(|entry| entry[0] & 0x7f == 0);
    // A sector of nothing but the mark is what some tools leave on an empty disk; it is a table.
    Some(plausible)
}

/// An Apple partition map: its first entry is in the block after the driver descriptor.
pub(super) fn mac(window: &Window<'_>, magic: u64) -> Option<bool> {
    let block = u64::from(u16::from_be_bytes(window.get(magic + 2, 2)?.try_into().ok()?));
    Some(matches!(window.get(block, 2)?, b"PM" | b"TS"))
}

/// FAT without any of its usual names: the BIOS parameter block makes sense. The mark is that of
/// the boot sector.
pub(super) fn fat(window: &Window<'_>, magic: u64) -> Option<bool> {
    let boot = window.get(magic.checked_sub(510)?, 512)?;
    let sector = u16::from_le_bytes([boot[11], boot[12]]);
    let reserved = u16::from_le_bytes([boot[14], boot[15]]);
    Some(
        matches!(boot[0], 0xeb | 0xe9)
            && sector.is_power_of_two()
            && (512..=4096).contains(&sector)
            && boot[13].is_power_of_two()
            && reserved > 0
            && matches!(boot[16], 1 | 2)
            && boot[21] >= 0xf0,
    )
}

/// HFS: the allocation block size is a multiple of a sector.
pub(super) fn hfs(window: &Window<'_>, magic: u64) -> Option<bool> {
    let block = window.u32_be(magic + 20)?;
    let blocks = u16::from_be_bytes(window.get(magic + 18, 2)?.try_into().ok()?);
    Some(block > 0 && block % 512 == 0 && blocks > 0)
}

/// NILFS2: revision 2 and the superblock's own length.
pub(super) fn nilfs(window: &Window<'_>, magic: u64) -> Option<bool> {
    let sb = magic.checked_sub(6)?;
    let length = window.u16_le(sb + 8)?;
    Some(window.u32_le(sb)? == 2 && (100..=1024).contains(&length))
}

/// MD version 1: the major version follows the magic, and the superblock says that it lies here.
/// That of a partition at the end of the disk would lie at the right place of the disk, too.
pub(super) fn md_1(window: &Window<'_>, magic: u64) -> Option<bool> {
    let sector = u64::from_le_bytes(window.get(magic + 144, 8)?.try_into().ok()?);
    Some(window.u32_le(magic + 4)? == 1 && sector == magic / 512)
}

/// MD version 0.90 in either byte order: major 0, minor 90 or 91.
pub(super) fn md_0(window: &Window<'_>, magic: u64) -> Option<bool> {
    let little = window.u32_le(magic)? == 0xa92b_4efc;
    let read = |at| if little { window.u32_le(at) } else { window.u32_be(at) };
    Some(read(magic + 4)? == 0 && matches!(read(magic + 8)?, 90 | 91))
}

/// LVM1: version 1 or 2 follows the two letters.
pub(super) fn lvm_1(window: &Window<'_>, magic: u64) -> Option<bool> {
    let size = window.u32_le(magic + 8)?;
    Some(matches!(window.u16_le(magic + 2)?, 1 | 2) && window.u32_le(magic + 4)? == 0 && size > 0)
}

/// APFS: the block size that follows is a power of two from 4 KiB on.
pub(super) fn apfs(window: &Window<'_>, magic: u64) -> Option<bool> {
    let block = window.u32_le(magic + 4)?;
    Some(block.is_power_of_two() && (4096..=65536).contains(&block))
}

/// A Sun disk label: the exclusive or of all its 16-bit words is zero.
pub(super) fn sun(window: &Window<'_>, magic: u64) -> Option<bool> {
    let label = window.get(magic.checked_sub(508)?, 512)?;
    let sum = label.chunks(2).fold(0u16, |sum, w| sum ^ u16::from_be_bytes([w[0], w[1]]));
    Some(sum == 0)
}

/// Minix: there are maps of inodes and of zones. Version 3 has its magic at another place and
/// wider fields; the byte order is that of the magic.
pub(super) fn minix(window: &Window<'_>, magic: u64) -> Option<bool> {
    let sb = 1024;
    let known = [0x137f, 0x138f, 0x2468, 0x2478, 0x4d5a];
    let little = known.contains(&window.u16_le(magic)?);
    let read = |at| window.u16_le(at).map(|v| if little { v } else { v.swap_bytes() });
    let maps = if magic == sb + 24 { sb + 6 } else { sb + 4 };
    Some(read(maps)? > 0 && read(maps + 2)? > 0)
}

/// HPFS: the spare block follows the superblock.
pub(super) fn hpfs(window: &Window<'_>, magic: u64) -> Option<bool> {
    Some(window.get(magic + 512, 4)? == b"\x49\x18\x91\xf9")
}

/// VIA: the checksum at byte 50 is the sum of the bytes before it.
pub(super) fn via(window: &Window<'_>, magic: u64) -> Option<bool> {
    let (sums, sum) = window.get(magic, 51)?.split_at(50);
    Some(sums[2] <= 2 && sums.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) == sum[0])
}

/// Silicon Image: the words up to and with the checksum add up to zero.
pub(super) fn silicon(window: &Window<'_>, magic: u64) -> Option<bool> {
    Some(sum_of_words(window.get(magic.checked_sub(0x60)?, 0x140)?) == 0)
}

/// JMicron: the words of the first 128 bytes add up to zero or one.
pub(super) fn jmicron(window: &Window<'_>, magic: u64) -> Option<bool> {
    Some(sum_of_words(window.get(magic, 128)?) <= 1)
}

fn sum_of_words(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2).map(|w| u16::from_le_bytes([w[0], w[1]]));
    words.fold(0, u16::wrapping_add)
}

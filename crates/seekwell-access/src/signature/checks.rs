//! What has to hold beside a short magic number. Each check gets the offset of the magic number
//! and answers none when a field lies outside what was read.

use super::Window;

/// A check of the fields around a magic number.
pub(super) type Check = fn(&Window<'_>, u64) -> Option<bool>;

/// ext2, 3, 4: block size, counts and revision are plausible. The magic is 56 bytes into the
/// superblock.
pub(super) fn ext(window: &Window<'_>, magic: u64) -> Option<bool> {
    let sb = magic.checked_sub(56)?;
    let inodes = window.u32_le(sb)?;
    let blocks = window.u32_le(sb + 4)?;
    let log_block = window.u32_le(sb + 24)?;
    let revision = window.u32_le(sb + 76)?;
    Some(inodes > 0 && blocks > 0 && log_block <= 6 && revision <= 1)
}

/// A DOS partition table or boot loader: each of the four entries is either active or not.
pub(super) fn mbr(window: &Window<'_>, magic: u64) -> Option<bool> {
    let table = window.get(magic.checked_sub(64)?, 64)?;
    let plausible = table.chunks(16).all(|entry| entry[0] & 0x7f == 0);
    // A sector of nothing but the mark is what some tools leave on an empty disk; it is a table.
    Some(plausible)
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

/// MD version 1: the major version follows the magic.
pub(super) fn md_1(window: &Window<'_>, magic: u64) -> Option<bool> {
    Some(window.u32_le(magic + 4)? == 1)
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

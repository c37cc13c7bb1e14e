//! How many block groups of a mounted ext4 have an inode table that is not initialised yet.
//!
//! The kernel keeps the superblock and the group descriptors of a mounted file system in memory,
//! and a read from its block device is served from there without touching the medium. (Where
//! blocks are smaller than a page, the rest of the superblock's page may be read.)
//!
//! Source of the layout: `Documentation/filesystems/ext4/globals.rst` of the kernel.

use rustix::fs::{Advice, Mode, OFlags, fadvise};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const SUPERBLOCK_AT: u64 = 1024;
const SUPERBLOCK: usize = 1024;
/// Of a file system of 32 TiB.
const LONGEST: u64 = 16 << 20;
const MAGIC: u16 = 0xef53;
/// `EXT4_FEATURE_INCOMPAT_META_BG`: descriptors are spread over the disk.
const META_BG: u32 = 0x10;
const WIDE: u32 = 0x80;
/// `GDT_CSUM` and `METADATA_CSUM`: without a checksum a descriptor has no such flag.
const CHECKSUMS: u32 = 0x10 | 0x400;
const FLAGS_AT: usize = 0x12;
/// `EXT4_BG_INODE_ZEROED`.
const ZEROED: u16 = 4;

/// The block groups of an ext4 file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockGroups {
    pub total: u64,
    /// Those whose inode table the kernel has yet to initialise.
    pub uninitialised: u64,
}

/// `TOTAL UNINITIALISED` block groups of the file system on a block device, as text.
///
/// # Errors
/// As the kernel answers; [`io::ErrorKind::NotFound`] where the file system keeps no such flag.
pub(super) fn group_counts(node: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let device = File::from(rustix::fs::open(node, flags, Mode::empty())?);
    // Read-ahead would go to the medium.
    fadvise(&device, 0, None, Advice::Random)?;
    let mut read = |at: u64, into: &mut [u8]| device.read_exact_at(into, at);
    let groups = ext4_groups(&mut read)?;
    Ok(format!("{} {}", groups.total, groups.uninitialised).into_bytes())
}

/// Counts the block groups of an ext4. `read` fills a buffer from the given byte offset.
///
/// # Errors
/// Those of `read`; [`io::ErrorKind::NotFound`] if it is not an ext4 that keeps the flag.
pub fn ext4_groups(
    read: &mut dyn FnMut(u64, &mut [u8]) -> io::Result<()>,
) -> io::Result<BlockGroups> {
    let mut superblock = [0; SUPERBLOCK];
    read(SUPERBLOCK_AT, &mut superblock)?;
    let table = Table::of(&superblock).ok_or(io::ErrorKind::NotFound)?;
    let mut descriptors = vec![0; usize::try_from(table.bytes()).unwrap_or(0)];
    read(table.at, &mut descriptors)?;
    let zeroed = |d: &&[u8]| u16::from_le_bytes([d[FLAGS_AT], d[FLAGS_AT + 1]]) & ZEROED != 0;
    let done = descriptors.chunks_exact(table.each).filter(zeroed).count() as u64;
    Ok(BlockGroups { total: table.groups, uninitialised: table.groups - done })
}

/// Where the group descriptors are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Table {
    at: u64,
    groups: u64,
    /// Bytes of a descriptor.
    each: usize,
}

impl Table {
    fn of(superblock: &[u8; SUPERBLOCK]) -> Option<Self> {
        let half = |at: usize| u16::from_le_bytes([superblock[at], superblock[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        let (incompatible, read_only) = (word(0x60), word(0x64));
        let kept = read_only & CHECKSUMS != 0 && incompatible & META_BG == 0;
        if half(0x38) != MAGIC || !kept || word(0x18) > 6 {
            return None;
        }
        let wide = incompatible & WIDE != 0;
        let high = if wide { u64::from(word(0x150)) } else { 0 };
        let (first, block) = (u64::from(word(0x14)), 1024 << word(0x18));
        let blocks = (high << 32 | u64::from(word(0x4))).checked_sub(first)?;
        let per_group = u64::from(word(0x20)).max(1);
        let each = if wide { usize::from(half(0xfe)) } else { 32 };
        let at = (first + 1) * block;
        let table = Self { at, groups: blocks.div_ceil(per_group), each };
        let sound = (32..=1024).contains(&each) && table.groups > 0;
        (sound && table.bytes() <= LONGEST).then_some(table)
    }

    const fn bytes(self) -> u64 {
        self.groups.saturating_mul(self.each as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file system of `flags.len()` groups, of 4 KiB blocks and 64-byte descriptors.
    fn image(flags: &[u16]) -> Vec<u8> {
        let mut image = vec![0; 4096 + flags.len() * 64];
        let mut put = |at: usize, bytes: &[u8]| image[at..at + bytes.len()].copy_from_slice(bytes);
        put(1024 + 0x4, &(flags.len() as u32 * 32768 - 5).to_le_bytes());
        put(1024 + 0x18, &2_u32.to_le_bytes());
        put(1024 + 0x20, &32768_u32.to_le_bytes());
        put(1024 + 0x38, &MAGIC.to_le_bytes());
        put(1024 + 0x60, &WIDE.to_le_bytes());
        put(1024 + 0x64, &0x400_u32.to_le_bytes());
        put(1024 + 0xfe, &64_u16.to_le_bytes());
        for (group, flags) in flags.iter().enumerate() {
            put(4096 + group * 64 + FLAGS_AT, &flags.to_le_bytes());
        }
        image
    }

    fn counted(image: &[u8]) -> Option<(u64, u64)> {
        let mut read = |at: u64, into: &mut [u8]| {
            let at = usize::try_from(at).map_err(|_| io::ErrorKind::NotFound)?;
            let bytes = image.get(at..at + into.len()).ok_or(io::ErrorKind::NotFound)?;
            into.copy_from_slice(bytes);
            Ok(())
        };
        ext4_groups(&mut read).ok().map(|groups| (groups.total, groups.uninitialised))
    }

    #[test]
    fn groups_without_the_flag_are_counted() {
        assert_eq!(counted(&image(&[4, 4, 4])), Some((3, 0)));
        assert_eq!(counted(&image(&[4, 0, 3, 7])), Some((4, 2)));
    }

    #[test]
    fn what_keeps_no_such_flag_or_is_no_ext4_gives_nothing() {
        for (at, bytes) in [
            (0x38, [0, 0]),
            (0x64, [0, 0]),
            (0x60, [0x90, 0]),
            (0x18, [9, 0]),
            (0xfe, [0, 0]),
            (0x20, [1, 0]),
            (0x4, [0, 0]),
        ] {
            let mut image = image(&[4, 0]);
            image[1024 + at..1024 + at + 2].copy_from_slice(&bytes);
            if at == 0x20 || at == 0x4 {
                image[1024 + at + 2] = 0;
            }
            assert_eq!(counted(&image), None, "{at:#x}");
        }
        for cut in 0..2048 {
            assert_eq!(counted(&image(&[4, 0])[..cut]), None);
        }
    }

    /// The real thing: what mkfs leaves to the kernel, and what it does itself.
    #[test]
    fn a_file_system_as_mkfs_makes_it_is_understood() {
        let dir = tempfile::tempdir().unwrap();
        let groups = |lazy: &str| {
            let path = dir.path().join(lazy);
            std::fs::File::create(&path).unwrap().set_len(512 << 20).unwrap();
            let mut mkfs = std::process::Command::new("mkfs.ext4");
            let options = format!("nodiscard,{lazy}");
            mkfs.args(["-q", "-F", "-b", "4096", "-E", &options]).arg(&path);
            if !mkfs.status().is_ok_and(|s| s.success()) {
                return None;
            }
            counted(&std::fs::read(&path).unwrap())
        };
        let Some(lazy) = groups("lazy_itable_init=1") else {
            eprintln!("skipped: mkfs.ext4 is not installed");
            return;
        };
        assert_eq!(lazy.0, 4);
        assert!(lazy.1 > 0, "{lazy:?}");
        assert_eq!(groups("lazy_itable_init=0"), Some((4, 0)));
    }
}

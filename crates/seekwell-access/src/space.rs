//! How much room a file system has, and how much of it a temporary file may take.

use crate::AccessError;
use rustix::fs::StatVfsMountFlags;
use std::path::Path;

/// 2³⁰ bytes.
pub const GIB: u64 = 1 << 30;

/// Sizes of temporary files are multiples of this, and always of [`BLOCK`].
const SIZE_STEP: u64 = 1 << 20;

/// Nothing smaller can be written past every page cache.
const BLOCK: u64 = 4096;

/// What `statvfs(3)` says of the file system of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FsSpace {
    /// The whole file system, in bytes.
    pub total_bytes: u64,
    /// What this user may still write, in bytes: without the blocks kept for root.
    pub available_bytes: u64,
    pub read_only: bool,
}

impl FsSpace {
    /// Asks the file system `dir` is on.
    ///
    /// # Errors
    /// [`AccessError::Missing`] and [`AccessError::Io`].
    pub fn of(dir: &Path) -> Result<Self, AccessError> {
        let path = || dir.to_path_buf();
        let stat = rustix::fs::statvfs(dir).map_err(|errno| match errno {
            rustix::io::Errno::NOENT => AccessError::Missing { path: path() },
            rustix::io::Errno::NOTDIR => AccessError::NotADirectory { path: path() },
            _ => AccessError::Io { what: "statvfs", path: path(), source: errno.into() },
        })?;
        let unit = if stat.f_frsize == 0 { stat.f_bsize } else { stat.f_frsize };
        Ok(Self {
            total_bytes: stat.f_blocks.saturating_mul(unit),
            available_bytes: stat.f_bavail.saturating_mul(unit),
            read_only: stat.f_flag.contains(StatVfsMountFlags::RDONLY),
        })
    }

    /// What must stay free whatever is measured: a tenth of the file system, and 1 GiB at least.
    pub fn reserved_bytes(&self) -> u64 {
        self.total_bytes.div_ceil(10).max(GIB)
    }
}

/// Whether a file system type of `statfs(2)` is tmpfs or ramfs (linux/magic.h).
pub(crate) fn is_memory(kind: u32) -> bool {
    matches!(kind, 0x0102_1994 | 0x8584_58f6)
}

/// The size of a temporary file: `wanted_bytes` rounded up to 1 MiB, or whole MiB less where that
/// would not leave the reserve free, but never less than `minimum_bytes` rounded up to 4 KiB. A
/// minimum above what is wanted counts as what is wanted.
///
/// # Errors
/// [`AccessError::TooLittleRoom`] when not even the minimum leaves the reserve free.
pub fn plan_size(
    wanted_bytes: u64,
    minimum_bytes: u64,
    space: &FsSpace,
) -> Result<u64, AccessError> {
    let reserved_bytes = space.reserved_bytes();
    let room = space.available_bytes.saturating_sub(reserved_bytes);
    let minimum_bytes = minimum_bytes.min(wanted_bytes).max(1);
    let minimum_bytes = minimum_bytes.checked_next_multiple_of(BLOCK).unwrap_or(u64::MAX);
    if room < minimum_bytes {
        return Err(AccessError::TooLittleRoom {
            available_bytes: space.available_bytes,
            reserved_bytes,
            minimum_bytes,
            needed_bytes: minimum_bytes.saturating_add(reserved_bytes),
        });
    }
    let size = wanted_bytes.checked_next_multiple_of(SIZE_STEP).unwrap_or(u64::MAX).min(room);
    Ok((size - size % SIZE_STEP).max(minimum_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIB: u64 = 1 << 20;

    fn space(total_bytes: u64, available_bytes: u64) -> FsSpace {
        FsSpace { total_bytes, available_bytes, read_only: false }
    }

    #[test]
    fn a_large_disk_keeps_a_tenth_and_a_small_one_a_gibibyte() {
        assert_eq!(space(100 * GIB, 0).reserved_bytes(), 10 * GIB);
        assert_eq!(space(5 * GIB, 0).reserved_bytes(), GIB);
    }

    #[test]
    fn what_is_wanted_is_given_when_there_is_room() {
        let plenty = space(100 * GIB, 50 * GIB);
        assert_eq!(plan_size(4 * GIB, MIB, &plenty).unwrap(), 4 * GIB);
        // A trace rarely ends on a whole MiB, and was refused the file it asked for.
        assert_eq!(plan_size(70 * MIB + 512, MIB, &plenty).unwrap(), 71 * MIB);
    }

    #[test]
    fn a_full_disk_gives_less_down_to_the_minimum_and_then_nothing() {
        let tight = space(100 * GIB, 10 * GIB + 64 * MIB + 7);
        assert_eq!(plan_size(GIB, 16 * MIB, &tight).unwrap(), 64 * MIB);
        let error = plan_size(GIB, 65 * MIB, &tight).unwrap_err();
        let AccessError::TooLittleRoom { needed_bytes, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(needed_bytes, 10 * GIB + 65 * MIB);
        assert!(error.to_string().contains("10 GiB must stay free"), "{error}");
    }

    proptest! {
        #[test]
        fn whatever_is_asked_the_reserve_stays_free(
            total in 0..=u64::MAX / 2, used in 0..=u64::MAX / 2, wanted: u64, minimum: u64,
        ) {
            let space = space(total, total.saturating_sub(used));
            if let Ok(size) = plan_size(wanted, minimum, &space) {
                prop_assert!(size - 1 <= wanted.saturating_add(SIZE_STEP - 1));
                prop_assert!(size >= minimum.min(wanted));
                prop_assert!(size > 0 && size % BLOCK == 0);
                prop_assert!(space.available_bytes - size >= space.reserved_bytes());
            }
        }
    }
}

//! What requests ask of the kernel, and whether a file can give it.

use super::TargetError;
use super::buffers::Buffers;
use super::nowait::{disk_of, read};
use crate::request::{Flags, Op, Request};
use rustix::fs::{AtFlags, OFlags, StatxFlags, fcntl_getfl, statx};
use std::os::fd::{AsFd, BorrowedFd};

/// Lengths of writes that a file or device takes whole or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtomicUnits {
    /// The shortest, in bytes.
    pub least: u32,
    /// The longest, in bytes.
    pub most: u32,
}

impl AtomicUnits {
    /// What the kernel reports of a file (statx(2), Linux 6.11); `None` if it reports none, or
    /// requests go through the page cache.
    pub fn of(file: impl AsFd) -> Option<Self> {
        // STATX_WRITE_ATOMIC
        let wanted = StatxFlags::from_bits_retain(0x0001_0000);
        let direct = fcntl_getfl(&file).is_ok_and(|flags| flags.contains(OFlags::DIRECT));
        let stat = statx(file, c"", AtFlags::EMPTY_PATH, wanted).ok()?;
        let (least, most) = (stat.stx_atomic_write_unit_min, stat.stx_atomic_write_unit_max);
        (direct && least > 0 && most >= least).then_some(Self { least, most })
    }

    /// Whether a write of `bytes`, at a multiple of its length, is done whole.
    pub const fn takes(self, bytes: u32) -> bool {
        bytes.is_power_of_two() && self.least <= bytes && bytes <= self.most
    }
}

impl Flags {
    /// Refuses what requests of up to `max_bytes` on a file cannot have.
    ///
    /// # Errors
    /// [`TargetError::NotAtomic`], [`TargetError::NotUncached`], [`TargetError::NotPolled`].
    pub fn check(self, file: BorrowedFd<'_>, max_bytes: u32) -> Result<(), TargetError> {
        let takes = |units: AtomicUnits| units.takes(max_bytes);
        let units = AtomicUnits::of(file);
        if self.atomic && !units.is_some_and(takes) {
            return Err(TargetError::NotAtomic { bytes: max_bytes, units });
        }
        if self.uncached {
            let mut buffers = Buffers::new(1, 4096, |_| ())?;
            if read(file, buffers.get(0), libc::RWF_DONTCACHE) == Err(libc::EOPNOTSUPP) {
                return Err(TargetError::NotUncached);
            }
        }
        if self.polled {
            let attribute = disk_of(file).map(|disk| disk.join("queue/io_poll"));
            let polls = attribute.and_then(|path| std::fs::read_to_string(path).ok());
            if polls.is_none_or(|text| text.trim() != "1") {
                return Err(TargetError::NotPolled);
            }
        }
        Ok(())
    }

    const fn of_read(self) -> i32 {
        if self.uncached { libc::RWF_DONTCACHE } else { 0 }
    }

    /// Those of one request. A durable write goes out as FUA, or as write and flush where the
    /// device has no FUA.
    #[inline]
    pub(super) const fn of(self, request: &Request) -> i32 {
        match request.op {
            Op::Write => {
                let atomic = if self.atomic { libc::RWF_ATOMIC } else { 0 };
                let durable = if request.durable { libc::RWF_DSYNC } else { 0 };
                self.of_read() | atomic | durable
            }
            _ => self.of_read(),
        }
    }
}

//! The only door through which anything measured is opened.
//!
//! Three things can come out of it, and the type says what may be done with each. [`ReadOnly`] is
//! a disk or file of the user's: its descriptor was opened `O_RDONLY`, so the kernel itself refuses
//! a write or a discard. [`Scratch`] is a temporary file of our own, created and removed on every
//! way out. [`WritableDevice`] is a raw device that may be overwritten; the one function that makes
//! it, [`open_for_destruction`], is the guard of the whole program. There is no other constructor,
//! so code that writes, discards, replays or verifies on a device cannot forget to ask.
//!
//! For an NVMe namespace, [`Opened::commands`] also opens its character device. The kernel lets
//! root send any command through it, so the sender must check that nothing is written through a
//! descriptor that was opened read-only.
//!
//! The guard decides by device number and inode, never by the text of a path: the field's main tool
//! compared strings, and a symlink such as `/dev/disk/by-id/…` was enough to overwrite a mounted
//! disk.

mod backing;
mod bytes;
mod commands;
mod destroy;
mod device;
mod error;
mod exported;
mod holders;
mod identity;
mod in_use;
mod labels;
mod locked;
mod loops;
mod member;
mod mounted;
mod namespaces;
mod opened_by;
mod output;
mod places;
mod private;
mod read_only;
mod refusal;
mod reopen;
mod scratch;
mod signature;
mod space;
mod sweep;
mod zones;

pub use destroy::{Consent, Order, WritableDevice, open_for_destruction};
pub use error::{AccessError, NoCommands};
pub use holders::{Holder, HolderKind};
pub use labels::{Fingerprint, NotAFingerprint, UnknownData, signatures_of};
pub use locked::Locked;
pub use mounted::MountedAt;
pub use opened_by::OpenedBy;
pub use output::{OutputError, OutputFile, folder_of};
pub use private::{
    begins_with, create_private_dir, create_private_dir_all, make_private, open_private,
};
pub use read_only::{OpenedKind, ReadOnly, drop_cache, open_read_only};
pub use refusal::Refusal;
pub use reopen::{Way, by_descriptor};
pub use scratch::name::{is_left_behind, owned_name};
pub use scratch::{Fill, Scratch, ScratchDir};
pub use signature::Signature;
pub use space::{FsSpace, GIB, plan_size};
pub use sweep::{Leftover, sweep};
pub use zones::{Zone, ZoneChange, ZoneCondition, ZoneKind, ZonesError, reported_zones};

use std::os::fd::{AsFd, BorrowedFd};

/// Anything that was opened for measuring.
#[derive(Debug)]
pub enum Opened {
    /// A device or file of the user's, which can only be read.
    ReadOnly(ReadOnly),
    /// Our own temporary file.
    Scratch(Scratch),
    /// A raw device that passed the guard and may be overwritten.
    WritableDevice(WritableDevice),
}

impl Opened {
    /// How much of it may be addressed, in bytes.
    pub fn size_bytes(&self) -> u64 {
        match self {
            Self::ReadOnly(it) => it.size_bytes,
            Self::Scratch(it) => it.size_bytes(),
            Self::WritableDevice(it) => it.size_bytes(),
        }
    }

    /// Offsets and lengths of requests must be multiples of this many bytes.
    pub fn logical_block_bytes(&self) -> u32 {
        match self {
            Self::ReadOnly(it) => it.logical_block_bytes,
            Self::Scratch(it) => it.logical_block_bytes(),
            Self::WritableDevice(it) => it.logical_block_bytes(),
        }
    }

    /// Whether requests go past the page cache.
    pub fn direct(&self) -> bool {
        match self {
            Self::ReadOnly(it) => it.direct,
            Self::Scratch(it) => it.direct(),
            Self::WritableDevice(it) => it.direct(),
        }
    }

    /// Its zones in order; empty if it is not a zoned device.
    ///
    /// # Errors
    /// [`ZonesError`]. Kernels before 5.12 report zones only to processes with `CAP_SYS_ADMIN`.
    pub fn zones(&self) -> Result<Vec<Zone>, ZonesError> {
        zones::zones_of(self)
    }

    pub fn writable(&self) -> bool {
        !matches!(self, Self::ReadOnly(_))
    }
}

impl AsFd for Opened {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::ReadOnly(it) => it.as_fd(),
            Self::Scratch(it) => it.as_fd(),
            Self::WritableDevice(it) => it.as_fd(),
        }
    }
}

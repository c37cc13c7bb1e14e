//! A disk or file of the user's, opened so that the kernel refuses to change it.

use crate::AccessError;
use crate::bytes::Aligned;
use crate::error::uid;
use rustix::fs::{Advice, FileType, Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use seekwell_sys::{DevId, Live, nvme};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenedKind {
    BlockDevice {
        dev: DevId,
    },
    /// A file in a file system.
    File {
        /// The number of its file system; anonymous (major 0) for btrfs, overlay, tmpfs, network.
        file_system: DevId,
        /// What of it has blocks on the disk, in bytes. Reads of the rest, the holes, never reach
        /// the disk; a file with much fewer than its size measures memory.
        allocated_bytes: u64,
        /// Whether the file system is tmpfs or ramfs, so that no disk is measured.
        in_memory: bool,
    },
}

#[derive(Debug)]
pub struct ReadOnly {
    file: OwnedFd,
    /// How much of it may be read, in bytes.
    pub size_bytes: u64,
    /// Offsets and lengths must be multiples of this; 1 when the page cache is in between.
    pub logical_block_bytes: u32,
    /// Whether requests go past the page cache. Where the file system refuses that, they do not.
    pub direct: bool,
    pub kind: OpenedKind,
}

impl AsFd for ReadOnly {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Opens an existing block device or regular file `O_RDONLY`, past the page cache where that works.
/// Nothing is ever created. Links are followed: `/dev/disk/by-id/…` is as good as `/dev/sdb`. For
/// an NVMe namespace's character device, its disk is opened.
///
/// # Errors
/// [`AccessError`]: missing, something else than a device or file, empty, not permitted.
pub fn open_read_only(path: &Path) -> Result<ReadOnly, AccessError> {
    let path = &*nvme::disk_node(&Live::system(), path);
    let fail = |what: &'static str, errno: Errno| failure(path, what, errno);
    // Looked at before it is opened: opening some character devices has effects.
    measurable(path, rustix::fs::stat(path).map_err(|e| fail("stat", e))?.st_mode)?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let file = rustix::io::retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))
        .map_err(|e| fail("opening", e))?;
    let stat = rustix::fs::fstat(&file).map_err(|e| fail("stat", e))?;
    measurable(path, stat.st_mode)?;
    let size_bytes = rustix::fs::seek(&file, SeekFrom::End(0)).map_err(|e| fail("seeking", e))?;
    if size_bytes == 0 {
        return Err(AccessError::Empty { path: path.to_path_buf() });
    }
    let block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    let kind = if block {
        OpenedKind::BlockDevice { dev: DevId::from_raw(stat.st_rdev) }
    } else {
        let fs = rustix::fs::fstatfs(&file).map_err(|e| fail("statfs", e))?;
        OpenedKind::File {
            file_system: DevId::from_raw(stat.st_dev),
            allocated_bytes: (stat.st_blocks as u64).saturating_mul(512),
            in_memory: crate::space::is_memory(fs.f_type as u32),
        }
    };
    let smallest = if block { rustix::fs::ioctl_blksszget(&file).unwrap_or(512) } else { 512 };
    let alignment = make_direct(&file, smallest).map_err(|e| fail("reading", e))?;
    Ok(ReadOnly {
        file,
        size_bytes,
        logical_block_bytes: alignment.unwrap_or(if block { smallest } else { 1 }),
        direct: alignment.is_some(),
        kind,
    })
}

pub(crate) fn failure(path: &Path, what: &'static str, errno: Errno) -> AccessError {
    let path = path.to_path_buf();
    match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::NXIO => AccessError::Missing { path },
        Errno::ACCESS | Errno::PERM => AccessError::ReadDenied { path, uid: uid() },
        _ => AccessError::Io { what, path, source: errno.into() },
    }
}

fn measurable(path: &Path, mode: rustix::fs::RawMode) -> Result<(), AccessError> {
    match FileType::from_raw_mode(mode) {
        FileType::BlockDevice | FileType::RegularFile => Ok(()),
        kind => Err(AccessError::NotMeasurable { path: path.to_path_buf(), kind: word(kind) }),
    }
}

/// A file type as a word for sentences.
pub(crate) fn word(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "directory",
        FileType::CharacterDevice => "character device",
        FileType::Fifo => "pipe",
        FileType::Socket => "socket",
        FileType::Symlink => "symbolic link",
        FileType::RegularFile => "regular file",
        FileType::BlockDevice => "block device",
        FileType::Unknown => "thing of unknown type",
    }
}

/// Switches a descriptor to direct requests and finds the smallest block that works by reading
/// one. None, and the descriptor as it was, when the file system refuses. The flags are replaced,
/// so `O_NONBLOCK` is gone either way.
pub(crate) fn make_direct(file: &OwnedFd, smallest: u32) -> Result<Option<u32>, Errno> {
    if rustix::fs::fcntl_setfl(file, OFlags::DIRECT).is_ok() {
        let mut buffer = Aligned::new(64 << 10);
        let mut block = smallest.max(512);
        while block <= 64 << 10 {
            // At offset 0 the length alone decides. Further on a short file would return its
            // end before the alignment is looked at.
            let bytes = &mut buffer.get_mut()[..block as usize];
            match rustix::io::retry_on_intr(|| rustix::io::pread(file, &mut *bytes, 0).map(drop)) {
                Ok(()) => return Ok(Some(block)),
                Err(Errno::INVAL) => block *= 2,
                // A bad spot on the disk says nothing about alignment; the measurement reports it.
                Err(Errno::IO) => return Ok(Some(block)),
                Err(errno) => return Err(errno),
            }
        }
    }
    rustix::fs::fcntl_setfl(file, OFlags::empty())?;
    Ok(None)
}

/// Asks the kernel to forget what the page cache holds of a file. Pages not yet written stay.
///
/// # Errors
/// What the kernel said.
pub fn drop_cache(file: impl AsFd) -> io::Result<()> {
    rustix::fs::fadvise(file, 0, None, Advice::DontNeed).map_err(Into::into)
}

//! The guard, and the handle that only it can make.
//!
//! What is checked is what is opened: the path is resolved to a device number once, every question
//! is asked about that number, and the descriptor that comes out must have it too. The questions
//! about use are asked again once the exclusive claim is held, so a mount that slipped in between
//! is seen, and none can follow.

use crate::device::Family;
use crate::identity::{Answer, check as check_identity, udev_properties};
use crate::refusal::OpenedBy;
use crate::signature::signatures_of;
use crate::{Refusal, in_use};
use rustix::fs::{FileType, Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use seekwell_sys::{DevId, View};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// A raw device that passed every check and is held exclusively until this is dropped. All that is
/// on it may be overwritten.
#[derive(Debug)]
pub struct Destroyed {
    fd: OwnedFd,
    path: PathBuf,
    dev: DevId,
    name: String,
    size_bytes: u64,
    logical_block_bytes: u32,
    direct: bool,
}

impl Destroyed {
    /// The path it was opened by, as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its number.
    pub fn dev(&self) -> DevId {
        self.dev
    }

    /// The kernel's name for it, `sdb`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its size in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Its logical block size in bytes.
    pub fn logical_block_bytes(&self) -> u32 {
        self.logical_block_bytes
    }

    /// Whether requests go past the page cache.
    pub fn direct(&self) -> bool {
        self.direct
    }
}

impl AsFd for Destroyed {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Opens a block device so that it may be overwritten, or says why not.
///
/// `serial` is the device's own serial number or WWN; for a loop device the path of its backing
/// file; for a disk made of memory (zram, brd, null_blk) its kernel name. For a partition it is
/// that of its disk.
///
/// # Errors
/// [`Refusal`], in the order: what the path is, read-only, the serial, mounts, swap, holders, loop
/// devices over it, signatures, the exclusive open. Nothing was written.
pub fn open_for_destruction(
    view: &dyn View,
    path: &Path,
    serial: &str,
) -> Result<Destroyed, Refusal> {
    let unsure = |source| Refusal::Unsure { target: path.to_path_buf(), source };
    let dev = block_number(path)?;
    let family = Family::of(view, dev).map_err(unsure)?;
    let device = family.target.node();
    if view.number(&family.target.sysfs.join("ro")).map_err(unsure)? != 0 {
        return Err(Refusal::ReadOnlyDevice { target: path.to_path_buf(), device });
    }
    serial_is_right(view, path, &family, serial)?;
    in_use::check(view, path, &family)?;
    let look = open(path, dev, OFlags::RDONLY | OFlags::NONBLOCK)
        .map_err(|e| e.refusal(path, "opened for reading"))?;
    let look = File::from(look);
    is_empty(view, path, &family, &look)?;

    let (fd, direct) = open_exclusively(view, path, &family)?;
    // Asked again, now that nobody else can claim it.
    let family = Family::of(view, dev).map_err(unsure)?;
    in_use::check(view, path, &family)?;
    is_empty(view, path, &family, &look)?;
    let failed = |errno| Refusal::io(path, "measured", errno);
    Ok(Destroyed {
        size_bytes: rustix::fs::seek(&fd, SeekFrom::End(0)).map_err(failed)?,
        logical_block_bytes: rustix::fs::ioctl_blksszget(&fd).map_err(failed)?,
        fd,
        path: path.to_path_buf(),
        dev,
        name: family.target.name,
        direct,
    })
}

fn block_number(path: &Path) -> Result<DevId, Refusal> {
    let stat = rustix::fs::stat(path).map_err(|errno| Refusal::io(path, "looked at", errno))?;
    let target = path.to_path_buf();
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => Ok(DevId::from_raw(stat.st_rdev)),
        FileType::RegularFile => Err(Refusal::RegularFile { target }),
        kind => Err(Refusal::NotBlockDevice { target, kind: crate::read_only::word(kind) }),
    }
}

fn serial_is_right(
    view: &dyn View,
    path: &Path,
    family: &Family,
    serial: &str,
) -> Result<(), Refusal> {
    let target = path.to_path_buf();
    match check_identity(view, family, serial) {
        Answer::Right => Ok(()),
        Answer::Nameless => Err(Refusal::NoSerial { target }),
        Answer::Wrong { wanted } => {
            Err(Refusal::WrongSerial { target, given: serial.to_owned(), wanted })
        }
    }
}

/// Nothing recognisable is on the device, neither for us nor for udev.
fn is_empty(view: &dyn View, path: &Path, family: &Family, look: &File) -> Result<(), Refusal> {
    let (target, device) = (path.to_path_buf(), family.target.node());
    let failed = |source: io::Error| Refusal::Failed {
        target: path.to_path_buf(),
        step: "read to see whether it is empty",
        source,
    };
    let size = rustix::fs::seek(look, SeekFrom::End(0)).map_err(|e| failed(e.into()))?;
    let found = signatures_of(look, size).map_err(failed)?;
    // What was read here must not serve a measurement later.
    crate::drop_cache(look).map_err(failed)?;
    if !found.is_empty() {
        return Err(Refusal::Signature { target, device, found });
    }
    for (key, value) in udev_properties(view, family.target.dev) {
        // udev copies the properties of a disk to its partitions.
        let table = key == "ID_PART_TABLE_TYPE" && !family.is_partition();
        if (key == "ID_FS_TYPE" || table) && !value.is_empty() {
            return Err(Refusal::UdevSignature { target, device, key, value });
        }
    }
    Ok(())
}

enum OpenFailure {
    Errno(Errno),
    Exchanged { checked: DevId, opened: DevId },
}

impl OpenFailure {
    fn refusal(self, path: &Path, step: &'static str) -> Refusal {
        match self {
            Self::Errno(errno) => Refusal::io(path, step, errno),
            Self::Exchanged { checked, opened } => {
                Refusal::Exchanged { target: path.to_path_buf(), checked, opened }
            }
        }
    }
}

/// Opens the path and makes sure that it is still the device that was checked.
fn open(path: &Path, checked: DevId, flags: OFlags) -> Result<OwnedFd, OpenFailure> {
    let opened = rustix::io::retry_on_intr(|| {
        rustix::fs::open(path, flags | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty())
    });
    let fd = opened.map_err(OpenFailure::Errno)?;
    let stat = rustix::fs::fstat(&fd).map_err(OpenFailure::Errno)?;
    let opened = DevId::from_raw(stat.st_rdev);
    let block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    if block && opened == checked {
        Ok(fd)
    } else {
        Err(OpenFailure::Exchanged { checked, opened })
    }
}

fn open_exclusively(
    view: &dyn View,
    path: &Path,
    family: &Family,
) -> Result<(OwnedFd, bool), Refusal> {
    let dev = family.target.dev;
    let flags = OFlags::RDWR | OFlags::EXCL;
    let (opened, direct) = match open(path, dev, flags | OFlags::DIRECT) {
        Err(OpenFailure::Errno(Errno::INVAL)) => (open(path, dev, flags), false),
        other => (other, true),
    };
    let device = family.target.node();
    let target = path.to_path_buf();
    match opened {
        Ok(fd) => Ok((fd, direct)),
        Err(OpenFailure::Errno(Errno::BUSY)) => {
            let by = opened_by(view, family);
            Err(Refusal::Busy { target, device, by })
        }
        Err(OpenFailure::Errno(Errno::ROFS)) => Err(Refusal::ReadOnlyDevice { target, device }),
        Err(failure) => Err(failure.refusal(path, "opened for writing")),
    }
}

/// Processes with a descriptor on a member of the family, other than this one.
fn opened_by(view: &dyn View, family: &Family) -> Vec<OpenedBy> {
    let nodes: Vec<PathBuf> = family.members.iter().map(|m| PathBuf::from(m.node())).collect();
    let pids = view.list(Path::new("/proc")).unwrap_or_default();
    let others = pids.iter().filter_map(|name| name.parse::<u32>().ok());
    others
        .filter(|pid| *pid != std::process::id())
        .filter(|pid| {
            let folder = PathBuf::from(format!("/proc/{pid}/fd"));
            let open = view.list(&folder).unwrap_or_default();
            open.iter().filter_map(|n| view.link(&folder.join(n)).ok()).any(|l| nodes.contains(&l))
        })
        .map(|pid| OpenedBy {
            pid,
            command: view.text(format!("/proc/{pid}/comm").as_ref()).unwrap_or_default(),
        })
        .collect()
}

/// Why a range was not discarded.
#[derive(Debug, thiserror::Error)]
pub enum DiscardError {
    /// The range is not made of whole blocks of the device.
    #[error(
        "bytes {offset_bytes} to {offset_bytes}+{len_bytes} of {} are not whole blocks inside it: \
         it has {size_bytes} bytes in blocks of {block_bytes}", path.display()
    )]
    Range {
        /// The device.
        path: PathBuf,
        /// Where the range starts.
        offset_bytes: u64,
        /// How long it is.
        len_bytes: u64,
        /// How large the device is.
        size_bytes: u64,
        /// Its logical block size.
        block_bytes: u32,
    },
    /// The device has no discard.
    #[error(
        "{} does not support discard (`discard_max_bytes` is 0 in /sys/block/…/queue)",
        path.display()
    )]
    Unsupported {
        /// The device.
        path: PathBuf,
    },
    /// The device or kernel failed.
    #[error("discarding {len_bytes} bytes at {offset_bytes} of {} failed: {source}",
        path.display())]
    Failed {
        /// The device.
        path: PathBuf,
        /// Where the range starts.
        offset_bytes: u64,
        /// How long it is.
        len_bytes: u64,
        /// What the kernel said.
        source: io::Error,
    },
}

/// `_IO(0x12, 119)` of `linux/fs.h`: discard a range given as two 64-bit numbers.
const BLKDISCARD: libc::Ioctl = 0x1277;

/// Tells the device that a range of whole logical blocks holds nothing any more. Returns when the
/// device has answered. What it reads as afterwards is up to the device.
///
/// # Errors
/// [`DiscardError`]; a range outside the device is refused before the kernel is asked.
pub fn discard_range(
    device: &Destroyed,
    offset_bytes: u64,
    len_bytes: u64,
) -> Result<(), DiscardError> {
    let path = || device.path.clone();
    let block = u64::from(device.logical_block_bytes);
    let whole = offset_bytes.is_multiple_of(block) && len_bytes.is_multiple_of(block);
    let end = offset_bytes.checked_add(len_bytes);
    if !whole || len_bytes == 0 || end.is_none_or(|end| end > device.size_bytes) {
        return Err(DiscardError::Range {
            path: path(),
            offset_bytes,
            len_bytes,
            size_bytes: device.size_bytes,
            block_bytes: device.logical_block_bytes,
        });
    }
    let range = [offset_bytes, len_bytes];
    // SAFETY: the descriptor is open for as long as `device` is borrowed, and BLKDISCARD reads
    // exactly two u64 through the pointer, which points to an array of two.
    let answer = unsafe { libc::ioctl(device.fd.as_raw_fd(), BLKDISCARD, range.as_ptr()) };
    if answer == 0 {
        return Ok(());
    }
    let source = io::Error::last_os_error();
    match source.raw_os_error() {
        Some(libc::EOPNOTSUPP | libc::ENOTTY) => Err(DiscardError::Unsupported { path: path() }),
        _ => Err(DiscardError::Failed { path: path(), offset_bytes, len_bytes, source }),
    }
}

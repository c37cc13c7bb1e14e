//! What a loop device shows, as the kernel knows it: by device number and inode.
//!
//! The name in `loop/backing_file` may be gone, or lead to something else, or hold only in another
//! mount namespace; one file has many names. None of that matters to the kernel.

use crate::Refusal;
use crate::backing::{Backing, FileId};
use crate::member::Member;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use seekwell_sys::{DevId, View};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// What a loop device shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    Device(DevId),
    /// From this byte of the file on.
    File(Backing, u64),
}

const LOOP_MAJOR: u32 = 7;
/// `LOOP_GET_STATUS64` of `linux/loop.h`, which fills in a `struct loop_info64` of 232 bytes.
const LOOP_GET_STATUS64: libc::Ioctl = 0x4c05;

/// The start of `struct loop_info64`, and the rest of it.
#[repr(C)]
struct Status {
    device: u64,
    inode: u64,
    /// The number of the block device behind it; for a file that of its file system, or none.
    rdevice: u64,
    offset: u64,
    rest: [u64; 25],
}

/// What a device shows if it is a loop device that is bound.
///
/// # Errors
/// [`Refusal::UnknownLoop`] when the kernel cannot be asked.
pub(crate) fn shown_by(
    view: &dyn View,
    target: &Path,
    member: &Member,
) -> Result<Option<Shown>, Refusal> {
    if member.dev.major != LOOP_MAJOR {
        return Ok(None);
    }
    let asked = match ask(view, member) {
        // A loop device that is bound has this folder; that of one without a node says enough.
        Err(Errno::NOENT) if !view.exists(&member.sysfs.join("loop")) => Ok(None),
        other => other,
    };
    asked.map_err(|errno| match errno {
        Errno::ACCESS | Errno::PERM if crate::error::uid() != 0 => {
            Refusal::io(target, "compared with what loop devices show", errno)
        }
        _ => Refusal::UnknownLoop {
            target: target.to_path_buf(),
            loop_device: member.node(),
            dev: member.dev,
            source: errno.into(),
        },
    })
}

fn ask(view: &dyn View, member: &Member) -> Result<Option<Shown>, Errno> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let node = match rustix::fs::open(member.node(), flags, Mode::empty()) {
        // Being taken down, or removed since it was listed.
        Err(Errno::NXIO) => return Ok(None),
        other => other?,
    };
    let stat = rustix::fs::fstat(&node)?;
    let block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    if !block || DevId::from_raw(stat.st_rdev) != member.dev {
        return Err(Errno::NODEV);
    }
    let mut status = Status { device: 0, inode: 0, rdevice: 0, offset: 0, rest: [0; 25] };
    // SAFETY: the descriptor is open, and the kernel writes the 232 bytes of a `loop_info64`, which
    // `Status` has, through the pointer.
    let answer = unsafe { libc::ioctl(node.as_raw_fd(), LOOP_GET_STATUS64, &raw mut status) };
    if answer != 0 {
        let errno = Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO);
        return if errno == Errno::NXIO { Ok(None) } else { Err(errno) };
    }
    Ok(Some(if status.rdevice == status.device || status.rdevice == 0 {
        let id = FileId { dev: DevId::from_raw(status.device), inode: status.inode };
        Shown::File(Backing::of_loop(view, member, id), status.offset)
    } else {
        Shown::Device(DevId::from_raw(status.rdevice))
    }))
}

const _: () = assert!(size_of::<Status>() == 232);

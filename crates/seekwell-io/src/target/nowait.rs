//! Whether a device can be asked without waiting.

use super::buffers::Buffers;
use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, major, minor};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::PathBuf;

/// Whether requests on a file are better handed to the kernel's worker threads at once.
///
/// The kernel first tries each request of a ring without waiting. A device that cannot be asked so
/// (zram, and others without queues of their own) refuses, and the attempt is wasted. Whether it
/// does is found by trying, and only there: a read that nobody asked for is one more request in the
/// counters of the device.
pub fn is_refused(file: BorrowedFd<'_>, buffers: &mut Buffers) -> bool {
    let direct = fcntl_getfl(file).is_ok_and(|flags| flags.contains(OFlags::DIRECT));
    direct && without_queues(file) && !answers(file, buffers)
}

/// Whether a file lies on a block device that has no hardware queue (`mq` in sysfs).
fn without_queues(file: BorrowedFd<'_>) -> bool {
    let Ok(stat) = fstat(file) else { return false };
    let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    let number = if is_device { stat.st_rdev } else { stat.st_dev };
    let device = PathBuf::from(format!("/sys/dev/block/{}:{}", major(number), minor(number)));
    // A partition's queues are those of its disk, the folder around its own.
    let Ok(device) = device.canonicalize() else { return false };
    let disk = if device.join("partition").exists() { device.join("..") } else { device };
    !disk.join("mq").exists()
}

/// Whether a read that must not wait is done, or can be.
fn answers(file: BorrowedFd<'_>, buffers: &mut Buffers) -> bool {
    let buffer = buffers.get(0);
    let vector =
        libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len().min(4096) };
    // SAFETY: the vector names bytes of a buffer that nothing else uses before a ring has it.
    let read =
        unsafe { libc::preadv2(file.as_raw_fd(), &raw const vector, 1, 0, libc::RWF_NOWAIT) };
    let errno = std::io::Error::last_os_error().raw_os_error();
    read >= 0 || !matches!(errno, Some(libc::EAGAIN | libc::EOPNOTSUPP))
}

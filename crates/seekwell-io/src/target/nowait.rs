//! Whether a device can be asked without waiting.

use super::buffers::Buffers;
use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, major, minor};
use seekwell_sys::{DevId, Live, nvme};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A drive takes longer than this even for what its cache holds.
const PROMPT: Duration = Duration::from_micros(50);

/// Whether requests on a file are better handed to the kernel's worker threads at once.
///
/// The kernel first tries each request of a ring without waiting. A device that cannot be asked so
/// (zram, and others without queues of their own) refuses, and the attempt is wasted. Whether it
/// does is found by trying, and only there, because the extra read shows in the device's counters.
pub fn is_refused(file: BorrowedFd<'_>) -> bool {
    let direct = fcntl_getfl(file).is_ok_and(|flags| flags.contains(OFlags::DIRECT));
    direct && without_queues(file) && !answers(file)
}

/// Whether a file lies on a block device that has no hardware queue (`mq` in sysfs).
fn without_queues(file: BorrowedFd<'_>) -> bool {
    disk_of(file).is_some_and(|disk| !disk.join("mq").exists())
}

/// The sysfs folder of the disk that a file is on, is, or is the character device of.
pub(super) fn disk_of(file: BorrowedFd<'_>) -> Option<PathBuf> {
    let stat = fstat(file).ok()?;
    let number = match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => stat.st_rdev,
        FileType::CharacterDevice => {
            return nvme::disk_of(&Live::system(), DevId::from_raw(stat.st_rdev)).ok()?;
        }
        _ => stat.st_dev,
    };
    let device = PathBuf::from(format!("/sys/dev/block/{}:{}", major(number), minor(number)));
    // A partition's queues are those of its disk, the folder around its own.
    let device = device.canonicalize().ok()?;
    Some(if device.join("partition").exists() { device.join("..") } else { device })
}

/// Whether a read that must not wait is done, or can be.
fn answers(file: BorrowedFd<'_>) -> bool {
    let Ok(mut buffers) = Buffers::new(1, 4096, |_| ()) else { return true };
    let read = read(file, buffers.get(0), libc::RWF_NOWAIT);
    !matches!(read, Err(libc::EAGAIN | libc::EOPNOTSUPP))
}

/// Whether a thread that waits for each of its requests on a file is soon free for the next, as on
/// a device that is memory.
pub fn is_prompt(file: BorrowedFd<'_>) -> bool {
    let Ok(mut buffers) = Buffers::new(1, 4096, |_| ()) else { return false };
    let mut took = [(); 9].map(|()| {
        let begun = Instant::now();
        read(file, buffers.get(0), 0).map_or(Duration::MAX, |_| begun.elapsed())
    });
    took.sort_unstable();
    took[took.len() / 2] < PROMPT
}

pub(super) fn read(file: BorrowedFd<'_>, buffer: &mut [u8], flags: i32) -> Result<usize, i32> {
    let vector = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: the vector names bytes of a buffer that is the caller's own.
    let read = unsafe { libc::preadv2(file.as_raw_fd(), &raw const vector, 1, 0, flags) };
    usize::try_from(read)
        .map_err(|_| std::io::Error::last_os_error().raw_os_error().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement::Issuer;
    use crate::target::{Engine, Real, Stamped, Target};
    use rustix::fs::{Mode, open};
    use std::os::fd::AsFd;
    use std::path::Path;

    fn refused(path: &Path, flags: OFlags) -> bool {
        let file = open(path, OFlags::RDONLY | flags, Mode::empty()).unwrap();
        is_refused(file.as_fd())
    }

    /// A zram device of its own; none without root or the module.
    struct Zram(String);

    impl Zram {
        fn new() -> Option<Self> {
            let number = std::fs::read_to_string("/sys/class/zram-control/hot_add").ok()?;
            let zram = Self(number.trim().to_owned());
            std::fs::write(zram.attribute("disksize"), "1048576").unwrap();
            Some(zram)
        }

        fn attribute(&self, name: &str) -> String {
            format!("/sys/block/zram{}/{name}", self.0)
        }
    }

    impl Drop for Zram {
        fn drop(&mut self) {
            // udev may hold it open for a moment.
            let begin = Instant::now();
            let gone = || {
                std::fs::write(self.attribute("reset"), "1").is_ok()
                    && std::fs::write("/sys/class/zram-control/hot_remove", &self.0).is_ok()
            };
            while !gone() && begin.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    #[test]
    fn a_device_without_queues_that_has_to_wait_refuses() {
        let Some(zram) = Zram::new() else {
            eprintln!("skipped: no zram device can be made here");
            return;
        };
        let node = format!("/dev/zram{}", zram.0);
        let file = open(&node, OFlags::RDONLY | OFlags::DIRECT, Mode::empty()).unwrap();
        let real = Real::open(Engine::Auto, &[file.as_fd()], (8, 4096), || Stamped::new(1));
        let issuer = real.unwrap().issuer();
        assert!(matches!(issuer, Some(Issuer::Calls | Issuer::RingWorkers)), "{issuer:?}");
        assert!(refused(Path::new(&node), OFlags::DIRECT));
        // The page cache sends nothing to the device.
        assert!(!refused(Path::new(&node), OFlags::empty()));
    }
}

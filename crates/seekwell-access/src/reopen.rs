//! What was opened, once more and in another way. This is the only place that asks /proc for it.

use crate::Opened;
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;

/// How requests of a descriptor reach the disk; by default through the page cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Way {
    pub direct: bool,
    /// Each write is durable when it returns (`O_SYNC`).
    pub sync: bool,
    /// Its data is (`O_DSYNC`).
    pub data_sync: bool,
}

impl Opened {
    /// Opens the same file or device once more, for reading and writing as this handle is and for
    /// no more. It must not outlive this handle, which holds the claim on the device.
    ///
    /// # Errors
    /// What the kernel says; `ESTALE` where /proc leads to something else, and is not that of this
    /// process.
    pub fn reopen(&self, way: Way) -> io::Result<OwnedFd> {
        let own = self.as_fd();
        let access = rustix::fs::fcntl_getfl(own)? & OFlags::RWMODE;
        let may_write = access == OFlags::RDWR;
        assert_eq!(may_write, self.writable(), "a handle can do what its type says");
        let flag = |set: bool, flag: OFlags| if set { flag } else { OFlags::empty() };
        let flags = access
            | OFlags::CLOEXEC
            | OFlags::NOCTTY
            | flag(way.direct, OFlags::DIRECT)
            | flag(way.sync, OFlags::SYNC)
            | flag(way.data_sync, OFlags::DSYNC);
        let path = by_descriptor(own);
        let fd = rustix::io::retry_on_intr(|| rustix::fs::open(&path, flags, Mode::empty()))?;
        let (before, now) = (rustix::fs::fstat(own)?, rustix::fs::fstat(&fd)?);
        if which(&before) != which(&now) {
            return Err(Errno::STALE.into());
        }
        Ok(fd)
    }
}

/// The path of an open file or folder that may have no name; it leads there for as long as that is
/// open.
pub fn by_descriptor(file: impl AsFd) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()).into()
}

/// The number of a device, or those of a file and its file system.
fn which(stat: &Stat) -> (bool, u64, u64) {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => (true, stat.st_rdev, 0),
        _ => (false, stat.st_dev, stat.st_ino),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scratch, open_read_only};

    #[test]
    fn what_is_opened_again_is_the_same_file_and_can_do_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, [7; 8192]).unwrap();
        let read_only = Opened::ReadOnly(open_read_only(&path).unwrap());
        // Whatever has the name by now.
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, [8; 8192]).unwrap();
        let again = read_only.reopen(Way::default()).unwrap();
        let mut byte = [0];
        assert_eq!(rustix::io::pread(&again, &mut byte, 0), Ok(1));
        assert_eq!(byte, [7]);
        assert_eq!(rustix::io::pwrite(&again, &byte, 0), Err(Errno::BADF));

        let scratch = match Scratch::reserve(dir.path(), 8192, false) {
            Ok(scratch) => Opened::Scratch(scratch),
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let again = scratch.reopen(Way { sync: true, ..Way::default() }).unwrap();
        assert_eq!(rustix::io::pwrite(&again, &[9], 0), Ok(1));
        let flags = rustix::fs::fcntl_getfl(&again).unwrap();
        assert!(flags.contains(OFlags::SYNC) && !flags.contains(OFlags::DIRECT));
    }
}

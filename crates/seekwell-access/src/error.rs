//! Why something could not be opened for reading, or a temporary file could not be made.

use seekwell_sys::units::bytes;
use seekwell_sys::{ViewError, classify, sudo};
use std::io;
use std::path::PathBuf;

/// Why NVMe commands cannot be sent to a device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum NoCommands {
    #[error("a partition is only reachable through the block layer; name the namespace, {disk}")]
    Partition { disk: String },
    #[error(
        "only an NVMe namespace does, through its character device: /dev/ng0n1 for /dev/nvme0n1 \
         (Linux 5.13 or later)"
    )]
    NotNvme,
    #[error("its blocks carry {bytes} bytes of metadata, which are not supported here")]
    Metadata { bytes: u16 },
    /// sysfs pairs the two devices, but they identify as different namespaces.
    #[error("{generic} is a different namespace; see `nvme list`")]
    OtherNamespace { generic: String },
}

/// Opening for reading, or making a temporary file, failed. Nothing was left behind.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// Nothing is at the path; it is never created.
    #[error(
        "{} does not exist, and what is to be measured is never created; \
         list the disks with `seekwell inspect`", path.display()
    )]
    Missing { path: PathBuf },
    #[error(
        "{} is a {kind}; a block device or a regular file is needed \
         (a temporary file is made in a directory, not opened)", path.display()
    )]
    NotMeasurable { path: PathBuf, kind: &'static str },
    /// It does not take passthrough commands.
    #[error("{} takes no NVMe commands (io_uring_cmd): {why}", path.display())]
    NoCommands { path: PathBuf, why: NoCommands },
    #[error("{} is empty: 0 bytes, at least one block is needed", path.display())]
    Empty { path: PathBuf },
    #[error(
        "{} may not be read by user {uid}{}, or as a member of the group that owns the file",
        path.display(), sudo()
    )]
    ReadDenied { path: PathBuf, uid: u32 },
    #[error("{} is not a directory; a temporary file needs one", path.display())]
    NotADirectory { path: PathBuf },
    #[error(
        "user {uid} may not create files in {}{}, or choose a directory of your own",
        dir.display(), sudo()
    )]
    WriteDenied { dir: PathBuf, uid: u32 },
    #[error(
        "the file system of {} is mounted read-only; choose another directory, \
         or make it writable with `mount -o remount,rw MOUNTPOINT`", dir.display()
    )]
    ReadOnlyFileSystem { dir: PathBuf },
    #[error(
        "too little room: {} are available of which {} must stay free, and the smallest useful \
         file is {}; free {} or choose another directory",
        bytes(*available_bytes), bytes(*reserved_bytes), bytes(*minimum_bytes),
        bytes(needed_bytes.saturating_sub(*available_bytes))
    )]
    TooLittleRoom {
        available_bytes: u64,
        /// What must stay free: 10 % of the file system, 1 GiB at least, in bytes.
        reserved_bytes: u64,
        minimum_bytes: u64,
        needed_bytes: u64,
    },
    #[error(
        "the file system of {} has room for {available} more files, and {needed} are needed; \
         ask for fewer or choose another directory", dir.display()
    )]
    TooFewInodes { dir: PathBuf, available: u64, needed: u64 },
    #[error(
        "the file system of {} is full after {} of {}; the temporary file is removed; \
         free some room or ask for a smaller file", dir.display(), bytes(*written_bytes),
        bytes(*wanted_bytes)
    )]
    NoSpace { dir: PathBuf, written_bytes: u64, wanted_bytes: u64 },
    #[error(
        "the disk quota of user {uid} in {} is used up after {} of {}; the temporary file is \
         removed; see `quota -s`, or ask for a smaller file", dir.display(),
        bytes(*written_bytes), bytes(*wanted_bytes)
    )]
    Quota { dir: PathBuf, uid: u32, written_bytes: u64, wanted_bytes: u64 },
    /// `RLIMIT_FSIZE` would kill the process in the middle of the file.
    #[error(
        "files of this process may be at most {} (`ulimit -f`), and {} are needed; \
         raise it with `ulimit -f unlimited` or ask for a smaller file",
        bytes(*limit_bytes), bytes(*needed_bytes)
    )]
    FileSizeLimit { limit_bytes: u64, needed_bytes: u64 },
    #[error(
        "the file system of {} holds no file larger than about {}; ask for a smaller one than {}",
        dir.display(), bytes(*written_bytes), bytes(*wanted_bytes)
    )]
    FileTooLarge { dir: PathBuf, written_bytes: u64, wanted_bytes: u64 },
    /// The caller's stop flag was raised while the file was written.
    #[error("stopped after {} of {}; the temporary file is removed",
        bytes(*written_bytes), bytes(*wanted_bytes))]
    Stopped { written_bytes: u64, wanted_bytes: u64 },
    #[error(transparent)]
    View(#[from] ViewError),
    /// A system call failed in a way that has no better name here.
    #[error("{what} of {} failed: {source}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
}

impl AccessError {
    /// Whether a temporary file has no place here, and all else may be in order.
    pub const fn is_no_place(&self) -> bool {
        matches!(self, Self::ReadOnlyFileSystem { .. } | Self::TooLittleRoom { .. })
    }
}

classify!(AccessError {
    Usage: Missing, NotMeasurable, NotADirectory, NoCommands;
    Refused: Empty, ReadDenied, WriteDenied, ReadOnlyFileSystem, TooLittleRoom, TooFewInodes,
        NoSpace, Quota, FileSizeLimit, FileTooLarge, View, Io;
    Interrupted: Stopped;
});

/// The effective user, for error sentences.
pub(crate) fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

//! Where requests go: real files and devices on the real clock, or anything on a clock of its own.

mod buffers;
mod fixed;
mod flags;
mod nowait;
mod null;
mod passthrough;
mod payload;
mod real;
mod ring;
mod threads;
mod uring;

#[cfg(test)]
mod tests;

pub use fixed::{Fixed, Served};
pub use flags::AtomicUnits;
pub use null::Null;
pub use passthrough::Passthrough;
pub use payload::{Payload, Stamped};
pub use real::Real;
pub use threads::Threads;
pub use uring::Uring;

use crate::engine::process_cpu;
use crate::measurement::Issuer;
use crate::request::{Completion, Tagged};
use crate::units::Nanos;
use seekwell_sys::classify;
use seekwell_sys::thread::NoThread;
use serde::{Deserialize, Serialize};

/// How requests are issued to a real target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// A ring for each thread where the kernel allows it, and system calls where a ring is in the
    /// way: where it would hand each request to a thread of the kernel though the device completes
    /// it within the call, and commits at depth 1.
    Auto,
    /// A ring for each thread, whatever it is asked for.
    IoUring,
    /// A pool of system calls for each thread.
    Threads,
    /// NVMe passthrough: commands that bypass the block layer, through a ring for each thread.
    IoUringCmd,
}

impl Engine {
    /// All, with what each does, in words.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Auto, "io_uring where the kernel allows it, threads elsewhere"),
        (Self::IoUring, "io_uring, or an error"),
        (Self::Threads, "pread and pwrite from a pool of threads"),
        (Self::IoUringCmd, "NVMe passthrough, bypassing the block layer (root)"),
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::IoUring => "io_uring",
            Self::Threads => "threads",
            Self::IoUringCmd => "io_uring_cmd",
        }
    }

    /// The engine of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().map(|(engine, _)| *engine).find(|engine| engine.name() == name)
    }

    /// What issues requests once it is known that it works here.
    pub const fn issuer(self) -> &'static str {
        match self {
            Self::Auto | Self::IoUring => "io_uring",
            Self::Threads => "threads",
            Self::IoUringCmd => "io_uring_cmd",
        }
    }
}

/// How long [`Target::reap`] may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Until {
    /// Return once this many completions are there; 0 takes what there is.
    pub completions: u32,
    /// Return at this time at the latest, with whatever is there.
    pub deadline: Nanos,
}

/// Something that does requests. `submit` hands them over, `reap` brings completions back, and time
/// passes only in `reap`. A slot is not used again before its completion was reaped.
pub trait Target {
    /// Takes requests. A target may hold them until the next `reap`, so that one system call can do
    /// both.
    ///
    /// # Errors
    /// [`TargetError`] when the target as a whole fails; a request that fails is a [`Completion`].
    fn submit(&mut self, batch: &[Tagged]) -> Result<(), TargetError>;

    /// Appends completions to `out`.
    ///
    /// # Errors
    /// As for `submit`.
    fn reap(&mut self, until: Until, out: &mut Vec<Completion>) -> Result<(), TargetError>;

    /// The target's clock.
    fn now(&self) -> Nanos;

    /// CPU time of the host so far, in user mode and in the kernel: this process's, unless the host
    /// is a model too.
    fn cpu(&self) -> (Nanos, Nanos) {
        process_cpu()
    }

    /// System calls made so far to submit and to reap.
    fn syscalls(&self) -> u64 {
        0
    }

    /// Who makes the requests, where the kernel gets any.
    fn issuer(&self) -> Option<Issuer> {
        None
    }
}

/// A target that failed as a whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum TargetError {
    /// The kernel refuses io_uring to this process: ENOSYS, EPERM (sysctl or seccomp) or ENOMEM
    /// (RLIMIT_MEMLOCK).
    #[error("io_uring is not available to this process: {}", describe(*errno))]
    RingRefused { errno: i32 },
    #[error("{what} failed: {}", describe(*errno))]
    Setup { what: &'static str, errno: i32 },
    #[error(transparent)]
    NoThread(#[from] NoThread),
    #[error("{what} failed: {}", describe(*errno))]
    Io { what: &'static str, errno: i32 },
    /// The kernel reports no atomic writes, or not of this length.
    #[error(
        "writes of {bytes} bytes cannot be atomic here{}",
        units.as_ref().map_or_else(
            || "; needed: a device whose queue/atomic_write_unit_max_bytes is above 0, or a file \
                system that has them (XFS, ext4), past the page cache".to_owned(),
            |u| format!("; needed: a power of two from {} to {}", u.least, u.most),
        )
    )]
    NotAtomic { bytes: u32, units: Option<AtomicUnits> },
    #[error(
        "this kernel or file system has no uncached reads and writes (RWF_DONTCACHE); needed: \
         Linux 6.14 and XFS, ext4 or btrfs"
    )]
    NotUncached,
    #[error(
        "the disk has no queues to poll (queue/io_poll is 0); needed: a driver loaded with some, \
         as nvme with poll_queues=1"
    )]
    NotPolled,
    #[error("no kernel does these requests, so they cannot be atomic, uncached or polled (hipri)")]
    NoKernel,
    #[error("completions can be polled for only in a ring; needed: --engine io_uring")]
    NoRingToPoll,
    #[error("this kernel does not support NVMe passthrough through io_uring; needed: Linux 5.19")]
    NoPassthrough,
    #[error(
        "passthrough requests (io_uring_cmd) cannot be atomic or uncached, or use the page cache \
         (direct=0)"
    )]
    NotByCommand,
    /// Only the block layer splits requests.
    #[error(
        "requests of {bytes} bytes are too long for one NVMe command (io_uring_cmd); \
         needed: at most {most}"
    )]
    CommandTooLong { bytes: u32, most: u64 },
}

classify!(TargetError {
    Refused: RingRefused, Setup, NoThread, Io, NotAtomic, NotUncached, NotPolled, NoPassthrough;
    Usage: NoKernel, NoRingToPoll, NotByCommand, CommandTooLong;
});

fn describe(errno: i32) -> std::io::Error {
    std::io::Error::from_raw_os_error(errno)
}

//! Where requests go: real files and devices on the real clock, or anything on a clock of its own.

mod buffers;
mod fixed;
mod nowait;
mod null;
mod payload;
mod threads;
mod uring;

#[cfg(test)]
mod tests;

pub use fixed::{Fixed, Served};
pub use null::Null;
pub use payload::{Payload, Stamped};
pub use threads::Threads;
pub use uring::Uring;

use crate::engine::process_cpu;
use crate::request::{Completion, Tagged};
use crate::units::Nanos;

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
}

/// A target that failed as a whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The kernel refuses io_uring to this process: ENOSYS, EPERM (sysctl or seccomp) or ENOMEM
    /// (RLIMIT_MEMLOCK).
    #[error("io_uring is not available to this process: {}", describe(*errno))]
    RingRefused {
        /// What the kernel answered.
        errno: i32,
    },
    /// Setting up failed.
    #[error("{what} failed: {}", describe(*errno))]
    Setup {
        /// The step.
        what: &'static str,
        /// What the kernel answered.
        errno: i32,
    },
    /// Submitting or waiting failed.
    #[error("{what} failed: {}", describe(*errno))]
    Io {
        /// The step.
        what: &'static str,
        /// What the kernel answered.
        errno: i32,
    },
}

/// An errno in words.
fn describe(errno: i32) -> std::io::Error {
    std::io::Error::from_raw_os_error(errno)
}

//! Why nothing can be recorded, with the command that changes it.

use crate::bpf::BpfError;
use seekwell_sys::{classify, sudo};
use std::io;
use std::path::PathBuf;

/// What keeps the kernel's block events from being read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum CaptureError {
    #[error(
        "recording reads the kernel's block events, which user {uid} may not ({what}: {source}){}",
        sudo()
    )]
    Denied { uid: u32, what: &'static str, source: io::Error },
    #[error(
        "the kernel is locked down ({mode}) and refuses tracing, even for root; it allows \
         tracing again after a start with `lockdown=integrity` or `lockdown=none` on the kernel's \
         command line, or with Secure Boot switched off"
    )]
    LockedDown {
        /// The content of `/sys/kernel/security/lockdown`.
        mode: String,
    },
    #[error(
        "tracefs is not mounted and cannot be ({source}); as root: \
         mount -t tracefs nodev /sys/kernel/tracing"
    )]
    NotMounted { source: io::Error },
    #[error(
        "this kernel has no event {event} ({}): it was built without CONFIG_BLK_DEV_IO_TRACE or \
         CONFIG_EVENT_TRACING", path.display()
    )]
    NoEvent { event: String, path: PathBuf },
    /// A description that the kernel gives of its events or buffers is not understood.
    #[error("{}: {wrong}", path.display())]
    Layout { path: PathBuf, wrong: LayoutError },
    /// A file of tracefs could not be read or written.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// `reading`, `writing`, …
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error(
        "the kernel has no memory for buffers of {bytes_per_cpu} bytes on each CPU ({source}); \
         try a smaller --buffer"
    )]
    NoMemory { bytes_per_cpu: u64, source: io::Error },
    #[error(transparent)]
    Bpf(#[from] BpfError),
    /// The thread that reads the buffers could not be started, or ended by itself.
    #[error("the thread that reads the kernel's buffers failed: {0}")]
    Thread(io::Error),
    #[error("the kernel's buffer of CPU {cpu} holds {wrong}")]
    Buffer { cpu: u16, wrong: LayoutError },
}

classify!(CaptureError {
    Refused: Denied, LockedDown, NotMounted, NoEvent, Layout, Io, NoMemory, Thread, Buffer;
    | Self::Bpf(error) => error.class(),
});

/// A description or a buffer of the kernel that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum LayoutError {
    #[error("no {0} in it")]
    Missing(&'static str),
    #[error("a line that cannot be read: {0:?}")]
    Unreadable(String),
    #[error("a field {0:?} of {1} bytes at {2}, which is no such field")]
    Field(String, usize, usize),
    #[error("an event that ends beyond its page, at byte {0}")]
    Overrun(usize),
}

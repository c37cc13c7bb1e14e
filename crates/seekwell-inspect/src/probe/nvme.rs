//! Nodes of NVMe controllers and namespaces, opened for admin commands.

use rustix::fs::{Mode, OFlags};
use seekwell_sys::nvme::{AdminCommand, admin};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// A controller or a namespace, opened for commands.
#[derive(Debug)]
pub struct NvmeNode(OwnedFd);

impl NvmeNode {
    /// Opens `/dev/nvme0` or `/dev/nvme0n1`.
    ///
    /// # Errors
    /// As the kernel answers.
    pub fn open(node: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::open(node, flags, Mode::empty())?))
    }

    /// Sends a command; as [`admin`].
    ///
    /// # Errors
    /// As for [`admin`].
    pub fn issue(&self, command: AdminCommand, data: &mut [u8]) -> io::Result<u32> {
        admin(&self.0, command, data)
    }
}

//! Admin commands of an NVMe controller by ioctl (`linux/nvme_ioctl.h`).

use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// `_IOWR('N', 0x41, struct nvme_passthru_cmd)`.
const ADMIN_CMD: libc::Ioctl = 0xc048_4e41_u32 as libc::Ioctl;
const TIMEOUT_MS: u32 = 5_000;

/// A command; what is left out is 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct AdminCommand {
    pub opcode: u8,
    pub nsid: u32,
    pub cdw10: u32,
    pub cdw11: u32,
    pub cdw14: u32,
}

/// `struct nvme_passthru_cmd`.
#[repr(C)]
#[derive(Default)]
struct Passthru {
    opcode: u8,
    flags: u8,
    rsvd1: u16,
    nsid: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    addr: u64,
    metadata_len: u32,
    data_len: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    timeout_ms: u32,
    result: u32,
}

const _: () = assert!(size_of::<Passthru>() == 0x48, "the ioctl's number holds the size");

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

    /// Sends a command whose data, where it has any, are in `data`, and gives the first double word
    /// of its completion.
    ///
    /// # Errors
    /// As the kernel answers; a status of the controller's is an error with it in words.
    /// [`io::ErrorKind::NotFound`] where the device knows no such command or takes none.
    pub fn issue(&self, command: AdminCommand, data: &mut [u8]) -> io::Result<u32> {
        let AdminCommand { opcode, nsid, cdw10, cdw11, cdw14 } = command;
        let mut command = Passthru {
            opcode,
            nsid,
            addr: if data.is_empty() { 0 } else { data.as_mut_ptr() as u64 },
            data_len: data.len() as u32,
            cdw10,
            cdw11,
            cdw14,
            timeout_ms: TIMEOUT_MS,
            ..Passthru::default()
        };
        // SAFETY: the command is laid out as in linux/nvme_ioctl.h; its only pointer is to a
        // buffer that lives until the call returns, and its length is given with it.
        let status = unsafe { libc::ioctl(self.0.as_raw_fd(), ADMIN_CMD, &raw mut command) };
        match status {
            0 => Ok(command.result),
            ..0 => {
                let error = io::Error::last_os_error();
                Err(match error.raw_os_error() {
                    Some(libc::ENOTTY) => io::ErrorKind::NotFound.into(),
                    _ => error,
                })
            }
            status => Err(refused(status as u32)),
        }
    }
}

/// A status of the controller's: code in bits 7:0, type in bits 10:8.
fn refused(status: u32) -> io::Error {
    match status & 0x7ff {
        // Invalid opcode, invalid log page, invalid field, feature not changeable.
        0x001 | 0x109 => io::ErrorKind::NotFound.into(),
        0x002 => io::Error::new(io::ErrorKind::InvalidInput, "the controller knows no such value"),
        0x10e => io::Error::new(io::ErrorKind::Unsupported, "the controller lets nobody change it"),
        status => io::Error::other(format!("the controller answers with status {status:#05x}")),
    }
}

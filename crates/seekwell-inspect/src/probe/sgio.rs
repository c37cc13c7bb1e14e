//! The SG_IO ioctl (Documentation/scsi/scsi-generic.rst; `struct sg_io_hdr` of scsi/sg.h).

use super::passthrough::{Passthrough, ProbeError, Reply};
use rustix::fs::{Mode, OFlags};
use std::ffi::{c_int, c_uchar, c_uint, c_ushort, c_void};
use std::os::fd::{AsRawFd, OwnedFd};

const SG_IO: libc::Ioctl = 0x2285;
const DXFER_NONE: c_int = -1;
const DXFER_FROM_DEV: c_int = -3;
/// A healthy disk answers at once; one in error recovery is not waited for.
const TIMEOUT_MS: c_uint = 5_000;

#[repr(C)]
struct Header {
    interface_id: c_int,
    dxfer_direction: c_int,
    cmd_len: c_uchar,
    mx_sb_len: c_uchar,
    iovec_count: c_ushort,
    dxfer_len: c_uint,
    dxferp: *mut c_void,
    cmdp: *mut c_uchar,
    sbp: *mut c_uchar,
    timeout: c_uint,
    flags: c_uint,
    pack_id: c_int,
    usr_ptr: *mut c_void,
    status: c_uchar,
    masked_status: c_uchar,
    msg_status: c_uchar,
    sb_len_wr: c_uchar,
    host_status: c_ushort,
    driver_status: c_ushort,
    resid: c_int,
    duration: c_uint,
    info: c_uint,
}

/// The length of a command, which the first three bits of its code say.
const fn length(opcode: u8) -> c_uchar {
    match opcode >> 5 {
        0 => 6,
        1 | 2 => 10,
        5 => 12,
        _ => 16,
    }
}

/// A disk opened for commands: read-only and without waiting for a medium.
#[derive(Debug)]
pub struct SgIo {
    disk: OwnedFd,
}

impl SgIo {
    /// Opens a device node, `/dev/sda`.
    ///
    /// # Errors
    /// [`ProbeError::Open`] and [`ProbeError::Denied`].
    pub fn open(path: &str) -> Result<Self, ProbeError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(disk) => Ok(Self { disk }),
            Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM) => Err(ProbeError::Denied),
            Err(e) => Err(ProbeError::Open { path: path.to_owned(), errno: e.raw_os_error() }),
        }
    }
}

impl Passthrough for SgIo {
    fn send(&mut self, mut cdb: [u8; 16], data: &mut [u8]) -> Result<Reply, ProbeError> {
        let mut sense = [0_u8; 64];
        let mut header = Header {
            interface_id: c_int::from(b'S'),
            dxfer_direction: if data.is_empty() { DXFER_NONE } else { DXFER_FROM_DEV },
            cmd_len: length(cdb[0]),
            mx_sb_len: sense.len() as c_uchar,
            iovec_count: 0,
            dxfer_len: data.len() as c_uint,
            dxferp: data.as_mut_ptr().cast(),
            cmdp: cdb.as_mut_ptr(),
            sbp: sense.as_mut_ptr(),
            timeout: TIMEOUT_MS,
            flags: 0,
            pack_id: 0,
            usr_ptr: std::ptr::null_mut(),
            status: 0,
            masked_status: 0,
            msg_status: 0,
            sb_len_wr: 0,
            host_status: 0,
            driver_status: 0,
            resid: 0,
            duration: 0,
            info: 0,
        };
        // SAFETY: the header is laid out as in scsi/sg.h, its pointers are to buffers that live
        // until the call returns, and their lengths are given with them; the kernel writes within
        // those.
        let answered = unsafe { libc::ioctl(self.disk.as_raw_fd(), SG_IO, &raw mut header) };
        if answered < 0 {
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
            return Err(match errno {
                libc::EPERM | libc::EACCES => ProbeError::Denied,
                errno => ProbeError::NotScsi { errno },
            });
        }
        Ok(Reply {
            status: header.status,
            host: header.host_status,
            sense: sense[..usize::from(header.sb_len_wr).min(sense.len())].to_vec(),
        })
    }
}

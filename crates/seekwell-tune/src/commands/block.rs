//! Two flags the kernel keeps: whether a disk may be written to, and how wide PIO transfers are.
//!
//! Sources: `linux/fs.h` (`BLKROSET`, `BLKROGET`), `linux/hdreg.h` (`HDIO_SET_32BIT`,
//! `HDIO_GET_32BIT`); `ata_sas_scsi_ioctl` of drivers/ata/libata-scsi.c, which changes the width
//! for drivers that can do both and takes only the present one for all others.

use super::knobs::{Knobs, not_offered, number};
use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

const BLKROSET: libc::Ioctl = 0x125d;
const BLKROGET: libc::Ioctl = 0x125e;
const HDIO_GET_32BIT: libc::Ioctl = 0x0309;
const HDIO_SET_32BIT: libc::Ioctl = 0x0324;

#[derive(Debug)]
pub struct Block {
    device: OwnedFd,
}

impl Block {
    pub fn open(node: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(Self { device: rustix::fs::open(node, flags, Mode::empty())? })
    }
}

fn answered(result: libc::c_int) -> io::Result<()> {
    if result >= 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ENOTTY) => Err(not_offered()),
        _ => Err(error),
    }
}

impl Knobs for Block {
    fn read(&self, knob: &str) -> io::Result<String> {
        let fd = self.device.as_raw_fd();
        match knob {
            "read_only" => {
                let mut flag: libc::c_int = 0;
                // SAFETY: BLKROGET writes one int to the address it is given.
                answered(unsafe { libc::ioctl(fd, BLKROGET, &raw mut flag) })?;
                Ok(u8::from(flag != 0).to_string())
            }
            "io_32bit" => {
                let mut width: libc::c_ulong = 0;
                // SAFETY: HDIO_GET_32BIT writes one unsigned long to the address it is given.
                answered(unsafe { libc::ioctl(fd, HDIO_GET_32BIT, &raw mut width) })?;
                Ok(width.to_string())
            }
            _ => Err(not_offered()),
        }
    }

    fn write(&self, knob: &str, text: &str) -> io::Result<()> {
        let fd = self.device.as_raw_fd();
        let value = number(text, 0, 1)?;
        match knob {
            "read_only" => {
                let flag = value as libc::c_int;
                // SAFETY: BLKROSET reads one int from the address it is given.
                answered(unsafe { libc::ioctl(fd, BLKROSET, &raw const flag) })
            }
            "io_32bit" => {
                // SAFETY: HDIO_SET_32BIT takes the value itself and touches no memory of ours.
                answered(unsafe { libc::ioctl(fd, HDIO_SET_32BIT, libc::c_ulong::from(value)) })
            }
            _ => Err(not_offered()),
        }
    }
}

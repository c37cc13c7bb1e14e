//! Look-ahead, advanced power management and acoustics of an ATA drive: SET FEATURES through ATA
//! PASS-THROUGH(16), read back from IDENTIFY DEVICE.
//!
//! libata lets them through as they are; only SET FEATURES–XFER MODE is refused. A drive forgets
//! them when its power goes, unless it was set otherwise.
//!
//! Sources: ATA8-ACS (T13/1699-D) §7.16 for IDENTIFY words 82–94, §7.48 for the subcommands of SET
//! FEATURES (acoustics: ATA/ATAPI-7 §6.49, obsolete since); SAT-3 §12.2 for the wrapping.

use super::knobs::{Knobs, not_offered, number};
use seekwell_inspect::probe::{Passthrough, ProbeError, Reply, SgIo};
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Protocols in byte 1, bits 4:1.
const NON_DATA: u8 = 3 << 1;
const PIO_IN: u8 = 4 << 1;
/// Data from the device, in blocks, counted by the count register.
const FROM_DEVICE: u8 = 0x0e;
const IDENTIFY_DEVICE: u8 = 0xec;
const SET_FEATURES: u8 = 0xef;
const SECTOR: usize = 512;

/// APM's value for *off*, as hdparm has it: levels are 1 to 254.
const APM_OFF: u32 = 255;

pub struct Ata {
    disk: Mutex<Box<dyn Passthrough + Send>>,
}

impl std::fmt::Debug for Ata {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ata").finish_non_exhaustive()
    }
}

impl Ata {
    pub fn open(node: &Path) -> io::Result<Self> {
        let path = node.to_str().ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self::over(SgIo::open(path).map_err(of_probe)?))
    }

    /// Over anything that takes commands.
    pub fn over(disk: impl Passthrough + Send + 'static) -> Self {
        Self { disk: Mutex::new(Box::new(disk)) }
    }

    fn send(&self, cdb: [u8; 16], data: &mut [u8]) -> io::Result<()> {
        let mut disk = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        carried_out(&disk.send(cdb, data).map_err(of_probe)?)
    }

    fn identify(&self) -> io::Result<[u16; SECTOR / 2]> {
        let mut data = [0; SECTOR];
        let mut cdb = [0; 16];
        (cdb[0], cdb[1], cdb[2], cdb[6], cdb[14]) = (0x85, PIO_IN, FROM_DEVICE, 1, IDENTIFY_DEVICE);
        self.send(cdb, &mut data)?;
        let mut words = [0; SECTOR / 2];
        for (word, bytes) in words.iter_mut().zip(data.chunks_exact(2)) {
            *word = u16::from_le_bytes([bytes[0], bytes[1]]);
        }
        Ok(words)
    }

    fn set_features(&self, subcommand: u8, count: u8) -> io::Result<()> {
        let mut cdb = [0; 16];
        (cdb[0], cdb[1], cdb[14]) = (0x85, NON_DATA, SET_FEATURES);
        (cdb[4], cdb[6]) = (subcommand, count);
        self.send(cdb, &mut [])
    }
}

impl Knobs for Ata {
    fn read(&self, knob: &str) -> io::Result<String> {
        let words = self.identify()?;
        // Words 82 to 84 say what is supported, when bits 15:14 of 83 are 01.
        let valid = words[83] >> 14 == 1;
        let bit = |word: usize, bit: u16| valid && words[word] >> bit & 1 == 1;
        let offered = |supported: bool, value: u16| {
            if supported { Ok(value.to_string()) } else { Err(not_offered()) }
        };
        match knob {
            "look_ahead" => offered(bit(82, 6), u16::from(bit(85, 6))),
            "apm" if bit(86, 3) => offered(bit(83, 3), words[91] & 0xff),
            "apm" => offered(bit(83, 3), APM_OFF as u16),
            "acoustic" if bit(86, 9) => offered(bit(83, 9), words[94] & 0xff),
            "acoustic" => offered(bit(83, 9), 0),
            _ => Err(not_offered()),
        }
    }

    fn write(&self, knob: &str, text: &str) -> io::Result<()> {
        let (subcommand, count) = match (knob, number(text, 0, APM_OFF)?) {
            ("look_ahead", 0) => (0x55, 0),
            ("look_ahead", 1) => (0xaa, 0),
            ("apm", APM_OFF) => (0x85, 0),
            ("apm", level @ 1..APM_OFF) => (0x05, level as u8),
            ("acoustic", 0) => (0xc2, 0),
            ("acoustic", level @ 128..=254) => (0x42, level as u8),
            ("look_ahead" | "apm" | "acoustic", _) => {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            _ => return Err(not_offered()),
        };
        self.set_features(subcommand, count)
    }
}

fn carried_out(reply: &Reply) -> io::Result<()> {
    if reply.status == 0 && reply.host == 0 {
        return Ok(());
    }
    let at = |i: usize| reply.sense.get(i).copied().unwrap_or(0);
    let key = match at(0) & 0x7f {
        0x72 | 0x73 => at(1) & 15,
        _ => at(2) & 15,
    };
    Err(match key {
        0x05 => io::Error::new(io::ErrorKind::Unsupported, "the kernel does not pass it on"),
        0x0b => io::Error::new(io::ErrorKind::InvalidInput, "the drive aborts the command"),
        key => io::Error::other(format!(
            "the command failed with status {:#04x}, host {:#04x}, sense key {key:#x}",
            reply.status, reply.host
        )),
    })
}

fn of_probe(error: ProbeError) -> io::Error {
    match error {
        ProbeError::Denied => io::ErrorKind::PermissionDenied.into(),
        ProbeError::Open { errno, .. } => io::Error::from_raw_os_error(errno),
        ProbeError::NotScsi { .. } => not_offered(),
    }
}

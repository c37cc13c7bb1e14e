//! Asks an ATA disk, read-only, whether queued and DMA commands are accepted right now.
//!
//! sysfs does not know: after libata has given up on queueing or on DMA, `queue_depth` still shows
//! 32. But libata itself checks a command that comes through ATA PASS-THROUGH(16) against the flags
//! it keeps, and refuses one it would not issue with ILLEGAL REQUEST, 24h/00h. So one sector is
//! asked for with READ FPDMA QUEUED and with READ DMA EXT. A disk that sleeps is asked nothing that
//! would wake it: CHECK POWER MODE comes first, and ends the probe unless the disk is spinning.
//!
//! Sources: SAT-3 (T10/2126-D) §12.2 for the command and the returned descriptor, ACS-3 for the
//! commands, and the behaviour of Linux 6.1 (drivers/ata/libata-scsi.c, `ata_scsi_pass_thru`).

mod nvme;
mod passthrough;
mod sgio;
#[cfg(test)]
mod tests;

pub use nvme::NvmeNode;
pub use passthrough::{Passthrough, ProbeError, Reply};
pub use sgio::SgIo;

use serde::{Deserialize, Serialize};

const SECTOR: usize = 512;

/// Whether a kind of command is issued right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "answer")]
pub enum Answer {
    Accepted,
    /// The kernel refuses to issue it: ILLEGAL REQUEST, invalid field in CDB.
    Refused,
    /// The device knows no ATA pass-through: it is no ATA disk, or a bridge hides it.
    NotAta,
    /// It failed for another reason.
    Failed {
        status: u8,
        /// Sense key, additional sense code and its qualifier.
        sense: [u8; 3],
    },
}

/// Whether the disk spins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    Active,
    /// Idle, heads perhaps unloaded.
    Idle,
    /// Standby: the next read would spin it up.
    Standby,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Asked first; unless active or idle, nothing else was asked.
    pub power: Power,
    /// READ FPDMA QUEUED, one sector: queueing is on.
    pub ncq: Option<Answer>,
    /// READ DMA EXT, one sector: DMA is on.
    pub dma: Option<Answer>,
}

/// Asks for the power mode and, where that wakes nothing, whether queueing and DMA are on.
///
/// # Errors
/// [`ProbeError`] where the kernel sends no commands.
pub fn probe(disk: &mut dyn Passthrough) -> Result<Probe, ProbeError> {
    let reply = disk.send(CHECK_POWER_MODE, &mut [])?;
    if answer(&reply) == Answer::NotAta {
        let not_ata = Some(Answer::NotAta);
        return Ok(Probe { power: Power::Unknown, ncq: not_ata, dma: not_ata });
    }
    let power = Power::of(Registers::of(&reply.sense).map(|r| r.count));
    if !matches!(power, Power::Active | Power::Idle) {
        return Ok(Probe { power, ncq: None, dma: None });
    }
    let mut data = [0; SECTOR];
    let ncq = answer(&disk.send(READ_FPDMA_QUEUED, &mut data)?);
    let dma = answer(&disk.send(READ_DMA_EXT, &mut data)?);
    Ok(Probe { power, ncq: Some(ncq), dma: Some(dma) })
}

/// Protocols of byte 1 (bits 4:1).
const NON_DATA: u8 = 3 << 1;
const DMA: u8 = 6 << 1;
const FPDMA: u8 = 12 << 1;
/// Bit 0 of byte 1: registers are 48 bits wide.
const EXTEND: u8 = 1;
/// Byte 2: return the registers even when all is well.
const CK_COND: u8 = 0x20;
/// Byte 2: data from the device, in blocks, counted by the features (01) or the count (10)
/// register.
const FROM_DEVICE_BY_FEATURES: u8 = 0x0d;
const FROM_DEVICE_BY_COUNT: u8 = 0x0e;
const LBA_MODE: u8 = 0x40;

pub(crate) const CHECK_POWER_MODE: [u8; 16] = cdb(NON_DATA, CK_COND, [0, 0, 0], 0xe5);
/// One sector at LBA 0; the number of sectors goes into the features register.
const READ_FPDMA_QUEUED: [u8; 16] =
    cdb(FPDMA | EXTEND, FROM_DEVICE_BY_FEATURES, [1, 0, LBA_MODE], 0x60);
const READ_DMA_EXT: [u8; 16] = cdb(DMA | EXTEND, FROM_DEVICE_BY_COUNT, [0, 1, LBA_MODE], 0x25);

/// ATA PASS-THROUGH(16) with these registers, all others zero.
const fn cdb(protocol: u8, flags: u8, [features, count, device]: [u8; 3], command: u8) -> [u8; 16] {
    [0x85, protocol, flags, 0, features, 0, count, 0, 0, 0, 0, 0, 0, device, command, 0]
}

const ILLEGAL_REQUEST: u8 = 5;

fn answer(reply: &Reply) -> Answer {
    if reply.status == 0 && reply.host == 0 {
        return Answer::Accepted;
    }
    match reply.codes() {
        [ILLEGAL_REQUEST, 0x20, _] => Answer::NotAta,
        [ILLEGAL_REQUEST, 0x24, _] => Answer::Refused,
        // "ATA pass through information available": CK_COND was set and all is well.
        [1, 0, 0x1d] => Answer::Accepted,
        sense => Answer::Failed { status: reply.status, sense },
    }
}

/// Key, code and qualifier of sense data in either format; zeros if there are none.
pub(crate) fn sense_codes(sense: &[u8]) -> [u8; 3] {
    let at = |i: usize| sense.get(i).copied().unwrap_or(0);
    match at(0) & 0x7f {
        0x72 | 0x73 => [at(1) & 15, at(2), at(3)],
        0x70 | 0x71 => [at(2) & 15, at(12), at(13)],
        _ => [0; 3],
    }
}

/// What an ATA command left in registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Registers {
    pub count: u8,
    /// The middle and the high byte of a 28-bit address.
    pub middle: u8,
    pub high: u8,
}

impl Registers {
    /// From the sense data that CK_COND asks for; `None` if they hold no registers.
    pub(crate) fn of(sense: &[u8]) -> Option<Self> {
        let [count, middle, high] = match sense.first()? & 0x7f {
            // Descriptor format: an ATA status return descriptor (09h, length 0Ch) at byte 8.
            0x72 | 0x73 if sense.get(8) == Some(&0x09) => [13, 17, 19],
            // Fixed format: the information and the command-specific field.
            0x70 | 0x71 if sense_codes(sense) == [1, 0, 0x1d] => [6, 10, 11],
            _ => return None,
        };
        let at = |i: usize| sense.get(i).copied();
        Some(Self { count: at(count)?, middle: at(middle)?, high: at(high)? })
    }
}

impl Power {
    /// From the count register after CHECK POWER MODE (ACS-3 §7.3).
    pub(crate) const fn of(count: Option<u8>) -> Self {
        match count {
            Some(0x00..=0x01) => Self::Standby,
            Some(0x80..=0x83) => Self::Idle,
            Some(0x40..=0x41 | 0xff) => Self::Active,
            _ => Self::Unknown,
        }
    }
}

//! Sending SCSI commands, and ATA commands through the SCSI layer.

use seekwell_sys::{classify, sudo};

/// How one command ended: the SCSI status and whatever sense data came with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// SCSI status; 0 is good, 2 is CHECK CONDITION.
    pub status: u8,
    /// Host byte: what the adapter says of the transport; 0 is good.
    pub host: u16,
    /// Sense data, fixed or descriptor format; empty if the device sent none.
    pub sense: Vec<u8>,
}

impl Reply {
    /// Sense key, additional sense code and its qualifier; zeros if there are none.
    pub(crate) fn codes(&self) -> [u8; 3] {
        super::sense_codes(&self.sense)
    }
}

/// Sends SCSI commands, ATA PASS-THROUGH(16) among them. Real disks through [`super::SgIo`],
/// anything else in tests.
pub trait Passthrough {
    /// Sends `cdb`; data, where the command has any, come from the disk into `data`.
    ///
    /// # Errors
    /// [`ProbeError`] where the kernel does not send it at all.
    fn send(&mut self, cdb: [u8; 16], data: &mut [u8]) -> Result<Reply, ProbeError>;
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    #[error("cannot open {path} for probing: {}", std::io::Error::from_raw_os_error(*errno))]
    Open { path: String, errno: i32 },
    #[error("probing needs CAP_SYS_RAWIO, which this process lacks{}", sudo())]
    Denied,
    /// The device takes no SCSI commands: it is no SCSI or ATA disk.
    #[error("the device takes no SCSI commands: {}", std::io::Error::from_raw_os_error(*errno))]
    NotScsi { errno: i32 },
}

classify!(ProbeError {
    Refused: Open, Denied, NotScsi;
});

//! The parallel SCSI bus: several drives, one of which has the bus.
//!
//! Data goes at the negotiated rate; arbitration, selection, commands and messages go at the
//! asynchronous rate of the first SCSI buses; that is why a fast bus carries small transfers
//! badly. Sources: ANSI INCITS 336 (SPI-3, Ultra160: 80 MT/s of two bytes) and its predecessors.
//! The times of the phases depend on the initiator's and the drive's firmware and are assumptions.

use crate::limits::{OutOfRange, within};
use crate::part::Part;
use crate::wire::{Attached, Way, Wire};
use seekwell_io::units::Nanos;
use serde::{Deserialize, Serialize};

/// A parallel SCSI bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScsiParams {
    /// Bytes a second of the data phase.
    pub bytes_per_s: u64,
    /// Bus time of giving a command, in nanoseconds: arbitration, selection, messages, command, and
    /// the disconnection.
    pub command_ns: u32,
    /// Bus time of ending a command, in nanoseconds: reselection, status and messages.
    pub status_ns: u32,
    /// Bytes that a drive moves at one connection; after that another may have the bus.
    pub burst_bytes: u32,
    /// Bus time of each connection beside its data, in nanoseconds: arbitration, reselection,
    /// messages.
    pub connect_ns: u32,
}

impl ScsiParams {
    /// Ultra160, as the adapters of 2000 to 2003 have it.
    pub const ULTRA160: Self = Self {
        bytes_per_s: 160_000_000,
        command_ns: 12_000,
        status_ns: 8_000,
        burst_bytes: 65_536,
        connect_ns: 5_000,
    };

    /// Whether such a bus can be.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        within("bytes_per_s", self.bytes_per_s, 100_000..=1_000_000_000)?;
        within("command_ns", self.command_ns, 0..=10_000_000)?;
        within("status_ns", self.status_ns, 0..=10_000_000)?;
        within("burst_bytes", self.burst_bytes, 512..=1 << 24)?;
        within("connect_ns", self.connect_ns, 0..=10_000_000)
    }
}

/// The wires of a parallel SCSI bus.
#[derive(Debug, Clone)]
pub struct ScsiWire {
    params: ScsiParams,
}

impl Wire for ScsiWire {
    fn command(&self) -> Nanos {
        Nanos(u64::from(self.params.command_ns))
    }

    fn status(&self) -> Nanos {
        Nanos(u64::from(self.params.status_ns))
    }

    fn data(&self, len: u32, _: Way) -> Nanos {
        let connections = u64::from(len.div_ceil(self.params.burst_bytes));
        let data = (u64::from(len) * 1_000_000_000).div_ceil(self.params.bytes_per_s);
        Nanos(data + connections * u64::from(self.params.connect_ns))
    }

    fn unit(&self) -> u32 {
        // A drive connects before it has all of a burst, and then gives sector by sector.
        512
    }
}

/// A drive on a parallel SCSI bus.
pub type OnScsi<P> = Attached<ScsiWire, P>;

impl<P: Part> OnScsi<P> {
    /// Drives on one bus.
    ///
    /// # Errors
    /// As [`ScsiParams::check`].
    pub fn scsi(params: ScsiParams, drives: Vec<P>) -> Result<Vec<Self>, OutOfRange> {
        params.check()?;
        Ok(Self::all(ScsiWire { params }, drives))
    }
}

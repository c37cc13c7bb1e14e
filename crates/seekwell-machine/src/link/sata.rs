//! The SATA link: one pair of wires each way, but one frame at a time.
//!
//! Sources: Serial ATA revision 3.0: line rates, 8b/10b coding (ten bits on the line for a byte),
//! data frames of at most 8 KiB. The two overheads are fitted: with them a 6 Gb/s link carries 553
//! MB/s in 128 KiB reads, as measured on an SSD (ublk-disksim, `docs/VALIDATION.md`), and about
//! 98,000 reads of 4 KiB a second, which is where SATA drives end.

use crate::limits::{OutOfRange, within};
use crate::wire::{Attached, Way, Wire};
use seekwell_io::units::Nanos;
use serde::{Deserialize, Serialize};

/// The most data one frame carries.
const FRAME_BYTES: u32 = 8192;

/// Generation of a link: what the two ends have agreed upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SataSpeed {
    /// First generation, 150 MB/s before framing.
    #[serde(rename = "1.5Gbps")]
    Gbps1_5,
    /// Second generation, 300 MB/s.
    #[serde(rename = "3.0Gbps")]
    Gbps3,
    /// Third generation, 600 MB/s.
    #[serde(rename = "6.0Gbps")]
    Gbps6,
}

impl SataSpeed {
    /// Time of that many bytes after 8b/10b coding: at 600 MB/s five thirds of a nanosecond each.
    const fn time(self, bytes: u64) -> Nanos {
        let thirds = match self {
            Self::Gbps1_5 => 20,
            Self::Gbps3 => 10,
            Self::Gbps6 => 5,
        };
        Nanos((bytes * thirds).div_ceil(3))
    }
}

/// A link that sleeps when nothing is outstanding (link power management by the host).
///
/// The specification lets a link take 10 µs to leave the Partial state and 10 ms to leave Slumber.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSleep {
    /// Nanoseconds without a command after which the link sleeps.
    pub after_ns: u64,
    /// Nanoseconds until it is awake again.
    pub wake_ns: u64,
}

/// A SATA link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SataParams {
    /// Agreed speed.
    pub speed: SataSpeed,
    /// Bytes of line time that each data frame costs beside its data: header, checksum, primitives
    /// and the handshake in both directions.
    pub frame_overhead_bytes: u32,
    /// Link time of giving a command, in nanoseconds: register frame and its acknowledgement.
    pub command_ns: u32,
    /// Link time of ending a command, in nanoseconds: DMA set-up and status frames.
    pub status_ns: u32,
    /// When it sleeps, if it does.
    #[serde(default)]
    pub sleep: Option<LinkSleep>,
}

impl SataParams {
    /// A link of that speed with the fitted overheads.
    pub const fn at(speed: SataSpeed) -> Self {
        Self { speed, frame_overhead_bytes: 584, command_ns: 1200, status_ns: 1200, sleep: None }
    }

    /// Whether such a link can be.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        within("frame_overhead_bytes", self.frame_overhead_bytes, 0..=65_536)?;
        within("command_ns", self.command_ns, 0..=1_000_000)?;
        within("status_ns", self.status_ns, 0..=1_000_000)?;
        if let Some(LinkSleep { after_ns, wake_ns }) = self.sleep {
            within("sleep.after_ns", after_ns, 0..=3_600_000_000_000)?;
            within("sleep.wake_ns", wake_ns, 0..=1_000_000_000)?;
        }
        Ok(())
    }
}

/// The wire of a SATA link.
#[derive(Debug)]
pub struct SataWire {
    params: SataParams,
}

impl Wire for SataWire {
    fn command(&self) -> Nanos {
        Nanos(u64::from(self.params.command_ns))
    }

    fn status(&self) -> Nanos {
        Nanos(u64::from(self.params.status_ns))
    }

    fn data(&self, len: u32, _: Way) -> Nanos {
        let frames = u64::from(len.div_ceil(FRAME_BYTES));
        let bytes = u64::from(len) + frames * u64::from(self.params.frame_overhead_bytes);
        self.params.speed.time(bytes)
    }

    fn unit(&self) -> u32 {
        FRAME_BYTES
    }

    fn wake(&self, idle: Nanos) -> Nanos {
        match self.params.sleep {
            Some(sleep) if idle.0 >= sleep.after_ns => Nanos(sleep.wake_ns),
            _ => Nanos::ZERO,
        }
    }
}

/// A drive on a SATA link.
pub type SataLink<P> = Attached<SataWire, P>;

impl<P: crate::part::Part> SataLink<P> {
    /// A drive on a link.
    ///
    /// # Errors
    /// As [`SataParams::check`].
    pub fn sata(params: SataParams, drive: P) -> Result<Self, OutOfRange> {
        params.check()?;
        Ok(Self::new(SataWire { params }, drive))
    }
}

//! What the kernel's lines add up to.
//!
//! One fault prints dozens of lines; a person has one problem. An [`Incident`] is the problem: the
//! lines that belong together, whose they are, how often and when it happened, and what the kernel
//! left switched off afterwards.

use super::event::KernelEvent;
use super::stamp::Stamp;
use crate::finding::Severity;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Lines of the kernel log that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// The catalogue entry that says most about it, `KL-003`; see [`super::catalogue::entry`].
    pub id: KernelEvent,
    /// Every catalogue entry among its lines with how many lines of it there were.
    pub counts: BTreeMap<KernelEvent, u64>,
    /// What it means, in a sentence: the meaning of the leading entry.
    pub meaning: String,
    /// What to do: the remedy of the leading entry.
    pub remedy: String,
    /// The kernel's name for what the lines are about (`ata2.00`, `nvme0`, `usb 2-1`,
    /// `0000:00:01.0`, `sda`); `None` when they name nothing.
    pub subject: Option<String>,
    /// The disk that name meant at that moment (`sda`); `None` when it is not known.
    pub disk: Option<String>,
    /// How the disk is known; [`MappedBy::Unknown`] exactly when `disk` is `None`.
    pub mapped_by: MappedBy,
    /// How often it happened: lines of its most frequent entry.
    pub count: u64,
    pub first: Stamp,
    pub last: Stamp,
    /// Occurrences per hour from the first to the last, over one hour at least so that a burst is
    /// no rate; `None` for a single one, or when the log gives no times.
    pub per_hour: Option<f64>,
    /// What the kernel left behind: the last word on each matter.
    pub states: Vec<DeviceState>,
    pub severity: Severity,
    /// Data is lost or the device is out: the worst of [`Severity::Error`].
    pub critical: bool,
    /// When a later line showed the device answering again; what is in `states` may still hold.
    pub recovered: Option<Stamp>,
    /// The first few lines, control characters removed, at most 300 characters each.
    pub samples: Vec<String>,
}

/// How the kernel's name in a line was tied to a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MappedBy {
    /// The line names the disk itself.
    Named,
    /// The log's own lines from when the device was found.
    Probe,
    /// The device tree as it is now; the log's lines from then are gone.
    Present,
    /// An I/O error of that disk in the middle of this device's error handling.
    Together,
    /// Not tied to a disk.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum DeviceState {
    /// Native command queueing is off, whatever `queue_depth` says.
    NcqOff,
    /// The SATA link is held at this speed.
    LinkLimited {
        /// As printed: `1.5 Gbps`.
        speed: String,
    },
    /// The transfer mode was lowered to this DMA mode.
    DmaMode {
        /// As printed: `UDMA/33`, `MWDMA1`.
        mode: String,
    },
    /// Transfers go through the CPU.
    Pio {
        /// As printed: `PIO4`, or `PIO` when the mode was not named.
        mode: String,
    },
    LinkDown,
    /// The kernel gave the device up.
    Disabled,
    /// The SCSI layer refuses I/O to it.
    Offline,
    /// The NVMe controller answers no I/O: removed, or without I/O queues.
    ControllerGone,
    /// The medium takes no writes.
    WriteProtected,
    /// A file system went read-only or stopped.
    FilesystemStopped {
        /// The device as the file system names it: `sda1`.
        device: String,
    },
    /// A file system was mounted without flushes.
    FlushesOff {
        /// The device as the file system names it.
        device: String,
    },
    /// An array runs without one of its members.
    ArrayDegraded {
        /// The array as printed: `md0`.
        array: String,
    },
    /// The interrupt line was switched off and is polled.
    InterruptOff {
        irq: u32,
    },
    /// USB attached SCSI is not used though the device has it.
    UasOff,
}

impl DeviceState {
    /// Whether this is the last word on the same matter as `other`, so that it takes its place.
    pub(crate) fn replaces(&self, other: &Self) -> bool {
        let modes = |s: &Self| matches!(s, Self::DmaMode { .. } | Self::Pio { .. });
        match (self, other) {
            (Self::LinkLimited { .. }, Self::LinkLimited { .. }) => true,
            (a, b) if modes(a) && modes(b) => true,
            (a, b) => a == b,
        }
    }
}

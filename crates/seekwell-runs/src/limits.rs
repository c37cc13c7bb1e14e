//! What limits each phase of a run: the statements that `seekwell-limits` makes, as documents keep
//! them.

use seekwell_inspect::Evidence;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a request passes and may wait for; or why it waits for nothing of the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Station {
    /// The link of the disk: SATA, SAS, USB, PCI Express of a drive.
    Link,
    /// A bus or link that a controller has, or that several disks share.
    Bus,
    /// PIO, multiword or Ultra DMA on a parallel cable.
    TransferMode,
    /// A controller, or the firmware of a drive: time for each command.
    Controller,
    /// As many commands are outstanding as may be.
    Tags,
    /// A processor, or the kernel's threads on it.
    Processor,
    /// Arm and rotation of a hard drive.
    Mechanics,
    /// What passes under the heads of a hard drive; the backing store of a virtual disk.
    Medium,
    /// The dies and channels of an SSD.
    Flash,
    /// Garbage collection of an SSD, or the cleaning of a shingled disk.
    Collection,
    /// A write cache takes writes until it is full.
    WriteCache,
    /// A rate that somebody set: a hypervisor, a cloud, a control group.
    Throttle,
    /// Such a rate after what was saved up is spent.
    Credits,
    /// Parity that is read and written beside the data.
    Parity,
    /// Nothing is full: each request waits for the one before it.
    Latency,
    /// The load asks for no more.
    Pace,
    /// A cache of the host answered.
    Memory,
    Unknown,
}

impl Station {
    pub const ALL: [Self; 18] = [
        Self::Link,
        Self::Bus,
        Self::TransferMode,
        Self::Controller,
        Self::Tags,
        Self::Processor,
        Self::Mechanics,
        Self::Medium,
        Self::Flash,
        Self::Collection,
        Self::WriteCache,
        Self::Throttle,
        Self::Credits,
        Self::Parity,
        Self::Latency,
        Self::Pace,
        Self::Memory,
        Self::Unknown,
    ];

    /// The word of documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Bus => "bus",
            Self::TransferMode => "transfer_mode",
            Self::Controller => "controller",
            Self::Tags => "tags",
            Self::Processor => "processor",
            Self::Mechanics => "mechanics",
            Self::Medium => "medium",
            Self::Flash => "flash",
            Self::Collection => "collection",
            Self::WriteCache => "write_cache",
            Self::Throttle => "throttle",
            Self::Credits => "credits",
            Self::Parity => "parity",
            Self::Latency => "latency",
            Self::Pace => "pace",
            Self::Memory => "memory",
            Self::Unknown => "unknown",
        }
    }

    /// What it is called in a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Link => "the link",
            Self::Bus => "the bus",
            Self::TransferMode => "the transfer mode",
            Self::Controller => "the controller",
            Self::Tags => "the queue depth",
            Self::Processor => "the processor",
            Self::Mechanics => "seeks and rotation",
            Self::Medium => "the medium",
            Self::Flash => "the flash",
            Self::Collection => "garbage collection",
            Self::WriteCache => "the write cache",
            Self::Throttle => "a rate limit",
            Self::Credits => "spent burst credits",
            Self::Parity => "parity updates",
            Self::Latency => "latency",
            Self::Pace => "the pace of the load",
            Self::Memory => "the page cache",
            Self::Unknown => "not known",
        }
    }
}

impl fmt::Display for Station {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a measured value and its ceiling count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    BytesPerS,
    RequestsPerS,
    /// Commands outstanding.
    Commands,
}

/// How sure a statement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// It fits, and so may something else.
    Possible,
    /// It fits, and nothing else that is known does.
    Likely,
    /// A known ceiling is reached, or a measurement shows it.
    Shown,
}

/// What limits one phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseLimit {
    /// The name of the phase.
    pub phase: String,
    pub by: Station,
    /// What it is here: `the SATA link at 1.5 Gbps`.
    pub name: String,
    /// What was measured, in `unit`.
    pub measured: Option<f64>,
    /// The most that the station allows, in `unit`; absent if no rate is known.
    pub ceiling: Option<f64>,
    pub unit: Option<Unit>,
    /// `measured` of `ceiling`.
    pub share: Option<f64>,
    pub confidence: Confidence,
    pub evidence: Vec<Evidence>,
    /// What else would explain it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub or: Vec<Station>,
    /// The command whose result would decide between these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tell: Option<String>,
    /// What would limit it next.
    pub next: Option<Next>,
    /// Bytes of a request, on average; with the rate a point of the roofline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_bytes: Option<f64>,
    /// Bytes a second of all operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<f64>,
}

impl PhaseLimit {
    /// Whether more than a guess says what limits it.
    pub fn is_known(&self) -> bool {
        self.by != Station::Unknown && self.confidence > Confidence::Possible
    }
}

/// What would be the limit if the first were gone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Next {
    pub by: Station,
    /// How many times as fast it would be then, at most; absent if that is not known.
    pub gain: Option<f64>,
}

/// How a ceiling is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// Hardware or kernel say so.
    Declared,
    /// It was measured in this run.
    Measured,
    /// It follows from the shape of what was measured.
    Inferred,
}

/// The most that a station lets pass: a line of the roofline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    pub by: Station,
    /// What it is: `SATA 1.5 Gbps`.
    pub name: String,
    /// A second, in `unit`, after coding and framing.
    pub rate: f64,
    /// Bytes or requests a second.
    pub unit: Unit,
    /// `read` or `write`, if it is a ceiling of these alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    pub known: Known,
    /// Where it was read, or the phase that shows it.
    pub from: String,
}

//! What a bus is, and who else is on it.

use crate::limits::{OutOfRange, within};
use crate::wire::Way;
use serde::{Deserialize, Serialize};

/// Clocks of a bus.
pub(super) type Clocks = u32;

/// Width, clock and protocol of a bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PciKind {
    /// PCI, 32 bits at 33 MHz: 133 MB/s.
    #[serde(rename = "pci-32/33")]
    Pci32At33,
    /// PCI, 32 bits at 66 MHz: 267 MB/s.
    #[serde(rename = "pci-32/66")]
    Pci32At66,
    /// PCI, 64 bits at 33 MHz: 267 MB/s.
    #[serde(rename = "pci-64/33")]
    Pci64At33,
    /// PCI, 64 bits at 66 MHz: 533 MB/s.
    #[serde(rename = "pci-64/66")]
    Pci64At66,
    /// PCI-X, 64 bits at 66 MHz: 533 MB/s.
    #[serde(rename = "pci-x-64/66")]
    PciX64At66,
    /// PCI-X, 64 bits at 100 MHz: 800 MB/s.
    #[serde(rename = "pci-x-64/100")]
    PciX64At100,
    /// PCI-X, 64 bits at 133 MHz: 1067 MB/s.
    #[serde(rename = "pci-x-64/133")]
    PciX64At133,
}

impl PciKind {
    /// All of them, the slowest first.
    pub const ALL: [Self; 7] = [
        Self::Pci32At33,
        Self::Pci32At66,
        Self::Pci64At33,
        Self::Pci64At66,
        Self::PciX64At66,
        Self::PciX64At100,
        Self::PciX64At133,
    ];

    /// As descriptions write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pci32At33 => "pci-32/33",
            Self::Pci32At66 => "pci-32/66",
            Self::Pci64At33 => "pci-64/33",
            Self::Pci64At66 => "pci-64/66",
            Self::PciX64At66 => "pci-x-64/66",
            Self::PciX64At100 => "pci-x-64/100",
            Self::PciX64At133 => "pci-x-64/133",
        }
    }

    /// The most it carries, in bytes a second.
    pub fn bytes_per_s(self) -> f64 {
        f64::from(self.bytes_per_clock()) * 1e12 / self.clock_ps() as f64
    }

    /// Bytes that cross at each clock.
    pub const fn bytes_per_clock(self) -> u32 {
        match self {
            Self::Pci32At33 | Self::Pci32At66 => 4,
            _ => 8,
        }
    }

    pub(super) const fn data_clocks(self, bytes: u32) -> Clocks {
        bytes.div_ceil(self.bytes_per_clock())
    }

    /// Length of a clock, in picoseconds.
    pub const fn clock_ps(self) -> u64 {
        match self {
            Self::Pci32At33 | Self::Pci64At33 => 30_000,
            Self::Pci32At66 | Self::Pci64At66 | Self::PciX64At66 => 15_000,
            Self::PciX64At100 => 10_000,
            Self::PciX64At133 => 7_500,
        }
    }

    /// Whether a read is asked for in one transaction and answered in another, so that its wait
    /// does not hold the bus.
    pub const fn splits(self) -> bool {
        matches!(self, Self::PciX64At66 | Self::PciX64At100 | Self::PciX64At133)
    }
}

/// Another master that is busy on the bus: a network adapter, another disk controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Competitor {
    /// Data that it would move a second. What it does not get it does not ask for later.
    pub bytes_per_s: u64,
    /// Data of each of its bursts.
    pub burst_bytes: u32,
}

/// A bus, an adapter's manner of using it, and the other masters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PciParams {
    /// Width, clock and protocol.
    pub kind: PciKind,
    /// The most data the adapter moves in one burst.
    pub burst_bytes: u32,
    /// Clocks after which a master gives the bus up when another wants it; those of address and
    /// wait count.
    pub latency_timer_clocks: u32,
    /// Clocks from the end of one burst to the beginning of the next: request and grant.
    pub arbitration_clocks: u32,
    /// Clocks of the address phase, and of the attributes on PCI-X.
    pub address_clocks: u32,
    /// Clocks until the host's memory takes the first word of what is written to it.
    pub write_wait_clocks: u32,
    /// Clocks until the host's memory gives the first word of what is read from it. Where reads are
    /// split it is the wait for the answer that the request was taken.
    pub read_wait_clocks: u32,
    /// Clocks in which the bus is idle after a burst.
    pub turnaround_clocks: u32,
    /// Time of the adapter's one processor for each command, in which it moves no data, in
    /// nanoseconds; 0 where commands and data do not wait for each other.
    #[serde(default)]
    pub adapter_ns: u32,
    /// Accesses of one word each that giving a command takes.
    pub command_accesses: u32,
    /// Accesses of one word each that ending a command takes.
    pub status_accesses: u32,
    /// The other masters.
    pub load: Vec<Competitor>,
}

impl PciParams {
    /// A bus of that kind with assumed waits, an adapter with bursts of 256 bytes, and no other
    /// master.
    pub const fn quiet(kind: PciKind) -> Self {
        let split = kind.splits();
        Self {
            kind,
            burst_bytes: if split { 512 } else { 256 },
            latency_timer_clocks: 64,
            arbitration_clocks: 2,
            address_clocks: if split { 2 } else { 1 },
            write_wait_clocks: if split { 3 } else { 8 },
            read_wait_clocks: if split { 3 } else { 8 },
            turnaround_clocks: if split { 2 } else { 1 },
            adapter_ns: 0,
            command_accesses: 4,
            status_accesses: 4,
            load: Vec::new(),
        }
    }

    /// Whether such a bus can be.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        within("burst_bytes", self.burst_bytes, 4..=65_536)?;
        within("latency_timer_clocks", self.latency_timer_clocks, 8..=255)?;
        within("arbitration_clocks", self.arbitration_clocks, 0..=64)?;
        within("address_clocks", self.address_clocks, 1..=4)?;
        within("write_wait_clocks", self.write_wait_clocks, 0..=128)?;
        within("read_wait_clocks", self.read_wait_clocks, 0..=128)?;
        within("turnaround_clocks", self.turnaround_clocks, 0..=4)?;
        within("adapter_ns", self.adapter_ns, 0..=1_000_000_000)?;
        within("command_accesses", self.command_accesses, 0..=1_000)?;
        within("status_accesses", self.status_accesses, 0..=1_000)?;
        for competitor in &self.load {
            within("load.bytes_per_s", competitor.bytes_per_s, 0..=10_000_000_000)?;
            within("load.burst_bytes", competitor.burst_bytes, 4..=65_536)?;
        }
        Ok(())
    }

    /// Clocks of one burst beside its data.
    pub(super) fn overhead(&self, way: Way) -> Clocks {
        let frame = self.arbitration_clocks + self.address_clocks + self.turnaround_clocks;
        match way {
            // Reads of the disk are writes to memory, and writes of the disk reads from memory.
            Way::In => frame + self.write_wait_clocks,
            // The request, and the answer that is a write to the adapter.
            Way::Out if self.kind.splits() => {
                2 * frame + self.read_wait_clocks + self.write_wait_clocks
            }
            Way::Out => frame + self.read_wait_clocks,
        }
    }

    /// Data of the adapter's longest burst: cut by the latency timer when somebody else waits.
    pub(super) fn longest_burst(&self, way: Way) -> u32 {
        let wait = if way == Way::In { self.write_wait_clocks } else { self.read_wait_clocks };
        if self.load.is_empty() { self.burst_bytes } else { self.cut(self.burst_bytes, wait) }
    }

    /// What the latency timer leaves of a burst after a wait: at least one word.
    pub(super) fn cut(&self, bytes: u32, wait_clocks: u32) -> u32 {
        let before = self.address_clocks + wait_clocks;
        let clocks = self.latency_timer_clocks.saturating_sub(before).max(1);
        bytes.min(clocks * self.kind.bytes_per_clock())
    }
}

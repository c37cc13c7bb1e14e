//! A machine of which one station is faster: what causal profiling asks of a program (C. Curtsinger
//! and E. Berger, "Coz: Finding Code that Counts with Causal Profiling", SOSP 2015) can be asked of
//! a model without deceit, for a model's parts can be made faster one at a time.

use serde::{Serialize, Serializer};
use std::cell::Cell;
use std::fmt;

/// What a request passes in a machine and may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Station {
    /// SATA or PCI Express of a drive; the network before a volume.
    Link,
    /// PCI, PCI-X, a parallel SCSI bus.
    Bus,
    /// Words on a parallel cable, under PIO with the processor's accesses to them.
    TransferMode,
    /// A controller or the firmware of a drive: time for each command.
    Controller,
    /// As many commands as may be outstanding, at each place that bounds them.
    Tags,
    /// The host's processor: commands and interrupts.
    Processor,
    /// Arm and rotation of a hard drive.
    Mechanics,
    /// What passes under the heads of a hard drive; a drive of which only its speed is known.
    Medium,
    /// Dies and channels of an SSD.
    Flash,
    /// Garbage collection of an SSD: the spare space that it has.
    Collection,
    /// Room for what is written and not yet on the medium, and the rate of a controller's memory.
    WriteCache,
    /// Rates that somebody set.
    Throttle,
    /// What is saved up for more than such a rate.
    Credits,
    /// The exclusive-or of an array.
    Parity,
    /// Nothing: each request waits for the one before it. It lies in the load, and no machine has
    /// it.
    Latency,
}

impl Station {
    /// All of them.
    pub const ALL: [Self; 15] = [
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
        }
    }
}

impl fmt::Display for Station {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Station {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A station that many times as fast, or as large where it is room.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speedup {
    /// Which.
    pub station: Station,
    /// How many times.
    pub factor: f64,
}

/// What becomes of parameters while a machine is built, and whether any became different.
pub(super) struct Change {
    by: Option<Speedup>,
    felt: Cell<bool>,
}

impl Change {
    pub(super) const fn of(by: Option<Speedup>) -> Self {
        Self { by, felt: Cell::new(false) }
    }

    /// Whether any parameter or part became different.
    pub(super) const fn was_felt(&self) -> bool {
        self.felt.get()
    }

    /// How much faster a station is that parameters do not say the speed of, which is there.
    pub(super) fn factor(&self, station: Station) -> Option<f64> {
        let by = self.by.filter(|by| by.station == station)?;
        self.felt.set(true);
        Some(by.factor)
    }

    /// Parameters as they become.
    pub(super) fn to<P: Changes + Clone + PartialEq>(&self, params: P) -> P {
        let Some(by) = self.by else { return params };
        let mut changed = params.clone();
        changed.change(by);
        if changed != params {
            self.felt.set(true);
        }
        changed
    }
}

/// Parameters that say how fast a station is.
pub(super) trait Changes {
    /// Makes the station faster.
    fn change(&mut self, by: Speedup);
}

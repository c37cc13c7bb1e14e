//! The shared parallel buses: PCI and PCI-X, with whatever else is busy on them.
//!
//! A transfer is cut into bursts; each pays for arbitration, address, the target's wait and the
//! turnaround, and the bus's efficiency is what remains. Masters take turns, burst by burst, so a
//! busy neighbour costs as much of each round as it can use, and no more than its own burst.
//!
//! Sources: PCI Local Bus Specification 2.2 (address phase, turnaround cycle, latency timer, a
//! target's initial latency of at most 16 clocks), PCI-X Addendum 1.0 (attribute phase, split
//! transactions). The waits themselves differ by chipset and are assumptions, as no table of
//! measured ones is known.

mod params;
mod round;
mod shared;

#[cfg(test)]
mod shared_tests;
#[cfg(test)]
mod tests;

pub use params::{Competitor, PciKind, PciParams};
pub use shared::{BusUse, OnShared, SharedLine};

use crate::limits::OutOfRange;
use crate::part::Part;
use crate::wire::{Attached, Way, Wire};
use params::Clocks;
use round::Round;
use seekwell_io::units::Nanos;

const PICOS_PER_NANO: u64 = 1000;

/// The bus as an adapter's data finds it.
#[derive(Debug)]
pub struct PciWire {
    kind: PciKind,
    outward: Bursts,
    inward: Bursts,
    round: Round,
    command: Nanos,
    status: Nanos,
}

/// How an adapter's data is cut.
#[derive(Debug, Clone, Copy)]
struct Bursts {
    /// Clocks of each beside its data.
    overhead: Clocks,
    /// The most data of one.
    bytes: u32,
    /// Time from the beginning of one to that of the next, others' turns included.
    full_ps: u64,
}

impl PciWire {
    /// The bus with everything else that is on it.
    ///
    /// # Errors
    /// As [`PciParams::check`].
    pub fn new(params: &PciParams) -> Result<Self, OutOfRange> {
        params.check()?;
        let round = Round::new(params);
        let bursts = |way| {
            let overhead = params.overhead(way);
            let bytes = params.longest_burst(way);
            let full_ps = round.picos(overhead + params.kind.data_clocks(bytes));
            Bursts { overhead, bytes, full_ps }
        };
        let access = round.picos(params.overhead(Way::In) + 1);
        let nanos = |accesses: u32| Nanos((u64::from(accesses) * access).div_ceil(PICOS_PER_NANO));
        Ok(Self {
            kind: params.kind,
            outward: bursts(Way::Out),
            inward: bursts(Way::In),
            command: nanos(params.command_accesses) + Nanos(u64::from(params.adapter_ns)),
            status: nanos(params.status_accesses),
            round,
        })
    }
}

impl Wire for PciWire {
    fn command(&self) -> Nanos {
        self.command
    }

    fn status(&self) -> Nanos {
        self.status
    }

    fn data(&self, len: u32, way: Way) -> Nanos {
        let bursts = match way {
            Way::Out => &self.outward,
            Way::In => &self.inward,
        };
        let mut picos = u64::from(len / bursts.bytes) * bursts.full_ps;
        let rest = len % bursts.bytes;
        if rest > 0 {
            picos += self.round.picos(bursts.overhead + self.kind.data_clocks(rest));
        }
        Nanos(picos.div_ceil(PICOS_PER_NANO))
    }

    fn unit(&self) -> u32 {
        self.inward.bytes
    }
}

/// An adapter on a PCI or PCI-X bus.
pub type OnPci<P> = Attached<PciWire, P>;

impl<P: Part> OnPci<P> {
    /// An adapter on a bus.
    ///
    /// # Errors
    /// As [`PciParams::check`].
    pub fn pci(params: &PciParams, adapter: P) -> Result<Self, OutOfRange> {
        Ok(Self::new(PciWire::new(params)?, adapter))
    }
}

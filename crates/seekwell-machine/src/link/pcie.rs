//! A PCI Express link: lanes that carry both directions at once.
//!
//! A lane has 8, 16 or 32 GT/s from the third generation on, of which 128 of 130 bits are data.
//! Data goes in packets, each with its framing, sequence number, header and checksum, and the link
//! carries acknowledgements and flow control beside them (PCI Express Base Specification 5.0,
//! chapters 2 to 4). Those before the third generation send 8 of 10 bits.

use crate::limits::{OutOfRange, within};
use crate::part::Part;
use crate::wire::{Attached, Way, Wire};
use seekwell_io::units::Nanos;
use serde::{Deserialize, Serialize};

/// Bytes of a packet beside its data: framing and sequence number 4, header with 64-bit address
/// 16, checksum 4, and its share of acknowledgements and flow control.
const PACKET_BYTES: u64 = 28;
/// An entry of a submission queue, and one of a completion queue (NVM Express Base Specification).
const COMMAND_BYTES: u64 = 64;
const STATUS_BYTES: u64 = 16;

/// A PCI Express link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcieParams {
    /// 1 to 5: 2.5, 5, 8, 16 or 32 GT/s a lane.
    pub generation: u32,
    /// Lanes in use.
    pub lanes: u32,
    /// The most data of a packet, in bytes.
    pub payload_bytes: u32,
}

impl PcieParams {
    /// Whether such a link can be.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        within("generation", self.generation, 1..=5)?;
        within("lanes", self.lanes, 1..=32)?;
        within("payload_bytes", self.payload_bytes, 128..=4096)
    }

    /// Picoseconds of a byte, packets left aside.
    const fn byte_ps(&self) -> (u64, u64) {
        // Bits a second of a lane, in millions, and what carries eight bits.
        let (mega, bits) = match self.generation {
            1 => (2_500, (10, 8)),
            2 => (5_000, (10, 8)),
            3 => (8_000, (130, 128)),
            4 => (16_000, (130, 128)),
            _ => (32_000, (130, 128)),
        };
        (8 * 1_000_000 * bits.0, mega * bits.1 * self.lanes as u64)
    }
}

/// The lanes of a PCI Express link.
#[derive(Debug, Clone)]
pub struct PcieWire {
    params: PcieParams,
}

impl PcieWire {
    fn bytes(&self, bytes: u64) -> Nanos {
        let (ps, of) = self.params.byte_ps();
        Nanos((bytes * ps).div_ceil(of * 1000))
    }
}

impl Wire for PcieWire {
    fn command(&self) -> Nanos {
        self.bytes(COMMAND_BYTES + PACKET_BYTES)
    }

    fn status(&self) -> Nanos {
        self.bytes(STATUS_BYTES + PACKET_BYTES)
    }

    fn data(&self, len: u32, _: Way) -> Nanos {
        let packets = u64::from(len.div_ceil(self.params.payload_bytes));
        self.bytes(u64::from(len) + packets * PACKET_BYTES)
    }

    fn unit(&self) -> u32 {
        self.params.payload_bytes
    }
}

/// A drive on a PCI Express link.
pub type OnPcie<P> = Attached<PcieWire, P>;

impl<P: Part> OnPcie<P> {
    /// A drive on a link of its own.
    ///
    /// # Errors
    /// As [`PcieParams::check`].
    pub fn pcie(params: PcieParams, drive: P) -> Result<Self, OutOfRange> {
        params.check()?;
        Ok(Self::duplex(PcieWire { params }, drive))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{FakeDrive, closed_loop};
    use seekwell_io::request::Op;

    /// Bytes a second of 128 KiB requests; every other one writes where both ways are used.
    fn rate(generation: u32, lanes: u32, both: bool) -> f64 {
        let params = PcieParams { generation, lanes, payload_bytes: 256 };
        let mut link = OnPcie::pcie(params, FakeDrive::new(64, 1_000)).expect("legal");
        let count = 2_000;
        let op = |n: u32| if both && n % 2 == 1 { Op::Write } else { Op::Read };
        let ends = closed_loop(&mut link, 32, count, |n| (op(n), 0, 128 << 10));
        let last = ends.iter().max().expect("some").0 as f64;
        f64::from(count) * f64::from(128_u32 << 10) / last * 1e9
    }

    /// 3.94 GB/s less the packets: what drives with four lanes of the third generation reach.
    #[test]
    fn a_link_carries_what_its_lanes_and_packets_leave() {
        let four = rate(3, 4, false);
        assert!((3.5e9..3.6e9).contains(&four), "{four}");
        for (generation, lanes, factor) in [(4, 4, 2.0), (5, 4, 4.0), (3, 1, 0.25)] {
            let found = rate(generation, lanes, false) / four;
            assert!((found / factor - 1.0).abs() < 0.02, "{generation} × {lanes}: {found}");
        }
        // 2 GB/s of the second generation: 80 % of 20 Gbit/s.
        let second = rate(2, 4, false);
        assert!((1.77e9..1.83e9).contains(&second), "{second}");
    }

    #[test]
    fn both_ways_go_at_once() {
        let gain = rate(3, 4, true) / rate(3, 4, false);
        assert!(gain > 1.9, "{gain}");
    }
}

//! A drive that takes the same time for everything, as DiskSim's `disksim_simpledisk`.

use crate::limits::{OutOfRange, within};
use crate::part::{Command, Done, Part};
use crate::serial::Serial;
use seekwell_io::units::Nanos;
use std::collections::VecDeque;

/// A drive of constant access time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimpleParams {
    /// Sectors of 512 bytes.
    pub sectors: u64,
    /// Of every command, before its access begins.
    pub overhead_ns: u64,
    /// Of every access.
    pub access_ns: u64,
    /// Of each sector read, on its way to the host.
    pub read_sector_ns: u64,
    /// Of each sector written, on its way from the host.
    pub write_sector_ns: u64,
    /// Commands taken at once; they are done in turn.
    pub depth: u32,
}

/// The longest that anything takes.
const LONGEST_NS: u64 = 1_000_000_000_000;
const SECTOR: u64 = 512;

/// A drive of constant access time.
#[derive(Debug)]
pub struct SimpleDisk {
    params: SimpleParams,
    line: Serial,
    ends: VecDeque<Done>,
}

impl SimpleDisk {
    /// A drive at rest.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that cannot be.
    pub fn new(params: SimpleParams) -> Result<Self, OutOfRange> {
        within("sectors", params.sectors, 1..=1 << 50)?;
        within("overhead_ns", params.overhead_ns, 0..=LONGEST_NS)?;
        within("access_ns", params.access_ns, 0..=LONGEST_NS)?;
        within("read_sector_ns", params.read_sector_ns, 0..=1_000_000_000)?;
        within("write_sector_ns", params.write_sector_ns, 0..=1_000_000_000)?;
        within("depth", params.depth, 1..=65_536)?;
        Ok(Self { params, line: Serial::default(), ends: VecDeque::new() })
    }
}

impl Part for SimpleDisk {
    fn capacity(&self) -> u64 {
        self.params.sectors * SECTOR
    }

    fn depth(&self) -> u32 {
        self.params.depth
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        let SimpleParams { overhead_ns, access_ns, .. } = self.params;
        let read = command.op == seekwell_io::request::Op::Read;
        let sector = if read { self.params.read_sector_ns } else { self.params.write_sector_ns };
        let crossing = u64::from(command.len).div_ceil(SECTOR) * sector;
        let span = Nanos(overhead_ns + access_ns + crossing);
        let at = self.line.reserve(now, span) + span;
        self.ends.push_back(Done { tag: command.tag, ready: at, at });
    }

    fn next(&self) -> Nanos {
        self.ends.front().map_or(Nanos::MAX, |end| end.at)
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        let there = self.ends.partition_point(|end| end.at <= now);
        done.extend(self.ends.drain(..there));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_io::request::Op;

    #[test]
    fn commands_take_the_same_time_one_after_the_other() {
        let params = SimpleParams {
            sectors: 100,
            overhead_ns: 5,
            access_ns: 95,
            read_sector_ns: 0,
            write_sector_ns: 2,
            depth: 2,
        };
        let mut disk = SimpleDisk::new(params).expect("legal");
        for (tag, op) in [(0, Op::Read), (1, Op::Write)] {
            let command = Command { tag, op, offset: 0, len: 1024, durable: false };
            disk.submit(command, Nanos(10));
        }
        let mut done = Vec::new();
        disk.advance(Nanos(1000), &mut done);
        let ends: Vec<(u32, u64)> = done.iter().map(|end| (end.tag, end.at.0)).collect();
        assert_eq!(ends, [(0, 110), (1, 214)]);
        assert_eq!((disk.capacity(), disk.next()), (51_200, Nanos::MAX));
        let none = SimpleParams { sectors: 0, ..params };
        assert!(SimpleDisk::new(none).is_err());
    }
}

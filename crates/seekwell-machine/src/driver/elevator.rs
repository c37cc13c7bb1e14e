//! A host's I/O scheduler in front of one device: it joins adjacent requests, orders what waits,
//! and keeps the device supplied.
//!
//! After Linux 2.6 (block/blk-core.c, block/elevator.c). Its `noop` joins and keeps the order of
//! arrival; the others also sort.

use super::queue::{Policy, QueueParams, QueuedAccess};
use super::station::Station;
use crate::limits::{OutOfRange, within};
use crate::part::{Command, Done, Part, Usage};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// An I/O scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElevatorParams {
    /// The order in which waiting requests go to the device.
    pub order: Policy,
    /// Whether waiting reads go before waiting writes.
    pub reads_first: bool,
    /// The longest request that joining makes, in bytes (`max_sectors_kb`).
    pub longest_bytes: u32,
    /// Requests that are joined and ordered (`nr_requests`); more wait in line.
    pub requests: u32,
    /// How long a write to an idle device waits at most for others to join it; no longer than the
    /// host goes on giving, as Linux flushes a plug when the task blocks.
    pub plug_ns: u32,
}

impl ElevatorParams {
    /// Checks every field against its legal range.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that is not within it.
    pub fn check(&self) -> Result<(), OutOfRange> {
        within("longest_bytes", self.longest_bytes, 512..=1 << 30)?;
        within("requests", self.requests, 1..=1 << 20)?;
        within("plug_ns", self.plug_ns, 0..=100_000_000)
    }
}

/// A device behind an I/O scheduler.
#[derive(Debug)]
pub struct Elevator<P> {
    params: ElevatorParams,
    station: Station<P>,
    /// What came when the scheduler had all the requests it handles.
    line: VecDeque<QueuedAccess>,
    /// Until when nothing is given to the idle device.
    plugged: Option<Nanos>,
    ended: Vec<QueuedAccess>,
}

impl<P: Part> Elevator<P> {
    /// An idle device behind a scheduler.
    ///
    /// # Errors
    /// As [`ElevatorParams::check`].
    pub fn new(params: ElevatorParams, part: P) -> Result<Self, OutOfRange> {
        params.check()?;
        let queue = QueueParams {
            policy: params.order,
            urgent: params.reads_first.then_some(params.order),
            late: None,
            joins_reads: true,
            joins_writes: true,
            most_joined: u64::from(params.longest_bytes / 512),
        };
        let station = Station::new(part, u32::MAX, queue);
        Ok(Self { params, station, line: VecDeque::new(), plugged: None, ended: Vec::new() })
    }

    fn issue(&mut self, now: Nanos) {
        while self.station.waiting() < self.params.requests as usize
            && let Some(entry) = self.line.pop_front()
        {
            self.station.queue(entry);
        }
        if self.plugged.is_none() {
            self.station.issue(now);
        }
    }
}

impl<P: Part> Part for Elevator<P> {
    fn capacity(&self) -> u64 {
        self.station.part().capacity()
    }

    fn depth(&self) -> u32 {
        self.params.requests.max(self.station.part().depth())
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        let Command { tag, op, offset, len, durable } = command;
        let start = offset / 512;
        let sectors = (offset + u64::from(len)).div_ceil(512) - start;
        let entry = QueuedAccess::new(tag, op, start, sectors, now);
        if op != Op::Write {
            self.plugged = None;
        } else if self.params.plug_ns > 0 && self.line.is_empty() && self.station.is_idle() {
            self.plugged = Some(now + Nanos(u64::from(self.params.plug_ns)));
        }
        self.line.push_back(QueuedAccess {
            urgent: matches!(op, Op::Read | Op::Flush),
            durable,
            ..entry
        });
        self.issue(now);
    }

    fn next(&self) -> Nanos {
        self.station.next().min(self.plugged.unwrap_or(Nanos::MAX))
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        self.plugged = self.plugged.filter(|until| *until > now);
        if self.station.next() <= now {
            self.station.advance(now, &mut self.ended);
            let tags = self.ended.drain(..).flat_map(|entry| entry.owners);
            done.extend(tags.map(|(tag, _)| Done { tag, ready: now, at: now }));
        }
        self.issue(now);
    }

    fn host_waits(&mut self, until: Nanos, now: Nanos) {
        if self.plugged.is_some_and(|end| end <= until) {
            self.plugged = None;
            self.issue(now);
        }
    }

    fn usage(&self) -> Usage {
        self.station.part().usage()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{FakeDrive, arrivals, command, drain, lawful};
    use proptest::prelude::*;

    const NOOP: ElevatorParams = ElevatorParams {
        order: Policy::Fcfs,
        reads_first: false,
        longest_bytes: 12_288,
        requests: 128,
        plug_ns: 1_000,
    };

    /// Offsets and lengths that the device was given, when those writes of 4 KiB came at once.
    fn given(params: ElevatorParams, offsets: &[u64]) -> Vec<(u64, u32)> {
        let mut elevator = Elevator::new(params, FakeDrive::new(1, 500)).unwrap();
        for (tag, offset) in offsets.iter().enumerate() {
            elevator.submit(command(tag as u32, Op::Write, *offset, 4096), Nanos::ZERO);
        }
        assert_eq!(drain(&mut elevator).len(), offsets.len(), "each is done once");
        elevator.station.part().given.iter().map(|(_, c)| (c.offset, c.len)).collect()
    }

    #[test]
    fn adjacent_writes_to_an_idle_device_become_one_request_up_to_the_longest() {
        let offsets = [40_960, 0, 4096, 8192, 12_288];
        assert_eq!(given(NOOP, &offsets), [(40_960, 4096), (0, 12_288), (12_288, 4096)]);
        let unplugged = ElevatorParams { plug_ns: 0, ..NOOP };
        assert_eq!(given(unplugged, &[0, 4096, 8192]), [(0, 4096), (4096, 8192)]);
    }

    #[test]
    fn what_waits_is_sorted_among_as_many_requests_as_the_scheduler_handles() {
        let clook = ElevatorParams { order: Policy::CLook, ..NOOP };
        let offsets = [81_920, 0, 163_840, 40_960];
        let starts = |params| given(params, &offsets).into_iter().map(|(at, _)| at);
        assert!(starts(clook).eq([0, 40_960, 81_920, 163_840]));
        let two = ElevatorParams { requests: 2, ..clook };
        assert!(starts(two).eq([0, 81_920, 163_840, 40_960]));
    }

    #[test]
    fn a_read_is_not_held_back_and_goes_before_waiting_writes() {
        let params = ElevatorParams { reads_first: true, ..NOOP };
        let mut elevator = Elevator::new(params, FakeDrive::new(1, 500)).unwrap();
        elevator.submit(command(0, Op::Write, 0, 4096), Nanos::ZERO);
        elevator.submit(command(1, Op::Write, 40_960, 4096), Nanos::ZERO);
        elevator.submit(command(2, Op::Read, 81_920, 4096), Nanos(10));
        drain(&mut elevator);
        assert_eq!(elevator.station.part().ops(), [Op::Read, Op::Write, Op::Write]);
        assert_eq!(elevator.station.part().given[0].0, Nanos(10));
    }

    /// Story: on `p4sbe-ich8-ahci` a write that the host waited for was held back for 100 µs.
    #[test]
    fn a_write_that_the_host_waits_for_is_not_held_back() {
        let given_at = |until| {
            let mut elevator = Elevator::new(NOOP, FakeDrive::new(1, 500)).unwrap();
            elevator.submit(command(0, Op::Write, 0, 4096), Nanos::ZERO);
            elevator.host_waits(until, Nanos::ZERO);
            drain(&mut elevator);
            elevator.station.part().given[0].0
        };
        assert_eq!(given_at(Nanos::MAX), Nanos::ZERO);
        assert_eq!(given_at(Nanos(500)), Nanos(1_000), "more may come while it is held back");
    }

    proptest! {
        #[test]
        fn it_keeps_the_laws_of_parts(
            arrivals in arrivals(),
            order in prop::sample::select(vec![Policy::Fcfs, Policy::CLook, Policy::Sstf]),
            depth in 1_u32..32,
            plug_ns in 0_u32..100_000,
        ) {
            let params = ElevatorParams { order, plug_ns, requests: 8, ..NOOP };
            let mut elevator = Elevator::new(params, FakeDrive::new(depth, 20_000)).unwrap();
            lawful(&mut elevator, 64, &arrivals);
        }
    }
}

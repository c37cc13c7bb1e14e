//! Equal drives end to end behind one port: a hard drive with several actuators.
//!
//! A SATA drive with two actuators looks like one disk. The first half of its blocks belongs to one
//! of them, the second half to the other (Seagate, "MACH.2 FAQ", SC702.2; ATA log 47h, Concurrent
//! Positioning Ranges). Each has its own arm and works on its own.

use crate::part::{Command, Done, Part, Usage};
use crate::serial::ByTag;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::ops::Add;

/// Parts of equal capacity, each after the other in the addresses.
///
/// A command that crosses a border becomes one for each part that it touches, and a flush one for
/// every part. No part ever has two of them, so it knows them by the command's own tag.
#[derive(Debug)]
pub struct Joined<P> {
    parts: Vec<P>,
    /// Bytes of each.
    share: u64,
    open: ByTag<Open>,
    /// What the parts have done and has not been reported.
    finished: Vec<Done>,
}

/// A command that is not done.
#[derive(Debug, Clone, Copy, Default)]
struct Open {
    /// Pieces that parts still work on.
    left: usize,
    /// From when on the data of all pieces done so far were coming.
    ready: Nanos,
}

impl<P: Part> Joined<P> {
    /// The parts, from the first byte to the last.
    ///
    /// # Panics
    /// With no parts, or parts of different capacities.
    pub fn new(parts: Vec<P>) -> Self {
        let share = parts.first().expect("at least one part").capacity();
        assert!(parts.iter().all(|part| part.capacity() == share), "equal parts");
        Self { parts, share, open: ByTag::default(), finished: Vec::new() }
    }

    /// The parts that a command touches, from the first to before the last.
    fn touched(&self, command: &Command) -> (usize, usize) {
        if command.op == Op::Flush {
            return (0, self.parts.len());
        }
        let first = (command.offset / self.share).min(self.parts.len() as u64 - 1);
        let end = (command.offset + u64::from(command.len)).div_ceil(self.share);
        (first as usize, end.max(first + 1) as usize)
    }

    /// What `command` asks of part `index`, one of those it touches.
    fn piece(&self, command: &Command, index: usize) -> Command {
        if command.op == Op::Flush {
            return *command;
        }
        let base = index as u64 * self.share;
        let start = command.offset.max(base);
        let end = (command.offset + u64::from(command.len)).min(base + self.share);
        Command { offset: start - base, len: (end - start) as u32, ..*command }
    }
}

impl<P: Part> Part for Joined<P> {
    fn capacity(&self) -> u64 {
        self.share * self.parts.len() as u64
    }

    /// Of all parts together what the least takes: it may have to take all of them.
    fn depth(&self) -> u32 {
        self.parts.iter().map(Part::depth).min().unwrap_or(1)
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        let (first, end) = self.touched(&command);
        self.open.set(command.tag, Open { left: end - first, ready: now });
        for index in first..end {
            let piece = self.piece(&command, index);
            self.parts[index].submit(piece, now);
        }
    }

    fn next(&self) -> Nanos {
        self.parts.iter().map(Part::next).min().unwrap_or(Nanos::MAX)
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        loop {
            let at = self.next();
            if at > now || at == Nanos::MAX {
                return;
            }
            for part in self.parts.iter_mut().filter(|part| part.next() <= at) {
                part.advance(at, &mut self.finished);
            }
            for end in self.finished.drain(..) {
                let Open { left, ready } = self.open.get(end.tag);
                let open = Open { left: left - 1, ready: ready.max(end.ready) };
                self.open.set(end.tag, open);
                if open.left == 0 {
                    done.push(Done { ready: open.ready, ..end });
                }
            }
        }
    }

    fn host_waits(&mut self, until: Nanos, now: Nanos) {
        self.parts.iter_mut().for_each(|part| part.host_waits(until, now));
    }

    fn usage(&self) -> Usage {
        self.parts.iter().map(Part::usage).fold(Usage::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{FakeDrive, arrivals, closed_loop, command, drain, lawful};
    use crate::simple::{SimpleDisk, SimpleParams};
    use proptest::prelude::*;

    const SHARE: u64 = 40_000 * 512;

    fn disk() -> SimpleDisk {
        let params = SimpleParams {
            sectors: SHARE / 512,
            overhead_ns: 100,
            access_ns: 10_000,
            read_sector_ns: 10,
            write_sector_ns: 20,
            depth: 4,
        };
        SimpleDisk::new(params).expect("legal")
    }

    fn joined(count: usize) -> Joined<SimpleDisk> {
        Joined::new((0..count).map(|_| disk()).collect())
    }

    #[test]
    fn capacities_add_and_the_depth_is_shared() {
        let joined = joined(3);
        assert_eq!((joined.capacity(), joined.depth()), (3 * SHARE, 4));
    }

    #[test]
    fn a_read_across_the_border_ends_with_its_last_piece() {
        let mut joined = joined(2);
        joined.submit(command(0, Op::Read, 0, 4096), Nanos(0));
        joined.submit(command(1, Op::Read, SHARE - 512, 1024), Nanos(0));
        let ends: Vec<(u32, u64)> = drain(&mut joined).iter().map(|d| (d.tag, d.at.0)).collect();
        assert_eq!(ends, [(0, 10_180), (1, 20_290)], "the first part had another to do before");
    }

    #[test]
    fn parts_work_at_the_same_time() {
        let end = |border: u64| {
            let mut joined = joined(2);
            let ends = closed_loop(&mut joined, 4, 100, |nth| {
                (Op::Read, border * u64::from(nth % 2), 4096)
            });
            ends.into_iter().max().expect("some")
        };
        let (one, both) = (end(4096), end(SHARE));
        assert_eq!(one.0, 2 * both.0, "all in one half, and divided between them");
    }

    #[test]
    fn a_flush_is_done_by_every_part() {
        let mut joined = Joined::new((0..3).map(|_| FakeDrive::new(4, 1_000)).collect());
        joined.submit(command(7, Op::Flush, 0, 0), Nanos(5));
        let done = drain(&mut joined);
        assert_eq!(done, [Done { tag: 7, ready: Nanos(1_005), at: Nanos(1_005) }]);
        assert!(joined.parts.iter().all(|part| part.ops() == [Op::Flush]));
    }

    proptest! {
        #[test]
        fn everything_is_done_once_and_in_order(arrivals in arrivals()) {
            lawful(&mut joined(3), 4, &arrivals);
        }

        #[test]
        fn pieces_are_the_command_without_gap_or_overlap(
            before in 0_u64..8192,
            len in 1_u32..16_384,
            border in 0_u64..3,
        ) {
            let mut joined = Joined::new((0..3).map(|_| FakeDrive::new(4, 1_000)).collect());
            let share = joined.share;
            let offset = ((border + 1) * share - before).min(3 * share - u64::from(len));
            joined.submit(command(0, Op::Write, offset, len), Nanos(0));
            let mut at = offset;
            for (index, part) in joined.parts.iter().enumerate() {
                for (_, piece) in &part.given {
                    prop_assert_eq!(piece.offset + index as u64 * share, at);
                    at += u64::from(piece.len);
                }
            }
            prop_assert_eq!(at, offset + u64::from(len));
            prop_assert_eq!(drain(&mut joined).len(), 1);
        }
    }
}

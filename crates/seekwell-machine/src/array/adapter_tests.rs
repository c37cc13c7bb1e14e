//! A whole RAID adapter on different buses, against what was measured of one.

use super::{Array, ArrayParams, CacheParams, Cached, Level};
use crate::bus::{Competitor, OnPci, PciKind, PciParams};
use crate::fake::closed_loop;
use crate::part::{Command, Done, Part};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::collections::VecDeque;

const KIB: u32 = 1024;

/// A drive that is fast where it is already and slow elsewhere, one command at a time: 15,000 rpm,
/// 3.4 ms of mean seek and 2 ms of mean rotation, 75 MB/s.
#[derive(Debug)]
struct Drive {
    waiting: VecDeque<Command>,
    active: Option<Done>,
    position: u64,
}

impl Drive {
    fn begin(&mut self, now: Nanos) {
        let Some(command) = self.waiting.pop_front() else { return };
        let there = self.position == command.offset;
        let positioning = if there { 100_000 } else { 5_400_000 };
        let at = now + Nanos(positioning + u64::from(command.len) * 40 / 3);
        self.position = command.offset + u64::from(command.len);
        self.active = Some(Done { tag: command.tag, ready: now + Nanos(positioning), at });
    }
}

impl Part for Drive {
    fn capacity(&self) -> u64 {
        18 << 30
    }

    fn depth(&self) -> u32 {
        16
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        self.waiting.push_back(command);
        if self.active.is_none() {
            self.begin(now);
        }
    }

    fn next(&self) -> Nanos {
        self.active.map_or(Nanos::MAX, |done| done.at)
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        while let Some(end) = self.active.filter(|end| end.at <= now) {
            done.push(end);
            self.active = None;
            self.begin(end.at);
        }
    }
}

/// An Ultra160 adapter with 64 MiB of memory and four drives in RAID 0, on a bus.
fn adapter(bus: &PciParams) -> OnPci<Cached<Array<Drive>>> {
    let drives =
        (0..4).map(|_| Drive { waiting: VecDeque::new(), active: None, position: 0 }).collect();
    let array = Array::new(ArrayParams::bare(Level::Raid0, 64 * KIB), drives).unwrap();
    let memory = CacheParams {
        command_ns: 60_000,
        read_ahead_bytes: 512 * KIB,
        ..CacheParams::write_back(64 << 20)
    };
    OnPci::pci(bus, Cached::new(memory, array).unwrap()).unwrap()
}

/// A desktop's disk: three reads to two writes in runs of 64 KiB requests, programs and documents
/// being loaded and saved within a gigabyte, and one request in a hundred small and elsewhere in
/// it. That share decides how much the bus matters and is fitted to the loss on a quiet bus.
fn desktop(n: u32) -> (Op, u64, u32) {
    // A run of 64 requests is one file; a splitmix step draws what kind and where.
    let draw = |x: u64| {
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    let run = draw(u64::from(n / 64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let one = draw(u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let op = if run % 5 < 3 { Op::Read } else { Op::Write };
    if one % 100 < 1 {
        return (op, (one >> 8) % (1 << 18) * 4096, 4 * KIB);
    }
    (op, (run >> 8) % (1 << 12) * (1 << 18) + u64::from(n % 64 * 64 * KIB), 64 * KIB)
}

/// A server's: small reads and writes, two to one, anywhere.
fn server(n: u32) -> (Op, u64, u32) {
    let op = if n % 3 == 2 { Op::Write } else { Op::Read };
    (op, u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << 22) * 8192, 8 * KIB)
}

/// Requests a second of a load with that many always outstanding.
fn rate(bus: &PciParams, outstanding: u32, load: fn(u32) -> (Op, u64, u32)) -> f64 {
    let ends = closed_loop(&mut adapter(bus), outstanding, 10_000, load);
    10_000.0 / ends.iter().max().unwrap().as_secs_f64()
}

/// Share of the requests a second on a 64-bit bus at 66 MHz that is lost on the common bus, beside
/// neighbours that move that much.
fn loss(neighbours: u64, outstanding: u32, load: fn(u32) -> (Op, u64, u32)) -> f64 {
    let fast = rate(&PciParams::quiet(PciKind::Pci64At66), outstanding, load);
    let mut slow = PciParams::quiet(PciKind::Pci32At33);
    if neighbours > 0 {
        slow.load.push(Competitor { bytes_per_s: neighbours, burst_bytes: 64 });
    }
    1.0 - rate(&slow, outstanding, load) / fast
}

/// Tweakers 2003 (tweakers.net/reviews/432/6): an Ultra160 RAID adapter loses 32 % of a desktop's
/// I/O on legacy PCI, and 45 % where other busy devices share the bus; here they move 30 MB/s, a
/// gigabit network adapter at a quarter of its rate.
#[test]
fn a_desktop_loses_a_third_on_the_common_bus_and_nearly_half_beside_busy_neighbours() {
    let quiet = loss(0, 1, desktop);
    assert!((0.29..0.35).contains(&quiet), "{quiet}");
    let busy = loss(30_000_000, 1, desktop);
    assert!((0.42..0.48).contains(&busy), "{busy}");
}

#[test]
fn a_server_that_waits_for_its_drives_hardly_feels_the_bus() {
    let quiet = loss(0, 4, server);
    let busy = loss(30_000_000, 4, server);
    assert!(quiet < 0.05 && busy < 0.10, "{quiet} {busy}");
}

#[test]
fn the_same_load_gives_the_same_times() {
    let run = || {
        let bus = PciParams::quiet(PciKind::PciX64At100);
        closed_loop(&mut adapter(&bus), 8, 2_000, desktop)
    };
    assert_eq!(run(), run());
}

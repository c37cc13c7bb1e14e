use super::*;
use crate::part::{Command, Done, Part};
use proptest::prelude::*;
use rand_core::{RngCore, SeedableRng};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

const MS: u64 = 1_000_000;

/// A drive with tracks of 100 sectors of 512 bytes that pass in 0.1 ms each.
pub(super) fn small() -> Params {
    let zone = Zone {
        first_cylinder: 0,
        last_cylinder: 999,
        sectors_per_track: 100,
        first_offset: 0.0,
        reserved: 0,
        track_skew: 20.0,
        cylinder_skew: 30.0,
        spares: 0,
        slips: Vec::new(),
    };
    Params {
        sector_bytes: 512,
        physical_bytes: None,
        rpm: 6000.0,
        surfaces: 2,
        layout: Layout {
            order: SurfaceOrder::Same,
            sparing: Sparing::None,
            zones: vec![zone],
            sectors: None,
        },
        seek: SeekCurve::ThreePoint { one_ms: 1.0, average_ms: 8.0, full_ms: 16.0 },
        head_switch: Nanos::from_micros(800),
        write_settle_ns: 500_000,
        cache: Cache {
            segments: 8,
            segment_sectors: 256,
            enabled: true,
            read_ahead: ReadAhead::Segment,
            min_ahead: 0,
            max_ahead: 0,
            ahead_over_requested: true,
            ahead_on_hit: true,
            keep_passing: false,
            join_at_edge: true,
            part_at_once: true,
            room_at_begin: true,
            hits_on_written: true,
            hits_while_busy: true,
            stop_within_sector: false,
            zero_latency_read: false,
            zero_latency_write: false,
        },
        write: WriteBuffer {
            write_back: true,
            extents: 64,
            extent_sectors: 256,
            combine: true,
            takes_segment: false,
            idle_delay: Nanos::ZERO,
            destage_overhead: Nanos::ZERO,
            flush_overhead: Nanos::ZERO,
            min_positioning: Nanos::ZERO,
            start_sectors: 1,
        },
        overhead: Overhead {
            read_hit: both(100),
            read_miss: both(300),
            write_hit: both(100),
            write_miss: both(300),
            ..Overhead::default()
        },
        interface: None,
        queue: Queue {
            depth: 32,
            window: 32,
            miss_margin: Nanos::ZERO,
            ageing_permille: 0,
            preseek: true,
        },
    }
}

fn both(us: u64) -> After {
    After { read: Nanos::from_micros(us), write: Nanos::from_micros(us) }
}

/// A drive and the time, with one command at a time.
struct Bench {
    drive: Hdd,
    now: Nanos,
}

impl Bench {
    fn new(params: Params) -> Self {
        Self { drive: Hdd::new(params, 7).expect("legal parameters"), now: Nanos::ZERO }
    }

    fn command(op: Op, sector: u64, sectors: u32) -> Command {
        let bytes = 512;
        Command { tag: 0, op, offset: sector * bytes, len: sectors * 512, durable: false }
    }

    fn run(&mut self, command: Command) -> Done {
        self.drive.submit(command, self.now);
        let mut done = Vec::new();
        while done.is_empty() {
            self.drive.advance(self.drive.next(), &mut done);
        }
        assert_eq!(done.len(), 1);
        done[0]
    }

    /// Nanoseconds that a command takes.
    fn time(&mut self, op: Op, sector: u64, sectors: u32) -> u64 {
        let done = self.run(Self::command(op, sector, sectors));
        let took = done.at.since(self.now).0;
        self.now = done.at;
        took
    }

    fn pass(&mut self, ms: u64) {
        self.now += Nanos::from_millis(ms);
    }
}

#[test]
fn a_read_takes_overhead_seek_rotation_and_transfer() {
    let mut bench = Bench::new(small());
    let far = 500 * 200;
    let took = bench.time(Op::Read, far, 1);
    let least = 300_000 + 8 * MS + 100_000;
    assert!((least..least + 14 * MS).contains(&took), "{took}");
}

#[test]
fn what_was_read_ahead_needs_no_arm() {
    let mut bench = Bench::new(small());
    bench.time(Op::Read, 1000, 8);
    bench.pass(50);
    assert_eq!(bench.time(Op::Read, 1008, 8), 100_000);
    // A full segment after the request, which needs two more tracks.
    assert_eq!(bench.time(Op::Read, 1200, 64), 100_000);
}

#[test]
fn a_read_that_catches_up_with_reading_ahead_gets_the_rest_as_it_passes() {
    let mut bench = Bench::new(small());
    bench.time(Op::Read, 1000, 4);
    // At once: the head is over the next sector.
    let took = bench.time(Op::Read, 1004, 8);
    assert_eq!(took, 8 * 100_000);
}

#[test]
fn a_sequential_read_without_read_ahead_loses_a_revolution() {
    let mut params = small();
    params.cache.read_ahead = ReadAhead::None;
    let mut bench = Bench::new(params);
    bench.time(Op::Read, 1000, 4);
    let took = bench.time(Op::Read, 1004, 4);
    assert_eq!(took, 10 * MS + 4 * 100_000);
}

#[test]
fn reading_on_over_a_track_costs_the_skew() {
    let mut bench = Bench::new(small());
    let both_tracks = bench.time(Op::Read, 99_800, 200);
    bench.pass(1000);
    let mut one = Bench::new(small());
    let one_track = one.time(Op::Read, 99_800, 100);
    // 20 sectors of skew and the other 100.
    assert_eq!(both_tracks - one_track, 120 * 100_000);
}

#[test]
fn a_buffered_write_is_done_at_once_and_a_flush_waits_for_the_medium() {
    let mut bench = Bench::new(small());
    assert_eq!(bench.time(Op::Write, 50_000, 8), 100_000);
    assert!(bench.time(Op::Flush, 0, 0) > 2 * MS);
    // Nothing is left to be written.
    assert_eq!(bench.time(Op::Flush, 0, 0), 100_000);
}

#[test]
fn a_durable_write_waits_for_the_medium() {
    let mut bench = Bench::new(small());
    let command = Command { durable: true, ..Bench::command(Op::Write, 50_000, 8) };
    assert!(bench.run(command).at.0 > 2 * MS);
}

#[test]
fn a_read_of_what_was_written_comes_from_the_buffer() {
    let mut bench = Bench::new(small());
    bench.time(Op::Write, 50_000, 8);
    assert_eq!(bench.time(Op::Read, 50_002, 4), 100_000);
}

#[test]
fn idle_time_writes_back() {
    let mut bench = Bench::new(small());
    bench.time(Op::Write, 50_000, 8);
    bench.pass(100);
    assert_eq!(bench.time(Op::Flush, 0, 0), 100_000);
}

#[test]
fn a_write_that_continues_another_shares_its_room() {
    let mut params = small();
    params.write.extents = 1;
    params.cache.hits_while_busy = false;
    let mut bench = Bench::new(params);
    assert_eq!(bench.time(Op::Write, 50_000, 8), 100_000);
    assert_eq!(bench.time(Op::Write, 50_008, 8), 100_000);
    // Elsewhere: only when the arm has written what there is.
    assert!(bench.time(Op::Write, 90_000, 8) > MS);
}

#[test]
fn an_interface_slower_than_the_medium_sets_the_pace() {
    let mut params = small();
    let interface = Interface::new(200_000, 150_000);
    params.interface = Some(interface);
    let mut slow = Bench::new(params);
    let mut fast = Bench::new(small());
    let (slow_read, fast_read) = (slow.time(Op::Read, 50_000, 10), fast.time(Op::Read, 50_000, 10));
    // From the first sector on 2 ms instead of 0.9 ms.
    assert_eq!(slow_read - fast_read, 1_100_000);
    slow.pass(100);
    assert_eq!(slow.time(Op::Write, 80_000, 10), 100_000 + 1_500_000);
}

#[test]
fn a_drive_that_cannot_be_says_which_field_is_wrong() {
    let wrong = |change: fn(&mut Params)| {
        let mut params = small();
        change(&mut params);
        Hdd::new(params, 0).expect_err("illegal").to_string()
    };
    assert_eq!(wrong(|p| p.rpm = 0.0), "rpm is 0, not within 100 to 100000");
    let message = "zone 0: sectors_per_track is 0, not within 1 to 65536";
    assert_eq!(wrong(|p| p.layout.zones[0].sectors_per_track = 0), message);
    assert_eq!(
        wrong(|p| p.seek = SeekCurve::Table(vec![(2, 1.0), (2, 2.0)])),
        "seek: distances do not ascend"
    );
    assert!(wrong(|p| p.rpm = f64::NAN).starts_with("rpm is NaN"));
}

/// Runs a closed loop of random 4 KiB reads; gives reads per second and the longest wait.
fn random_reads(params: Params, depth: u32, reads: u64) -> (f64, Nanos) {
    let mut drive = Hdd::new(params, 1).expect("legal parameters");
    let places = drive.capacity() / 4096;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(99);
    let mut command = |tag| Command {
        tag,
        op: Op::Read,
        offset: random.next_u64() % places * 4096,
        len: 4096,
        durable: false,
    };
    let mut submitted = vec![Nanos::ZERO; depth as usize];
    for tag in 0..depth {
        drive.submit(command(tag), Nanos::ZERO);
    }
    let (mut count, mut longest, mut now, mut done) = (0, Nanos::ZERO, Nanos::ZERO, Vec::new());
    while count < reads {
        now = drive.next();
        drive.advance(now, &mut done);
        for end in done.drain(..) {
            count += 1;
            longest = longest.max(end.at.since(submitted[end.tag as usize]));
            submitted[end.tag as usize] = now;
            drive.submit(command(end.tag), now);
        }
    }
    (count as f64 / now.as_secs_f64(), longest)
}

/// A Seagate ST2000DM006: 7200 rpm, 2 TB, two platters. Fitted on its random reads: seeks are those
/// of the data sheet, `turnaround` and `miss_margin`. Fitted on its flushes: `destage_overhead` and
/// `flush_overhead`.
fn st2000dm006() -> Params {
    let zone = |index: u32| Zone {
        first_cylinder: index * 24_000,
        last_cylinder: index * 24_000 + 23_999,
        sectors_per_track: 427 - index * 14,
        track_skew: 40.0,
        cylinder_skew: 60.0,
        ..small().layout.zones[0].clone()
    };
    let mut params = small();
    params.sector_bytes = 4096;
    params.rpm = 7200.0;
    params.surfaces = 4;
    params.layout.zones = (0..16).map(zone).collect();
    params.seek = SeekCurve::ThreePoint { one_ms: 1.0, average_ms: 8.5, full_ms: 16.0 };
    params.cache.segments = 16;
    params.cache.segment_sectors = 512;
    params.cache.zero_latency_read = true;
    params.cache.zero_latency_write = true;
    params.write.extents = 256;
    params.write.extent_sectors = 512;
    params.write.destage_overhead = Nanos::from_millis(3);
    params.write.flush_overhead = Nanos::from_millis(16);
    params.overhead.read_miss = both(0);
    params.overhead.turnaround = Nanos::from_millis(5);
    params.queue.miss_margin = Nanos::from_millis(1);
    params
}

#[test]
fn a_measured_drive_gains_from_depth_what_it_was_measured_to_gain() {
    // lumir-sliva/ublk-disksim, docs/img/data/qd.tsv.
    let measured = [(1, 57.6), (2, 64.5), (4, 71.2), (8, 78.6), (16, 86.3), (32, 93.6)];
    for (depth, want) in measured {
        let (got, _) = random_reads(st2000dm006(), depth, 5_000);
        let off = got / want - 1.0;
        eprintln!("depth {depth:2}: {got:.1} reads/s, measured {want} ({:+.1} %)", off * 100.0);
        assert!(off.abs() < 0.10, "depth {depth}: {got} against {want}");
    }
}

#[test]
fn a_measured_drive_flushes_as_long_as_it_was_measured_to() {
    let params = st2000dm006();
    for writes in [1, 2, 4, 8, 16, 32, 64] {
        let mut bench = Bench::new(params.clone());
        let sectors = bench.drive.capacity() / 4096;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let rounds = 20;
        let mut sum = 0;
        for _ in 0..rounds {
            for _ in 0..writes {
                bench.time(Op::Write, random.next_u64() % sectors * 8, 8);
            }
            sum += bench.time(Op::Flush, 0, 0);
        }
        let got = sum as f64 / 1e6 / f64::from(rounds);
        let want = 28.0 + 9.4 * f64::from(writes);
        let off = (got / want - 1.0) * 100.0;
        eprintln!("{writes:2} writes: flush {got:.1} ms, measured {want:.1} ({off:+.1} %)");
        assert!(off.abs() < 20.0, "{writes} writes: {got} against {want}");
    }
}

#[test]
fn reordering_gains_and_ageing_bounds_the_wait() {
    let mut in_order = small();
    in_order.queue.window = 1;
    let (fifo, _) = random_reads(in_order, 32, 4_000);
    let (greedy, longest) = random_reads(small(), 32, 4_000);
    assert!(greedy > 1.5 * fifo, "{greedy} against {fifo}");
    let mut aged = small();
    aged.queue.ageing_permille = 10;
    let (soft, bounded) = random_reads(aged, 32, 4_000);
    assert!(soft > 1.4 * fifo, "{soft} against {fifo}");
    assert!(bounded < longest, "{bounded} against {longest}");
}

#[derive(Debug, Clone, Copy)]
struct Draw {
    op: Op,
    sector: u64,
    sectors: u32,
    durable: bool,
    pause_us: u64,
}

fn draws() -> impl Strategy<Value = Vec<Draw>> {
    let op = prop_oneof![
        4 => Just(Op::Read),
        4 => Just(Op::Write),
        1 => Just(Op::Flush),
        1 => Just(Op::Discard),
    ];
    // Places near one another, so that commands overlap and continue each other.
    let sector = prop_oneof![0u64..300, 0u64..199_000];
    let one =
        (op, sector, 1u32..400, prop::bool::weighted(0.1), prop_oneof![0u64..300, 0u64..40_000]);
    let make =
        |(op, sector, sectors, durable, pause_us)| Draw { op, sector, sectors, durable, pause_us };
    prop::collection::vec(one.prop_map(make), 1..120)
}

/// Plays draws at a depth; every command must end once, in order of time, not before it was given.
fn play(params: Params, draws: &[Draw], depth: u32) -> Vec<Done> {
    let mut drive = Hdd::new(params, 3).expect("legal parameters");
    let (mut now, mut all, mut done) = (Nanos::ZERO, Vec::new(), Vec::new());
    let mut outstanding = std::collections::BTreeMap::new();
    for (tag, draw) in (0u32..).zip(draws) {
        let mut until = now + Nanos::from_micros(draw.pause_us);
        while outstanding.len() as u32 >= depth || drive.next() <= until {
            let next = drive.next();
            assert!(next < Nanos::MAX, "something outstanding never ends");
            drive.advance(next, &mut done);
            until = until.max(next);
            for end in done.drain(..) {
                let given = outstanding.remove(&end.tag).expect("ends once");
                assert!(given <= end.at && end.ready <= end.at && end.at <= next);
                all.push(end);
            }
        }
        now = until;
        let (offset, len) = match draw.op {
            Op::Flush => (0, 0),
            _ => (draw.sector * 512, draw.sectors * 512),
        };
        outstanding.insert(tag, now);
        drive.submit(Command { tag, op: draw.op, offset, len, durable: draw.durable }, now);
    }
    while !outstanding.is_empty() {
        let next = drive.next();
        assert!(next < Nanos::MAX, "something outstanding never ends");
        drive.advance(next, &mut done);
        for end in done.drain(..) {
            outstanding.remove(&end.tag).expect("ends once");
            all.push(end);
        }
    }
    assert_eq!(all.len(), draws.len());
    assert!(all.windows(2).all(|pair| pair[0].at <= pair[1].at), "ends are in order of time");
    all
}

proptest! {
    #[test]
    fn every_command_ends_once_and_the_same_way_again(
        draws in draws(),
        depth in 1u32..32,
        extents in 1u32..6,
        segments in 1u32..5,
        switches in prop::array::uniform8(any::<bool>()),
    ) {
        let mut params = small();
        let [back, busy, keep, edge, preseek, takes, immediate, wire] = switches;
        params.write.write_back = back;
        params.cache.hits_while_busy = busy;
        params.cache.keep_passing = keep;
        params.cache.join_at_edge = edge;
        params.queue.preseek = preseek;
        params.write.takes_segment = takes;
        params.cache.zero_latency_read = immediate;
        params.cache.zero_latency_write = immediate;
        params.write.extents = extents;
        params.cache.segments = segments;
        if wire {
            let read_watermark = 0.5;
            let (read_sector_ns, write_sector_ns) = (80_000, 120_000);
            let crossing = Interface::new(read_sector_ns, write_sector_ns);
            params.interface = Some(Interface { read_watermark, ..crossing });
        }
        let first = play(params.clone(), &draws, depth);
        prop_assert_eq!(first, play(params, &draws, depth));
    }
}

/// How long one command takes after another on a new drive, in nanoseconds.
fn second(params: &Params, first: Command, second: Command) -> u64 {
    let mut bench = Bench::new(params.clone());
    bench.now = bench.run(first).at;
    let begun = bench.now;
    bench.run(second).at.since(begun).0
}

#[test]
fn part_of_a_read_crosses_at_once_or_when_the_watermark_is_reached() {
    let mut params = small();
    params.cache.read_ahead = ReadAhead::None;
    let (read_sector_ns, write_sector_ns) = (100_000, 100_000);
    params.interface =
        Some(Interface { read_watermark: 1.0, ..Interface::new(read_sector_ns, write_sector_ns) });
    let (first, rest) = (Bench::command(Op::Read, 0, 50), Bench::command(Op::Read, 40, 20));
    let at_once = second(&params, first, rest);
    params.cache.part_at_once = false;
    let later = second(&params, first, rest);
    // All 20 sectors cross after the last one was read, instead of that one alone.
    assert_eq!(later - at_once, 19 * 100_000);
}

/// Tracks of 100 sectors of 0.1 ms, an interface that takes 0.15 ms for a sector and a segment of
/// 32: the read has overtaken what crossed by a segment when its sector 92 begins to pass.
#[test]
fn a_read_longer_than_its_segment_loses_a_turn_when_the_segment_is_full() {
    let mut params = small();
    let (read_sector_ns, write_sector_ns) = (150_000, 150_000);
    params.interface = Some(Interface::new(read_sector_ns, write_sector_ns));
    let took = |params: &Params, sectors| {
        Bench::new(params.clone()).run(Bench::command(Op::Read, 0, sectors)).at.0
    };
    let roomy = took(&params, 93);
    params.cache.segment_sectors = 32;
    assert_eq!(took(&params, 92), roomy - 150_000, "the interface sets the pace");
    let turned = took(&params, 93) - roomy;
    assert!((4 * MS..10 * MS).contains(&turned), "{turned}");
    params.cache.room_at_begin = false;
    assert_eq!(took(&params, 93), roomy, "room at the end of the sector is early enough");
}

/// Story: writes of 512 bytes to drives with sectors of 4 KiB took no longer than on old drives.
#[test]
fn a_write_of_part_of_a_physical_sector_reads_it_first() {
    let mut params = small();
    params.write_settle_ns = 0;
    params.cache.read_ahead = ReadAhead::None;
    let write =
        |sector, sectors| Command { durable: true, ..Bench::command(Op::Write, sector, sectors) };
    let took = |params: &Params, write| Bench::new(params.clone()).run(write).at.0;
    let (part, whole) = (took(&params, write(8, 1)), took(&params, write(8, 8)));
    let read_before = second(&params, Bench::command(Op::Read, 8, 8), write(8, 1));
    params.physical_bytes = Some(4096);
    assert_eq!(took(&params, write(8, 8)), whole);
    // A turn, and the other seven sectors.
    assert_eq!(took(&params, write(8, 1)) - part, 10 * MS + 700_000);
    assert_eq!(
        second(&params, Bench::command(Op::Read, 8, 8), write(8, 1)),
        read_before + 700_000,
        "what is in the cache is not read again"
    );
    params.physical_bytes = Some(1000);
    assert!(params.check().is_err());
}

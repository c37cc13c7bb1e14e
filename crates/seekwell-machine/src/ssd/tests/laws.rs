//! What holds for every drive and every command.

use super::drives::small;
use crate::fake::{command, drain};
use crate::part::{Command, Done};
use crate::ssd::{Fill, MovesAtOnce, Ssd, SsdParams, WritePause};
use crate::{OutOfRange, Part};
use proptest::prelude::*;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

fn drive(params: SsdParams) -> Ssd {
    Ssd::new(params).expect("legal parameters")
}

/// Gives a drive one command and returns how long it took.
fn alone(drive: &mut Ssd, command: Command, now: Nanos) -> Nanos {
    drive.submit(command, now);
    let mut done = Vec::new();
    while done.is_empty() {
        let at = drive.next();
        drive.advance(at, &mut done);
    }
    done[0].at.since(now)
}

#[test]
fn a_read_alone_takes_the_sum_of_its_steps() {
    let params = SsdParams { sense_ns: vec![50_000], ..small(Fill::Sequential) };
    let mut drive = drive(params);
    // Processor 3 + 1, sense 50, 4 KiB at 200 MB/s 20.48, latency 5 µs.
    assert_eq!(alone(&mut drive, command(0, Op::Read, 4096, 4096), Nanos::ZERO), Nanos(79_480));
    // Half a kilobyte: 2.56 µs on the channel.
    let later = Nanos::from_millis(5);
    assert_eq!(alone(&mut drive, command(0, Op::Read, 512, 512), later), Nanos(61_560));
}

#[test]
fn what_was_never_written_or_was_discarded_is_not_looked_for() {
    let mut empty = drive(small(Fill::Empty));
    assert_eq!(alone(&mut empty, command(0, Op::Read, 0, 4096), Nanos::ZERO), Nanos(9_000));
    let mut full = drive(small(Fill::Sequential));
    alone(&mut full, command(0, Op::Discard, 0, 1 << 20), Nanos::ZERO);
    let later = Nanos::from_millis(1);
    assert_eq!(alone(&mut full, command(0, Op::Read, 4096, 4096), later), Nanos(9_000));
}

#[test]
fn a_write_is_done_from_the_buffer_and_a_flush_waits_for_the_flash() {
    let mut drive = drive(small(Fill::Empty));
    let write = alone(&mut drive, command(0, Op::Write, 0, 4096), Nanos::ZERO);
    assert_eq!(write, Nanos(9_000), "processor 4 + 2, latency 3 µs");
    let flush = alone(&mut drive, command(0, Op::Flush, 0, 0), Nanos(9_000));
    // Processor 9, 16 KiB over the channel 81.92, program 300 µs.
    assert_eq!(flush, Nanos(9_000 + 81_920 + 300_000));
    let again = alone(&mut drive, command(0, Op::Flush, 0, 0), Nanos::from_millis(10));
    assert_eq!(again, Nanos(9_000), "nothing is left to program");
}

#[test]
fn a_write_with_fua_waits_for_the_flash_unless_the_buffer_is_protected() {
    let fua = Command { durable: true, ..command(0, Op::Write, 0, 4096) };
    let mut plain = drive(small(Fill::Empty));
    assert_eq!(alone(&mut plain, fua, Nanos::ZERO), Nanos(6_000 + 81_920 + 300_000));
    let mut protected = drive(SsdParams { buffer_protected: true, ..small(Fill::Empty) });
    assert!(alone(&mut protected, fua, Nanos::ZERO) < Nanos::from_micros(20));
}

#[test]
fn what_is_still_in_the_buffer_is_read_from_there() {
    let mut drive = drive(small(Fill::Sequential));
    alone(&mut drive, command(0, Op::Write, 8192, 4096), Nanos::ZERO);
    let read = alone(&mut drive, command(0, Op::Read, 8192, 4096), Nanos(9_000));
    assert_eq!(read, Nanos(9_000), "processor 4, latency 5 µs");
}

#[test]
fn writes_wait_when_the_buffer_is_full() {
    let mut drive = drive(small(Fill::Empty));
    for tag in 0..64 {
        drive.submit(command(tag, Op::Write, u64::from(tag) << 16, 64 << 10), Nanos::ZERO);
    }
    let done = drain(&mut drive);
    let last = done.iter().map(|done| done.at).max().expect("64 writes");
    // 4 MiB less the 256 KiB that fit the buffer, at 4 dies × 16 KiB each 381.92 µs.
    let least = (4096 - 256 - 64) * 1024 / (4 * 16_384) * 381_920;
    assert!(last >= Nanos(least) && last <= Nanos(least * 5 / 4), "{last}, at least {least} ns");
}

#[test]
fn a_read_suspends_a_program_where_the_drive_can() {
    let read_beside_programs = |reads_ahead| {
        let params = SsdParams { reads_ahead, sense_ns: vec![50_000], ..small(Fill::Sequential) };
        let mut drive = drive(params);
        for tag in 0..4 {
            drive.submit(command(tag, Op::Write, u64::from(tag) << 16, 64 << 10), Nanos::ZERO);
        }
        let mut done = Vec::new();
        let now = Nanos::from_micros(400);
        while drive.next() <= now {
            let at = drive.next();
            drive.advance(at, &mut done);
        }
        done.clear();
        drive.submit(command(9, Op::Read, 32 << 20, 4096), now);
        let all = drain(&mut drive);
        all.iter().find(|done| done.tag == 9).expect("the read").at.since(now)
    };
    let (with, without) = (read_beside_programs(2), read_beside_programs(0));
    assert!(with < Nanos::from_micros(200) && without > with, "{with} and {without}");
}

#[test]
fn reads_wait_behind_writes_for_which_there_are_no_slots() {
    let read_beside = |write_slots| {
        let params = SsdParams { write_slots, ..small(Fill::Sequential) };
        let room = (params.buffer_bytes / 4096) as u32;
        let mut drive = drive(params);
        // The buffer takes the first; the others wait for programs.
        for tag in 1..room + 100 {
            drive.submit(command(tag, Op::Write, u64::from(tag) * 4096, 4096), Nanos::ZERO);
        }
        drive.submit(command(0, Op::Read, 1 << 25, 4096), Nanos::ZERO);
        let done = drain(&mut drive);
        let at = |tag| done.iter().find(|done| done.tag == tag).expect("all are done").at;
        (at(0), at(room + 99))
    };
    let (read, last_write) = read_beside(None);
    assert!(read < last_write, "no number of writes holds it up");
    assert_eq!(read_beside(Some(1000)), (read, last_write), "there are slots for all of them");
    let (held_up, last_write) = read_beside(Some(1));
    assert!(held_up > last_write, "{held_up:?} {last_write:?}: it began after the last write");
}

#[test]
fn writes_that_wait_come_in_at_the_pace_of_the_gate() {
    let gap = Nanos::from_millis(1);
    let params = SsdParams { write_gap_ns: gap.0 as u32, ..small(Fill::Sequential) };
    let room = (params.buffer_bytes / 4096) as u32;
    let mut drive = drive(params);
    for tag in 0..room + 100 {
        drive.submit(command(tag, Op::Write, u64::from(tag) * 4096, 4096), Nanos::ZERO);
    }
    let mut ends: Vec<Nanos> = drain(&mut drive).iter().map(|done| done.at).collect();
    ends.sort_unstable();
    let waited = &ends[room as usize..];
    assert!(waited.windows(2).all(|pair| pair[1].since(pair[0]) == gap), "{waited:?}");
    // None waits any longer: the gate is open, and the buffer has room for all of these.
    let now = ends[ends.len() - 1] + Nanos::from_millis(1_000);
    for tag in 0..room {
        drive.submit(command(tag, Op::Write, u64::from(tag) * 4096, 4096), now);
    }
    let took = drain(&mut drive).iter().map(|done| done.at.since(now)).max();
    assert!(took < Some(gap), "{took:?}");
}

#[test]
fn writes_wait_out_a_pause_and_reads_do_not() {
    let write_pause = Some(WritePause { every_ns: 1_000_000, lasts_ns: 100_000 });
    let took = |op, now| {
        let mut paused = drive(SsdParams { write_pause, ..small(Fill::Sequential) });
        let mut other = drive(small(Fill::Sequential));
        [&mut paused, &mut other].map(|drive| alone(drive, command(0, op, 0, 4096), now))
    };
    // The processor hands the write on 6 µs after it came.
    let [in_a_pause, other] = took(Op::Write, Nanos(3_030_000));
    assert_eq!(in_a_pause - other, Nanos(100_000 - 36_000));
    for [with, without] in [took(Op::Write, Nanos(3_100_000)), took(Op::Read, Nanos(3_030_000))] {
        assert_eq!(with, without);
    }
}

#[test]
fn moves_given_at_once_hold_up_the_writes_behind_them() {
    let slowest = |relaxed| {
        let moves_at_once = MovesAtOnce { relaxed, pressed: relaxed };
        let mut drive = drive(SsdParams { moves_at_once, ..small(Fill::Random) });
        let (blocks, mut now, mut slowest) = (drive.capacity() / 4096, Nanos::ZERO, Nanos::ZERO);
        for n in 0..20_000_u64 {
            let offset = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % blocks * 4096;
            let took = alone(&mut drive, command(0, Op::Write, offset, 4096), now);
            slowest = slowest.max(took);
            now += took;
        }
        slowest
    };
    let (evenly, at_once) = (slowest(0), slowest(16));
    assert!(at_once.0 > 2 * evenly.0, "{evenly} and {at_once}");
}

#[test]
fn a_check_names_the_field_and_its_range() {
    let refused = Ssd::new(SsdParams { channels: 0, ..small(Fill::Empty) }).map(|_| ());
    let expected = OutOfRange { field: "channels", value: 0, least: 1, most: 64 };
    assert_eq!(refused, Err(expected));
    for (every_ns, lasts_ns, field) in [(0, 0, "every_ns"), (500, 500, "lasts_ns")] {
        let write_pause = Some(WritePause { every_ns, lasts_ns });
        let refused = SsdParams { write_pause, ..small(Fill::Empty) }.check();
        let field = format!("write_pause.{field}");
        assert_eq!(refused.map_err(|error| error.field), Err(field.as_str()));
    }
    let no_spare = SsdParams { flash_bytes: 64 << 20, ..small(Fill::Empty) };
    assert_eq!(no_spare.check().map_err(|error| error.field), Err("flash_bytes"));
}

#[derive(Debug, Clone, Copy)]
struct Arrival {
    gap: u64,
    op: Op,
    offset: u64,
    len: u32,
    durable: bool,
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let op = prop_oneof![
        6 => Just(Op::Read), 6 => Just(Op::Write), 1 => Just(Op::Flush), 1 => Just(Op::Discard),
    ];
    let sectors = (64_u64 << 20) / 512;
    let one = (0_u64..80_000, op, 0..sectors, 1_u64..700, prop::bool::weighted(0.1)).prop_map(
        move |(gap, op, at, len, durable)| {
            let len = len.min(sectors - at) as u32 * 512;
            let flush = op == Op::Flush;
            let (offset, len) = if flush { (0, 0) } else { (at * 512, len) };
            Arrival { gap, op, offset, len, durable: durable && op == Op::Write }
        },
    );
    prop::collection::vec(one, 1..250)
}

/// Gives the commands as they come, never more than the depth at once.
fn play(drive: &mut Ssd, arrivals: &[Arrival]) -> Vec<Done> {
    let (mut now, mut out, mut given) = (Nanos::ZERO, Vec::new(), Vec::new());
    for (tag, it) in arrivals.iter().enumerate() {
        let wanted = now + Nanos(it.gap);
        while drive.next() <= wanted || given.len() - out.len() >= drive.depth() as usize {
            let at = drive.next();
            assert!(at >= now && at < Nanos::MAX, "from {now} to {at}");
            now = at;
            drive.advance(now, &mut out);
        }
        now = now.max(wanted);
        let Arrival { op, offset, len, durable, .. } = *it;
        drive.submit(Command { tag: tag as u32, op, offset, len, durable }, now);
        given.push(now);
    }
    out.extend(drain(drive));
    assert_eq!(out.len(), arrivals.len(), "everything is done once");
    assert!(out.is_sorted_by_key(|done| done.at), "in order of time");
    let mut seen = vec![false; arrivals.len()];
    for done in &out {
        assert!(!std::mem::replace(&mut seen[done.tag as usize], true), "done twice");
        assert!(done.ready >= given[done.tag as usize] && done.ready <= done.at);
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn everything_is_done_once_in_order_of_time_and_the_same_each_time(
        arrivals in arrivals(),
        fill in prop_oneof![Just(Fill::Empty), Just(Fill::Sequential), Just(Fill::Random)],
        reads_ahead in 0_u32..4,
        ahead in prop_oneof![Just(0_u32), Just(64 << 10)],
    ) {
        let params = SsdParams { reads_ahead, read_ahead_bytes: ahead, ..small(fill) };
        let first = play(&mut drive(params.clone()), &arrivals);
        let again = play(&mut drive(params), &arrivals);
        prop_assert_eq!(first, again);
    }

    #[test]
    fn a_flush_ends_when_nothing_written_before_is_outside_the_flash(arrivals in arrivals()) {
        let mut drive = drive(small(Fill::Sequential));
        let end = play(&mut drive, &arrivals).last().map_or(Nanos::ZERO, |done| done.at);
        let later = end + Nanos::from_millis(1000);
        let mut none = Vec::new();
        drive.advance(later, &mut none);
        alone(&mut drive, command(0, Op::Flush, 0, 0), later);
        prop_assert_eq!(drive.buffer.room(), drive.params.buffer_bytes as u32 / 4096);
        drive.ftl.assert_consistent();
    }
}

//! Replays on a virtual clock: every number is asserted to the nanosecond.

use super::*;
use crate::error::TraceError;
use crate::record::{Flags, Record, Stamp};
use crate::source::{About, Capture, Clock, Tables, TraceSource};
use proptest::prelude::*;
use seekwell_io::dispatch::{SharedTags, Unlimited};
use seekwell_io::engine::{Bounds, Control, run_source};
use seekwell_io::measurement::Measurement;
use seekwell_io::request::{Op, Request};
use seekwell_io::target::{Fixed, Served};
use seekwell_io::units::Nanos;
use seekwell_io::workload;

const MS: Nanos = Nanos::from_millis(1);
const GIB: u64 = 1 << 30;

const fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

/// A trace in memory.
struct Kept {
    records: Vec<Record>,
    next: usize,
    about: About,
    tables: Tables,
}

fn kept(records: Vec<Record>) -> Kept {
    let about = About::new("test", Clock::Start, Capture::Both);
    Kept { records, next: 0, about, tables: Tables::default() }
}

impl TraceSource for Kept {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        let end = (self.next + 100).min(self.records.len());
        out.extend_from_slice(&self.records[self.next..end]);
        self.next = end;
        Ok(())
    }
    fn about(&self) -> &About {
        &self.about
    }
    fn tables(&self) -> &Tables {
        &self.tables
    }
}

fn read(at: Nanos, took: Nanos, offset: u64) -> Record {
    let mut record = Record::new(Op::Read, offset, 4096);
    (record.queued, record.issued) = (Stamp::at(at), Stamp::at(at));
    record.completed = Stamp::at(at + took);
    record
}

fn picked() -> Picked {
    Picked {
        device: None,
        moment: Moment::Issue,
        first: Nanos::ZERO,
        writes: true,
        placing: Placing::new(Fit::Fail, 512, GIB, 4096, GIB).unwrap(),
        longest_bytes: 1 << 20,
        untimed: false,
        dependencies: true,
        device_shift: None,
    }
}

fn feed(records: Vec<Record>, picked: Picked) -> Feed {
    Feed::start(Box::new(kept(records)), picked).unwrap()
}

fn play<S: workload::Source>(source: &mut S, depth: u32, takes: Nanos) -> Measurement {
    let bounds = Bounds { depth, ramp: Nanos::ZERO, runtime: Nanos::ZERO, spin: Nanos::ZERO };
    let mut target = Fixed::new(depth, |request: &Request| Served::whole(request, takes));
    let control = Control::default();
    run_source(source, bounds, &mut target, &mut Unlimited::default(), &control).unwrap()
}

#[test]
fn a_timed_replay_issues_each_request_at_its_own_time() {
    let records = (0..100).map(|i| read(ms(10 * i), MS, 4096 * i)).collect();
    let mut timed = Timed::new(feed(records, picked()), ms(5), 1.0, Fidelity::new(8, MS));
    let measured = play(&mut timed, 8, MS);
    assert_eq!(measured.requests(), 100);
    assert_eq!(measured.op(Op::Read).response.max(), Some(MS));
    let (feed, fidelity) = timed.finish();
    assert_eq!(feed.finish().unwrap(), Skipped { tasks: 1, ..Skipped::default() });
    assert_eq!(fidelity.lateness.max(), Some(Nanos::ZERO));
    assert_eq!(fidelity.drift(), Some(0.0));
    assert_eq!(fidelity.gap_distance(), Some(0.0));
    assert_eq!(fidelity.in_flight_error(), Some(0.0));
    assert_eq!(fidelity.verdict(), Verdict::KeptUp);
}

/// Held up for 26 ms between setting the start and beginning, a program counted 1,956 of 2,000
/// requests: the time before the start was measured from its beginning.
#[test]
fn a_replay_is_measured_from_its_first_request_on_however_late_it_begins() {
    let one =
        |base| Timed::new(feed(vec![read(MS, MS, 0)], picked()), base, 1.0, Fidelity::new(1, MS));
    let mut timed = one(ms(20));
    let warming = [0, 18, 19, 46].map(|at| workload::Source::is_warming(&mut timed, ms(at)));
    assert_eq!(warming, [true, true, false, false]);
    assert_eq!(play(&mut one(ms(20)), 1, MS).requests(), 1);
}

#[test]
fn twice_the_speed_takes_half_the_time() {
    let records = (0..101).map(|i| read(ms(10 * i), MS, 0)).collect();
    let mut timed = Timed::new(feed(records, picked()), Nanos::ZERO, 2.0, Fidelity::new(8, MS));
    assert_eq!(play(&mut timed, 8, MS).elapsed, ms(501));
}

#[test]
fn a_device_that_cannot_keep_up_is_blamed_and_not_the_program() {
    // One request a millisecond, and the only tag is taken for two.
    let records = (0..100).map(|i| read(ms(i), MS, 0)).collect();
    let mut timed = Timed::new(feed(records, picked()), Nanos::ZERO, 1.0, Fidelity::new(1, MS));
    play(&mut timed, 1, ms(2));
    let (_, fidelity) = timed.finish();
    assert_eq!(fidelity.verdict(), Verdict::DeviceFull);
    assert_eq!(fidelity.late_program, 0);
    assert_eq!(fidelity.lateness.max(), Some(ms(99)));
    // 198 ms in place of 99.
    assert!((fidelity.drift().unwrap() - 1.0).abs() < 1e-9);
}

#[test]
fn what_a_tag_policy_holds_back_is_not_the_programs_fault() {
    let records = (0..100).map(|i| read(ms(i), MS, 0)).collect();
    let mut timed = Timed::new(feed(records, picked()), Nanos::ZERO, 1.0, Fidelity::new(8, MS));
    let bounds = Bounds { depth: 8, ramp: Nanos::ZERO, runtime: Nanos::ZERO, spin: Nanos::ZERO };
    let mut target = Fixed::new(8, |request: &Request| Served::whole(request, ms(2)));
    let (mut tags, control) = (SharedTags::new(1), Control::default());
    run_source(&mut timed, bounds, &mut target, &mut tags, &control).unwrap();
    let (_, fidelity) = timed.finish();
    assert_eq!((fidelity.verdict(), fidelity.late_program), (Verdict::DeviceFull, 0));
}

#[test]
fn a_long_discard_needs_no_buffer_and_stays_whole() {
    let mut discard = read(MS, MS, 0);
    (discard.op, discard.len) = (Op::Discard, 1 << 20);
    let mut feed = feed(vec![discard], Picked { longest_bytes: 4096, ..picked() });
    assert_eq!(feed.take().unwrap().1.len, 1 << 20);
    assert!(feed.take().is_none());
    assert_eq!(feed.finish().unwrap().parts, 0);
}

#[test]
fn where_times_do_not_count_requests_without_one_are_played_in_their_place() {
    let records = || {
        let mut records = vec![read(ms(5), MS, 0), read(ms(6), MS, 4096)];
        records.push(Record::new(Op::Read, 8192, 4096));
        records
    };
    let mut with = feed(records(), Picked { untimed: true, first: ms(5), ..picked() });
    let all: Vec<_> = std::iter::from_fn(|| with.take()).map(|(_, p)| (p.at, p.offset)).collect();
    assert_eq!(all, [(ms(0), 0), (ms(1), 4096), (ms(1), 8192)]);
    let mut without = feed(records(), picked());
    assert_eq!(std::iter::from_fn(|| without.take()).count(), 2);
    assert_eq!(without.finish().unwrap().other, 1);
}

#[test]
fn lateness_without_a_full_device_is_the_programs() {
    let mut fidelity = Fidelity::new(4, MS);
    fidelity.issue(0, Some(ms(0)), None, ms(3));
    fidelity.complete(ms(4), false);
    assert_eq!((fidelity.late_program, fidelity.late_device), (1, 0));
    assert_eq!(fidelity.verdict(), Verdict::ProgramLate);
}

#[test]
fn a_closed_replay_keeps_the_depth_of_the_recording() {
    // Pairs that were outstanding together.
    let pair = |i: u64| [read(ms(10 * i), ms(4), 0), read(ms(10 * i + 1), ms(4), 4096)];
    let records: Vec<Record> = (0..50).flat_map(pair).collect();
    let mut closed = Closed::new(feed(records.clone(), picked()), None, Fidelity::new(8, MS));
    let measured = play(&mut closed, 8, MS);
    // The first of a pair waits until nothing is outstanding, the second joins it.
    assert_eq!(measured.elapsed, ms(50));
    let (_, fidelity) = closed.finish();
    assert_eq!(fidelity.in_flight_means(), Some((0.5, 0.5)));
    assert_eq!(fidelity.verdict(), Verdict::Untimed);

    let mut deep = Closed::new(feed(records, picked()), Some(4), Fidelity::new(8, MS));
    assert_eq!(play(&mut deep, 8, MS).elapsed, ms(25));
}

#[test]
fn a_dependent_replay_waits_for_what_was_waited_for_and_thinks_as_long() {
    // Each came 2 ms after the one before it was done, which took 8.
    let records = (0..100).map(|i| read(ms(10 * i), ms(8), 0)).collect();
    let feed = feed(records, picked());
    let mut dependent = Dependent::new(feed, Nanos::ZERO, 1.0, Fidelity::new(8, MS));
    // On a device that takes 1 the next comes after 3.
    assert_eq!(play(&mut dependent, 8, MS).elapsed, ms(99 * 3 + 1));
    let (_, fidelity) = dependent.finish();
    assert_eq!(fidelity.lateness.max(), Some(Nanos::ZERO));
    assert_eq!(fidelity.issued, 100);
}

#[test]
fn independent_requests_overlap_in_a_dependent_replay_as_they_did() {
    let records = vec![
        read(ms(0), ms(10), 0),
        read(ms(1), ms(4), 0),
        // Waited for the second alone, which was done at 5.
        read(ms(6), ms(9), 0),
        // Waited for the first and the third.
        read(ms(20), ms(1), 0),
    ];
    let feed = feed(records, picked());
    let mut dependent = Dependent::new(feed, Nanos::ZERO, 1.0, Fidelity::new(8, MS));
    // Served in 2: the third at 3 + 1, done at 6; the fourth 5 later, done at 13.
    assert_eq!(play(&mut dependent, 8, ms(2)).elapsed, ms(13));
}

/// Four jobs that each think for 1 ms, recorded at 3,600/s in all and played on a device that takes
/// 10 ms for each of any number of requests: 97.6/s, for each request waited for all before it.
#[test]
fn independent_tasks_wait_for_themselves_only_in_a_dependent_replay() {
    let us = Nanos::from_micros;
    let mut records: Vec<Record> = Vec::new();
    for pid in 1..=4_u32 {
        // A little apart, so that each falls between requests of the others.
        let begin = |i: u64| us(1100 * i + 130 * u64::from(pid));
        let of_task = (0..200).map(|i| Record { pid, ..read(begin(i), us(100), 0) });
        records.extend(of_task);
    }
    records.sort_by_key(Record::arrival);
    let feed = feed(records, picked());
    let mut dependent = Dependent::new(feed, Nanos::ZERO, 1.0, Fidelity::new(64, MS));
    let measured = play(&mut dependent, 64, ms(10));
    let rate = measured.requests() as f64 / measured.elapsed.as_secs_f64();
    assert!((rate / (4.0 / 0.011) - 1.0).abs() < 0.1, "{rate}/s");
    assert_eq!(dependent.finish().0.finish().unwrap().tasks, 4);
}

#[test]
fn only_reads_are_played_unless_writes_are_allowed() {
    let mut records: Vec<Record> = (0..10).map(|i| read(ms(i), MS, 0)).collect();
    for (i, op) in [(1, Op::Write), (2, Op::Discard), (3, Op::Flush), (4, Op::Flush)] {
        records[i].op = op;
    }
    records[5].flags = Flags::OTHER;
    let only_reads = Picked { writes: false, ..picked() };
    let mut feed = feed(records, only_reads);
    let mut ops = Vec::new();
    while let Some((_, planned)) = feed.take() {
        ops.push(planned.op);
    }
    assert_eq!(ops, [Op::Read; 5]);
    let skipped = feed.finish().unwrap();
    assert_eq!((skipped.by_op, skipped.other), ([0, 1, 2, 1], 1));
}

#[test]
fn long_requests_are_split_and_a_flush_before_a_write_is_played_too() {
    let mut write = read(MS, MS, 0);
    (write.op, write.len) = (Op::Write, 10_000);
    write.flags = Flags::PREFLUSH | Flags::FUA;
    let mut feed = feed(vec![write], Picked { longest_bytes: 4096, ..picked() });
    let mut seen = Vec::new();
    while let Some((_, p)) = feed.take() {
        seen.push((p.op, p.offset, p.len, p.durable));
    }
    let parts = [(0, 4096), (4096, 4096), (8192, 2048)].map(|(o, l)| (Op::Write, o, l, true));
    assert_eq!(seen[0], (Op::Flush, 0, 0, false));
    assert_eq!(seen[1..], parts);
    let skipped = feed.finish().unwrap();
    assert_eq!((skipped.parts, skipped.altered), (2, 1));
}

#[test]
fn by_issue_requests_are_played_in_the_order_the_device_got_them() {
    let mut records = vec![read(ms(1), MS, 0), read(ms(2), MS, 4096)];
    (records[0].queued, records[1].queued) = (Stamp::at(ms(1)), Stamp::at(ms(2)));
    (records[0].issued, records[1].issued) = (Stamp::at(ms(9)), Stamp::at(ms(4)));
    // A bio is no request of the device.
    records.push(Record { flags: Flags::BIO, ..read(ms(3), MS, 8192) });
    let mut feed = feed(records, picked());
    let played: Vec<_> =
        std::iter::from_fn(|| feed.take()).map(|(_, p)| (p.at, p.offset)).collect();
    assert_eq!(played, [(ms(4), 4096), (ms(9), 0)]);
    assert_eq!(feed.finish().unwrap(), Skipped { tasks: 1, ..Skipped::default() });
}

#[test]
fn a_request_that_goes_back_in_time_is_counted_and_played_at_once() {
    let records = vec![read(ms(5), MS, 0), read(ms(3), MS, 0)];
    let mut feed = feed(records, Picked { moment: Moment::Queue, ..picked() });
    assert_eq!(feed.take().unwrap().1.at, ms(5));
    assert_eq!(feed.take().unwrap().1.at, ms(5));
    assert_eq!(feed.finish().unwrap().backwards, 1);
}

#[test]
fn a_feed_that_is_left_early_ends_its_reader() {
    let records = (0..1_000_000).map(|i| read(Nanos(i), MS, 0)).collect();
    let mut feed = feed(records, picked());
    assert!(feed.take().is_some());
    assert!(feed.finish().is_ok());
}

#[test]
fn a_trace_that_does_not_fit_is_refused_with_both_sizes() {
    let refused = Placing::new(Fit::Fail, 512, 2 * GIB, 4096, GIB).unwrap_err();
    assert_eq!(refused, FitError::TooLarge { trace_bytes: 2 * GIB, target_bytes: GIB });
    let refused = Placing::new(Fit::Modulo, 512, GIB, 8192, 4096).unwrap_err();
    assert_eq!(refused, FitError::Tiny { longest_bytes: 8192, target_bytes: 4096 });
}

#[test]
fn the_survey_counts_by_device_and_finds_the_span() {
    let mut records: Vec<Record> = (0..300).map(|i| read(ms(7 + i), MS, 4096 * i)).collect();
    records[10].device = 2;
    records[11].completed = Stamp::NONE;
    records[12].op = Op::Write;
    let survey = survey(&mut kept(records), Moment::Queue).unwrap();
    assert_eq!((survey.first, survey.last, survey.total()), (ms(7), ms(306), 300));
    assert_eq!(survey.devices.len(), 3);
    assert_eq!(survey.devices[2].requests, [1, 0, 0, 0]);
    assert_eq!(survey.devices[0].requests, [298, 1, 0, 0]);
    assert_eq!(survey.devices[0].with_completion, 298);
    assert_eq!(survey.devices[0].end_bytes, 300 * 4096);
}

/// What the definition says, without any cleverness: every request done before this one came,
/// except those that another such request came after.
fn naive_parents(lives: &[(u64, u64)], child: usize) -> Vec<u32> {
    let before = |i: usize| i < child && lives[i].1 < lives[child].0;
    let implied = |i: usize| (0..child).any(|other| before(other) && lives[i].1 < lives[other].0);
    (0..child).filter(|&i| before(i) && !implied(i)).map(|i| i as u32).collect()
}

proptest! {
    #[test]
    fn inferred_parents_are_the_transitive_reduction(
        gaps in prop::collection::vec((0u64..50, 1u64..200), 1..120)
    ) {
        let mut now = 0;
        let lives: Vec<(u64, u64)> = gaps
            .iter()
            .map(|(gap, took)| {
                now += gap;
                (now, now + took)
            })
            .collect();
        let mut inference = depend::Inference::default();
        for (id, (arrived, done)) in lives.iter().enumerate() {
            let learned = inference.next(id as u32, Nanos(*arrived), Some(Nanos(*done)), true);
            let mut parents = learned.parents;
            parents.sort_unstable();
            prop_assert_eq!(parents, naive_parents(&lives, id));
            let outstanding = lives[..id].iter().filter(|(_, end)| end >= arrived).count();
            prop_assert_eq!(learned.in_flight as usize, outstanding);
        }
    }

    #[test]
    fn everything_placed_lies_on_the_target_in_whole_blocks(
        fit in prop_oneof![Just(Fit::Modulo), Just(Fit::Scale)],
        block in prop_oneof![Just(512u32), Just(4096)],
        offset in 0u64..(1 << 42), len in 1u32..(1 << 20), target in (2u64 << 20)..(1 << 34)
    ) {
        let end = offset + u64::from(len);
        let placing = Placing::new(fit, block, end, len, target).unwrap();
        let placed = placing.place(offset, len);
        prop_assert!(placed.offset + u64::from(placed.len) <= target);
        prop_assert_eq!(placed.offset % u64::from(block), 0);
        prop_assert_eq!(placed.len % block, 0);
        prop_assert!(placed.len >= len);
    }

    #[test]
    fn a_dependent_replay_on_the_recorded_device_issues_everything_exactly_once(
        gaps in prop::collection::vec((0u64..5, 1u64..40), 1..200)
    ) {
        let mut now = 0;
        let records: Vec<Record> = gaps
            .iter()
            .map(|(gap, took)| {
                now += gap;
                read(ms(now), ms(*took), 0)
            })
            .collect();
        let n = records.len() as u64;
        let feed = feed(records, picked());
        let mut dependent = Dependent::new(feed, Nanos::ZERO, 1.0, Fidelity::new(256, MS));
        prop_assert_eq!(play(&mut dependent, 256, ms(3)).requests(), n);
        let (_, fidelity) = dependent.finish();
        prop_assert_eq!(fidelity.issued, n);
    }
}

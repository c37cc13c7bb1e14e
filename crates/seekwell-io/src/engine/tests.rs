//! The loop on a virtual clock: every number is asserted to the nanosecond.

use crate::dispatch::{Dispatcher, SharedTags, Unlimited};
use crate::engine::{Bounds, Control, EngineError, run, run_beside, run_source, run_threads};
use crate::measurement::{FailureKind, Measurement, Stopped};
use crate::request::{Completion, Op, Request};
use crate::target::{Fixed, Null, Served, TargetError};
use crate::units::Nanos;
use crate::workload::{Next, Pace, Pattern, SizeShare, Source, Workload};
use std::sync::atomic::Ordering::Relaxed;

const MS: Nanos = Nanos::from_millis(1);

fn reads(depth: u32, requests: u64) -> Workload {
    let mut workload = Workload::closed(Pattern::Random, 100, 4096, depth, 1 << 30);
    workload.runtime_ns = Nanos::ZERO;
    workload.requests = requests;
    workload
}

fn on<F: FnMut(&Request) -> Served>(workload: &Workload, target: Fixed<F>) -> Measurement {
    with(workload, target, Unlimited::default(), &Control::default())
}

fn with<F: FnMut(&Request) -> Served, D: Dispatcher>(
    workload: &Workload,
    mut target: Fixed<F>,
    mut dispatcher: D,
    control: &Control,
) -> Measurement {
    run(workload, 0, &mut target, &mut dispatcher, control).unwrap()
}

fn each(takes: Nanos) -> impl FnMut(&Request) -> Served {
    move |request| Served::whole(request, takes)
}

#[test]
fn at_depth_one_a_thousand_reads_of_one_millisecond_take_one_second() {
    let m = on(&reads(1, 1000), Fixed::new(1, each(MS)));
    assert_eq!(m.elapsed, Nanos::from_millis(1000));
    let read = m.op(Op::Read);
    assert_eq!((read.requests, read.bytes), (1000, 4096 * 1000));
    assert_eq!(read.service.min(), Some(MS));
    assert_eq!(read.service.max(), Some(MS));
    assert_eq!(read.service.mean_ns(), Some(1e6));
    assert_eq!(read.service.quantile(0.5), Some(MS));
    assert_eq!(m.stopped, Stopped::Finished);
}

#[test]
fn depth_helps_a_device_with_many_servers_and_only_adds_waiting_to_one_with_one() {
    let wide = on(&reads(32, 3200), Fixed::new(32, each(MS)));
    assert_eq!(wide.elapsed, Nanos::from_millis(100));
    assert_eq!(wide.op(Op::Read).service.max(), Some(MS));
    let narrow = on(&reads(32, 3200), Fixed::new(1, each(MS)));
    assert_eq!(narrow.elapsed, Nanos::from_millis(3200));
    assert_eq!(narrow.op(Op::Read).service.max(), Some(Nanos::from_millis(32)));
}

#[test]
fn shared_tags_bound_what_is_outstanding_and_waiting_is_not_service() {
    let control = Control::default();
    let m = with(&reads(32, 320), Fixed::new(64, each(MS)), SharedTags::new(4), &control);
    assert_eq!(m.op(Op::Read).requests, 320);
    // Four at a time: 80 rounds of one millisecond, each request served in exactly one.
    assert_eq!(m.elapsed, Nanos::from_millis(80));
    assert_eq!(m.op(Op::Read).service.max(), Some(MS));
}

#[test]
fn a_runtime_ends_issuing_and_waits_for_what_is_outstanding() {
    let mut workload = reads(4, 0);
    workload.runtime_ns = Nanos::from_millis(1000);
    let m = on(&workload, Fixed::new(4, each(Nanos::from_millis(300))));
    // Rounds begin at 0, 300, 600 and 900 ms; the last ends at 1200 ms.
    assert_eq!(m.op(Op::Read).requests, 16);
    assert_eq!(m.elapsed, Nanos::from_millis(1200));
}

#[test]
fn a_ramp_is_run_but_not_measured() {
    let mut workload = reads(1, 0);
    workload.ramp_ns = Nanos::from_millis(500);
    workload.runtime_ns = Nanos::from_millis(1000);
    let m = on(&workload, Fixed::new(1, each(MS)));
    assert_eq!(m.op(Op::Read).requests, 1000);
    assert_eq!(m.elapsed, Nanos::from_millis(1000));
}

#[test]
fn under_a_fixed_rate_response_counts_from_the_intended_start() {
    // A loop that waits for the device before it asks again hides queueing (coordinated omission):
    // 1000 arrivals a second at a device that does 500 must show response times that grow without
    // bound while service stays within the allowed depth.
    let mut workload = reads(1, 200);
    workload.pace = Pace::Open { requests_per_s: 1000.0, poisson: false, depth: 1 };
    let m = on(&workload, Fixed::new(1, each(Nanos::from_millis(2))));
    let read = m.op(Op::Read);
    assert_eq!(read.service.max(), Some(Nanos::from_millis(2)));
    // Request n arrives at n ms and ends at 1 + 2n ms, n from 1 to 200.
    assert_eq!(read.response.max(), Some(Nanos::from_millis(201)));
    assert_eq!(read.response.min(), Some(Nanos::from_millis(2)));
}

#[test]
fn an_open_loop_below_the_limit_keeps_its_rate_exactly() {
    let mut workload = reads(1, 1000);
    workload.pace = Pace::Open { requests_per_s: 100.0, poisson: false, depth: 8 };
    let m = on(&workload, Fixed::new(8, each(MS)));
    assert_eq!(m.elapsed, Nanos::from_millis(10_001));
    assert_eq!(m.op(Op::Read).response.max(), Some(MS));
}

#[test]
fn time_without_completions_at_the_end_of_the_runtime_is_measured() {
    let mut workload = reads(1, 0);
    workload.runtime_ns = Nanos::from_millis(1000);
    workload.pace = Pace::Open { requests_per_s: 3.0, poisson: false, depth: 8 };
    let m = on(&workload, Fixed::new(8, each(MS)));
    assert_eq!((m.op(Op::Read).requests, m.elapsed), (2, Nanos::from_millis(1000)));
}

#[test]
fn poisson_arrivals_have_the_rate_asked_for() {
    let mut workload = reads(1, 100_000);
    workload.pace = Pace::Open { requests_per_s: 1000.0, poisson: true, depth: 64 };
    let m = on(&workload, Fixed::new(64, each(Nanos(1000))));
    let seconds = m.elapsed.as_secs_f64();
    assert!((seconds - 100.0).abs() < 1.5, "{seconds}");
}

#[test]
fn one_commit_is_its_write_and_its_flush_together() {
    let mut workload = Workload::closed(Pattern::Sequential, 0, 4096, 1, 1 << 20);
    workload.flush_every = 1;
    workload.runtime_ns = Nanos::ZERO;
    workload.requests = 100;
    let serve = |request: &Request| match request.op {
        Op::Flush => Served { takes: Nanos::from_millis(5), result: Ok(0) },
        _ => Served::whole(request, MS),
    };
    let m = on(&workload, Fixed::new(1, serve));
    assert_eq!((m.op(Op::Write).requests, m.op(Op::Flush).requests), (100, 100));
    assert_eq!(m.op(Op::Flush).service.max(), Some(Nanos::from_millis(5)));
    assert_eq!(m.op(Op::Flush).response.min(), Some(Nanos::from_millis(6)));
    assert_eq!(m.op(Op::Flush).response.max(), Some(Nanos::from_millis(6)));
    assert_eq!(m.elapsed, Nanos::from_millis(600));
}

#[test]
fn a_request_that_fails_ends_the_run_and_is_named() {
    let mut left = 10;
    let serve = move |request: &Request| {
        left -= 1;
        let result = if left == 0 { Err(libc::EIO) } else { Ok(request.len) };
        Served { takes: MS, result }
    };
    let m = on(&reads(1, 1000), Fixed::new(1, serve));
    assert_eq!(m.stopped, Stopped::Failed);
    assert_eq!((m.op(Op::Read).requests, m.failed), (9, 1));
    let failure = m.first_failure.unwrap();
    assert_eq!(failure.kind, FailureKind::Errno { errno: libc::EIO });
    assert_eq!((failure.op, failure.len), (Op::Read, 4096));
}

#[test]
fn a_short_transfer_is_a_failure_and_not_a_fast_request() {
    let serve = |_: &Request| Served { takes: MS, result: Ok(512) };
    let m = on(&reads(1, 1000), Fixed::new(1, serve));
    assert_eq!(m.first_failure.unwrap().kind, FailureKind::Short { moved: 512 });
    assert_eq!(m.op(Op::Read).requests, 0);
}

#[test]
fn a_device_that_hangs_for_thirty_seconds_is_waited_for_and_shows_in_the_maximum() {
    let hang = Nanos::from_millis(30_000);
    let mut n = 0;
    let serve = move |request: &Request| {
        n += 1;
        Served::whole(request, if n == 50 { hang } else { MS })
    };
    let m = on(&reads(1, 100), Fixed::new(1, serve));
    assert_eq!(m.stopped, Stopped::Finished);
    assert_eq!(m.op(Op::Read).service.max(), Some(hang));
    assert_eq!(m.elapsed, Nanos::from_millis(99) + hang);
}

#[test]
fn a_device_that_never_answers_ends_the_run_as_stalled_after_the_limit() {
    let control = Control::new(Nanos::from_millis(45_000));
    let mut n = 0;
    let serve = move |request: &Request| {
        n += 1;
        Served::whole(request, if n > 10 { Nanos::MAX } else { MS })
    };
    let m = with(&reads(4, 0).runtime(600), Fixed::new(4, serve), Unlimited::default(), &control);
    assert_eq!(m.stopped, Stopped::Stalled);
    assert_eq!(m.abandoned, 4);
    assert_eq!(m.op(Op::Read).requests, 10);
}

#[test]
fn a_stop_drains_what_is_outstanding_and_an_abandon_does_not() {
    for abandon in [false, true] {
        let control = Control::default();
        let mut n = 0;
        let serve = |request: &Request| {
            n += 1;
            if n == 100 {
                control.stop.store(true, Relaxed);
                control.abandon.store(abandon, Relaxed);
            }
            Served::whole(request, MS + Nanos(n))
        };
        let m =
            with(&reads(4, 0).runtime(600), Fixed::new(4, serve), Unlimited::default(), &control);
        assert_eq!(m.stopped, Stopped::Interrupted);
        assert_eq!(m.abandoned > 0, abandon, "{m:?}");
        assert_eq!(m.op(Op::Read).requests + m.abandoned, 100);
    }
}

impl Workload {
    fn runtime(mut self, seconds: u64) -> Self {
        self.runtime_ns = Nanos::from_millis(seconds * 1000);
        self
    }
}

#[test]
fn a_mix_keeps_its_share_and_measures_reads_and_writes_apart() {
    let mut workload = reads(8, 100_000);
    workload.read_percent = 70;
    let serve = |request: &Request| {
        Served::whole(request, if request.op == Op::Read { MS } else { Nanos::from_millis(2) })
    };
    let m = on(&workload, Fixed::new(8, serve));
    let share = m.op(Op::Read).requests as f64 / m.requests() as f64;
    assert!((share - 0.7).abs() < 0.01, "{share}");
    assert_eq!(m.op(Op::Read).service.max(), Some(MS));
    assert_eq!(m.op(Op::Write).service.min(), Some(Nanos::from_millis(2)));
}

#[test]
fn the_series_adds_up_to_the_totals_however_long_the_run() {
    let m = on(&reads(2, 400_000), Fixed::new(2, each(MS)));
    let requests: u64 = m.series.steps.iter().map(|s| s.requests[0]).sum();
    let bytes: u64 = m.series.steps.iter().map(|s| s.bytes[0]).sum();
    assert_eq!((requests, bytes), (400_000, 400_000 * 4096));
    assert!(m.series.steps.len() <= crate::measurement::Series::MAX_STEPS);
    // 200 s of 2000 a second: every full step holds the same number.
    let full = &m.series.steps[1..m.series.steps.len() - 2];
    let per_step = 2000 * m.series.step_ns.0 / 1_000_000_000;
    assert!(full.iter().all(|s| s.requests[0].abs_diff(per_step) <= 2), "{per_step}");
}

#[test]
fn equal_seeds_give_equal_requests_and_other_seeds_others() {
    let record = |seed| {
        let mut seen = Vec::new();
        let mut workload = reads(4, 500);
        workload.sizes.push(SizeShare { bytes: 16384, weight: 2 });
        workload.seed = seed;
        on(
            &workload,
            Fixed::new(4, |r: &Request| {
                seen.push((r.offset, r.len));
                Served::whole(r, MS)
            }),
        );
        seen
    };
    assert_eq!(record(7), record(7));
    assert_ne!(record(7), record(8));
}

#[test]
fn two_threads_measure_as_one_run_and_begin_apart() {
    let mut workload = Workload::closed(Pattern::Sequential, 100, 4096, 1, 1 << 20);
    workload.threads = 2;
    workload.runtime_ns = Nanos::ZERO;
    workload.requests = 10;
    let firsts = std::sync::Mutex::new(Vec::new());
    let m = run_threads(
        &workload,
        |_| {
            let mut first = true;
            let firsts = &firsts;
            let serve = move |r: &Request| {
                if std::mem::take(&mut first) {
                    firsts.lock().unwrap().push(r.offset);
                }
                Served::whole(r, MS)
            };
            Ok((Fixed::new(1, serve), Unlimited::default()))
        },
        &Control::default(),
    )
    .unwrap();
    assert_eq!(m.op(Op::Read).requests, 20);
    assert_eq!(m.elapsed, Nanos::from_millis(10));
    let mut firsts = firsts.into_inner().unwrap();
    firsts.sort_unstable();
    assert_eq!(firsts, [0, 512 * 1024]);
}

#[test]
fn the_null_target_completes_everything_it_is_given() {
    let workload = reads(32, 100_000);
    let control = Control::default();
    let m = run(&workload, 0, &mut Null::new(), &mut Unlimited::default(), &control).unwrap();
    assert_eq!(m.op(Op::Read).requests, 100_000);
    assert_eq!(control.requests.load(Relaxed), 100_000);
    assert_eq!(m.op(Op::Read).service.count(), 100_000);
}

#[test]
fn a_depth_above_one_batch_is_reached_although_completions_come_in_between() {
    // Waiting after each batch for a share of what was outstanding let a depth of 256 settle at 64.
    let m = on(&reads(256, 256), Fixed::new(256, each(Nanos::from_millis(1000))));
    assert_eq!(m.op(Op::Read).requests, 256);
    // All are served side by side, so all were submitted before the first completed.
    assert_eq!(m.elapsed, Nanos::from_millis(1000));
}

/// Each request is wanted 2 ms after the one before it completed.
struct Chain {
    left: u32,
    ready: Option<Nanos>,
    seen: Vec<(u32, Nanos, Nanos)>,
}

impl Source for Chain {
    fn next(&mut self, now: Nanos) -> Next {
        match self.ready {
            _ if self.left == 0 => Next::Done,
            None => Next::NotBefore(Nanos::MAX),
            Some(at) if at > now => Next::NotBefore(at),
            Some(wanted) => {
                self.ready = None;
                self.left -= 1;
                let id = self.left;
                let wanted = Some(wanted);
                Next::Request(Request {
                    op: Op::Read,
                    offset: 0,
                    len: 512,
                    wanted,
                    id,
                    durable: false,
                    queue: 0,
                })
            }
        }
    }

    fn completed(&mut self, request: &Request, submitted: Nanos, completion: &Completion) {
        self.seen.push((request.id, submitted, completion.at));
        self.ready = Some(completion.at + MS + MS);
    }
}

#[test]
fn a_source_that_waits_for_completions_is_asked_again_after_each() {
    let mut chain = Chain { left: 3, ready: Some(Nanos::ZERO), seen: Vec::new() };
    let bounds = Bounds { depth: 8, ramp: Nanos::ZERO, runtime: Nanos::ZERO, spin: Nanos::ZERO };
    let control = Control::default();
    let mut target = Fixed::new(8, each(MS));
    let m = run_source(&mut chain, bounds, &mut target, &mut Unlimited::default(), &control);
    let at = Nanos::from_millis;
    assert_eq!(chain.seen, [(2, at(0), at(1)), (1, at(3), at(4)), (0, at(6), at(7))]);
    assert_eq!(m.unwrap().elapsed, at(7));
}

/// Reads of one millisecond each, for `ms` milliseconds.
fn for_ms(ms: u64) -> Workload {
    Workload { runtime_ns: Nanos::from_millis(ms), requests: 0, ..reads(1, 0) }
}

#[test]
fn workloads_side_by_side_are_measured_for_the_time_in_which_all_ran() {
    // On the real clock: the second ends after a fifth of the time of the first.
    let (long, short) = (for_ms(3_000), for_ms(300));
    let open = |_, _| Ok((Null::new(), Unlimited::default()));
    let control = Control::default();
    let measured = run_beside(&[&long, &short, &long], open, &control);
    let measured: Vec<_> = measured.into_iter().map(Result::unwrap).collect();
    for one in &measured {
        assert_eq!(one.stopped, Stopped::Finished);
        assert!(one.requests() > 0);
        assert!(one.elapsed < Nanos::from_millis(2_000), "{}", one.elapsed);
    }
    let cpu: u64 = measured.iter().map(|m| m.cpu_user.0 + m.cpu_system.0).sum();
    let longest = measured.iter().map(|m| m.elapsed.0).max().unwrap();
    assert!(cpu <= 4 * longest, "CPU time is divided and not counted by each: {cpu} ns");
}

#[test]
fn where_one_of_several_workloads_cannot_be_set_up_none_begins() {
    let good = for_ms(300);
    let bad = Workload { region_bytes: 0, ..for_ms(300) };
    let open = |_, _| Ok((Null::new(), Unlimited::default()));
    let measured = run_beside(&[&good, &bad], open, &Control::default());
    assert_eq!(measured[0].as_ref().unwrap_err(), &EngineError::CalledOff);
    assert!(matches!(measured[1], Err(EngineError::Workload(_))), "{measured:?}");
    let errno = 12;
    let open = |number, _| match number {
        0 => Ok((Null::new(), Unlimited::default())),
        _ => Err(TargetError::RingRefused { errno }.into()),
    };
    let measured = run_beside(&[&good, &good], open, &Control::default());
    assert_eq!(measured[0].as_ref().unwrap_err(), &EngineError::CalledOff);
    assert_eq!(measured[1].as_ref().unwrap_err(), &TargetError::RingRefused { errno }.into());
}

//! Laws of what a clone asks for, on a virtual clock.

use super::walk::Region;
use super::{ANY_SEQUENCE, JobSource, Setup};
use crate::job::Job;
use crate::play::ramp::Ramp;
use crate::{Surroundings, parse_text};
use proptest::prelude::*;
use seekwell_io::dispatch::Unlimited;
use seekwell_io::engine::{Bounds, Control, run_source};
use seekwell_io::measurement::{Measurement, Stopped};
use seekwell_io::request::{Op, Request};
use seekwell_io::target::{Fixed, Served};
use seekwell_io::units::Nanos;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

fn job(options: &str) -> Job {
    let text = format!("[j]\nioengine=libaio\n{options}\n");
    let parsed = parse_text(&text, Path::new("test.fio"), &Surroundings::fixed());
    parsed.unwrap_or_else(|e| panic!("{e}")).jobs.remove(0)
}

/// Runs a job on `files` of `bytes`, every request taking 10 µs: its requests, and what was
/// measured.
fn run(job: &Job, files: usize, bytes: u64) -> (Vec<Request>, Measurement) {
    let regions = vec![Region { start: 0, bytes }; files];
    let whole = bytes * files as u64;
    let setup = Setup {
        job,
        regions,
        zones: Vec::new(),
        loop_bytes: job.extent.io_size.map_or(whole, |amount| amount.of(whole)),
        depth: job.engine.depth,
        seed: 7,
        flow: None,
        ramp: Ramp::new(&job.timing, Arc::default()),
        ends: Arc::default(),
    };
    let mut source = JobSource::new(setup);
    let mut seen = Vec::new();
    let mut target = Fixed::new(job.engine.depth, |request| {
        seen.push(*request);
        Served::whole(request, Nanos::from_micros(10))
    });
    let bounds = Bounds {
        depth: job.engine.depth,
        ramp: job.timing.ramp,
        runtime: job.timing.runtime,
        spin: Nanos::ZERO,
    };
    let control = Control::default();
    let rule = &mut Unlimited::default();
    let measured = run_source(&mut source, bounds, &mut target, rule, &control).unwrap();
    assert_eq!(measured.stopped, Stopped::Finished);
    drop(target);
    (seen, measured)
}

fn offsets(seen: &[Request]) -> Vec<u64> {
    seen.iter().map(|r| r.offset / 4096).collect()
}

proptest! {
    #[test]
    fn whatever_is_drawn_stays_in_its_file_and_adds_up(
        random: bool, kind in 0usize..4, min in 1u32..4, more in 0u32..5, files in 1usize..4,
        blocks in 8u64..64, depth in 1u32..9, percent in 0u8..=100, norandommap: bool,
        draw_every in 1u32..4,
    ) {
        let order = if random { "rand" } else { "" };
        let kind = ["read", "write", "rw", "trim"][kind];
        let every = if random && draw_every > 1 { format!(":{draw_every}") } else { String::new() };
        let job = job(&format!(
            "rw={order}{kind}{every}\nbsrange={}-{}\niodepth={depth}\nrwmixread={percent}\n\
             norandommap={}\nsize=1m\nnrfiles={files}",
            min * 512, (min + more) * 512, u8::from(norandommap),
        ));
        let bytes = blocks * 4096;
        let (seen, measured) = run(&job, files, bytes);
        let address = super::super::address::Address::new(files);
        let mut moved = vec![0; files];
        for request in &seen {
            let (file, offset) = address.split(request.offset);
            prop_assert!((file as usize) < files);
            prop_assert!(offset + u64::from(request.len) <= bytes, "{request:?}");
            prop_assert!(request.len > 0);
            moved[file as usize] += u64::from(request.len);
        }
        prop_assert_eq!(measured.requests(), seen.len() as u64);
        let total: u64 = moved.iter().sum();
        let largest = u64::from((min + more) * 512);
        // What is left of each file is less than a request.
        prop_assert!(total <= bytes * files as u64 + largest, "{total} of {bytes} in {files}");
        let least = (bytes - largest.min(bytes)) * files as u64;
        prop_assert!(total >= least, "{moved:?} of {bytes}");
    }
}

#[test]
fn sequential_requests_follow_each_other_skip_and_go_backwards() {
    let (seen, _) = run(&job("rw=read\nbs=4k\nsize=16k"), 1, 16384);
    assert_eq!(offsets(&seen), [0, 1, 2, 3]);
    let (seen, _) = run(&job("rw=read:4k\nbs=4k\nsize=16k"), 1, 16384);
    assert_eq!(offsets(&seen), [0, 2, 0, 2]);
    let (seen, _) = run(&job("rw=read:-8k\nbs=4k\nsize=16k"), 1, 16384);
    assert_eq!(offsets(&seen), [3, 2, 1, 0]);
}

#[test]
fn a_pass_has_every_block_once_and_the_next_another_order() {
    let (seen, _) = run(&job("rw=randread\nbs=4k\nsize=1m\nio_size=2m\niodepth=4"), 1, 1 << 20);
    let all = offsets(&seen);
    let (first, second) = all.split_at(256);
    for pass in [first, second] {
        let mut sorted = pass.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..256).collect::<Vec<_>>());
    }
    assert_ne!(first, second);
}

#[test]
fn the_same_job_draws_the_same_and_another_seed_differs() {
    let one = job("rw=randrw\nbssplit=4k/50:8k/50\nsize=1m");
    assert_eq!(run(&one, 1, 1 << 20).0, run(&one, 1, 1 << 20).0);
}

#[test]
fn a_rate_spaces_requests_evenly_to_the_nanosecond() {
    let (seen, measured) =
        run(&job("rw=read\nbs=4k\nsize=40k\nrate_iops=1000\niodepth=4"), 1, 40960);
    let wanted: Vec<u64> = seen.iter().map(|r| r.wanted.unwrap().0).collect();
    assert_eq!(wanted, (0..10).map(|i| i * 1_000_000).collect::<Vec<_>>());
    assert_eq!(measured.elapsed, Nanos(9_010_000));
}

#[test]
fn two_directions_of_a_mix_each_keep_their_own_rate() {
    let job =
        job("rw=randrw\nbs=4k\nsize=1m\nrate_iops=1000,250\nrwmixread=50\nruntime=1s\ntime_based");
    let (seen, _) = run(&job, 1, 1 << 20);
    let count = |op| seen.iter().filter(|r| r.op == op).count();
    let (reads, writes) = (count(Op::Read), count(Op::Write));
    assert!((245..=252).contains(&writes), "{writes}");
    assert!((990..=1002).contains(&reads), "{reads}");
}

#[test]
fn what_a_ramp_transfers_does_not_count() {
    let job = job("rw=read\nbs=4k\nsize=1m\nramp_time=1ms");
    let (seen, measured) = run(&job, 1, 1 << 20);
    // A hundred requests of 10 µs come first.
    assert!((99..=101).contains(&(seen.len() - 256)), "{}", seen.len());
    assert!((255..=257).contains(&measured.requests()), "{}", measured.requests());
}

#[test]
fn a_discard_is_followed_by_a_write_of_the_same_block() {
    let (seen, _) = run(&job("rw=randtrimwrite\nbs=4k\nsize=64k\niodepth=4"), 1, 65536);
    let mut trims: HashMap<u64, usize> = HashMap::new();
    for (i, request) in seen.iter().enumerate() {
        match request.op {
            Op::Discard => assert_eq!(trims.insert(request.offset, i), None),
            Op::Write => assert!(trims.remove(&request.offset).is_some_and(|t| t < i)),
            other => panic!("{other:?}"),
        }
    }
    assert!(trims.is_empty() && seen.len() == 32);
}

#[test]
fn writes_that_overlap_are_never_outstanding_together_where_they_are_verified() {
    let job =
        job("rw=randwrite\nbs=4k\nnorandommap\nsize=32k\nio_size=1m\niodepth=8\nverify=crc32c");
    let mut in_flight: Vec<u64> = Vec::new();
    let (seen, _) = run(&job, 1, 32768);
    // All requests take as long, so eight at most are outstanding: the last seven and this one.
    for request in &seen {
        in_flight.push(request.offset);
        if in_flight.len() > 8 {
            in_flight.remove(0);
        }
        assert!(request.op == Op::Write && request.id > 0 && request.id != ANY_SEQUENCE);
    }
    assert_eq!(seen.len(), 256);
}

#[test]
fn shares_of_sizes_and_kinds_are_what_was_asked_for() {
    let job = job("rw=randrw\nrwmixread=70\nbssplit=4k/10:8k/90,16k\nsize=64m\nnorandommap");
    let (seen, _) = run(&job, 1, 64 << 20);
    let reads: Vec<_> = seen.iter().filter(|r| r.op == Op::Read).collect();
    let share = |part: usize, of: usize| part as f64 / of as f64;
    assert!((share(reads.len(), seen.len()) - 0.7).abs() < 0.03);
    let small = reads.iter().filter(|r| r.len == 4096).count();
    assert!((share(small, reads.len()) - 0.1).abs() < 0.02);
    assert!(seen.iter().filter(|r| r.op == Op::Write).all(|r| r.len == 16384));
    assert_eq!(*job.align_bytes.of(Op::Read), 4096);
}

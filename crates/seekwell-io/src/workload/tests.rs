//! Properties of what is generated.

use super::{Discards, Generator, Next, Pace, Pattern, SizeShare, Source, Workload};
use crate::dispatch::Unlimited;
use crate::engine::{Control, run};
use crate::request::{Op, Request};
use crate::target::{Fixed, Served};
use crate::units::Nanos;
use proptest::prelude::*;
use std::collections::HashMap;

fn take(workload: &Workload, n: usize) -> Vec<Request> {
    let mut generator = Generator::new(workload, 0);
    let mut out = Vec::new();
    while out.len() < n {
        match generator.next(Nanos(out.len() as u64)) {
            Next::Request(request) => out.push(request),
            other => panic!("a closed loop always wants something, not {other:?}"),
        }
    }
    out
}

prop_compose! {
    fn any_workload()(
        kind in 0..3, theta in 0.1..3.0, read_percent in 0u8..=100,
        sizes in prop::collection::vec((1u32..64, 1u32..5), 1..4),
        offset in 0u64..1 << 40, room in 0u64..1 << 24, threads in 1u32..4, seed in any::<u64>(),
    ) -> Workload {
        let pattern = match kind {
            0 => Pattern::Sequential,
            1 => Pattern::Random,
            _ => Pattern::Zipf { theta },
        };
        let mut workload = Workload::closed(pattern, read_percent, 512, 1, 0);
        workload.sizes =
            sizes.iter().map(|(b, w)| SizeShare { bytes: b * 512, weight: *w }).collect();
        workload.offset_bytes = offset / 512 * 512;
        workload.region_bytes = u64::from(workload.max_bytes()) + room;
        workload.threads = threads;
        workload.seed = seed;
        workload
    }
}

proptest! {
    #[test]
    fn every_request_lies_in_the_region_and_is_aligned(workload in any_workload()) {
        workload.check().unwrap();
        let end = workload.offset_bytes + workload.region_bytes;
        for thread in 0..workload.threads {
            let mut generator = Generator::new(&workload, thread);
            for _ in 0..200 {
                let Next::Request(r) = generator.next(Nanos::ZERO) else { panic!("no request") };
                prop_assert!(r.offset >= workload.offset_bytes);
                prop_assert!(r.offset + u64::from(r.len) <= end, "{r:?} past {end}");
                let aligned = (r.offset - workload.offset_bytes) % u64::from(workload.alignment());
                prop_assert_eq!(aligned, 0);
            }
        }
    }

    #[test]
    fn checking_any_numbers_answers_and_never_panics(
        bytes in any::<u32>(), weight in any::<u32>(), depth in any::<u32>(), rate in any::<f64>(),
        offset in any::<u64>(), region in any::<u64>(), threads in any::<u32>(),
    ) {
        let mut workload = Workload::closed(Pattern::Random, 100, bytes, depth, region);
        workload.sizes[0].weight = weight;
        workload.pace = Pace::Open { requests_per_s: rate, poisson: true, depth };
        workload.offset_bytes = offset;
        workload.threads = threads;
        if workload.check().is_ok() {
            let _ = Generator::new(&workload, 0).next(Nanos::ZERO);
        }
    }
}

#[test]
fn sequential_requests_follow_each_other_and_begin_again_at_the_end() {
    let workload = Workload::closed(Pattern::Sequential, 100, 4096, 1, 3 * 4096);
    let offsets: Vec<u64> = take(&workload, 7).iter().map(|r| r.offset / 4096).collect();
    assert_eq!(offsets, [0, 1, 2, 0, 1, 2, 0]);
}

#[test]
fn random_requests_reach_every_block_about_equally_often() {
    let workload = Workload::closed(Pattern::Random, 100, 4096, 1, 64 * 4096);
    let mut counts: HashMap<u64, u32> = HashMap::new();
    take(&workload, 64_000).iter().for_each(|r| *counts.entry(r.offset).or_default() += 1);
    assert_eq!(counts.len(), 64);
    // 1000 expected with a standard deviation of 31.4: five of them either way.
    assert!(counts.values().all(|n| (843..1157).contains(n)), "{counts:?}");
}

#[test]
fn zipf_sends_the_share_its_law_says_to_the_busiest_block() {
    let workload = Workload::closed(Pattern::Zipf { theta: 1.2 }, 100, 4096, 1, 1000 * 4096);
    let mut counts: HashMap<u64, u32> = HashMap::new();
    take(&workload, 100_000).iter().for_each(|r| *counts.entry(r.offset).or_default() += 1);
    let harmonic: f64 = (1..=1000).map(|k| 1.0 / f64::from(k).powf(1.2)).sum();
    let busiest = f64::from(*counts.values().max().unwrap()) / 100_000.0;
    assert!((busiest - 1.0 / harmonic).abs() < 0.01, "{busiest} {}", 1.0 / harmonic);
    assert!(counts.len() > 500, "ranks are scattered one to one: {}", counts.len());
}

#[test]
fn a_flush_follows_every_so_many_writes_and_is_wanted_since_the_first() {
    let mut workload = Workload::closed(Pattern::Random, 0, 4096, 1, 1 << 20);
    workload.flush_every = 3;
    let requests = take(&workload, 8);
    let flushes: Vec<usize> = (0..8).filter(|i| requests[*i].op == Op::Flush).collect();
    assert_eq!(flushes, [3, 7]);
    assert_eq!(requests[3].wanted, Some(Nanos(0)));
    assert_eq!(requests[7].wanted, Some(Nanos(4)));
}

#[test]
fn what_cannot_be_run_is_refused_with_the_field_and_its_value() {
    let mut workload = Workload::closed(Pattern::Random, 100, 4096, 1, 4095);
    let error = workload.check().unwrap_err().to_string();
    assert!(error.contains("region_bytes is 4095"), "{error}");
    workload.region_bytes = 4096;
    workload.check().unwrap();
    workload.pace = Pace::Closed { depth: 0 };
    assert!(workload.check().unwrap_err().to_string().contains("depth is 0"));
}

#[test]
fn a_block_is_written_once_its_discard_is_done_and_every_discard_has_its_write() {
    let mut workload = Workload::closed(Pattern::Random, 0, 4096, 4, 1 << 30);
    workload.discards = Discards::BeforeWrites;
    (workload.requests, workload.runtime_ns) = (100, Nanos::ZERO);
    let mut seen = Vec::new();
    let mut target = Fixed::new(4, |request| {
        seen.push((request.op, request.offset));
        Served::whole(request, Nanos::from_micros(10))
    });
    let rule = &mut Unlimited::default();
    let measured = run(&workload, 0, &mut target, rule, &Control::default()).unwrap();
    drop(target);
    let counts = [Op::Discard, Op::Write, Op::Read].map(|op| measured.op(op).requests);
    assert_eq!(counts, [100, 100, 0]);
    for (at, (_, offset)) in seen.iter().enumerate().filter(|(_, (op, _))| *op == Op::Write) {
        assert!(seen[..at].contains(&(Op::Discard, *offset)));
    }
    workload.read_percent = 50;
    assert!(workload.check().unwrap_err().to_string().contains("0 where requests discard"));
}

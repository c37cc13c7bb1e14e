//! What holds whatever the trace.

use super::{Noise, at, drawn, gathered, stats_of};
use crate::record::{Flags, Record, Stamp};
use crate::stats::Options;
use crate::stats::document::{Follows, Span, TraceStats};
use proptest::prelude::*;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::collections::HashMap;

fn stamp(ns: u64) -> Stamp {
    Stamp::at(Nanos(ns))
}

/// Requests with all times; ends are in no order.
fn timed(n: u64, seed: u64) -> Vec<Record> {
    let mut noise = Noise(seed);
    let mut now = 1_000_000;
    let one = |_| {
        now += noise.below(20_000);
        let issued = now + noise.below(5_000);
        let op = Op::ALL[noise.below(4) as usize];
        let len = if op == Op::Flush { 0 } else { 512 * (1 + noise.below(64) as u32) };
        Record {
            queued: stamp(now),
            issued: stamp(issued),
            completed: stamp(issued + 1 + noise.below(200_000)),
            ..Record::new(op, noise.below(1 << 22) * 512, len)
        }
    };
    (0..n).map(one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_does_not_depend_on_order_survives_shuffling(seed in any::<u64>()) {
        let records = timed(500, seed);
        let mut shuffled = records.clone();
        let mut noise = Noise(seed ^ 1);
        for i in (1..shuffled.len()).rev() {
            shuffled.swap(i, noise.below(i as u64 + 1) as usize);
        }
        // Times stay where they were: only what is done changes place.
        let unordered = |s: &TraceStats| {
            let parts = (s.operations.clone(), s.sizes.clone(), s.alignment.clone());
            (parts, s.space.clone(), s.durability.flushes, s.latencies.clone())
        };
        let a = stats_of(&records, Options::default());
        let b = stats_of(&shuffled, Options::default());
        prop_assert_eq!(unordered(&a), unordered(&b));
        prop_assert_eq!(a.out_of_order, 0);
        prop_assert!(b.out_of_order > 0);
    }

    #[test]
    fn littles_law_holds_for_both_queues(seed in any::<u64>()) {
        let stats = stats_of(&timed(3000, seed), Options::default());
        for queue in [stats.queue.as_ref(), stats.device_queue.as_ref()] {
            let queue = queue.expect("a queue");
            prop_assert_eq!(queue.requests, 3000);
            prop_assert!(queue.littles_difference.abs() < 1e-9 * queue.over_time_mean, "{queue:?}");
            prop_assert_eq!(queue.seen.iter().map(|(_, n)| n).sum::<u64>(), 3000);
        }
    }

    #[test]
    fn the_queue_found_on_arrival_is_the_one_of_a_plain_count(seed in any::<u64>()) {
        let records = timed(300, seed);
        let stats = stats_of(&records, Options::default());
        let times = |r: &Record| [r.queued, r.issued, r.completed].map(|s| s.get().unwrap().0);
        let pairs: Vec<[u64; 3]> = records.iter().map(times).collect();
        for (queue, begin) in [(stats.queue, 0), (stats.device_queue, 1)] {
            let mut order: Vec<(u64, u64)> = pairs.iter().map(|t| (t[begin], t[2])).collect();
            order.sort_unstable();
            let mut plain: HashMap<u32, u64> = HashMap::new();
            for (i, (from, _)) in order.iter().enumerate() {
                let others = order[..i].iter().filter(|(_, to)| to > from).count();
                *plain.entry(others as u32).or_default() += 1;
            }
            let mut plain: Vec<_> = plain.into_iter().collect();
            plain.sort_unstable();
            prop_assert_eq!(queue.unwrap().seen, plain);
        }
    }

    #[test]
    fn batches_of_any_length_give_the_same_figures(seed in any::<u64>(), cut in 1usize..700) {
        let records = timed(1500, seed);
        let of = |batch| gathered(&records, Options::default(), batch).finish("");
        prop_assert_eq!(of(cut), of(1500));
    }

    #[test]
    fn no_trace_however_absurd_makes_it_panic(
        raw in prop::collection::vec(any::<(u64, u32, u64, u64, u64, u8, u32)>(), 0..40),
    ) {
        let one = |&(offset, len, q, d, c, bits, device): &(u64, u32, u64, u64, u64, u8, u32)| {
            let spare = |n: u64| if n.is_multiple_of(5) { Stamp::NONE } else { stamp(n) };
            Record {
                queued: spare(q), issued: spare(d), completed: spare(c),
                device: device % 6000, process: device % 20_000,
                flags: Flags(u16::from(bits)),
                ..Record::new(Op::ALL[usize::from(bits) % 4], offset, len % (1 << 22))
            }
        };
        let records: Vec<Record> = raw.iter().map(one).collect();
        let (stats, _) = drawn(&records, Options::default());
        prop_assert_eq!(stats.requests + stats.other_commands, records.len() as u64);
    }
}

#[test]
fn a_clockwork_has_no_variation_and_a_burst_has_much() {
    let even: Vec<Record> = (0..10_000).map(|i| at(Op::Read, i, i * 1_000_000)).collect();
    let arrivals = stats_of(&even, Options::default()).arrivals.unwrap();
    assert!(arrivals.gap_variation.unwrap() < 1e-6);
    assert!(arrivals.per_second.dispersion.unwrap() < 1e-9);
    assert_eq!(arrivals.per_second.peak_to_mean, Some(1.0));
    // The same number, all in the first tenth of each second.
    let burst: Vec<Record> =
        (0..10_000).map(|i| at(Op::Read, i, i / 5000 * 5_000_000_000 + i % 5000)).collect();
    let arrivals = stats_of(&burst, Options::default()).arrivals.unwrap();
    assert!(arrivals.gap_variation.unwrap() > 10.0);
    assert!(arrivals.per_second.dispersion.unwrap() > 1000.0);
}

#[test]
fn sequential_streams_that_alternate_are_seen_in_the_window_alone() {
    let streams: Vec<Record> =
        (0..4000).map(|i| at(Op::Read, (i % 4) * 1_000_000 + i / 4, i * 1000)).collect();
    let order = stats_of(&streams, Options::default()).order;
    assert_eq!(order.sequential_share, Some(0.0));
    assert_eq!(order.sequential_in_window_share, Some((4000.0 - 4.0) / 4000.0));
    assert_eq!(order.random_share, Some(3.0 / 3999.0));
}

#[test]
fn randomness_is_that_of_a_plain_comparison_with_the_previous_32() {
    let mut noise = Noise(5);
    let records: Vec<Record> =
        (0..5000).map(|i| at(Op::Write, noise.below(20_000), i * 1000)).collect();
    let stats = stats_of(&records, Options::default());
    let far = |i: &usize| {
        let before = &records[i.saturating_sub(32)..*i];
        before.iter().all(|b| b.offset.abs_diff(records[*i].offset) > 128 << 10)
    };
    let random = (1..records.len()).filter(far).count();
    assert_eq!(stats.order.random_share, Some(random as f64 / 4999.0));
    let continues = |i: &usize| {
        let before = &records[i.saturating_sub(32)..*i];
        before.iter().any(|b| b.end() == records[*i].offset)
    };
    let continued = (1..records.len()).filter(continues).count();
    assert_eq!(stats.order.sequential_in_window_share, Some(continued as f64 / 5000.0));
}

#[test]
fn each_kind_of_succession_is_timed_from_the_access_before() {
    let records = [
        at(Op::Write, 7, 1000),
        at(Op::Read, 7, 3000),
        at(Op::Read, 7, 4000),
        at(Op::Write, 7, 10_000),
        at(Op::Write, 7, 11_000),
        at(Op::Read, 8, 12_000),
    ];
    let stats = stats_of(&records, Options::default());
    let mean = |kind| {
        let found = stats.succession.iter().find(|s| s.kind == kind).unwrap();
        (found.accesses, found.after_ns_mean.unwrap_or(0.0))
    };
    assert_eq!(mean(Follows::ReadAfterWrite), (1, 2000.0));
    assert_eq!(mean(Follows::ReadAfterRead), (1, 1000.0));
    assert_eq!(mean(Follows::WriteAfterRead), (1, 6000.0));
    assert_eq!(mean(Follows::WriteAfterWrite), (1, 1000.0));
    assert_eq!(mean(Follows::Update), (2, 5000.0));
    assert_eq!(stats.space.footprint_bytes, 8192);
    assert_eq!(stats.space.updated_bytes, 4096);
    assert_eq!(stats.space.update_coverage, Some(0.5));
}

#[test]
fn idle_time_lies_between_the_end_of_everything_and_the_next_arrival() {
    let ms = 1_000_000;
    let done =
        |from: u64, to: u64| Record { completed: stamp(to * ms), ..at(Op::Read, from, from * ms) };
    let records = [done(0, 50), done(10, 20), done(60, 61), done(1061, 1062)];
    let idle = stats_of(&records, Options::default()).idle.unwrap();
    assert!(idle.from_completions);
    assert_eq!(idle.longest_ns, 1000 * ms);
    assert!((idle.share - 1010.0 / 1061.0).abs() < 1e-12);
    let counts: Vec<u64> = idle.at_least.iter().map(|l| l.1).collect();
    assert_eq!(counts, [2, 2, 1, 1, 0, 0]);
}

#[test]
fn a_trace_without_times_still_has_sizes_and_places() {
    let records: Vec<Record> = (0..100).map(|i| Record::new(Op::Read, i * 8192, 8192)).collect();
    let stats = stats_of(&records, Options::default());
    assert_eq!(stats.order.sequential_share, Some(0.99));
    assert!(stats.duration_ns.is_none() && stats.arrivals.is_none() && stats.queue.is_none());
    assert!(stats.latencies.is_empty() && stats.idle.is_none());
    assert!(stats.succession.iter().all(|s| s.after_ns_mean.is_none()));
}

#[test]
fn no_percentile_is_told_of_too_few_requests() {
    let stats = stats_of(&timed(500, 3), Options::default());
    let all = stats.latencies.iter().find(|l| l.span == Span::IssueToComplete).unwrap();
    assert_eq!((all.op, all.requests), (None, 500));
    assert!(all.latency_ns_p50.is_some() && all.latency_ns_p90.is_some());
    assert!(all.latency_ns_p99.is_none() && all.latency_ns_p99_9.is_none());
}

#[test]
fn zone_commands_are_counted_and_nothing_else() {
    let other = Record { flags: Flags::OTHER, ..at(Op::Write, 3, 500) };
    let stats = stats_of(&[at(Op::Read, 1, 100), other, at(Op::Read, 2, 900)], Options::default());
    assert_eq!((stats.requests, stats.other_commands), (2, 1));
    assert_eq!(stats.order.sequential_share, Some(0.5));
}

#[test]
fn the_sentence_tells_random_from_sequential() {
    let mut noise = Noise(9);
    let random: Vec<Record> =
        (0..20_000).map(|i| at(Op::Read, noise.below(1 << 28), i * 100_000)).collect();
    let said = stats_of(&random, Options::default()).sentences.join(" ");
    assert!(said.contains("reads only") && said.contains("is random in space"), "{said}");
    assert!(said.contains("no hot spot"), "{said}");
    let sequential: Vec<Record> = (0..20_000).map(|i| at(Op::Write, i, i * 100_000)).collect();
    let said = stats_of(&sequential, Options::default()).sentences.join(" ");
    assert!(said.contains("writes only") && said.contains("is sequential"), "{said}");
}

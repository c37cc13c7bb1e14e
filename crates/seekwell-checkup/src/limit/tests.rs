//! The search on curves whose answer is known.

use super::*;
use proptest::prelude::*;
use seekwell_io::measurement::Stopped;
use seekwell_runs::OpSummary;

/// A number from 0 to 1 that looks like chance.
fn chance(seed: u64, i: usize) -> f64 {
    let x = (seed + 31 * (i as u64 + 1)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64 / (1u64 << 24) as f64
}

/// Searches on something that holds or not at a rate; gives the result and the steps.
fn search(
    mut lowest_to: (f64, f64),
    mut holds: impl FnMut(f64) -> bool,
) -> (LimitOutcome, Vec<Step>) {
    lowest_to.0 = lowest_to.0.max(f64::MIN_POSITIVE);
    let mut search = Search::new(lowest_to.0, lowest_to.1);
    let mut steps = Vec::new();
    loop {
        let step = search.next();
        let held = match step {
            Step::Done(outcome) => return (outcome, steps),
            Step::Try(rate) => holds(rate),
            Step::Confirm(rate) => (0..3).all(|_| holds(rate)),
        };
        steps.push(step);
        assert!(steps.len() <= MOST_TRIALS, "the search ends");
        search.tell(step, held);
    }
}

/// The mean response of a queue with one server (M/M/1): base / (1 − rate / capacity).
fn response(rate: f64, base: f64, capacity: f64) -> f64 {
    if rate >= capacity { f64::INFINITY } else { base / (1.0 - rate / capacity) }
}

#[test]
fn the_limit_of_a_queue_with_one_server_is_found_as_exactly_as_promised() {
    // 100 µs unloaded, 10,000/s at most: 500 µs are exceeded from 8,000/s on.
    let (outcome, steps) = search((312.5, 10_000.0), |r| response(r, 100.0, 10_000.0) <= 500.0);
    let LimitOutcome::Found { requests_per_s: rate } = outcome else { panic!("{outcome:?}") };
    assert!(rate <= 8_000.0 && rate * PRECISION >= 8_000.0, "{rate}");
    assert!(steps.len() <= 13, "{steps:?}");
    assert!(matches!(steps.last(), Some(Step::Confirm(_))), "{steps:?}");
}

#[test]
fn a_bound_that_no_rate_keeps_and_one_that_every_rate_keeps_are_results() {
    let (outcome, steps) = search((10.0, 1_000.0), |_| false);
    assert_eq!(outcome, LimitOutcome::NotEvenLowest { requests_per_s: 10.0 });
    assert_eq!(steps.len(), 2, "an accident would not be found twice");
    let (outcome, steps) = search((10.0, 1_000.0), |_| true);
    assert_eq!(outcome, LimitOutcome::NeverExceeded { requests_per_s: 1_000.0 });
    assert_eq!(steps.last(), Some(&Step::Confirm(1_000.0)));
}

#[test]
fn one_accident_at_the_lowest_rate_does_not_end_the_search() {
    let mut first = true;
    let (outcome, _) = search((10.0, 1_000.0), |r| !std::mem::take(&mut first) && r < 300.0);
    let LimitOutcome::Found { requests_per_s: rate } = outcome else { panic!("{outcome:?}") };
    assert!((300.0 / PRECISION..300.0).contains(&rate), "{rate}");
}

#[test]
fn a_device_that_is_another_every_time_gives_no_limit() {
    // Every rate holds once, and none holds again.
    let mut seen: Vec<u64> = Vec::new();
    let (outcome, steps) = search((1.0, 1_000.0), |r| {
        let known = seen.contains(&r.to_bits()) && r > 1.0;
        seen.push(r.to_bits());
        !known
    });
    let settled = matches!(outcome, LimitOutcome::Found { requests_per_s } if requests_per_s > 1.1);
    assert!(!settled && steps.len() > 13, "{outcome:?} after {steps:?}");
}

proptest! {
    #[test]
    fn any_curve_that_rises_gives_its_limit(
        lowest in 1.0f64..1e4, span in 1.0f64..1e4, limit in 0.0f64..1.5,
    ) {
        let highest = lowest * span;
        // On a log scale anywhere from below the lowest to above the highest rate.
        let limit = lowest * (highest / lowest).powf(limit) * 0.9;
        let (outcome, steps) = search((lowest, highest), |r| r <= limit);
        prop_assert!(steps.len() <= 24, "{steps:?}");
        match outcome {
            LimitOutcome::Found { requests_per_s: r } => {
                prop_assert!(r <= limit && limit < r * PRECISION, "{r} for {limit}");
            }
            LimitOutcome::NotEvenLowest { .. } => prop_assert!(limit < lowest),
            LimitOutcome::NeverExceeded { .. } => prop_assert!(limit >= highest),
            LimitOutcome::Unsettled => prop_assert!(false, "nothing is unsettled about it"),
        }
    }

    #[test]
    fn noise_moves_the_limit_by_no_more_than_itself(
        seed in any::<u32>(), noise in 0.0f64..0.2, bound in 120.0f64..5_000.0,
    ) {
        let (base, capacity) = (100.0, 50_000.0);
        let mut i = 0;
        let (outcome, _) = search((capacity / 32.0, capacity), |r| {
            i += 1;
            let factor = 1.0 + noise * (2.0 * chance(u64::from(seed), i) - 1.0);
            response(r, base, capacity) * factor <= bound
        });
        let exact = |bound: f64| (capacity * (1.0 - base / bound)).max(0.0);
        match outcome {
            // Three repeats held, so the curve itself is not above the bound but for the noise.
            LimitOutcome::Found { requests_per_s: r } => {
                prop_assert!(r <= exact(bound / (1.0 - noise)) * 1.001, "{r}");
            }
            LimitOutcome::NotEvenLowest { requests_per_s: r } => {
                prop_assert!(response(r, base, capacity) * (1.0 + noise) > bound);
            }
            LimitOutcome::NeverExceeded { .. } => prop_assert!(false, "the queue is endless"),
            LimitOutcome::Unsettled => {}
        }
    }

    #[test]
    fn what_is_left_never_grows_where_nothing_surprises(limit in 0.01f64..2.0) {
        let mut search = Search::new(1.0 / 32.0, 1.0);
        let mut left = search.left();
        loop {
            let step = search.next();
            let (Step::Try(rate) | Step::Confirm(rate)) = step else { break };
            search.tell(step, rate <= limit);
            prop_assert!(search.left() <= left.max(1), "{} after {left}", search.left());
            left = search.left();
        }
    }
}

#[test]
fn a_trial_is_as_long_as_its_quantile_needs_and_no_longer_than_a_minute() {
    let five = Nanos::from_millis(5_000);
    assert_eq!(Metric::P99.trial_time(10_000.0, five), Some(five));
    assert_eq!(Metric::P99.trial_time(60.0, five), Some(Nanos::from_millis(20_000)));
    assert_eq!(Metric::P99.trial_time(10.0, five), None);
    for metric in Metric::ALL {
        let lowest = metric.lowest_rate(five);
        assert!(metric.trial_time(lowest, five).is_some_and(|t| t <= LONGEST_TRIAL), "{metric:?}");
    }
}

fn repeat(per_s: f64, p99: Option<u64>) -> Repeat {
    let latency = Latency {
        ns_min: 1,
        ns_mean: 50.0,
        ns_p50: Some(40),
        ns_p90: Some(60),
        ns_p99: p99,
        ns_p99_9: None,
        ns_p99_99: None,
        ns_max: 900,
    };
    let op = OpSummary {
        requests: (per_s * 10.0) as u64,
        bytes: 0,
        requests_per_s: per_s,
        rate_bytes_per_s: 0.0,
        latency: latency.clone(),
        response: Some(latency),
    };
    let mut repeat = Repeat::new(1, Stopped::Finished);
    repeat.ops.insert("read".into(), op);
    repeat
}

#[test]
fn a_rate_holds_only_where_every_repeat_keeps_the_bound_and_keeps_up() {
    let judged = |repeats: &[Repeat]| judge(repeats, Metric::P99, Nanos(100), 1_000.0);
    let good = judged(&[repeat(1_000.0, Some(90)), repeat(990.0, Some(80))]).expect("valid");
    let expect = Judged { completed_per_s: 990.0, response_ns: Some(90.0), holds: true };
    assert_eq!(good, expect);
    let over = judged(&[repeat(1_000.0, Some(90)), repeat(1_000.0, Some(101))]).expect("valid");
    assert!(!over.holds && over.response_ns == Some(101.0), "{over:?}");
    let behind = judged(&[repeat(900.0, Some(90))]).expect("valid");
    assert!(!behind.holds, "a queue that grows exceeds any bound in the end");
    let few = judged(&[repeat(1_000.0, None)]).expect("valid");
    assert!(!few.holds && few.response_ns.is_none(), "too few requests for p99 prove nothing");
    let failed = Repeat { invalid: Some("a request failed".into()), ..repeat(1_000.0, Some(1)) };
    assert_eq!(judged(&[failed]), None);
    assert_eq!(judged(&[]), None);
}

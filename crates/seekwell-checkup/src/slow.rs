//! A device that slows down within one run: its cache is full, its spare blocks are used up, or it
//! throttles because of heat. The mean over such a run is the rate of neither state.

use seekwell_io::measurement::Measurement;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_runs::Slowdown;
use seekwell_stats::{ChangeRule, change_points};

/// A run shorter than this is too short to distinguish a fall from a stumble.
const SHORTEST: Nanos = Nanos::from_millis(2_000);
/// How many parts the time is cut into: each is long enough for a rate, and a state that lasts for
/// a fifth of the run still has eight of them.
const PARTS: usize = 40;
/// Fewest requests in a part on average: with 25 a part's rate is known to a fifth.
const REQUESTS: u64 = 25;
/// The rate of the last state over that of the first from which on it counts as a fall.
const FALL: f64 = 0.7;
/// The last state lasts for this share of the run at least; what is shorter may be a stumble.
const LASTS: f64 = 0.1;
/// A change is as good as certain. Neighbouring parts are not independent, so the usual 0.001 would
/// be found by chance.
const CERTAIN: f64 = 1e-6;

/// Where the rate of reads and writes fell for good, if it did: the change points of the rates of
/// at most 40 parts of the run (see [`change_points`]), with a last state of at most
/// 0.7 times the first.
pub fn slowdown(m: &Measurement) -> Option<Slowdown> {
    let (part, rates) = parts(m)?;
    let whole = rates.len() as f64;
    let magnitude = 1.0 / FALL - 1.0;
    let rule = ChangeRule { window: rates.len(), p: CERTAIN, magnitude };
    let points = change_points(&rates, rule);
    let (first, last) = (points.first()?, points.last()?);
    let lasts = (whole - last.index as f64) / whole;
    if last.after > FALL * first.before || lasts < LASTS {
        return None;
    }
    let fall = |p: &seekwell_stats::ChangePoint| p.after / p.before;
    let worst = points.iter().min_by(|a, b| fall(a).total_cmp(&fall(b)))?;
    Some(Slowdown {
        at_ns: part.0 * worst.index as u64,
        before_per_s: first.before,
        after_per_s: last.after,
    })
}

/// The rates of even parts of a run, requests a second, and how long each is. `None` if the run
/// was too short or too slow to decide it.
fn parts(m: &Measurement) -> Option<(Nanos, Vec<f64>)> {
    let (step, steps) = (m.series.step_ns, &m.series.steps);
    if m.elapsed < SHORTEST {
        return None;
    }
    // The last step is as long as the run left it.
    let full = ((m.elapsed.0 / step.0) as usize).min(steps.len());
    let moved =
        |i: usize| steps[i].requests[Op::Read as usize] + steps[i].requests[Op::Write as usize];
    let requests: u64 = (0..full).map(moved).sum();
    let count = PARTS.min(full).min((requests / REQUESTS) as usize);
    let each = full.checked_div(count)?;
    let part = Nanos(step.0 * each as u64);
    let rate = |i: usize| {
        let requests: u64 = (i * each..(i + 1) * each).map(moved).sum();
        requests as f64 / part.as_secs_f64()
    };
    Some((part, (0..full / each).map(rate).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A run of `seconds` in steps of 50 ms, each of `per_step(i)` reads.
    fn run(seconds: f64, per_step: impl Fn(usize) -> u64) -> Measurement {
        let mut m = Measurement::new(Nanos::from_millis(50));
        m.elapsed = Nanos::from_secs_f64(seconds);
        for i in 0..(seconds * 20.0).round() as usize {
            m.series.at(Nanos::from_millis(50 * i as u64)).requests[0] = per_step(i);
        }
        m
    }

    /// A number from 0 to 1 that looks like chance.
    fn chance(i: usize) -> f64 {
        let x = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((x ^ (x >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64 / (1u64 << 24) as f64
    }

    #[test]
    fn a_cache_that_is_full_after_three_of_ten_seconds_is_seen_with_its_time_and_both_rates() {
        let fall = |i: usize| if i < 60 { 1000 } else { 250 };
        let noisy = |i: usize| (fall(i) as f64 * (0.9 + 0.2 * chance(i))) as u64;
        let found = slowdown(&run(10.0, noisy)).expect("seen");
        assert!((found.at_ns as f64 / 3e9 - 1.0).abs() < 0.1, "{found:?}");
        assert!((found.before_per_s / 20e3 - 1.0).abs() < 0.1, "{found:?}");
        assert!((found.after_per_s / 5e3 - 1.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn a_short_stumble_a_slow_start_and_a_drift_of_a_tenth_are_no_slowdown() {
        let stumble = |i: usize| if (60..70).contains(&i) { 100 } else { 1000 };
        let start = |i: usize| if i < 60 { 250 } else { 1000 };
        let drift = |i: usize| 1000 - i as u64 / 2;
        let end = |i: usize| if i < 185 { 1000 } else { 100 };
        for (name, found) in [
            ("stumble", slowdown(&run(10.0, stumble))),
            ("start", slowdown(&run(10.0, start))),
            ("drift", slowdown(&run(10.0, drift))),
            ("end", slowdown(&run(10.0, end))),
        ] {
            assert_eq!(found, None, "{name}");
        }
    }

    #[test]
    fn too_short_or_too_slow_a_run_says_nothing() {
        let fall = |i: usize| if i < 19 { 1000 } else { 100 };
        assert_eq!(slowdown(&run(1.9, fall)), None);
        assert_eq!(slowdown(&run(10.0, |i| u64::from(i % 40 == 0))), None);
        assert_eq!(slowdown(&run(10.0, |_| 0)), None);
    }

    proptest! {
        #[test]
        fn noise_around_one_rate_is_no_slowdown(
            rate in 10u64..10_000, noise in 0.0f64..0.5, shift in 0usize..10_000,
        ) {
            let noisy = |i: usize| (rate as f64 * (1.0 + noise * (chance(i + shift) - 0.5))) as u64;
            prop_assert_eq!(slowdown(&run(8.0, noisy)), None);
        }
    }
}

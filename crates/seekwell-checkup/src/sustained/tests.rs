//! Curves whose rates are known.

use super::*;
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

/// A curve of stretches: megabytes and their rate in MB/s, each request's time varied by `noise`.
fn curve(stretches: &[(u64, f64)], noise: impl Fn(u64) -> f64) -> Curve {
    let mut curve = Curve::new(MIB);
    let (mut at, mut number) = (0.0, 0);
    for (mebibytes, rate) in stretches {
        for _ in 0..*mebibytes {
            at += MIB as f64 / (rate * 1e6) * noise(number);
            number += 1;
            curve.note(MIB, Nanos::from_secs_f64(at));
        }
    }
    curve
}

/// Between −1 and 1, the same each time.
fn wobble(number: u64) -> f64 {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1_u64 << 23) as f64 - 1.0
}

#[test]
fn a_fall_is_placed_within_a_hundredth_of_what_was_written_before_it() {
    for fast in [200_u64, 1_000, 10_000, 40_000] {
        for noise in [0.0, 0.3] {
            let curve = curve(&[(fast, 2_000.0), (3 * fast, 150.0)], |i| 1.0 + noise * wobble(i));
            let found = fast_region(&curve.stretches()).expect("it fell");
            let error = found.bytes as f64 / (fast * MIB) as f64 - 1.0;
            assert!(error.abs() < 0.01, "{fast} MiB, noise {noise}: {error:+.4}");
            assert!((found.low_bytes..=found.high_bytes).contains(&(fast * MIB)), "{found:?}");
            assert!((found.before_bytes_per_s / 2e9 - 1.0).abs() < 0.02, "{found:?}");
            assert!((found.after_bytes_per_s / 150e6 - 1.0).abs() < 0.02, "{found:?}");
        }
    }
}

#[test]
fn several_steps_are_told_in_order() {
    let rates = [(4_000, 3_000.0), (6_000, 700.0), (12_000, 120.0)];
    let stretches = curve(&rates, |i| 1.0 + 0.2 * wobble(i)).stretches();
    let found: Vec<_> =
        stretches.iter().map(|s| (s.from_bytes / MIB, s.rate_bytes_per_s / 1e6)).collect();
    assert_eq!(found.len(), 3, "{found:?}");
    for ((from, rate), (want, of)) in found.iter().zip([(0, 3e3), (4_000, 700.0), (10_000, 120.0)])
    {
        assert!(from.abs_diff(want) <= want / 50 && (rate / of - 1.0).abs() < 0.03, "{found:?}");
    }
    assert_eq!(fast_region(&stretches).map(|f| f.bytes / MIB / 100), Some(40));
}

#[test]
fn a_constant_rate_a_drift_of_a_tenth_and_stalls_are_no_cliff() {
    let stall = |i: u64| if i.is_multiple_of(700) { 40.0 } else { 1.0 };
    let drift = |i: u64| 1.0 + i as f64 / 80_000.0;
    for (name, curve) in [
        ("constant", curve(&[(8_000, 500.0)], |i| 1.0 + 0.5 * wobble(i))),
        ("drift", curve(&[(8_000, 500.0)], drift)),
        ("stall", curve(&[(8_000, 500.0)], stall)),
    ] {
        let stretches = curve.stretches();
        assert_eq!(fast_region(&stretches), None, "{name}: {stretches:?}");
        assert!(!curve.is_settled(8_000 * MIB), "{name}");
    }
    assert!(Curve::new(MIB).stretches().is_empty());
}

#[test]
fn a_rate_has_settled_when_two_thirds_were_written_at_it_and_enough_in_all() {
    let whole = 10_000 * MIB;
    let after = |slow: u64| curve(&[(1_500, 900.0), (slow, 90.0)], |_| 1.0).is_settled(whole);
    assert!(!after(2_000), "35 % of the whole, and less than twice as much");
    assert!(!after(2_490), "39 % of the whole");
    assert!(after(3_100));
    let late = curve(&[(4_000, 900.0), (5_000, 90.0)], |_| 1.0);
    assert!(!late.is_settled(whole), "it may fall again");
}

#[test]
fn what_a_rest_gave_back_follows_from_the_time_of_the_whole() {
    let back = curve(&[(300, 2_000.0), (700, 100.0)], |_| 1.0);
    assert_eq!(back.at_rate(2e9, 1e8) / MIB, 300);
    assert!(back.is_slow(100 * MIB, 4e8) && !back.is_slow(900 * MIB, 1.2e8));
    assert_eq!(curve(&[(500, 100.0)], |_| 1.0).at_rate(2e9, 1e8), 0);
    let all = curve(&[(500, 2_000.0)], |_| 1.0);
    assert_eq!(all.at_rate(2e9, 1e8) / MIB, 500);
}

proptest! {
    #[test]
    fn noise_around_one_rate_is_no_cliff(seed: u64, depth in 0.0_f64..0.6) {
        let curve = curve(&[(3_000, 300.0)], |i| 1.0 + depth * wobble(i ^ seed));
        prop_assert_eq!(fast_region(&curve.stretches()), None);
    }
}

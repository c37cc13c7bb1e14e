//! The histogram's geometry and its honesty.

use crate::histogram::{BINS, Histogram};
use crate::units::Nanos;
use proptest::prelude::*;

proptest! {
    #[test]
    fn the_middle_of_its_bin_is_within_one_part_in_128_of_a_value(ns in 0u64..1 << 34) {
        let middle = Histogram::middle_of(Histogram::bin_of(ns));
        prop_assert!(middle.abs_diff(ns) as f64 <= ns as f64 / 128.0 + 0.5, "{ns} {middle}");
    }

    #[test]
    fn bins_are_in_order(a in any::<u64>(), b in any::<u64>()) {
        let (low, high) = (a.min(b), a.max(b));
        prop_assert!(Histogram::bin_of(low) <= Histogram::bin_of(high));
        prop_assert!(Histogram::bin_of(high) < BINS);
    }

    #[test]
    fn quantiles_agree_with_the_sorted_values(
        mut values in prop::collection::vec(0u64..1 << 33, 100..400),
    ) {
        let mut histogram = Histogram::default();
        values.iter().for_each(|ns| histogram.record(Nanos(*ns)));
        values.sort_unstable();
        for q in [0.1, 0.5, 0.9] {
            let exact = values[((q * values.len() as f64).ceil() as usize).max(1) - 1];
            let found = histogram.quantile(q).unwrap().0;
            let off = found.abs_diff(exact) as f64;
            prop_assert!(off <= exact as f64 / 64.0 + 1.0, "{q}: {found} {exact}");
        }
    }
}

#[test]
fn every_bin_holds_its_own_middle() {
    for bin in 0..BINS {
        assert_eq!(Histogram::bin_of(Histogram::middle_of(bin)), bin);
    }
}

#[test]
fn a_quantile_without_enough_values_is_not_told() {
    let mut histogram = Histogram::default();
    (0..999).for_each(|ns| histogram.record(Nanos(ns)));
    assert!(histogram.quantile(0.99).is_none());
    assert!(histogram.quantile(0.5).is_some());
    histogram.record(Nanos(1000));
    assert!(histogram.quantile(0.99).is_some());
    assert!(histogram.quantile(0.999).is_none());
}

#[test]
fn merging_is_the_same_as_recording_everything_in_one() {
    let (mut a, mut b, mut both) = <(Histogram, Histogram, Histogram)>::default();
    for ns in 0..10_000u64 {
        let value = Nanos(ns * ns);
        if ns % 3 == 0 {
            a.record(value)
        } else {
            b.record(value)
        }
        both.record(value);
    }
    a.merge(&b);
    assert!(a == both);
}

#[test]
fn a_value_past_the_last_bin_keeps_its_exact_maximum() {
    let mut histogram = Histogram::default();
    histogram.record(Nanos(90_000_000_000));
    assert_eq!(histogram.max(), Some(Nanos(90_000_000_000)));
    assert_eq!(histogram.sparse(), [(BINS as u32 - 1, 1)]);
}

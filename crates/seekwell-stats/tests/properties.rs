//! What must hold whatever the numbers are: which arm is called A, in which unit they were, and how
//! sure one wants to be changes the answer only as it must.

use proptest::prelude::*;
use seekwell_stats::{
    Better, Block, Interval, Margin, Order, Verdict, blocks_needed, compare_groups, hodges_lehmann,
    holm, interval, mann_whitney, order, signed_rank, signed_rank::null_distribution, verdict,
};

fn values(fewest: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((-2000_i32..2000).prop_map(|x| f64::from(x) / 8192.0), fewest..41)
}

fn negated(d: &[f64]) -> Vec<f64> {
    d.iter().map(|x| -x).collect()
}

fn near(x: f64, y: f64) -> bool {
    (x - y).abs() <= 1e-9 * x.abs().max(y.abs()).max(1.0)
}

proptest! {
    #[test]
    fn swapping_the_arms_changes_signs_only(d in values(8)) {
        let (there, back) = (interval(&d, 0.95).unwrap(), interval(&negated(&d), 0.95).unwrap());
        prop_assert_eq!(there, Interval { low: -back.high, high: -back.low });
        prop_assert_eq!(hodges_lehmann(&d), -hodges_lehmann(&negated(&d)));
        let (p, q) = (signed_rank(&d).unwrap().p, signed_rank(&negated(&d)).unwrap().p);
        prop_assert!(near(p, q), "{} {}", p, q);
        let margin = Margin::THROUGHPUT;
        let swapped = verdict(&negated(&d), margin, Better::Higher);
        match verdict(&d, margin, Better::Higher) {
            Verdict::Faster { below_margin, .. } => {
                let same = matches!(swapped, Verdict::Slower { below_margin: b, .. }
                    if b == below_margin);
                prop_assert!(same);
            }
            Verdict::Slower { .. } => {
                let same = matches!(swapped, Verdict::Faster { .. });
                prop_assert!(same);
            }
            Verdict::Equivalent { .. } => {
                let same = matches!(swapped, Verdict::Equivalent { .. });
                prop_assert!(same);
            }
            Verdict::Undecided { more_blocks, .. } => {
                let same = matches!(swapped, Verdict::Undecided { more_blocks: m, .. }
                    if m == more_blocks);
                prop_assert!(same);
            }
            other => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn what_is_faster_for_a_rate_is_slower_for_a_latency(d in values(8)) {
        let rate = verdict(&d, Margin::P99, Better::Higher);
        let latency = verdict(&d, Margin::P99, Better::Lower);
        let faster = |v: &Verdict| matches!(v, Verdict::Faster { .. });
        let slower = |v: &Verdict| matches!(v, Verdict::Slower { .. });
        prop_assert_eq!(faster(&rate), slower(&latency));
        prop_assert_eq!(slower(&rate), faster(&latency));
    }

    #[test]
    fn the_unit_of_a_metric_does_not_matter(
        a in prop::array::uniform2(1.0_f64..1e6), b in prop::array::uniform2(1.0_f64..1e6),
        unit in 1e-3_f64..1e9,
    ) {
        let block = Block { order: Order::Abba, a, b };
        let scaled =
            Block { order: Order::Baab, a: a.map(|x| x * unit), b: b.map(|x| x * unit) };
        prop_assert!((block.value().unwrap() - scaled.value().unwrap()).abs() < 1e-9);
    }

    #[test]
    fn the_estimate_scales_and_shifts_with_the_data(d in values(6), shift in -8_i32..8) {
        // Powers of two and eighths, so that nothing is rounded.
        let shift = f64::from(shift) / 8.0;
        let moved: Vec<f64> = d.iter().map(|x| 4.0 * x + shift).collect();
        prop_assert_eq!(hodges_lehmann(&moved), 4.0 * hodges_lehmann(&d) + shift);
        let (was, is) = (interval(&d, 0.95).unwrap(), interval(&moved, 0.95).unwrap());
        prop_assert_eq!(is.low, 4.0 * was.low + shift);
        prop_assert_eq!(is.high, 4.0 * was.high + shift);
    }

    #[test]
    fn being_surer_never_narrows_the_interval(
        d in values(1), mut c in prop::array::uniform2(0.01_f64..0.999),
    ) {
        c.sort_by(f64::total_cmp);
        match (interval(&d, c[0]), interval(&d, c[1])) {
            (Some(less), Some(more)) => {
                prop_assert!(more.low <= less.low && less.high <= more.high);
                prop_assert!(less.contains(hodges_lehmann(&d)));
            }
            (None, more) => prop_assert_eq!(more, None),
            (Some(_), None) => {}
        }
    }

    /// Without ties and zeros the interval and the p value are the same test.
    #[test]
    fn the_interval_leaves_zero_exactly_when_the_test_rejects(
        set in prop::collection::btree_set(1_i64..1_000_000, 6..25), signs in any::<u32>(),
    ) {
        let sign = |i: usize| if signs >> i & 1 == 0 { 1.0 } else { -1.0 };
        let d: Vec<f64> = set.iter().enumerate().map(|(i, x)| sign(i) * *x as f64).collect();
        let outside = !interval(&d, 0.95).unwrap().contains(0.0);
        prop_assert_eq!(outside, signed_rank(&d).unwrap().p <= 0.05);
    }

    #[test]
    fn the_null_distribution_is_a_symmetric_distribution(n in 0_u32..61) {
        let weights = null_distribution(n);
        prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        prop_assert!(weights.iter().zip(weights.iter().rev()).all(|(x, y)| near(*x, *y)));
        prop_assert_eq!(weights[0], 0.5_f64.powi(n as i32));
    }

    #[test]
    fn groups_swapped_mirror(x in values(1), y in values(1)) {
        let (there, back) = (mann_whitney(&x, &y).unwrap(), mann_whitney(&y, &x).unwrap());
        prop_assert!(near(there.p, back.p), "{} {}", there.p, back.p);
        prop_assert_eq!(there.shift, -back.shift);
        prop_assert_eq!(there.statistic + back.statistic, (x.len() * y.len()) as f64);
        prop_assert!((0.0..=1.0).contains(&there.p));
    }

    #[test]
    fn holm_never_makes_a_test_better_and_keeps_the_order(
        p in prop::collection::vec(0.0_f64..1.0, 0..12),
    ) {
        let tests: Vec<(usize, f64)> = p.iter().copied().enumerate().collect();
        let adjusted = holm(&tests);
        for x in &adjusted {
            prop_assert!(x.adjusted >= x.p && x.adjusted <= 1.0);
            for y in &adjusted {
                prop_assert!(x.p > y.p || x.adjusted <= y.adjusted);
            }
        }
        let smallest = adjusted.iter().map(|x| x.adjusted).fold(f64::INFINITY, f64::min);
        let bonferroni = p.iter().copied().fold(f64::INFINITY, f64::min) * p.len() as f64;
        prop_assert!(p.is_empty() || smallest == bonferroni.min(1.0));
    }

    #[test]
    fn a_noisier_pilot_never_needs_fewer_blocks(d in values(8)) {
        let twice: Vec<f64> = d.iter().map(|x| 2.0 * x).collect();
        let (once, more) =
            (blocks_needed(&d, Margin::THROUGHPUT), blocks_needed(&twice, Margin::THROUGHPUT));
        prop_assert!((10..=40).contains(&once) && once <= more);
        prop_assert!(blocks_needed(&d, Margin::P99) <= once);
    }

    #[test]
    fn nothing_panics_on_what_is_no_number(
        d in prop::collection::vec(prop::num::f64::ANY, 0..12),
        e in prop::collection::vec(prop::num::f64::ANY, 0..12),
    ) {
        let margin = Margin::THROUGHPUT;
        let _ = verdict(&d, margin, Better::Higher).to_string();
        let _ = seekwell_stats::estimate(&d);
        let _ = blocks_needed(&d, margin);
        let _ = compare_groups(&d, &e, margin, Better::Lower);
        let _ = seekwell_stats::change_points(&d, Default::default());
        let _ = seekwell_stats::rounds(&d);
        let _ = seekwell_stats::in_run(&d, 1, 5, seekwell_stats::Traffic::Reads);
        let _ = seekwell_stats::trend(&d);
        let _ = seekwell_stats::lag_one(&d);
        let _ = seekwell_stats::welch(&d, &e);
        let _ = signed_rank(&d);
        let blocks: Vec<Block> = d
            .chunks_exact(4)
            .map(|c| Block { order: Order::Abba, a: [c[0], c[1]], b: [c[2], c[3]] })
            .collect();
        let _ = seekwell_stats::gates(&blocks, margin);
    }

    #[test]
    fn the_coin_is_fair_and_repeats_itself(seed in any::<u64>()) {
        let heads = (0..4096).filter(|i| order(seed, *i) == Order::Abba).count();
        // Five standard deviations of 32.
        prop_assert!((1888..=2208).contains(&heads), "{}", heads);
        prop_assert_eq!(order(seed, 7), order(seed, 7));
    }
}

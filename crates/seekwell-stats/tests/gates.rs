//! Gates, steady state and change points on data made to show one thing each.

use seekwell_stats::{
    Arm, Block, ChangeRule, Gate, InRun, Margin, Order, Rounds, Severity, Traffic, change_points,
    gates, in_run, lag_one, order, over_runs, rounds, trend,
};

const MARGIN: Margin = Margin::THROUGHPUT;

/// Half a per cent of noise at most, the same everywhere.
fn noise(i: usize) -> f64 {
    let mut x = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((x >> 40) as f64 / f64::from(1 << 24) - 0.5) * 0.01
}

/// Blocks in coin order whose runs are `rate(block, run of all, arm, arm before)`.
fn blocks(count: usize, rate: impl Fn(usize, usize, Arm, Option<Arm>) -> f64) -> Vec<Block> {
    let (mut run, mut before) = (0, None);
    (0..count)
        .map(|block| {
            let order = order(5, block as u64);
            let mut values = [Vec::new(), Vec::new()];
            for arm in order.runs() {
                let value = rate(block, run, arm, before) * noise(run).exp();
                values[arm as usize].push(value);
                run += 1;
                before = Some(arm);
            }
            let [a, b] = values;
            Block { order, a: [a[0], a[1]], b: [b[0], b[1]] }
        })
        .collect()
}

#[test]
fn a_clean_experiment_closes_no_gate() {
    let clean = blocks(12, |_, _, arm, _| if arm == Arm::A { 500.0 } else { 550.0 });
    assert_eq!(gates(&clean, MARGIN), []);
}

/// A modelled disk gives the same numbers again and again. The logarithms of the same four numbers
/// in another order differ in the last bit, and twelve such differences of 1e-17 were once a trend.
#[test]
fn the_rounding_of_logarithms_is_no_difference_and_no_trend() {
    let mirrored = |i: usize| {
        let (x, y) = (500.0 + i as f64 / 7.0, 300.0 + i as f64 / 3.0);
        Block { order: Order::Abba, a: [x, y], b: [y, x] }
    };
    let same: Vec<Block> = (0..20).map(mirrored).collect();
    assert!(same.iter().all(|block| block.value() == Some(0.0)));
    assert!(!gates(&same, MARGIN).iter().any(|gate| matches!(gate, Gate::Trend(_))));
}

#[test]
fn a_steady_drift_of_the_disk_closes_no_gate() {
    let drifting = blocks(12, |_, run, _, _| 500.0 * (-0.01 * run as f64).exp());
    assert_eq!(gates(&drifting, MARGIN), []);
}

#[test]
fn a_difference_that_fades_is_invalid_and_says_how_fast() {
    let fading = blocks(12, |block, _, arm, _| match arm {
        Arm::A => 500.0,
        Arm::B => 500.0 * (0.12 - 0.01 * block as f64).exp(),
    });
    let closed = gates(&fading, MARGIN);
    let Gate::Trend(trend) = &closed[0] else { panic!("{closed:?}") };
    assert!((-1.2..-0.8).contains(&trend.percent_per_block), "{trend:?}");
    assert_eq!(closed[0].severity(), Severity::Invalid);
    assert!(closed[0].to_string().contains("drifted by −1.0"), "{}", closed[0]);
}

/// Of the 8! orders of eight blocks 111 have up to three pairs in the wrong order and 285 up to
/// four: p = 0.0055 and 0.0141.
#[test]
fn the_trend_gate_closes_below_one_in_a_hundred() {
    let trends = |order: [i32; 8]| {
        let block = |k: i32| Block {
            order: Order::Abba,
            a: [1.0; 2],
            b: [(0.001 * f64::from(k)).exp(); 2],
        };
        let closed = gates(&order.map(block), MARGIN);
        closed.iter().filter(|gate| matches!(gate, Gate::Trend(_))).count()
    };
    assert_eq!(trends([2, 1, 4, 3, 6, 5, 7, 8]), 1);
    assert_eq!(trends([2, 1, 4, 3, 6, 5, 8, 7]), 0);
}

#[test]
fn a_difference_that_comes_and_goes_slowly_warns_of_blocks_that_are_not_independent() {
    let waves = blocks(24, |block, _, arm, _| match arm {
        Arm::A => 500.0,
        Arm::B => 500.0 * (1.0 + 0.1 * (block as f64 * std::f64::consts::TAU / 12.0).sin()),
    });
    let closed = gates(&waves, MARGIN);
    assert!(
        matches!(closed[..], [Gate::Autocorrelated { lag_one }] if lag_one > 0.5),
        "{closed:?}"
    );
    assert_eq!(closed[0].severity(), Severity::Warning);
}

#[test]
fn a_write_cache_that_b_leaves_full_shows_as_carry_over() {
    let carried = blocks(12, |_, _, arm, before| match (arm, before) {
        (Arm::B, Some(Arm::B)) => 450.0,
        _ => 500.0,
    });
    let closed = gates(&carried, MARGIN);
    let found = closed.iter().find_map(|gate| match gate {
        Gate::CarryOver(carry) => Some(*carry),
        _ => None,
    });
    let carry = found.unwrap_or_else(|| panic!("{closed:?}"));
    assert_eq!(carry.arm, Arm::B);
    assert!((6.0..14.0).contains(&carry.percent), "{carry:?}");
    let sinking = blocks(12, |_, run, arm, before| match (arm, before) {
        (Arm::B, Some(Arm::B)) => 450.0 * (-0.01 * run as f64).exp(),
        _ => 500.0 * (-0.01 * run as f64).exp(),
    });
    let carries = |gate: &Gate| matches!(gate, Gate::CarryOver(carry) if carry.arm == Arm::B);
    assert!(gates(&sinking, MARGIN).iter().any(carries), "hidden by a drift of 48 runs");
    let small = blocks(12, |_, _, arm, before| match (arm, before) {
        (Arm::B, Some(Arm::B)) => 495.0,
        _ => 500.0,
    });
    assert_eq!(gates(&small, MARGIN), [], "one per cent is inside the margin");
}

#[test]
fn too_few_blocks_and_runs_of_zero_are_invalid() {
    let mut few = blocks(5, |_, _, _, _| 500.0);
    assert!(matches!(gates(&few, MARGIN)[..], [Gate::TooFewBlocks { have: 5 }]));
    few[2].a[1] = 0.0;
    assert!(gates(&few, MARGIN).contains(&Gate::NotANumber { index: 2 }));
}

#[test]
fn a_perfect_trend_has_the_p_of_one_order_in_all() {
    let rising: Vec<f64> = (0..8).map(f64::from).collect();
    let trend = trend(&rising).expect("eight");
    // 2 / 8!
    assert!((trend.p - 2.0 / 40320.0).abs() < 1e-15 && trend.tau == 1.0, "{trend:?}");
    // Of 1 … n about its mean: products 2 · 1 + 1 · 0 + 0 - … over 10.
    assert!((lag_one(&[1.0, 2.0, 3.0, 4.0, 5.0]).expect("five") - 0.4).abs() < 1e-12);
    assert_eq!(lag_one(&[1.0; 5]), None);
}

#[test]
fn rounds_settle_at_the_first_window_that_keeps_both_limits() {
    let fresh = [100.0, 80.0, 60.0, 50.0, 45.0, 44.0, 45.0, 46.0, 45.0];
    assert_eq!(rounds(&fresh), Rounds::Steady { window: 3..8, mean: 46.0 });
    assert_eq!(rounds(&fresh[..7]), Rounds::More { left: 18 });
    // Range 12 %, but all of it a slope: the line moves by more than 10 %.
    let sliding: Vec<f64> = (0..25).map(|i| 100.0 * 0.97_f64.powi(i)).collect();
    assert_eq!(rounds(&sliding), Rounds::NotReached);
    // Settled only after the twenty-fifth: too late.
    let late: Vec<f64> = sliding.iter().copied().chain([47.0; 10]).collect();
    assert_eq!(rounds(&late), Rounds::NotReached);
    assert_eq!(rounds(&[0.0; 25]), Rounds::NotReached, "a disk that does nothing is not steady");
}

#[test]
fn the_snia_limits_themselves_are_kept() {
    // Range exactly 20 % of the mean, no slope.
    assert!(matches!(rounds(&[90.0, 110.0, 100.0, 110.0, 90.0]), Rounds::Steady { .. }));
    assert!(matches!(rounds(&[89.0, 111.0, 100.0, 111.0, 89.0]), Rounds::More { .. }));
    // A pure slope from 95 to 105 is an excursion of exactly 10 %.
    assert!(matches!(rounds(&[95.0, 97.5, 100.0, 102.5, 105.0]), Rounds::Steady { .. }));
    assert!(matches!(rounds(&[94.5, 97.25, 100.0, 102.75, 105.5]), Rounds::More { .. }));
}

#[test]
fn the_end_of_a_run_is_judged_and_writes_may_wander_further() {
    // A write cache for 10 s, then 100 MB/s sinking by 4 %.
    let series: Vec<f64> =
        [300.0; 10].into_iter().chain((0..21).map(|i| 102.0 - 0.2 * f64::from(i))).collect();
    let InRun { settled, window, mean, excursion, .. } =
        in_run(&series, 5, 21, Traffic::Writes).expect("enough");
    assert!(settled && window == (10..31) && (mean - 100.0).abs() < 1e-9);
    assert!((excursion - 0.04).abs() < 1e-9, "{excursion}");
    assert!(!in_run(&series, 5, 21, Traffic::Reads).expect("enough").settled);
    assert!(!in_run(&series, 5, 26, Traffic::Writes).expect("enough").settled, "cache in it");
    assert_eq!(in_run(&series, 11, 21, Traffic::Writes), None, "the ramp reaches into the window");
    assert_eq!(in_run(&series, 0, 40, Traffic::Writes), None);
}

#[test]
fn one_stall_unsettles_a_run_that_is_level() {
    let mut series = vec![100.0; 30];
    series[20] = 80.0;
    let stalled = in_run(&series, 0, 20, Traffic::Reads).expect("enough");
    assert!(!stalled.settled && stalled.deviation > 0.1 && stalled.excursion < 0.02);
}

#[test]
fn runs_unsettle_an_arm_by_what_they_agree_on() {
    // Ten short runs of 390 requests in 20 parts each: counts wander by more than the limits.
    let mut drawn = 0;
    let mut runs = |slope: f64, stall: f64| -> Vec<Vec<f64>> {
        let mut part = |i: i32| {
            drawn += 1;
            let stalled = if i == 12 { stall } else { 0.0 };
            1.0 + slope * (f64::from(i) / 19.0 - 0.5) - stalled + 60.0 * noise(drawn)
        };
        (0..10).map(|_| (0..20).map(&mut part).collect()).collect()
    };
    let judged = |runs: &[Vec<f64>]| {
        over_runs(&runs.iter().map(Vec::as_slice).collect::<Vec<_>>(), Traffic::Reads)
            .expect("some")
    };
    let mut alarms = 0;
    let mut beyond = 0;
    for _ in 0..400 {
        let found = judged(&runs(0.0, 0.0));
        beyond += usize::from(found.excursion > 0.02 || found.deviation > 0.1);
        alarms += usize::from(!found.settled);
    }
    assert!(beyond > 200, "chance alone goes beyond the limits: {beyond}");
    assert!(alarms <= 8, "but the runs do not agree on it: {alarms} of 400");
    let slopes = (0..100).filter(|_| !judged(&runs(-0.3, 0.0)).settled).count();
    let stalls = (0..100).filter(|_| !judged(&runs(0.0, 0.5)).settled).count();
    assert!(slopes >= 90 && stalls >= 90, "{slopes} and {stalls} of 100");
    assert_eq!(over_runs(&[], Traffic::Reads), None);
    assert_eq!(over_runs(&[&[1.0], &[1.0]], Traffic::Reads), None);
}

#[test]
fn two_steps_in_a_history_are_found_where_they_are() {
    let level = |i| {
        if i < 40 {
            100.0
        } else if i < 70 {
            80.0
        } else {
            95.0
        }
    };
    let series: Vec<f64> = (0..110).map(|i| level(i) * noise(i).exp()).collect();
    let points = change_points(&series, ChangeRule::default());
    assert_eq!(points.iter().map(|point| point.index).collect::<Vec<_>>(), [40, 70]);
    assert!((points[0].percent() + 20.0).abs() < 1.0, "{:?}", points[0]);
    assert!((points[1].percent() - 18.75).abs() < 1.0, "{:?}", points[1]);
    assert_eq!(points, change_points(&series, ChangeRule::default()));
}

#[test]
fn a_step_that_is_real_but_small_and_a_single_bad_run_are_no_change_points() {
    let small: Vec<f64> =
        (0..60).map(|i| if i < 30 { 100.0 } else { 98.0 } * noise(i).exp()).collect();
    assert_eq!(change_points(&small, ChangeRule::default()), []);
    let rule = ChangeRule { magnitude: 0.01, ..ChangeRule::default() };
    assert_eq!(change_points(&small, rule)[0].index, 30);
    let mut single: Vec<f64> = (0..60).map(|i| 100.0 * noise(i).exp()).collect();
    single[30] = 50.0;
    assert_eq!(change_points(&single, ChangeRule::default()), []);
    assert_eq!(change_points(&single[..5], ChangeRule::default()), []);
}

#[test]
fn the_orders_are_two_mirror_images() {
    assert_eq!(Order::Abba.runs(), [Arm::A, Arm::B, Arm::B, Arm::A]);
    assert_eq!(Order::Baab.runs(), [Arm::B, Arm::A, Arm::A, Arm::B]);
    assert_eq!(Order::Baab.pair(), [Arm::B, Arm::A]);
    // The first sixteen of seed 1, so that a stored seed gives the same experiment forever.
    let coins: String =
        (0..16).map(|i| if order(1, i) == Order::Abba { 'A' } else { 'B' }).collect();
    assert_eq!(coins, "BBBAABBBABABABAA");
}

//! The method on disks where the truth is known, with fewer repeats than the example that prints
//! the table of `docs/statistics.md`. All seeds are fixed. The standard error of a share of 5 % is
//! 0.34 points.

#[path = "../examples/simulate/model.rs"]
#[allow(dead_code)]
mod model;

use model::Noise;

const REPEATS: u32 = 4000;

#[test]
fn a_thing_compared_with_itself_is_called_different_in_five_of_a_hundred() {
    for noise in [Noise::Calm, Noise::Drift, Noise::Wander, Noise::Periodic] {
        for blocks in [10, 20] {
            let rate = model::false_alarms(noise, blocks, REPEATS);
            assert!((4.0..=6.0).contains(&rate), "{noise:?}, {blocks} blocks: {rate} %");
        }
    }
}

/// Twelve times ABBA on a disk that is slow in every fourth run puts all slow runs on one arm.
#[test]
fn a_fixed_order_is_fooled_by_what_is_periodic_and_the_coin_is_not() {
    let fixed = model::false_alarms_fixed_order(Noise::Periodic, 12, 500);
    let coin = model::false_alarms(Noise::Periodic, 12, REPEATS);
    assert!(fixed > 95.0 && coin < 6.0, "fixed {fixed} %, coin {coin} %");
}

#[test]
fn one_arm_after_the_other_is_fooled_by_drift_and_the_blocks_are_not() {
    let after = model::false_alarms_one_after_the_other(Noise::Drift, 5, 1000);
    let blocks = model::false_alarms(Noise::Drift, 10, REPEATS);
    assert!(after > 30.0 && blocks < 6.0, "one after the other {after} %, blocks {blocks} %");
}

#[test]
fn planning_from_the_pilots_width_keeps_the_level_and_looking_on_does_not() {
    let planned = model::two_stage(Noise::Calm, 0.0, REPEATS);
    let peeking = model::false_alarms_peeking(Noise::Calm, 500);
    assert!((4.0..=6.5).contains(&planned.claimed), "planned {} %", planned.claimed);
    assert!(peeking > 12.0, "peeking {peeking} %");
}

#[test]
fn the_interval_holds_the_truth_in_every_kind_of_noise_from_six_blocks_on() {
    for noise in [Noise::Calm, Noise::Heavy, Noise::Bursts, Noise::BurstsInB] {
        let centre = match noise {
            Noise::BurstsInB => model::true_centre(noise, 0.01, 100_000),
            _ => 0.01,
        };
        for blocks in [6, 10, 20] {
            let held = model::coverage(noise, 0.01, centre, blocks, REPEATS).ranks;
            assert!((93.5..=98.0).contains(&held), "{noise:?}, {blocks} blocks: {held} %");
        }
    }
}

#[test]
fn a_difference_of_the_margin_is_seldom_called_none_and_one_of_five_per_cent_is_found() {
    let margin = model::two_stage(Noise::Calm, f64::ln_1p(0.02), 2000);
    assert!(margin.equivalent <= 5.0, "called none: {} %", margin.equivalent);
    let large = model::two_stage(Noise::Calm, f64::ln_1p(0.05), 2000);
    assert!(large.claimed > 99.0, "found: {} %", large.claimed);
}

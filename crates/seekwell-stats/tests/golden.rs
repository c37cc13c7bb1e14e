//! Every function that SciPy has too gives SciPy's numbers. The table and the script that made it
//! are in `tests/golden`.

use seekwell_stats::rank_sum::shift_interval;
use seekwell_stats::{
    Interval, hodges_lehmann, holm, interval, mann_whitney, signed_rank, t_interval, trend, welch,
};
use serde_json::Value;

/// Rows of a table; a missing or empty one fails.
fn rows(table: &str) -> Vec<Value> {
    let golden: Value =
        serde_json::from_str(include_str!("golden/golden.json")).expect("golden.json is JSON");
    let rows = golden[table]["rows"].as_array().cloned().unwrap_or_default();
    assert!(!rows.is_empty(), "no table {table}");
    rows
}

fn numbers(row: &Value, key: &str) -> Vec<f64> {
    let list = row[key].as_array().unwrap_or_else(|| panic!("no list {key} in {row}"));
    list.iter().filter_map(Value::as_f64).collect()
}

fn close(ours: f64, row: &Value, key: &str) {
    let theirs = row[key].as_f64().unwrap_or_else(|| panic!("no number {key} in {row}"));
    let apart = (ours - theirs).abs();
    assert!(apart <= 1e-9 * theirs.abs().max(1e-3), "{key}: {ours} is not {theirs} of {row}");
}

fn same_interval(ours: Option<Interval>, row: &Value, key: &str) {
    match (ours, row[key].as_array()) {
        (None, None) => assert!(row[key].is_null(), "no interval {key} in {row}"),
        (Some(ours), Some(ends)) => {
            for (end, theirs) in [ours.low, ours.high].into_iter().zip(ends) {
                let theirs = theirs.as_f64().expect("an end is a number");
                assert!((end - theirs).abs() < 1e-12, "{key}: {ours:?} of {row}");
            }
        }
        _ => panic!("{key}: {ours:?} of {row}"),
    }
}

#[test]
fn the_signed_rank_test_gives_scipys_statistic_and_p() {
    for row in rows("wilcoxon").into_iter().chain(rows("wilcoxon_tied")) {
        let ours = signed_rank(&numbers(&row, "d")).expect("finite");
        close(ours.statistic, &row, "statistic");
        close(ours.p, &row, "p");
    }
}

#[test]
fn hodges_lehmann_is_the_median_of_pair_means() {
    for row in rows("hodges_lehmann") {
        close(hodges_lehmann(&numbers(&row, "d")), &row, "centre");
    }
}

#[test]
fn the_signed_rank_interval_holds_what_scipys_test_does_not_reject() {
    let mut compared = 0;
    for row in rows("hodges_lehmann") {
        let d = numbers(&row, "d");
        for (key, confidence) in [("ci80", 0.80), ("ci90", 0.90), ("ci95", 0.95), ("ci99", 0.99)] {
            if row.get(key).is_some() {
                same_interval(interval(&d, confidence), &row, key);
                compared += 1;
            }
        }
    }
    assert!(compared > 80, "{compared}");
}

#[test]
fn the_t_interval_is_scipys() {
    for row in rows("student") {
        let confidence = row["confidence"].as_f64().expect("confidence");
        let ours = t_interval(&numbers(&row, "d"), confidence).expect("two values");
        close(ours.low, &row, "low");
        close(ours.high, &row, "high");
    }
}

#[test]
fn welchs_test_is_scipys() {
    for row in rows("welch") {
        let ours = welch(&numbers(&row, "x"), &numbers(&row, "y")).expect("two values each");
        close(ours.t, &row, "t");
        close(ours.degrees, &row, "df");
        close(ours.p, &row, "p");
    }
}

#[test]
fn the_rank_sum_test_is_scipys_with_and_without_ties() {
    for row in rows("mann_whitney").into_iter().chain(rows("mann_whitney_tied")) {
        let (x, y) = (numbers(&row, "x"), numbers(&row, "y"));
        let ours = mann_whitney(&x, &y).expect("finite");
        close(ours.statistic, &row, "u");
        close(ours.p, &row, "p");
        if row.get("shift").is_some() {
            close(ours.shift, &row, "shift");
        }
        if row.get("ci95").is_some() {
            same_interval(shift_interval(&x, &y, 0.95), &row, "ci95");
        }
    }
}

#[test]
fn the_trend_is_scipys_kendall_and_theil_sen() {
    for row in rows("kendall") {
        let ours = trend(&numbers(&row, "d")).expect("three values");
        close(ours.tau, &row, "tau");
        close(ours.p, &row, "p");
        close((ours.percent_per_block / 100.0).ln_1p(), &row, "slope");
    }
}

#[test]
fn holms_adjustment_is_the_closed_test_of_all_subsets() {
    for row in rows("holm") {
        let tests: Vec<(usize, f64)> = numbers(&row, "p").into_iter().enumerate().collect();
        for (ours, theirs) in holm(&tests).iter().zip(numbers(&row, "adjusted")) {
            assert!((ours.adjusted - theirs).abs() < 1e-12, "{ours:?} is not {theirs}");
        }
    }
}

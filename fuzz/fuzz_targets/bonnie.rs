//! A line of bonnie++ may be cut short, of any version, or made to do harm. What is accepted has
//! finite numbers that can be compared with themselves.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_compare::{Options, Side, SourceKind, compare, sources::bonnie};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(runs) = bonnie::read(text, "file") else { return };
    for value in runs.iter().flat_map(|r| &r.groups).flat_map(|g| &g.values) {
        assert!(value.value.is_finite() && value.value >= 0.0, "{value:?}");
    }
    let run = runs.into_iter().take(1).collect();
    let side = Side { name: "a".into(), source: SourceKind::BonnieCsv, runs: run };
    compare(&[side.clone(), side], &Options::default()).expect("a line is of its own workload");
});

//! What calls itself fio's output may be anything. What is accepted has finite numbers and one
//! group for each name.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seekwell_compare::{Options, Side, SourceKind, compare, sources::fio};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(run) = fio::read(text, "file") else { return };
    for (i, group) in run.groups.iter().enumerate() {
        assert!(run.groups[..i].iter().all(|g| g.name != group.name));
        assert!(group.values.iter().all(|v| v.value.is_finite()));
    }
    if run.groups.is_empty() {
        return;
    }
    let side = Side { name: "a".into(), source: SourceKind::Fio, runs: vec![run] };
    compare(&[side.clone(), side], &Options::default()).expect("a job is of its own workload");
});

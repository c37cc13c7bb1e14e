//! The first part of docs/json.md and the documents say the same keys. The second part, from
//! comparisons on, has its own test beside the program that writes those.

mod common;
#[path = "json_doc/inspected.rs"]
mod inspected;

use seekwell_inspect::health::Measure;
use seekwell_io::measurement::{Failure, FailureKind, Issuer};
use seekwell_io::request::{Flags, Op};
use seekwell_io::workload::{Discards, Pace, Pattern};
use seekwell_runs::{Medium, RunDocument, Work};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Keys under which the names are data: operations, metrics, entries of the catalogue.
const NAMED_BY_DATA: [&str; 10] = [
    "options",
    "ops",
    "metrics",
    "latency_bins",
    "response_bins",
    "counts",
    "values",
    "tunables",
    "requests",
    "skipped",
];

fn keys(value: &Value, named_by_data: bool, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                if !named_by_data {
                    out.insert(key.clone());
                }
                keys(inner, !named_by_data && NAMED_BY_DATA.contains(&key.as_str()), out);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, false, out)),
        _ => {}
    }
}

/// Every key any document can hold: all optional values present, all variants once.
fn written() -> BTreeSet<String> {
    let (base, detail) = common::run("20261120-100000-checkup-0001", 1);
    let mut out = BTreeSet::new();
    let mut add = |run: &RunDocument| keys(&serde_json::to_value(run).unwrap(), false, &mut out);
    add(&base);
    let mut other = base.clone();
    other.medium = Some(Medium::Destroyed {
        serial: "x".into(),
        size_bytes: 1,
        direct: true,
        looked_at_bytes: Some(1),
    });
    let drawn = other.phases[0].workload.drawn_mut().unwrap();
    drawn.pattern = Pattern::Normal { deviation_percent: 10.0 };
    add(&other);
    let drawn = other.phases[0].workload.drawn_mut().unwrap();
    drawn.pattern = Pattern::Pareto { power: 0.2 };
    add(&other);
    let drawn = other.phases[0].workload.drawn_mut().unwrap();
    drawn.pattern = Pattern::Zipf { theta: 1.0 };
    drawn.discards = Discards::All;
    drawn.flags = Flags { uncached: true, ..Flags::NONE };
    other.phases[0].repeats[0].issuer = Some(Issuer::Calls);
    let drawn = other.phases[0].workload.drawn_mut().unwrap();
    drawn.pace = Pace::Open { requests_per_s: 1.0, poisson: true, depth: 1 };
    other.phases[0].repeats[0].failure =
        Some(Failure { op: Op::Write, offset: 0, len: 512, kind: FailureKind::Short { moved: 1 } });
    add(&other);
    other.phases[0].workload = Work::Replayed(common::replay());
    other.phases[0].repeats[0].fidelity = Some(common::fidelity());
    add(&other);
    other.phases[0].workload = Work::Suite(common::step());
    other.phases[0].repeats[0].values.insert("create_per_s".into(), 1.0);
    other.phases[0].repeats[0].notes.push("the disk was the limit".into());
    add(&other);
    other.phases[0].workload = Work::Job(Box::new(common::job()));
    other.phases[0].repeats[0].mismatches.push(common::mismatch());
    other.phases[0].repeats[0].steady_state = Some(common::steady_state());
    add(&other);
    other.medium = Some(Medium::ReadOnly { size_bytes: 1, direct: true, device: None });
    add(&other);
    let (title, set) = ("a model".to_owned(), vec!["controller.ncq=false".to_owned()]);
    let (model_error_percent, model_tail_error_percent) = (Some(4.0), Some(9.0));
    other.medium = Some(Medium::Machine {
        title,
        size_bytes: 1,
        set,
        model_error_percent,
        model_tail_error_percent,
        model_depth: Some(64),
        model_write_depth: Some(32),
    });
    add(&other);
    for study in common::studies() {
        other.study = Some(study);
        add(&other);
    }
    keys(&serde_json::to_value(&detail).unwrap(), false, &mut out);
    inspected::all().iter().for_each(|document| keys(document, false, &mut out));
    // Names of data, too, but a fixed list.
    out.extend(Measure::ALL.iter().map(|measure| {
        let name = serde_json::to_value(measure).unwrap();
        name.as_str().expect("a name").to_owned()
    }));
    out
}

#[test]
fn every_key_that_is_written_is_described_and_every_described_one_is_written() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (text, _) = text.split_once("\n# Comparing, ").expect("the second part");
    let cells = text.lines().filter_map(|line| line.strip_prefix("| `")?.split('|').next());
    let described: BTreeSet<String> =
        cells.flat_map(|cell| cell.split('`').step_by(2)).map(str::to_owned).collect();
    let written = written();
    let undescribed: Vec<_> = written.difference(&described).collect();
    assert!(undescribed.is_empty(), "not in docs/json.md: {undescribed:?}");
    let stale: Vec<_> = described.difference(&written).collect();
    assert!(stale.is_empty(), "in docs/json.md, but never written: {stale:?}");
}

//! The schemas of kept runs and inspections describe every key of these documents and no other.
//! Those of what the program only prints have their test beside it.

mod common;
#[path = "json_doc/inspected.rs"]
mod inspected;
#[path = "common/schema.rs"]
mod schema;

use seekwell_io::measurement::{Failure, FailureKind, Issuer};
use seekwell_io::request::{Flags, Op};
use seekwell_io::workload::{Discards, Pace, Pattern};
use seekwell_runs::{Medium, RunDocument, Work};
use serde_json::Value;

/// Runs with every key any can hold: all optional values present, all variants once.
fn runs() -> Vec<Value> {
    let (base, _) = common::run("20261120-100000-checkup-0001", 1);
    let mut out = Vec::new();
    let mut add = |run: &RunDocument| out.push(serde_json::to_value(run).unwrap());
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
    let failure = other.phases[0].repeats[0].failure.as_mut().unwrap();
    failure.kind = FailureKind::Nvme { status: 0x280 };
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
    other.medium =
        Some(Medium::ReadOnly { size_bytes: 1, direct: true, device: Some("sda".into()) });
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
    out
}

#[test]
fn every_key_that_is_kept_is_described_and_every_described_one_is_kept() {
    let (_, detail) = common::run("20261120-100000-checkup-0001", 1);
    let parts = ["fact", "finding", "flags", "pattern", "tool"];
    let parts = parts.map(|part| format!("common.json#/$defs/{part}"));
    let parts: Vec<&str> =
        ["run-1.json"].into_iter().chain(parts.iter().map(String::as_str)).collect();
    schema::complete(&parts, &runs(), &[]);
    schema::complete(&["detail-1.json"], &[serde_json::to_value(detail).unwrap()], &[]);
    schema::complete(&["inspect-1.json"], &[inspected::judged()], &[]);
    schema::complete(&["diff-1.json"], &[inspected::diff()], &[]);
    schema::complete(&["watch-1.json"], &inspected::watch(), &[]);
}

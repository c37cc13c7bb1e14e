//! Built-in demands, refused files, and decisions.

use super::{DEMANDS, DemandFile, FEWEST, decided};
use crate::RunError;
use seekwell_runs::{Bound, DemandVerdict, Side};

const GOOD: &str = r#"
title = "a log"
sources = ["its documentation"]
job = "[wal]\nrw=write\nfdatasync=1\nsize=1m\n"
[[bound]]
job = "wal"
metric = "flush.latency_ns_p99"
at_most = "10ms"
why = "it is slow"
[[bound]]
job = "wal"
metric = "write.requests_per_s"
at_least = 100
why = "it is slow"
"#;

fn refused(text: &str) -> String {
    match DemandFile::of("test", text) {
        Ok(asked) => panic!("{:?}", asked.demand()),
        Err(error @ (RunError::Demand(_) | RunError::File(_) | RunError::Jobs(_))) => {
            error.to_string()
        }
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn built_in_demands_have_sources_and_are_in_order() {
    let names: Vec<_> = DEMANDS.names().collect();
    assert!(names.is_sorted() && names.len() >= 15);
    for (name, text) in DEMANDS.files {
        let asked = DemandFile::of(name, text).unwrap();
        assert!(!asked.demand().sources.is_empty(), "{name}");
        assert_eq!(asked.demand().verdict, DemandVerdict::Undecided);
    }
}

#[test]
fn a_demand_is_read() {
    let asked = DemandFile::of("test", GOOD).unwrap();
    let bounds = &asked.demand().bounds;
    assert_eq!((bounds[0].side, bounds[0].bound), (Side::AtMost, 1e7));
    assert_eq!((bounds[1].side, bounds[1].bound), (Side::AtLeast, 100.0));
}

#[test]
fn what_makes_no_sense_is_refused_with_the_reason() {
    for (from, to, says) in [
        ("at_most = \"10ms\"", "", "needs either at_most or at_least"),
        ("at_most = \"10ms\"", "at_most = 1\nat_least = 1", "needs either at_most or at_least"),
        ("at_most = \"10ms\"", "at_most = -1", "cannot be -1: needed is a number above 0, in ns"),
        ("at_most = \"10ms\"", "at_most = \"soon\"", "cannot be \"soon\""),
        ("at_most = \"10ms\"", "at_most = nan", "cannot be NaN"),
        ("at_least = 100", "at_least = \"10ms\"", "cannot be \"10ms\": needed is a number above 0"),
        ("job = \"wal\"", "job = \"log\"", "a bound is of job log, and the jobs are: wal"),
        ("title = \"a log\"", "", "test is not a demand: "),
        ("title = \"a log\"", "titel = \"a log\"", "unknown field"),
        ("rw=write", "rw=sideways", "test.fio:2"),
    ] {
        let text = GOOD.replace(from, to);
        assert!(refused(&text).contains(says), "{says}: {}", refused(&text));
    }
    let (head, _) = GOOD.split_once("[[bound]]").unwrap();
    assert!(refused(head).contains("at least one [[bound]]"));
    let twice = format!("{GOOD}{}", GOOD.rsplit_once("[[bound]]").map_or("", |(_, b)| b));
    let twice =
        twice.replace("why = \"it is slow\"\n\njob", "why = \"it is slow\"\n[[bound]]\njob");
    let twice = twice.replacen("at_least = 100", "at_most = 50", 1);
    assert!(refused(&twice).contains("cannot be at least 100 and at most 50 at once"));
}

#[test]
fn runs_that_agree_decide_and_others_do_not() {
    let asked = DemandFile::of("test", GOOD).unwrap();
    let rate = &asked.demand().bounds[1];
    let after = |values: &[f64]| decided(rate, values.to_vec());
    let verdict = |values: &[f64]| DemandVerdict::of(&[after(values)]);
    assert_eq!(verdict(&[200.0; FEWEST - 1]), DemandVerdict::Undecided);
    assert_eq!(verdict(&[200.0; FEWEST]), DemandVerdict::Fits);
    assert_eq!(verdict(&[99.0; FEWEST]), DemandVerdict::DoesNotFit);
    assert_eq!(verdict(&[99.0, 200.0, 99.0, 200.0, 99.0]), DemandVerdict::Undecided);
    assert_eq!(after(&[150.0, 200.0, 250.0]).room(), Some(2.0));
    // One bound that is not kept is enough; one that is not decided is too many.
    let of = |holds: [Option<bool>; 2]| {
        DemandVerdict::of(&holds.map(|holds| Bound { holds, ..rate.clone() }))
    };
    assert_eq!(of([Some(false), None]), DemandVerdict::DoesNotFit);
    assert_eq!(of([Some(true), None]), DemandVerdict::Undecided);
}

//! The suite as a whole, and on file systems it cannot work on.

use super::*;
use crate::settings::Level;
use crate::testing::{SmallFs, round};
use seekwell_sys::{Class, Classified};
use std::sync::atomic::AtomicBool;

fn settings(set: &[(&str, &str)]) -> Result<Settings, SuiteError> {
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    SUITE.settings(Level::Quick, &set)
}

#[test]
fn every_step_gives_its_figures_and_says_what_the_limit_was() {
    let set = [
        ("seconds", "1"),
        ("journals", "truncate,wal"),
        ("threads", "1,2"),
        ("clients", "2"),
        ("database", "shared"),
    ];
    let Some(steps) = round(&SUITE, &set) else { return };
    let names: Vec<_> = steps.iter().map(|(name, _)| name.as_str()).collect();
    let expect = [
        "insert-truncate-t1",
        "insert-wal-t1",
        "insert-truncate-t2",
        "update-truncate-c2",
        "update-wal-c2",
    ];
    assert_eq!(names, expect);
    for (name, result) in &steps {
        let count = result.measurement.op(Op::Flush).requests as f64;
        let counted = ["insertions_count", "transactions_count"];
        assert!(counted.iter().any(|c| result.values.get(*c) == Some(&count)), "{name}");
        assert!(result.values.contains_key("commit_latency_ns_max"), "{name}");
        let rate =
            result.values.get("insertions_per_s").or(result.values.get("transactions_per_s"));
        let seconds = result.measurement.elapsed.as_secs_f64();
        assert!((rate.unwrap() - count / seconds).abs() < 1e-6 && seconds >= 1.0, "{name}");
        assert!(result.notes.iter().any(|n| n.contains("processor")), "{:?}", result.notes);
    }
}

#[test]
fn a_number_of_insertions_is_timed_as_a_whole() {
    let set = [("insertions", "30"), ("journals", "wal"), ("threads", "2"), ("scale", "0")];
    let Some(steps) = round(&SUITE, &set) else { return };
    assert_eq!(steps.len(), 1);
    let values = &steps[0].1.values;
    assert_eq!(values["insertions_count"], 60.0);
    let took = steps[0].1.measurement.elapsed.0 as f64;
    assert_eq!(values["insertions_time_ns"], took);
    // The Phoronix test inserts 2,500 a thread.
    let phoronix = took * 5_000.0 / 60.0;
    assert!((values["phoronix_time_ns"] - phoronix).abs() <= 1.0, "{values:?}");
    let notes = &steps[0].1.notes;
    let said = format!("{:.2} s for 5000 insertions, lower is better", phoronix / 1e9);
    assert!(notes.iter().any(|note| note.ends_with(&said)), "{notes:?}");
}

#[test]
fn a_list_that_cannot_be_is_refused_before_anything_is_made() {
    for (name, value) in
        [("journals", "delete,memory"), ("threads", "0"), ("threads", "2,2"), ("clients", "")]
    {
        let refused = settings(&[(name, value)]).unwrap_err();
        assert_eq!(refused.class(), Class::Usage, "{refused}");
        assert!(refused.to_string().starts_with(&format!("{name}={value} ")), "{refused}");
    }
}

fn endless(journal: Journal) -> Insertions {
    let enough = Enough { transactions: None, time: None };
    Insertions { journal, threads: 2, shared: false, enough, seed: 1 }
}

#[test]
fn a_file_system_that_fills_up_ends_the_step_with_a_sentence() {
    let Some(small) = SmallFs::ext4(2 << 20, 64) else { return };
    let what = endless(Journal::Wal);
    let databases = insert::prepare(&small.path(), &what).unwrap();
    let full = insert::run(&databases, &what, &AtomicBool::new(false), &|_| ()).unwrap_err();
    assert!(matches!(&full, SuiteError::Full { .. }), "{full}");
    assert!(full.to_string().contains("is full"), "{full}");
}

#[test]
fn without_an_inode_for_the_journal_the_step_ends_with_a_sentence() {
    let Some(small) = SmallFs::ext4(8 << 20, 32) else { return };
    let what = Insertions { threads: 1, ..endless(Journal::Delete) };
    let databases = insert::prepare(&small.path(), &what).unwrap();
    let mut n = 0;
    while std::fs::File::create_new(small.path().join(format!("file-{n}"))).is_ok() {
        n += 1;
    }
    let none = insert::run(&databases, &what, &AtomicBool::new(false), &|_| ()).unwrap_err();
    assert!(matches!(&none, SuiteError::NoInodes { .. }), "{none}");
    let none = Database::create(&small.path().join("another.db"), Journal::Wal).unwrap_err();
    assert!(matches!(&none, SuiteError::NoInodes { .. }), "{none}");
}

#[test]
fn on_a_file_system_that_can_only_be_read_no_database_is_made() {
    let Some(small) = SmallFs::ext4(4 << 20, 64) else { return };
    small.only_read();
    let refused = insert::prepare(&small.path(), &endless(Journal::Delete)).unwrap_err();
    assert!(matches!(&refused, SuiteError::ReadOnly { .. }), "{refused}");
}

//! Keeping, finding, listing and removing runs, and what reading refuses.

mod common;

use jiff::Timestamp;
use seekwell_runs::{Filter, RunKind, RunState, Runs, Status, Store, StoreError, Writer};
use seekwell_sys::{Class, Classified};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn store() -> (TempDir, Store) {
    let dir = TempDir::new().unwrap();
    let store = Store::open(dir.path().join("runs"));
    (dir, store)
}

fn at(time: &str) -> Timestamp {
    format!("2026-11-20T{time}Z").parse().unwrap()
}

fn begin(store: &Store, time: &str) -> Writer {
    let mut writer = store.create(RunKind::Checkup, at(time)).unwrap();
    let (run, detail) = common::run(writer.id(), 1);
    writer.save(&run, &detail).unwrap();
    writer
}

fn keep(store: &Store, time: &str, status: Status, label: Option<&str>) -> String {
    let mut writer = begin(store, time);
    let (mut run, detail) = common::run(writer.id(), 2);
    run.status = status;
    run.label = label.map(str::to_owned);
    writer.save(&run, &detail).unwrap();
    writer.id().to_owned()
}

fn names_in(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_kept_run_is_read_back_as_it_was() {
    let (_guard, store) = store();
    let mut writer = store.create(RunKind::Checkup, at("10:00:00")).unwrap();
    let (mut run, detail) = common::run(writer.id(), 3);
    run.status = Status::Complete;
    writer.save(&run, &detail).unwrap();
    let id = writer.id().to_owned();
    drop(writer);
    assert_eq!(store.load(&id).unwrap(), (run, detail));
    assert_eq!(names_in(&store.dir().join(&id)), ["detail.json", "run.json"]);
}

#[test]
fn a_run_is_found_by_prefix_by_its_last_digits_by_path_and_as_the_last() {
    let (_guard, store) = store();
    let first = keep(&store, "10:00:00", Status::Complete, None);
    let second = keep(&store, "11:00:00", Status::Complete, None);
    let path = store.dir().join(&first);
    for (name, expected) in [
        (first.clone(), &first),
        ("20261120-10".to_owned(), &first),
        (path.display().to_string(), &first),
        (path.join("run.json").display().to_string(), &first),
        ("last".to_owned(), &second),
        (second[second.len() - 4..].to_owned(), &second),
    ] {
        assert_eq!(&store.load(&name).unwrap().0.id, expected, "{name}");
    }
}

#[test]
fn an_ambiguous_prefix_names_the_candidates_and_a_wrong_one_the_nearest() {
    let (_guard, store) = store();
    let first = keep(&store, "10:00:00", Status::Complete, None);
    let second = keep(&store, "10:30:00", Status::Complete, None);
    match store.load("20261120-10").unwrap_err() {
        StoreError::Ambiguous { candidates, .. } => assert_eq!(candidates, [first.clone(), second]),
        other => panic!("{other}"),
    }
    let error = store.load("20261120-100001").unwrap_err();
    assert!(matches!(&error, StoreError::NotFound { nearest, .. } if nearest[0] == first));
    assert!(error.to_string().contains(&first), "{error}");
    assert_eq!(error.class(), Class::Usage);
    let (_guard, empty) = self::store();
    assert!(matches!(empty.load("last"), Err(StoreError::NotFound { .. })));
    assert!(empty.list(&Filter::default()).unwrap().runs.is_empty());
    assert!(!empty.dir().exists(), "looking makes nothing");
}

#[test]
fn two_runs_in_one_second_have_two_ids() {
    let (_guard, store) = store();
    let writers: Vec<Writer> =
        (0..300).map(|_| store.create(RunKind::Bench, at("10:00:00")).unwrap()).collect();
    let mut ids: Vec<&str> = writers.iter().map(Writer::id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 300);
    drop(writers);
    assert_eq!(names_in(store.dir()), [""; 0], "nothing was saved, so nothing stays");
}

#[test]
fn a_damaged_bundle_is_named_with_line_and_column_and_hides_no_other() {
    let (_guard, store) = store();
    let good = keep(&store, "10:00:00", Status::Complete, None);
    let bad = keep(&store, "11:00:00", Status::Complete, None);
    let file = store.dir().join(&bad).join("run.json");
    let text = fs::read_to_string(&file).unwrap();
    // Cut within a line: after a line's end the place would be in the next.
    let cut = text[..text.len() / 2].trim_end();
    fs::write(&file, cut).unwrap();
    match store.load("last").unwrap_err() {
        StoreError::Damaged { path, line, column, .. } => {
            assert_eq!(path, file);
            assert_eq!(line, cut.lines().count());
            assert!(column > 0);
        }
        other => panic!("{other}"),
    }
    let listing = store.list(&Filter::default()).unwrap();
    assert_eq!(listing.runs.iter().map(|e| &e.id).collect::<Vec<_>>(), [&good]);
    assert_eq!(listing.unreadable.len(), 1);
    assert_eq!(listing.unreadable[0].0, bad);
    assert_eq!(store.load(&good).unwrap().0.id, good);
    assert_eq!(store.remove(&bad).unwrap(), bad, "what cannot be read can still be removed");
}

#[test]
fn every_truncation_of_a_bundle_is_an_error_and_none_a_panic() {
    let (run, detail) = common::run("20261120-100000-checkup-0001", 1);
    let here = Path::new("run.json");
    let bytes = serde_json::to_vec(&run).unwrap();
    for end in 0..bytes.len() {
        assert!(seekwell_runs::read::run(&bytes[..end], here).is_err(), "{end} bytes");
    }
    let bytes = serde_json::to_vec(&detail).unwrap();
    for end in 0..bytes.len() {
        assert!(seekwell_runs::read::detail(&bytes[..end], here).is_err(), "{end} bytes");
    }
}

#[test]
fn hostile_documents_are_refused() {
    let here = Path::new("run.json");
    let (run, detail) = common::run("20261120-100000-checkup-0001", 2);
    let read_run = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut value = serde_json::to_value(&run).unwrap();
        change(&mut value);
        seekwell_runs::read::run(&serde_json::to_vec(&value).unwrap(), here).unwrap_err()
    };
    let error = read_run(&|v| v["schema"] = "seekwell/run/2".into());
    assert!(matches!(&error, StoreError::Newer { found, .. } if found == "seekwell/run/2"));
    let error = read_run(&|v| v["schema"] = "seekwell/inspect/1".into());
    assert!(matches!(error, StoreError::Invalid { field: "schema", .. }), "{error}");
    let error = read_run(&|v| v["id"] = "../../etc/passwd".into());
    assert!(matches!(error, StoreError::Invalid { field: "id", .. }), "{error}");
    let error = read_run(&|v| v["phases"][1]["name"] = v["phases"][0]["name"].clone());
    assert!(matches!(error, StoreError::Invalid { field: "phases[].name", .. }), "{error}");
    let error = read_run(&|v| v["phases"][0]["repeats"][0]["elapsed_ns"] = (-1).into());
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");

    let read_detail = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut value = serde_json::to_value(&detail).unwrap();
        change(&mut value["repeats"][0]);
        seekwell_runs::read::detail(&serde_json::to_vec(&value).unwrap(), here).unwrap_err()
    };
    let bins = |pairs: &[(u64, u64)]| serde_json::to_value(pairs).unwrap();
    read_detail(&|v| v["latency_bins"]["read"] = bins(&[(1_000_000, 1)]));
    read_detail(&|v| v["latency_bins"]["read"] = bins(&[(5, 1), (5, 1)]));
    read_detail(&|v| v["response_bins"]["read"] = bins(&[(1, u64::MAX), (2, 1)]));
    read_detail(&|v| v["series"]["step_ns"] = 0.into());

    let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
    assert!(seekwell_runs::read::detail(&deep, here).is_err());
    let device = "{\"below\":[".repeat(100_000);
    let text = format!("{{\"schema\":\"seekwell/run/1\",\"inspection\":{{\"device\":{device}");
    assert!(seekwell_runs::read::run(text.as_bytes(), here).is_err());
}

#[test]
fn a_file_too_large_or_not_a_file_is_refused_without_reading_it() {
    let (_guard, store) = store();
    let id = keep(&store, "10:00:00", Status::Complete, None);
    let file = store.dir().join(&id).join("run.json");
    let sparse = fs::OpenOptions::new().write(true).open(&file).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let error = store.load(&id).unwrap_err();
    assert!(error.to_string().contains("larger than 65536 KiB"), "{error}");
    fs::remove_file(&file).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let error = store.load(&id).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
}

#[test]
fn a_bundle_copied_under_another_name_is_not_taken_for_the_other() {
    let (_guard, store) = store();
    let id = keep(&store, "10:00:00", Status::Complete, None);
    let other = "20261120-100000-checkup-zzzz".replace("zzzz", "0000");
    fs::rename(store.dir().join(&id), store.dir().join(&other)).unwrap();
    assert!(matches!(store.load(&other), Err(StoreError::Invalid { field: "id", .. })));
    assert_eq!(store.list(&Filter::default()).unwrap().unreadable.len(), 1);
    let by_path = store.dir().join(&other).display().to_string();
    assert_eq!(store.load(&by_path).unwrap().0.id, id, "a path says what is meant");
}

#[test]
fn a_number_that_is_not_finite_is_refused_and_what_was_saved_stays() {
    let (_guard, store) = store();
    let mut writer = begin(&store, "10:00:00");
    let (mut run, detail) = common::run(writer.id(), 2);
    run.phases[0].repeats[0].device.as_mut().unwrap().share = f64::NAN;
    assert!(matches!(writer.save(&run, &detail), Err(StoreError::NotStorable { .. })));
    assert_eq!(store.load("last").unwrap().0.phases.len(), 1);
}

#[test]
fn a_living_run_is_running_and_cannot_be_removed() {
    let (_guard, store) = store();
    let writer = begin(&store, "10:00:00");
    assert_eq!(store.list(&Filter::default()).unwrap().runs[0].state, RunState::Running);
    assert!(matches!(store.remove("last"), Err(StoreError::StillRunning { .. })));
    let id = writer.id().to_owned();
    drop(writer);
    assert_eq!(store.list(&Filter::default()).unwrap().runs[0].state, RunState::Killed);
    assert_eq!(store.remove("last").unwrap(), id);
    assert!(!store.dir().join(&id).exists());
    assert!(store.list(&Filter::default()).unwrap().runs.is_empty());
}

#[test]
fn a_run_that_nobody_writes_is_gone_on_with_by_one_writer() {
    let (_guard, store) = store();
    let id = keep(&store, "10:00:00", Status::Interrupted, None);
    let (mut writer, mut run, detail) = store.resume("last").unwrap();
    assert_eq!((writer.id(), run.id.as_str()), (id.as_str(), id.as_str()));
    assert!(matches!(store.resume(&id), Err(StoreError::StillRunning { .. })));
    run.status = Status::Complete;
    writer.save(&run, &detail).unwrap();
    drop(writer);
    assert_eq!(store.load(&id).unwrap().0.status, Status::Complete);
    assert!(matches!(store.resume("20250101"), Err(StoreError::NotFound { .. })));
}

#[test]
fn the_list_is_newest_first_and_obeys_the_filter() {
    let (_guard, store) = store();
    let a = keep(&store, "10:00:00", Status::Complete, Some("before"));
    let b = keep(&store, "12:00:00", Status::Failed, None);
    let c = keep(&store, "11:00:00", Status::Complete, Some("after"));
    let ids = |filter: Filter| -> Vec<String> {
        store.list(&filter).unwrap().runs.into_iter().map(|e| e.id).collect()
    };
    let all = Filter::default();
    assert_eq!(ids(all.clone()), [b.clone(), c.clone(), a.clone()]);
    assert_eq!(ids(Filter { limit: Some(2), ..all.clone() }), [b.clone(), c.clone()]);
    assert_eq!(ids(Filter { label: Some("before".into()), ..all.clone() }), [a]);
    assert_eq!(
        ids(Filter { state: Some(RunState::Failed), ..all.clone() }),
        std::slice::from_ref(&b)
    );
    assert_eq!(ids(Filter { target: Some("st2000".into()), ..all.clone() }).len(), 3);
    assert_eq!(ids(Filter { target: Some("nvme".into()), ..all.clone() }).len(), 0);
    assert_eq!(ids(Filter { kind: Some(RunKind::Bench), ..all.clone() }).len(), 0);
    // They are invalid, all three, and of one target.
    assert_eq!(ids(Filter { newest: true, ..all.clone() }), std::slice::from_ref(&b));
    let [at, later] =
        ["2026-11-20", "2027-11-20"].map(|day| format!("{day}T00:00:00Z").parse().ok());
    assert_eq!(ids(Filter { since: at, ..all.clone() }).len(), 3);
    assert_eq!(ids(Filter { since: later, ..all }).len(), 0);
}

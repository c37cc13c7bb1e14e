//! What is kept, found, shown and learned.

use super::*;
use crate::{ExperimentStore, Noise, check_metric, default_metric, forecast, text};
use jiff::Timestamp;
use seekwell_io::workload::Rw;
use seekwell_sys::{Class, Classified};

fn place() -> (tempfile::TempDir, ExperimentStore) {
    let dir = tempfile::tempdir().unwrap();
    let place = ExperimentStore::beside(&dir.path().join("runs"));
    (dir, place)
}

fn now() -> Timestamp {
    "2026-11-20T23:15:02Z".parse().unwrap()
}

fn kept(place: &ExperimentStore, status: Status) -> String {
    let mut folder = place.create(now()).unwrap();
    let mut document = document(1);
    document.id = folder.id().to_owned();
    document.status = status;
    folder.save(&document).unwrap();
    folder.id().to_owned()
}

#[test]
fn experiments_lie_beside_the_runs_and_never_beside_a_folder_a_person_named() {
    let dir = |runs: &str| {
        ExperimentStore::beside(std::path::Path::new(runs)).dir().display().to_string()
    };
    assert_eq!(dir("/d/seekwell/runs"), "/d/seekwell/experiments");
    assert_eq!(dir("/tmp/mine"), "/tmp/mine/experiments");
}

#[test]
fn experiments_can_be_read_by_their_owner_only_also_those_of_earlier_versions() {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    let (_dir, place) = place();
    let folder = place.dir().join(kept(&place, Status::Complete));
    place.keep_noise(&Noise::default()).unwrap();
    let all = [place.dir().to_owned(), folder.clone(), folder.join("experiment.json")];
    let modes = || all.each_ref().map(|p| metadata(p).unwrap().permissions().mode() & 0o777);
    assert_eq!(modes(), [0o700, 0o700, 0o600]);
    for path in &all {
        set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    kept(&place, Status::Complete);
    assert_eq!(modes(), [0o700, 0o700, 0o700]);
    let noise = metadata(place.dir().join("noise.json")).unwrap();
    assert_eq!(noise.permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_experiment_is_found_by_id_beginning_end_file_and_as_the_newest_that_can_go_on() {
    let (_dir, place) = place();
    let done = kept(&place, Status::Complete);
    let open = kept(&place, Status::Interrupted);
    for name in [open.as_str(), &open[open.len() - 4..]] {
        assert_eq!(place.open(Some(name)).unwrap().1.id, open, "{name}");
    }
    let file = place.dir().join(&done).join("experiment.json");
    assert_eq!(place.open(file.to_str()).unwrap().1.id, done);
    assert_eq!(place.open(None).unwrap().1.id, open);
    let error = place.open(Some("nope")).unwrap_err();
    assert!(error.class() == Class::Usage && error.to_string().contains(&open), "{error}");
    let both = place.open(Some("20261120")).unwrap_err();
    assert!(matches!(both, ExperimentError::Ambiguous { .. }), "{both}");
}

#[test]
fn two_processes_never_make_one_experiment() {
    let (_dir, place) = place();
    let id = kept(&place, Status::Interrupted);
    let first = place.open(Some(&id)).unwrap();
    assert!(matches!(place.open(Some(&id)), Err(ExperimentError::Busy { .. })));
    drop(first);
    place.open(Some(&id)).unwrap();
}

#[test]
fn damaged_foreign_and_newer_files_are_told_apart() {
    let (_dir, place) = place();
    let id = kept(&place, Status::Interrupted);
    let file = place.dir().join(&id).join("experiment.json");
    let whole = std::fs::read_to_string(&file).unwrap();
    let with = |text: &str| {
        std::fs::write(&file, text).unwrap();
        place.open(Some(&id)).unwrap_err()
    };
    let cut = with(&whole[..whole.len() / 2]);
    assert!(matches!(cut, ExperimentError::Damaged { .. }), "{cut}");
    let newer = with(&whole.replace("seekwell/experiment/1", "seekwell/experiment/2"));
    assert!(matches!(newer, ExperimentError::Newer { .. }), "{newer}");
    let foreign = with("{\"schema\":\"seekwell/run/1\"}");
    assert!(matches!(foreign, ExperimentError::Damaged { .. }), "{foreign}");
    let wrong_type = with(&whole.replace("\"runs\": []", "\"runs\": 7"));
    assert!(matches!(wrong_type, ExperimentError::Damaged { .. }), "{wrong_type}");
}

#[test]
fn a_self_test_teaches_how_long_an_answer_takes() {
    let (_dir, place) = place();
    let mut self_test = document(2);
    self_test.design.aa = true;
    self_test.b = self_test.a.clone();
    session(&mut self_test, &mut Virtual::new(1.0, 0.04, 1.0), &mut Nowhere);
    let mut noise = place.noise().unwrap();
    assert!(noise.floors.is_empty());
    assert!(noise.learn(&self_test) && noise.learn(&self_test));
    assert_eq!(noise.floors.len(), 1, "the newer one replaces the older");
    // Difference of two means of two runs each: as noisy as one run.
    let sd = noise.floors[0].sd["read.requests_per_s"];
    assert!((0.025..0.06).contains(&sd), "{sd}");
    place.keep_noise(&noise).unwrap();
    let noise: Noise = place.noise().unwrap();
    let later = document(3);
    let (a, b) = (&later.a.job, &later.b.job);
    let told = forecast(&noise, "null null", &later.design, a, b).expect("it is known");
    assert!(told.same_workload && (20..=40).contains(&told.blocks), "{told:?}");
    let each = 4.0 * 1.1;
    assert!((told.seconds - f64::from(told.blocks) * each).abs() < 1e-6, "{told:?}");
    assert_eq!(forecast(&noise, "disk other", &later.design, a, b), None);
    assert!(!noise.clone().learn(&later), "only a finished self-test says something");
}

#[test]
fn the_result_fits_a_terminal_of_80_columns_and_has_the_verdict_on_top() {
    for (effect, noise, says) in
        [(1.05, 0.01, "B is faster by "), (1.0, 0.001, "No difference"), (1.0, 0.1, "Undecided")]
    {
        let mut document = document(1);
        document.a.settings =
            vec![Setting { key: "scheduler".to_owned(), value: "none".to_owned() }];
        session(&mut document, &mut Virtual::new(effect, noise, 1.0), &mut Nowhere);
        let page = text::result(&document, 80);
        assert!(page.starts_with(says), "{page}");
        let widest = page.lines().map(|l| l.chars().count()).max().unwrap();
        assert!(widest <= 80, "{widest} columns:\n{page}");
        for part in ["scheduler=none", "iodepth=32", "ABBA", "BAAB", "Checked", "Again:"] {
            assert!(page.contains(part), "{part} is missing in\n{page}");
        }
    }
}

#[test]
fn words_of_a_command_line_are_quoted_where_a_shell_would_change_them() {
    let words = ["seekwell", "--a-cmd", "mount -o remount,noatime /x", "it's", ""];
    let line = text::command(&words.map(str::to_owned));
    assert_eq!(line, r"seekwell --a-cmd 'mount -o remount,noatime /x' 'it'\''s' ''");
}

#[test]
fn metrics_are_known_by_name_and_chosen_by_what_the_arms_do() {
    assert!(check_metric("read.latency_ns_p99").is_ok());
    let error = check_metric("read.latency_p99").unwrap_err();
    assert_eq!(error.nearest, "read.latency_ns_p99");
    let reads = PlainJob::default();
    let writes = PlainJob { rw: Rw::RandWrite, ..PlainJob::default() };
    let large = PlainJob { block_bytes: 1 << 20, ..PlainJob::default() };
    let timed = PlainJob { rate_iops: Some(100.0), ..PlainJob::default() };
    assert_eq!(default_metric(&reads, &reads), "read.requests_per_s");
    assert_eq!(default_metric(&writes, &writes), "write.requests_per_s");
    assert_eq!(default_metric(&reads, &large), "read.rate_bytes_per_s");
    assert_eq!(default_metric(&timed, &timed), "read.response_ns_p99");
}

#[test]
fn one_that_is_being_made_is_read_and_shown_as_running_and_as_killed_when_nobody_holds_it() {
    let (_dir, place) = place();
    let id = kept(&place, Status::Running);
    let (folder, document) = place.open(Some(&id)).unwrap();
    assert_eq!(place.read(&id).unwrap(), document);
    assert_eq!(place.state(&document), "running");
    drop(folder);
    assert_eq!(place.state(&document), "killed");
    assert!(place.saved_at(&id).is_some());
    for wrong in ["20200101-000000-experiment-0000", "../experiments", ""] {
        assert!(matches!(place.read(wrong), Err(crate::ExperimentError::NotFound { .. })));
        assert_eq!(place.saved_at(wrong), None);
    }
}

#[test]
fn histograms_of_every_run_are_kept_and_a_block_made_anew_takes_the_place_of_the_old() {
    let (_dir, place) = place();
    let mut folder = place.create(now()).unwrap();
    let mut document = document(5);
    document.id = folder.id().to_owned();
    document.design.blocks = Some(8);
    let mut machine = Virtual::new(1.0, 0.01, 1.0);
    machine.stop_in = Some(6);
    session(&mut document, &mut machine, &mut folder);
    assert_eq!(document.status, Status::Interrupted);
    drop(folder);
    let (mut folder, mut document) = place.open(Some(&document.id)).unwrap();
    machine.stop.store(false, std::sync::atomic::Ordering::Relaxed);
    session(&mut document, &mut machine, &mut folder);
    let kept = place.detail(&document.id).unwrap().repeats;
    let numbers: Vec<u32> = kept.iter().map(|r| r.repeat).collect();
    assert_eq!(numbers, (0..32).collect::<Vec<_>>());
    let letters = document.runs.iter().map(|r| format!("{:?}", r.arm).to_lowercase());
    assert!(kept.iter().map(|r| r.phase.clone()).eq(letters), "each under its arm");
    assert!(matches!(place.detail("../x"), Err(ExperimentError::NotFound { .. })));
}

//! `seekwell bench --suite` as it is typed: what it prints, keeps, refuses and leaves behind.

use std::path::Path;
use std::process::{Command, Output};

fn bench(runs: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seekwell"));
    command.arg("--runs-dir").arg(runs).arg("bench").args(args);
    command.output().expect("the program starts")
}

fn words(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

#[test]
fn the_list_names_every_suite_with_what_can_be_set() {
    let runs = tempfile::tempdir().unwrap();
    let listed = bench(runs.path(), &["--suite", "list"]);
    assert_eq!(listed.status.code(), Some(0));
    let text = words(&listed.stdout);
    for known in ["hdparm: ", "fs: ", "fsmark: ", "threaded: ", "defined by", "cache=drop"] {
        assert!(text.contains(known), "{known} is not in {text}");
    }
    let json = bench(runs.path(), &["--suite", "list", "--json"]);
    assert!(words(&json.stdout).contains("\"seekwell/suites/1\""));
}

#[test]
fn what_makes_no_sense_ends_with_2_and_one_sentence_and_keeps_nothing() {
    let place = tempfile::tempdir().unwrap();
    let (runs, dir) = (place.path().join("runs"), place.path().display().to_string());
    let file = place.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let file = file.display().to_string();
    let cases: [&[&str]; 6] = [
        &["--suite", "bonnie", "--on", &dir],
        &["--suite", "fs"],
        &["--suite", "fs", "--on", &file],
        &["--suite", "fs", "--on", &dir, "--set", "files=none"],
        &["--suite", "fs", "--on", &dir, "--set", "colour=red"],
        &["--suite", "fsmark", "--on", &dir, "--format", "bonnie-csv"],
    ];
    for args in cases {
        let ended = bench(&runs, args);
        let said = words(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{args:?}: {said}");
        assert_eq!(said.trim().lines().count(), 1, "{args:?}: {said}");
        assert!(!runs.exists(), "{args:?}");
    }
}

#[test]
fn a_directory_without_room_or_without_leave_to_write_is_refused_with_3() {
    let runs = tempfile::tempdir().unwrap();
    let room = tempfile::tempdir().unwrap();
    let dir = room.path().display().to_string();
    let full = bench(runs.path(), &["--suite", "fs", "--on", &dir, "--set", "size=900t"]);
    assert_eq!(full.status.code(), Some(3), "{}", words(&full.stderr));
    assert!(words(&full.stderr).contains("too little room"), "{}", words(&full.stderr));
    // sysfs takes no directories of anybody.
    let denied = bench(runs.path(), &["--suite", "fsmark", "--quick", "--on", "/sys/kernel"]);
    assert_eq!(denied.status.code(), Some(3), "{}", words(&denied.stderr));
    assert_eq!(std::fs::read_dir(room.path()).unwrap().count(), 0);
}

#[test]
fn a_run_of_a_suite_is_kept_and_shown_like_any_other() {
    let runs = tempfile::tempdir().unwrap();
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("disk");
    std::fs::write(&file, vec![7; 4 << 20]).unwrap();
    let on = file.display().to_string();
    let args = ["--suite", "hdparm", "--quick", "--on", &on, "--repeats", "2", "--label", "mine"];
    let ended = bench(runs.path(), &args);
    assert_eq!(ended.status.code(), Some(0), "{}", words(&ended.stderr));
    let text = words(&ended.stdout);
    assert!(text.contains("device reads (-t)") && text.contains("MB/s"), "{text}");
    let mut show = Command::new(env!("CARGO_BIN_EXE_seekwell"));
    let kept = show.arg("--runs-dir").arg(runs.path()).args(["runs", "show", "last", "--json"]);
    let kept = words(&kept.output().unwrap().stdout);
    for key in ["\"suite\": \"hdparm\"", "\"label\": \"mine\"", "\"read_bytes_per_s\""] {
        assert!(kept.contains(key), "{key} is not in {kept}");
    }
}

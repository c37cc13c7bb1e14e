//! `seekwell bench --suite` as it is typed: what it prints, keeps, refuses and leaves behind.

use crate::common::{self, Mounted, names};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const GIB: u64 = 1 << 30;

/// Every suite, with values that make it write for longer than filling a disk takes.
const SUITES: [(&str, &[&str]); 9] = [
    ("hdparm", &["size=1g"]),
    ("fs", &["size=1g"]),
    ("fsmark", &["files=2000", "size=512k"]),
    ("commit", &["size=64m", "threads=8", "runtime=20000"]),
    ("threaded", &["size=256m"]),
    ("sqlite", &["seconds=20"]),
    ("web", &["pages=5000", "largest=1m"]),
    ("blog", &["size=1g", "intervals=60"]),
    ("storagemark", &["size=1g"]),
];

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
    let listed = bench(runs.path(), &["--suite", "list", "--full"]);
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

/// The words that run a suite in its quick form.
fn words_of<'a>(suite: &'a str, on: &'a str, set: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["--suite", suite, "--quick", "--on", on];
    set.iter().for_each(|value| args.extend(["--set", value]));
    args
}

/// Ended with this status, one sentence with these words, and nothing left in the directory.
fn refused(suite: &str, ended: &Output, status: i32, said: &str, dir: &Path) {
    let text = words(&ended.stderr);
    assert_eq!(ended.status.code(), Some(status), "{suite}: {text}");
    assert_eq!(text.trim().lines().count(), 1, "{suite}: {text}");
    assert!(text.contains(said), "{suite}: {text}");
    let left = names(dir).into_iter().filter(|name| name != "lost+found" && name != "filler");
    assert_eq!(left.collect::<Vec<_>>(), Vec::<String>::new(), "{suite}");
}

#[test]
fn every_suite_refuses_a_target_it_cannot_work_on() {
    let (runs, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = place.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let [file, missing] =
        [file.clone(), place.path().join("missing")].map(|path| path.display().to_string());
    for (suite, _) in SUITES {
        for target in [file.as_str(), missing.as_str(), "null"] {
            let ended = bench(runs.path(), &words_of(suite, target, &[]));
            let said = words(&ended.stderr);
            assert_eq!(ended.status.code(), Some(2), "{suite} {target}: {said}");
            assert_eq!(said.trim().lines().count(), 1, "{suite} {target}: {said}");
        }
        // sysfs takes no directories of anybody.
        let ended = bench(runs.path(), &words_of(suite, "/sys/kernel", &[]));
        assert_eq!(ended.status.code(), Some(3), "{suite}: {}", words(&ended.stderr));
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"x");
    assert_eq!(names(place.path()), ["file"]);
}

#[test]
fn every_suite_refuses_a_file_system_that_is_read_only_or_has_no_room_or_inodes() {
    let Some(disk) = Mounted::of_few_files(3 * GIB) else { return };
    let (runs, dir) = (tempfile::tempdir().unwrap(), disk.point.as_path());
    let on = dir.display().to_string();
    let filler = dir.join("filler");
    let each = |status, said: &str| {
        for (suite, set) in SUITES {
            let ended = bench(runs.path(), &words_of(suite, &on, set));
            refused(suite, &ended, status, said, dir);
        }
    };
    fill(&File::create(&filler).unwrap());
    each(3, "too little room");
    std::fs::remove_file(&filler).unwrap();
    std::fs::create_dir(&filler).unwrap();
    let mut made = 0;
    while File::create_new(filler.join(format!("{made}"))).is_ok() {
        made += 1;
    }
    each(3, "has room for 0 more files");
    std::fs::remove_dir_all(&filler).unwrap();
    disk.make_read_only();
    each(3, "read-only");
}

/// Takes what is free.
fn fill(filler: &File) {
    for shift in (12..=30).rev() {
        let more = || {
            let end = filler.metadata().unwrap().len();
            rustix::fs::fallocate(filler, rustix::fs::FallocateFlags::empty(), end, 1 << shift)
        };
        while more().is_ok() {}
    }
}

#[test]
fn every_suite_that_finds_its_disk_full_in_the_middle_says_so_and_leaves_nothing() {
    for (suite, set) in SUITES {
        let Some(disk) = Mounted::ext4(3 * GIB, "rw") else { return };
        let (runs, dir) = (tempfile::tempdir().unwrap(), disk.point.as_path());
        let on = dir.display().to_string();
        let mut command = Command::new(env!("CARGO_BIN_EXE_seekwell"));
        command.arg("--runs-dir").arg(runs.path()).arg("bench").args(words_of(suite, &on, set));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let begun = || names(dir).iter().any(|name| name != "lost+found" && has_files(dir, name));
        common::wait_for("the suite's directory", begun);
        let filler = File::create(dir.join("filler")).unwrap();
        while child.try_wait().unwrap().is_none() {
            fill(&filler);
            std::thread::sleep(Duration::from_millis(5));
        }
        let ended = child.wait_with_output().unwrap();
        refused(suite, &ended, 3, "is full", dir);
    }
}

fn has_files(dir: &Path, name: &str) -> bool {
    // It may be gone again: the program tries the directory before it begins.
    std::fs::read_dir(dir.join(name)).is_ok_and(|mut entries| entries.next().is_some())
}

/// Serves this many pages of a directory, then stops.
fn serve(listener: &TcpListener, dir: &Path, pages: u32) {
    for _ in 0..pages {
        let (stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).unwrap();
        let path = line.split(' ').nth(1).unwrap().trim_start_matches('/').to_owned();
        answer(&stream, &dir.join(path));
    }
}

fn answer(mut stream: &TcpStream, path: &PathBuf) {
    let page = std::fs::read(path).unwrap();
    let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", page.len());
    stream.write_all(&[head.as_bytes(), &page].concat()).unwrap();
}

#[test]
fn a_server_that_dies_in_the_middle_ends_the_suite_with_4_and_how_many_pages_came() {
    let Some(place) = common::Place::with_room(64 << 20) else { return };
    let runs = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("server=http://{}", listener.local_addr().unwrap());
    let dir = place.path().to_path_buf();
    let dies = std::thread::spawn(move || serve(&listener, &dir, 50));
    let on = place.path().display().to_string();
    let set = [server.as_str(), "pages=5", "seconds=30", "concurrency=1", "cache=warm"];
    let ended = bench(runs.path(), &words_of("web", &on, &set));
    dies.join().unwrap();
    refused("web", &ended, 4, "after 50 pages", place.path());
}

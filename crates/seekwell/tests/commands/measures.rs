//! What the program measures, keeps and prints, and how it behaves when it is stopped.

use crate::common::{self, Place, names, run, seekwell, signal, skip, tool, wait_for};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Room for one file of `--size=64M`.
const ROOM: u64 = 64 << 20;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn the_null_target_gives_one_json_document_and_nothing_else() {
    let home = home();
    let document =
        run(home.path(), &["bench", "--on", "null", "--iodepth=32", "--runtime=600ms", "--json"])
            .ends(0)
            .json();
    assert_eq!(document["schema"], "seekwell/run/1");
    assert_eq!(document["modelled"], false);
    assert_eq!(document["status"], "complete");
    let metrics = &document["phases"][0]["metrics"];
    assert!(number(&metrics["read.requests_per_s"]["median"]) > 1e5);
    assert!(number(&metrics["cpu_ns_per_request"]["median"]) > 0.0);
    // Whatever the kernel said of this machine's disks, none of them took part.
    let of_a_log = |finding: &Value| finding["id"].as_str().unwrap().starts_with("SW-LOG");
    assert!(!document["findings"].as_array().unwrap().iter().any(of_a_log), "{document}");
}

#[test]
fn reads_of_a_temporary_file_reach_the_device_and_leave_nothing_behind() {
    let Some(dir) = Place::with_room(ROOM) else { return };
    let home = home();
    let path = dir.path().to_str().unwrap();
    let args = ["bench", "--on", path, "--size=64M", "--iodepth=8", "--runtime=1s", "--json"];
    let document = run(home.path(), &args).ends(0).json();
    let read = &document["phases"][0]["repeats"][0]["ops"]["read"];
    let (requests, bytes) = (number(&read["requests"]), number(&read["bytes"]));
    assert!(requests > 100.0 && bytes == requests * 4096.0);
    // What Little's law says of any closed loop: depth = rate × latency.
    let rate = number(&read["requests_per_s"]);
    let in_flight = rate * number(&read["latency"]["ns_mean"]) / 1e9;
    assert!((in_flight - 8.0).abs() < 0.8, "{in_flight} requests in flight on average");
    assert_eq!(names(dir.path()), [""; 0]);
    if document["medium"]["direct"] == true {
        let device = &document["phases"][0]["repeats"][0]["device"];
        // Where the disk is nearly full, the place is a file, which the page cache has.
        let below = document["inspection"]["device"]["name"].as_str().unwrap_or_default();
        let cached = device.is_null() || below.starts_with("loop");
        assert!(cached || number(&device["share"]) > 0.9, "{below}: {device}");
    }
}

#[test]
fn the_size_counts_from_the_offset_as_in_fio() {
    // `--offset=64m --size=64m` made a file of 64 MiB and had no room left in it.
    let Some(dir) = Place::with_room(2 * ROOM) else { return };
    let (home, path) = (home(), dir.path().to_str().unwrap());
    let args = ["bench", "--on", path, "--offset=64M", "--size=64M", "--runtime=600ms", "--json"];
    let document = run(home.path(), &args).ends(0).json();
    let workload = &document["phases"][0]["workload"];
    assert_eq!(workload["offset_bytes"], 64 << 20);
    assert_eq!(workload["region_bytes"], 64 << 20);
    assert_eq!(document["medium"]["size_bytes"], 128 << 20);
}

#[test]
fn a_kept_run_is_listed_shown_reported_and_removed() {
    let home = home();
    let args = ["bench", "--on", "null", "--runtime=600ms", "--label", "first", "--json"];
    let id = run(home.path(), &args).json()["id"].as_str().unwrap().to_owned();
    let listed = run(home.path(), &["runs", "list", "--json"]).json();
    assert_eq!(listed["runs"][0]["id"], id.as_str());
    assert_eq!(listed["runs"][0]["label"], "first");
    assert!(run(home.path(), &["runs", "list"]).out.contains(&id));
    assert!(run(home.path(), &["runs", "show", "last"]).out.contains("random read 4 KiB"));
    let page = home.path().join("page.html");
    run(home.path(), &["report", "last", "-o", page.to_str().unwrap()]).ends(0);
    assert!(std::fs::read_to_string(&page).unwrap().contains("<html"));
    assert!(run(home.path(), &["report", "last", "--markdown"]).out.contains("random read 4 KiB"));
    assert_eq!(run(home.path(), &["runs", "reindex"]).status, 0);
    assert_eq!(run(home.path(), &["runs", "remove", &id]).status, 0);
    assert_eq!(run(home.path(), &["runs", "list", "--json"]).json()["runs"], Value::Array(vec![]));
    assert_eq!(run(home.path(), &["runs", "show", &id]).status, 2);
}

#[test]
fn one_kept_run_survives_kill_9_and_its_temporary_file_does_not() {
    let Some(dir) = Place::with_room(ROOM) else { return };
    let home = home();
    let mut child = seekwell(home.path())
        .args(["checkup", "--quick", "--size=64M"])
        .arg(dir.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let runs = home.path().join("runs");
    let saved =
        || runs.is_dir() && names(&runs).iter().any(|n| runs.join(n).join("run.json").exists());
    wait_for("the first phase being saved", saved);
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = run(home.path(), &["runs", "list", "--json"]).json();
    assert_eq!(listed["runs"][0]["state"], "killed");
    let shown = run(home.path(), &["runs", "show", "last", "--json"]).json();
    let phases = shown["phases"].as_array().unwrap();
    assert!(phases.iter().any(|p| !p["repeats"].as_array().unwrap().is_empty()));
    // Whatever the file system made us leave, the next start removes.
    let again = ["bench", "--size=64M", "--runtime=600ms", "--on", dir.path().to_str().unwrap()];
    assert_eq!(run(home.path(), &again).status, 0);
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn interrupted_by_any_signal_it_drains_keeps_what_is_done_and_exits_130() {
    for name in ["INT", "TERM", "HUP"] {
        let Some(dir) = Place::with_room(ROOM) else { return };
        let home = home();
        let child = seekwell(home.path())
            .args(["bench", "--size=4M", "--runtime=60s", "--iodepth=4", "--numjobs=2", "--json"])
            .arg("--on")
            .arg(dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // What the engine itself costs is measured before, by one thread.
        common::wait_for_threads(&child, "measure", 2);
        // Requests are outstanding by then, unless the machine is busy; it ends the same way.
        std::thread::sleep(Duration::from_millis(300));
        signal(&child, name);
        let ran = common::done(child.wait_with_output().unwrap());
        assert_eq!(ran.status, 130, "{name}: {}", ran.err);
        assert_eq!(ran.json()["status"], "interrupted", "{name}");
        assert_eq!(names(dir.path()), [""; 0], "{name}");
        let listed = run(home.path(), &["runs", "list", "--json"]).json();
        assert_eq!(listed["runs"][0]["state"], "interrupted", "{name}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let home = home();
    let mut child = seekwell(home.path())
        .args(["inspect", ".", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
}

#[test]
fn the_thread_pool_measures_what_io_uring_measures() {
    let Some(dir) = Place::with_room(ROOM) else { return };
    let home = home();
    for engine in ["io_uring", "threads"] {
        let path = dir.path().to_str().unwrap();
        let args = ["bench", "--on", path, "--size=64M", "--iodepth=4", "--runtime=600ms"];
        let ran = run(home.path(), &[&args[..], &["--engine", engine, "--json"]].concat());
        if engine == "io_uring" && ran.status == 3 {
            return skip(&ran.err);
        }
        assert_eq!(ran.status, 0, "{}", ran.err);
        let document = ran.json();
        assert_eq!(document["engine"]["name"], engine);
        assert!(number(&document["phases"][0]["metrics"]["read.requests_per_s"]["median"]) > 0.0);
    }
}

#[test]
fn an_error_of_the_device_makes_the_measurement_invalid_and_is_named() {
    // A loop device whose file was cut short under it answers reads past the cut with EIO.
    let Some(disk) = common::Loop::new(64 << 20) else { return };
    std::fs::File::options().write(true).open(&disk.backing).unwrap().set_len(1 << 20).unwrap();
    let home = home();
    let document = run(home.path(), &["bench", "--on", &disk.device, "--runtime=600ms", "--json"])
        .ends(4)
        .json();
    assert!(!document["invalid"].as_array().unwrap().is_empty());
    let failure = &document["phases"][0]["repeats"][0]["failure"];
    assert_eq!(failure["kind"]["errno"], 5, "{failure}");
    let ids: Vec<_> = document["findings"].as_array().unwrap().iter().map(|f| &f["id"]).collect();
    assert!(ids.iter().any(|id| **id == "SW-IO-001"), "{ids:?}");
}

#[test]
fn inspect_names_a_loop_device_and_a_memory_file_system_for_what_they_are() {
    let home = home();
    if Path::new("/dev/shm").is_dir() {
        let found = run(home.path(), &["inspect", "/dev/shm", "--json"]).json();
        assert_eq!(found["filesystem"]["fstype"]["value"], "tmpfs");
        assert!(
            found["notes"]
                .as_array()
                .unwrap()
                .iter()
                .any(|n| n.as_str().unwrap().contains("memory"))
        );
    }
    let Some(disk) = common::Loop::new(1 << 20) else { return };
    let found = run(home.path(), &["inspect", &disk.device, "--json"]).json();
    assert_eq!(found["device"]["kind"], "loop");
    let role = found["device"]["role"]["value"].as_str().unwrap();
    assert_eq!(role, disk.backing.to_str().unwrap());
}

#[test]
fn hung_writes_end_at_the_second_signal() {
    // A frozen file system under a loop device: direct writes to it wait until it is thawed.
    let Some(outer) = common::Mounted::ext4(256 << 20, "rw") else { return };
    let image = outer.point.join("inner.img");
    std::fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
    let Some(device) = tool("losetup", &["--find", "--show", image.to_str().unwrap()]) else {
        return skip("no second loop device");
    };
    let device = device.trim().to_owned();
    struct Thaw(String, String);
    impl Drop for Thaw {
        fn drop(&mut self) {
            tool("fsfreeze", &["--unfreeze", &self.0]);
            tool("losetup", &["--detach", &self.1]);
        }
    }
    let before = common::counters(&device)[4];
    let home = home();
    let mut child = seekwell(home.path())
        .args(["bench", "--rw=randwrite", "--runtime=60s", "--on", &device, "--no-keep"])
        .args(["--destroy", image.to_str().unwrap()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("a hundred writes", || common::counters(&device)[4] > before + 100);
    let frozen = tool("fsfreeze", &["--freeze", outer.point.to_str().unwrap()]);
    let thaw = Thaw(outer.point.to_str().unwrap().to_owned(), device);
    if frozen.is_none() {
        let _ = child.kill();
        let _ = child.wait();
        return skip("fsfreeze does not work here");
    }
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "the first signal waits for what is outstanding");
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(3500));
    drop(thaw);
    let mut status = None;
    wait_for("the end", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(status.unwrap().code(), Some(130));
}

#[test]
fn discards_reach_a_device_only_with_its_serial_and_are_counted_as_such() {
    let Some(disk) = common::Loop::new(64 << 20) else { return };
    let (home, serial) = (home(), disk.backing.to_str().unwrap());
    std::fs::write(&disk.backing, vec![0; 64 << 20]).unwrap();
    let bench = |rw: &str, more: &[&str]| {
        let rw = format!("--rw={rw}");
        let mut args = vec!["bench", &rw, "--on", &disk.device, "--bs=64k", "--iodepth=4"];
        args.extend(["--runtime=600ms", "--no-keep", "--json"]);
        args.extend(more);
        run(home.path(), &args)
    };
    let blocks = || {
        use std::os::unix::fs::MetadataExt;
        tool("sync", &[]);
        std::fs::metadata(&disk.backing).unwrap().blocks()
    };
    let full = blocks();
    for rw in ["trim", "randtrim", "trimwrite", "randtrimwrite"] {
        let refused = bench(rw, &[]);
        assert_eq!((refused.status, refused.out.as_str()), (3, ""), "{}", refused.err);
    }
    assert_eq!(blocks(), full, "nothing was discarded");
    for (rw, writes) in [("trim", false), ("randtrim", false), ("randtrimwrite", true)] {
        let ran = bench(rw, &["--destroy", serial]);
        assert_eq!(ran.status, 0, "{rw}: {}", ran.err);
        let document = ran.json();
        let phase = &document["phases"][0];
        let count = |op: &str| phase["repeats"][0]["ops"][op]["requests"].as_u64().unwrap_or(0);
        assert!(count("discard") > 10 && count("read") == 0, "{rw}: {phase}");
        assert_eq!(count("write") > 10, writes, "{rw}: {phase}");
        assert!(number(&phase["metrics"]["discard.requests_per_s"]["median"]) > 10.0);
        let which = if writes { "before-writes" } else { "all" };
        assert_eq!(phase["workload"]["discards"], which, "{rw}");
        if rw == "trim" {
            // Blocks of 512 bytes, from the start of the device on.
            let gone = (count("discard") * 128).min(full);
            assert!(blocks() <= full - gone + 1024, "{} of {full} left, {gone} gone", blocks());
        }
    }
}

#[test]
fn discards_of_a_temporary_file_and_of_a_modelled_disk_are_measured() {
    let Some(dir) = Place::with_room(ROOM) else { return };
    let home = home();
    let folder = dir.path().to_str().unwrap();
    for (target, rw) in [(folder, "randtrim"), (folder, "trimwrite"), ("sata-ssd.toml", "randtrim")]
    {
        let rw = format!("--rw={rw}");
        let args = ["bench", &rw, "--on", target, "--size=64M", "--runtime=600ms", "--json"];
        let ran = run(home.path(), &args);
        assert_eq!(ran.status, 0, "{target}: {}", ran.err);
        let metrics = &ran.json()["phases"][0]["metrics"];
        assert!(number(&metrics["discard.requests_per_s"]["median"]) > 1.0, "{target}");
    }
    assert_eq!(names(dir.path()), Vec::<String>::new());
}

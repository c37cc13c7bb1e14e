//! Limits of the process and of the disk: what they stop is said with the limit and the command
//! that raises it, and nothing is left behind.

use crate::common::{self, Loop, Mounted, Place, Ran, done, is_root, names, seekwell, skip};
use std::fs;
use std::path::Path;
use std::process::Command;

const MIB: u64 = 1 << 20;

/// Runs the program under another that sets limits; `None` if that is not installed.
fn under(wrapper: &[&str], home: &Path, args: &[&str]) -> Option<Ran> {
    let program = seekwell(home);
    let mut command = Command::new(wrapper[0]);
    command.args(&wrapper[1..]).arg(program.get_program()).args(args);
    command.envs(program.get_envs().filter_map(|(key, value)| Some((key, value?))));
    match command.output() {
        Ok(output) => Some(done(output)),
        Err(error) => {
            skip(&format!("{}: {error}", wrapper[0]));
            None
        }
    }
}

#[test]
fn without_memory_to_lock_auto_measures_with_threads_and_says_why() {
    // `ulimit -l 0` ended with "io_uring_setup failed".
    let no_memory =
        ["prlimit", "--memlock=0:0", "setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"];
    if !is_root() {
        return skip("only root can give up CAP_IPC_LOCK");
    }
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("disk.img");
    fs::write(&file, vec![1; MIB as usize]).unwrap();
    let bench = ["bench", "--runtime=600ms", "--no-keep", "--json", "--on", file.to_str().unwrap()];
    let Some(auto) = under(&no_memory, home.path(), &bench) else { return };
    if !auto.err.contains("ulimit -l") {
        return skip("this kernel does not count the memory of rings");
    }
    assert_eq!(auto.status, 0, "{}", auto.err);
    assert!(auto.err.contains("lock 0 KiB"), "{}", auto.err);
    assert_eq!(auto.json()["engine"]["name"], "threads");
    assert!(auto.json()["engine"]["notice"].as_str().unwrap().contains("ulimit -l 1024"));
    let insisting = [&bench[..], &["--engine=io_uring"]].concat();
    let ran = under(&no_memory, home.path(), &insisting).unwrap().ends(3);
    assert!(ran.err.contains("`ulimit -l 1024`"), "{}", ran.err);
}

#[test]
fn a_file_size_limit_is_an_error_that_leaves_nothing_behind() {
    // SIGXFSZ killed the program and left its files.
    let Some(place) = Place::with_room(64 * MIB) else { return };
    let home = tempfile::tempdir().unwrap();
    let dir = place.path().join("target");
    fs::create_dir(&dir).unwrap();
    let (target, saved) = (dir.to_str().unwrap(), home.path().join("snapshot"));
    let limit = ["prlimit", "--fsize=20480"];
    for args in [
        &["bench", "--quick", "--no-keep", "--suite=fs", "--on", target][..],
        &["bench", "--quick", "--no-keep", "--suite=sqlite", "--on", target],
        &["bench", "--quick", "--no-keep", "--suite=web", "--on", target],
        &["inspect", target, "--save", saved.to_str().unwrap()],
    ] {
        let Some(ran) = under(&limit, home.path(), args) else { return };
        assert_eq!(ran.status, 3, "{args:?}: {}", ran.err);
        assert!(ran.err.contains("at most 20 KiB (`ulimit -f`)"), "{args:?}: {}", ran.err);
        assert_eq!(names(&dir), Vec::<String>::new(), "{args:?}");
        assert_eq!(names(home.path()), Vec::<String>::new(), "{args:?}");
    }
}

#[test]
fn a_run_that_the_file_size_limit_keeps_from_being_kept_is_no_success() {
    let home = tempfile::tempdir().unwrap();
    let bench = ["bench", "--on=null", "--runtime=1s"];
    let Some(ran) = under(&["prlimit", "--fsize=1024"], home.path(), &bench) else { return };
    assert!([3, 4].contains(&ran.status), "{}", ran.err);
    assert!(ran.err.contains("this run is not kept"), "{}", ran.err);
    assert!(ran.err.contains("at most 1 KiB (`ulimit -f`)"), "{}", ran.err);
    assert_eq!(names(&home.path().join("runs")), Vec::<String>::new());
}

#[test]
fn a_recorded_program_has_the_signals_it_would_have_without_us() {
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let home = tempfile::tempdir().unwrap();
    let out = home.path().join("trace.parquet");
    let words = ["record", "-o", out.to_str().unwrap(), &disk.device, "--", "sh", "-c"];
    let command = [&words[..], &["kill -XFSZ $$"]].concat();
    let ran = done(seekwell(home.path()).args(command).output().unwrap());
    if ran.err.contains("trac") && ran.status == 3 {
        return skip(&ran.err);
    }
    assert_eq!(ran.status, 128 + 25, "{}", ran.err);
}

/// Runs kept on a file system that is as good as full.
#[test]
fn a_full_disk_stops_no_listing_showing_or_removing_of_runs() {
    // SQLite maps a file for its write-ahead log; touching that on a full disk was a bus error.
    let Some(disk) = Mounted::ext4(20 * MIB, "rw") else { return };
    let keep = || {
        let bench = ["bench", "--on=null", "--runtime=600ms"];
        common::run(&disk.point, &bench);
    };
    keep();
    assert_eq!(common::run(&disk.point, &["runs", "list"]).status, 0);
    let filler = disk.point.join("filler");
    let fill = || {
        let mut file = fs::File::options().append(true).create(true).open(&filler).unwrap();
        while std::io::Write::write_all(&mut file, &[0; 1024]).is_ok() {}
        file.sync_all().unwrap();
        file.metadata().unwrap().len()
    };
    for free in [0, 1024, 4096, 12_288, 32_768] {
        let full = fill();
        fs::File::options().write(true).open(&filler).unwrap().set_len(full - free).unwrap();
        for words in [&["runs", "list"][..], &["runs", "show", "last"]] {
            let ran = common::run(&disk.point, words);
            assert_eq!(ran.status, 0, "{words:?} with {free} bytes free: {}", ran.err);
        }
    }
    fill();
    for (words, status) in [(&["runs", "remove", "last"][..], 0), (&["runs", "list"], 0)] {
        let ran = common::run(&disk.point, words);
        assert_eq!(ran.status, status, "{words:?}: {}", ran.err);
    }
    let listed = common::run(&disk.point, &["runs", "list", "--json"]).json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 0, "{listed}");
}

#[test]
fn runs_that_are_kept_at_the_same_time_are_all_listed() {
    let home = tempfile::tempdir().unwrap();
    let bench = ["bench", "--on=null", "--runtime=600ms", "--json"];
    let children: Vec<_> = (0..3)
        .map(|_| seekwell(home.path()).args(bench).stdout(std::process::Stdio::null()).spawn())
        .collect();
    for child in children {
        let mut child = child.unwrap();
        while child.try_wait().unwrap().is_none() {
            common::run(home.path(), &["runs", "list"]).ends(0);
        }
    }
    let listed = common::run(home.path(), &["runs", "list", "--json"]).json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 3, "{listed}");
}

// `ulimit -s 128` ended most commands by a stack overflow while they read their arguments.
#[test]
fn the_stack_of_the_first_thread_need_hold_no_command() {
    let home = tempfile::tempdir().unwrap();
    for args in [&["runs", "list"][..], &["bench", "--help"], &["machine", "check", "nvme-ssd"]] {
        let Some(ran) = under(&["prlimit", "--stack=131072"], home.path(), args) else { return };
        assert_eq!(ran.status, 0, "{args:?}: {}", ran.err);
    }
}

// A suite whose workers could not all be started panicked, and those that were waited for ever.
#[test]
fn a_thread_that_cannot_be_started_ends_the_command_and_leaves_nothing() {
    if !is_root() {
        return skip("only root can become a user without processes");
    }
    let Some(place) = Place::with_room(256 * MIB) else { return };
    // A user of its own, so that no other test's processes count, with root's rights to
    // files, but not beyond limits.
    let rights = "=+dac_override,+dac_read_search";
    let (inherited, ambient) = (format!("--inh-caps{rights}"), format!("--ambient-caps{rights}"));
    let user = ["setpriv", "--reuid=54321", &inherited, &ambient, "prlimit", "--nproc=4"];
    let home = tempfile::tempdir().unwrap();
    let on = place.path().to_str().unwrap();
    for suite in ["commit", "fsmark", "threaded", "web", "blog"] {
        let words = ["bench", "--quick", "--no-keep", "--suite", suite, "--on", on];
        let Some(ran) = under(&user, home.path(), &words) else { return };
        assert_eq!(ran.status, 3, "{suite}: {}", ran.err);
        assert!(ran.err.contains("cannot start a thread"), "{suite}: {}", ran.err);
        assert_eq!(names(place.path()), Vec::<String>::new(), "{suite}");
    }
}

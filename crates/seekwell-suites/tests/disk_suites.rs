//! The suites of disks and file systems, each run whole at a small size.

#![expect(clippy::print_stderr, reason = "says why a test was skipped")]

use seekwell_access::FsSpace;
use seekwell_io::engine::Control;
use seekwell_io::measurement::Stopped;
use seekwell_runs::Phase;
use seekwell_suites::{Level, Place, Round, Settings, StepResult, SuiteError, find, record};
use seekwell_sys::{Class, Classified};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// A directory with room for a suite: memory, where syncing costs nothing, will do for these.
fn place() -> Option<tempfile::TempDir> {
    let roomy = |dir: &PathBuf| {
        let space = FsSpace::of(dir);
        space.is_ok_and(|s| s.available_bytes > s.reserved_bytes() + (256 << 20))
    };
    let found = [PathBuf::from("/dev/shm"), std::env::temp_dir()].into_iter().find(roomy);
    if found.is_none() {
        eprintln!("skipped: neither the disk nor memory has 1.3 GiB to spare");
    }
    found.map(|dir| tempfile::tempdir_in(dir).unwrap())
}

fn settings(suite: &str, set: &[(&str, &str)]) -> Result<Settings, SuiteError> {
    let set: Vec<_> = set.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    find(suite)?.settings(Level::Quick, &set)
}

/// Runs a suite once; the directory must be empty afterwards.
fn run(suite: &str, set: &[(&str, &str)], dir: &Path) -> BTreeMap<String, (Phase, StepResult)> {
    let settings = settings(suite, set).unwrap();
    let suite = find(suite).unwrap();
    let place = Place::Directory(dir.to_path_buf());
    let mut round = Round::begin(suite, &settings, &place, None, 7).unwrap();
    assert_eq!(std::fs::read_dir(dir).unwrap().count(), 1, "a directory of its own");
    let control = Control::default();
    let mut out = BTreeMap::new();
    for index in 0..round.steps().len() {
        let mut phase = record::phase(suite, &round.steps()[index], &settings);
        let result = round.run(index, &control, &|_| {}).unwrap();
        record::keep(&mut phase, &result, 7);
        assert_eq!(phase.repeats[0].invalid, None, "{}", phase.name);
        let primary = &round.steps()[index].primary;
        assert!(phase.median(primary).is_some_and(|v| v > 0.0), "{}: {primary}", phase.name);
        out.insert(round.steps()[index].name.clone(), (phase, result));
    }
    drop(round);
    assert_eq!(std::fs::read_dir(dir).unwrap().count(), 0, "all of it is removed");
    out
}

const FS: [(&str, &str); 4] =
    [("size", "8m"), ("char_size", "64k"), ("files", "1"), ("concurrency", "2")];

#[test]
fn fs_gives_twelve_figures_each_with_its_longest_call_and_does_what_it_counts() {
    let Some(dir) = place() else { return };
    let more = [("max_size", "3000"), ("min_size", "1000"), ("directories", "3")];
    let all = run("fs", &[&FS[..], &more[..]].concat(), dir.path());
    assert_eq!(all.len(), 12);
    for (name, (phase, _)) in &all {
        let longest = phase.median("call_ns_max").unwrap_or_else(|| panic!("{name}"));
        assert!(longest >= phase.median("call_ns_mean").unwrap(), "{name}");
    }
    let bytes = |step: &str, op: usize| all[step].1.measurement.ops[op].bytes;
    let (read, write) = (0, 1);
    assert_eq!(bytes("put_block", write) % (2 * (8 << 20)), 0, "whole files, two of them");
    assert_eq!(bytes("rewrite", read), bytes("rewrite", write));
    let seeks = all["seeks"].1.measurement.ops[read].requests;
    let changed = all["seeks"].1.measurement.ops[write].requests;
    assert!(seeks >= 2 * 8192 && changed.abs_diff(seeks / 10) <= 2, "{seeks} {changed}");
    assert!(all["get_block"].0.repeats[0].notes[0].contains("dropped"));
}

#[test]
fn fs_makes_links_and_syncs_each_write_when_it_is_told_to() {
    let Some(dir) = place() else { return };
    for kind in ["hard-links", "symlinks"] {
        let set = [("size", "1m"), ("char_size", "8k"), ("files", "1"), ("kind", kind)];
        let settings = settings("fs", &[&set[..], &[("sync", "each")]].concat()).unwrap();
        let suite = find("fs").unwrap();
        let place = Place::Directory(dir.path().to_path_buf());
        let mut round = Round::begin(suite, &settings, &place, None, 7).unwrap();
        let own = dir.path().join(names(dir.path()).remove(0));
        let create = round.steps().iter().position(|s| s.name == "seq_create").unwrap();
        round.run(create, &Control::default(), &|_| {}).unwrap();
        let made = std::fs::read_dir(own.join("tree-0-00000")).unwrap();
        let mut made = made.map(|entry| entry.unwrap().path());
        let one = made.next().unwrap();
        assert_eq!(made.count(), 1023, "{kind}");
        assert_eq!(one.is_symlink(), kind == "symlinks");
        assert_eq!(std::fs::read(&one).unwrap(), b"", "{kind}: it leads to a file");
        let put_block = round.steps().iter().position(|s| s.name == "put_block").unwrap();
        round.run(put_block, &Control::default(), &|_| {}).unwrap();
        drop(round);
        assert!(names(dir.path()).is_empty(), "{kind}");
    }
    let sized = [("kind", "symlinks"), ("max_size", "1")];
    assert!(settings("fs", &sized).unwrap_err().to_string().contains("links have no size"));
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn fs_past_the_cache_and_with_it_says_which() {
    let Some(dir) = place() else { return };
    let said = |cache| {
        let set = [("size", "1m"), ("char_size", "8k"), ("files", "1"), ("cache", cache)];
        let settings = settings("fs", &set).unwrap();
        let suite = find("fs").unwrap();
        let place = Place::Directory(dir.path().to_path_buf());
        let mut round = Round::begin(suite, &settings, &place, None, 7).unwrap();
        let block_output = 1;
        round.run(block_output, &Control::default(), &|_| {}).unwrap().notes.join(" ")
    };
    assert!(said("keep").contains("figures of memory"));
    let tmpfs_or_disk = said("direct");
    assert!(tmpfs_or_disk.contains("O_DIRECT"), "{tmpfs_or_disk}");
}

#[test]
fn hdparm_reads_a_file_in_place_of_a_device_and_says_so() {
    let Some(dir) = place() else { return };
    let set = [("cached", "500"), ("device", "500"), ("size", "8m")];
    let all = run("hdparm", &set, dir.path());
    assert!(all["device"].1.notes.iter().any(|n| n.contains("in place of a device")));
    let op = &all["device"].1.measurement.ops[0];
    assert_eq!(op.bytes, op.requests * (2 << 20));
    assert_eq!(all["cached"].1.measurement.requests(), 0, "no request of a disk");
}

#[test]
fn hdparm_reads_a_file_of_the_users_and_leaves_it_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("disk");
    std::fs::write(&file, vec![7; 5 << 20]).unwrap();
    let suite = find("hdparm").unwrap();
    let settings = settings("hdparm", &[("cached", "500"), ("device", "500")]).unwrap();
    let place = Place::reads(suite, file.clone()).unwrap();
    let mut round = Round::begin(suite, &settings, &place, None, 7).unwrap();
    for index in 0..2 {
        let result = round.run(index, &Control::default(), &|_| {}).unwrap();
        assert!(result.values["read_bytes_per_s"] > 0.0);
    }
    drop(round);
    assert_eq!(std::fs::read(&file).unwrap(), vec![7; 5 << 20]);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn threaded_does_the_four_patterns_and_counts_what_is_slow() {
    let Some(dir) = place() else { return };
    let set = [("threads", "3"), ("size", "1m"), ("random", "100"), ("runtime", "520")];
    let all = run("threaded", &set, dir.path());
    assert_eq!(all.len(), 4);
    for (name, (phase, result)) in &all {
        let requests = result.measurement.requests();
        let pass = if name.starts_with("random") { 3 * 100 } else { 3 * 256 };
        assert_eq!(requests % pass, 0, "{name}: {requests} requests are whole passes");
        assert_eq!(phase.median("over_2s_share"), Some(0.0), "{name}");
        assert_eq!(phase.median("over_10s_share"), Some(0.0), "{name}");
    }
}

#[test]
fn fsmark_syncs_by_each_of_its_methods() {
    let Some(dir) = place() else { return };
    for method in ["0", "1", "2", "3", "4", "5", "6"] {
        let set = [
            ("files", "20"),
            ("size", "20k"),
            ("sync", method),
            ("directories", "3"),
            ("threads", "2"),
        ];
        let all = run("fsmark", &[&set[..], &[("runtime", "500")]].concat(), dir.path());
        let (phase, result) = &all["create"];
        let passes = result.measurement.ops[1].bytes / (40 * 20 * 1024);
        let syncs = phase.metrics.contains_key("sync_ns_mean");
        assert_eq!(syncs, method != "0", "method {method}");
        assert!(passes >= 1 && result.measurement.ops[1].bytes % (40 * 20 * 1024) == 0);
        // Two writes a file: 16 KiB and the rest.
        assert_eq!(result.measurement.ops[1].requests, passes * 80, "method {method}");
    }
}

#[test]
fn commits_are_counted_for_each_number_of_threads_on_logs_that_stay_small() {
    let Some(dir) = place() else { return };
    for log in ["grow", "recycled"] {
        let set = [("threads", "1,3"), ("log", log), ("size", "1m"), ("runtime", "600")];
        let all = run("commit", &set, dir.path());
        assert_eq!(all.len(), 2, "a step for each number of threads");
        for (phase, result) in all.values() {
            let written = &result.measurement.ops[1];
            assert_eq!(written.bytes, written.requests * 4096);
            assert!(written.bytes > 4 << 20, "{log}: memory takes more than the log holds");
            assert!(phase.metrics.contains_key("commit_ns_p99"), "{log}");
        }
    }
    let refused = settings("commit", &[("threads", "1,1")]).unwrap_err().to_string();
    assert!(refused.contains("a list, with commas, of numbers from 1 to 1024"), "{refused}");
}

#[test]
fn a_suite_that_is_stopped_in_the_middle_says_so_and_leaves_nothing() {
    let Some(dir) = place() else { return };
    let suite = find("fs").unwrap();
    let settings = settings("fs", &FS).unwrap();
    let place = Place::Directory(dir.path().to_path_buf());
    let mut round = Round::begin(suite, &settings, &place, None, 7).unwrap();
    let control = Control::default();
    let told = AtomicBool::new(false);
    let ended = round.run(0, &control, &|_| {
        told.store(true, Ordering::Relaxed);
        control.stop.store(true, Ordering::Relaxed);
    });
    assert!(told.load(Ordering::Relaxed), "progress is told");
    assert!(matches!(ended, Err(SuiteError::Interrupted)));
    drop(round);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_made() {
    let refused = |suite, set: &[(&str, &str)]| settings(suite, set).unwrap_err().to_string();
    assert!(refused("bonnie", &[]).contains("hdparm, fs, fsmark, commit"));
    assert!(refused("fs", &[("file", "1")]).contains("has no tunable \"file\""));
    assert!(refused("fs", &[("files", "none")]).contains("1 to 100000"));
    assert!(refused("fs", &[("chunk", "3k")]).contains("a power of two"));
    assert!(refused("fs", &[("size", "1m"), ("char_size", "2m")]).contains("no more than size"));
    assert!(refused("fs", &[("min_size", "2")]).contains("no more than max_size"));
    assert!(refused("threaded", &[("block", "3000")]).contains("whole number of blocks"));
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = Place::reads(find("fs").unwrap(), file.path().to_path_buf()).err().unwrap();
    assert!(
        error.class() == Class::Usage && error.to_string().contains("runs on a directory"),
        "{error}"
    );
}

#[test]
fn a_figure_of_less_than_half_a_second_is_not_given() {
    let suite = find("fsmark").unwrap();
    let settings = settings("fsmark", &[]).unwrap();
    let step = (suite.steps)(&settings).remove(0);
    let mut phase = record::phase(suite, &step, &settings);
    let stop = AtomicBool::new(false);
    let counted = Cell::new(0_u64);
    let stage = seekwell_suites::Stage {
        path: Path::new("/"),
        opened: None,
        seed: 1,
        stop: &stop,
        progress: &|_| {},
        device: None,
    };
    let zero = seekwell_io::units::Nanos::ZERO;
    let (mut result, passes) = stage
        .passes(
            zero,
            |_| Ok(()),
            |pass| {
                counted.set(pass + 1);
                Ok(())
            },
        )
        .unwrap();
    assert_eq!((passes, counted.get()), (1, 1));
    result.rate("files_per_s", 1000);
    record::keep(&mut phase, &result, 1);
    assert!(phase.repeats[0].invalid.as_deref().unwrap().starts_with("too short"));
    assert!(phase.metrics.is_empty());
    record::keep_failure(&mut phase, "the disk left", Stopped::Failed, 2);
    assert_eq!(phase.repeats.len(), 2);
}

//! What a kill, a full disk, a read-only disk and a second process do to kept runs.
#![allow(clippy::print_stderr, reason = "a skipped test says so; the child process reports")]

mod common;

use jiff::Timestamp;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_remount, unmount};
use seekwell_runs::{Filter, RunKind, RunState, Runs, Status, Store, StoreError};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const CHILD_DIR: &str = "SEEKWELL_TEST_SAVE_INTO";

/// Not a test of its own: the process that `a_kill_at_any_moment…` starts and kills.
#[test]
fn child_that_saves_until_it_is_killed() {
    let Some(dir) = std::env::var_os(CHILD_DIR) else { return };
    let mut writer =
        Store::open(PathBuf::from(dir)).create(RunKind::Checkup, Timestamp::now()).unwrap();
    for phases in 1.. {
        let (run, detail) = common::run(writer.id(), 1 + phases % 40);
        writer.save(&run, &detail).unwrap();
        eprintln!("saved");
    }
}

#[test]
fn a_kill_at_any_moment_leaves_a_bundle_that_can_be_read() {
    let dir = TempDir::new().unwrap();
    let store = Store::open(dir.path());
    let mut states = 0;
    for round in 0..50 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_saves_until_it_is_killed", "--nocapture"])
            .env(CHILD_DIR, dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "saved"), "the child saves");
        std::thread::sleep(Duration::from_micros(round * 397));
        child.kill().unwrap();
        child.wait().unwrap();
        let (run, detail) = store.load("last").unwrap_or_else(|e| panic!("round {round}: {e}"));
        assert_eq!(run.status, Status::Running);
        let measured: usize = run.phases.iter().map(|p| p.repeats.len()).sum();
        // The detail is written first and may already be the next, shorter or longer one.
        assert!(detail.repeats.len() <= measured);
        let entry = store.list(&Filter::default()).unwrap().runs.remove(0);
        assert_eq!((entry.id.as_str(), entry.state), (run.id.as_str(), RunState::Killed));
        states += run.phases.len();
        let next = store.create(RunKind::Bench, Timestamp::now()).unwrap();
        drop(next);
        let mut left: Vec<_> = fs::read_dir(entry.path.as_ref().unwrap())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["detail.json", "run.json"], "the next run sweeps");
        store.remove("last").unwrap();
    }
    assert!(states > 50, "some were killed after more than the first save");
}

/// A folder that is mounted, and unmounted when dropped.
struct Mounted(TempDir);

impl Mounted {
    /// A file system in memory.
    fn tmpfs(options: &str) -> Option<Self> {
        let dir = TempDir::new().unwrap();
        let options = std::ffi::CString::new(options).unwrap();
        let mounted = mount("tmpfs", dir.path(), "tmpfs", MountFlags::empty(), options.as_c_str());
        Self::or_skip(dir, mounted)
    }

    /// This folder, read-only from now on.
    ///
    /// It is a mount of its own, because a file system with a file open for writing cannot be
    /// remounted read-only. Any child that another test starts holds our open files until it calls
    /// exec(2), even those that are closed here.
    fn read_only(dir: TempDir) -> Option<Self> {
        let bound = mount_bind(dir.path(), dir.path());
        let mounted = Self::or_skip(dir, bound)?;
        mount_remount(mounted.path(), MountFlags::BIND | MountFlags::RDONLY, "").unwrap();
        Some(mounted)
    }

    fn or_skip(dir: TempDir, mounted: rustix::io::Result<()>) -> Option<Self> {
        match mounted {
            Ok(()) => Some(Self(dir)),
            Err(error) => {
                eprintln!("skipped: nothing can be mounted here: {error}");
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = unmount(self.0.path(), UnmountFlags::DETACH);
    }
}

#[test]
fn a_disk_that_fills_up_says_so_and_keeps_what_was_saved() {
    let Some(disk) = Mounted::tmpfs("size=128k,mode=700") else { return };
    let store = Store::open(disk.path());
    let mut writer = store.create(RunKind::Checkup, Timestamp::now()).unwrap();
    let (run, detail) = common::run(writer.id(), 1);
    writer.save(&run, &detail).unwrap();
    let (longer, more) = common::run(writer.id(), 200);
    let error = writer.save(&longer, &more).unwrap_err();
    assert!(error.to_string().contains("No space left on device"), "{error}");
    drop(writer);
    assert_eq!(store.load("last").unwrap(), (run, detail));
    let listed = store.list(&Filter::default()).unwrap();
    assert_eq!(listed.runs.len(), 1, "the index needs no room");
    store.remove("last").unwrap();
}

#[test]
fn a_read_only_disk_can_be_read_and_refuses_the_rest_clearly() {
    let dir = TempDir::new().unwrap();
    let store = Store::open(dir.path());
    let mut writer = store.create(RunKind::Checkup, Timestamp::now()).unwrap();
    let (run, detail) = common::run(writer.id(), 1);
    writer.save(&run, &detail).unwrap();
    drop(writer);
    let Some(disk) = Mounted::read_only(dir) else { return };
    assert_eq!(store.list(&Filter::default()).unwrap().runs.len(), 1);
    assert_eq!(store.load("last").unwrap().0.id, run.id);
    for error in [
        store.create(RunKind::Bench, Timestamp::now()).map(drop).unwrap_err(),
        store.remove("last").map(drop).unwrap_err(),
        store.reindex().map(drop).unwrap_err(),
    ] {
        let text = error.to_string();
        assert!(text.contains("Read-only file system"), "{text}");
        assert!(text.contains(&disk.path().display().to_string()), "{text}");
    }
}

#[test]
fn a_path_that_is_a_file_is_refused_clearly() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("runs");
    fs::write(&file, "mine").unwrap();
    let error = Store::open(&file).create(RunKind::Bench, Timestamp::now()).unwrap_err();
    assert!(matches!(error, StoreError::Io { doing: "creating", .. }), "{error}");
    assert_eq!(fs::read(&file).unwrap(), b"mine");
}

/// Everything the index answers, as text.
fn answers(store: &Store) -> String {
    let listing = store.list(&Filter::default()).unwrap();
    let history = store.history("read.requests_per_s", Some("rand-read-4k-d1")).unwrap();
    let other = store.history("cpu_ns_per_request", None).unwrap();
    format!("{:#?}\n{history:?}\n{other:?}", listing.runs)
}

fn keep(store: &Store, phases: usize) -> String {
    let mut writer = store.create(RunKind::Checkup, Timestamp::now()).unwrap();
    let (mut run, detail) = common::run(writer.id(), phases);
    writer.save(&run, &detail).unwrap();
    store.list(&Filter::default()).unwrap();
    run.status = Status::Complete;
    writer.save(&run, &detail).unwrap();
    writer.id().to_owned()
}

#[test]
fn an_index_kept_up_over_time_equals_one_built_from_the_bundles() {
    let dir = TempDir::new().unwrap();
    let store = Store::open(dir.path());
    let ids: Vec<String> = (1..8).map(|phases| keep(&store, phases)).collect();
    store.remove(&ids[3]).unwrap();
    fs::remove_dir_all(dir.path().join(&ids[4])).unwrap();
    let kept_up = answers(&store);
    assert!(kept_up.contains(&ids[6]) && !kept_up.contains(&ids[3]) && !kept_up.contains(&ids[4]));
    assert!(kept_up.contains("Complete") && !kept_up.contains("Killed"));
    let (runs, unreadable) = store.reindex().unwrap();
    assert_eq!((runs, unreadable.len()), (5, 0));
    assert_eq!(answers(&store), kept_up);
}

#[test]
fn a_missing_damaged_or_foreign_index_is_built_anew_in_silence() {
    let dir = TempDir::new().unwrap();
    let store = Store::open(dir.path());
    (1..4).for_each(|phases| drop(keep(&store, phases)));
    let before = answers(&store);
    let index = dir.path().join("index.db");
    let sound = fs::read(&index).unwrap();
    let mut torn = sound.clone();
    torn.truncate(sound.len() / 2);
    let mut scribbled = sound.clone();
    scribbled[4096..4096 + 600].fill(0xa5);
    let old = dir.path().join("old");
    let wal = dir.path().join("wal");
    fs::write(&wal, &sound).unwrap();
    let logged = rusqlite::Connection::open(&wal).unwrap();
    logged.pragma_update(None, "journal_mode", "wal").unwrap();
    logged.execute_batch("DELETE FROM metrics").unwrap();
    drop(logged);
    let foreign = rusqlite::Connection::open(&old).unwrap();
    foreign.execute_batch("CREATE TABLE runs(x); PRAGMA user_version = 0").unwrap();
    drop(foreign);
    for (name, content) in [
        ("empty", Vec::new()),
        ("text", b"not a database at all, but long enough to be read as one".repeat(100)),
        ("torn", torn),
        ("scribbled", scribbled),
        ("foreign", fs::read(&old).unwrap()),
        ("with a write-ahead log, as earlier versions made it", fs::read(&wal).unwrap()),
    ] {
        fs::write(&index, content).unwrap();
        assert_eq!(answers(&store), before, "{name}");
        let rebuilt = rusqlite::Connection::open(&index).unwrap();
        let rows: i64 = rebuilt.query_row("SELECT count(*) FROM runs", [], |r| r.get(0)).unwrap();
        assert_eq!(rows, 3, "{name}: the file itself is mended");
        let mode: String = rebuilt.query_row("PRAGMA journal_mode", [], |r| r.get(0)).unwrap();
        assert_eq!(mode, "delete", "{name}");
    }
    fs::remove_file(&index).unwrap();
    assert_eq!(answers(&store), before);
}

#[test]
fn an_index_of_a_later_version_is_left_as_it_is() {
    let dir = TempDir::new().unwrap();
    let store = Store::open(dir.path());
    keep(&store, 1);
    let before = answers(&store);
    let index = rusqlite::Connection::open(dir.path().join("index.db")).unwrap();
    index.pragma_update(None, "user_version", 99).unwrap();
    assert_eq!(answers(&store), before);
    let version: i32 = index.query_row("PRAGMA user_version", [], |r| r.get(0)).unwrap();
    assert_eq!(version, 99);
}

#[test]
fn many_writers_and_readers_at_once_lose_nothing() {
    let dir = TempDir::new().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let store = Store::open(dir.path());
            scope.spawn(move || {
                for round in 0..6 {
                    let id = keep(&store, 1 + round);
                    assert!(store.load(&id).is_ok());
                    match (thread, round) {
                        (0, 3) => drop(store.reindex()),
                        (1, 4) => drop(fs::write(store.dir().join("index.db"), "scribble")),
                        _ => {}
                    }
                }
            });
        }
    });
    let store = Store::open(dir.path());
    let listing = store.list(&Filter::default()).unwrap();
    assert_eq!((listing.runs.len(), listing.unreadable.len()), (24, 0));
    assert!(listing.runs.iter().all(|e| e.state == RunState::Complete));
    let kept_up = answers(&store);
    store.reindex().unwrap();
    assert_eq!(answers(&store), kept_up);
}

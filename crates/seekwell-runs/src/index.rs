//! A table of contents over bundles, in SQLite, so that listing a thousand runs reads none of them.
//!
//! The bundles are the truth. The index remembers of each `run.json` its inode, size and time of
//! change; before it answers, it is brought in line with what is there, in one transaction. So it
//! does not matter who wrote, copied or deleted a bundle, and an index that is missing, damaged or
//! of an older version is rebuilt silently. Where it cannot be written (a folder of another user, a
//! full disk) one in memory does the same work.
//!
//! Two processes may use it at once. `index.lock` is held shared while it is open and alone while
//! its files are replaced, since SQLite's own locks do not survive its files being deleted.

use crate::document::{RunDocument, RunKind, Status};
use crate::entry::{Measured, RunEntry, RunState};
use crate::error::StoreError;
use crate::spread::Spread;
use crate::{id, read};
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, params};
use rustix::fs::{FlockOperation, flock};
use seekwell_access::open_private;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Raised whenever the tables change; any other number in the file causes a rebuild.
const VERSION: i32 = 2;
const FILE: &str = "index.db";
const LOCK: &str = "index.lock";
/// How long to wait for another process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

const TABLES: &str = "
CREATE TABLE runs (
  id            TEXT PRIMARY KEY,
  host          TEXT NOT NULL,
  kind          TEXT NOT NULL,
  status        TEXT NOT NULL,
  label         TEXT,
  modelled      INTEGER NOT NULL,
  target        TEXT NOT NULL,
  device_model  TEXT,
  device_serial TEXT,
  kernel        TEXT,
  tool_version  TEXT NOT NULL,
  started_at    TEXT NOT NULL,
  ended_at      TEXT,
  invalid       INTEGER NOT NULL,
  inode         INTEGER NOT NULL,
  size          INTEGER NOT NULL,
  changed_ns    INTEGER NOT NULL
) STRICT;
CREATE TABLE metrics (
  run    TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  phase  TEXT NOT NULL,
  metric TEXT NOT NULL,
  median REAL NOT NULL,
  low    REAL NOT NULL,
  high   REAL NOT NULL,
  n      INTEGER NOT NULL,
  PRIMARY KEY (run, phase, metric)
) STRICT, WITHOUT ROWID;
CREATE INDEX metrics_by_name ON metrics (metric, phase);
";

/// What distinguishes one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: i64,
    size: i64,
    changed_ns: i64,
}

/// Bundles that are there and cannot be read.
pub(crate) type Unreadable = Vec<(String, StoreError)>;

/// Brings the index in line with the bundles and asks it something.
pub(crate) fn with<T>(
    store: &Path,
    ask: impl Fn(&Connection) -> rusqlite::Result<T>,
) -> Result<(T, Unreadable), StoreError> {
    let work = |connection: &mut Connection| {
        let unreadable = sync(connection, store)?;
        Ok((ask(connection)?, unreadable))
    };
    if let Ok(lock) = SharedLock::take(store) {
        match open(store).and_then(|mut c| work(&mut c)) {
            Ok(answer) => return Ok(answer),
            Err(error) if is_damage(&error) => {
                if lock.alone(|| delete(store)).is_some()
                    && let Ok(answer) = open(store).and_then(|mut c| work(&mut c))
                {
                    return Ok(answer);
                }
            }
            Err(_) => {}
        }
    }
    let mut memory = prepare(Connection::open_in_memory()?)?;
    Ok(work(&mut memory)?)
}

/// Throws the index away; the next question builds it.
pub(crate) fn discard(store: &Path) -> Result<(), StoreError> {
    let failed = StoreError::io("locking", &store.join(LOCK));
    let lock = SharedLock::take(store).map_err(failed)?;
    lock.alone(|| delete(store)).map_or_else(
        || {
            let busy = std::io::Error::from(std::io::ErrorKind::ResourceBusy);
            Err(StoreError::io("locking", &store.join(LOCK))(busy))
        },
        |()| Ok(()),
    )
}

struct SharedLock(File);

impl SharedLock {
    fn take(store: &Path) -> std::io::Result<Self> {
        let file = open_private(&store.join(LOCK))?;
        wait_for(&file, FlockOperation::NonBlockingLockShared)
            .then_some(Self(file))
            .ok_or_else(|| std::io::ErrorKind::ResourceBusy.into())
    }

    /// Does something while no other process has the index open; `None` when that does not come
    /// to be for too long.
    fn alone(&self, work: impl FnOnce()) -> Option<()> {
        let alone = wait_for(&self.0, FlockOperation::NonBlockingLockExclusive);
        if alone {
            work();
        }
        let shared = wait_for(&self.0, FlockOperation::NonBlockingLockShared);
        (alone && shared).then_some(())
    }
}

fn wait_for(file: &File, lock: FlockOperation) -> bool {
    let deadline = Instant::now() + LOCK_TIMEOUT;
    while flock(file, lock).is_err() {
        if Instant::now() >= deadline {
            return false;
        }
        sleep(Duration::from_millis(5));
    }
    true
}

fn delete(store: &Path) {
    for suffix in ["", "-journal", "-wal", "-shm"] {
        let _ = fs::remove_file(store.join(format!("{FILE}{suffix}")));
    }
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::SchemaChanged)
    )
}

fn damaged(what: &str) -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    rusqlite::Error::SqliteFailure(code, Some(what.to_owned()))
}

/// Whether a file of the store's folder is the index's.
pub(crate) fn is_part(name: &str) -> bool {
    name == LOCK || name.strip_prefix(FILE).is_some_and(|rest| ["", "-wal", "-shm"].contains(&rest))
}

fn open(store: &Path) -> rusqlite::Result<Connection> {
    // SQLite gives its other files the mode of this one. Where it cannot be made, SQLite says why.
    let file = store.join(FILE);
    let _ = open_private(&file);
    if is_wal(&file) {
        return Err(damaged("an index with a write-ahead log"));
    }
    let connection = Connection::open(file)?;
    connection.busy_timeout(LOCK_TIMEOUT)?;
    // A power cut may cost the last rows, never the file; they come back from the bundles.
    connection.pragma_update(None, "synchronous", "normal")?;
    let sound: String = connection.query_row("PRAGMA quick_check(1)", [], |r| r.get(0))?;
    if sound != "ok" {
        return Err(damaged(&sound));
    }
    prepare(connection)
}

/// Whether the file is in WAL mode, as earlier versions left it: byte 18 of the header is 2. Merely
/// opening it maps a shared-memory file, and touching that on a full disk raises SIGBUS.
fn is_wal(file: &Path) -> bool {
    let mut header = [0; 19];
    File::open(file).and_then(|mut f| f.read_exact(&mut header)).is_ok() && header[18] == 2
}

fn prepare(mut connection: Connection) -> rusqlite::Result<Connection> {
    connection.pragma_update(None, "foreign_keys", true)?;
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i32 = change.query_row("PRAGMA user_version", [], |r| r.get(0))?;
    let tables: i64 = change.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
    match (version, tables) {
        (VERSION, 1..) => {}
        (0, 0) => {
            change.execute_batch(TABLES)?;
            change.pragma_update(None, "user_version", VERSION)?;
        }
        // A later version's index is left alone: the one in memory serves.
        (later, _) if later > VERSION => return Err(rusqlite::Error::InvalidQuery),
        _ => return Err(damaged("an index of an older version")),
    }
    change.commit()?;
    Ok(connection)
}

/// The bundles in a folder: their ids, and the state of their `run.json`. Those without one are
/// left out: nothing was saved in them yet.
fn scan(store: &Path) -> BTreeMap<String, Stamp> {
    let entries = fs::read_dir(store).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok().filter(|name| id::is_id(name))?;
            let meta = fs::metadata(entry.path().join(read::RUN)).ok()?;
            let stamp = Stamp {
                inode: meta.ino() as i64,
                size: meta.size() as i64,
                changed_ns: meta
                    .mtime()
                    .wrapping_mul(1_000_000_000)
                    .wrapping_add(meta.mtime_nsec()),
            };
            Some((name, stamp))
        })
        .collect()
}

/// The ids of all bundles in a folder, sorted.
pub(crate) fn ids(store: &Path) -> Vec<String> {
    scan(store).into_keys().collect()
}

fn sync(connection: &mut Connection, store: &Path) -> rusqlite::Result<Unreadable> {
    let mut unreadable = Unreadable::new();
    let known = stamps(connection)?;
    let there = scan(store);
    let changed: Vec<(&String, &Stamp)> =
        there.iter().filter(|(id, stamp)| known.get(*id) != Some(stamp)).collect();
    let gone: Vec<&String> = known.keys().filter(|id| !there.contains_key(*id)).collect();
    if changed.is_empty() && gone.is_empty() {
        return Ok(unreadable);
    }
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for id in gone {
        change.execute("DELETE FROM runs WHERE id = ?1", [id])?;
    }
    for (id, stamp) in changed {
        change.execute("DELETE FROM runs WHERE id = ?1", [id])?;
        match document(store, id) {
            Ok(run) => insert(&change, &run, *stamp)?,
            Err(error) => unreadable.push((id.clone(), error)),
        }
    }
    change.commit()?;
    Ok(unreadable)
}

/// Reads the summary of a bundle of the store, which must name itself as its folder does.
pub(crate) fn document(store: &Path, id: &str) -> Result<RunDocument, StoreError> {
    let dir = store.join(id);
    let run = read::run_file(&dir)?;
    check_id(&dir, id, &run)?;
    Ok(run)
}

pub(crate) fn check_id(dir: &Path, id: &str, run: &RunDocument) -> Result<(), StoreError> {
    if run.id == id {
        return Ok(());
    }
    Err(StoreError::Invalid {
        path: PathBuf::from(dir).join(read::RUN),
        field: "id",
        found: format!("{:?}", run.id),
        needed: "the name of its folder",
    })
}

fn stamps(connection: &Connection) -> rusqlite::Result<BTreeMap<String, Stamp>> {
    let mut query = connection.prepare("SELECT id, inode, size, changed_ns FROM runs")?;
    let rows = query.query_map([], |r| {
        Ok((r.get(0)?, Stamp { inode: r.get(1)?, size: r.get(2)?, changed_ns: r.get(3)? }))
    })?;
    rows.collect()
}

fn insert(change: &Transaction<'_>, run: &RunDocument, stamp: Stamp) -> rusqlite::Result<()> {
    let inspection = &run.inspection;
    let disks = inspection.disks();
    let disk = disks.first();
    let value = |fact: Option<&seekwell_inspect::Fact<String>>| fact.map(|f| f.value.clone());
    change.execute(
        "INSERT INTO runs VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17)",
        params![
            run.id,
            inspection.host.label(),
            run.kind.name(),
            run.status.name(),
            run.label,
            run.modelled,
            inspection.target,
            value(disk.and_then(|d| d.model.as_ref())),
            value(disk.and_then(|d| d.serial.as_ref())),
            value(inspection.host.kernel.as_ref()),
            run.tool.version,
            run.started_at,
            run.ended_at,
            !run.invalid.is_empty(),
            stamp.inode,
            stamp.size,
            stamp.changed_ns,
        ],
    )?;
    let mut metric = change.prepare_cached("INSERT INTO metrics VALUES (?1,?2,?3,?4,?5,?6,?7)")?;
    for phase in &run.phases {
        for (name, s) in &phase.metrics {
            metric.execute(params![run.id, phase.name, name, s.median, s.low, s.high, s.n])?;
        }
    }
    Ok(())
}

/// All runs, newest first; `state` says how the bundle in a folder stands.
pub(crate) fn entries(
    connection: &Connection,
    store: &Path,
    state: fn(&Path, Status) -> RunState,
) -> rusqlite::Result<Vec<RunEntry>> {
    let mut query = connection.prepare(
        "SELECT id, host, kind, status, label, modelled, target, device_model, device_serial,
                kernel, tool_version, started_at, ended_at, invalid
         FROM runs ORDER BY substr(id, 1, 15) DESC, changed_ns DESC, id DESC",
    )?;
    let mut rows = query.query([])?;
    let mut entries = Vec::new();
    while let Some(r) = rows.next()? {
        let (kind, status): (String, String) = (r.get(2)?, r.get(3)?);
        let (Some(kind), Some(status)) = (RunKind::of_name(&kind), Status::of_name(&status)) else {
            continue;
        };
        let id: String = r.get(0)?;
        let path = store.join(&id);
        entries.push(RunEntry {
            id,
            host: r.get(1)?,
            kind,
            state: state(&path, status),
            label: r.get(4)?,
            modelled: r.get(5)?,
            target: r.get(6)?,
            device_model: r.get(7)?,
            device_serial: r.get(8)?,
            kernel: r.get(9)?,
            tool_version: r.get(10)?,
            started_at: r.get(11)?,
            ended_at: r.get(12)?,
            invalid: r.get(13)?,
            path: Some(path),
        });
    }
    Ok(entries)
}

/// One metric over all runs that have it, in one phase or in each, oldest first.
pub(crate) fn history(
    connection: &Connection,
    metric: &str,
    phase: Option<&str>,
) -> rusqlite::Result<Vec<Measured>> {
    let mut query = connection.prepare(
        "SELECT host, run, phase, median, low, high, n FROM metrics JOIN runs ON id = run
         WHERE metric = ?1 AND (?2 IS NULL OR phase = ?2) ORDER BY run, phase",
    )?;
    let rows = query.query_map(params![metric, phase], |r| {
        let spread = Spread { median: r.get(3)?, low: r.get(4)?, high: r.get(5)?, n: r.get(6)? };
        Ok(Measured { host: r.get(0)?, run: r.get(1)?, phase: r.get(2)?, spread })
    })?;
    rows.collect()
}

pub(crate) fn newest(store: &Path) -> Option<String> {
    scan(store)
        .into_iter()
        .max_by(|(a, at_a), (b, at_b)| {
            let key = |id: &str, stamp: &Stamp| (id::time_of(id).to_owned(), stamp.changed_ns);
            key(a, at_a).cmp(&key(b, at_b)).then_with(|| a.cmp(b))
        })
        .map(|(id, _)| id)
}

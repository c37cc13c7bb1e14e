//! Writing one run to disk so that a kill at any moment leaves something that can be read.
//!
//! ```text
//! <id>/run.json      RunDocument, the summary
//! <id>/detail.json   Detail, histograms and series
//! <id>/.outbox       the database that the run still has to be sent to
//! <id>/.lock         held with flock(2) while a process writes the bundle; gone afterwards
//! ```
//!
//! Folders and files are this user's alone. Each file is an [`OutputFile`], so that it is there
//! whole or not at all. The detail goes
//! first, so a kill between the two leaves a summary with a little more detail than it speaks of,
//! never with less. A bundle that says `running` and is not locked was killed.

use crate::document::{Detail, RunDocument, RunKind};
use crate::error::StoreError;
use crate::read::{self, DETAIL, RUN};
use crate::{id, index};
use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};
use seekwell_access::{
    OutputFile, create_private_dir, create_private_dir_all, make_private, sweep as sweep_folder,
};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const LOCK: &str = ".lock";
const OUTBOX: &str = ".outbox";

/// How often an id that is taken is drawn again. Two processes in one second collide once in
/// 65536, so this many collisions mean that something else is wrong.
const ATTEMPTS: usize = 64;

/// Keeps one run: holds its folder's lock and writes it again after every phase.
#[derive(Debug)]
pub struct Writer {
    id: String,
    dir: PathBuf,
    /// Where it is to be sent.
    outbox: Option<String>,
    saved: bool,
    _lock: File,
}

impl Writer {
    pub(crate) fn create(
        store: &Path,
        outbox: Option<String>,
        kind: RunKind,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        create_private_dir_all(store).map_err(StoreError::io("creating", store))?;
        let mut taken = String::new();
        for _ in 0..ATTEMPTS {
            let id = id::fresh_id(kind.name(), now);
            if let Some(mut writer) = Self::claim(store, &id)? {
                writer.outbox = outbox;
                return Ok(writer);
            }
            taken = id;
        }
        let source = io::Error::from(io::ErrorKind::AlreadyExists);
        Err(StoreError::Io { doing: "creating", path: store.join(taken), source })
    }

    /// Creates the folder of this id and takes its lock; `None` when someone else has it.
    fn claim(store: &Path, id: &str) -> Result<Option<Self>, StoreError> {
        let dir = store.join(id);
        match create_private_dir(&dir) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            other => other.map_err(StoreError::io("creating", &dir))?,
        }
        Self::lock(dir, id).inspect_err(|_| {
            let _ = fs::remove_dir(store.join(id));
        })
    }

    /// Resumes a kept run, after [`sweep`].
    pub(crate) fn again(
        store: &Path,
        outbox: Option<String>,
        id: &str,
    ) -> Result<Self, StoreError> {
        let claimed = Self::lock(store.join(id), id)?;
        let mut writer = claimed.ok_or_else(|| StoreError::StillRunning { id: id.to_owned() })?;
        writer.outbox = outbox;
        Ok(writer)
    }

    /// Takes the lock of a folder; `None` when someone else has it.
    fn lock(dir: PathBuf, id: &str) -> Result<Option<Self>, StoreError> {
        // A folder without a lock looks abandoned: another process may sweep it just now.
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(dir.join(LOCK)) {
            Err(e)
                if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) =>
            {
                Ok(None)
            }
            Err(source) => Err(StoreError::Io { doing: "creating", path: dir.join(LOCK), source }),
            Ok(lock) if !(try_lock(&lock) && dir.join(LOCK).exists()) => Ok(None),
            Ok(lock) => {
                let (id, outbox) = (id.to_owned(), None);
                Ok(Some(Self { id, dir, outbox, saved: false, _lock: lock }))
            }
        }
    }

    /// The run's id, to be put into its document.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes the run as it is now, in place of what was saved before. When it returns, the run is
    /// on the disk; when it fails, what was saved before is still there.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the disk refuses, [`StoreError::NotStorable`] when the document
    /// could not be read again (a number that is not finite).
    ///
    /// # Panics
    /// When the document has another id than this writer.
    pub fn save(&mut self, run: &RunDocument, detail: &Detail) -> Result<(), StoreError> {
        assert_eq!(run.id, self.id, "a writer keeps one run");
        let not_storable = |reason: String| StoreError::NotStorable { id: self.id.clone(), reason };
        let text = serde_json::to_vec_pretty(run).map_err(|e| not_storable(e.to_string()))?;
        read::run(&text, &self.dir.join(RUN)).map_err(|e| not_storable(e.to_string()))?;
        let file = |name| OutputFile::create(&self.dir.join(name), true);
        let json = |value: serde_json::Result<()>| value.map_err(io::Error::from);
        if let (Some(outbox), false) = (&self.outbox, self.saved) {
            let waits = |out: &mut io::BufWriter<_>| out.write_all(outbox.as_bytes());
            file(OUTBOX)?.filled(waits)?.finish_private()?;
        }
        file(DETAIL)?.filled(|out| json(serde_json::to_writer(out, detail)))?.finish_private()?;
        file(RUN)?.filled(|out| out.write_all(&text))?.finish_private()?;
        if !self.saved {
            // The folder's own name must survive a power cut too.
            self.dir.parent().map_or(Ok(()), sync_dir)?;
            self.saved = true;
        }
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.dir.join(LOCK));
        if !self.saved {
            let _ = fs::remove_dir(&self.dir);
        }
    }
}

/// Whether a bundle still has to be sent to this database.
pub(crate) fn is_waiting(dir: &Path, database: &str) -> bool {
    fs::read_to_string(dir.join(OUTBOX)).is_ok_and(|waits| waits == database)
        && !is_being_written(dir)
}

/// Takes a bundle out of the outbox.
pub(crate) fn sent(dir: &Path, database: &str) -> Result<(), StoreError> {
    let outbox = dir.join(OUTBOX);
    match is_waiting(dir, database).then(|| fs::remove_file(&outbox)) {
        Some(Err(e)) if e.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::io("removing", &outbox)(e))
        }
        _ => Ok(()),
    }
}

fn sync_dir(dir: &Path) -> Result<(), StoreError> {
    File::open(dir).and_then(|d| d.sync_all()).map_err(StoreError::io("syncing", dir))
}

fn try_lock(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Whether a living process is writing what is kept in this folder.
pub fn is_being_written(dir: &Path) -> bool {
    File::open(dir.join(LOCK)).is_ok_and(|lock| {
        flock(&lock, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK)
    })
}

/// Removes what killed processes left: unfinished files, stale locks, and folders in which
/// nothing was ever saved. Closes what earlier versions left open to others. What fails is left for
/// the next time.
pub(crate) fn sweep(store: &Path) {
    let Ok(entries) = fs::read_dir(store) else { return };
    let (mut bundles, mut others) = (0, 0);
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        if name.starts_with(REMOVED) {
            let _ = fs::remove_dir_all(entry.path());
        } else if id::is_id(name) {
            bundles += 1;
            let _ = make_private(&entry.path());
            sweep_bundle(&entry.path());
        } else if !index::is_part(name) {
            others += 1;
        }
    }
    // A folder that holds other things too is not ours to close: it may be /tmp.
    if bundles > 0 && others == 0 {
        let _ = make_private(store);
    }
}

fn sweep_bundle(dir: &Path) {
    let path = dir.join(LOCK);
    match File::open(&path) {
        Ok(lock) if try_lock(&lock) => {
            let _ = sweep_folder(dir);
            let _ = fs::remove_file(&path);
            // Fails, as it should, unless nothing was saved in it.
            let _ = fs::remove_dir(dir);
        }
        Ok(_) => {}
        // Killed between making the folder and its lock, or about to make the lock: `claim` copes.
        Err(_) => {
            let _ = fs::remove_dir(dir);
        }
    }
}

/// What a folder is renamed to before its files are deleted, so that no half of it is ever listed.
const REMOVED: &str = ".removed-";

pub(crate) fn remove(store: &Path, id: &str) -> Result<(), StoreError> {
    let dir = store.join(id);
    let lock = File::open(dir.join(LOCK)).ok();
    if lock.as_ref().is_some_and(|lock| !try_lock(lock)) {
        return Err(StoreError::StillRunning { id: id.to_owned() });
    }
    let aside = store.join(format!("{REMOVED}{id}"));
    if aside.exists() {
        fs::remove_dir_all(&aside).map_err(StoreError::io("removing", &aside))?;
    }
    fs::rename(&dir, &aside).map_err(StoreError::io("removing", &dir))?;
    sync_dir(store)?;
    fs::remove_dir_all(&aside).map_err(StoreError::io("removing", &aside))
}

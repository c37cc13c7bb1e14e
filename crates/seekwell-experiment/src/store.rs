//! Experiments on disk: one folder each, written so that a kill at any moment leaves a whole
//! document.
//!
//! ```text
//! experiments/<id>/experiment.json   Document, replaced after every run
//! experiments/<id>/detail.json       Detail, histograms and series of every run
//! experiments/<id>/.lock             held with flock(2) while a process makes it
//! experiments/noise.json             Noise, the machine's noise floors
//! ```

use crate::document::{Document, Status};
use crate::error::ExperimentError;
use crate::noise::Noise;
use jiff::Timestamp;
use seekwell_access::{
    Locked, OutputFile, create_private_dir, create_private_dir_all, make_private, open_private,
    sweep,
};
use seekwell_runs::{Detail, RepeatDetail, fresh_id, ids_meant, is_being_written, is_id};
use seekwell_sys::read_file;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const FILE: &str = "experiment.json";
const DETAIL: &str = "detail.json";
const LOCK: &str = ".lock";
const NOISE: &str = "noise.json";
/// Far above any document: 40 blocks and their inspections are a few megabytes.
const LARGEST: u64 = 256 << 20;

/// Keeps a document after every run.
pub trait Keeper {
    /// Writes it as it is now.
    ///
    /// # Errors
    /// [`ExperimentError`] when it is not on the disk.
    fn save(&mut self, document: &Document) -> Result<(), ExperimentError>;

    /// Writes histograms and series of a run, whose number is that of the repeat, before the
    /// document that has the run. The default keeps none.
    ///
    /// # Errors
    /// As for [`Keeper::save`].
    fn save_detail(&mut self, _run: RepeatDetail) -> Result<(), ExperimentError> {
        Ok(())
    }
}

/// The folder of all experiments. Opening it touches nothing.
#[derive(Debug, Clone)]
pub struct ExperimentStore {
    dir: PathBuf,
}

impl ExperimentStore {
    /// The place beside the folder of runs: its sibling `experiments` where that folder is called
    /// `runs`, and otherwise a folder in it, so that nothing is put beside a folder a person named.
    pub fn beside(runs: &Path) -> Self {
        let sibling = runs.parent().filter(|_| runs.file_name().is_some_and(|n| n == "runs"));
        Self { dir: sibling.unwrap_or(runs).join("experiments") }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Makes the folder of a new experiment and takes its lock.
    ///
    /// # Errors
    /// [`ExperimentError::Io`].
    pub fn create(&self, now: Timestamp) -> Result<Folder, ExperimentError> {
        self.make()?;
        loop {
            let id = fresh_id("experiment", now);
            let dir = self.dir.join(&id);
            match create_private_dir(&dir) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                other => {
                    other.map_err(io_error("creating", &dir))?;
                    sync_dir(&self.dir)?;
                    return Folder::lock(dir, id);
                }
            }
        }
    }

    /// Makes the folder if it is missing, and closes to others what earlier versions left open.
    fn make(&self) -> Result<(), ExperimentError> {
        create_private_dir_all(&self.dir).map_err(io_error("creating", &self.dir))?;
        let kept = self.ids().into_iter().map(|id| self.dir.join(id));
        for dir in kept.chain([self.dir.clone()]) {
            // What is not ours to close stays as it is.
            let _ = make_private(&dir);
        }
        Ok(())
    }

    /// Opens an experiment to go on with it: by id, a unique beginning or the last four digits of
    /// one, by its file or folder (a name with a `/`), or, without a name, the newest that is not
    /// at its end.
    ///
    /// # Errors
    /// [`ExperimentError`].
    pub fn open(&self, name: Option<&str>) -> Result<(Folder, Document), ExperimentError> {
        let dir = match name {
            Some(name) if name.contains('/') => {
                let path = Path::new(name);
                let file = path.file_name().is_some_and(|f| f == FILE);
                if file { path.parent().unwrap_or(path).to_path_buf() } else { path.to_path_buf() }
            }
            Some(name) => self.dir.join(self.id(name)?),
            None => self.unfinished()?,
        };
        // Read first: the lock must not be created in a folder that is not an experiment's.
        let document = read_document(&dir.join(FILE))?;
        let folder = Folder::lock(dir, document.id.clone())?;
        let document = read_document(&folder.path())?;
        Ok((folder, document))
    }

    /// Reads an experiment as it was last saved, also while another process makes it.
    ///
    /// # Errors
    /// [`ExperimentError`]; [`ExperimentError::NotFound`] for what is no id or is not kept.
    pub fn read(&self, id: &str) -> Result<Document, ExperimentError> {
        let path = self.dir.join(id).join(FILE);
        if !is_id(id) || !path.exists() {
            return Err(self.not_found(id));
        }
        read_document(&path)
    }

    /// Reads histograms and series of the runs of an experiment; the phase of each is the letter of
    /// its arm and its repeat the number of the run.
    ///
    /// # Errors
    /// [`ExperimentError`], as for [`ExperimentStore::read`].
    pub fn detail(&self, id: &str) -> Result<Detail, ExperimentError> {
        let dir = self.dir.join(id);
        if !is_id(id) || !dir.exists() {
            return Err(self.not_found(id));
        }
        read_detail(&dir)
    }

    /// When an experiment was last saved; `None` if it is not kept.
    pub fn saved_at(&self, id: &str) -> Option<SystemTime> {
        let path = is_id(id).then(|| self.dir.join(id).join(FILE))?;
        fs::metadata(path).and_then(|data| data.modified()).ok()
    }

    /// How an experiment stands, in a word: `running` while a process makes it, `killed` where none
    /// does and none has said why it ended, and otherwise its [`Status`].
    pub fn state(&self, document: &Document) -> &'static str {
        let made = |id: &str| is_id(id) && is_being_written(&self.dir.join(id));
        match document.status {
            Status::Running if made(&document.id) => "running",
            Status::Running => "killed",
            Status::Waiting => "waiting",
            Status::Interrupted => "interrupted",
            Status::Complete => "complete",
            Status::Invalid => "invalid",
        }
    }

    /// Ids, newest first.
    pub fn ids(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let names = entries.filter_map(|e| e.file_name().into_string().ok());
        let mut ids: Vec<String> = names.filter(|name| is_id(name)).collect();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        ids
    }

    fn not_found(&self, wanted: &str) -> ExperimentError {
        let have = self.ids().into_iter().take(3).collect();
        ExperimentError::NotFound { wanted: wanted.to_owned(), dir: self.dir.clone(), have }
    }

    fn id(&self, name: &str) -> Result<String, ExperimentError> {
        let ids = self.ids();
        if let Some(newest) = ids.first().filter(|_| name == "last") {
            return Ok(newest.clone());
        }
        let candidates = ids_meant(name, &ids);
        match candidates.as_slice() {
            [] => Err(self.not_found(name)),
            [id] => Ok(id.clone()),
            _ => Err(ExperimentError::Ambiguous { wanted: name.to_owned(), candidates }),
        }
    }

    fn unfinished(&self) -> Result<PathBuf, ExperimentError> {
        let dirs = self.ids().into_iter().map(|id| self.dir.join(id));
        let can_go_on = |dir: &PathBuf| {
            read_document(&dir.join(FILE))
                .is_ok_and(|d| !matches!(d.status, Status::Complete | Status::Invalid))
        };
        dirs.into_iter().find(can_go_on).ok_or_else(|| self.not_found("that can go on"))
    }

    /// The noise floors measured so far; none if there is no file.
    ///
    /// # Errors
    /// [`ExperimentError`] when the file is there and cannot be read.
    pub fn noise(&self) -> Result<Noise, ExperimentError> {
        let path = self.dir.join(NOISE);
        if path.exists() { read_json(&path, Noise::SCHEMA) } else { Ok(Noise::default()) }
    }

    /// Replaces the noise floors.
    ///
    /// # Errors
    /// [`ExperimentError::Io`].
    pub fn keep_noise(&self, noise: &Noise) -> Result<(), ExperimentError> {
        self.make()?;
        replace(&self.dir, NOISE, noise)
    }
}

/// The folder of one experiment, locked for as long as this lives.
#[derive(Debug)]
pub struct Folder {
    dir: PathBuf,
    id: String,
    /// What the file of details holds, once it is known.
    detail: Option<Detail>,
    _lock: Locked,
}

impl Folder {
    fn lock(dir: PathBuf, id: String) -> Result<Self, ExperimentError> {
        let path = dir.join(LOCK);
        let lock = open_private(&path).map_err(io_error("creating", &path))?;
        let Some(lock) = Locked::of(lock).map_err(io_error("locking", &path))? else {
            return Err(ExperimentError::Busy { id });
        };
        let _ = sweep(&dir);
        Ok(Self { dir, id, detail: None, _lock: lock })
    }

    /// The experiment's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The document's file.
    pub fn path(&self) -> PathBuf {
        self.dir.join(FILE)
    }

    /// Removes it with what is in it: for an experiment that could not even begin.
    pub fn discard(self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl Keeper for Folder {
    fn save(&mut self, document: &Document) -> Result<(), ExperimentError> {
        replace(&self.dir, FILE, document)
    }

    fn save_detail(&mut self, run: RepeatDetail) -> Result<(), ExperimentError> {
        let mut detail = match self.detail.take() {
            Some(detail) => detail,
            None => read_detail(&self.dir)?,
        };
        // A repeated run replaces the one that was cut off.
        detail.repeats.retain(|r| r.repeat < run.repeat);
        detail.repeats.push(run);
        let kept = replace(&self.dir, DETAIL, &detail);
        self.detail = Some(detail);
        kept
    }
}

/// Empty if there is no file: experiments of earlier versions have none.
fn read_detail(dir: &Path) -> Result<Detail, ExperimentError> {
    let path = dir.join(DETAIL);
    match read_file(&path, LARGEST) {
        Ok(text) => serde_json::from_slice(&text)
            .map_err(|e| ExperimentError::Damaged { path, reason: e.to_string() }),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Detail::default()),
        Err(e) => Err(io_error("reading", &path)(e)),
    }
}

fn read_document(path: &Path) -> Result<Document, ExperimentError> {
    let document: Document = read_json(path, Document::SCHEMA)?;
    if document.runs.iter().enumerate().any(|(i, run)| run.index as usize != i) {
        let reason = "its runs are not numbered from 0".to_owned();
        return Err(ExperimentError::Damaged { path: path.to_path_buf(), reason });
    }
    Ok(document)
}

fn read_json<T: DeserializeOwned>(path: &Path, schema: &'static str) -> Result<T, ExperimentError> {
    let damaged = |reason: String| ExperimentError::Damaged { path: path.to_path_buf(), reason };
    let text = read_file(path, LARGEST).map_err(io_error("reading", path))?;
    let wrong = |e: serde_json::Error| damaged(e.to_string());
    let Head { schema: found } = serde_json::from_slice(&text).map_err(wrong)?;
    if found != schema {
        let stem = schema.trim_end_matches(char::is_numeric);
        if found.starts_with(stem) {
            return Err(ExperimentError::Newer { path: path.to_path_buf(), found, known: schema });
        }
        return Err(damaged(format!("its schema is {found}, not {schema}")));
    }
    serde_json::from_slice(&text).map_err(wrong)
}

#[derive(serde::Deserialize)]
struct Head {
    schema: String,
}

/// Writes a file that only this user may read, in place of the old one.
fn replace(dir: &Path, name: &str, value: &impl serde::Serialize) -> Result<(), ExperimentError> {
    let file = OutputFile::create(&dir.join(name), true)?;
    let write = |out: &mut _| serde_json::to_writer_pretty(out, value).map_err(io::Error::from);
    Ok(file.filled(write)?.finish_private()?)
}

fn sync_dir(dir: &Path) -> Result<(), ExperimentError> {
    File::open(dir).and_then(|d| d.sync_all()).map_err(io_error("syncing", dir))
}

fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ExperimentError {
    let path = path.to_path_buf();
    move |source| ExperimentError::Io { doing, path, source }
}

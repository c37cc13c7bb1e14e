//! All kept runs: making, finding, listing and removing them.

use crate::bundle::{self, Writer};
use crate::document::{Detail, RunDocument, RunKind, Status};
use crate::entry::{Measured, RunEntry, RunState};
use crate::error::StoreError;
use crate::{id, index, read};
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where kept runs are read from: a folder, or a database of many hosts' runs.
pub trait Runs {
    /// The kept runs, newest first.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be read.
    fn list(&self, filter: &Filter) -> Result<Listing, StoreError>;

    /// Reads the run that `name` means: an id, the beginning of one, its last four digits, or
    /// `last` for the newest.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] with the nearest ids, [`StoreError::Ambiguous`] with the
    /// candidates; [`StoreError::Damaged`], [`StoreError::Invalid`] or [`StoreError::Newer`] when
    /// what is kept is not what it should be.
    fn load(&self, name: &str) -> Result<(RunDocument, Detail), StoreError>;

    /// Reads the documents of these runs one after another, without their histograms, which are
    /// many times as large.
    ///
    /// # Errors
    /// As for [`Runs::load`].
    fn each(&self, runs: &[&RunEntry], take: &mut dyn FnMut(RunDocument))
    -> Result<(), StoreError>;

    /// One metric in every kept run that has it, in one phase or in each.
    ///
    /// # Errors
    /// As for [`Runs::list`].
    fn history(&self, metric: &str, phase: Option<&str>) -> Result<Vec<Measured>, StoreError>;
}

/// A folder of run bundles. Opening it touches nothing; the folder is made with the first run.
#[derive(Debug, Clone)]
pub struct Store {
    dir: PathBuf,
    /// The database that new runs are to be sent to.
    outbox: Option<String>,
}

/// Which runs to list. Empty means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only those this command made.
    pub kind: Option<RunKind>,
    /// Only those that stand like this.
    pub state: Option<RunState>,
    /// Only those with exactly this label.
    pub label: Option<String>,
    /// Only those of this host.
    pub host: Option<String>,
    /// Only those whose target, or whose disk's model or serial number, contains this text;
    /// upper and lower case are the same.
    pub target: Option<String>,
    /// Only those that started then or later.
    pub since: Option<Timestamp>,
    /// Of each host and target only two: the newest run that counts, and the newest that does not
    /// ([`RunEntry::counts`]).
    pub newest: bool,
    /// At most this many, the newest.
    pub limit: Option<usize>,
}

#[derive(Debug, Default)]
pub struct Listing {
    /// The runs, newest first.
    pub runs: Vec<RunEntry>,
    /// Bundles that are there and cannot be read, by id, and why. The filter does not apply to
    /// them.
    pub unreadable: Vec<(String, StoreError)>,
}

impl Store {
    /// The runs in this folder, which need not exist yet.
    pub fn open(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), outbox: None }
    }

    /// The same store, whose new runs wait to be sent to this database.
    pub fn sending_to(self, database: &str) -> Self {
        Self { outbox: Some(database.to_owned()), ..self }
    }

    /// The runs that wait to be sent to this database, oldest first.
    pub fn waiting_for(&self, database: &str) -> Vec<String> {
        let mut ids = index::ids(&self.dir);
        ids.retain(|id| bundle::is_waiting(&self.dir.join(id), database));
        ids
    }

    /// A run was sent to this database and need not wait any longer.
    ///
    /// # Errors
    /// [`StoreError::Io`] when that cannot be noted; it is then sent once more.
    pub fn sent(&self, id: &str, database: &str) -> Result<(), StoreError> {
        bundle::sent(&self.dir.join(id), database)
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Begins a new run, after removing what killed processes left behind. The folder of the run is
    /// there when this returns, but nothing is listed before the first [`Writer::save`].
    ///
    /// # Errors
    /// [`StoreError::Io`] when the folder cannot be made or written to.
    pub fn create(&self, kind: RunKind, now: Timestamp) -> Result<Writer, StoreError> {
        bundle::sweep(&self.dir);
        Writer::create(&self.dir, self.outbox.clone(), kind, now)
    }

    /// Opens a kept run by name to resume it. Nothing else can write it while the writer exists.
    ///
    /// # Errors
    /// [`StoreError::StillRunning`] when a living process is writing it, and as for
    /// [`Runs::load`]; only runs in the store can be resumed.
    pub fn resume(&self, name: &str) -> Result<(Writer, RunDocument, Detail), StoreError> {
        let id = self.find_id(name)?;
        bundle::sweep(&self.dir);
        let writer = Writer::again(&self.dir, self.outbox.clone(), &id)?;
        let (run, detail) = self.load(&id)?;
        Ok((writer, run, detail))
    }

    /// The folder of the run that `name` means: an id, the beginning of one, its last four digits,
    /// `last` for the newest, or the path of a bundle or of its `run.json` (a name with a `/`).
    ///
    /// # Errors
    /// [`StoreError::NotFound`] with the nearest ids, [`StoreError::Ambiguous`] with the
    /// candidates.
    pub fn find(&self, name: &str) -> Result<PathBuf, StoreError> {
        if name.contains('/') {
            let path = Path::new(name);
            return Ok(if path.file_name().is_some_and(|f| f == read::RUN) {
                path.parent().unwrap_or(Path::new("")).to_path_buf()
            } else {
                path.to_path_buf()
            });
        }
        self.find_id(name).map(|id| self.dir.join(id))
    }

    fn find_id(&self, name: &str) -> Result<String, StoreError> {
        // Whoever reads run after run names them so, and would go through the folder for each.
        if id::is_id(name) && self.dir.join(name).join(read::RUN).exists() {
            return Ok(name.to_owned());
        }
        let ids = index::ids(&self.dir);
        let not_found = || StoreError::NotFound {
            wanted: name.to_owned(),
            place: self.dir.display().to_string(),
            nearest: id::nearest(name, &ids),
        };
        if name == "last" {
            return index::newest(&self.dir).ok_or_else(not_found);
        }
        let candidates = id::ids_meant(name, &ids);
        match candidates.as_slice() {
            [] => Err(not_found()),
            [id] => Ok(id.clone()),
            _ => Err(StoreError::Ambiguous { wanted: name.to_owned(), candidates }),
        }
    }

    /// How the run in this folder stands.
    pub fn state(dir: &Path, status: Status) -> RunState {
        match status {
            Status::Running if bundle::is_being_written(dir) => RunState::Running,
            status => RunState::left_at(status),
        }
    }

    /// Removes the run that `name` means (an id, the beginning of one, its last four digits or
    /// `last`) and gives its id.
    ///
    /// # Errors
    /// [`StoreError::StillRunning`] when a living process is writing it, [`StoreError::Io`] when it
    /// cannot be removed, and as for [`Store::find`]. A path is [`StoreError::NotFound`]: only what
    /// is in the store is removed.
    pub fn remove(&self, name: &str) -> Result<String, StoreError> {
        let id = self.find_id(name)?;
        bundle::remove(&self.dir, &id)?;
        index::with(&self.dir, |_| Ok(()))?;
        Ok(id)
    }

    /// Throws the index away and builds it from the bundles. Gives the number of runs in it, and
    /// the bundles that could not be read.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the index cannot be replaced, [`StoreError::Index`] when SQLite
    /// fails.
    pub fn reindex(&self) -> Result<(usize, Vec<(String, StoreError)>), StoreError> {
        if !self.dir.exists() {
            return Ok((0, Vec::new()));
        }
        index::discard(&self.dir)?;
        let (entries, unreadable) = self.entries()?;
        Ok((entries.len(), unreadable))
    }

    fn entries(&self) -> Result<(Vec<RunEntry>, index::Unreadable), StoreError> {
        index::with(&self.dir, |c| index::entries(c, &self.dir, Self::state))
    }
}

/// A folder that does not exist holds no runs, and a run may also be named by the path of its
/// bundle or of its `run.json`.
impl Runs for Store {
    fn list(&self, filter: &Filter) -> Result<Listing, StoreError> {
        let (entries, unreadable) = self.entries()?;
        let limit = filter.limit.unwrap_or(usize::MAX);
        let mut seen = BTreeSet::new();
        let mut first = |e: &RunEntry| seen.insert((e.host.clone(), e.target.clone(), e.counts()));
        let admitted = entries.into_iter().filter(|e| filter.admits(e));
        let runs = admitted.filter(|e| !filter.newest || first(e)).take(limit).collect();
        Ok(Listing { runs, unreadable })
    }

    fn load(&self, name: &str) -> Result<(RunDocument, Detail), StoreError> {
        let dir = self.find(name)?;
        let (run, detail) = read::bundle(&dir)?;
        if !name.contains('/') {
            let id = dir.file_name().unwrap_or_default().to_string_lossy();
            index::check_id(&dir, &id, &run)?;
        }
        Ok((run, detail))
    }

    fn each(
        &self,
        runs: &[&RunEntry],
        take: &mut dyn FnMut(RunDocument),
    ) -> Result<(), StoreError> {
        runs.iter().try_for_each(|run| index::document(&self.dir, &run.id).map(&mut *take))
    }

    fn history(&self, metric: &str, phase: Option<&str>) -> Result<Vec<Measured>, StoreError> {
        Ok(index::with(&self.dir, |c| index::history(c, metric, phase))?.0)
    }
}

impl Filter {
    fn admits(&self, entry: &RunEntry) -> bool {
        let holds = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
        self.kind.is_none_or(|kind| kind == entry.kind)
            && self.state.is_none_or(|state| state == entry.state)
            && self.label.as_ref().is_none_or(|label| entry.label.as_ref() == Some(label))
            && self.host.as_ref().is_none_or(|host| entry.host == *host)
            && self.since.is_none_or(|since| entry.started_at.parse().is_ok_and(|at| since <= at))
            && self.target.as_deref().is_none_or(|part| {
                [Some(&entry.target), entry.device_model.as_ref(), entry.device_serial.as_ref()]
                    .into_iter()
                    .flatten()
                    .any(|text| holds(text, part))
            })
    }
}

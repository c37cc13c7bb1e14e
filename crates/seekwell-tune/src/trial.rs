//! `try`, `keep`, `undo` and `status`.

use crate::apply::{Change, Difference, Limits, RestoreOutcome};
use crate::conflict::Other;
use crate::disk::{Identity, Machine};
use crate::error::TuneError;
use crate::guard;
use crate::journal::{JournalState, Phase, TrialFiles};
use crate::setting::Risk;
use seekwell_sys::View;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where journals are unless the environment says otherwise: gone at a reboot, as settings are.
const RUN_DIR: &str = "/run/seekwell";

/// The folder for journals: what `SEEKWELL_RUN_DIR` says, or `/run/seekwell`.
pub fn default_run_dir(set: Option<&OsStr>) -> PathBuf {
    set.filter(|s| !s.is_empty()).map_or_else(|| PathBuf::from(RUN_DIR), PathBuf::from)
}

#[derive(Debug, Clone)]
pub struct TrialRequest {
    /// `KEY=VALUE` or classic switches, as typed.
    pub words: Vec<String>,
    /// Time after which everything is put back.
    pub time: Duration,
    /// The highest risk that is accepted.
    pub allow: Risk,
    /// Deadlines of writes.
    pub limits: Limits,
    /// Read a block every second to see that the disk answers.
    pub canary: bool,
    /// Roll back at once when this process ends, however it ends.
    pub owned: bool,
}

/// A trial that has begun: the document `seekwell/tune-try/1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// `seekwell/tune-try/1`.
    pub schema: String,
    pub disk: Identity,
    pub changed: Vec<Difference>,
    pub side_effects: Vec<Difference>,
    /// Time after which everything is put back, in milliseconds.
    pub for_ms: u64,
    /// What the guard cannot watch.
    pub blind: Vec<String>,
    /// Who else sets the same settings.
    pub others: Vec<Other>,
}

/// What was kept: the document `seekwell/tune-keep/1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// `seekwell/tune-keep/1`.
    pub schema: String,
    pub disk: Identity,
    pub changed: Vec<Difference>,
    /// The rule that sets it after a reboot.
    pub rule: Option<PathBuf>,
    /// Why udev was not asked about the rule.
    pub not_verified: Option<String>,
    /// Who else sets the same settings.
    pub others: Vec<Other>,
}

/// What was put back: the document `seekwell/tune-undo/1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    /// `seekwell/tune-undo/1`.
    pub schema: String,
    pub disk: Identity,
    pub outcome: RestoreOutcome,
    /// The disk is gone: nothing was written.
    pub gone: bool,
    pub rule_removed: Option<PathBuf>,
    /// What else there is to know.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialStatus {
    pub disk: Identity,
    /// How far it has come.
    pub phase: Phase,
    /// A guard lives and watches.
    pub guarded: bool,
    /// Time left, in milliseconds, while a guard waits.
    pub remaining_ms: Option<u64>,
    /// What is not as it was before the trial, now.
    pub changed: Vec<Difference>,
    pub ended_because: Option<String>,
    pub left: Vec<String>,
    /// The rule that sets it after a reboot.
    pub rule: Option<PathBuf>,
    /// Who else sets the same settings.
    pub others: Vec<Other>,
    /// The disk is gone.
    pub gone: bool,
    /// What else there is to know.
    pub notes: Vec<String>,
}

/// A trial that was cut off without a rollback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    pub disk: Identity,
    pub journal: PathBuf,
    /// What was being set.
    pub keys: Vec<String>,
    /// The disk is gone.
    pub gone: bool,
}

impl std::fmt::Display for Unfinished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (keys, disk) = (self.keys.join(", "), &self.disk.name);
        match self.gone {
            false => write!(
                f,
                "a trial of {keys} on {disk} was cut off and not put back; `seekwell tune undo` \
                 does it"
            ),
            true => write!(
                f,
                "{disk}, on which {keys} was tried, is gone; `seekwell tune undo` clears the trial"
            ),
        }
    }
}

/// Looks for a trial of this boot that was cut off and has no guard. Where there never was one it
/// reads one folder.
///
/// # Errors
/// [`TuneError`] when that is unknown.
pub fn unfinished(run_dir: &Path) -> Result<Option<Unfinished>, TuneError> {
    let view = seekwell_sys::Live::system();
    let here = Machine::read(&view);
    let hidden = |source| TuneError::Hidden { path: run_dir.to_path_buf(), source };
    for files in TrialFiles::all(run_dir).map_err(hidden)? {
        let cut_off = |s: &JournalState| s.unfinished() && s.begin.machine == here;
        if !files.state()?.is_some_and(|s| cut_off(&s)) || files.lock()?.is_none() {
            continue;
        }
        // Between the first look and the lock a guard may have ended well.
        if let Some(state) = files.state()?.filter(cut_off) {
            return Ok(Some(Unfinished {
                gone: guard::is_gone(&view, &state.begin.disk),
                disk: state.begin.disk,
                journal: files.journal(),
                keys: state.begin.changes.into_iter().map(|c| c.key).collect(),
            }));
        }
    }
    Ok(None)
}

/// Tries, keeps and undoes settings on one system.
pub struct Tuner<'a> {
    pub view: &'a dyn View,
    pub run_dir: PathBuf,
    pub rules_dir: PathBuf,
    /// This program, of which the guard is a copy.
    pub program: PathBuf,
}

impl Tuner<'_> {
    /// Every disk with a journal.
    fn all_files(&self) -> Result<Vec<TrialFiles>, TuneError> {
        TrialFiles::all(&self.run_dir)
            .map_err(|source| TuneError::Hidden { path: self.run_dir.clone(), source })
    }
}

mod begin;
mod end;
mod status;
#[cfg(test)]
mod tests;

fn changed(state: &JournalState) -> Vec<Difference> {
    let was = |key: &str| {
        let original = state.begin.originals.iter().find(|o| o.key == key);
        original.map_or_else(String::new, |o| o.value.clone())
    };
    let change =
        |c: &Change| Difference { key: c.key.clone(), was: was(&c.key), is: c.value.clone() };
    state.begin.changes.iter().map(change).collect()
}

//! Why settings could not be tried, kept or put back.

use crate::apply::WriteError;
use crate::disk::DiskError;
use crate::journal::JournalError;
use crate::persist::PersistError;
use crate::setting::{Risk, SettingError};
use seekwell_sys::{Class, Classified, classify, sudo_if_denied};
use std::io;
use std::path::PathBuf;

/// Why a command about settings could not do its work. Nothing is changed where this is returned,
/// but for [`TuneError::NotApplied`], which says what is left.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// There is no disk to tune, or it cannot be determined whether it is in use.
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// Too risky without being named.
    #[error(
        "{key}={value} is of risk class {}: {}; it is tried only with --allow-risk {}",
        risk.letter(), risk.meaning(), risk.letter()
    )]
    Risk { key: String, value: String, risk: Risk },
    /// A setting that may lose data, on a disk that is in use.
    #[error("{key} may lose data and is never tried on a disk in use: {by}")]
    InUse { key: String, by: String },
    #[error("{disk} is not in a state to try settings on: {why}")]
    Unwell { disk: String, why: String },
    #[error(
        "a trial is already running on {disk}: end it first with `seekwell tune keep` or `seekwell \
         tune undo`"
    )]
    Busy { disk: String },
    #[error("a trial on {disk} was cut off: put its settings back first with `seekwell tune undo`")]
    Unfinished { disk: String },
    #[error("no trial is running{}", disk.as_ref().map(|d| format!(" on {d}")).unwrap_or_default())]
    NoTrial { disk: Option<String> },
    #[error("the trial on {disk} is over, and everything was put back: {reason}")]
    Over { disk: String, reason: String },
    #[error("several disks have settings tried: {}; name one", disks.join(", "))]
    Which { disks: Vec<String> },
    #[error("{disk} is not the disk the trial was begun on: {difference}")]
    Replaced { disk: String, difference: String },
    #[error("{} belongs to another machine and is left alone", path.display())]
    OtherMachine { path: PathBuf },
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{key} was not set: {why}{}", left_over(left))]
    NotApplied {
        key: String,
        why: WriteError,
        /// What could not be put back, as `key`; mostly empty.
        left: Vec<String>,
    },
    /// The guard ended before it had applied anything, or while it did; everything it had changed
    /// was put back, but for what is named.
    #[error("the guard process died{}", left_over(left))]
    GuardLost {
        /// What could not be put back, as `key`.
        left: Vec<String>,
    },
    #[error("the guard process cannot be started: {0}")]
    Guard(io::Error),
    #[error("the guard does not answer: {0}")]
    Silent(io::Error),
    #[error("the guard refused: {0}")]
    Told(String),
    #[error(transparent)]
    Persist(#[from] PersistError),
    #[error(
        "cannot tell whether settings are being tried: {} cannot be read: {source}{}",
        path.display(), sudo_if_denied(source)
    )]
    Hidden { path: PathBuf, source: io::Error },
    #[error("{} cannot be used: {source}{}", path.display(), sudo_if_denied(source))]
    RunDir { path: PathBuf, source: io::Error },
}

classify!(TuneError {
    Usage: NoTrial, Which;
    Refused: Risk, InUse, Unwell, Busy, Unfinished, Over, Replaced, OtherMachine, Guard,
        Silent, Told, Persist, Hidden, RunDir;
    | Self::Disk(error) => error.class(),
    | Self::Setting(error) => error.class(),
    | Self::Journal(error) => error.class(),
    | Self::NotApplied { left, .. } | Self::GuardLost { left } => {
        if left.is_empty() { Class::Refused } else { Class::Incomplete }
    },
});

fn left_over(left: &[String]) -> String {
    if left.is_empty() {
        return "; everything is as it was".to_owned();
    }
    format!("; not put back: {}", left.join(", "))
}

impl TuneError {
    /// Whether settings are not as they were, or may not be: the one thing a caller must never
    /// hide.
    pub fn incomplete(&self) -> bool {
        self.class() == Class::Incomplete
    }
}

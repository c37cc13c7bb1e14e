//! Why a key or value is not for this disk.

use super::hdparm::Refused;
use super::nearest::did_you_mean;
use super::request::RequestError;
use super::values::ValueProblem;
use seekwell_sys::{classify, sudo};
use std::path::PathBuf;

/// Why a key or value is not for this disk.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// No setting has this name.
    #[error("there is no setting {key}{}", did_you_mean(near.as_ref()))]
    Unknown {
        /// As it was typed.
        key: String,
        /// The most similar key.
        near: Option<String>,
    },
    /// The setting exists, but not for this disk.
    #[error("{disk} has no {key}: {why}")]
    Absent {
        /// The key.
        key: String,
        /// The disk.
        disk: String,
        /// Why, as far as it is known.
        why: &'static str,
    },
    /// The value is not one it takes.
    #[error("{key}={value}: {problem}")]
    Value {
        /// The key.
        key: String,
        /// As it was typed.
        value: String,
        /// What is wrong with it, with what would be right.
        problem: ValueProblem,
    },
    /// The driver does not let it be written.
    #[error(
        "{key} is read-only for this disk: its driver has no way to change it ({})", path.display()
    )]
    ReadOnly {
        /// The key.
        key: String,
        /// Where it lives.
        path: PathBuf,
    },
    /// This user may not write it.
    #[error("{key} is {present}, and this user may not change it{}", sudo())]
    Denied {
        /// The key.
        key: String,
        /// Its value now.
        present: String,
    },
    /// The value it has now could not be put back.
    #[error("{key} is {present} now, and that could not be put back: {why}")]
    NotReversible {
        /// The key.
        key: String,
        /// Its value now.
        present: String,
        /// Why.
        why: String,
    },
    /// One key twice.
    #[error("{key} is given twice")]
    Twice {
        /// The key.
        key: String,
    },
    /// What was typed is no `KEY=VALUE`.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A classic switch that today's kernel does not honour.
    #[error(transparent)]
    Classic(#[from] Refused),
}

classify!(SettingError {
    Usage: Unknown, Value, Twice, Request;
    Refused: Absent, ReadOnly, Denied, NotReversible, Classic;
});

//! What can go wrong with kept runs, with the data a person needs to act.

use seekwell_access::OutputError;
use seekwell_sys::{Class, classify};
use std::io;
use std::path::{Path, PathBuf};

/// Why a run could not be kept, found, read or removed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(
        "nowhere to keep runs: neither XDG_DATA_HOME nor HOME is set to an absolute path; \
         set XDG_DATA_HOME to the folder for data, or HOME"
    )]
    NoPlace,
    #[error("{doing} {} failed: {source}", path.display())]
    Io {
        /// What was tried: `writing`, `creating` …
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("no run {wanted:?} in {place}{}", hint("nearest: ", nearest))]
    NotFound {
        wanted: String,
        /// The folder or database that was searched.
        place: String,
        /// Ids that look most like it, best first; empty when nothing is kept.
        nearest: Vec<String>,
    },
    #[error("{wanted:?} matches several runs{}", hint("it could be ", candidates))]
    Ambiguous { wanted: String, candidates: Vec<String> },
    /// A file of a bundle is not the JSON it should be.
    #[error("{}:{line}:{column}: {reason}", path.display())]
    Damaged {
        path: PathBuf,
        /// Line, from 1; 0 if it is not known.
        line: usize,
        /// Column, from 1; 0 if it is not known.
        column: usize,
        reason: String,
    },
    /// A file of a bundle is well-formed, but says something that cannot be.
    #[error("{}: {field} is {found}; needed: {needed}", path.display())]
    Invalid { path: PathBuf, field: &'static str, found: String, needed: &'static str },
    #[error("{} is {found}; this version knows {known}: use a newer seekwell", path.display())]
    Newer { path: PathBuf, found: String, known: &'static str },
    #[error("{id} is still being measured; stop it first")]
    StillRunning { id: String },
    /// A document with a number JSON cannot hold (not finite) would not be readable again.
    #[error("run {id} could not be read back after writing: {reason}")]
    NotStorable { id: String, reason: String },
    #[error("{store}: {reason}")]
    Database {
        /// Its address, without a password.
        store: String,
        reason: String,
    },
    #[error("the index of runs failed: {source}")]
    Index {
        #[from]
        source: rusqlite::Error,
    },
}

classify!(StoreError {
    Usage: NotFound, Ambiguous;
    Refused: NoPlace, Output, Damaged, Invalid, Newer, StillRunning, NotStorable, Database, Index;
    | Self::Io { doing: "reading", source, .. } => Class::of_file(source),
    | Self::Io { .. } => Class::Refused,
});

impl StoreError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::Io { doing, path, source }
    }

    pub(crate) fn json(path: &Path, error: &serde_json::Error) -> Self {
        let reason = error.to_string();
        // serde_json ends its text with the place, which is said before it here.
        let place = format!(" at line {} column {}", error.line(), error.column());
        Self::Damaged {
            path: path.to_path_buf(),
            line: error.line(),
            column: error.column(),
            reason: reason.strip_suffix(&place).unwrap_or(&reason).to_owned(),
        }
    }
}

fn hint(lead: &str, ids: &[String]) -> String {
    if ids.is_empty() { String::new() } else { format!("; {lead}{}", ids.join(", ")) }
}

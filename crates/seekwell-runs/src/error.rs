//! What can go wrong with kept runs, with the data a person needs to act.

use seekwell_access::OutputError;
use seekwell_sys::is_wrong_file;
use std::io;
use std::path::{Path, PathBuf};

/// Why a run could not be kept, found, read or removed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is nowhere to keep runs.
    #[error(
        "nowhere to keep runs: neither XDG_DATA_HOME nor HOME is set to an absolute path; \
         set XDG_DATA_HOME to the folder for data, or HOME"
    )]
    NoPlace,
    /// The kernel refused.
    #[error("{doing} {} failed: {source}", path.display())]
    Io {
        /// What was tried: `writing`, `creating` …
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// No kept run has this name.
    #[error("no run {wanted:?} in {}{}", dir.display(), hint("nearest: ", nearest))]
    NotFound {
        /// What was asked for.
        wanted: String,
        /// Where it was looked for.
        dir: PathBuf,
        /// Ids that look most like it, best first; empty when nothing is kept.
        nearest: Vec<String>,
    },
    /// More than one kept run begins or ends like this.
    #[error("{wanted:?} matches several runs{}", hint("it could be ", candidates))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// The runs it could be, sorted.
        candidates: Vec<String>,
    },
    /// A file of a bundle is not the JSON it should be.
    #[error("{}:{line}:{column}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Line, from 1; 0 where it is not known.
        line: usize,
        /// Column, from 1; 0 where it is not known.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A file of a bundle is well-formed, but says something that cannot be.
    #[error("{}: {field} is {found}; needed: {needed}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Which key.
        field: &'static str,
        /// Its value.
        found: String,
        /// What would be accepted.
        needed: &'static str,
    },
    /// A later version wrote it.
    #[error("{} is {found}; this version knows {known}: use a newer seekwell", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: String,
        /// The schema this version reads.
        known: &'static str,
    },
    /// The run is not over.
    #[error("{id} is still being measured; stop it first")]
    StillRunning {
        /// The run.
        id: String,
    },
    /// A document with a number JSON cannot hold (not finite) would not be readable again.
    #[error("run {id} could not be read back after writing: {reason}")]
    NotStorable {
        /// The run.
        id: String,
        /// What is wrong.
        reason: String,
    },
    /// SQLite failed even in memory.
    #[error("the index of runs failed: {source}")]
    Index {
        /// What SQLite said.
        #[from]
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Whether naming a run differently would help: it is a mistake in what was typed.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::NotFound { .. } | Self::Ambiguous { .. } => true,
            Self::Io { doing, source, .. } => *doing == "reading" && is_wrong_file(source),
            _ => false,
        }
    }

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

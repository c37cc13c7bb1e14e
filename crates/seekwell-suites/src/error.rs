//! Why a suite could not be run, or had to be given up.

use crate::blog::error::BlogError;
use crate::sqlite::error::SqliteError;
use crate::web::error::WebError;
use rustix::io::Errno;
use seekwell_access::AccessError;
use seekwell_io::engine::EngineError;
use seekwell_sys::classify;
use seekwell_trace::error::TraceError;
use seekwell_trace::replay::FitError;
use std::io;
use std::path::{Path, PathBuf};

/// A suite could not be run, or was given up in the middle. Its directory is gone either way.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// There is no such suite.
    #[error("there is no suite {name:?}; available: {known}")]
    NoSuchSuite {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Nothing was named to run it on.
    #[error("say what the suite {suite} is to run on: --on TARGET")]
    NoTarget {
        /// The suite.
        suite: &'static str,
    },
    /// A suite has no such tunable.
    #[error("the suite {suite} has no tunable {name:?}; it has {known}")]
    NoSuchTunable {
        /// The suite.
        suite: &'static str,
        /// What was to be set.
        name: String,
        /// What can be set.
        known: String,
    },
    /// A tunable cannot have this value.
    #[error("{name}={value} is not possible: {needed}")]
    BadValue {
        /// The tunable.
        name: String,
        /// What it was set to.
        value: String,
        /// What it can be.
        needed: String,
    },
    /// The target is not what this suite runs on.
    #[error("the suite {suite} runs on {needed}, and {} is a {found}", path.display())]
    WrongTarget {
        /// The suite.
        suite: &'static str,
        /// The target.
        path: PathBuf,
        /// What it needs, in words.
        needed: &'static str,
        /// What the target is, in words.
        found: &'static str,
    },
    /// There is too little of the target.
    #[error("{} holds {size_bytes} bytes, and {needed_bytes} are needed", path.display())]
    TooSmall {
        /// The target.
        path: PathBuf,
        /// What it holds.
        size_bytes: u64,
        /// What has to be there.
        needed_bytes: u64,
    },
    /// The target cannot be opened, or has no room.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The file system filled up.
    #[error(
        "the file system of {} is full, so the suite was given up; what it made is removed",
        path.display()
    )]
    Full {
        /// What was being written.
        path: PathBuf,
    },
    /// No more files can be made.
    #[error(
        "the file system of {} has no inodes left, so the suite was given up; what it made is \
         removed", path.display()
    )]
    NoInodes {
        /// What was being made.
        path: PathBuf,
    },
    /// The file system became read-only, as it does after errors of the disk.
    #[error("the file system of {} is mounted read-only", path.display())]
    ReadOnly {
        /// What was being written.
        path: PathBuf,
    },
    /// A system call failed.
    #[error("{what} {} failed: {source}", path.display())]
    Io {
        /// What was being done: `writing`.
        what: &'static str,
        /// To what.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A database is not what it has to be.
    #[error(transparent)]
    Sqlite(#[from] SqliteError),
    /// Pages do not come as they have to.
    #[error(transparent)]
    Web(#[from] WebError),
    /// The blogs on disk are not those that were written.
    #[error(transparent)]
    Blog(#[from] BlogError),
    /// A trace was not played to its end.
    #[error(transparent)]
    StorageMark(#[from] StorageMarkError),
    /// No thread or process could be started.
    #[error("starting a thread failed")]
    Thread,
    /// The stop flag was raised.
    #[error("interrupted; what the suite made is removed")]
    Interrupted,
}

classify!(SuiteError {
    Usage: NoSuchSuite, NoTarget, NoSuchTunable, BadValue, WrongTarget, TooSmall;
    Refused: Access, Full, NoInodes, ReadOnly, Thread;
    Invalid: Io, Blog, StorageMark;
    Interrupted: Interrupted;
    | Self::Sqlite(error) => error.class(),
    | Self::Web(error) => error.class(),
});

impl SuiteError {
    /// A failed call, with the reasons that have a name of their own told apart.
    pub fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        let owned = path.to_path_buf();
        match source.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NOSPC) if out_of_inodes(path) => Self::NoInodes { path: owned },
            Some(Errno::NOSPC | Errno::DQUOT) => Self::Full { path: owned },
            Some(Errno::ROFS) => Self::ReadOnly { path: owned },
            _ => Self::Io { what, path: owned, source },
        }
    }
}

/// Why a trace of `storagemark` was not played to its end.
#[derive(Debug, thiserror::Error)]
pub enum StorageMarkError {
    /// A trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A trace cannot be put on so small a file.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// Requests cannot be issued.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A request failed, or none completed for long.
    #[error("the replay ended early: {why}")]
    Ended {
        /// What happened.
        why: String,
    },
}

/// The kernel says "no space" for both; blocks that are free mean that it was the inodes.
fn out_of_inodes(path: &Path) -> bool {
    let existing = path.ancestors().find_map(|p| rustix::fs::statvfs(p).ok());
    existing.is_some_and(|s| s.f_files > 0 && s.f_favail == 0 && s.f_bavail > 0)
}

/// Names what failed and where.
pub trait Describe<T> {
    /// An I/O error as a [`SuiteError`].
    ///
    /// # Errors
    /// The same error, with what was being done and to what.
    fn doing(self, what: &'static str, path: &Path) -> Result<T, SuiteError>;
}

impl<T, E: Into<io::Error>> Describe<T> for Result<T, E> {
    fn doing(self, what: &'static str, path: &Path) -> Result<T, SuiteError> {
        self.map_err(|e| SuiteError::io(what, path, e.into()))
    }
}

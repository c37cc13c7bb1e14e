//! Why a suite could not be run, or had to be given up.

use crate::blog::error::BlogError;
use crate::sqlite::error::SqliteError;
use crate::web::error::WebError;
use rustix::io::Errno;
use seekwell_access::AccessError;
use seekwell_io::engine::EngineError;
use seekwell_sys::classify;
use seekwell_sys::thread::NoThread;
use seekwell_trace::error::TraceError;
use seekwell_trace::replay::FitError;
use std::io;
use std::path::{Path, PathBuf};

/// A suite could not be run, or was given up in the middle. Its directory is gone either way.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    #[error("there is no suite {name:?}; available: {known}")]
    NoSuchSuite { name: String, known: String },
    #[error("say what the suite {suite} is to run on: --on TARGET")]
    NoTarget { suite: &'static str },
    #[error("the suite {suite} has no tunable {name:?}; it has {known}")]
    NoSuchTunable { suite: &'static str, name: String, known: String },
    #[error("the suite {suite} takes no {option}")]
    NoOption { suite: &'static str, option: &'static str },
    #[error("{name}={value} is not possible: {needed}")]
    BadValue { name: String, value: String, needed: String },
    #[error("the suite {suite} runs on {needed}, and {} is a {found}", path.display())]
    WrongTarget { suite: &'static str, path: PathBuf, needed: &'static str, found: &'static str },
    #[error("the suite {suite} cannot be played on a modelled machine: {why}")]
    NotModelled { suite: &'static str, why: String },
    #[error("{} holds {size_bytes} bytes, and {needed_bytes} are needed", path.display())]
    TooSmall { path: PathBuf, size_bytes: u64, needed_bytes: u64 },
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error(
        "the file system of {} is full, so the suite was given up; what it made is removed",
        path.display()
    )]
    Full { path: PathBuf },
    #[error(
        "the file system of {} has no inodes left, so the suite was given up; what it made is \
         removed", path.display()
    )]
    NoInodes { path: PathBuf },
    /// The file system became read-only, as it does after errors of the disk.
    #[error("the file system of {} is mounted read-only", path.display())]
    ReadOnly { path: PathBuf },
    #[error("{what} {} failed: {source}", path.display())]
    Io {
        /// What was being done: `writing`.
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error(transparent)]
    Sqlite(#[from] SqliteError),
    #[error(transparent)]
    Web(#[from] WebError),
    #[error(transparent)]
    Blog(#[from] BlogError),
    #[error(transparent)]
    Play(#[from] PlayError),
    #[error(transparent)]
    NoThread(#[from] NoThread),
    #[error("a thread of the suite ended early")]
    Thread,
    #[error("interrupted; what the suite made is removed")]
    Interrupted,
}

classify!(SuiteError {
    Usage: NoSuchSuite, NoTarget, NoSuchTunable, NoOption, BadValue, WrongTarget, NotModelled,
        TooSmall;
    Refused: Access, Full, NoInodes, ReadOnly, Thread;
    Invalid: Io, Blog, Play;
    Interrupted: Interrupted;
    | Self::Sqlite(error) => error.class(),
    | Self::Web(error) => error.class(),
    | Self::NoThread(error) => error.class(),
});

impl SuiteError {
    /// A failed call; reasons with names of their own become variants of their own.
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

#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Fit(#[from] FitError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("it cannot be played on this machine: {why}")]
    Missing { why: String },
    /// A request failed, or none completed for long.
    #[error("the replay ended early: {why}")]
    Ended { why: String },
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

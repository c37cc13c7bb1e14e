//! What can be wrong with a database.

use super::journal::Journal;
use seekwell_sys::classify;
use std::path::PathBuf;

/// What can be wrong with a database that its file system is not to blame for.
#[derive(Debug, thiserror::Error)]
pub enum SqliteError {
    /// A file of this name is there; it is somebody's and stays as it is.
    #[error("there is already a file {}; it is left as it is", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// SQLite refused the journal mode, as it does with a write-ahead log on a network file system.
    #[error("SQLite keeps its journal in mode {got} where {wanted} was asked for")]
    Journal {
        /// Asked for.
        wanted: Journal,
        /// Its answer.
        got: String,
    },
    /// A statement failed.
    #[error("SQLite failed at {what}: {source}")]
    Statement {
        /// What it was for.
        what: &'static str,
        /// Its own words.
        source: rusqlite::Error,
    },
    /// The database does not hold what was committed to it.
    #[error("{what}: {found} in the database where {expected} were committed")]
    Lost {
        /// What was counted.
        what: &'static str,
        /// What should be there.
        expected: i64,
        /// What is there.
        found: i64,
    },
}

classify!(SqliteError {
    Refused: Exists, Journal;
    Invalid: Statement, Lost;
});

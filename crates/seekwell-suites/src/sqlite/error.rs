//! What can be wrong with a database.

use super::journal::Journal;
use seekwell_sys::classify;
use std::path::PathBuf;

/// What can be wrong with a database that its file system is not to blame for.
#[derive(Debug, thiserror::Error)]
pub enum SqliteError {
    /// A file of this name is there; it is somebody's and stays as it is.
    #[error("there is already a file {}; it is left as it is", .path.display())]
    Exists { path: PathBuf },
    /// SQLite refused the journal mode, as it does with a write-ahead log on a network file system.
    #[error("SQLite keeps its journal in mode {got} where {wanted} was asked for")]
    Journal { wanted: Journal, got: String },
    #[error("SQLite failed at {what}: {source}")]
    Statement { what: &'static str, source: rusqlite::Error },
    #[error("{what}: {found} in the database where {expected} were committed")]
    Lost { what: &'static str, expected: i64, found: i64 },
}

classify!(SqliteError {
    Refused: Exists, Journal;
    Invalid: Statement, Lost;
});

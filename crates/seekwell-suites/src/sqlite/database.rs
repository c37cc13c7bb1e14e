//! A database of our own: created new, in the journal mode that was asked for, with every commit
//! synced.

use super::error::SqliteError;
use super::journal::Journal;
use crate::error::SuiteError;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::io::Errno;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a connection waits for another to finish its transaction.
const PATIENCE: Duration = Duration::from_secs(60);

/// A database file and how connections to it are set up.
#[derive(Debug, Clone)]
pub struct Database {
    path: PathBuf,
    journal: Journal,
}

impl Database {
    /// Creates an empty one.
    ///
    /// # Errors
    /// [`SqliteError::Exists`] when there is a file of that name; what the file system refuses.
    pub fn create(path: &Path, journal: Journal) -> Result<Self, SuiteError> {
        let owned = || path.to_path_buf();
        let new = OpenOptions::new().write(true).create_new(true).open(path);
        new.map_err(|e| match e.kind() {
            ErrorKind::AlreadyExists => SqliteError::Exists { path: owned() }.into(),
            _ => SuiteError::io("making", path, e),
        })?;
        Ok(Self { path: owned(), journal })
    }

    /// A connection: this database's journal mode, `synchronous=FULL`, waiting for others.
    ///
    /// # Errors
    /// [`SuiteError`].
    pub fn connect(&self) -> Result<Connection, SuiteError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = Connection::open_with_flags(&self.path, flags);
        let connection = open.map_err(|e| self.failed("opening the database", e))?;
        connection.busy_timeout(PATIENCE).map_err(|e| self.failed("waiting for others", e))?;
        let sql = format!("PRAGMA journal_mode={}", self.journal);
        let got = connection.query_row(&sql, [], |row| row.get::<_, String>(0));
        let got = got.map_err(|e| self.failed("setting the journal mode", e))?;
        if got != self.journal.name() {
            return Err(SqliteError::Journal { wanted: self.journal, got }.into());
        }
        connection
            .execute_batch("PRAGMA synchronous=FULL")
            .map_err(|e| self.failed("setting synchronous", e))?;
        Ok(connection)
    }

    /// The error of a statement, as what it means for the file system where it means that.
    pub fn failed(&self, what: &'static str, source: rusqlite::Error) -> SuiteError {
        let full = || SuiteError::io(what, &self.path, Errno::NOSPC.into());
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => full(),
            // A journal that cannot be made: SQLite does not say why, the file system can.
            Some(ErrorCode::CannotOpen) if no_inodes(&self.path) => full(),
            Some(ErrorCode::ReadOnly) => SuiteError::ReadOnly { path: self.path.clone() },
            _ => SqliteError::Statement { what, source }.into(),
        }
    }
}

/// Whether the file system of `path` counts its inodes and has none left.
fn no_inodes(path: &Path) -> bool {
    rustix::fs::statvfs(path).is_ok_and(|s| s.f_files > 0 && s.f_favail == 0)
}

pub(super) fn number(
    database: &Database,
    connection: &Connection,
    sql: &str,
) -> Result<i64, SuiteError> {
    let found = connection.query_row(sql, [], |row| row.get(0));
    found.map_err(|e| database.failed("counting what is there", e))
}

/// Compares what is there with what was committed.
pub(super) fn expect(what: &'static str, found: i64, expected: i64) -> Result<(), SuiteError> {
    if found == expected { Ok(()) } else { Err(SqliteError::Lost { what, expected, found }.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_is_never_touched() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("theirs.db");
        std::fs::write(&path, b"their data").unwrap();
        let refused = Database::create(&path, Journal::Delete).unwrap_err();
        assert!(matches!(&refused, SuiteError::Sqlite(SqliteError::Exists { .. })), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), b"their data");
    }

    #[test]
    fn every_journal_mode_is_the_one_asked_for_and_commits_are_synced() {
        let dir = tempfile::tempdir().unwrap();
        for journal in Journal::ALL {
            let path = dir.path().join(journal.name());
            let database = Database::create(&path, journal).unwrap();
            let connection = database.connect().unwrap();
            connection.execute_batch("CREATE TABLE t (n)").unwrap();
            assert_eq!(number(&database, &connection, "PRAGMA synchronous").unwrap(), 2);
        }
        assert!(dir.path().join("persist-journal").exists(), "a persistent journal stays");
    }
}

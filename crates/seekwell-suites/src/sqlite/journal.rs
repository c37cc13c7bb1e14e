//! SQLite's journal modes.

use std::fmt;

/// How SQLite makes a transaction atomic (<https://sqlite.org/pragma.html#pragma_journal_mode>).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Journal {
    /// A rollback journal that is deleted at each commit: SQLite's default.
    Delete,
    /// A rollback journal that is cut to nothing at each commit.
    Truncate,
    /// A rollback journal whose head is overwritten at each commit.
    Persist,
    Wal,
}

impl Journal {
    pub const ALL: [Self; 4] = [Self::Delete, Self::Truncate, Self::Persist, Self::Wal];

    /// Its name in SQL and in the names of steps.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Truncate => "truncate",
            Self::Persist => "persist",
            Self::Wal => "wal",
        }
    }
}

impl fmt::Display for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

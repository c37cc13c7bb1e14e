//! Our own store: Parquet, so that DuckDB, Polars and pandas read it too. `docs/formats.md` draws
//! the schema.
//!
//! A file is written under `NAME.part`, one row group after the other. After each, what would be
//! the file's footer goes into `NAME.part.footer`, replaced in one step. A recording that is
//! killed thus leaves everything up to its last whole group, and [`open`] reads it, marked
//! [`crate::source::About::cut_short`]. Finishing writes the footer where it belongs and renames.

mod read;
mod schema;
mod summary;
mod write;

pub use read::{Stored, open, summary};
pub use summary::{Count, DeviceSummary, Summary};
pub use write::{Options, create, create_with};

use crate::error::TraceError;
use parquet::errors::ParquetError;
use std::path::{Path, PathBuf};

/// The format's name.
pub const NAME: &str = "seekwell";

/// Keys of the file's metadata.
mod key {
    pub const ABOUT: &str = "seekwell.about";
    pub const TABLES: &str = "seekwell.tables";
    pub const SUMMARY: &str = "seekwell.summary";
    pub const VERSION: &str = "seekwell.version";
}

/// What [`key::VERSION`] says: the schema this program writes.
const VERSION: &str = "1";

/// Where a file is while it is being written.
pub fn part_of(path: &Path) -> PathBuf {
    with_suffix(path, ".part")
}

fn footer_of(part: &Path) -> PathBuf {
    with_suffix(part, ".footer")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn io_error(what: &'static str, path: &Path, source: std::io::Error) -> TraceError {
    TraceError::Io { what, path: path.to_owned(), source }
}

fn parquet_error(what: &'static str, path: &Path, error: ParquetError) -> TraceError {
    let source = match error {
        ParquetError::External(e) => match e.downcast::<std::io::Error>() {
            Ok(io) => *io,
            Err(other) => std::io::Error::other(other),
        },
        other => std::io::Error::other(other),
    };
    io_error(what, path, source)
}

#[cfg(test)]
mod tests;

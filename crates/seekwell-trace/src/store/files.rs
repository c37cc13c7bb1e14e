//! What reading and writing share: the names of files and metadata, and errors.

use crate::error::TraceError;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use seekwell_access::{OutputFile, folder_of};
use std::ops::Range;
use std::path::{Path, PathBuf};

pub(crate) const NAME: &str = "seekwell";

/// Keys of the file's metadata.
pub(crate) mod key {
    pub const ABOUT: &str = "seekwell.about";
    pub const TABLES: &str = "seekwell.tables";
    pub const SUMMARY: &str = "seekwell.summary";
    pub const VERSION: &str = "seekwell.version";
    pub const SUMS: &str = "seekwell.checksums";
}

/// What [`key::VERSION`] says: the schema this program writes.
pub(crate) const VERSION: &str = "1";

/// What a recording into `path` that goes on or was killed has written so far; of several, the
/// newest.
pub fn part_of(path: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder_of(path)).ok()?.flatten();
    let parts = entries.filter_map(|entry| {
        // The entry's own kind and time: a link is not followed.
        let is_part = OutputFile::is_part_of(path, &entry.file_name());
        let data = entry.metadata().ok().filter(|data| is_part && data.is_file())?;
        Some((data.modified().ok()?, entry.file_name()))
    });
    parts.max().map(|(_, name)| path.with_file_name(name))
}

/// Where a column of a group lies. Panics where a file says that it lies nowhere.
pub(crate) fn bytes_of(column: &ColumnChunkMetaData) -> Range<u64> {
    let (from, len) = column.byte_range();
    from..from + len
}

pub(crate) fn footer_of(part: &Path) -> PathBuf {
    let mut name = part.as_os_str().to_owned();
    name.push(".footer");
    PathBuf::from(name)
}

pub(crate) fn io_error(what: &'static str, path: &Path, source: std::io::Error) -> TraceError {
    TraceError::Io { what, path: path.to_owned(), source }
}

pub(crate) fn parquet_error(what: &'static str, path: &Path, error: ParquetError) -> TraceError {
    let source = match error {
        ParquetError::External(e) => match e.downcast::<std::io::Error>() {
            Ok(io) => *io,
            Err(other) => std::io::Error::other(other),
        },
        other => std::io::Error::other(other),
    };
    io_error(what, path, source)
}

//! Why parameter files could not be used.

use crate::file_line::FileLine;
use crate::hdd::ParamsError;
use crate::limits::OutOfRange;

/// Why parameter files could not be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum DisksimError {
    #[error("{file}: {why}{}", named(from.as_ref()))]
    File { file: String, why: String, from: Option<FileLine> },
    #[error("{place}: expected {expected}, found {found}")]
    Expected { place: FileLine, expected: &'static str, found: String },
    #[error("{place}: more than {most} {what}")]
    TooMany { place: FileLine, what: &'static str, most: u64 },
    #[error("{place}: {file} is being read already")]
    Cycle { place: FileLine, file: String },
    #[error("{place}: {block} has no “{key}”")]
    Missing { place: FileLine, block: String, key: &'static str },
    #[error("{place}: {key} = {value} is not supported")]
    Unsupported { place: FileLine, key: String, value: String },
    #[error("there is no {what}")]
    NoSuch { what: String },
    #[error("{part}: {source}")]
    Range { part: String, source: OutOfRange },
    #[error("{drive}: {source}")]
    Drive { drive: String, source: ParamsError },
}

/// Where a file is named, as the end of a sentence.
fn named(from: Option<&FileLine>) -> String {
    from.map_or_else(String::new, |place| format!(" (named at {place})"))
}

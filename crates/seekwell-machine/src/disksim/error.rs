//! Why parameter files could not be used.

use crate::file_line::FileLine;
use crate::hdd::ParamsError;
use crate::limits::OutOfRange;

/// Why parameter files could not be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DisksimError {
    /// A file could not be read.
    #[error("{file}: {why}{}", named(from.as_ref()))]
    File {
        /// Its name.
        file: String,
        /// What the system said.
        why: String,
        /// Where it is named.
        from: Option<FileLine>,
    },
    /// Something else stands where something was expected.
    #[error("{place}: expected {expected}, found {found}")]
    Expected {
        /// Where.
        place: FileLine,
        /// What was expected.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// More of something than any real file has.
    #[error("{place}: more than {most} {what}")]
    TooMany {
        /// Where.
        place: FileLine,
        /// Of what.
        what: &'static str,
        /// How many there may be.
        most: u64,
    },
    /// A file that names itself, by way of others or directly.
    #[error("{place}: {file} is being read already")]
    Cycle {
        /// Where.
        place: FileLine,
        /// The file.
        file: String,
    },
    /// A key that is needed is not there.
    #[error("{place}: {block} has no “{key}”")]
    Missing {
        /// Where the block begins.
        place: FileLine,
        /// What the block describes.
        block: String,
        /// The key.
        key: &'static str,
    },
    /// A choice that is known and not modelled, or not known.
    #[error("{place}: {key} = {value} is not supported")]
    Unsupported {
        /// Where.
        place: FileLine,
        /// The key.
        key: String,
        /// The choice.
        value: String,
    },
    /// No component of that name or kind.
    #[error("there is no {what}")]
    NoSuch {
        /// What was looked for.
        what: String,
    },
    /// A value that no part can have.
    #[error("{part}: {source}")]
    Range {
        /// The component.
        part: String,
        /// What is wrong.
        source: OutOfRange,
    },
    /// The drive as described cannot be.
    #[error("{drive}: {source}")]
    Drive {
        /// Its name.
        drive: String,
        /// What is wrong.
        source: ParamsError,
    },
}

/// Where a file is named, as the end of a sentence.
fn named(from: Option<&FileLine>) -> String {
    from.map_or_else(String::new, |place| format!(" (named at {place})"))
}

//! Why parameter files could not be used.

use super::tree::Place;
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
        from: Option<Place>,
    },
    /// Something else stands where something was expected.
    #[error("{place}: expected {expected}, found {found}")]
    Expected {
        /// Where.
        place: Place,
        /// What was expected.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// More of something than any real file has.
    #[error("{place}: more than {most} {what}")]
    TooMany {
        /// Where.
        place: Place,
        /// Of what.
        what: &'static str,
        /// How many there may be.
        most: u64,
    },
    /// A file that names itself, by way of others or directly.
    #[error("{place}: {file} is being read already")]
    Cycle {
        /// Where.
        place: Place,
        /// The file.
        file: String,
    },
    /// A key that is needed is not there.
    #[error("{place}: {block} has no “{key}”")]
    Missing {
        /// Where the block begins.
        place: Place,
        /// What the block describes.
        block: String,
        /// The key.
        key: &'static str,
    },
    /// A choice that is known and not modelled, or not known.
    #[error("{place}: {key} = {value} is not supported")]
    Unsupported {
        /// Where.
        place: Place,
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
fn named(from: Option<&Place>) -> String {
    from.map_or_else(String::new, |place| format!(" (named at {place})"))
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

//! What is wrong with a description, with the place to mend.

use crate::file_line::FileLine;
use seekwell_sys::classify;

/// A description that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{place}: {}{problem}", if key.is_empty() { String::new() } else { format!("{key}: ") })]
pub struct DescribeError {
    /// Where.
    pub place: FileLine,
    /// Which key, dotted from the top; empty for the file as a whole.
    pub key: String,
    /// What is wrong.
    pub problem: Problem,
}

classify!(DescribeError: Usage);

impl DescribeError {
    /// A problem with a key at a place.
    pub fn new(place: FileLine, key: &str, problem: Problem) -> Self {
        Self { place, key: key.to_owned(), problem }
    }
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Problem {
    /// Not TOML.
    #[error("{message}")]
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// More bytes than any description has.
    #[error("{bytes} bytes, and a description has at most {most}")]
    TooLarge {
        /// The file's size.
        bytes: usize,
        /// The bound.
        most: usize,
    },
    /// Tables within tables without end.
    #[error("nested more than {most} deep")]
    TooDeep {
        /// The bound.
        most: usize,
    },
    /// A key that means nothing.
    #[error("no such key{}; known here: {}", hint(nearest), known.join(", "))]
    UnknownKey {
        /// Keys that look like it, the likeliest first.
        nearest: Vec<String>,
        /// All keys that are known there.
        known: Vec<String>,
    },
    /// A key that has to be there.
    #[error("missing: {key}")]
    Missing {
        /// Its name.
        key: String,
    },
    /// A value of the wrong kind.
    #[error("{found}, where {expected} is needed")]
    Wrong {
        /// What is there.
        found: String,
        /// What has to be.
        expected: &'static str,
    },
    /// A word that is not one of those known.
    #[error("`{found}` is not one of {}", among.join(", "))]
    NotAmong {
        /// What is there.
        found: String,
        /// The words.
        among: Vec<String>,
    },
    /// A value out of its range, or one that contradicts another.
    #[error("{why}")]
    Illegal {
        /// The value, the range and the reason, as the part says.
        why: String,
    },
    /// A value that does not say where it is from.
    #[error("does not say where it is from: `{{ value = …, from = \"{}\" }}`", Self::SOURCES)]
    NoSource,
    /// A fitted value without the figures it was fitted on, or such figures for another.
    #[error("a fitted value, and no other, names what it was fitted on: `on = [\"R0 …\"]`")]
    FittedOn,
    /// A part that is not among the files.
    #[error("there is no part `{name}`{}", hint(nearest))]
    NoPart {
        /// The name asked for.
        name: String,
        /// Parts that look like it.
        nearest: Vec<String>,
    },
    /// Parts that contain each other.
    #[error("the part contains itself: {}", chain.join(" → "))]
    Cycle {
        /// From the first to itself.
        chain: Vec<String>,
    },
    /// A key that leads through something that has no keys.
    #[error("leads through something that has no keys of its own")]
    LeadsNowhere,
}

impl Problem {
    const SOURCES: &'static str = "datasheet|measured|fitted|assumed";
}

/// "did you mean", where anything is near.
fn hint(nearest: &[String]) -> String {
    nearest.first().map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

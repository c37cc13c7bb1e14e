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
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum Problem {
    #[error("{message}")]
    Syntax { message: String },
    #[error("{bytes} bytes, and a description has at most {most}")]
    TooLarge { bytes: usize, most: usize },
    /// Tables within tables without end.
    #[error("nested more than {most} deep")]
    TooDeep { most: usize },
    #[error("no such key{}; known here: {}", hint(nearest), known.join(", "))]
    UnknownKey {
        /// Keys that look like it, the likeliest first.
        nearest: Vec<String>,
        known: Vec<String>,
    },
    #[error("missing: {key}")]
    Missing { key: String },
    #[error("{found}, where {expected} is needed")]
    Wrong { found: String, expected: &'static str },
    #[error("`{found}` is not one of {}", among.join(", "))]
    NotAmong { found: String, among: Vec<String> },
    /// A value out of its range, or one that contradicts another.
    #[error("{why}")]
    Illegal {
        /// The value, the range and the reason, as the part says.
        why: String,
    },
    #[error("does not say where it is from: `{{ value = …, from = \"{}\" }}`", Self::SOURCES)]
    NoSource,
    /// A fitted value without the figures it was fitted on, or such figures for another.
    #[error("a fitted value, and no other, names what it was fitted on: `on = [\"R0 …\"]`")]
    FittedOn,
    #[error("there is no part `{name}`{}", hint(nearest))]
    NoPart { name: String, nearest: Vec<String> },
    #[error("the part contains itself: {}", chain.join(" → "))]
    Cycle { chain: Vec<String> },
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

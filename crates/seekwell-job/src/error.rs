//! What can be wrong with a job file, with the place, what was found and what is needed.

use crate::job::Origin;
use seekwell_sys::{Class, classify};

/// A job file that cannot be read as one.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// A file could not be read.
    #[error("{file}: {source}")]
    Read {
        /// The file.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line is neither a section, nor an option, nor an `include`.
    #[error("{at}: found `{found}`; needed: {needed}")]
    Syntax {
        /// The line.
        at: Origin,
        /// Its text, shortened.
        found: String,
        /// What may stand there.
        needed: &'static str,
    },
    /// An `include` that would never end, or not soon.
    #[error("{at}: include of {file}: {why}")]
    Include {
        /// The line.
        at: Origin,
        /// The file to be included.
        file: String,
        /// Why not.
        why: &'static str,
    },
    /// More than this program takes.
    #[error("{at}: {what}: {found} are more than {most}{}", because(why))]
    TooMany {
        /// The line.
        at: Origin,
        /// What is counted, with its unit.
        what: &'static str,
        /// How many there are.
        found: u64,
        /// How many there may be.
        most: u64,
        /// Why there is a bound.
        why: &'static str,
    },
    /// No option of fio's has this name.
    #[error("{at}: job `{job}`: no such option: {option}{}", hint(nearest))]
    UnknownOption {
        /// The line.
        at: Origin,
        /// The job or `global`.
        job: String,
        /// The name.
        option: String,
        /// Names that are near, the nearest first; at most three.
        nearest: Vec<&'static str>,
    },
    /// An option, or a value of one, that fio knows and this program does not do.
    #[error("{asking} is not supported: {why}")]
    Refused {
        /// What was asked for.
        asking: Box<Asking>,
        /// Why, as half a sentence.
        why: String,
    },
    /// A value that its option does not take.
    #[error("{asking}; needed: {needed}")]
    Value {
        /// What was asked for.
        asking: Box<Asking>,
        /// What would be accepted.
        needed: String,
    },
    /// There is no job to run.
    #[error("{file}: no job in it; needed: a section such as [job1], or --name=job1")]
    NoJob {
        /// The file.
        file: String,
    },
}

classify!(JobError {
    Usage: Syntax, Include, TooMany, UnknownOption, Refused, Value, NoJob;
    | Self::Read { source, .. } => Class::of_file(source),
});

/// An option as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asking {
    /// The line.
    pub at: Origin,
    /// The job or `global`.
    pub job: String,
    /// The option's canonical name.
    pub option: String,
    /// Its value, shortened.
    pub found: String,
}

impl Asking {
    /// What is said of `option` at a place; text is shortened for an error message.
    pub(crate) fn new(at: &Origin, job: &str, option: &str, found: &str) -> Box<Self> {
        Box::new(Self {
            at: at.clone(),
            job: shortened(job),
            option: shortened(option),
            found: shortened(found),
        })
    }
}

impl std::fmt::Display for Asking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: job `{}`: {}={}", self.at, self.job, self.option, self.found)
    }
}

/// The end of a sentence with the nearest names.
fn hint(nearest: &[&str]) -> String {
    match nearest {
        [] => String::new(),
        names => format!("; near: {}", names.join(", ")),
    }
}

/// The end of a sentence with a reason.
fn because(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(", {why}") }
}

/// Text for an error message: control characters out, at most 80 characters.
pub(crate) fn shortened(text: &str) -> String {
    let mut out: String = text.chars().filter(|c| !c.is_control()).take(80).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    out
}

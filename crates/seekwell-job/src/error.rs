//! What can be wrong with a job file, with the place, what was found and what is needed.

use crate::job::Origin;
use seekwell_sys::{Class, classify};

/// A job file that cannot be read as one.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum JobError {
    #[error("{file}: {source}")]
    Read { file: String, source: std::io::Error },
    /// A line is neither a section, nor an option, nor an `include`.
    #[error("{at}: found `{found}`; needed: {needed}")]
    Syntax { at: Origin, found: String, needed: &'static str },
    /// A line of an included file, which may be any file that can be read: none of it is shown.
    #[error(
        "{at}: an included file may hold only options, and this line is not one; it is not shown, \
         because the file may not be a job file"
    )]
    Foreign { at: Origin },
    /// An `include` that would never end, or not soon.
    #[error("{at}: include of {file}: {why}")]
    Include { at: Origin, file: String, why: &'static str },
    #[error("{at}: {what}: {found} are more than {most}{}", because(why))]
    TooMany {
        at: Origin,
        /// What is counted, with its unit.
        what: &'static str,
        found: u64,
        most: u64,
        why: &'static str,
    },
    #[error("{at}: job `{job}`: no such option: {option}{}", hint(nearest))]
    UnknownOption {
        at: Origin,
        /// The job or `global`.
        job: String,
        option: String,
        /// Names that are near, the nearest first; at most three.
        nearest: Vec<&'static str>,
    },
    /// An option, or a value of one, that fio knows and this program does not do.
    #[error("{asking} is not supported: {why}")]
    Refused { asking: Box<Asking>, why: String },
    #[error("{asking}; needed: {needed}")]
    Value { asking: Box<Asking>, needed: String },
    #[error("{file}: no job in it; needed: a section such as [job1], or --name=job1")]
    NoJob { file: String },
}

classify!(JobError {
    Usage: Syntax, Foreign, Include, TooMany, UnknownOption, Refused, Value, NoJob;
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

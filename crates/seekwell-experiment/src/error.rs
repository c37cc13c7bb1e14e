//! Why arms make no experiment, and what can go wrong with a kept one.

use seekwell_access::OutputError;
use seekwell_inspect::diff::Change;
use seekwell_job::PlainError;
use seekwell_sys::{classify, did_you_mean};
use std::io;
use std::path::PathBuf;

/// Why the arms make no experiment.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArmError {
    /// Not `KEY=VALUE`.
    #[error("expected KEY=VALUE, not {word:?}")]
    NoValue { word: String },
    #[error(
        "there is no option or setting {key}{}",
        did_you_mean(near.as_ref())
    )]
    Unknown { key: String, near: Option<String> },
    #[error(transparent)]
    Job(#[from] PlainError),
    #[error("{key} is given twice for one arm")]
    Twice { key: String },
    #[error(
        "the two arms are the same: name what differs with --a and --b (or --a-cmd, --b-cmd, \
         --reboot-between), or measure the machine's noise with --aa"
    )]
    Same,
    #[error("{key} is a setting of a disk, and {target} has none: {why}")]
    NoDisk { key: String, target: String, why: String },
}

classify!(ArmError {
    Usage: NoValue, Unknown, Job, Twice, Same, NoDisk;
});

/// Why an experiment could not be kept, found, read or gone on with.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    #[error("{doing} {} failed: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("{} is not an experiment: {reason}", path.display())]
    Damaged { path: PathBuf, reason: String },
    #[error("{} is {found}; this version knows {known}: use a newer seekwell", path.display())]
    Newer { path: PathBuf, found: String, known: &'static str },
    #[error(
        "no experiment {wanted:?} in {}{}", dir.display(),
        if have.is_empty() { String::new() } else { format!("; there are: {}", have.join(", ")) }
    )]
    NotFound { wanted: String, dir: PathBuf, have: Vec<String> },
    #[error("{wanted:?} matches several experiments: {}", candidates.join(", "))]
    Ambiguous { wanted: String, candidates: Vec<String> },
    #[error("experiment {id} is being run by another process; stop that one first")]
    Busy { id: String },
    #[error("experiment {id} ended as invalid, because {why}; start a new one")]
    EndedInvalid { id: String, why: String },
    #[error(
        "the target is not as it was when experiment {id} began: {}; put that back and resume, or \
         start a new one",
        in_words(changes)
    )]
    EnvironmentChanged { id: String, changes: Vec<Change> },
    #[error(
        "the machine has not been rebooted since the last run: reboot into {wanted} first, then \
         resume"
    )]
    NotRebooted { wanted: String },
    #[error(
        "nothing known about the target differs from when the machine was in {other}: it does not \
         seem to be in {wanted}; reboot into that, then resume"
    )]
    NotInMode { wanted: String, other: String },
}

classify!(ExperimentError {
    Usage: NotFound, Ambiguous, EndedInvalid;
    Refused: Io, Output, Damaged, Newer, Busy;
    Invalid: EnvironmentChanged, NotRebooted, NotInMode;
});

/// Changes in a sentence: `scheduler none → mq-deadline`, at most four of them.
pub(crate) fn in_words(changes: &[Change]) -> String {
    let side = |s: &Option<String>| s.clone().unwrap_or_else(|| "none".to_owned());
    let one = |c: &Change| format!("{} {} → {}", c.what, side(&c.before), side(&c.after));
    let mut words: Vec<String> = Vec::new();
    for word in changes.iter().map(one) {
        // Two sessions, or a device and its controller, say the same.
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if words.len() > 4 {
        let more = words.len() - 4;
        words.truncate(4);
        words.push(format!("and {more} more"));
    }
    words.join("; ")
}

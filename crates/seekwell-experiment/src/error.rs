//! What can go wrong with a kept experiment, with the data a person needs to act.

use seekwell_access::OutputError;
use seekwell_inspect::diff::Change;
use std::io;
use std::path::PathBuf;

/// Why an experiment could not be kept, found, read or gone on with.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The kernel refused.
    #[error("{doing} {} failed: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The file is not what it should be.
    #[error("{} is not an experiment: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A later version wrote it.
    #[error("{} is {found}; this version knows {known}: use a newer seekwell", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: String,
        /// The schema this version reads.
        known: &'static str,
    },
    /// None has this name.
    #[error(
        "no experiment {wanted:?} in {}{}", dir.display(),
        if have.is_empty() { String::new() } else { format!("; there are: {}", have.join(", ")) }
    )]
    NotFound {
        /// What was asked for.
        wanted: String,
        /// Where it was looked for.
        dir: PathBuf,
        /// The newest there are, at most three.
        have: Vec<String>,
    },
    /// More than one has this name.
    #[error("{wanted:?} matches several experiments: {}", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// They.
        candidates: Vec<String>,
    },
    /// Another process is making it.
    #[error("experiment {id} is being run by another process; stop that one first")]
    Busy {
        /// The experiment.
        id: String,
    },
    /// It ended as invalid.
    #[error("experiment {id} ended as invalid, because {why}; start a new one")]
    EndedInvalid {
        /// The experiment.
        id: String,
        /// Why.
        why: String,
    },
    /// The target is not as it was when the experiment began.
    #[error(
        "the target is not as it was when experiment {id} began: {}; put that back and resume, or \
         start a new one",
        in_words(changes)
    )]
    EnvironmentChanged {
        /// The experiment.
        id: String,
        /// What differs and matters.
        changes: Vec<Change>,
    },
    /// The machine was not rebooted.
    #[error(
        "the machine has not been rebooted since the last run: reboot into {wanted} first, then \
         resume"
    )]
    NotRebooted {
        /// The mode that is next.
        wanted: String,
    },
    /// The machine was rebooted, but not into the other mode.
    #[error(
        "nothing known about the target differs from when the machine was in {other}: it does not \
         seem to be in {wanted}; reboot into that, then resume"
    )]
    NotInMode {
        /// The mode that is next.
        wanted: String,
        /// The mode it seems to be in.
        other: String,
    },
}

impl ExperimentError {
    /// Whether what was typed is wrong, not what it met.
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::NotFound { .. } | Self::Ambiguous { .. } | Self::EndedInvalid { .. })
    }

    /// Whether the machine is not fit for going on.
    pub const fn is_invalid(&self) -> bool {
        matches!(
            self,
            Self::EnvironmentChanged { .. } | Self::NotRebooted { .. } | Self::NotInMode { .. }
        )
    }
}

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

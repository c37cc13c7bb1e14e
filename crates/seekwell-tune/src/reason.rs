//! Why a trial was rolled back.

use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Reason {
    Asked,
    TimeUp,
    /// A setting could not be applied.
    NotApplied,
    /// The program that began it ended before it could answer.
    Orphaned,
    /// The guard was asked to end.
    Terminated,
    /// The guard had died; someone else put everything back.
    Recovered,
    /// Something went wrong with the disk.
    Trouble {
        trouble: Trouble,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => f.write_str("it was asked for"),
            Self::TimeUp => f.write_str("nobody said `keep` in time"),
            Self::NotApplied => f.write_str("a setting could not be applied"),
            Self::Orphaned => f.write_str("the program that began the trial ended first"),
            Self::Terminated => f.write_str("the guard was asked to end"),
            Self::Recovered => f.write_str("the guard had died"),
            Self::Trouble { trouble } => trouble.fmt(f),
        }
    }
}

/// What went wrong with a disk on trial.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "trouble", rename_all = "kebab-case")]
pub enum Trouble {
    #[error("the kernel reports: {line}")]
    KernelLog { line: String },
    #[error("{what} grew from {was} to {is}")]
    Errors { what: String, was: u64, is: u64 },
    #[error("{what} went from {was} to {is}")]
    Changed { what: String, was: String, is: String },
    #[error("{in_flight} requests are in flight and none was completed for {for_ms} ms")]
    Stuck {
        in_flight: u64,
        /// For how long, in milliseconds.
        for_ms: u64,
    },
    #[error("a read of one block has not returned for {after_ms} ms")]
    Slow {
        /// How long it was waited for, in milliseconds.
        after_ms: u64,
    },
    #[error("a read of one block failed: {error}")]
    ReadFailed { error: String },
}

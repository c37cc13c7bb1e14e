//! What can be wrong with statistics that are gathered in parts.

use super::figure::Asked;
use super::which::Shard;
use crate::error::TraceError;
use seekwell_sys::classify;
use std::path::PathBuf;

/// Statistics that cannot be gathered or put together.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum StatsError {
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// More is sampled than may be remembered.
    #[error(
        "more than {most} {what} at a sampling rate of 2^-{rate_log2}: sample fewer, with \
         --rate-log2 {}",
        rate_log2 + 2
    )]
    TooMany { what: &'static str, most: usize, rate_log2: u32 },
    #[error(
        "the device {name:?} is in more than one of them: a device must be whole in one part, and \
         devices of several hosts need names of their own"
    )]
    SameDevice { name: String },
    #[error("the shard {shard} is in more than one of them: give each part once")]
    SameShard { shard: Shard },
    #[error(
        "shards are missing: {shards}; give their parts as well, or show what is here with \
         --partial"
    )]
    Missing { shards: String },
    #[error(
        "one was sampled at a rate of 2^-{one} and another at 2^-{other}: make both with the same \
         --rate-log2"
    )]
    Rates { one: u32, other: u32 },
    #[error("one holds {one} and another {other}: make both with the same --only")]
    Figures { one: Asked, other: Asked },
    #[error("one holds {what} and another does not: make both with the same options")]
    Options { what: &'static str },
    /// What is wrong with one of several files.
    #[error("{}: {error}", path.display())]
    In { path: PathBuf, error: Box<Self> },
    /// Not in the form that is written.
    #[error("{what}")]
    Part { what: &'static str },
}

classify!(StatsError {
    NotShown: Missing;
    Usage: SameDevice, SameShard, Rates, Figures, Options, TooMany;
    Invalid: Part;
    | Self::Trace(error) => error.class(),
    | Self::In { error, .. } => error.class(),
});

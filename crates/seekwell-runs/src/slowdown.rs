//! A rate that falls, and what made it high before.

use serde::{Deserialize, Serialize};

/// A rate that fell within one run and stayed low.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Slowdown {
    /// When, from the start of measuring, in nanoseconds.
    pub at_ns: u64,
    pub before_per_s: f64,
    pub after_per_s: f64,
}

/// What makes a region fast, as far as the facts of host and device tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FastCause {
    /// A cloud's volume: requests saved up.
    BurstCredits,
    /// Flash written one bit a cell.
    SlcCache,
    /// Memory of a hard drive or of a RAID controller.
    WriteBackCache,
    #[default]
    Unknown,
}

impl FastCause {
    /// What it is called.
    pub const fn words(self) -> &'static str {
        match self {
            Self::BurstCredits => "burst credits",
            Self::SlcCache => "an SLC cache",
            Self::WriteBackCache => "a write-back cache",
            Self::Unknown => "a fast region",
        }
    }
}

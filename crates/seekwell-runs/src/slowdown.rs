//! A rate that falls, and why it was high before.

use serde::{Deserialize, Serialize};

/// A rate that fell within one run and stayed low.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Slowdown {
    /// When, from the start of measuring, in nanoseconds.
    pub at_ns: u64,
    pub before_per_s: f64,
    pub after_per_s: f64,
}

/// What makes a region fast, as the facts of host and device show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FastCause {
    /// A cloud volume's saved-up requests.
    BurstCredits,
    /// Flash written with one bit per cell.
    SlcCache,
    /// Memory of a hard drive or of a RAID controller.
    WriteBackCache,
    #[default]
    Unknown,
}

impl FastCause {
    /// Its name in reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::BurstCredits => "burst credits",
            Self::SlcCache => "an SLC cache",
            Self::WriteBackCache => "a write-back cache",
            Self::Unknown => "a fast region",
        }
    }
}

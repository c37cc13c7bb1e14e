//! What follows from facts and measurements.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    /// Costs performance or makes a number doubtful.
    Warning,
    /// Something does not work, or data is at risk.
    Error,
}

impl Severity {
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Error];

    /// As documents have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// What was seen, in words with value and unit.
    pub seen: String,
    /// Where: a path, or the name of a phase.
    pub from: String,
}

/// A finding: what is wrong, how that is known, why it matters and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable identifier, `SW-QUEUE-001`.
    pub id: String,
    pub severity: Severity,
    pub title: String,
    /// How it is known. Never empty.
    pub evidence: Vec<Evidence>,
    pub why: String,
    /// What to do: an exact command, a setting, or a plain sentence.
    pub remedy: String,
    /// What this program's `tune` could change about it, where it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tune: Option<String>,
}

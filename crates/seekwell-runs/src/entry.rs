//! A kept run in brief, and how it stands.

use crate::document::{RunKind, Status};
use std::path::PathBuf;

/// How a kept run stands: its [`Status`], but a `running` one that nobody is writing was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// A living process is measuring.
    Running,
    /// Whoever was measuring is gone; finished phases are kept.
    Killed,
    Complete,
    /// Stopped by a signal; finished phases are kept.
    Interrupted,
    /// Stopped by an error; finished phases are kept.
    Failed,
}

impl RunState {
    /// The name shown to people and in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Killed => "killed",
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}

impl Status {
    pub const ALL: [Self; 4] = [Self::Running, Self::Complete, Self::Interrupted, Self::Failed];

    /// The name used in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEntry {
    pub id: String,
    /// The command that made it.
    pub kind: RunKind,
    pub state: RunState,
    /// The user's name for the configuration.
    pub label: Option<String>,
    /// True where the target was a model.
    pub modelled: bool,
    pub target: String,
    /// Model of the disk under the target.
    pub device_model: Option<String>,
    pub device_serial: Option<String>,
    pub kernel: Option<String>,
    /// Version of seekwell that measured.
    pub tool_version: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// RFC 3339, UTC.
    pub ended_at: Option<String>,
    /// Whether the measurement as a whole is not valid.
    pub invalid: bool,
    /// The bundle's folder.
    pub path: PathBuf,
}

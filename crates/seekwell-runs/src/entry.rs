//! A kept run in brief, and how it stands.

use crate::document::{RunKind, Status};
use crate::spread::Spread;
use std::path::PathBuf;

/// How a kept run stands: its [`Status`], but a `running` one without a writer was killed.
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

impl RunState {
    /// How a run without a writer stands.
    pub const fn left_at(status: Status) -> Self {
        match status {
            Status::Running => Self::Killed,
            Status::Complete => Self::Complete,
            Status::Interrupted => Self::Interrupted,
            Status::Failed => Self::Failed,
        }
    }
}

impl RunKind {
    /// The kind of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
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

    /// The status of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEntry {
    pub id: String,
    /// The host that measured: an id is unique on one host.
    pub host: String,
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
    /// The bundle's folder, if it has one.
    pub path: Option<PathBuf>,
}

impl RunEntry {
    /// Whether it went to its end and is valid.
    pub fn counts(&self) -> bool {
        self.state == RunState::Complete && !self.invalid
    }
}

/// A metric of one phase of a kept run.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    pub host: String,
    pub run: String,
    pub phase: String,
    pub spread: Spread,
}

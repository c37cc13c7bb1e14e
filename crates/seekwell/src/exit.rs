//! How a command ends: its status, and the one place where errors become sentences.

use seekwell_access::{AccessError, Refusal};
use seekwell_checkup::ExecuteError;
use seekwell_inspect::InspectError;
use seekwell_io::target::TargetError;
use seekwell_io::workload::WorkloadError;
use seekwell_report::ReportError;
use seekwell_runs::StoreError;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit statuses of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All is done.
    Done = 0,
    /// What was asked for makes no sense.
    Usage = 2,
    /// The environment refuses: permission, busy, mounted, no room.
    Refused = 3,
    /// The measurement is not valid.
    Invalid = 4,
    /// Interrupted; everything was put back.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The target is not there or not something to inspect.
    #[error(transparent)]
    Inspect(#[from] InspectError),
    /// The target cannot be opened.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The device may not be overwritten.
    #[error(transparent)]
    Refusal(Box<Refusal>),
    /// The workload makes no sense.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The engine does not run here.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// io_uring was insisted on.
    #[error("{refused}{by}; or measure with --engine threads")]
    RingRefused {
        /// What the kernel said.
        refused: TargetError,
        /// Who forbids it, and the command that allows it.
        by: String,
    },
    /// Nothing could be measured.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// A kept run cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The report cannot be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The result is no JSON.
    #[error("the result could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Standard output is closed or full.
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
    /// Writing was asked for without naming what may be destroyed.
    #[error(
        "{} is a {what} of yours, and this workload writes: only a block device that is named with \
         --destroy SERIAL is ever overwritten; give a directory instead and a temporary file is \
         measured", path.display()
    )]
    WouldWrite {
        /// The target.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// `--destroy` was given for something that is not a raw device.
    #[error("--destroy is for block devices; {} is a {what}", path.display())]
    NothingToDestroy {
        /// The target.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
}

impl From<Refusal> for CommandError {
    fn from(refusal: Refusal) -> Self {
        Self::Refusal(Box::new(refusal))
    }
}

impl CommandError {
    /// The status this ends with.
    pub fn exit(&self) -> Exit {
        match self {
            // A reader that has seen enough is no error.
            Self::Output(e) if e.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
            Self::Inspect(_)
            | Self::Workload(_)
            | Self::WouldWrite { .. }
            | Self::NothingToDestroy { .. } => Exit::Usage,
            Self::Access(
                AccessError::Missing { .. }
                | AccessError::NotMeasurable { .. }
                | AccessError::NotADirectory { .. },
            ) => Exit::Usage,
            Self::Access(AccessError::Stopped { .. }) => Exit::Interrupted,
            Self::Store(StoreError::NotFound { .. } | StoreError::Ambiguous { .. }) => Exit::Usage,
            Self::Execute(ExecuteError::Interrupted) => Exit::Interrupted,
            Self::Execute(ExecuteError::Workload(_)) => Exit::Usage,
            Self::Execute(
                ExecuteError::Io(_)
                | ExecuteError::Stalled { .. }
                | ExecuteError::DeviceGone { .. },
            ) => Exit::Invalid,
            _ => Exit::Refused,
        }
    }
}

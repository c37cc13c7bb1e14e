//! How a command ends: its status, and the errors that are the command line's own.

use seekwell_run::Ending;
use seekwell_sys::{Class, Classified};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    /// The claim that was to be checked does not hold, or is undecided.
    NotShown,
    /// What was asked for makes no sense.
    Usage,
    /// The environment refuses: permission, busy, mounted, no room.
    Refused,
    /// The measurement is not valid.
    Invalid,
    /// A setting could not be put back.
    Incomplete,
    /// Interrupted; everything was put back.
    Interrupted,
    /// A command that was to be run ended with this status, or could not be started.
    Command(u8),
}

impl Exit {
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::NotShown => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Invalid => 4,
            Self::Incomplete => 5,
            Self::Interrupted => 130,
            Self::Command(code) => code,
        }
    }
}

impl From<Ending> for Exit {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Complete => Self::Done,
            Ending::Interrupted => Self::Interrupted,
            Ending::Invalid => Self::Invalid,
            Ending::NotKept => Self::Refused,
        }
    }
}

impl From<Class> for Exit {
    fn from(class: Class) -> Self {
        match class {
            Class::NotShown => Self::NotShown,
            Class::Usage => Self::Usage,
            Class::Refused => Self::Refused,
            Class::Invalid => Self::Invalid,
            Class::Incomplete => Self::Incomplete,
            Class::Interrupted => Self::Interrupted,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("{0}")]
    Failed(Box<dyn Classified + Send + Sync>),
    #[error("{} holds no inspection to compare: {why}", path.display())]
    NoInspection { path: PathBuf, why: String },
    #[error("there is no finding {id:?}{}", if near.is_empty() {
        "; they look like SW-LINK-001".to_owned()
    } else {
        format!("; near it: {}", near.join(", "))
    })]
    NoSuchRule { id: String, near: Vec<String> },
    #[error("{} does not tell when requests were issued and done", path.display())]
    NoServiceTimes { path: PathBuf },
    /// A machine without measured times to hold it against.
    #[error(
        "{} has no workload of its own: give --trace FILE, or a .parv file of a whole system",
        path.display()
    )]
    NoTrace { path: PathBuf },
    /// A trace that cannot be played at its times.
    #[error("{} does not tell when requests came", path.display())]
    NoArrivals { path: PathBuf },
    #[error("{machine}: {error}")]
    NotPlanned { machine: String, error: seekwell_machine::LoadError },
    #[error("cannot run {program}: {source}")]
    NotStarted { program: String, source: io::Error },
    #[error("cannot watch for signals: {0}")]
    Signals(io::Error),
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error(
        "results of the suite {suite} cannot be exported as {format}; those of the suite fs can"
    )]
    NoSuchResult { suite: String, format: &'static str },
    #[error("fio's results are of one run, and {given} were given")]
    OneRun { given: usize },
    #[error("the result could not be written as JSON: {0}")]
    Json(serde_json::Error),
    #[error("cannot make the folder {}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error(
        "the ledger would go to the terminal; send it to where the power stays on: seekwell \
         flush-ledger write {} … | ssh HOST 'cat >ledger'", device.display()
    )]
    LedgerToTerminal { device: PathBuf },
    #[error("the ledger is read from standard input, which is the terminal; give --ledger FILE")]
    LedgerFromTerminal,
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
    #[error("{}: name the format with --to ({known})", path.display())]
    NoTraceFormat { path: PathBuf, known: String },
}

impl<E: Classified + Send + Sync + 'static> From<E> for CommandError {
    fn from(error: E) -> Self {
        Self::Failed(Box::new(error))
    }
}

impl CommandError {
    pub fn exit(&self) -> Exit {
        match self {
            Self::Failed(error) => error.class().into(),
            Self::NotPlanned { error, .. } => error.class().into(),
            Self::Read { source, .. } => Class::of_file(source).into(),
            // A reader that has seen enough is no error.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
            Self::NotStarted { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Exit::Command(127)
            }
            Self::NotStarted { .. } => Exit::Command(126),
            Self::NoInspection { .. }
            | Self::NoSuchRule { .. }
            | Self::NoServiceTimes { .. }
            | Self::NoTrace { .. }
            | Self::NoArrivals { .. }
            | Self::NoSuchResult { .. }
            | Self::OneRun { .. }
            | Self::LedgerToTerminal { .. }
            | Self::LedgerFromTerminal
            | Self::NoTraceFormat { .. } => Exit::Usage,
            Self::Signals(_) | Self::Json(_) | Self::Folder { .. } | Self::Output(_) => {
                Exit::Refused
            }
        }
    }
}

#[cfg(test)]
mod tests;

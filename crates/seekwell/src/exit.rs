//! How a command ends: its status, and the one place where errors become sentences.

use crate::commands::bench::limit::LimitError;
use crate::commands::bench::sweep::SweepError;
use crate::commands::experiment::arms::ArmError;
use crate::commands::replay::ReplayError;
use seekwell_access::{AccessError, Refusal};
use seekwell_checkup::ExecuteError;
use seekwell_compare::{CompareError, SourceError, TrendError};
use seekwell_experiment::{ExperimentError, UnknownMetric};
use seekwell_inspect::InspectError;
use seekwell_inspect::log::LogError;
use seekwell_inspect::probe::ProbeError;
use seekwell_inspect::saved::SavedError;
use seekwell_inspect::watch::WatchError;
use seekwell_io::target::TargetError;
use seekwell_io::workload::WorkloadError;
use seekwell_jobs::output::OutputError;
use seekwell_machine::ImportError;
use seekwell_machine::describe::DescribeError;
use seekwell_machine::fit::FitError;
use seekwell_report::ReportError;
use seekwell_reproduce::ReproduceError;
use seekwell_run::{Ending, RunError};
use seekwell_runs::StoreError;
use seekwell_suites::SuiteError;
use seekwell_sys::{SnapshotError, is_wrong_file};
use seekwell_trace::error::TraceError;
use seekwell_tune::TuneError;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit statuses of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All is done.
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
    /// The number.
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

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The snapshot cannot be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The snapshot does not hold the target.
    #[error(transparent)]
    Saved(#[from] SavedError),
    /// The file holds nothing that can be compared.
    #[error("{} holds no inspection to compare: {why}", path.display())]
    NoInspection {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Settings cannot be tried, kept or put back.
    #[error(transparent)]
    Tune(Box<TuneError>),
    /// The arms of an experiment make no sense.
    #[error(transparent)]
    Arm(#[from] ArmError),
    /// There is no such metric.
    #[error(transparent)]
    Metric(#[from] UnknownMetric),
    /// An experiment cannot be kept, found or gone on with.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// Nothing can be watched.
    #[error(transparent)]
    Watch(#[from] WatchError),
    /// No finding has this identifier.
    #[error("no finding is called {id:?}{}", if near.is_empty() {
        "; they look like SW-LINK-001".to_owned()
    } else {
        format!("; near it: {}", near.join(", "))
    })]
    NoSuchRule {
        /// What was asked for.
        id: String,
        /// Identifiers of the same theme.
        near: Vec<String>,
    },
    /// Published figures cannot be modelled.
    #[error(transparent)]
    Reproduce(#[from] ReproduceError),
    /// A suite does what programs do to files, and a model has none.
    #[error(
        "a suite works on files, and {} is a model without any: give a directory, or one workload \
         (--rw) for the model", path.display()
    )]
    SuiteOnModel {
        /// The target.
        path: PathBuf,
    },
    /// No model can be fitted to a run.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A drive of DiskSim cannot be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The trace does not tell how long requests took.
    #[error("{} does not tell when requests were issued and done", path.display())]
    NoServiceTimes {
        /// The trace.
        path: PathBuf,
    },
    /// A machine without measured times to hold it against.
    #[error(
        "{} has no workload of its own: give --trace FILE, or a .parv file of a whole system",
        path.display()
    )]
    NoTrace {
        /// The machine.
        path: PathBuf,
    },
    /// A trace cannot be recorded, read or written.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A trace cannot be played as was asked.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// No disk can be recorded there.
    #[error("{} is on no block device, so no request of it can be recorded", path.display())]
    NothingToRecord {
        /// What was named.
        path: PathBuf,
    },
    /// The command to be run does not start.
    #[error("cannot run {program}: {source}")]
    NotStarted {
        /// The program.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// Signals or the command cannot be watched.
    #[error("cannot watch over the recording: {0}")]
    Signals(io::Error),
    /// A disk cannot be probed.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// A kernel log that was named cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A text that was named cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A suite cannot be run, or was given up.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// The result cannot be written in the format that was asked for.
    #[error("{suite} gives no result that {format} can hold; it is for the suite fs")]
    NoSuchResult {
        /// The suite.
        suite: String,
        /// The format.
        format: &'static str,
    },
    /// A form for other programs cannot hold the result.
    #[error(transparent)]
    Form(#[from] OutputError),
    /// A form for other programs holds one run.
    #[error("fio's results are of one run, and {given} were given")]
    OneRun {
        /// How many were given.
        given: usize,
    },
    /// A sweep makes no sense.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// No limit can be searched for.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// Nothing could be measured.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// A run gave no numbers.
    #[error("the measurement is not valid: {why}")]
    NotMeasured {
        /// Why.
        why: String,
    },
    /// A target cannot be measured.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A kept run cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A side of a comparison cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The sides cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// There is nothing to write.
    #[error(transparent)]
    NothingToWrite(#[from] seekwell_compare::WriteError),
    /// There is no history.
    #[error(transparent)]
    Trend(#[from] TrendError),
    /// The report cannot be made.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The result is no JSON.
    #[error("the result could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] seekwell_access::OutputError),
    /// A folder for files cannot be made.
    #[error("cannot make the folder {}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The port is taken, or the address is not this machine's.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// What was asked for.
        address: std::net::SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// What was given as a token is none. It is not repeated: it may be somebody's secret.
    #[error(
        "a token is 16 to 128 letters, digits, '-', '.', '_' and '~'; leave it out for a random one"
    )]
    Token,
    /// A server cannot be run.
    #[error("cannot serve: {0}")]
    Serve(io::Error),
    /// Standard output is closed or full.
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
    /// The name of an output does not say in which format.
    #[error("{}: name the format with --to ({known})", path.display())]
    NoTraceFormat {
        /// The output.
        path: PathBuf,
        /// Formats that can be named.
        known: String,
    },
}

/// What a run can fail of is that also outside a run.
macro_rules! as_of_a_run {
    ($($error:ty),*) => {
        $(impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                Self::Run(error.into())
            }
        })*
    };
}

as_of_a_run!(InspectError, AccessError, Refusal, WorkloadError, TargetError, DescribeError);

impl From<TuneError> for CommandError {
    fn from(error: TuneError) -> Self {
        Self::Tune(Box::new(error))
    }
}

impl CommandError {
    /// The status this ends with: usage where other words would help, refused where the system or
    /// the safety rules stand in the way.
    pub fn exit(&self) -> Exit {
        let usage = |is_usage| if is_usage { Exit::Usage } else { Exit::Refused };
        match self {
            // A reader that has seen enough is no error.
            Self::Output(e) if e.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
            Self::Saved(_)
            | Self::NoInspection { .. }
            | Self::Arm(_)
            | Self::Metric(_)
            | Self::NoSuchRule { .. }
            | Self::SuiteOnModel { .. }
            | Self::Import(_)
            | Self::NoServiceTimes { .. }
            | Self::NoTrace { .. }
            | Self::NothingToRecord { .. }
            | Self::NoSuchResult { .. }
            | Self::Form(_)
            | Self::OneRun { .. }
            | Self::Sweep(_)
            | Self::Compare(_)
            | Self::NothingToWrite(_)
            | Self::Token
            | Self::NoTraceFormat { .. } => Exit::Usage,
            Self::Watch(_)
            | Self::Signals(_)
            | Self::Probe(_)
            | Self::Report(_)
            | Self::Json(_)
            | Self::File(_)
            | Self::Folder { .. }
            | Self::Listen { .. }
            | Self::Serve(_)
            | Self::Output(_) => Exit::Refused,
            Self::Fit(_) | Self::Limit(_) | Self::NotMeasured { .. } => Exit::Invalid,
            Self::Run(error) if error.is_interrupted() => Exit::Interrupted,
            Self::Run(error) => usage(error.is_usage()),
            Self::Store(error) => usage(error.is_usage()),
            Self::Source(error) => usage(error.is_usage()),
            Self::Trend(error) => usage(error.is_usage()),
            Self::Replay(error) => usage(error.is_usage()),
            Self::Snapshot(SnapshotError::Unreadable { source, .. })
            | Self::Log(LogError::File { source, .. })
            | Self::Read { source, .. } => usage(is_wrong_file(source)),
            Self::Snapshot(_) => Exit::Usage,
            Self::Log(_) => Exit::Refused,
            Self::Tune(error) if error.incomplete() => Exit::Incomplete,
            Self::Tune(error) => usage(error.is_usage()),
            Self::Experiment(error) if error.is_invalid() => Exit::Invalid,
            Self::Experiment(error) => usage(error.is_usage()),
            Self::Suite(SuiteError::Interrupted)
            | Self::Reproduce(ReproduceError::Interrupted)
            | Self::Trace(TraceError::Interrupted)
            | Self::Execute(ExecuteError::Interrupted) => Exit::Interrupted,
            Self::Suite(error) if error.is_invalid() => Exit::Invalid,
            Self::Suite(error) => usage(error.is_usage()),
            Self::Reproduce(_) => Exit::Refused,
            Self::Trace(error) => usage(error.is_usage()),
            Self::Execute(ExecuteError::Workload(_)) => Exit::Usage,
            Self::Execute(ExecuteError::OpenFailed { .. } | ExecuteError::Engine { .. }) => {
                Exit::Refused
            }
            Self::Execute(
                ExecuteError::Io(_)
                | ExecuteError::Stalled { .. }
                | ExecuteError::DeviceGone { .. },
            ) => Exit::Invalid,
            Self::NotStarted { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Exit::Command(127)
            }
            Self::NotStarted { .. } => Exit::Command(126),
        }
    }
}

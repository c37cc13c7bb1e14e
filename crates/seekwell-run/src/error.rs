//! Why something cannot be measured.

use crate::bench::LimitError;
use crate::jobs::JobRunError;
use crate::replay::ReplayError;
use seekwell_access::{AccessError, Refusal};
use seekwell_checkup::ExecuteError;
use seekwell_experiment::{ArmError, ExperimentError, SweepError};
use seekwell_inspect::InspectError;
use seekwell_io::target::TargetError;
use seekwell_io::workload::WorkloadError;
use seekwell_machine::describe::DescribeError;
use seekwell_runs::StoreError;
use seekwell_suites::SuiteError;
use seekwell_sys::{Class, classify};
use seekwell_trace::error::TraceError;
use seekwell_tune::TuneError;
use std::io;
use std::path::PathBuf;

/// A target cannot be measured, or what was measured cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
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
        /// What forbids it, and the command that allows it.
        by: String,
    },
    /// The run cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The description of a modelled machine is wrong.
    #[error(transparent)]
    Describe(Box<DescribeError>),
    /// The description of a modelled machine cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no such description.
    #[error(
        "there is no file {file}, and no built-in machine has this name{}; see: seekwell machine \
         list", near.first().map_or_else(String::new, |n| format!(" (did you mean {n}.toml?)"))
    )]
    NoMachine {
        /// As it was given.
        file: String,
        /// Built-in machines with a similar name.
        near: Vec<String>,
    },
    /// A machine's parameters were set, and the target is real.
    #[error("--set is for modelled machines, and {} is real", path.display())]
    NoParameters {
        /// The target.
        path: PathBuf,
    },
    /// A workload would reach beyond the modelled disk.
    #[error("{asked} bytes are asked for, and the modelled disk holds {capacity}")]
    LargerThanMachine {
        /// What was asked for.
        asked: u64,
        /// What there is.
        capacity: u64,
    },
    /// A trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A trace cannot be replayed as was asked.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Arms or workloads make no sense.
    #[error(transparent)]
    Arm(#[from] ArmError),
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
    /// A suite cannot be run, or was given up.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// An experiment cannot be kept, found or gone on with.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// Settings cannot be tried, kept or put back.
    #[error(transparent)]
    Tune(Box<TuneError>),
    /// A raw device or a user's file would be written, and was not given to be destroyed.
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
    /// Jobs cannot be run as they are.
    #[error(transparent)]
    Jobs(Box<JobRunError>),
    /// `--destroy` was given for something that is not a raw device.
    #[error("--destroy is for block devices; {} is a {what}", path.display())]
    NothingToDestroy {
        /// The target.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
}

classify!(RunError {
    Usage: Describe, NoMachine, NoParameters, LargerThanMachine, NothingToDestroy, Arm, Sweep;
    Refused: Refusal, RingRefused, WouldWrite;
    Invalid: NotMeasured;
    | Self::Inspect(error) => error.class(),
    | Self::Access(error) => error.class(),
    | Self::Workload(error) => error.class(),
    | Self::Target(error) => error.class(),
    | Self::Store(error) => error.class(),
    | Self::Trace(error) => error.class(),
    | Self::Replay(error) => error.class(),
    | Self::Execute(error) => error.class(),
    | Self::Suite(error) => error.class(),
    | Self::Experiment(error) => error.class(),
    | Self::Tune(error) => error.class(),
    | Self::Limit(error) => error.class(),
    | Self::Jobs(error) => error.class(),
    | Self::Read { source, .. } => Class::of_file(source),
});

impl From<Refusal> for RunError {
    fn from(refusal: Refusal) -> Self {
        Self::Refusal(Box::new(refusal))
    }
}

impl From<TuneError> for RunError {
    fn from(error: TuneError) -> Self {
        Self::Tune(Box::new(error))
    }
}

impl From<DescribeError> for RunError {
    fn from(error: DescribeError) -> Self {
        Self::Describe(Box::new(error))
    }
}

impl From<JobRunError> for RunError {
    fn from(error: JobRunError) -> Self {
        Self::Jobs(Box::new(error))
    }
}

//! Why something cannot be measured.

use crate::bench::LimitError;
use crate::calibration::CalibrationError;
use crate::checkup::SeveralError;
use crate::demand::DemandError;
use crate::jobs::JobRunError;
use crate::ledger::LedgerRunError;
use crate::replay::ReplayError;
use crate::shipped::FileError;
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
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum RunError {
    #[error(transparent)]
    Inspect(#[from] InspectError),
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error(transparent)]
    Refusal(Box<Refusal>),
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error("{refused}{by}; or measure with --engine threads")]
    RingRefused {
        refused: TargetError,
        /// What forbids it, and the command that allows it.
        by: String,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Describe(Box<DescribeError>),
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error(
        "there is no file {file}, and no built-in machine has this name{}; see: seekwell machine \
         list", near.first().map_or_else(String::new, |n| format!(" (did you mean {n}?)"))
    )]
    NoMachine { file: String, near: Vec<String> },
    #[error("--set is for modelled machines, and {} is real", path.display())]
    NoParameters { path: PathBuf },
    #[error("{asked} bytes are asked for, and the modelled disk holds {capacity}")]
    LargerThanMachine { asked: u64, capacity: u64 },
    #[error(
        "the drive of {name} has zones and only accepts writes at their write pointers; write it \
         with: seekwell bench --on {name} --zonemode=zbd", name = machine.display()
    )]
    OnlyInOrder { machine: PathBuf },
    #[error("requests of {bytes} bytes are not whole sectors of {sector}; use --bs={sector}")]
    PartOfSector { bytes: u32, sector: u32 },
    /// It is empty, or a zoned disk whose zones are.
    #[error(
        "there is nothing to read on {}: it is an empty file, or none of its zones is written \
         (`seekwell bench --zonemode=zbd --rw=write` writes them)", path.display()
    )]
    NothingToRead { path: PathBuf },
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error(transparent)]
    Arm(#[from] ArmError),
    #[error(transparent)]
    Sweep(#[from] SweepError),
    #[error(transparent)]
    Limit(#[from] LimitError),
    #[error(transparent)]
    Several(#[from] SeveralError),
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    #[error("{id} cannot be gone on with by this command: {why}")]
    OtherRun { id: String, why: String },
    #[error("the measurement is not valid: {why}")]
    NotMeasured { why: String },
    #[error(transparent)]
    Suite(#[from] SuiteError),
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    #[error(transparent)]
    Tune(Box<TuneError>),
    /// A raw device or a user's file would be written, and was not given to be destroyed.
    #[error(
        "{} is a {what} of yours, and this workload writes: only a block device that is named with \
         --destroy SERIAL is ever overwritten; give a directory instead and a temporary file is \
         measured", path.display()
    )]
    WouldWrite { path: PathBuf, what: &'static str },
    #[error(
        "a modelled machine plays one workload at a time; needed: a real target, or a job file \
         with a job for each workload (bench FILE.fio --on machine.toml)"
    )]
    NotBeside,
    #[error(transparent)]
    Jobs(Box<JobRunError>),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Demand(#[from] DemandError),
    #[error(transparent)]
    Ledger(#[from] LedgerRunError),
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    /// A drive that does not count what it writes to its medium, or may not be asked.
    #[error(
        "the drive under {} does not tell what it writes to its flash: needed is a modelled SSD, \
         or an NVMe drive with OCP's log page C0h and the right to ask it (root); see: \
         seekwell inspect",
        path.display()
    )]
    WearNotTold { path: PathBuf },
    /// `--destroy` was given for something that is not a raw device.
    #[error("--destroy is for block devices; {} is a {what}", path.display())]
    NothingToDestroy { path: PathBuf, what: &'static str },
}

classify!(RunError {
    Usage: Describe, NoMachine, NoParameters, LargerThanMachine, PartOfSector, NothingToRead,
        NothingToDestroy, NotBeside, OtherRun, Arm, Sweep, File, Demand, Calibration;
    Refused: Refusal, RingRefused, WouldWrite, WearNotTold, OnlyInOrder;
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
    | Self::Several(error) => error.class(),
    | Self::Jobs(error) => error.class(),
    | Self::Ledger(error) => error.class(),
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

//! What carries an experiment out: the one seam between the method and the machine.

use crate::arm::ArmSpec;
use crate::condition::Condition;
use seekwell_checkup::{ExecuteError, Execution};
use seekwell_inspect::Inspection;
use seekwell_io::units::Nanos;
use seekwell_io::workload::Workload;
use seekwell_runs::Repeat;
use seekwell_runs::limits::PhaseLimit;
use seekwell_stats::Arm;
use serde::{Deserialize, Serialize};

/// Why an arm could not be made ready.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrepareError {
    #[error("interrupted")]
    Interrupted,
    #[error("{key}={value} was not set: {why}")]
    Setting { key: String, value: String, why: String },
    #[error("{} could not be put back to {}: {}", .0.key, .0.wanted, .0.why)]
    Stuck(NotRestored),
    #[error(
        "`{command}` {how}{}",
        if said.is_empty() { String::new() } else { format!(": {said}") }
    )]
    Command {
        command: String,
        /// `ended with status 3`, `was ended by signal 9`, `could not be started`.
        how: String,
        /// The last line it said on standard error; may be empty.
        said: String,
    },
}

/// A setting that was applied for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    pub key: String,
    pub was: String,
    /// What was read back after it was set.
    pub is: String,
}

/// A setting that is not as it was before the experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotRestored {
    pub key: String,
    pub wanted: String,
    /// Why it could not be put back.
    pub why: String,
}

/// The part of the target that every run uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// Bytes in reach, counted from the start of the target.
    pub bytes: u64,
    /// Whether it can be driven past the page cache.
    pub direct: bool,
}

/// The machine an experiment is made on.
pub trait Rig {
    /// Puts back what earlier arms changed, applies this one (settings written and read back, then
    /// its command) and says what was applied. Done alike before every run, also when the run
    /// before was of the same arm.
    ///
    /// # Errors
    /// [`PrepareError`]; the state may be anything between.
    fn prepare(&mut self, which: Arm, arm: &ArmSpec) -> Result<Vec<Applied>, PrepareError>;

    /// Leaves the target alone for a while, or until it is stopped.
    fn settle(&mut self, pause: Nanos);

    /// Makes one run. It watches the stop flag itself, as [`seekwell_checkup::Executor`] does.
    ///
    /// # Errors
    /// As for [`seekwell_checkup::Executor::execute`].
    fn run(&mut self, arm: &ArmSpec, workload: &Workload) -> Result<Execution, ExecuteError>;

    /// The machine's own condition, asked for just before and just after each run.
    fn condition(&mut self) -> Condition {
        Condition::default()
    }

    /// What limited a run of an arm that is still applied.
    fn limit(&mut self, _: &ArmSpec, _: &Workload, _: &Repeat) -> Option<PhaseLimit> {
        None
    }

    /// Whether the arm was applied to the end of the run, asked for after it.
    ///
    /// # Errors
    /// What happened to it, in words.
    fn verify(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Puts back everything and gives what could not be.
    fn put_back(&mut self) -> Vec<NotRestored>;

    /// How the target is attached and set up now. Asked for only when everything is put back.
    fn inspect(&mut self) -> Inspection;

    /// The kernel's name of this boot.
    fn boot_id(&self) -> String;

    /// What every run uses.
    fn region(&self) -> Region;

    /// Time on a clock that only grows.
    fn now(&self) -> Nanos;

    /// Date and time, RFC 3339 in UTC.
    fn timestamp(&self) -> String;
}

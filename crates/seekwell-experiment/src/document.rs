//! The document of an experiment, `seekwell/experiment/1`: everything that was decided, every run,
//! and what follows. It is also the state from which an experiment is resumed.

use crate::arm::ArmSpec;
use crate::conclusion::Conclusion;
use crate::condition::Condition;
use crate::design::{Design, Forecast, Slot};
use crate::rig::{Applied, NotRestored, Region};
use jiff::Timestamp;
use seekwell_inspect::Inspection;
use seekwell_io::units::Nanos;
use seekwell_runs::Tool;
use seekwell_runs::limits::PhaseLimit;
use seekwell_stats::{Arm, Claim};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How far an experiment has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Being made, or killed.
    Running,
    /// Waits for a reboot into the other mode.
    Waiting,
    /// Stopped; it can go on.
    Interrupted,
    /// All planned blocks are made.
    Complete,
    /// Ended for a reason that leaves no room for a verdict.
    Invalid,
}

/// An experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// `seekwell/experiment/1`.
    pub schema: String,
    /// `20261120-231502-experiment-5f3a`.
    pub id: String,
    /// How far it has come.
    pub status: Status,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// RFC 3339, UTC; once it has ended.
    pub ended_at: Option<String>,
    pub tool: Tool,
    /// The command line that makes it again.
    pub command: Vec<String>,
    pub target: String,
    /// What the target is known by: serial number, WWN, or name.
    pub identity: String,
    /// Size of a temporary file or of the part that is used, where one was asked for.
    pub size_bytes: Option<u64>,
    /// The device that was given to be overwritten, by its serial number.
    pub destroy: Option<String>,
    /// What was decided before the first run.
    pub design: Design,
    /// The claim that decides about the exit status, where one was made.
    pub expect: Option<Claim>,
    pub a: ArmSpec,
    /// What is compared with it.
    pub b: ArmSpec,
    /// What every run uses, once it was made ready.
    pub region: Option<Region>,
    /// How long it was expected to take, from this machine's noise floor.
    pub forecast: Option<Forecast>,
    /// Number of blocks, once it is fixed.
    pub planned_blocks: Option<u32>,
    /// One for each start of the program.
    pub sessions: Vec<Session>,
    pub runs: Vec<Run>,
    /// Runs that do not count: of a block that was cut off and begun again.
    pub discarded: Vec<Run>,
    /// Why no verdict can be given whatever the numbers are.
    pub invalid: Option<String>,
    /// What could not be put back at the end.
    pub not_restored: Vec<NotRestored>,
    /// What follows, once all planned blocks are made or it is invalid.
    pub conclusion: Option<Conclusion>,
}

/// One start of the program on this experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// RFC 3339, UTC.
    pub started_at: String,
    /// The kernel's name of the boot.
    pub boot_id: String,
    /// The mode the machine was in, where arms are modes.
    pub mode: Option<Arm>,
    /// Number of its first run.
    pub first_run: u32,
    /// The target before its first run.
    pub before: Inspection,
    /// The target after its last run, everything put back; absent when it was killed.
    pub after: Option<Inspection>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its number, from 0.
    pub index: u32,
    /// Its block, from 0.
    pub block: u32,
    /// Its place in the block, from 0.
    pub position: u32,
    pub arm: Arm,
    pub seed: u64,
    /// The session it was made in, from 0.
    pub session: u32,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Measured time.
    pub elapsed_ns: Nanos,
    /// What was applied before it.
    pub applied: Vec<Applied>,
    /// One number per metric.
    pub values: BTreeMap<String, f64>,
    /// Rate over the run in equal parts, as shares of its mean; empty for a run too short for it.
    pub course: Vec<f64>,
    /// The machine's own condition after it, and whether that had spoilt it.
    #[serde(default)]
    pub condition: Condition,
    /// What limited it, as far as one run shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<PhaseLimit>,
    pub failed: u64,
    /// Why it gives no numbers.
    pub invalid: Option<String>,
}

impl Document {
    /// The schema's name.
    pub const SCHEMA: &str = "seekwell/experiment/1";

    /// An experiment of two arms without any run.
    pub fn new(tool: Tool, target: String, design: Design, a: ArmSpec, b: ArmSpec) -> Self {
        Self {
            schema: Self::SCHEMA.to_owned(),
            id: String::new(),
            status: Status::Running,
            started_at: Timestamp::now().to_string(),
            ended_at: None,
            tool,
            command: Vec::new(),
            target,
            identity: String::new(),
            size_bytes: None,
            destroy: None,
            design,
            expect: None,
            a,
            b,
            region: None,
            forecast: None,
            planned_blocks: None,
            sessions: Vec::new(),
            runs: Vec::new(),
            discarded: Vec::new(),
            invalid: None,
            not_restored: Vec::new(),
            conclusion: None,
        }
    }

    /// The arm of this letter.
    pub fn arm(&self, arm: Arm) -> &ArmSpec {
        match arm {
            Arm::A => &self.a,
            Arm::B => &self.b,
        }
    }

    /// Blocks to be made, as far as it is known: the pilot's until that is done.
    pub fn target_blocks(&self) -> u32 {
        self.planned_blocks.unwrap_or(Design::PILOT)
    }

    /// The next run; `None` when all planned ones are made.
    pub fn next_slot(&self) -> Option<Slot> {
        let slot = self.design.slot(self.runs.len() as u32);
        (slot.block < self.target_blocks()).then_some(slot)
    }

    /// Number of complete blocks.
    pub fn complete_blocks(&self) -> u32 {
        self.runs.len() as u32 / self.design.shape.runs()
    }

    /// Where a run stands, for people: `run 7 (B)`.
    pub(crate) fn run_name(slot: &Slot) -> String {
        format!("run {} ({:?})", slot.index + 1, slot.arm)
    }
}

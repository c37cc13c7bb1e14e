//! What a phase did: requests drawn from a workload, a trace that was played back, one step of a
//! suite, or jobs of a fio job file.

use crate::latency::Latency;
use seekwell_io::units::Nanos;
use seekwell_io::workload::Workload;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a phase did. In JSON the four are distinguished by their keys: `pattern`, `trace`, `suite`,
/// `jobs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Work {
    Drawn(Workload),
    Replayed(Replay),
    Suite(SuiteStep),
    /// Jobs of a fio job file.
    Job(Box<JobWork>),
}

impl Work {
    pub const fn drawn(&self) -> Option<&Workload> {
        match self {
            Self::Drawn(workload) => Some(workload),
            Self::Replayed(_) | Self::Suite(_) | Self::Job(_) => None,
        }
    }

    /// The plain workload that it is: drawn, or a job that amounts to one.
    pub fn plain(&self) -> Option<&Workload> {
        match self {
            Self::Job(job) => job.plain.as_ref(),
            _ => self.drawn(),
        }
    }

    /// The same, to be changed.
    pub const fn drawn_mut(&mut self) -> Option<&mut Workload> {
        match self {
            Self::Drawn(workload) => Some(workload),
            Self::Replayed(_) | Self::Suite(_) | Self::Job(_) => None,
        }
    }
}

impl From<Workload> for Work {
    fn from(workload: Workload) -> Self {
        Self::Drawn(workload)
    }
}

/// When the requests of a trace were issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayMode {
    /// Each at its recorded time: an open loop.
    Timed,
    /// As soon as fewer than a depth were outstanding: a closed loop.
    Depth,
    /// After the requests it had waited for, and the time that was thought.
    Dependent,
}

impl ReplayMode {
    /// Its word in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timed => "timed",
            Self::Depth => "depth",
            Self::Dependent => "dependent",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    pub trace: String,
    pub format: String,
    /// Whether nothing is known to be missing from it.
    pub complete: bool,
    /// Name of the recorded device that was played; `null` for all of them.
    pub recorded_device: Option<String>,
    /// Requests in the trace, by operation.
    pub requests: BTreeMap<String, u64>,
    /// From its first request to its last.
    pub span_ns: Nanos,
    pub mode: ReplayMode,
    /// Which recorded time counted: `queue` or `issue`.
    pub times: String,
    /// Times as fast as recorded.
    pub speed: f64,
    /// The most requests outstanding.
    pub depth: u32,
    /// In a closed loop: as many as were outstanding in the recording.
    pub recorded_depth: bool,
    /// The most outstanding under the tag policy; `null` without one.
    pub tags: Option<u32>,
    /// Name of the rule that gives a free tag to a waiting request; `null` without one.
    pub tag_policy: Option<String>,
    /// What was done with addresses beyond the target's end: `fail`, `modulo` or `scale`.
    pub fit: String,
    /// Whether writes, discards and flushes were played too.
    pub writes: bool,
}

/// How far a replay was from the recording. Counts are requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fidelity {
    /// `kept-up`, `device-full`, `program-late` or `untimed`.
    pub verdict: String,
    /// Later than this counts as late.
    pub late_bound_ns: Nanos,
    /// Handed to the target.
    pub issued: u64,
    /// Handed over minus due; `null` if nothing was due at a time.
    pub lateness: Option<Latency>,
    /// Late because the target had all it can take.
    pub late_device: u64,
    /// Late for any other reason.
    pub late_program: u64,
    /// How much longer issuing took than it should have, in percent.
    pub drift_percent: Option<f64>,
    /// Largest difference between the distributions of gaps due and issued, 0 to 1.
    pub gap_distance: Option<f64>,
    /// Outstanding as each request came, on average, as recorded.
    pub in_flight_recorded: Option<f64>,
    /// The same in the replay.
    pub in_flight: Option<f64>,
    /// Root mean square of the difference of the two.
    pub in_flight_error: Option<f64>,
    /// Handed over after a request that came later in the trace.
    pub reordered: u64,
    /// Left out, by operation, because only reads may be played here.
    pub skipped: BTreeMap<String, u64>,
    /// Left out because they cannot be played or have no time.
    pub skipped_other: u64,
    /// Moved, aligned or cut to fit the target.
    pub altered: u64,
    /// Parts beyond the first that long requests were split into.
    pub parts: u64,
    /// Recorded earlier than one before it.
    pub backwards: u64,
    /// Tasks found to be independent of each other, in dependent mode.
    #[serde(default)]
    pub tasks: Option<u64>,
    /// Time taken over the time the recording took at this speed, where requests had no times.
    #[serde(default)]
    pub time_ratio: Option<f64>,
    /// Lateness ends where requests were handed to other threads: when those reached the device is
    /// not known.
    #[serde(default)]
    pub handed_over: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuiteStep {
    /// The suite: `fs`, `sqlite`.
    pub suite: String,
    /// The step in it: `sequential-create`.
    pub step: String,
    /// Everything that decides what the step does, by name.
    pub tunables: BTreeMap<String, String>,
    /// The value that the step is for, as named in [`crate::Repeat::values`].
    pub primary: String,
}

/// One job of a fio job file with all its clones, or the jobs that are reported together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobWork {
    /// The jobs' names, in the order of the file; more than one under `group_reporting`.
    pub jobs: Vec<String>,
    pub job_file: String,
    /// Number of the reporting group, from 0: `stonewall` and `new_group` begin one.
    pub group: u32,
    pub clones: u32,
    /// What carried out the requests: `io_uring`, `threads` (plain system calls), `model` or
    /// `null`.
    pub engine: String,
    /// The phase reads back and checks what the jobs' own phase wrote.
    pub reads_back: bool,
    /// The plain workload that the job amounts to; `None` if it does anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain: Option<Workload>,
    /// The first job's options as given, by fio's canonical names; `rw`, `bs`, `iodepth` and
    /// `numjobs` are there always.
    pub options: BTreeMap<String, String>,
    /// Where requests went.
    pub files: Vec<JobFile>,
    /// What was asked for and made no difference, and what was done otherwise than asked, one
    /// sentence each.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFile {
    /// Its path, as the job named it.
    pub path: String,
    /// `temporary` (made for the run and gone with it), `read-only` (the user's), `destroyed` (a
    /// device that was given to be), `null` or `modelled` (a part of a modelled machine).
    pub kind: String,
    pub size_bytes: u64,
}

/// What became of a job's `steadystate`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SteadyState {
    /// What was looked at, in fio's words: `iops`, `bw_slope`.
    pub criterion: String,
    /// It had to be below this.
    pub limit: f64,
    /// The limit is percent of the mean; else requests or bytes a second, or nanoseconds.
    pub percent: bool,
    /// Over this long.
    pub window_ns: Nanos,
    /// It was, which ended the job.
    pub attained: bool,
    /// What it was at last, in the unit of the limit; `None` before the window was full.
    pub found: Option<f64>,
    /// Mean of what was looked at over the last window: requests or bytes a second, or nanoseconds.
    pub mean: f64,
    /// Requests a second in each part of that window.
    pub window_requests_per_s: Vec<f64>,
    /// Bytes a second in each.
    pub window_bytes_per_s: Vec<f64>,
}

/// A block that did not hold what had been written to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mismatch {
    /// The file, as the job named it.
    pub path: String,
    /// First byte of the block in it.
    pub offset: u64,
    pub len: u32,
    /// First byte in it that differs, counted from the start of the file; `null` where a sum over
    /// the block does not say.
    pub differs_at: Option<u64>,
    /// What differs: `magic`, `type`, `length`, `offset`, `sequence`, `header`, `checksum`,
    /// `pattern`.
    pub what: String,
    /// What was expected, in hexadecimal.
    pub expected: String,
    /// What was found, in hexadecimal.
    pub found: String,
}

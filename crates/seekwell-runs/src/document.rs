//! The run document, `seekwell/run/1`: what every command that measures produces, what is kept in a
//! bundle, printed as JSON, rendered in the terminal and shown on the page.
//!
//! Histograms and series are large, so they are kept beside the document in a [`Detail`] and joined
//! by the phase's name and the repeat's number.

use crate::latency::Latency;
use crate::limits::{Ceiling, PhaseLimit};
use crate::medium::Medium;
use crate::reason::{Invalid, Skipped};
use crate::slowdown::Slowdown;
use crate::spread::Spread;
use crate::study::{Preconditioning, Study};
use crate::work::{Fidelity, Mismatch, SteadyState, Work};
use seekwell_inspect::health::Measure;
use seekwell_inspect::{Finding, Inspection};
use seekwell_io::measurement::{Failure, Issuer, Series, Stopped};
use seekwell_io::units::Nanos;
use seekwell_sys::Background;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::iter;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    Checkup,
    Bench,
    Replay,
}

impl RunKind {
    pub const ALL: [Self; 3] = [Self::Checkup, Self::Bench, Self::Replay];
}

/// How far a run came. A bundle is written after every phase, so a killed run stays `running`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Not finished yet, or killed.
    Running,
    Complete,
    /// Stopped by a signal; finished phases are kept.
    Interrupted,
    /// Stopped by an error; finished phases are kept.
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    pub version: String,
    /// Git commit it was built from, where known.
    pub git_commit: Option<String>,
}

/// How requests were issued, and what that costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Engine {
    /// `io_uring` or `threads`.
    pub name: String,
    /// Why it is not io_uring, if it is not.
    pub notice: Option<String>,
    /// CPU time per request on the null target at depth 32, measured before the run.
    pub cost_ns_per_request: Option<f64>,
}

/// One execution of a command that measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunDocument {
    /// `seekwell/run/1`.
    pub schema: String,
    /// Sortable identifier: `20261120-231502-checkup-5f3a`.
    pub id: String,
    pub kind: RunKind,
    pub status: Status,
    /// The user's name for this configuration.
    pub label: Option<String>,
    /// True where the target is a model and not a disk.
    pub modelled: bool,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// RFC 3339, UTC.
    pub ended_at: Option<String>,
    pub tool: Tool,
    pub engine: Engine,
    /// What was measured on, once it was set up.
    pub medium: Option<Medium>,
    /// The attachment of the target at the start.
    pub inspection: Inspection,
    /// The phases, in the order they were run.
    pub phases: Vec<Phase>,
    /// What was written before the phases, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preconditioning: Option<Preconditioning>,
    /// What was asked beyond the numbers of the phases, and what was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<Study>,
    /// What limits the disk, in one or two sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summary: Vec<String>,
    /// What limits each phase, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<PhaseLimit>,
    /// The ceilings that were known or found: the lines of the roofline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ceilings: Vec<Ceiling>,
    pub findings: Vec<Finding>,
    /// Why the measurement as a whole is not valid; empty when it is.
    pub invalid: Vec<String>,
}

impl RunDocument {
    pub const SCHEMA: &str = "seekwell/run/1";
    /// The id of a run that was not kept (`--no-keep`).
    pub const NOT_KEPT: &str = "not-kept";

    /// One that is running and has no phases yet.
    pub fn new(
        id: impl Into<String>,
        kind: RunKind,
        started_at: impl Into<String>,
        (tool, engine): (Tool, Engine),
        inspection: Inspection,
    ) -> Self {
        Self {
            schema: Self::SCHEMA.to_owned(),
            id: id.into(),
            kind,
            status: Status::Running,
            label: None,
            modelled: false,
            started_at: started_at.into(),
            ended_at: None,
            tool,
            engine,
            medium: None,
            inspection,
            phases: Vec::new(),
            preconditioning: None,
            study: None,
            summary: Vec::new(),
            limits: Vec::new(),
            ceilings: Vec::new(),
            findings: Vec::new(),
            invalid: Vec::new(),
        }
    }

    /// How each target is attached: of one that was measured alone, and of several together.
    pub fn inspections(&self) -> impl Iterator<Item = &Inspection> {
        let others = match &self.study {
            Some(Study::Together(together)) => together.targets.as_slice(),
            _ => &[],
        };
        iter::once(&self.inspection).chain(others.iter().filter_map(|t| t.inspection.as_ref()))
    }

    pub fn phase(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().find(|p| p.name == name)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Stable name: `rand-read-4k-d32`.
    pub name: String,
    /// For people: `random read 4 KiB, depth 32`.
    pub title: String,
    /// What it did; repeats differ in the seed only.
    pub workload: Work,
    /// Why it was not run, if it was not.
    pub skipped: Option<Skipped>,
    /// Why it has fewer repeats than were planned, where the run ended before them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<Skipped>,
    pub repeats: Vec<Repeat>,
    /// One number per metric, over the valid repeats. Names carry the unit and, for operations,
    /// begin with it: `read.requests_per_s`, `read.rate_bytes_per_s`, `read.latency_ns_p99`,
    /// `flush.response_ns_p50`, `cpu_percent`, `cpu_ns_per_request`, `requests_per_syscall`,
    /// `device_share`.
    pub metrics: BTreeMap<String, Spread>,
}

impl Phase {
    /// Whether it is of this job, and not of reading back what the job wrote.
    pub fn is_of_job(&self, job: &str) -> bool {
        match &self.workload {
            Work::Job(work) => !work.reads_back && work.jobs.iter().any(|name| name == job),
            _ => false,
        }
    }

    /// One that has no repeats yet.
    pub fn new(name: impl Into<String>, title: impl Into<String>, work: impl Into<Work>) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            workload: work.into(),
            skipped: None,
            cut_short: None,
            repeats: Vec::new(),
            metrics: BTreeMap::new(),
        }
    }

    /// Makes the ranges of a fitted machine's metrics as wide as its error allows, beyond what its
    /// repeats differ by. `deeper` is how many times as deep the queue is as those it was fitted
    /// to, at least 1: a rate grows by no more than the depth, and does not fall.
    pub fn widen(&mut self, error_percent: f64, tail_error_percent: f64, deeper: f64) {
        const MIDDLE: [&str; 4] = ["requests_per_s", "rate_bytes_per_s", "_ns_mean", "_ns_p50"];
        for (name, spread) in &mut self.metrics {
            let percent = match name.contains("_ns_") {
                _ if MIDDLE.iter().any(|end| name.ends_with(end)) => error_percent,
                true => tail_error_percent,
                false => continue,
            };
            spread.low *= (1.0 - percent / 100.0).max(0.0) / deeper;
            spread.high *= (1.0 + percent / 100.0) * deeper;
        }
    }

    pub fn median(&self, metric: &str) -> Option<f64> {
        self.metrics.get(metric).map(|s| s.median)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Repeat {
    pub seed: u64,
    pub elapsed_ns: Nanos,
    pub stopped: Stopped,
    /// The first request that failed.
    pub failure: Option<Failure>,
    pub failed: u64,
    /// Per operation that occurred: `read`, `write`, `flush`, `discard`.
    pub ops: BTreeMap<String, OpSummary>,
    pub cpu_user_ns: Nanos,
    pub cpu_system_ns: Nanos,
    /// System calls to submit and reap.
    pub syscalls: u64,
    /// Who made the requests, where the kernel got any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<Issuer>,
    /// What the device's own counters gained, where it has them.
    pub device: Option<DeviceCount>,
    /// Where its rate fell and stayed low, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<Slowdown>,
    /// How far a replay was from its recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Fidelity>,
    /// Whether a job with `steadystate` was steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_state: Option<SteadyState>,
    /// The first blocks that did not verify, in the order they were found; at most 16.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mismatches: Vec<Mismatch>,
    /// What a step of a suite or a job gave beside requests: names end in their unit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, f64>,
    /// What a step of a suite or a job has to say about them: what was the limit, and how that is
    /// known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why this repeat is left out of the metrics.
    pub invalid: Option<Invalid>,
}

impl Repeat {
    /// The value that says how much of all processors other programs had, in percent.
    pub const OTHERS: &str = "other_programs_percent";
    /// The value that says how busy all processors were, including kernel threads, in percent.
    pub const BUSY: &str = "processors_busy_percent";
    /// The values that say how much was read from swap areas and written to them, in bytes.
    pub const SWAPPED: [&str; 2] = ["swapped_in_bytes", "swapped_out_bytes"];
    /// The value that says how often a processor went into an idle state that takes at least
    /// [`seekwell_sys::DEEP_IDLE_US`] to leave.
    pub const DEEP_IDLES: &str = "deep_idle_count";
    /// The value that says for how much of the time the metadata device of a thin pool below the
    /// target was busy, in percent.
    pub const POOL_METADATA: &str = "pool_metadata_busy_percent";
    /// For each limit of a cloud volume: the volume's counter, the value that gives its share of
    /// this repeat's time in percent, and the limit in words.
    pub const EXCEEDED: [(Measure, &str, &str); 4] = [
        (Measure::VolumeIopsExceeded, "volume_iops_exceeded_percent", "the volume's IOPS limit"),
        (
            Measure::VolumeRateExceeded,
            "volume_rate_exceeded_percent",
            "the volume's throughput limit",
        ),
        (
            Measure::InstanceIopsExceeded,
            "instance_iops_exceeded_percent",
            "the instance's IOPS limit",
        ),
        (
            Measure::InstanceRateExceeded,
            "instance_rate_exceeded_percent",
            "the instance's throughput limit",
        ),
    ];
    /// The value that says how many bytes went to the medium for each that the host wrote.
    pub const AMPLIFICATION: &str = "write_amplification";
    /// The values of a modelled drive's garbage collection: bytes moved, and superblocks erased.
    pub const COLLECTED: &str = "collected_bytes";
    /// See [`Self::COLLECTED`].
    pub const ERASED: &str = "erased_superblocks";
    /// From so much on it is to blame for what differs between repeats, in percent.
    pub const OTHERS_MATTER: f64 = 25.0;

    /// The value that says how much of one processor a kind of background work had, in percent.
    pub fn background(of: Background) -> String {
        format!("background_{}_percent", of.name())
    }

    /// A run that has given nothing yet.
    pub fn new(seed: u64, stopped: Stopped) -> Self {
        Self { seed, stopped, ..Self::default() }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OpSummary {
    pub requests: u64,
    pub bytes: u64,
    pub requests_per_s: f64,
    pub rate_bytes_per_s: f64,
    /// Service time: submit to complete.
    pub latency: Latency,
    /// Response time: wanted to complete; only where requests were wanted at a time.
    pub response: Option<Latency>,
}

/// What `/sys/block/*/stat` counted during a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DeviceCount {
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub flushes: u64,
    /// Bytes the device moved over bytes the program asked for, at most 1.
    pub share: f64,
}

/// Histograms and series of a run document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// One per repeat that was measured.
    pub repeats: Vec<RepeatDetail>,
}

/// Histograms and series of one repeat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepeatDetail {
    pub phase: String,
    /// The repeat's number in it, from 0.
    pub repeat: u32,
    /// Service-time bins per operation: number of the bin and its count; bins as in `seekwell-io`.
    pub latency_bins: BTreeMap<String, Vec<(u32, u64)>>,
    /// Response-time bins per operation, where requests were wanted at a time.
    pub response_bins: BTreeMap<String, Vec<(u32, u64)>>,
    pub series: Series,
}

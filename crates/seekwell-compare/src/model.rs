//! One shape for every source: a side has runs, a run has one group per workload, a group has one
//! number per metric. What a reader of a format cannot say in it is not compared.

use seekwell_inspect::Inspection;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a side was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    KeptRuns,
    /// fio's output, JSON or printed.
    Fio,
    Hdparm,
    BonnieCsv,
    /// A result file of the Phoronix Test Suite.
    PhoronixXml,
}

impl SourceKind {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeptRuns => "kept runs",
            Self::Fio => "fio output",
            Self::Hdparm => "hdparm output",
            Self::BonnieCsv => "bonnie++ CSV",
            Self::PhoronixXml => "Phoronix XML",
        }
    }
}

/// One configuration: what stands on one side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// What people call it: the label, the file's name, the machine in the file.
    pub name: String,
    pub source: SourceKind,
    /// Its runs, oldest first; at least one.
    pub runs: Vec<RunValues>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunValues {
    /// The run's id, or the file and line it was read from.
    pub name: String,
    /// RFC 3339, UTC, where known.
    pub started_at: Option<String>,
    /// True where the target was a model.
    pub modelled: bool,
    /// What is known of the set-up beyond the inspection: `kernel`, `tool version`, `engine` …
    pub about: BTreeMap<String, String>,
    /// How the target was attached, if the source says.
    pub inspection: Option<Box<Inspection>>,
    /// One per workload; names are unique.
    pub groups: Vec<Group>,
    /// What limits a workload, by its name, if the source says.
    pub limits: BTreeMap<String, String>,
    /// What the source says that is not compared, and why.
    pub left_out: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Stable name, the same in every run of the workload: `rand-read-4k-d32`.
    pub name: String,
    pub title: String,
    /// What decides the requests: field and value. Two groups are of one workload when these are
    /// equal.
    pub identity: BTreeMap<String, String>,
    /// Why its numbers are not to be trusted, if they are not.
    pub invalid: Option<String>,
    /// The numbers; metric names are unique.
    pub values: Vec<Value>,
}

impl Group {
    pub fn value(&self, metric: &str) -> Option<&Value> {
        self.values.iter().find(|v| v.metric == metric)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// Stable name with its unit: `read.latency_ns_p99`.
    pub metric: String,
    /// For people: `read latency p99`.
    pub title: String,
    /// What it is about, shared by metrics people would name in one breath: `create`.
    pub family: String,
    pub unit: Unit,
    pub better: Better,
    pub class: Class,
    pub rank: Rank,
    /// The number; finite.
    pub value: f64,
    /// Lowest and highest of the repeats inside the run it is the median of, where there were
    /// several.
    pub repeats: Option<(f64, f64)>,
}

impl Value {
    /// A detail without repeats.
    pub(crate) fn new(
        metric: impl Into<String>,
        title: impl Into<String>,
        family: &str,
        (unit, better, class): (Unit, Better, Class),
        value: f64,
    ) -> Self {
        Self {
            metric: metric.into(),
            title: title.into(),
            family: family.to_owned(),
            unit,
            better,
            class,
            rank: Rank::Detail,
            value,
            repeats: None,
        }
    }

    /// The same, as prominent as this.
    pub(crate) fn ranked(self, rank: Rank) -> Self {
        Self { rank, ..self }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "text")]
pub enum Unit {
    BytesPerSecond,
    /// Requests, files or seeks a second.
    PerSecond,
    Nanoseconds,
    Percent,
    /// 0 to 1.
    Share,
    Count,
    /// As the source writes it.
    Other(String),
}

/// Which way is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    Higher,
    Lower,
    /// Neither: it only explains other metrics.
    Neither,
}

/// What kind of number it is: decides the margin and how far runs usually lie apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Bytes or requests a second over a whole run.
    Throughput,
    /// Files created, looked up or deleted a second.
    Metadata,
    /// A mean or median of latencies.
    TypicalLatency,
    /// A high percentile of latencies.
    TailLatency,
    /// The longest of all latencies: one request.
    Maximum,
    Cpu,
    Other,
}

/// How prominent a metric is in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rank {
    /// The one number a workload is about.
    Headline,
    /// Shown beside it.
    Main,
    /// Shown on request.
    Detail,
}

/// The most runs of a side that are compared, the newest: the exact test grows with the fourth
/// power of their number.
pub const MOST_RUNS: usize = 50;

/// That only the newest runs are compared.
pub(crate) fn only_newest(all: usize) -> String {
    format!("only the newest {MOST_RUNS} of {all} runs are compared")
}

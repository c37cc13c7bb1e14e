//! The document `seekwell/compare/1`: what was compared, what else differed, what each metric says
//! and what may be concluded. Sides keep their order; every side is held against the first.

use crate::model::{Better, Class, Rank, SourceKind, Unit};
use seekwell_stats::{Claim, Design, Interval, Margin, Verdict};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// `seekwell/compare/1`.
    pub schema: String,
    pub method: String,
    /// The sides; the first is the baseline.
    pub sides: Vec<SideSummary>,
    /// One for each side after the first.
    pub against: Vec<Against>,
}

impl Comparison {
    pub const SCHEMA: &str = "seekwell/compare/1";
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SideSummary {
    pub name: String,
    pub source: SourceKind,
    /// True where a run is of a model and not of a disk.
    pub modelled: bool,
    pub runs: Vec<RunSummary>,
    /// What its sources hold that is not compared, and why.
    pub left_out: Vec<String>,
    /// Where its runs were not all made in one set-up, what differs between them.
    pub not_one_setup: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Id, or file and line.
    pub name: String,
    /// RFC 3339, UTC, where known.
    pub started_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// The baseline's name.
    pub a: String,
    /// The other's name.
    pub b: String,
    /// One sentence: what is compared and on how many runs it rests.
    pub heading: String,
    /// How the runs were laid out in time.
    pub design: Design,
    /// What must accompany every number of this design.
    pub caveat: String,
    /// Fields in which the workloads differ; not empty only when that was overruled.
    pub different_workloads: Vec<FieldDifference>,
    /// What else differed between the two, the most important first.
    pub setup: Vec<SetupDifference>,
    /// Whether both sides say how their target was attached.
    pub setup_known: bool,
    pub only_in_a: Vec<String>,
    pub only_in_b: Vec<String>,
    /// The metrics, workload by workload.
    pub metrics: Vec<MetricComparison>,
    /// What follows, in sentences.
    pub summary: Vec<String>,
    /// The claim that was to be checked.
    pub expectation: Option<Checked>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldDifference {
    pub group: String,
    pub field: String,
    /// Its value in A; `None` if it is not set.
    pub a: Option<String>,
    pub b: Option<String>,
}

/// Something in the set-up that differed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupDifference {
    /// What it is: `driver`, `queue depth`, `kernel`.
    pub what: String,
    pub device: Option<String>,
    /// In A; `None` if it was not there or not known.
    pub a: Option<String>,
    pub b: Option<String>,
    /// Whether it may change how fast a disk is.
    pub matters: bool,
}

/// The values of one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Numbers {
    pub n: usize,
    pub median: f64,
    pub low: f64,
    pub high: f64,
    /// One for each run, in order.
    pub values: Vec<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Named first: its verdict stands alone.
    Primary,
    /// Judged together with its like, by Holm's adjustment.
    Adjusted,
    /// To look at: no claim is made for it.
    Exploratory,
}

/// What may be concluded of one metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    Faster,
    Slower,
    /// A change beyond the margin is ruled out.
    Equivalent,
    /// The data do not settle it.
    Undecided,
    /// One run each: a change, never a verdict.
    OneEach,
    TooFew,
    Invalid,
    /// A metric that only explains others.
    NotJudged,
}

/// How far single runs of a kind usually lie apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Usual {
    /// Changes within ± so much are usual.
    pub band_percent: f64,
    /// Where the band is from: `assumed`.
    pub basis: String,
    /// Whether this change is larger.
    pub beyond: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricComparison {
    pub group: String,
    pub group_title: String,
    pub metric: String,
    /// The metric in words; empty if the workload has only one.
    pub title: String,
    pub family: String,
    pub unit: Unit,
    pub better: Better,
    pub class: Class,
    pub rank: Rank,
    pub a: Numbers,
    pub b: Numbers,
    /// Change from A to B in percent of A; of several runs the Hodges–Lehmann estimate. `None`
    /// where a ratio has no meaning.
    pub change_percent: Option<f64>,
    /// Its 95 % interval; `None` if the design or the number of runs allows none.
    pub interval95_percent: Option<Interval>,
    /// Two-sided p value; `None` for one run each.
    pub p: Option<f64>,
    /// The same adjusted for all metrics of this role.
    pub p_adjusted: Option<f64>,
    pub role: Role,
    pub margin: Margin,
    /// What the data say by themselves, before any adjustment; `None` if nothing can be concluded.
    pub verdict: Option<Verdict>,
    pub conclusion: Conclusion,
    pub sentence: String,
    /// How far single runs usually lie apart, for one run each.
    pub usual: Option<Usual>,
}

impl MetricComparison {
    pub fn full_title(&self) -> String {
        match (self.title.is_empty(), self.group_title == "bonnie++") {
            (true, _) => self.group_title.clone(),
            (_, true) => self.title.clone(),
            _ => format!("{}: {}", self.group_title, self.title),
        }
    }
}

/// A claim and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    pub claim: Claim,
    /// The metric it is about, with its workload.
    pub metric: String,
    /// Whether the data show it; not when they leave it open.
    pub holds: bool,
    pub sentence: String,
}

//! What follows from an experiment, as it stands in the document.

use crate::metric::{better, default_margin};
use seekwell_stats::{Better, Estimate, Gate, Interval, Verdict};
use serde::{Deserialize, Serialize};

/// What became of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Faster, slower, or no difference within the margin.
    Decided,
    /// The data allow several answers.
    Undecided,
    /// The experiment was not fit for one.
    Invalid,
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checked {
    Passed,
    /// To be kept in mind beside the verdict.
    Warning,
    Failed,
    /// It could not be looked at.
    NotJudged,
}

/// One thing that was looked at before the verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What: `errors`, `condition`, `environment`, `blocks`, `trend`, `neighbours`, `carry-over`,
    /// `other-programs`, `steady`, `sessions`, `skew`.
    pub name: String,
    pub checked: Checked,
    pub text: String,
    pub gate: Option<Gate>,
}

/// Another metric, for orientation: the verdict is not on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exploratory {
    pub metric: String,
    /// Change in per cent.
    pub percent: f64,
    /// Its 95 % interval in per cent.
    pub interval95: Option<Interval>,
    /// p value, adjusted by Holm over all of these.
    pub adjusted_p: f64,
}

/// What follows from an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conclusion {
    pub method: String,
    /// What became of the question.
    pub decision: Decision,
    /// The answer in a sentence.
    pub sentence: String,
    /// What limited the arms, in a sentence, if that is known of both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The verdict of the numbers; absent if a gate that closed leaves no room for one.
    pub verdict: Option<Verdict>,
    /// The numbers under it, as log ratios of B to A.
    pub estimate: Option<Estimate>,
    /// Log ratio of each complete block, in time; `None` if it has none.
    pub d: Vec<Option<f64>>,
    pub checks: Vec<Check>,
    pub exploratory: Vec<Exploratory>,
    /// Whether the claim holds, where one was made.
    pub claim_holds: Option<bool>,
}

impl Exploratory {
    /// Whether it differs significantly and by more than the default margin.
    pub fn stands_out(&self) -> bool {
        let margin = default_margin(&self.metric).percent();
        self.adjusted_p < 0.05 && self.percent.abs() > margin
    }

    /// Whether the change is for the better.
    pub fn improves(&self) -> bool {
        (self.percent > 0.0) == (better(&self.metric) == Better::Higher)
    }
}

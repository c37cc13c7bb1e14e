//! The document of `seekwell tune auto`.

use seekwell_experiment::{NotRestored, Setting};
use seekwell_stats::{Interval, Verdict};
use seekwell_tune::Identity;
use seekwell_tune::candidates::Candidate;
use serde::Serialize;
use std::collections::BTreeMap;

/// What the search came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AutoOutcome {
    /// The best candidate was confirmed.
    Helps,
    /// No candidate gained enough, or the best did not stand the confirmation.
    NothingHelps,
    /// The confirmation allows several answers.
    Undecided,
    /// The confirmation was not fit for an answer.
    Invalid,
    /// There were candidates, and none of them could be measured.
    NotMeasured,
    /// There is nothing to try on this disk for this workload.
    NothingToTry,
    /// It was stopped.
    Interrupted,
}

/// A candidate and what screening showed of it.
#[derive(Debug, Clone, Serialize)]
pub struct Screened {
    /// The key.
    pub key: String,
    /// The value measured.
    pub value: String,
    /// The value the disk had.
    pub was: String,
    /// Change of the metric in per cent.
    pub percent: Option<f64>,
    /// Its 95 % interval in per cent, from six pairs on.
    pub interval95: Option<Interval>,
    /// p value of the signed-rank test.
    pub p: Option<f64>,
    /// The same adjusted by Holm over all candidates.
    pub adjusted_p: Option<f64>,
    /// Why it was not measured.
    pub not_tried: Option<String>,
}

impl Screened {
    /// Not measured yet.
    pub fn new(candidate: Candidate) -> Self {
        let Candidate { key, value, was } = candidate;
        let (percent, interval95, p, adjusted_p) = (None, None, None, None);
        Self { key, value, was, percent, interval95, p, adjusted_p, not_tried: None }
    }

    /// As a setting of an arm.
    pub fn setting(&self) -> Setting {
        Setting { key: self.key.clone(), value: self.value.clone() }
    }

    /// Whether its runs are made.
    pub const fn screened(&self) -> bool {
        self.percent.is_some()
    }
}

/// The experiment of the winner.
#[derive(Debug, Clone, Serialize)]
pub struct Confirmed {
    /// Its id, for `seekwell experiment resume` and the page.
    pub experiment: String,
    /// The answer in a sentence.
    pub sentence: String,
    /// The verdict of the numbers.
    pub verdict: Option<Verdict>,
}

/// `seekwell/tune-auto/1`.
#[derive(Debug, Clone, Serialize)]
pub struct AutoDocument {
    /// `seekwell/tune-auto/1`.
    pub schema: String,
    /// The disk.
    pub disk: Identity,
    /// The target that was measured.
    pub target: String,
    /// The workload's options as typed.
    pub workload: BTreeMap<&'static str, String>,
    /// The metric that is to get better.
    pub goal: String,
    /// Seed of every order and request.
    pub seed: u64,
    /// Pairs of runs for each candidate.
    pub screening_pairs: u32,
    /// Every candidate.
    pub candidates: Vec<Screened>,
    /// The number of the candidate that was confirmed, from 0.
    pub winner: Option<usize>,
    /// What its experiment came to.
    pub confirmation: Option<Confirmed>,
    /// What it came to.
    pub outcome: AutoOutcome,
    /// What could not be put back.
    pub not_restored: Vec<NotRestored>,
    /// The commands that keep what helps, one list of words each.
    pub keep: Option<Vec<Vec<String>>>,
}

impl AutoDocument {
    /// The schema's name.
    pub const SCHEMA: &str = "seekwell/tune-auto/1";
}

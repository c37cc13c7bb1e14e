//! Several targets, each alone and then all together.

use crate::medium::Medium;
use seekwell_inspect::{Inspection, Shared};
use serde::{Deserialize, Serialize};

/// What several targets do alone and together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Together {
    /// The targets, in the order they were named.
    pub targets: Vec<Target>,
    /// What came of each workload.
    pub workloads: Vec<Comparison>,
    /// What two or more of the targets share on their way from the CPU.
    pub shared: Vec<Shared>,
}

/// One of several targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Its name in this document: the device's, or the path.
    pub name: String,
    /// How it is attached; `None` of the first, which is the run's own inspection.
    pub inspection: Option<Inspection>,
    /// What was measured on it, once it was set up.
    pub medium: Option<Medium>,
    /// Why it could not be measured.
    pub left_out: Option<String>,
}

/// One workload on every target alone, and on all of them together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Its name: `seq-read-1m`.
    pub workload: String,
    /// For people: `sequential read 1 MiB, depth 4`.
    pub title: String,
    /// The targets that took part in the rounds that count.
    pub parts: Vec<Part>,
    /// Sum of the parts alone.
    pub alone: Rate,
    /// Sum of the parts together.
    pub together: Rate,
    /// Together over the sum of the parts, in each round that counts.
    pub rounds: Vec<f64>,
    /// The estimate from these rounds; `None` of fewer than two.
    pub efficiency: Option<Ratio>,
    /// How much of what was asked for together a device below several targets counted itself, from
    /// 0 to 1; `None` if there is no such device.
    #[serde(default)]
    pub reached: Option<f64>,
    /// How much of all processors was busy while they ran together, the median of the rounds.
    pub busy_percent: Option<f64>,
}

/// Medians over the rounds that count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    pub requests_per_s: f64,
    pub bytes_per_s: f64,
}

/// What one target did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The target's name.
    pub target: String,
    /// The phase that measured it alone.
    pub alone_phase: String,
    /// The phase that measured it beside the others.
    pub together_phase: String,
    pub alone: Rate,
    pub together: Rate,
}

/// Together over the sum of the parts, with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
}

impl Ratio {
    /// Less than this of the sum is a loss that matters.
    pub const MATTERS: f64 = 0.95;

    /// Whether together they certainly reach less than the sum of the parts.
    pub fn is_less(&self) -> bool {
        self.high < Self::MATTERS
    }

    /// Whether together they certainly reach the sum of the parts.
    pub fn is_all(&self) -> bool {
        self.low >= Self::MATTERS
    }
}

impl Comparison {
    /// What went through a shared part when all ran together, in bytes a second.
    pub fn through(&self, shared: &Shared) -> f64 {
        let by_it = self.parts.iter().filter(|p| shared.targets.contains(&p.target));
        by_it.map(|p| p.together.bytes_per_s).sum::<f64>() * self.reached.unwrap_or(1.0)
    }

    /// The shared part that was as busy as it gets, where one was: the one that carries least. One
    /// that carried more than it can was read as a link is while it saves power.
    pub fn full<'s>(&self, shared: &'s [Shared]) -> Option<&'s Shared> {
        let full = |s: &&Shared| {
            s.bytes_per_s
                .is_some_and(|most| (s.kind.reachable()..1.1).contains(&(self.through(s) / most)))
        };
        let most = |s: &&Shared| s.bytes_per_s.unwrap_or(f64::INFINITY);
        shared.iter().filter(full).min_by(|a, b| most(a).total_cmp(&most(b)))
    }
}

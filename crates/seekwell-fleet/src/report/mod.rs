//! Many hosts side by side: the newest run of each host and target, grouped by the disk's model and
//! firmware, with the outliers of each group and what else is different about their hosts.
//!
//! All is read from the rows of [`crate::tables()`], so that a folder and a database give the same
//! document.

mod differences;
mod gather;

use crate::error::FleetError;
use crate::survey::Survey;
use jiff::Timestamp;
use seekwell_compare::Unit;
use seekwell_runs::{Filter, RunKind};
use seekwell_stats::{Equals, Margin, Middle, OUTLIER_FLOOR, SD_OF_MAD, percent};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The chance that a report about equal hosts names any outlier.
const FALSE_ALARM_RATE: f64 = 0.05;

/// Which runs a report is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Runs with this label, whatever command made them; without it checkups.
    pub label: Option<String>,
    /// Only runs that started then or later.
    pub since: Option<Timestamp>,
}

/// The document `seekwell/fleet/1`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fleet {
    /// `seekwell/fleet/1`.
    pub schema: String,
    /// The label of the runs; none for checkups.
    pub label: Option<String>,
    /// The earliest start that was asked for, RFC 3339.
    pub since: Option<String>,
    /// How outliers were found.
    pub test: Test,
    /// The newest run that counts of each host and target, by host.
    pub members: Vec<Member>,
    /// Members with disks of one model and firmware, the largest group first.
    pub groups: Vec<Group>,
    /// The slowest first.
    pub outliers: Vec<Outlier>,
    /// Hosts and targets whose newest run does not count.
    pub failed: Vec<Attempt>,
}

impl Fleet {
    /// The name of the document and its version.
    pub const SCHEMA: &str = "seekwell/fleet/1";
}

/// How outliers were found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Test {
    /// Changes whenever the same runs could give other outliers.
    pub method: String,
    /// The chance that a report about equal hosts names any outlier.
    pub false_alarm_rate: f64,
    /// Metrics of groups that share it.
    pub comparisons: usize,
    /// Fewest values for a verdict.
    pub fewest: usize,
    /// The smallest difference that matters, as a fraction.
    pub margin: Margin,
}

/// One host and target, as its newest run found it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// The host.
    pub host: String,
    /// What was measured.
    pub target: String,
    /// The run's id.
    pub run: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Model of the disk; of several disks each, with their number.
    pub model: Option<String>,
    /// The same of the firmware.
    pub firmware: Option<String>,
    /// The same of the serial numbers.
    pub serial: Option<String>,
    /// What may explain a difference, by the columns of the tables `disks` and `runs`.
    pub facts: BTreeMap<String, String>,
    /// Titles of its findings, by id.
    pub findings: BTreeMap<String, String>,
}

/// A run that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The host.
    pub host: String,
    /// What was measured.
    pub target: String,
    /// The run's id.
    pub run: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// `killed`, `interrupted`, `failed` or `invalid`.
    pub state: String,
}

/// Members with disks of one model and firmware.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// `None` if the model is not known.
    pub model: Option<String>,
    /// `None` if the firmware is not known.
    pub firmware: Option<String>,
    /// Places in `members`.
    pub members: Vec<usize>,
    /// The rates of each phase.
    pub metrics: Vec<Headline>,
}

/// A metric in one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// The phase's stable name.
    pub phase: String,
    /// The metric's stable name.
    pub metric: String,
    /// The metric in words.
    pub title: String,
    /// The unit of the values.
    pub unit: Unit,
    /// Members that have it.
    pub n: usize,
    /// The middle one of their values.
    pub median: f64,
    /// Robust standard deviation (1.4826 times the median absolute deviation), percent.
    pub spread_percent: f64,
    /// What makes an outlier; `None` if the values are too few for a verdict.
    pub limits: Option<Limits>,
    /// Each member's value, by member.
    pub values: Vec<Value>,
}

/// A member is an outlier beyond these, in percent of the median.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Below 0.
    pub low_percent: f64,
    /// Above 0.
    pub high_percent: f64,
}

impl Limits {
    /// Whether a member this far from the median is an outlier.
    pub fn exclude(&self, percent: f64) -> bool {
        percent < self.low_percent || percent > self.high_percent
    }
}

/// What a member measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// Its place in `members`.
    pub member: usize,
    /// In the metric's unit.
    pub value: f64,
    /// The difference from the median, percent.
    pub percent: f64,
}

/// A member that differs from its group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outlier {
    /// Its place in `members`.
    pub member: usize,
    /// Its place in `groups`.
    pub group: usize,
    /// The metrics in which it is one, the largest deviation first.
    pub deviations: Vec<Deviation>,
    /// What is different about it and not about most of its group, the rarest first.
    pub differences: Vec<Difference>,
}

/// How far an outlier lies from the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Deviation {
    /// The metric's place in `metrics` of the group.
    pub metric: usize,
    /// In the metric's unit.
    pub value: f64,
    /// The difference from the median, percent.
    pub percent: f64,
}

/// A fact in which an outlier differs from most of its group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// A name in `facts`, or `finding`.
    pub fact: String,
    /// Its value, or the finding's id and title; `None` if it is not known.
    pub value: Option<String>,
    /// Members of the group that have this value, this one included.
    pub hosts: usize,
    /// Members of the group.
    pub of: usize,
    /// What the others have and how many of them, the most common first; empty for a finding.
    pub others: Vec<(String, usize)>,
    /// The same as a sentence: `link: the only one of 12 at 3.0 Gbps; the others: 6.0 Gbps`.
    pub sentence: String,
}

/// Compares the newest runs of all hosts.
///
/// # Errors
/// [`FleetError::NoRuns`] if no run counts, [`FleetError::Store`] if they cannot be read.
pub fn fleet(store: &dyn Survey, scope: &Scope) -> Result<Fleet, FleetError> {
    let kind = scope.label.is_none().then_some(RunKind::Checkup);
    let (label, since) = (scope.label.clone(), scope.since);
    let mut runs =
        store.list(&Filter { kind, label, since, newest: true, ..Filter::default() })?.runs;
    runs.retain(|run| !run.modelled);
    runs.sort_by(|a, b| (&a.host, &a.target).cmp(&(&b.host, &b.target)));
    let (counting, others): (Vec<_>, Vec<_>) = runs.iter().partition(|run| run.counts());
    if counting.is_empty() {
        return Err(FleetError::NoRuns { label: scope.label.clone(), since });
    }
    let (members, rates) = gather::members(&counting, &store.rows(&counting)?);
    let mut groups = gather::groups(&members, &rates);
    let comparisons = limit(&mut groups);
    Ok(Fleet {
        schema: Fleet::SCHEMA.to_owned(),
        label: scope.label.clone(),
        since: scope.since.map(|since| since.to_string()),
        test: Test {
            method: "seekwell-outliers/1".to_owned(),
            false_alarm_rate: FALSE_ALARM_RATE,
            comparisons,
            fewest: OUTLIER_FLOOR,
            margin: Margin::THROUGHPUT,
        },
        outliers: outliers(&members, &groups),
        failed: gather::failed(&counting, &others),
        members,
        groups,
    })
}

/// Says of each metric what makes an outlier; gives the number of metrics that can have one.
fn limit(groups: &mut [Group]) -> usize {
    let metrics = || groups.iter().flat_map(|group| &group.metrics);
    let comparisons = metrics().filter(|metric| metric.n >= OUTLIER_FLOOR).count();
    let mut distances: BTreeMap<usize, Option<f64>> = BTreeMap::new();
    for metric in groups.iter_mut().flat_map(|group| &mut group.metrics) {
        let distance = *distances.entry(metric.n).or_insert_with(|| {
            Some(Equals::new(metric.n)?.distance(FALSE_ALARM_RATE / comparisons as f64))
        });
        let values: Vec<f64> = metric.values.iter().map(|v| v.value).collect();
        metric.limits = distance.zip(Middle::of(&values)).map(|(distance, middle)| {
            let reach = middle.reach(distance, Margin::THROUGHPUT);
            Limits { low_percent: percent(-reach), high_percent: percent(reach) }
        });
    }
    comparisons
}

fn outliers(members: &[Member], groups: &[Group]) -> Vec<Outlier> {
    let mut found: BTreeMap<(usize, usize), Vec<Deviation>> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate() {
        for (metric, headline) in group.metrics.iter().enumerate() {
            let Some(limits) = headline.limits else { continue };
            for &Value { member, value, percent } in &headline.values {
                if limits.exclude(percent) {
                    let deviations = found.entry((at, member)).or_default();
                    deviations.push(Deviation { metric, value, percent });
                }
            }
        }
    }
    let mut outliers: Vec<Outlier> = found
        .into_iter()
        .map(|((group, member), mut deviations)| {
            deviations.sort_by(|a, b| far(b.percent).total_cmp(&far(a.percent)));
            let differences = differences::of(member, &groups[group], members);
            Outlier { member, group, deviations, differences }
        })
        .collect();
    let first = |outlier: &Outlier| outlier.deviations[0].percent;
    outliers.sort_by(|a, b| first(a).total_cmp(&first(b)));
    outliers
}

/// How far a difference in percent is, half as far as double.
fn far(percent: f64) -> f64 {
    (percent / 100.0).ln_1p().abs()
}

/// Robust standard deviation, percent.
fn spread_percent(middle: &Middle) -> f64 {
    percent(SD_OF_MAD * middle.mad)
}

#[cfg(test)]
mod tests;

//! The history of one metric over many kept runs of one configuration, and where it changed.
//!
//! One configuration is one label, one target, one disk and one workload: those of the newest run
//! that has the metric. What else is kept is counted and left out, for a change of the disk is no
//! change of the disk's speed.

use crate::error::SourceError;
use crate::model::{Better, RunValues, Side, SourceKind, Unit, Value};
use crate::sources::kept::values;
use seekwell_runs::{Filter, RunEntry, Runs, Spread, StoreError};
use seekwell_stats::{ChangeRule, METHOD, change_points};
use seekwell_sys::classify;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The most runs of a configuration looked at, the newest: more would be years of daily runs.
pub const MOST_RUNS: usize = 1000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrendOptions {
    /// The metric: `METRIC`, or `PHASE/METRIC`.
    pub metric: String,
    /// The phase, where the metric does not say it.
    pub phase: Option<String>,
    /// Only runs with this label; without it those with the newest run's label.
    pub label: Option<String>,
    /// Only runs of this host.
    pub host: Option<String>,
    /// Only runs of exactly this target; without it those of the newest run's target.
    pub target: Option<String>,
}

/// The document `seekwell/trend/1`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// `seekwell/trend/1`.
    pub schema: String,
    pub method: String,
    pub phase: String,
    pub phase_title: String,
    pub metric: String,
    pub title: String,
    pub unit: Unit,
    pub better: Better,
    pub label: Option<String>,
    pub target: String,
    /// The runs, oldest first.
    pub points: Vec<Point>,
    pub changes: Vec<Change>,
    /// Runs that have the metric and are of another configuration.
    pub other_configurations: usize,
    /// What was looked for: the rule in words.
    pub rule: String,
}

impl Trend {
    pub const SCHEMA: &str = "seekwell/trend/1";
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub run: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// The median of its repeats.
    pub value: f64,
    /// Lowest of its repeats.
    pub low: f64,
    /// Highest of its repeats.
    pub high: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// First run after it.
    pub run: String,
    /// Its place in `points`.
    pub index: usize,
    /// Mean since the change before.
    pub before: f64,
    /// Mean until the next.
    pub after: f64,
    pub percent: f64,
    /// p value of Welch's test between the two.
    pub p: f64,
    /// What else is different in the set-up between the last run before and the first after.
    pub setup: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum TrendError {
    #[error(
        "no kept run{} has {metric:?}{}; seekwell runs show RUN --json lists what a run has",
        label.as_ref().map(|l| format!(" with the label {l:?}")).unwrap_or_default(),
        phase.as_ref().map(|p| format!(" in the phase {p:?}")).unwrap_or_default()
    )]
    NoSuchMetric { metric: String, phase: Option<String>, label: Option<String> },
    #[error("{metric:?} is in several phases; name one with --phase: {}", phases.join(", "))]
    SeveralPhases { metric: String, phases: Vec<String> },
    #[error(transparent)]
    Source(#[from] SourceError),
}

classify!(TrendError {
    Usage: NoSuchMetric, SeveralPhases;
    | Self::Source(error) => error.class(),
});

impl From<StoreError> for TrendError {
    fn from(error: StoreError) -> Self {
        Self::Source(error.into())
    }
}

/// The history of a metric and where it changed.
///
/// # Errors
/// [`TrendError`] when no kept run has the metric, or it is not clear which phase is meant.
pub fn trend(store: &dyn Runs, options: &TrendOptions) -> Result<Trend, TrendError> {
    let (phase, metric) = match options.metric.split_once('/') {
        Some((phase, metric)) => (Some(phase.to_owned()), metric.to_owned()),
        None => (options.phase.clone(), options.metric.clone()),
    };
    let (label, host) = (options.label.clone(), options.host.clone());
    let filter = Filter { label, host, ..Filter::default() };
    let mut entries = store.list(&filter)?.runs;
    let of_target = |e: &RunEntry| options.target.as_ref().is_none_or(|t| e.target == *t);
    entries.retain(|e| e.counts() && of_target(e));
    let mut history: BTreeMap<(String, String), BTreeMap<String, Spread>> = BTreeMap::new();
    for found in store.history(&metric, phase.as_deref())? {
        let of_run = history.entry((found.host, found.run)).or_default();
        of_run.insert(found.phase, found.spread);
    }
    let measured = |e: &RunEntry| history.get(&(e.host.clone(), e.id.clone()));
    let newest = entries.iter().find_map(|e| Some((e, measured(e)?)));
    let Some((newest, phases)) = newest else {
        let label = options.label.clone();
        return Err(TrendError::NoSuchMetric { metric, phase, label });
    };
    let phase = match phases.keys().collect::<Vec<_>>().as_slice() {
        [one] => (*one).clone(),
        several => {
            let phases = several.iter().map(|phase| (*phase).clone()).collect();
            return Err(TrendError::SeveralPhases { metric, phases });
        }
    };
    let spread = |e: &RunEntry| measured(e)?.get(&phase);
    let having: Vec<&RunEntry> = entries.iter().filter(|e| spread(e).is_some()).collect();
    let (runs, other_configurations) = one_configuration(store, &having, newest, &phase)?;
    let (title, described) = describe(&runs, &phase, &metric);
    let points: Vec<Point> = runs
        .iter()
        .filter_map(|(entry, _)| {
            let spread = spread(entry)?;
            Some(Point {
                run: entry.id.clone(),
                started_at: entry.started_at.clone(),
                value: spread.median,
                low: spread.low,
                high: spread.high,
            })
        })
        .collect();
    let rule = ChangeRule::default();
    Ok(Trend {
        schema: Trend::SCHEMA.into(),
        method: METHOD.into(),
        title: described.as_ref().map_or_else(|| metric.clone(), |v| v.title.clone()),
        unit: described.as_ref().map_or(Unit::Count, |v| v.unit.clone()),
        better: described.as_ref().map_or(Better::Neither, |v| v.better),
        phase_title: title,
        phase,
        metric,
        label: newest.label.clone(),
        target: newest.target.clone(),
        changes: changes(&points, &runs, rule),
        points,
        other_configurations,
        rule: format!(
            "E-divisive in windows of {} runs, Welch's test with p below {}, at least {:.0} %",
            rule.window,
            rule.p,
            rule.magnitude * 100.0
        ),
    })
}

/// Runs with what they gave.
type Series<'a> = Vec<(&'a RunEntry, RunValues)>;

/// The runs of the newest one's label, target, disk and workload, oldest first, and how many are of
/// another configuration.
fn one_configuration<'a>(
    store: &dyn Runs,
    entries: &[&'a RunEntry],
    newest: &RunEntry,
    phase: &str,
) -> Result<(Series<'a>, usize), StoreError> {
    // A disk without a serial number is known by its host.
    let same = |e: &&RunEntry| {
        e.label == newest.label
            && e.target == newest.target
            && e.modelled == newest.modelled
            && e.device_serial == newest.device_serial
            && (e.device_serial.is_some() || e.host == newest.host)
    };
    let (mut like, others): (Vec<&RunEntry>, Vec<&RunEntry>) =
        entries.iter().partition(|e| same(e));
    like.truncate(MOST_RUNS);
    let mut documents = Vec::new();
    store.each(&like, &mut |run| documents.push(values(&run)))?;
    let mut identity: Option<BTreeMap<String, String>> = None;
    let mut runs = Vec::new();
    // Newest first, so that its workload is the one looked for.
    for (entry, values) in like.iter().zip(documents) {
        let Some(group) = values.groups.iter().find(|g| g.name == phase) else { continue };
        if *identity.get_or_insert_with(|| group.identity.clone()) == group.identity {
            runs.push((*entry, values));
        }
    }
    runs.reverse();
    let others = others.len() + like.len() - runs.len();
    Ok((runs, others))
}

/// The phase in words, and the metric as its newest run has it.
fn describe(runs: &[(&RunEntry, RunValues)], phase: &str, metric: &str) -> (String, Option<Value>) {
    let groups = || {
        let newest_first = runs.iter().rev();
        newest_first.filter_map(|(_, run)| run.groups.iter().find(|g| g.name == phase))
    };
    let title = groups().next().map_or_else(|| phase.to_owned(), |g| g.title.clone());
    (title, groups().find_map(|g| g.value(metric).cloned()))
}

fn changes(points: &[Point], runs: &[(&RunEntry, RunValues)], rule: ChangeRule) -> Vec<Change> {
    let series: Vec<f64> = points.iter().map(|p| p.value).collect();
    let found = change_points(&series, rule).into_iter().filter(|c| c.index < points.len());
    let setup = |index: usize| -> Vec<String> {
        let run = |at: usize| runs.get(at).map(|(_, run)| run.clone());
        let (Some(before), Some(after)) = (index.checked_sub(1).and_then(run), run(index)) else {
            return Vec::new();
        };
        let side =
            |run| Side { name: String::new(), source: SourceKind::KeptRuns, runs: vec![run] };
        let (differences, _) = crate::compare::setup_differences(&side(before), &side(after));
        differences.iter().filter(|d| d.matters).map(crate::compare::in_words).collect()
    };
    found
        .map(|c| Change {
            run: points[c.index].run.clone(),
            index: c.index,
            before: c.before,
            after: c.after,
            percent: c.percent(),
            p: c.p,
            setup: setup(c.index),
        })
        .filter(|c| c.percent.is_finite())
        .collect()
}

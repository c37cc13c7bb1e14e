//! The page of a metric's history: of one host, or of all disks of a model.

use crate::compare::{about, heading, metric_value, sentences};
use crate::page::table;
use crate::text::{clean, escape_html as escape, when};
use seekwell_compare::{Trend, metric_title};
use seekwell_runs::{Phase, RunDocument};
use serde::Serialize;

/// One metric over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct History {
    pub heading: String,
    /// What was measured on what, in a line.
    pub about: String,
    /// What is to be seen.
    pub sentences: Vec<String>,
    pub phase: String,
    /// The metric's name in documents, which ends in its unit.
    pub metric: String,
    /// What else there is of the newest run.
    pub choices: Vec<Choice>,
    /// Oldest first.
    pub points: Vec<HistoryPoint>,
}

/// The metrics of a phase, each with its title.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    pub phase: String,
    pub title: String,
    pub metrics: Vec<(String, String)>,
}

impl Choice {
    /// All phases of a run that measured something.
    pub fn all(run: &RunDocument) -> Vec<Self> {
        let phases = run.phases.iter().filter(|phase| !phase.metrics.is_empty());
        let choice = |phase: &Phase| {
            let title = |name: &String| metric_title(name, &phase.workload);
            let titled = |name: &String| (name.clone(), title(name).unwrap_or(name.clone()));
            Self {
                phase: phase.name.clone(),
                title: clean(&phase.title),
                metrics: phase.metrics.keys().map(titled).collect(),
            }
        };
        phases.map(choice).collect()
    }
}

/// A run, or all runs of a day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryPoint {
    /// RFC 3339, UTC.
    pub at: String,
    pub value: f64,
    /// Lowest of the repeats, or of the hosts.
    pub low: f64,
    /// Highest of the same.
    pub high: f64,
    /// The mean of the runs between two changes.
    pub level: Option<f64>,
    /// How many hosts were measured, where that can be several.
    pub hosts: Option<u64>,
    /// The run, or the newest of them.
    pub host: String,
    pub run: String,
}

impl History {
    /// The history of one host, and where it changed.
    pub fn of_host(trend: &Trend, host: &str, choices: Vec<Choice>) -> Self {
        let level = |at: usize| {
            let since = trend.changes.iter().rev().find(|change| change.index <= at);
            since.map(|change| change.after).or(trend.changes.first().map(|change| change.before))
        };
        let points = trend.points.iter().enumerate().map(|(at, point)| HistoryPoint {
            at: point.started_at.clone(),
            value: point.value,
            low: point.low,
            high: point.high,
            level: level(at),
            hosts: None,
            host: host.to_owned(),
            run: point.run.clone(),
        });
        Self {
            heading: format!("{}, {}", clean(host), heading(trend)),
            about: about(trend),
            sentences: sentences(trend),
            phase: trend.phase.clone(),
            metric: trend.metric.clone(),
            choices,
            points: points.collect(),
        }
    }
}

pub(crate) fn body(history: &History) -> String {
    let mut out = format!("<h1>{}</h1>\n", escape(&history.heading));
    out += &format!("<p class=\"hint\">{}</p>\n", escape(&history.about));
    for sentence in &history.sentences {
        out += &format!("<p>{}</p>\n", escape(sentence));
    }
    let value = |number: f64| metric_value(&history.metric, number);
    let row = |point: &HistoryPoint| {
        let range = format!("{} – {}", value(point.low), value(point.high));
        vec![when(&point.at), value(point.value), range]
    };
    let rows: Vec<_> = history.points.iter().map(row).collect();
    out + &table(&history.metric, &["started", "median", "lowest – highest"], 1, &rows)
}

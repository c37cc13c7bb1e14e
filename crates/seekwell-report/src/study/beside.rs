//! A workload alone and beside others: what the others do to it.

use super::text::StudyText;
use crate::units::{iops, percent, time};
use seekwell_runs::together::Ratio;
use seekwell_runs::{Beside, Effect, RunDocument};

pub(super) fn text(document: &RunDocument, study: &Beside) -> StudyText {
    let phase = |name: &str| document.phases.iter().find(|phase| phase.name == name);
    let others = study.others.iter().filter_map(|name| phase(name));
    let others: Vec<&str> = others.map(|phase| phase.title.as_str()).collect();
    let rate = study.effects.iter().find(|effect| effect.metric.ends_with("requests_per_s"));
    let sentence = match rate.and_then(|effect| Some((effect.ratio?, effect.rounds.len()))) {
        Some((ratio, rounds)) => format!(
            "Beside {} it has {} of the rate that it has alone ({} … {} with 95 % confidence, \
             {rounds} rounds).",
            others.join(" and "),
            percent(ratio.ratio),
            percent(ratio.low),
            percent(ratio.high),
        ),
        None => "Too few valid rounds to compare it with and without the others.".to_owned(),
    };
    let median = |name: &str, metric: &str| {
        let value = phase(name).and_then(|phase| phase.median(metric));
        value.map_or_else(|| "—".to_owned(), |value| told(metric, value))
    };
    let row = |effect: &Effect| {
        vec![
            words(&effect.metric).to_owned(),
            median(&study.alone, &effect.metric),
            median(&study.beside, &effect.metric),
            effect.ratio.map_or_else(|| "—".to_owned(), times),
        ]
    };
    StudyText {
        title: "Alone and beside".to_owned(),
        sentences: vec![sentence],
        columns: ["", "alone", "beside", "beside / alone"].map(String::from).into(),
        words: 1,
        spare: 0,
        rows: study.effects.iter().map(row).collect(),
        panels: Vec::new(),
    }
}

fn times(of: Ratio) -> String {
    format!("{:.2} ({:.2} … {:.2})", of.ratio, of.low, of.high)
}

fn words(metric: &str) -> &'static str {
    match metric.rsplit('.').next() {
        Some("latency_ns_p50") => "p50",
        Some("latency_ns_p99") => "p99",
        _ => "requests/s",
    }
}

fn told(metric: &str, value: f64) -> String {
    if metric.contains("latency") { time(value) } else { iops(value) }
}

//! The steps of a suite: what each is for, and everything else it gave, written out.

use crate::rows::{NONE, remark};
use crate::text::clean;
use crate::units::{grouped, iops, percent, rate, time};
use seekwell_runs::{Phase, RunDocument, Work};
use serde::Serialize;

/// One step. All text is clean; what was not measured is `—`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepRow {
    pub phase: String,
    pub title: String,
    /// The value it is for, with its unit.
    pub result: String,
    /// CPU time over elapsed time.
    pub cpu: String,
    pub longest: String,
    /// Highest less lowest repeat, over the median.
    pub spread: String,
    /// Its other values: name and value.
    pub others: Vec<(String, String)>,
    pub notes: Vec<String>,
    /// Why it was not run, or which repeats were left out.
    pub remark: Option<String>,
}

/// The steps of a run, in their order; none if the run is of no suite.
pub fn steps(document: &RunDocument) -> Vec<StepRow> {
    document.phases.iter().filter_map(row).collect()
}

/// The most steps that are named in the sentence that heads a report.
const NAMED: usize = 3;

/// What the first steps of a suite gave, as a sentence; `None` if the run is of no suite or no
/// step gave a figure.
pub(crate) fn sentence(document: &RunDocument) -> Option<String> {
    let suite = document.phases.iter().find_map(|phase| match &phase.workload {
        Work::Suite(step) => Some(clean(&step.suite)),
        _ => None,
    })?;
    let measured: Vec<_> = steps(document).into_iter().filter(|s| s.result != NONE).collect();
    let mut parts: Vec<_> =
        measured.iter().take(NAMED).map(|s| format!("{}: {}", s.title, s.result)).collect();
    match measured.len().saturating_sub(NAMED) {
        0 => {}
        1 => parts.push("1 more figure in the table".into()),
        more => parts.push(format!("{more} more figures in the table")),
    }
    (!measured.is_empty()).then(|| format!("The suite {suite} gave {}.", parts.join("; ")))
}

fn row(phase: &Phase) -> Option<StepRow> {
    let Work::Suite(step) = &phase.workload else { return None };
    let metric = |name: &str| phase.median(name).map(|value| written(name, value));
    let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
    let spread = phase.metrics.get(&step.primary).map(|s| match s.n {
        0 | 1 => "one run".to_owned(),
        _ => percent(s.relative()),
    });
    let names = |name: &&String| **name != step.primary && !name.contains('.');
    let others =
        phase.metrics.keys().filter(names).map(|name| (words(name), or_none(metric(name))));
    let longest = ["call_ns_max", "read.latency_ns_max", "write.latency_ns_max"];
    let own = phase.metrics.keys().find(|n| n.ends_with("_ns_max")).map(String::as_str);
    let longest = longest.into_iter().find(|n| phase.metrics.contains_key(*n)).or(own);
    let mut notes: Vec<String> = Vec::new();
    for note in phase.repeats.iter().flat_map(|r| &r.notes).map(|n| clean(n)) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Some(StepRow {
        phase: phase.name.clone(),
        title: clean(&phase.title),
        result: or_none(metric(&step.primary)),
        cpu: or_none(metric("cpu_percent")),
        longest: or_none(longest.and_then(metric)),
        spread: or_none(spread),
        others: others.collect(),
        notes,
        remark: remark(phase),
    })
}

/// A name without its unit, in words.
fn words(name: &str) -> String {
    let units = ["_bytes_per_s", "_percent", "_share", "_count"];
    let stem = units.iter().find_map(|unit| name.strip_suffix(unit)).unwrap_or(name);
    clean(&stem.replace("_per_s", " a second").replace("_ns", "").replace('_', " "))
}

fn written(name: &str, value: f64) -> String {
    let ends = |unit: &str| name.ends_with(unit);
    if ends("_bytes_per_s") {
        format!("{} MB/s", rate(value))
    } else if ends("_per_s") {
        format!("{}/s", iops(value))
    } else if ends("_percent") {
        percent(value / 100.0)
    } else if ends("_share") {
        percent(value)
    } else if name.contains("_ns") {
        time(value)
    } else {
        grouped(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use seekwell_runs::{Spread, SuiteStep};
    use std::collections::BTreeMap;

    #[test]
    fn a_step_shows_the_value_it_is_for_and_keeps_the_others_in_words() {
        let (mut document, _) = testing::rich();
        let mut phase = document.phases[0].clone();
        phase.workload = Work::Suite(SuiteStep {
            suite: "fs".into(),
            step: "put_block".into(),
            tunables: BTreeMap::new(),
            primary: "rate_bytes_per_s".into(),
        });
        let values = [
            ("rate_bytes_per_s", 54e6),
            ("cpu_percent", 15.0),
            ("call_ns_max", 1_645e6),
            ("call_ns_mean", 72_100.0),
            ("over_2s_share", 0.25),
            ("files_per_s", 17_299.0),
            ("read.latency_ns_p99", 1.0),
        ];
        let spread = |value: f64| Spread::of(&[value, value]).unwrap();
        phase.metrics = values.iter().map(|(n, v)| ((*n).to_owned(), spread(*v))).collect();
        phase.repeats.iter_mut().for_each(|r| r.notes = vec!["the cache was dropped".into()]);
        document.phases = vec![phase];
        let row = steps(&document).remove(0);
        assert_eq!(
            [&row.result, &row.cpu, &row.longest, &row.spread].map(String::as_str),
            ["54.0 MB/s", "15 %", "1.65 s", "0 %"]
        );
        let others: Vec<String> = row.others.iter().map(|(n, v)| format!("{n}: {v}")).collect();
        assert!(others.contains(&"over 2s: 25 %".to_owned()), "{others:?}");
        assert!(others.contains(&"call mean: 72.1 µs".to_owned()), "{others:?}");
        assert!(others.contains(&"files a second: 17.3k/s".to_owned()), "{others:?}");
        assert_eq!(row.notes, ["the cache was dropped"], "said once, not for every repeat");
        assert!(crate::rows(&document).is_empty(), "it is no row of requests");
        let heads = crate::sentence(&document);
        assert!(
            heads.starts_with("The suite fs gave ") && heads.ends_with(": 54.0 MB/s."),
            "{heads}"
        );
        document.phases = vec![document.phases[0].clone(); 5];
        let heads = crate::sentence(&document);
        assert!(heads.ends_with("; 2 more figures in the table."), "{heads}");
        document.phases.truncate(1);
        let plain = crate::Style { color: false };
        for text in [crate::terminal(&document, 100, plain), crate::markdown(&document)] {
            assert!(text.contains("54.0 MB/s") && text.contains("the cache was dropped"), "{text}");
        }
    }
}

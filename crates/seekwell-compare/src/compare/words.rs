//! A comparison in sentences.

use super::bands;
use super::pair::Pair;
use crate::document::{Conclusion, MetricComparison, Role};
use crate::model::{Rank, Side, SourceKind};
use seekwell_stats::{Design, signed};
use std::collections::BTreeMap;

/// `ahci against piix: bonnie++, one run each`.
pub(super) fn heading(a: &Side, b: &Side, pairs: &[Pair], metrics: &[MetricComparison]) -> String {
    let what = match (pairs, metrics.first()) {
        ([_], Some(metric)) => metric.group_title.clone(),
        (pairs, _) => format!("{} workloads", pairs.len()),
    };
    let modelled = |side: &Side| side.runs.iter().any(|r| r.modelled);
    let marked = |side: &Side| match modelled(side) {
        true => format!("{} (modelled)", side.name),
        false => side.name.clone(),
    };
    format!("{} against {}: {what}, {}", marked(b), marked(a), runs(a.runs.len(), b.runs.len()))
}

fn runs(a: usize, b: usize) -> String {
    match (a, b) {
        (1, 1) => "one run each".to_owned(),
        (a, b) if a == b => format!("{a} runs each"),
        (a, b) => format!("{b} against {a} runs"),
    }
}

/// What follows, the primary metric first.
pub(super) fn summary(metrics: &[MetricComparison], design: Design, b: &Side) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(primary) = metrics.iter().find(|m| m.role == Role::Primary) {
        out.push(format!("{}: {}.", primary.full_title(), primary.sentence));
    }
    match design {
        Design::OneEach => out.extend(one_each(metrics, b)),
        _ => out.extend(several(metrics)),
    }
    out
}

/// What limited the workloads on both sides: where it moved, and where the change did not touch it.
pub(super) fn limits(a: &Side, b: &Side, pairs: &[Pair]) -> Vec<String> {
    let mut moved: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for pair in pairs {
        if let (Some(from), Some(to)) = (limit(a, &pair.a), limit(b, &pair.b)) {
            moved.entry((from, to)).or_default().push(&pair.b);
        }
    }
    let told = moved.into_iter().map(|((from, to), workloads)| {
        let workloads = workloads.join(", ");
        match from == to {
            true => format!("Limited by {from} on both sides: {workloads}."),
            false => format!("The limit moved from {from} to {to}: {workloads}."),
        }
    });
    told.collect()
}

/// What limits a workload in every run of a side.
fn limit<'a>(side: &'a Side, workload: &str) -> Option<&'a str> {
    let mut all = side.runs.iter().map(|run| run.limits.get(workload));
    let first = all.next()??;
    all.all(|limit| limit == Some(first)).then_some(first)
}

/// Verdicts on the headlines, gathered by what they say.
fn several(metrics: &[MetricComparison]) -> Vec<String> {
    let headlines: Vec<&MetricComparison> =
        metrics.iter().filter(|m| m.role == Role::Adjusted).collect();
    let of = |wanted: &[Conclusion]| -> Vec<&&MetricComparison> {
        headlines.iter().filter(|m| wanted.contains(&m.conclusion)).collect()
    };
    let mut out: Vec<String> = of(&[Conclusion::Faster, Conclusion::Slower])
        .into_iter()
        .map(|m| format!("{}: {}.", m.full_title(), m.sentence))
        .collect();
    let titles = |all: Vec<&&MetricComparison>| {
        all.iter().map(|m| m.full_title()).collect::<Vec<_>>().join("; ")
    };
    for (wanted, words) in [
        (Conclusion::Equivalent, "No difference beyond the margin"),
        (Conclusion::Undecided, "Undecided"),
        (Conclusion::TooFew, "Too few runs for a verdict (it takes 4 of each)"),
        (Conclusion::Invalid, "Not valid"),
    ] {
        let found = of(&[wanted]);
        if !found.is_empty() {
            out.push(format!("{words}: {}.", titles(found)));
        }
    }
    out
}

/// What differs by more than single runs usually do, by what it is about.
fn one_each(metrics: &[MetricComparison], b: &Side) -> Vec<String> {
    let shown = metrics.iter().filter(|m| m.rank != Rank::Detail || m.role == Role::Primary);
    let banded: Vec<&MetricComparison> = shown.filter(|m| m.usual.is_some()).collect();
    if banded.is_empty() {
        return vec!["One run each: a table of changes, no verdict.".to_owned()];
    }
    // The tests of one bonnie++ run share their topics; elsewhere each workload is one.
    let by_family = b.source == SourceKind::BonnieCsv;
    let topic = |m: &MetricComparison| match by_family {
        true => m.family.clone(),
        false => m.group_title.clone(),
    };
    let topics = |metrics: &mut dyn Iterator<Item = &&MetricComparison>| -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for topic in metrics.map(|m| topic(m)) {
            if !found.contains(&topic) {
                found.push(topic);
            }
        }
        found
    };
    let is_beyond = |m: &&&MetricComparison| m.usual.as_ref().is_some_and(|u| u.beyond);
    let (all, beyond) = (topics(&mut banded.iter()), topics(&mut banded.iter().filter(is_beyond)));
    let mut out = vec![headline(&all, &beyond, by_family)];
    for topic_name in &beyond {
        let of_topic = banded.iter().filter(is_beyond).filter(|m| topic(m) == *topic_name);
        let told: Vec<String> = of_topic.map(|m| change(m, topic_name)).collect();
        out.push(format!("{}: {}.", capital(topic_name), told.join(", ")));
    }
    out.push(format!(
        "How far runs usually lie apart is {}, not measured on this disk: {}. Longest requests and \
         CPU shares have no usual distance.",
        bands::BASIS,
        bands_told(&banded)
    ));
    out
}

/// Which of all topics differ by more than usual, in one sentence.
fn headline(all: &[String], beyond: &[String], by_family: bool) -> String {
    let usually = "by more than runs usually do";
    match (beyond, by_family) {
        ([], _) => format!("Nothing differs {usually}."),
        (some, true) if some.len() < all.len() => {
            let verb = if some.len() == 1 { "differs" } else { "differ" };
            format!("Only {} {verb} {usually}.", joined(some))
        }
        (_, _) if all.len() == 1 => format!("It differs {usually}."),
        (some, _) if some.len() == all.len() => format!("Everything differs {usually}."),
        (some, _) => format!("{} of {} workloads differ {usually}.", some.len(), all.len()),
    }
}

/// `sequential +62.9 %` of `sequential create`: what the topic says already is left out, and so is
/// the word that a topic in brackets explains, as in `random read (stat)`.
fn change(metric: &MetricComparison, topic: &str) -> String {
    let title = if metric.title.is_empty() { &metric.group_title } else { &metric.title };
    let rest = match title.split_once(&format!(" ({topic})")) {
        Some((before, after)) => {
            let kept = before.rsplit_once(' ').map_or("", |(kept, _)| kept);
            format!("{kept}{after}")
        }
        None => title.replace(topic, ""),
    };
    let rest = rest.trim().trim_matches(',').trim();
    let change = metric.change_percent.unwrap_or_default();
    let number = format!("{} %", signed(change, 0));
    if rest.is_empty() { number } else { format!("{rest} {number}") }
}

fn bands_told(metrics: &[&MetricComparison]) -> String {
    let mut told: Vec<(crate::model::Class, f64)> = Vec::new();
    for metric in metrics {
        let band = metric.usual.as_ref().map_or(0.0, |u| u.band_percent);
        if !told.iter().any(|(class, _)| *class == metric.class) {
            told.push((metric.class, band));
        }
    }
    told.sort_by_key(|(class, _)| *class);
    let word = |class| match class {
        crate::model::Class::Throughput => "rates",
        crate::model::Class::Metadata => "file operations",
        crate::model::Class::TypicalLatency => "mean latencies",
        _ => "latency percentiles",
    };
    let told = told.iter().map(|(class, band)| format!("{} ±{band:.0} %", word(*class)));
    told.collect::<Vec<_>>().join(", ")
}

fn joined(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

//! The history of a metric: a line of bars, the runs, and where it changed.

use super::rows::{signed, value};
use crate::terminal::{BOLD, DIM, Page, Style};
use crate::text::{clean, escape_markdown as escape, markdown_row, when};
use anstyle::Style as Paint;
use seekwell_compare::{Better, Change, Trend};
use std::fmt::Write;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The most runs in the table; the line of bars and the changes are of all.
const MOST_ROWS: usize = 20;

/// The history of a metric, at most `width` columns wide (24 at least). Ends with a line end.
pub fn trend(trend: &Trend, width: usize, style: Style) -> String {
    let mut page = Page::new(width, style);
    page.text(&heading(trend), "", "  ", BOLD);
    page.text(&about(trend), "", "  ", DIM);
    if trend.points.is_empty() {
        return page.finish();
    }
    page.blank();
    let (bars, scale) = bars(trend, page.width);
    page.lines.push(bars);
    page.text(&scale, "", "  ", DIM);
    page.blank();
    for sentence in sentences(trend) {
        page.text(&sentence, "", "  ", Paint::new());
    }
    page.blank();
    let header = ["run", "median", "lowest – highest", ""];
    let table = crate::terminal::table(&header, table_rows(trend), page.width);
    page.lines.extend(table.lines().map(str::to_owned));
    page.finish()
}

/// The history as GitHub-flavoured Markdown. Ends with a line end.
pub fn trend_markdown(trend: &Trend) -> String {
    let mut out = format!("# {}\n\n{}\n\n", escape(&heading(trend)), escape(&about(trend)));
    if !trend.points.is_empty() {
        let (bars, scale) = bars(trend, 60);
        let _ = writeln!(out, "`{bars}` {}\n", escape(&scale));
    }
    for sentence in sentences(trend) {
        let _ = writeln!(out, "- {}", escape(&sentence));
    }
    out += "\n| run | median | lowest – highest | |\n|---|---:|---:|---|\n";
    out.extend(table_rows(trend).into_iter().map(markdown_row));
    out
}

pub(crate) fn heading(trend: &Trend) -> String {
    let runs = match trend.points.len() {
        1 => "one run".to_owned(),
        n => format!("{n} runs"),
    };
    clean(&format!("{}: {} over {runs}", trend.phase_title, trend.title))
}

pub(crate) fn about(trend: &Trend) -> String {
    let mut parts = vec![clean(&trend.target)];
    parts.extend(trend.label.as_deref().map(|l| format!("label {}", clean(l))));
    if let (Some(first), Some(last)) = (trend.points.first(), trend.points.last()) {
        parts.push(format!("{} to {}", when(&first.started_at), when(&last.started_at)));
    }
    if trend.other_configurations > 0 {
        parts.push(format!("{} runs of other configurations left out", trend.other_configurations));
    }
    parts.join(" · ")
}

/// The newest runs as bars between the lowest and the highest of them, and what the ends mean.
fn bars(trend: &Trend, width: usize) -> (String, String) {
    let from = trend.points.len().saturating_sub(width);
    let points = &trend.points[from..];
    let values = points.iter().map(|p| p.value);
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.clone().fold(f64::NEG_INFINITY, f64::max);
    let bar = |value: f64| {
        let share = if high > low { (value - low) / (high - low) } else { 0.5 };
        BARS[((share * 8.0) as usize).min(7)]
    };
    let newest =
        if from > 0 { format!("the newest {} runs; ", points.len()) } else { String::new() };
    let ends = [low, high].map(|v| value(v, &trend.unit));
    (values.map(bar).collect(), format!("{newest}▁ {}, █ {}", ends[0], ends[1]))
}

fn better_or_worse(trend: &Trend, change: &Change) -> &'static str {
    match (trend.better, change.percent > 0.0) {
        (Better::Higher, true) | (Better::Lower, false) => "better",
        (Better::Higher, false) | (Better::Lower, true) => "worse",
        (Better::Neither, true) => "higher",
        (Better::Neither, false) => "lower",
    }
}

pub(crate) fn sentences(trend: &Trend) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for change in &trend.changes {
        let values = [change.before, change.after].map(|v| value(v, &trend.unit));
        out.push(format!(
            "{} since {}: {} → {} ({}, p {:.1e}).",
            capital(better_or_worse(trend, change)),
            clean(&change.run),
            values[0],
            values[1],
            signed(change.percent),
            change.p
        ));
        if !change.setup.is_empty() {
            let told: Vec<String> = change.setup.iter().take(5).map(|s| clean(s)).collect();
            out.push(format!("  With that run differed: {}.", told.join("; ")));
        }
    }
    if trend.changes.is_empty() {
        out.push(match trend.points.len() {
            n if n < 6 => "Too few runs to find a change; at least 6 are needed.".to_owned(),
            _ => format!("No change was found ({}).", clean(&trend.rule)),
        });
    }
    out
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The newest runs, newest last, with the changes marked.
fn table_rows(trend: &Trend) -> Vec<Vec<String>> {
    let from = trend.points.len().saturating_sub(MOST_ROWS);
    let rows = trend.points.iter().enumerate().skip(from).map(|(i, point)| {
        let found = trend.changes.iter().find(|c| c.index == i);
        let mark = found.map(|c| format!("← {}", signed(c.percent))).unwrap_or_default();
        let range = [point.low, point.high].map(|v| value(v, &trend.unit));
        vec![
            clean(&point.run),
            value(point.value, &trend.unit),
            if point.low == point.high {
                crate::rows::NONE.to_owned()
            } else {
                range.join(" – ")
            },
            mark,
        ]
    });
    rows.collect()
}

//! A comparison as Markdown, for an issue, a wiki or a pull request.

use super::rows::{Shown, columns, legend, notes, rows, setup, warnings};
use crate::text::{escape_markdown as escape, markdown_row};
use seekwell_compare::{Against, Comparison};
use std::fmt::Write;

/// A comparison in GitHub-flavoured Markdown; with `all` every metric and every difference. Ends
/// with a line end.
pub fn comparison_markdown(comparison: &Comparison, all: bool) -> String {
    let shown = if all { Shown::All } else { Shown::Main };
    let parts = comparison.against.iter().map(|against| one(comparison, against, shown));
    parts.collect::<Vec<_>>().join("\n")
}

fn one(comparison: &Comparison, against: &Against, shown: Shown) -> String {
    let mut out = format!("# {}\n\n", escape(&against.heading));
    for (mark, text) in warnings(comparison, against) {
        let _ = writeln!(out, "**{mark}** {}\n", escape(&text));
    }
    for sentence in &against.summary {
        let _ = writeln!(out, "{}\n", escape(sentence));
    }
    if let Some(checked) = &against.expectation {
        let mark = if checked.holds { "✓" } else { "✕" };
        let _ = writeln!(out, "{mark} {}\n", escape(&checked.sentence));
    }
    out += "## What else differed\n\n";
    for line in setup(against, shown) {
        let _ = writeln!(out, "- {}", escape(&line));
    }
    out += "\n## Numbers\n\n";
    let (names, explained) = columns(against);
    if let Some(line) = explained {
        let _ = writeln!(out, "{}\n", escape(&line));
    }
    let rows = rows(against, shown);
    out += &markdown_row(["metric", &names[0], &names[1], "change", "verdict"]);
    out += "|---|---:|---:|---:|---|\n";
    for row in &rows {
        if let Some(group) = &row.group {
            let _ = writeln!(out, "| **{}** | | | | |", escape(group));
        }
        out += &markdown_row([&row.title, &row.a, &row.b, &row.change, &row.word]);
    }
    out.push('\n');
    let mut small: Vec<String> = Vec::new();
    let legend = legend(against, &rows);
    small.extend([against.caveat.clone(), legend].into_iter().filter(|t| !t.is_empty()));
    if !small.is_empty() {
        let _ = writeln!(out, "{}.\n", escape(&small.join("; ")));
    }
    for note in notes(comparison, against) {
        let _ = writeln!(out, "- {}", escape(&note));
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

//! The statistics of a trace: terminal, Markdown and page of one document `seekwell/trace-stats/1`.

mod parts;

use crate::page::table as html_table;
use crate::sheet::Banner;
use crate::terminal::{BOLD, DIM, Page, Style, table};
use crate::text::{clean, escape_html, escape_markdown, markdown_row, wrap};
use anstyle::{AnsiColor, Style as Paint};
pub(crate) use parts::Part;
use parts::{brief, parts};
use seekwell_trace::formats::Doubt;
use seekwell_trace::stats::document::{Drawing, TraceStats};
use seekwell_trace::stats::{Asked, Figure};
use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    heading: String,
    sentences: Vec<String>,
    banners: Vec<Banner>,
    parts: Vec<Part>,
    drawing: &'a Drawing,
}

pub(crate) fn shown<'a>(stats: &TraceStats, drawing: &'a Drawing) -> Shown<'a> {
    Shown {
        heading: heading(stats),
        sentences: stats.sentences.iter().map(|s| clean(s)).collect(),
        banners: banners(stats),
        parts: parts(stats),
        drawing,
    }
}

pub(crate) fn heading(stats: &TraceStats) -> String {
    let path = std::path::Path::new(&stats.file);
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let from = match stats.about.format.as_str() {
        "seekwell" => "recorded by seekwell".to_owned(),
        other => format!("from {}", clean(other)),
    };
    format!("Trace {}, {from}", clean(&name))
}

fn banners(stats: &TraceStats) -> Vec<Banner> {
    let about = &stats.about;
    let mut whys = Vec::new();
    if about.losses.lost_events > 0 {
        whys.push(format!("{} events were lost while recording", about.losses.lost_events));
    }
    if about.cut_short {
        whys.push("the recording was ended from outside".to_owned());
    }
    let incomplete = (!whys.is_empty())
        .then(|| ("▲ INCOMPLETE", format!("{}: every figure misses something.", whys.join("; "))));
    let counted = stats.asked.has(Figure::Counts);
    let doubt = counted.then(|| Doubt::of(about, stats.requests, stats.duration_ns)).flatten();
    let doubtful = doubt.map(|doubt| ("▲ DOUBTFUL", format!("{doubt}.")));
    let banner = |(mark, text): (&str, String)| Banner { kind: "warning", mark: mark.into(), text };
    incomplete.into_iter().chain(doubtful).map(banner).collect()
}

/// The statistics of a trace in a terminal, at most `width` columns wide, all of them or what fits
/// on a screen and a half; of some figures all. Ends with a line end.
pub fn trace_stats(stats: &TraceStats, all: bool, width: usize, style: Style) -> String {
    let all = all || !stats.asked.has_all(Asked::ALL.without(Figure::Reuse));
    let mut page = Page::new(width, style);
    page.text(&heading(stats), "", "  ", BOLD);
    let yellow = Paint::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    for banner in banners(stats) {
        page.marked(&banner.mark, &banner.text, "  ", yellow);
    }
    for sentence in &stats.sentences {
        page.text(&clean(sentence), "", "  ", Paint::new());
    }
    for part in if all { parts(stats) } else { brief(stats) } {
        page.heading(part.title);
        let widest = part.facts.iter().map(|(term, _)| term.chars().count()).max().unwrap_or(0);
        for (term, text) in &part.facts {
            let pad = " ".repeat(widest - term.chars().count());
            let rest = " ".repeat(widest + 4);
            if widest + 24 < page.width {
                let first = format!("  {term}{pad}  ");
                page.lines.extend(wrap(text, page.width, &first, &rest));
            } else {
                page.text(&format!("{term}: {text}"), "  ", "    ", Paint::new());
            }
        }
        if let Some(rows) = &part.table {
            let shown = table(&rows.columns, rows.rows.iter().cloned(), page.width - 2);
            page.lines.extend(shown.lines().map(|line| format!("  {line}").trim_end().to_owned()));
        }
        if !part.note.is_empty() {
            page.text(&part.note, "  ", "  ", DIM);
        }
    }
    if !all {
        let more = "--verbose shows sizes, bursts, seeks, reuse and all devices and processes.";
        page.text(more, "", "", DIM);
    }
    page.finish()
}

/// The same in GitHub-flavoured Markdown.
pub fn trace_stats_markdown(stats: &TraceStats) -> String {
    let escape = escape_markdown;
    let mut out = format!("# {}\n\n", escape(&heading(stats)));
    for banner in banners(stats) {
        let _ = writeln!(out, "**{}** {}\n", escape(&banner.mark), escape(&banner.text));
    }
    for sentence in &stats.sentences {
        let _ = writeln!(out, "{}\n", escape(sentence));
    }
    for part in parts(stats) {
        let _ = writeln!(out, "## {}\n", part.title);
        for (term, text) in &part.facts {
            let _ = writeln!(out, "- {}: {}", escape(term), escape(text));
        }
        if !part.facts.is_empty() {
            out.push('\n');
        }
        if let Some(rows) = &part.table {
            let _ = writeln!(out, "| {} |", rows.columns.join(" | "));
            let _ = writeln!(out, "|---|{}", "---:|".repeat(rows.columns.len() - 1));
            out.extend(rows.rows.iter().map(markdown_row));
            out.push('\n');
        }
        if !part.note.is_empty() {
            let _ = writeln!(out, "{}\n", escape(&part.note));
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// What remains of the page where scripts do not run.
pub(crate) fn body(shown: &Shown<'_>) -> String {
    let mut out = format!("<h1>{}</h1>\n", escape_html(&shown.heading));
    for banner in &shown.banners {
        let (kind, mark, text) =
            (banner.kind, escape_html(&banner.mark), escape_html(&banner.text));
        out += &format!("<p class=\"banner {kind}\"><strong>{mark}</strong> {text}</p>\n");
    }
    for sentence in &shown.sentences {
        out += &format!("<p class=\"sentence\">{}</p>\n", escape_html(sentence));
    }
    for part in &shown.parts {
        out += &format!("<h2>{}</h2>\n", escape_html(part.title));
        let facts = part.facts.iter();
        let rows: Vec<_> = facts.map(|(term, text)| vec![term.clone(), text.clone()]).collect();
        if !rows.is_empty() {
            out += &html_table(part.title, &["what", "value"], 2, &rows);
        }
        if let Some(table) = &part.table {
            out += &html_table(&table.caption, &table.columns, 1, &table.rows);
        }
        if !part.note.is_empty() {
            out += &format!("<p class=\"hint\">{}</p>\n", escape_html(&part.note));
        }
    }
    out
}

#[cfg(test)]
mod tests;

//! A run in a terminal: what a person grasps in ten seconds. Colour only repeats what a word and a
//! symbol say, and no line is wider than was asked for.

mod facts;
mod inspect;
mod limits;
mod listing;
mod page;
mod study;
mod table;

pub use facts::facts;
pub use inspect::inspect;
pub use listing::table;
pub use page::Style;
pub(crate) use page::{BOLD, DIM, Page};

use crate::describe::{device_below, fit_error, headings, not_a_disk, sentence};
use crate::fidelity::fidelity;
use crate::figures::figures;
use crate::rows::rows;
use crate::suite::steps;
use crate::text::{clean, clean_lines, columns, when, wrap};
use anstyle::{AnsiColor, Style as Paint};
use seekwell_inspect::{Finding, Severity};
use seekwell_runs::{RunDocument, RunKind, Status};

/// The summary of a run, at most `width` columns wide (24 at least): the disk, what limits it, the
/// figures, the phases, the findings worst first. Ends with a line end.
pub fn terminal(document: &RunDocument, width: usize, style: Style) -> String {
    let mut page = Page::new(width, style);
    head(&mut page, document);
    summary(&mut page, document);
    key_figures(&mut page, document);
    if !document.phases.is_empty() {
        page.blank();
        let rows = rows(document);
        if study::study(&mut page, document) {
            table::remarks(&mut page, &rows);
        } else {
            table::phases(&mut page, &rows);
        }
        if document.kind == RunKind::Bench {
            study::costs(&mut page, document, &rows);
        }
        table::steps(&mut page, &steps(document));
    }
    limits::table(&mut page, document);
    faith(&mut page, document);
    // A summary has said what is to be said of a disk without problems.
    if document.summary.is_empty() || !document.findings.is_empty() {
        list(&mut page, &document.findings);
    }
    let missing = document.inspection.missing.len();
    if missing > 0 {
        let what = if missing == 1 { "1 fact".to_owned() } else { format!("{missing} facts") };
        let text =
            format!("{what} about the target could not be read: seekwell inspect says which.");
        page.blank();
        page.text(&text, "", "", DIM);
    }
    page.finish()
}

fn head(page: &mut Page, document: &RunDocument) {
    page.text(&headings(document), "", "  ", BOLD);
    let kernel = document.inspection.host.kernel.as_ref();
    let about = [
        Some(clean(&document.id)),
        document.label.as_deref().map(clean),
        Some(when(&document.started_at)),
        kernel.map(|k| format!("Linux {}", clean(&k.value))),
        Some(format!("seekwell {}", clean(&document.tool.version))),
        Some(clean(&document.engine.name)),
        device_below(document).map(|device| format!("read from {device}")),
    ];
    let about: Vec<String> = about.into_iter().flatten().collect();
    page.text(&about.join(" · "), "", "  ", DIM);
    let yellow = Paint::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    let red = Paint::new().bold().fg_color(Some(AnsiColor::Red.into()));
    if let Some((mark, said)) = not_a_disk(document) {
        page.marked(&format!("{mark}:"), &said, "  ", yellow);
    }
    let unfinished = match document.status {
        Status::Complete => None,
        Status::Running => Some("this run is not finished, or was killed"),
        Status::Interrupted => Some("this run was stopped; finished phases are shown"),
        Status::Failed => Some("an error ended this run; finished phases are shown"),
    };
    if let Some(text) = unfinished {
        page.marked("▲ INCOMPLETE:", text, "  ", yellow);
    }
    for why in &document.invalid {
        page.marked("✕ INVALID:", &clean(why), "  ", red);
    }
    if let Some(notice) = &document.engine.notice {
        page.text(&clean(notice), "  ", "  ", DIM);
    }
}

/// What limits the disk, in sentences.
fn summary(page: &mut Page, document: &RunDocument) {
    page.blank();
    document.summary.iter().for_each(|said| page.text(&clean(said), "", "", Paint::new()));
}

/// How faithfully traces were played back.
fn faith(page: &mut Page, document: &RunDocument) {
    let all = fidelity(document);
    for one in &all {
        if all.len() > 1 {
            page.heading(&one.title);
            page.text(&one.sentence, "", "", Paint::new());
        } else {
            page.heading("Fidelity");
        }
        let names = one.rows.iter().map(|(name, _)| columns(name)).max().unwrap_or(0);
        for (name, values) in &one.rows {
            let text = format!("{name:<names$}  {}", values.join("  "));
            page.lines.extend(wrap_kept(&text, names, page.width));
        }
    }
}

/// A line whose spaces stay, or one wrapped if it is too wide.
fn wrap_kept(text: &str, indent: usize, width: usize) -> Vec<String> {
    if columns(text) <= width {
        return vec![text.to_owned()];
    }
    wrap(text, width, "", &" ".repeat((indent + 2).min(width / 2)))
}

fn key_figures(page: &mut Page, document: &RunDocument) {
    let figures = figures(document);
    if document.study.is_some() || (figures.is_empty() && !steps(document).is_empty()) {
        return;
    }
    page.blank();
    if figures.is_empty() {
        return page.text(&sentence(document), "", "", Paint::new());
    }
    let label_width = figures.iter().map(|f| columns(&f.label)).max().unwrap_or(0);
    let value_width = figures.iter().map(|f| columns(&f.value)).max().unwrap_or(0);
    let fitted = fit_error(document).is_some();
    for figure in &figures {
        let spread = match (&figure.range, figure.repeats) {
            (Some(range), _) if fitted => format!("({})", range.replace(" – ", " … ")),
            (Some(range), n) => format!("{range} in {n} repeats"),
            (None, 1) => "one repeat".to_owned(),
            (None, n) => format!("the same in {n} repeats"),
        };
        let unit = format!("{:<5}", figure.unit);
        let label = format!("{:<label_width$}", figure.label);
        let value = format!("{:>value_width$}", figure.value);
        let wide = columns(&format!("{label}  {value} {unit} {spread}")) <= page.width;
        if wide {
            let value = page.paint(&value, BOLD);
            page.lines.push(format!("{label}  {value} {unit} {}", page.paint(&spread, DIM)));
        } else {
            let text = format!("{}: {} ({spread})", figure.label, figure.with_unit());
            page.text(&text, "", "  ", Paint::new());
        }
    }
}

/// A severity as symbol, word and colour.
const fn mark(severity: Severity) -> (&'static str, AnsiColor) {
    match severity {
        Severity::Error => ("✕ ERROR", AnsiColor::Red),
        Severity::Warning => ("▲ WARNING", AnsiColor::Yellow),
        Severity::Info => ("● NOTE", AnsiColor::Cyan),
    }
}

/// Findings, worst first; those of one severity stay in their order.
pub(crate) fn worst_first(findings: &[Finding]) -> Vec<&Finding> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|f| std::cmp::Reverse(f.severity));
    sorted
}

/// Findings alone, the worst first, at most `width` columns wide. Ends with a line end.
pub fn findings(findings: &[Finding], width: usize, style: Style) -> String {
    let mut page = Page::new(width, style);
    list(&mut page, findings);
    page.finish()
}

/// Plain text of which lines wider than `width` are wrapped under their own indentation.
pub fn prose(text: &str, width: usize) -> String {
    let mut page = Page::new(width, Style { color: false });
    for line in text.lines() {
        let indent = &line[..line.len() - line.trim_start().len()];
        if line.trim().is_empty() {
            page.lines.push(String::new());
        } else if columns(line) <= page.width {
            page.lines.push(format!("{indent}{}", clean(line)));
        } else {
            page.text(&clean(line), indent, indent, Paint::new());
        }
    }
    page.finish()
}

fn list(page: &mut Page, findings: &[Finding]) {
    page.heading("Findings");
    if findings.is_empty() {
        return page.text("No problems were found.", "", "", Paint::new());
    }
    for (i, finding) in worst_first(findings).into_iter().enumerate() {
        if i > 0 {
            page.blank();
        }
        let (word, color) = mark(finding.severity);
        let paint = Paint::new().bold().fg_color(Some(color.into()));
        let title = format!("{} [{}]", clean(&finding.title), clean(&finding.id));
        page.marked(word, &title, "    ", paint);
        for evidence in &finding.evidence {
            let seen = format!("{} ({})", clean(&evidence.seen), clean(&evidence.from));
            page.text(&seen, "    seen: ", "          ", DIM);
        }
        page.text(&clean(&finding.why), "    why:  ", "          ", Paint::new());
        for (i, line) in clean_lines(&finding.remedy).iter().enumerate() {
            let first = if i == 0 { "    do:   " } else { "          " };
            page.text(line, first, "          ", Paint::new());
        }
    }
}

#[cfg(test)]
mod tests;

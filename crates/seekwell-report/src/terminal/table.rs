//! The table of phases, and the same as a list where the terminal is too narrow for a table whose
//! numbers stay whole.

use super::page::{DIM, Page};
use crate::rows::{BESIDE_HDPARM, NONE, Row};
use crate::suite::StepRow;
use anstyle::Style as Paint;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};

/// Under this width a table would break its numbers.
pub(super) const NARROWEST_TABLE: usize = 72;

pub(super) fn phases(page: &mut Page, rows: &[Row]) {
    let commits = |phase: &str| rows.iter().any(|r| r.phase == phase && r.op == "commit");
    let part_of_a_commit = |r: &Row| r.op == "write" && commits(&r.phase);
    let told = rows.iter().filter(|r| r.op != NONE && !part_of_a_commit(r));
    let measured: Vec<&Row> = told.collect();
    if !measured.is_empty() {
        if page.width >= NARROWEST_TABLE {
            table(page, &measured);
        } else {
            list(page, &measured);
        }
        let legend =
            "rate in MB/s of 10^6 bytes; spread: highest less lowest repeat, over the median";
        page.text(legend, "", "", DIM);
        if measured.iter().any(|row| row.title.contains("hdparm")) {
            page.text(BESIDE_HDPARM, "", "", DIM);
        }
    }
    remarks(page, rows);
}

/// What a row is called: the phase, and the operation where the phase has several.
fn name(row: &Row, all: &[&Row]) -> String {
    let several = all.iter().filter(|r| r.phase == row.phase).count() > 1;
    if several { format!("{}: {}", row.title, row.op) } else { row.title.clone() }
}

/// The steps of a suite, what is to be said about them, and what was not run.
pub(super) fn steps(page: &mut Page, steps: &[StepRow]) {
    let measured: Vec<&StepRow> = steps.iter().filter(|s| s.result != NONE).collect();
    let cells = |s: &&StepRow| {
        [&s.title, &s.result, &s.cpu, &s.longest, &s.spread].map(String::clone).to_vec()
    };
    if page.width >= NARROWEST_TABLE && !measured.is_empty() {
        let rows = measured.iter().map(cells).collect();
        columns(page, &["step", "result", "CPU", "longest", "spread"], rows);
    } else {
        for step in measured {
            page.text(&step.title, "", "  ", Paint::new());
            let text = format!("{} · CPU {} · longest {}", step.result, step.cpu, step.longest);
            page.text(&text, "  ", "  ", Paint::new());
        }
    }
    if steps.iter().any(|s| s.phase.starts_with("hdparm-") && s.result != NONE) {
        page.text(BESIDE_HDPARM, "", "", DIM);
    }
    let notes = steps.iter().flat_map(|s| s.notes.iter().map(|n| (n.as_str(), s.phase.as_str())));
    let remarks = steps.iter().filter_map(|s| Some((s.remark.as_deref()?, s.phase.as_str())));
    gathered(page, notes.chain(remarks));
}

fn table(page: &mut Page, rows: &[&Row]) {
    let cells = |row: &&Row| {
        let rest = [&row.rate, &row.iops, &row.p50, &row.p99, &row.spread].map(String::clone);
        std::iter::once(name(row, rows)).chain(rest).collect()
    };
    let head = ["phase", "rate", "IOPS", "p50", "p99", "spread"];
    columns(page, &head, rows.iter().map(cells).collect());
}

/// A table whose first column is words and whose others are numbers.
pub(super) fn columns(page: &mut Page, head: &[&str], rows: Vec<Vec<String>>) {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(page.width).unwrap_or(u16::MAX));
    table.set_header(head);
    for row in rows {
        table.add_row(row);
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        if i == 0 {
            column.set_padding((0, 1));
        } else {
            column.set_cell_alignment(CellAlignment::Right);
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    let text = table.to_string();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim_end();
        let line = if i == 0 { page.paint(line, DIM) } else { line.to_owned() };
        page.lines.push(line);
    }
}

fn list(page: &mut Page, rows: &[&Row]) {
    for row in rows {
        page.text(&name(row, rows), "", "  ", Paint::new());
        let cells = [
            ("", &row.rate, " MB/s"),
            ("", &row.iops, " IOPS"),
            ("p50 ", &row.p50, ""),
            ("p99 ", &row.p99, ""),
            ("spread ", &row.spread, ""),
        ];
        let known = cells.iter().filter(|(_, value, _)| *value != NONE);
        let text: Vec<String> = known.map(|(a, value, z)| format!("{a}{value}{z}")).collect();
        page.text(&text.join(" · "), "  ", "  ", Paint::new());
    }
}

/// Phases that were not run, or not wholly, gathered by the reason.
pub(super) fn remarks(page: &mut Page, rows: &[Row]) {
    gathered(page, rows.iter().filter_map(|r| Some((r.remark.as_deref()?, r.phase.as_str()))));
}

/// What was said of phases, each thing once with all of them: pairs of it and the phase.
fn gathered<'a>(page: &mut Page, said: impl Iterator<Item = (&'a str, &'a str)>) {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (why, phase) in said {
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, phases)) => phases.push(phase),
            None => reasons.push((why, vec![phase])),
        }
    }
    for (why, phases) in reasons {
        let phases: Vec<String> = phases.iter().map(|p| crate::text::clean(p)).collect();
        let text = format!("{}: {why}", phases.join(", "));
        page.text(&text, "- ", "  ", DIM);
    }
}

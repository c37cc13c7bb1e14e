//! The table of phases, and the same as a list where the terminal is too narrow for a table whose
//! numbers stay whole.

use super::{DIM, Page};
use crate::rows::{NONE, Row};
use anstyle::Style as Paint;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};

/// Under this width a table would break its numbers.
const NARROWEST_TABLE: usize = 72;

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
    }
    remarks(page, rows);
}

/// What a row is called: the phase, and the operation where the phase has several.
fn name(row: &Row, all: &[&Row]) -> String {
    let several = all.iter().filter(|r| r.phase == row.phase).count() > 1;
    if several { format!("{}: {}", row.title, row.op) } else { row.title.clone() }
}

fn table(page: &mut Page, rows: &[&Row]) {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(page.width).unwrap_or(u16::MAX));
    table.set_header(["phase", "rate", "IOPS", "p50", "p99", "spread"]);
    for row in rows {
        let name = name(row, rows);
        table.add_row([&name, &row.rate, &row.iops, &row.p50, &row.p99, &row.spread]);
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
fn remarks(page: &mut Page, rows: &[Row]) {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in rows {
        let Some(why) = row.remark.as_deref() else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, phases)) => phases.push(&row.phase),
            None => reasons.push((why, vec![&row.phase])),
        }
    }
    for (why, phases) in reasons {
        let phases: Vec<String> = phases.iter().map(|p| crate::text::clean(p)).collect();
        let text = format!("{}: {why}", phases.join(", "));
        page.text(&text, "- ", "  ", DIM);
    }
}

//! What limits each phase: a table, with what would come next under a row where the terminal has no
//! room for it beside; a list if the terminal is narrow.

use super::page::{DIM, Page};
use super::table::NARROWEST_TABLE;
use crate::limits::{COLUMNS, LimitRow, TITLE, limits, next};
use crate::rows::NONE;
use crate::text::{columns as width_of, wrap};
use anstyle::Style as Paint;
use seekwell_runs::{RunDocument, Study};

/// Space between two columns.
const GAP: usize = 2;

pub(super) fn table(page: &mut Page, document: &RunDocument) {
    // Of a hundred cells it is for the page.
    let is_long = matches!(document.study, Some(Study::Pts(_)));
    let rows = gathered(&limits(document));
    if rows.is_empty() || is_long {
        return;
    }
    page.heading(TITLE);
    if page.width < NARROWEST_TABLE {
        return rows.iter().for_each(|row| listed(page, row));
    }
    let widths = widths(&rows, COLUMNS.len());
    let beside = widths.iter().sum::<usize>() + GAP * (widths.len() - 1) <= page.width;
    let widths = if beside { widths } else { squeezed(&rows, page.width) };
    let head: Vec<String> = line(&COLUMNS.map(str::to_owned), &widths);
    let head: Vec<String> = head.iter().map(|line| page.paint(line, DIM)).collect();
    page.lines.extend(head);
    for row in &rows {
        let cells = cells(row);
        let mut beside = line(&cells[1..], &widths[1..]);
        let room = page.width - widths[0] - GAP;
        let under = said(row, widths.len() == COLUMNS.len());
        let under = under.iter().flat_map(|text| wrap(text, room, "", ""));
        beside.extend(under.map(|text| page.paint(&text, DIM)));
        let names = wrap(&cells[0], widths[0], "", "");
        for i in 0..names.len().max(beside.len()) {
            let at = |lines: &[String]| lines.get(i).cloned().unwrap_or_default();
            let pad = widths[0].saturating_sub(width_of(&at(&names))) + GAP;
            let text = format!("{}{}{}", at(&names), " ".repeat(pad), at(&beside));
            page.lines.push(text.trim_end().to_owned());
        }
    }
}

/// Neighbours of which the same is to be said in one row with all their names.
fn gathered(rows: &[LimitRow]) -> Vec<LimitRow> {
    let station = |row: &LimitRow| row.then.map(|next| (next.by, next.gain.is_some()));
    let alike = |a: &LimitRow, b: &LimitRow| {
        cells(a)[1..4] == cells(b)[1..4] && station(a) == station(b) && a.or == b.or
    };
    let group = |group: &[LimitRow]| {
        let names: Vec<&str> = group.iter().map(|row| row.phase.as_str()).collect();
        let then: Vec<_> = group.iter().filter_map(|row| row.then).collect();
        LimitRow { phase: names.join(", "), next: next(&then), ..group[0].clone() }
    };
    rows.chunk_by(alike).map(group).collect()
}

fn cells(row: &LimitRow) -> [String; 5] {
    [&row.phase, &row.name, &row.share, row.sure, &row.next].map(str::to_owned)
}

/// What stands under a row.
fn said(row: &LimitRow, beside: bool) -> Option<String> {
    let next = (!beside && row.next != NONE).then_some(row.next.as_str());
    let said: Vec<&str> = next.into_iter().chain(row.or.as_deref()).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// How wide the first `n` columns are if nothing is wrapped.
fn widths(rows: &[LimitRow], n: usize) -> Vec<usize> {
    let all: Vec<[String; 5]> = rows.iter().map(cells).collect();
    // Names of phases in one row stand below each other.
    let words = |row: &[String; 5], i: usize| match i {
        0 => row[0].split_inclusive(", ").map(|name| width_of(name.trim_end())).max().unwrap_or(0),
        _ => width_of(&row[i]),
    };
    let widest = |i: usize| all.iter().map(|row| words(row, i)).max().unwrap_or(0);
    (0..n).map(|i| widest(i).max(width_of(COLUMNS[i]))).collect()
}

/// The same without the last column, of which the first two are wrapped if they have to be.
fn squeezed(rows: &[LimitRow], width: usize) -> Vec<usize> {
    let mut widths = widths(rows, COLUMNS.len() - 1);
    let fixed = widths[2] + widths[3] + 3 * GAP;
    let room = width.saturating_sub(fixed).max(2 * GAP);
    widths[0] = widths[0].min(room / 2);
    widths[1] = widths[1].min(room - widths[0]);
    widths
}

/// A row of the table, in several lines where a cell is wrapped.
fn line(cells: &[String], widths: &[usize]) -> Vec<String> {
    let wrapped = cells.iter().zip(widths).map(|(cell, width)| wrap(cell, *width, "", ""));
    let wrapped: Vec<Vec<String>> = wrapped.collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    let text = |i: usize| {
        let mut out = String::new();
        for (cell, width) in wrapped.iter().zip(widths) {
            let part = cell.get(i).map_or("", String::as_str);
            out += part;
            out += &" ".repeat(width.saturating_sub(width_of(part)) + GAP);
        }
        out.trim_end().to_owned()
    };
    (0..height).map(text).collect()
}

fn listed(page: &mut Page, row: &LimitRow) {
    page.text(&row.phase, "", "  ", Paint::new());
    let known = [&row.name, &row.share, row.sure, &row.next].map(str::to_owned);
    let known: Vec<String> = known.into_iter().filter(|cell| cell != NONE).collect();
    page.text(&known.join(" · "), "  ", "  ", Paint::new());
    row.or.iter().for_each(|or| page.text(or, "  ", "  ", DIM));
}

//! Questions about several runs, and what measuring itself cost.

use super::page::{DIM, Page};
use super::table::columns;
use crate::rows::{NONE, Row};
use crate::study::plot::beside;
use crate::study::{StudyText, preconditioning};
use crate::text::{clean, columns as width_of};
use anstyle::Style as Paint;
use seekwell_runs::{RunDocument, Study};

/// Space beside a cell.
const PAD: usize = 2;

/// A run's study with its table and plot. False where the phases are to be shown all the same: it
/// has none, or one that does not hold their numbers.
pub(super) fn study(page: &mut Page, document: &RunDocument) -> bool {
    if let Some(said) = preconditioning(document) {
        page.text(&said, "", "", Paint::new());
        page.blank();
    }
    for told in crate::study::study(document) {
        part(page, document, &told);
    }
    has_numbers(document) || matches!(document.study, Some(Study::Limit(_)))
}

/// Whether the tables of a study hold the numbers of the phases.
fn has_numbers(document: &RunDocument) -> bool {
    matches!(document.study, Some(Study::Sweep(_) | Study::Together(_) | Study::Pts(_)))
}

fn part(page: &mut Page, document: &RunDocument, told: &StudyText) {
    page.heading(&told.title);
    for said in &told.sentences {
        page.text(said, "", "", Paint::new());
    }
    // The rounds of a steady state are in the plot.
    if !matches!(document.study, Some(Study::Steady(_))) {
        table(page, told);
    }
    let panels: Vec<_> = told.panels.iter().filter(|panel| panel.is_worth_it()).cloned().collect();
    page.blank();
    if !panels.is_empty() {
        page.lines.extend(beside(&panels, page.width));
        if let Some(legend) = panels.first().and_then(|panel| panel.legend()) {
            page.text(&format!("{legend}   * several"), "", "", Paint::new());
        }
        page.blank();
    }
}

/// The table, without the columns at its end for which there is no room.
fn table(page: &mut Page, told: &StudyText) {
    let widest = |i: usize| {
        let cells = told.rows.iter().filter_map(|cells| cells.get(i));
        cells.chain(told.columns.get(i)).map(|c| width_of(c)).max().unwrap_or(0)
    };
    let needed = |n: usize| (0..n).map(|i| widest(i) + PAD).sum::<usize>();
    let all = told.columns.len();
    let fits = |n: &usize| needed(*n) <= page.width + PAD;
    let shown = (all - told.spare.min(all)..=all).rev().find(fits).unwrap_or(all - told.spare);
    if told.rows.is_empty() {
        return;
    }
    let head: Vec<&str> = told.columns[..shown].iter().map(String::as_str).collect();
    if needed(shown) <= page.width + PAD {
        columns(page, &head, told.rows.iter().map(|cells| cells[..shown].to_vec()).collect());
        return;
    }
    for cells in &told.rows {
        let pairs = head.iter().zip(cells).filter(|(_, cell)| *cell != NONE);
        let text: Vec<String> = pairs.map(|(name, cell)| format!("{name} {cell}")).collect();
        page.text(&text.join(" · "), "", "  ", Paint::new());
    }
}

/// What measuring cost: CPU time of a request, requests for a system call, and how much reached the
/// device; and what the engine alone costs.
pub(super) fn costs(page: &mut Page, document: &RunDocument, rows: &[Row]) {
    // A sweep has it in its table; of a limit what it rests on.
    let counts = |phase: &str| match &document.study {
        _ if has_numbers(document) => false,
        Some(Study::Limit(limit)) => {
            let confirms = limit.trials.iter().any(|t| t.confirms && t.phase == phase);
            confirms || limit.closed_phase == phase
        }
        _ => true,
    };
    let mut costs: Vec<(String, Vec<&str>)> = Vec::new();
    for row in rows.iter().filter(|row| counts(&row.phase)) {
        let parts = [
            (&row.cpu, "ns of CPU for a request"),
            (&row.calls, "requests for a system call"),
            (&row.device_share, "reached the device"),
            (&row.amplification, "bytes to the medium for each written"),
            (&row.collected, "moved by garbage collection"),
            (&row.erased, "superblocks erased"),
        ];
        let known = parts.iter().filter(|(value, _)| *value != NONE);
        let text: Vec<String> = known.map(|(value, what)| format!("{value} {what}")).collect();
        let text = text.join(", ");
        if text.is_empty() {
            continue;
        }
        match costs.iter_mut().find(|(known, _)| *known == text) {
            Some((_, phases)) if phases.contains(&row.phase.as_str()) => {}
            Some((_, phases)) => phases.push(&row.phase),
            None => costs.push((text, vec![&row.phase])),
        }
    }
    let several = costs.len() > 1;
    for (text, phases) in costs {
        let phases: Vec<String> = phases.into_iter().map(clean).collect();
        let of = if several { format!("{}: ", phases.join(", ")) } else { String::new() };
        page.text(&format!("cost: {of}{text}"), "", "  ", DIM);
    }
    if let Some(ns) = document.engine.cost_ns_per_request {
        let text =
            format!("the engine alone costs {ns:.0} ns for a request (null target, depth 32)");
        page.text(&text, "", "", DIM);
    }
}

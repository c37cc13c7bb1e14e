//! A comparison in a terminal, in the order of the article one would have had to write: what is
//! compared, what else differed, the numbers, what follows.

use super::rows::{Row, Shown, columns, legend, notes, rows, setup, warnings};
use crate::terminal::{BOLD, DIM, Page, Style};
use crate::text::{clean, columns as wide};
use anstyle::{AnsiColor, Style as Paint};
use seekwell_compare::{Against, Comparison};

/// The narrowest column of titles.
const NARROWEST_TITLE: usize = 16;

/// A comparison, at most `width` columns wide (24 at least); with `all` every metric and every
/// difference. Ends with a line end.
pub fn comparison(comparison: &Comparison, all: bool, width: usize, style: Style) -> String {
    let shown = if all { Shown::All } else { Shown::Main };
    let mut page = Page::new(width, style);
    for against in &comparison.against {
        page.blank();
        one(&mut page, comparison, against, shown);
    }
    page.finish()
}

fn one(page: &mut Page, comparison: &Comparison, against: &Against, shown: Shown) {
    page.text(&clean(&against.heading), "", "  ", BOLD);
    if !against.caveat.is_empty() {
        page.text(&clean(&against.caveat), "", "", DIM);
    }
    let red = Paint::new().bold().fg_color(Some(AnsiColor::Red.into()));
    for (mark, text) in warnings(comparison, against) {
        page.marked(mark, &text, "  ", red);
    }
    page.heading("What else differed");
    for line in setup(against, shown) {
        page.text(&line, "  ", "    ", Paint::new());
    }
    page.blank();
    let rows = rows(against, shown);
    table(page, &rows, against);
    let legend = legend(against, &rows);
    if !legend.is_empty() {
        page.text(&legend, "", "", DIM);
    }
    page.blank();
    let before = page.lines.len();
    for (i, sentence) in against.summary.iter().enumerate() {
        // A number and its percent sign stay on one line.
        let text = clean(sentence).replace(" %", "\u{a0}%");
        page.text(&text, "", "  ", if i == 0 { BOLD } else { Paint::new() });
    }
    for line in &mut page.lines[before..] {
        *line = line.replace('\u{a0}', " ");
    }
    if let Some(checked) = &against.expectation {
        page.blank();
        let mark = if checked.holds { "✓" } else { "✕" };
        page.marked(mark, &clean(&checked.sentence), "  ", BOLD);
    }
    let notes = notes(comparison, against);
    if !notes.is_empty() {
        page.blank();
    }
    for note in notes {
        page.text(&note, "- ", "  ", DIM);
    }
}

fn table(page: &mut Page, rows: &[Row], against: &Against) {
    if rows.is_empty() {
        return page.text("No metric is on both sides.", "", "", Paint::new());
    }
    let (names, explained) = columns(against);
    let head = [names[0].as_str(), &names[1], "change"];
    let cell = |row: &Row, i: usize| [&row.a, &row.b, &row.change][i].clone();
    let widths: Vec<usize> = (0..3)
        .map(|i| rows.iter().map(|r| wide(&cell(r, i))).chain([wide(head[i])]).max().unwrap_or(0))
        .collect();
    let word = rows.iter().map(|r| wide(&r.word)).max().unwrap_or(0);
    let gaps = 6 + if word > 0 { word + 2 } else { 0 };
    let numbers: usize = widths.iter().sum::<usize>() + gaps;
    let indent = if rows.iter().any(|r| r.group.is_some()) { "  " } else { "" };
    let longest = rows.iter().map(|r| wide(&r.title) + indent.len()).max().unwrap_or(0);
    let room = page.width.saturating_sub(numbers);
    if let Some(line) = explained {
        page.text(&line, "", "   ", DIM);
    }
    if room < longest.min(NARROWEST_TITLE) {
        return list(page, rows, &names);
    }
    let title = longest.min(room);
    let numbers_of = |cells: [&str; 3]| -> String {
        let pad = |(cell, width): (&str, &usize)| {
            format!("  {}{cell}", " ".repeat(width.saturating_sub(wide(cell))))
        };
        cells.into_iter().zip(&widths).map(pad).collect()
    };
    let line = format!("{}{}", " ".repeat(title), numbers_of(head));
    page.lines.push(page.paint(&line, DIM));
    for row in rows {
        if let Some(group) = &row.group {
            page.text(group, "", "", DIM);
        }
        let mut lines = crate::text::wrap(&row.title, title, indent, &format!("{indent}  "));
        let last = lines.pop().unwrap_or_default();
        page.lines.extend(lines);
        let pad = " ".repeat(title.saturating_sub(wide(&last)));
        let numbers = numbers_of([&row.a, &row.b, &row.change]);
        let word = if row.word.is_empty() { String::new() } else { format!("  {}", row.word) };
        let rest = format!("{numbers}{word}");
        let rest = if row.strong { page.paint(&rest, BOLD) } else { rest };
        page.lines.push(format!("{last}{pad}{rest}"));
    }
}

/// The same where a table would break its numbers.
fn list(page: &mut Page, rows: &[Row], names: &[String; 2]) {
    for row in rows {
        if let Some(group) = &row.group {
            page.text(group, "", "", DIM);
        }
        page.text(&row.title, "", "  ", Paint::new());
        let mut parts = vec![format!("{} {}", names[0], row.a), format!("{} {}", names[1], row.b)];
        parts.push(row.change.clone());
        parts.extend((!row.word.is_empty()).then(|| row.word.clone()));
        page.text(&parts.join(" · "), "  ", "  ", Paint::new());
    }
}

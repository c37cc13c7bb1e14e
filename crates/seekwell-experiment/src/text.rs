//! An experiment for people, at the width of a terminal.

use crate::conclude::values;
use crate::conclusion::{Checked, Conclusion};
use crate::design::Shape;
use crate::document::{Document, Status};
use seekwell_io::units::amount;
use seekwell_stats::{Arm, Interval, percent, signed};
use std::fmt::Write;

/// The whole result. Lines are at most `width` characters where words allow it.
pub fn result(document: &Document, width: usize) -> String {
    let width = width.clamp(40, 120);
    let mut out = String::new();
    match &document.conclusion {
        Some(conclusion) => {
            wrapped(&mut out, "", &sentence(document, conclusion), width);
            if let Some(limit) = &conclusion.limit {
                wrapped(&mut out, "", limit, width);
            }
        }
        None => wrapped(&mut out, "", &unfinished(document), width),
    }
    for left in &document.not_restored {
        let text = format!("not put back: {} to {}, {}", left.key, left.wanted, left.why);
        wrapped(&mut out, "", &text, width);
    }
    out.push('\n');
    arms(&mut out, document, width);
    if let Some(conclusion) = &document.conclusion {
        bar(&mut out, document, conclusion, width);
        table(&mut out, document, width);
        checks(&mut out, conclusion, width);
        others(&mut out, conclusion, width);
    }
    out.push('\n');
    wrapped(&mut out, "Again:  ", &command(&document.command), width);
    out
}

fn sentence(document: &Document, conclusion: &Conclusion) -> String {
    let what = if document.design.aa { "Self-test: " } else { "" };
    let mut text = format!("{what}{}.", conclusion.sentence);
    if let Some(first) = text.get(..1).map(str::to_uppercase) {
        text.replace_range(..1, &first);
    }
    match (conclusion.claim_holds, document.expect) {
        (Some(true), Some(claim)) => text += &format!(" Expected {claim:?}: holds."),
        (Some(false), Some(claim)) => text += &format!(" Expected {claim:?}: does not hold."),
        _ => {}
    }
    text
}

/// Where an experiment without a verdict stands, and how it goes on.
pub fn unfinished(document: &Document) -> String {
    let done = document.complete_blocks();
    let of = document.planned_blocks.map_or_else(
        || format!("at least {}", document.design.expected_blocks()),
        |planned| planned.to_string(),
    );
    let resume = format!("seekwell experiment resume {}", document.id);
    let named = |arm: Arm| document.arm(arm).mode.clone().unwrap_or_else(|| format!("{arm:?}"));
    match (document.status, document.next_slot()) {
        (Status::Waiting, Some(slot)) => format!(
            "{done} of {of} blocks are done. The next run needs {}: shut down, set that, boot, and \
             resume with `{resume}`.",
            named(slot.arm)
        ),
        _ => format!(
            "No verdict yet: {done} of {of} blocks are done and kept. Resume with `{resume}`."
        ),
    }
}

fn arms(out: &mut String, document: &Document, width: usize) {
    let (a, b) = (&document.a, &document.b);
    wrapped(out, "A       ", &a.label(b), width);
    wrapped(out, "B       ", &b.label(a), width);
    let (wa, wb) = (a.job.words(), b.job.words());
    let both: Vec<String> = wa
        .iter()
        .filter(|word| wb.contains(word))
        .map(|(key, value)| format!("{key}={value}"))
        .chain(
            a.settings
                .iter()
                .filter(|s| b.settings.contains(s))
                .map(|s| format!("{}={}", s.key, s.value)),
        )
        .collect();
    wrapped(out, "Both    ", &both.join(" "), width);
    wrapped(out, "On      ", &document.target, width);
    let design = &document.design;
    let runs = match design.shape {
        Shape::Fours => "blocks of four runs",
        Shape::Pairs => "pairs of runs",
    };
    let text = format!(
        "{}, margin {}, {runs}, seed {}, settling {}",
        design.metric, design.margin, design.seed, design.settle_ns
    );
    wrapped(out, "Metric  ", &text, width);
}

/// The interval beside the margin.
fn bar(out: &mut String, document: &Document, conclusion: &Conclusion, width: usize) {
    let Some(estimate) = &conclusion.estimate else { return };
    let Some(interval) = estimate.interval95 else { return };
    let margin = document.design.margin.log();
    let reach = interval.low.abs().max(interval.high.abs()).max(margin) * 1.15;
    let cells = width.min(80) - 4;
    let at = |x: f64| ((x / reach + 1.0) / 2.0 * (cells - 1) as f64).round() as usize;
    let mut axis = vec!['─'; cells];
    let (low, high) = (at(-margin), at(margin));
    for cell in &mut axis[low..=high] {
        *cell = '═';
    }
    axis[at(0.0)] = '┼';
    let mut line = vec![' '; cells];
    for cell in &mut line[at(interval.low)..=at(interval.high)] {
        *cell = '━';
    }
    line[at(estimate.centre)] = '●';
    let text = |cells: Vec<char>| cells.into_iter().collect::<String>();
    let Interval { low, high } = interval.percent();
    let _ = writeln!(out, "\n  {}", text(line).trim_end());
    let _ = writeln!(out, "  {}", text(axis));
    let note = format!(
        "●━ change {} % with its 95 % interval {}…{} %; ═ the margin; ┼ no change",
        with_sign(percent(estimate.centre)),
        with_sign(low),
        with_sign(high)
    );
    wrapped(out, "  ", &note, width);
}

/// Blocks in the order in which they were made, in columns.
fn table(out: &mut String, document: &Document, width: usize) {
    let d = values(document, &document.design.metric);
    let cell = |(i, d): (usize, &Option<f64>)| {
        let order = document.design.order_text(i as u32);
        let d = d.map_or_else(|| "–".to_owned(), |d| format!("{} %", with_sign(percent(d))));
        format!("{:>3} {order:<4} {d:>10}", i + 1)
    };
    let cells: Vec<String> = d.iter().enumerate().map(cell).collect();
    if cells.is_empty() {
        return;
    }
    let columns = ((width + 2) / 24).clamp(1, 4);
    let rows = cells.len().div_ceil(columns);
    let _ = writeln!(out, "\nBlocks in time: order, change from A to B");
    for row in 0..rows {
        let line: Vec<&str> = cells.iter().skip(row).step_by(rows).map(String::as_str).collect();
        let _ = writeln!(out, "  {}", line.join("    "));
    }
    let median = |arm: Arm| {
        let of = document.runs.iter().filter(|r| r.arm == arm);
        let mut all: Vec<f64> =
            of.filter_map(|r| r.values.get(&document.design.metric).copied()).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied()
    };
    if let (Some(a), Some(b)) = (median(Arm::A), median(Arm::B)) {
        let unit = |x: f64| amount(&document.design.metric, x);
        let _ = writeln!(out, "  middle run of A {}, of B {}", unit(a), unit(b));
    }
}

fn checks(out: &mut String, conclusion: &Conclusion, width: usize) {
    let _ = writeln!(out, "\nChecked before the verdict");
    for check in &conclusion.checks {
        let word = match check.checked {
            Checked::Passed => "  ok      ",
            Checked::Warning => "  WARNING ",
            Checked::Failed => "  FAILED  ",
            Checked::NotJudged => "  –       ",
        };
        wrapped(out, word, &check.text, width);
    }
}

fn others(out: &mut String, conclusion: &Conclusion, width: usize) {
    let mut found: Vec<_> = conclusion.exploratory.iter().filter(|e| e.stands_out()).collect();
    if found.is_empty() {
        return;
    }
    found.sort_by(|x, y| y.percent.abs().total_cmp(&x.percent.abs()));
    let _ = writeln!(out, "\nOther metrics, for orientation only");
    for e in found.iter().take(6) {
        let word = if e.improves() { "better" } else { "worse" };
        let interval = e.interval95.map_or_else(String::new, |i| {
            format!(" ({}…{} %)", with_sign(i.low), with_sign(i.high))
        });
        let text = format!("{} {} %{interval}, {word}", e.metric, with_sign(e.percent));
        wrapped(out, "  ", &text, width);
    }
    if found.len() > 6 {
        let _ = writeln!(out, "  and {} more; --json has all", found.len() - 6);
    }
}

/// With three digits, or as many as there are before the point.
fn with_sign(x: f64) -> String {
    let digits = match x.abs() {
        a if a < 10.0 => 2,
        a if a < 100.0 => 1,
        _ => 0,
    };
    signed(x, digits)
}

/// A command line that a shell reads as these words.
pub fn command(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+%@".contains(c);
    let quote = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// Text behind a lead, further lines indented as far as the lead reaches.
fn wrapped(out: &mut String, lead: &str, text: &str, width: usize) {
    let indent = lead.chars().count();
    let room = width.saturating_sub(indent).max(20);
    let mut line = String::new();
    let mut first = true;
    let mut flush = |line: &mut String| {
        let lead = if first { lead.to_owned() } else { " ".repeat(indent) };
        let _ = writeln!(out, "{}", format!("{lead}{line}").trim_end());
        first = false;
        line.clear();
    };
    for word in text.split(' ') {
        let length = line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && length > room {
            flush(&mut line);
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    flush(&mut line);
}

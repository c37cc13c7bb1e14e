//! Published figures beside modelled ones: terminal, Markdown, page and JSON of the same table.

use crate::html::{ReportError, of_text};
use crate::terminal::table;
use crate::text::{escape_html, escape_markdown, markdown_row, wrap};
use seekwell_reproduce::{
    Better, Count, DOCUMENTS, Effect, Interval, NEAR, Reproduced, Row, Summary, Unstated, Verdict,
    effects, summary, unstated,
};
use seekwell_stats::signed;
use serde_json::{Value, json};

/// Width of the scale on the page.
const SCALE: f64 = 160.0;

pub fn terminal(rows: &[Reproduced], width: usize) -> String {
    let mut out = String::new();
    let is_limited = is_limited(rows);
    for (title, group) in groups(rows) {
        let cells = group.iter().map(|row| {
            let mut cells = vec![
                row.row.configuration.to_owned(),
                figure(row.row.published),
                row.modelled.map_or_else(|| "–".to_owned(), figure),
                row.interval.as_ref().map_or_else(|| "–".to_owned(), ends),
                mark(row),
            ];
            cells.extend(is_limited.then(|| limit(row)));
            cells
        });
        let mut header = vec![title.as_str(), "published", "modelled", "5 to 95 %", ""];
        header.extend(is_limited.then_some("limited by"));
        out += &table(&header, cells, width);
        for said in said_of(group) {
            out += &lines(&said, width, "    ");
        }
        out.push('\n');
    }
    out += &lines(&sentence(&summary(rows)), width, "");
    out
}

/// The same as GitHub-flavoured Markdown.
pub fn markdown(rows: &[Reproduced]) -> String {
    let mut out = format!("{}\n\n", escape_markdown(&sentence(&summary(rows))));
    let is_limited = is_limited(rows);
    let limited = |text: &'static str| if is_limited { text } else { "" };
    let head = limited(" limited by |");
    out += "| test | configuration | unit | published | modelled | error | 5 to 95 % | ";
    out += &format!("depends most on |{head} |\n");
    out += &format!("|---|---|---|---:|---:|---:|---:|---|---|{}\n", limited("---|"));
    for row in rows {
        let mark = mark(row);
        let said = [Some(mark.as_str()), row.why()].into_iter().flatten().collect::<Vec<_>>();
        let mut cells = vec![
            format!("{} {}", row.row.document, row.row.what),
            row.row.configuration.to_owned(),
            row.row.unit.to_owned(),
            figure(row.row.published),
            row.modelled.map_or_else(|| "–".to_owned(), figure),
            error(row),
            row.interval.as_ref().map_or_else(|| "–".to_owned(), ends),
            decides(row.interval.as_ref()),
        ];
        cells.extend(is_limited.then(|| limit(row)));
        cells.push(said.join(": "));
        out += &markdown_row(cells);
    }
    out += "\n## Effects\n\n| test | from | to | published | modelled | 5 to 95 % | ";
    out += "depends most on | |\n|---|---|---|---:|---:|---:|---|---|\n";
    for effect in effects(rows) {
        let [a, b] = [&effect.from.row, &effect.to.row];
        let interval = effect.interval.as_ref();
        out += &markdown_row([
            format!("{} {}", a.document, a.what).as_str(),
            a.configuration,
            b.configuration,
            &format!("× {:.2}", effect.published),
            &format!("× {:.2}", effect.modelled),
            &interval.map_or_else(|| "–".to_owned(), |i| format!("{:.2} to {:.2}", i.low, i.high)),
            &decides(interval),
            shown(&effect),
        ]);
    }
    out += "\n## Inputs of the workloads\n\n| test | inputs |\n|---|---|\n";
    for (_, group) in groups(rows) {
        let row = &group[0].row;
        if let Some(inputs) = row.inputs() {
            out += &markdown_row([&format!("{} {}", row.document, row.what), inputs]);
        }
    }
    out += "\n## Unstated inputs\n\n| rows | input | range | source |\n";
    out += "|---|---|---|---|\n";
    let is_of = |input: &&Unstated| rows.iter().any(|row| input.is_of(&row.row));
    for input in unstated().iter().filter(is_of) {
        let source = input.source.trim();
        let rows = input.rows.join("; ");
        out += &markdown_row([rows.trim_end_matches(", "), &input.name, &input.words(), source]);
    }
    out
}

/// A page with both figures side by side.
///
/// # Errors
/// [`ReportError::Template`].
pub fn html(rows: &[Reproduced]) -> Result<String, ReportError> {
    let is_limited = is_limited(rows);
    let limited = if is_limited { "<th scope=\"col\">limited by</th>" } else { "" };
    let mut body = "<h1>Published and modelled</h1>\n<p class=\"banner note\">◇ MODELLED: figures \
                    of models beside what others measured on real machines.</p>\n"
        .to_owned();
    body += &format!("<p class=\"sentence\">{}</p>\n", escape_html(&sentence(&summary(rows))));
    for (document, about) in DOCUMENTS {
        let of: Vec<&[Reproduced]> = groups(rows)
            .filter(|(_, group)| group[0].row.document == document)
            .map(|(_, group)| group)
            .collect();
        if of.is_empty() {
            continue;
        }
        let groups: String = of.into_iter().map(|group| section(group, is_limited)).collect();
        body += &format!(
            "<h2>{document} {}</h2>\n<div class=\"scroll\"><table>\n<thead><tr>\
             <th scope=\"col\">configuration</th><th scope=\"col\" class=\"number\">published</th>\
             <th scope=\"col\" class=\"number\">modelled</th>\
             <th scope=\"col\" class=\"number\">5 to 95 %</th><th scope=\"col\"></th>{limited}\
             <th scope=\"col\">published (◆) on modelled</th></tr></thead>\n{groups}\
             </table></div>\n",
            escape_html(about)
        );
    }
    of_text("Published and modelled · seekwell", &body)
}

/// The rows of one test, under what it measured, with what has to be said of them.
fn section(group: &[Reproduced], is_limited: bool) -> String {
    let high = |row: &Reproduced| row.interval.as_ref().map(|interval| interval.high);
    let figures = group.iter().flat_map(|row| [Some(row.row.published), row.modelled, high(row)]);
    let most = figures.flatten().fold(0.0, f64::max);
    let lines: String = group.iter().map(|row| line(row, most, is_limited)).collect();
    let columns = 6 + usize::from(is_limited);
    let row = &group[0].row;
    let said = said_of(group).into_iter().map(|said| {
        format!("<tr><td colspan=\"{columns}\" class=\"hint\">{}</td></tr>\n", escape_html(&said))
    });
    format!(
        "<tbody><tr><th colspan=\"{columns}\" scope=\"rowgroup\">{}, {}</th></tr>\n\
         {lines}{}</tbody>\n",
        escape_html(&row.what),
        escape_html(row.unit),
        said.collect::<String>()
    )
}

fn line(row: &Reproduced, most: f64, is_limited: bool) -> String {
    let limited = if is_limited { format!("<td>{}</td>", limit(row)) } else { String::new() };
    let modelled = row.modelled.map_or_else(|| "–".to_owned(), figure);
    format!(
        "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
         <td class=\"number\">{}</td><td>{}</td>{limited}<td>{}</td></tr>\n",
        escape_html(row.row.configuration),
        figure(row.row.published),
        modelled,
        row.interval.as_ref().map_or_else(|| "–".to_owned(), ends),
        mark(row),
        scale(row, most)
    )
}

/// The modelled interval as a bar, the modelled figure as a tick and the published one as a
/// diamond, on a scale from 0 to the largest value of the group.
fn scale(row: &Reproduced, most: f64) -> String {
    let at = |value: f64| 6.0 + if most > 0.0 { value / most * SCALE } else { 0.0 };
    let bar = row.interval.as_ref().map_or_else(String::new, |interval| {
        let (from, to) = (at(interval.low), at(interval.high));
        format!(
            "<rect x=\"{from:.1}\" y=\"5\" width=\"{:.1}\" height=\"6\" fill=\"currentColor\" \
             fill-opacity=\"0.3\"/>",
            (to - from).max(1.0)
        )
    });
    let line = row.modelled.map_or_else(String::new, |modelled| {
        format!("<path d=\"M{:.1} 3v10\" stroke=\"currentColor\"/>", at(modelled))
    });
    format!(
        "<svg width=\"{w}\" height=\"16\" viewBox=\"0 0 {w} 16\" aria-hidden=\"true\">\
         <path d=\"M6 8h{SCALE}\" stroke=\"currentColor\" stroke-opacity=\"0.3\"/>{bar}{line}\
         <path d=\"M{:.1} 8m0 -5l4 5l-4 5l-4 -5z\" fill=\"currentColor\"/></svg>",
        at(row.row.published),
        w = SCALE + 12.0
    )
}

pub fn document(rows: &[Reproduced]) -> Value {
    let sum = summary(rows);
    let shown: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "id": row.row.id(),
                "document": row.row.document,
                "test": row.row.what,
                "configuration": row.row.configuration,
                "machine": row.row.machine,
                "unit": row.row.unit,
                "better": if row.row.better == Better::Higher { "higher" } else { "lower" },
                "published": row.row.published,
                "modelled": row.modelled,
                "error": row.error(),
                "is_near": row.is_near(),
                "verdict": row.verdict().name(),
                "interval": row.interval.as_ref().map(interval),
                "unstated": Unstated::of(&row.row).map(|i| i.name.as_str()).collect::<Vec<_>>(),
                "limited_by": row.limited_by,
                "fitted": row.fitted,
                "basis": row.basis.name(),
                "inputs": row.row.inputs(),
                "why": row.why(),
            })
        })
        .collect();
    let effects: Vec<Value> = effects(rows)
        .map(|effect| {
            json!({
                "from": effect.from.row.id(),
                "to": effect.to.row.id(),
                "published_ratio": effect.published,
                "modelled_ratio": effect.modelled,
                "interval": effect.interval.as_ref().map(interval),
                "has_direction": effect.has_direction(),
                "has_size": effect.has_size(),
            })
        })
        .collect();
    let inputs: Vec<Value> = unstated()
        .iter()
        .filter(|input| rows.iter().any(|row| input.is_of(&row.row)))
        .map(|input| {
            json!({
                "name": input.name,
                "rows": input.rows,
                "range": input.words(),
                "source": input.source.trim(),
            })
        })
        .collect();
    let count = |count: Count| json!({ "rows": count.rows, "near": count.near });
    json!({
        "schema": "seekwell/reproduced/3",
        "modelled": true,
        "rows": shown,
        "effects": effects,
        "unstated": inputs,
        "summary": {
            "rows": sum.rows,
            "predicted": sum.predicted,
            "consistent": sum.consistent,
            "missed": sum.missed,
            "carried_over": count(sum.carried_over),
            "fitted": count(sum.fitted),
            "not_modelled": sum.not_modelled,
            "near_error": NEAR,
            "effects": sum.effects,
            "direction": sum.direction,
            "size": sum.size,
        },
    })
}

/// Rows of one test, which follow each other, with a title.
fn groups(rows: &[Reproduced]) -> impl Iterator<Item = (String, &[Reproduced])> {
    rows.chunk_by(|a, b| a.row.document == b.row.document && a.row.what == b.row.what).map(
        |group| {
            let row = &group[0].row;
            (format!("{} {}, {}", row.document, row.what, row.unit), group)
        },
    )
}

/// What has to be said of the rows of a test, each thing once: their inputs, and why any is not
/// near.
fn said_of(group: &[Reproduced]) -> Vec<String> {
    let inputs = group[0].row.inputs().map(|inputs| format!("Inputs: {inputs}."));
    let mut said: Vec<String> = inputs.into_iter().collect();
    said.extend(unstated_inputs(&group[0].row, group));
    for why in group.iter().filter_map(Reproduced::why) {
        if !said.iter().any(|known| known == why) {
            said.push(why.to_owned());
        }
    }
    said
}

/// The unstated inputs of a test, and the one that explains most of the variance.
fn unstated_inputs(row: &Row, group: &[Reproduced]) -> Option<String> {
    let names: Vec<&str> = Unstated::of(row).map(|input| input.name.as_str()).collect();
    let most = group.iter().filter_map(|row| row.interval.as_ref()?.depends_on);
    let most = most.max_by(|a, b| a.share.total_cmp(&b.share));
    let decides = most.map_or_else(String::new, |most| {
        format!("; depends most on: {} ({:.0} %)", most.input, 100.0 * most.share)
    });
    (!names.is_empty() && group.iter().any(|row| row.interval.is_some()))
        .then(|| format!("Unstated: {}{decides}.", names.join(", ")))
}

fn lines(text: &str, width: usize, indent: &str) -> String {
    wrap(text, width, indent, indent).iter().map(|line| format!("{line}\n")).collect()
}

/// The verdict in words, as colour alone must not carry it.
fn mark(row: &Reproduced) -> String {
    let verdict = row.verdict();
    match (&row.interval, verdict, row.is_near()) {
        (Some(interval), Verdict::Consistent, _) => {
            format!("consistent, × {}", width(interval.high / interval.low))
        }
        (_, Verdict::Fitted | Verdict::CarriedOver, Some(false)) => {
            format!("{}, missed", verdict.name())
        }
        _ => verdict.name().to_owned(),
    }
}

fn shown(effect: &Effect<'_>) -> &'static str {
    match (effect.has_direction(), effect.has_size()) {
        (true, true) => "shown",
        (true, false) => "smaller",
        (false, _) => "not shown",
    }
}

/// The upper end of an interval over the lower.
fn width(times: f64) -> String {
    if times < 10.0 { format!("{times:.1}") } else { format!("{times:.0}") }
}

/// The ends of an interval.
fn ends(interval: &Interval) -> String {
    format!("{} to {}", figure(interval.low), figure(interval.high))
}

/// The input that explains most of the variance, and its share.
fn decides(interval: Option<&Interval>) -> String {
    let most = interval.and_then(|interval| interval.depends_on);
    most.map_or_else(
        || "–".to_owned(),
        |most| format!("{} ({:.0} %)", most.input, 100.0 * most.share),
    )
}

fn interval(interval: &Interval) -> Value {
    let depends = interval.depends_on.map(|on| json!({ "input": on.input, "share": on.share }));
    json!({
        "low": interval.low,
        "median": interval.median,
        "high": interval.high,
        "place": interval.place,
        "depends_on": depends,
    })
}

/// Whether it was asked what limits the figures.
fn is_limited(rows: &[Reproduced]) -> bool {
    rows.iter().any(|row| row.limited_by.is_some())
}

/// The station that limits the modelled figure.
fn limit(row: &Reproduced) -> String {
    let station = row.limited_by.map(|relief| relief.station.name().replace('_', " "));
    station.unwrap_or_else(|| "–".to_owned())
}

fn error(row: &Reproduced) -> String {
    row.error().map_or_else(|| "–".to_owned(), |error| format!("{} %", signed(error * 100.0, 1)))
}

/// Four digits, or all of a larger number.
fn figure(value: f64) -> String {
    match value.abs() {
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v >= 100.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn sentence(sum: &Summary) -> String {
    let share = |part: usize, whole: usize| match whole {
        0 => String::new(),
        _ => format!(" ({:.0} %)", 100.0 * part as f64 / whole as f64),
    };
    let of = |count: Count| format!("{} of {}", count.near, count.rows);
    let inside = sum.predicted + sum.consistent;
    format!(
        "{} published figures. No fitted figure determines {} of them; {} of these{} lie inside \
         the modelled interval over the unstated inputs: {} predicted (the interval is narrower \
         than × 1.5), {} consistent (it is wider). {} missed. \
         Within {:.0} %: {} carried over from a fitted figure or a re-recorded trace, {} fitted. \
         {} not modelled. Effects between neighbouring configurations: {} of {}{} have the right \
         direction, {}{} also at least half of the published size.",
        sum.rows,
        sum.unfitted(),
        inside,
        share(inside, sum.unfitted()),
        sum.predicted,
        sum.consistent,
        sum.missed,
        NEAR * 100.0,
        of(sum.carried_over),
        of(sum.fitted),
        sum.not_modelled,
        sum.direction,
        sum.effects,
        share(sum.direction, sum.effects),
        sum.size,
        share(sum.size, sum.effects),
    )
}

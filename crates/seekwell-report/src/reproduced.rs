//! Published figures beside modelled ones: terminal, Markdown, page and JSON of the same table.

use crate::html::{ReportError, of_text};
use crate::terminal::table;
use crate::text::{escape_html, escape_markdown, markdown_row, wrap};
use seekwell_reproduce::{
    Basis, Better, Count, DOCUMENTS, NEAR, Reproduced, Summary, effects, is_shown, ratios, summary,
};
use seekwell_stats::signed;
use serde_json::{Value, json};

/// Width of the longest bar on the page.
const BAR: f64 = 160.0;

pub fn terminal(rows: &[Reproduced], width: usize) -> String {
    let mut out = String::new();
    let is_limited = is_limited(rows);
    for (title, group) in groups(rows) {
        let cells = group.iter().map(|row| {
            let mut cells = vec![
                row.row.configuration.to_owned(),
                figure(row.row.published),
                row.modelled.map_or_else(|| "–".to_owned(), figure),
                error(row),
                mark(row),
            ];
            cells.extend(is_limited.then(|| limit(row)));
            cells
        });
        let mut header = vec![title.as_str(), "published", "modelled", "error", ""];
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
    out += &format!("| test | configuration | unit | published | modelled | error |{head} |\n");
    out += &format!("|---|---|---|---:|---:|---:|---|{}\n", limited("---|"));
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
        ];
        cells.extend(is_limited.then(|| limit(row)));
        cells.push(said.join(": "));
        out += &markdown_row(cells);
    }
    out += "\n## Effects\n\n| test | from | to | published | modelled | |\n";
    out += "|---|---|---|---:|---:|---|\n";
    for pair in effects(rows) {
        let [published, modelled] = ratios(pair).unwrap_or_default().map(|r| format!("× {r:.2}"));
        let [a, b] = pair.map(|row| &row.row);
        out += &markdown_row([
            format!("{} {}", a.document, a.what).as_str(),
            a.configuration,
            b.configuration,
            &published,
            &modelled,
            if is_shown(pair) { "shown" } else { "not shown" },
        ]);
    }
    out += "\n## Inputs of the workloads\n\n| test | inputs |\n|---|---|\n";
    for (_, group) in groups(rows) {
        let row = &group[0].row;
        if let Some(inputs) = row.inputs() {
            out += &markdown_row([&format!("{} {}", row.document, row.what), inputs]);
        }
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
             <th scope=\"col\" class=\"number\">error</th><th scope=\"col\"></th>{limited}\
             <th scope=\"col\">published above modelled</th></tr></thead>\n{groups}\
             </table></div>\n",
            escape_html(about)
        );
    }
    of_text("Published and modelled · seekwell", &body)
}

/// The rows of one test, under what it measured, with what has to be said of them.
fn section(group: &[Reproduced], is_limited: bool) -> String {
    let figures = group.iter().flat_map(|row| [Some(row.row.published), row.modelled]);
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
        error(row),
        mark(row),
        bars(row, most)
    )
}

/// Two bars of which the longer one of the group is the whole width; the modelled one is hollow.
fn bars(row: &Reproduced, most: f64) -> String {
    let long = |value: f64| if most > 0.0 { value / most * BAR } else { 0.0 };
    let published = long(row.row.published);
    let hollow = row.modelled.map_or_else(String::new, |modelled| {
        format!(
            "<rect x=\"0.5\" y=\"9\" width=\"{:.1}\" height=\"6\" fill=\"none\" \
             stroke=\"currentColor\"/>",
            long(modelled)
        )
    });
    format!(
        "<svg width=\"{w}\" height=\"16\" viewBox=\"0 0 {w} 16\" aria-hidden=\"true\">\
         <rect x=\"0.5\" y=\"1\" width=\"{published:.1}\" height=\"6\" fill=\"currentColor\"/>\
         {hollow}</svg>",
        w = BAR + 2.0
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
                "limited_by": row.limited_by,
                "fitted": row.fitted,
                "basis": row.basis.name(),
                "inputs": row.row.inputs(),
                "why": row.why(),
            })
        })
        .collect();
    let effects: Vec<Value> = effects(rows)
        .map(|pair| {
            let [from, to] = pair.map(|row| row.row.id());
            let [published, modelled] = ratios(pair).unwrap_or_default();
            json!({
                "from": from,
                "to": to,
                "published_ratio": published,
                "modelled_ratio": modelled,
                "is_shown": is_shown(pair),
            })
        })
        .collect();
    let count = |count: Count| json!({ "rows": count.rows, "near": count.near });
    json!({
        "schema": "seekwell/reproduced/2",
        "modelled": true,
        "rows": shown,
        "effects": effects,
        "summary": {
            "rows": sum.rows,
            "predicted": count(sum.predicted),
            "carried_over": count(sum.carried_over),
            "fitted": count(sum.fitted),
            "not_modelled": sum.not_modelled,
            "near_error": NEAR,
            "effects": sum.effects,
            "shown": sum.shown,
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
    for why in group.iter().filter_map(Reproduced::why) {
        if !said.iter().any(|known| known == why) {
            said.push(why.to_owned());
        }
    }
    said
}

fn lines(text: &str, width: usize, indent: &str) -> String {
    wrap(text, width, indent, indent).iter().map(|line| format!("{line}\n")).collect()
}

/// What a figure rests on and how near it is: in words, for nobody is to need a colour.
fn mark(row: &Reproduced) -> String {
    let basis = row.basis.name();
    match (row.is_near(), row.basis) {
        (Some(true), Basis::Predicted) => "near".to_owned(),
        (Some(false), Basis::Predicted) => "missed".to_owned(),
        (Some(false), _) => format!("missed, {basis}"),
        _ => basis.to_owned(),
    }
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
    format!(
        "{} published figures. Predicted, with no fitted figure to determine them: {} within \
         {:.0} %{}. Carried over from a fitted figure or a re-recorded trace: {}. Fitted: {}. Not \
         modelled: {}. Effects between neighbouring configurations, with direction and at least \
         a third of the published size: {} of {}{}.",
        sum.rows,
        of(sum.predicted),
        NEAR * 100.0,
        share(sum.predicted.near, sum.predicted.rows),
        of(sum.carried_over),
        of(sum.fitted),
        sum.not_modelled,
        sum.shown,
        sum.effects,
        share(sum.shown, sum.effects),
    )
}

//! Published figures beside modelled ones: terminal, Markdown, page and JSON of the same table.

use crate::html::{ReportError, of_text};
use crate::terminal::table;
use crate::text::{escape_html, escape_markdown, wrap};
use seekwell_reproduce::{
    Better, DOCUMENTS, How, NEAR, Reproduced, Summary, effects, is_same_direction, summary,
};
use seekwell_stats::signed;
use serde_json::{Value, json};

/// Width of the longest bar on the page.
const BAR: f64 = 160.0;

/// The table for a terminal of that width.
pub fn terminal(rows: &[Reproduced], width: usize) -> String {
    let mut out = String::new();
    for (title, group) in groups(rows) {
        let cells = group.iter().map(|row| {
            vec![
                row.row.configuration.to_owned(),
                figure(row.row.published),
                row.modelled.map_or_else(|| "–".to_owned(), figure),
                error(row),
                mark(row).to_owned(),
            ]
        });
        let header = [title.as_str(), "published", "modelled", "error", ""];
        out += &table(&header, cells, width);
        for why in whys(group) {
            out += &lines(&why, width, "    ");
        }
        out.push('\n');
    }
    out += &lines(&sentence(&summary(rows)), width, "");
    out
}

/// The same as GitHub-flavoured Markdown.
pub fn markdown(rows: &[Reproduced]) -> String {
    let mut out = format!("{}\n\n", escape_markdown(&sentence(&summary(rows))));
    out += "| test | configuration | unit | published | modelled | error | |\n";
    out += "|---|---|---|---:|---:|---:|---|\n";
    for row in rows {
        let said = [mark(row).to_owned(), row.why().unwrap_or_default().to_owned()];
        let said: Vec<&str> = said.iter().map(String::as_str).filter(|s| !s.is_empty()).collect();
        let cells = [
            &format!("{} {}", row.row.document, row.row.what),
            row.row.configuration,
            row.row.unit,
            &figure(row.row.published),
            &row.modelled.map_or_else(|| "–".to_owned(), figure),
            &error(row),
            &said.join(": "),
        ]
        .map(escape_markdown);
        out += &format!("| {} |\n", cells.join(" | "));
    }
    out
}

/// A page with both figures side by side.
///
/// # Errors
/// [`ReportError::Template`].
pub fn html(rows: &[Reproduced]) -> Result<String, ReportError> {
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
        let groups: String = of.into_iter().map(section).collect();
        body += &format!(
            "<h2>{document} {}</h2>\n<div class=\"scroll\"><table>\n<thead><tr>\
             <th scope=\"col\">configuration</th><th scope=\"col\" class=\"number\">published</th>\
             <th scope=\"col\" class=\"number\">modelled</th>\
             <th scope=\"col\" class=\"number\">error</th><th scope=\"col\"></th>\
             <th scope=\"col\">published above modelled</th></tr></thead>\n{groups}\
             </table></div>\n",
            escape_html(about)
        );
    }
    of_text("Published and modelled · seekwell", &body)
}

/// The rows of one test, under what it measured, with why any is not near.
fn section(group: &[Reproduced]) -> String {
    let figures = group.iter().flat_map(|row| [Some(row.row.published), row.modelled]);
    let most = figures.flatten().fold(0.0, f64::max);
    let lines: String = group.iter().map(|row| line(row, most)).collect();
    let row = &group[0].row;
    let whys = whys(group).into_iter().map(|why| {
        format!("<tr><td colspan=\"6\" class=\"hint\">{}</td></tr>\n", escape_html(&why))
    });
    format!(
        "<tbody><tr><th colspan=\"6\" scope=\"rowgroup\">{}, {}</th></tr>\n{lines}{}</tbody>\n",
        escape_html(&row.what),
        escape_html(row.unit),
        whys.collect::<String>()
    )
}

fn line(row: &Reproduced, most: f64) -> String {
    let modelled = row.modelled.map_or_else(|| "–".to_owned(), figure);
    format!(
        "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
         <td class=\"number\">{}</td><td>{}</td><td>{}</td></tr>\n",
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

/// The document `seekwell/reproduced/1`.
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
                "fitted": row.fitted,
                "why": row.why(),
            })
        })
        .collect();
    let wrong: Vec<Value> = effects(rows)
        .filter(|pair| !is_same_direction(*pair))
        .map(|[a, b]| json!([a.row.id(), b.row.id()]))
        .collect();
    json!({
        "schema": "seekwell/reproduced/1",
        "modelled": true,
        "rows": shown,
        "summary": {
            "rows": sum.rows,
            "fitted": sum.fitted,
            "not_modelled": sum.not_modelled,
            "predicted": sum.predicted,
            "near": sum.near,
            "near_error": NEAR,
            "host_alone": sum.host_alone,
            "host_alone_near": sum.host_alone_near,
            "effects": sum.effects,
            "directions": sum.directions,
        },
        "wrong_direction": wrong,
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

/// What has to be said of some rows, each thing once.
fn whys(group: &[Reproduced]) -> Vec<String> {
    let mut whys: Vec<String> = Vec::new();
    for row in group {
        if let Some(why) = row.why()
            && !whys.iter().any(|known| known == why)
        {
            whys.push(why.to_owned());
        }
    }
    whys
}

fn lines(text: &str, width: usize, indent: &str) -> String {
    wrap(text, width, indent, indent).iter().map(|line| format!("{line}\n")).collect()
}

/// How near a row is: in words, for nobody is to need a colour.
fn mark(row: &Reproduced) -> &'static str {
    match (&row.row.how, row.is_near(), row.fitted.is_empty()) {
        (How::Recorded { .. }, Some(true), _) => "near, as recorded",
        (How::Recorded { .. }, ..) => "missed, as recorded",
        (How::NotModelled { .. }, ..) | (_, None, _) => "not modelled",
        (_, _, false) => "fitted",
        (_, Some(true), true) => "near",
        (_, Some(false), true) => "missed",
    }
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
    let with_disk = sum.predicted - sum.host_alone;
    let with_disk_near = sum.near - sum.host_alone_near;
    format!(
        "{} published figures: {} used for fitting, {} not modelled, {} predicted. Of these, {}{} \
         are within {:.0} % of what was published; without the {} that involve only the host and \
         no disk, {} of {}{}. Of {} effects between neighbouring configurations, {} go the right \
         way{}.",
        sum.rows,
        sum.fitted,
        sum.not_modelled,
        sum.predicted,
        sum.near,
        share(sum.near, sum.predicted),
        NEAR * 100.0,
        sum.host_alone,
        with_disk_near,
        with_disk,
        share(with_disk_near, with_disk),
        sum.effects,
        sum.directions,
        share(sum.directions, sum.effects),
    )
}

//! The static body of the page: what remains of a report where scripts do not run.

use crate::describe::{headings, not_a_disk, sentence};
use crate::fidelity::fidelity;
use crate::figures::figures;
use crate::limits;
use crate::rows::{NONE, rows};
use crate::study::{preconditioning, study};
use crate::suite::steps;
use crate::terminal::worst_first;
use crate::text::{clean_lines, escape_html as escape, when};
use seekwell_inspect::{Finding, Severity};
use seekwell_runs::{RunDocument, Status};
use serde::Serialize;

/// The runs one after the other, as HTML without scripts or style of its own.
pub fn body(documents: &[&RunDocument]) -> String {
    documents.iter().map(|d| run(d)).collect()
}

/// One kept run or experiment in a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kept {
    pub id: String,
    /// The host that measured, where runs of several are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The command that made it: `checkup`, `bench`, `experiment`.
    pub kind: String,
    /// How it stands: `running`, `killed`, `complete`, `interrupted`, `failed`; of an experiment
    /// also `waiting` and `invalid`.
    pub state: String,
    /// The configuration's name; of an experiment what is compared.
    pub label: Option<String>,
    pub target: String,
    /// The disk's model, where known.
    pub device_model: Option<String>,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Whether its figures are of a model and not of a disk.
    pub modelled: bool,
    pub invalid: bool,
}

impl Kept {
    /// Where a server shows it.
    fn address(&self, query: &str) -> String {
        let kind = if self.kind == "experiment" { "experiment" } else { "run" };
        let host = self.host.as_deref().map(|host| ("host", host));
        address(&format!("/{kind}/{}", self.id), host.as_slice(), query)
    }
}

/// An address with these parameters; `query` is nothing, or `?token=…`.
fn address(path: &str, parameters: &[(&str, &str)], query: &str) -> String {
    let mut out = format!("{path}{query}");
    for (name, value) in parameters {
        out += if out.contains('?') { "&" } else { "?" };
        out += name;
        out += "=";
        for byte in value.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    out.push(char::from(byte));
                }
                _ => out += &format!("%{byte:02X}"),
            }
        }
    }
    out
}

/// Runs and experiments, with links to their pages.
pub fn list(title: &str, kept: &[Kept], query: &str) -> String {
    let mut out = format!("<h1>{}</h1>\n", escape(title));
    if kept.is_empty() {
        out += "<p>Nothing is kept yet.</p>\n";
    }
    for run in kept {
        let invalid = if run.invalid { ", invalid" } else { "" };
        let modelled = if run.modelled { ", modelled" } else { "" };
        let label = run.label.as_deref().map(|l| format!(" ({})", escape(l))).unwrap_or_default();
        out += &format!(
            "<p><a href=\"{address}\">{id}</a>{host}{label}: {target}, \
             {state}{invalid}{modelled}, {at}</p>\n",
            address = escape(&run.address(query)),
            id = escape(&run.id),
            host = run.host.as_deref().map(|h| format!(" of {}", escape(h))).unwrap_or_default(),
            target = escape(&run.target),
            state = escape(&run.state),
            at = escape(&when(&run.started_at)),
        );
    }
    out
}

fn run(document: &RunDocument) -> String {
    let mut out = format!("<h1>{}</h1>\n", escape(&headings(document)));
    banners(&mut out, document);
    for said in &document.summary {
        out += &format!("<p class=\"summary\">{}</p>\n", escape(said));
    }
    out += &format!("<p class=\"sentence\">{}</p>\n", escape(&sentence(document)));
    let about = [
        Some(document.id.as_str()),
        document.label.as_deref(),
        document.inspection.host.kernel.as_ref().map(|k| k.value.as_str()),
        Some(document.engine.name.as_str()),
    ];
    let about: Vec<String> = about.into_iter().flatten().map(escape).collect();
    let (version, at) = (escape(&document.tool.version), escape(&when(&document.started_at)));
    out += &format!("<p class=\"hint\">{} · {at} · seekwell {version}</p>\n", about.join(" · "));
    figure_table(&mut out, document);
    fidelity_tables(&mut out, document);
    limit_tables(&mut out, document);
    match (document.findings.is_empty(), document.summary.is_empty()) {
        (true, true) => out += "<h2>Findings</h2>\n<p>No problems were found.</p>\n",
        (true, false) => {}
        (false, _) => out += "<h2>Findings</h2>\n",
    }
    worst_first(&document.findings).into_iter().for_each(|f| finding(&mut out, f));
    study_table(&mut out, document);
    phase_table(&mut out, document);
    step_table(&mut out, document);
    missing_table(&mut out, document);
    out
}

fn banners(out: &mut String, document: &RunDocument) {
    if let Some((mark, said)) = not_a_disk(document) {
        let said = escape(&said);
        *out += &format!("<p class=\"banner\"><strong>{mark}</strong> These are {said}.</p>\n");
    }
    for why in &document.invalid {
        let why = escape(why);
        *out += &format!("<p class=\"banner error\"><strong>✕ INVALID</strong> {why}</p>\n");
    }
    if document.status != Status::Complete {
        *out += "<p class=\"banner warning\"><strong>▲ INCOMPLETE</strong> This run did not \
                 finish: finished phases are shown.</p>\n";
    }
}

/// A table whose first cell in each row is its heading; cells from `numbers` on are numbers.
pub(crate) fn table(
    caption: &str,
    columns: &[&str],
    numbers: usize,
    rows: &[Vec<String>],
) -> String {
    let class = |i: usize| if i >= numbers { " class=\"number\"" } else { "" };
    let head: String = columns
        .iter()
        .enumerate()
        .map(|(i, c)| format!("<th scope=\"col\"{}>{}</th>", class(i), escape(c)))
        .collect();
    let row = |cells: &Vec<String>| {
        let cells = cells.iter().enumerate().map(|(i, cell)| match i {
            0 => format!("<th scope=\"row\">{}</th>", escape(cell)),
            _ => format!("<td{}>{}</td>", class(i), escape(cell)),
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let body: String = rows.iter().map(row).collect();
    format!(
        "<div class=\"scroll\"><table><caption>{}</caption>\n<thead><tr>{head}</tr></thead>\n\
         <tbody>\n{body}</tbody></table></div>\n",
        escape(caption)
    )
}

fn figure_table(out: &mut String, document: &RunDocument) {
    let row = |f: &crate::figures::Figure| {
        let range = f.range.clone().unwrap_or_else(|| "—".to_owned());
        vec![f.label.clone(), f.with_unit(), range, f.repeats.to_string()]
    };
    let rows: Vec<_> = figures(document).iter().map(row).collect();
    if !rows.is_empty() {
        let columns = ["figure", "median", "lowest – highest", "repeats"];
        *out += &table("Figures of this run", &columns, 1, &rows);
    }
}

fn limit_tables(out: &mut String, document: &RunDocument) {
    let rows: Vec<_> = limits::limits(document).iter().map(limits::LimitRow::cells).collect();
    if !rows.is_empty() {
        *out += &format!("<h2>{}</h2>\n", limits::TITLE);
        *out += &table(limits::TITLE, &limits::COLUMNS, usize::MAX, &rows);
    }
    let row = |c: limits::CeilingRow| vec![c.name, c.rate, c.known.to_owned(), c.from];
    let rows: Vec<_> = limits::ceilings(document).into_iter().map(row).collect();
    if !rows.is_empty() {
        *out +=
            &table("Known ceilings", &["ceiling", "at most", "known", "from"], usize::MAX, &rows);
    }
}

fn fidelity_tables(out: &mut String, document: &RunDocument) {
    for faith in fidelity(document) {
        let repeats = faith.rows.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
        let heads: Vec<String> = (1..=repeats).map(|i| format!("repeat {i}")).collect();
        let columns: Vec<&str> =
            std::iter::once("what").chain(heads.iter().map(String::as_str)).collect();
        let row = |(name, values): &(String, Vec<String>)| {
            std::iter::once(name.clone()).chain(values.iter().cloned()).collect()
        };
        let rows: Vec<Vec<String>> = faith.rows.iter().map(row).collect();
        *out += &format!("<h2>Fidelity</h2>\n<p>{}</p>\n", escape(&faith.sentence));
        *out += &table(&faith.title, &columns, 1, &rows);
    }
}

fn study_table(out: &mut String, document: &RunDocument) {
    if let Some(said) = preconditioning(document) {
        *out += &format!("<p>{}</p>\n", escape(&said));
    }
    for (part, told) in study(document).iter().enumerate() {
        *out += &format!("<h2>{}</h2>\n", escape(&told.title));
        // The first sentence heads the page.
        for said in told.sentences.iter().skip(usize::from(part == 0)) {
            *out += &format!("<p>{}</p>\n", escape(said));
        }
        let columns: Vec<&str> = told.columns.iter().map(String::as_str).collect();
        *out += &table(&told.title, &columns, told.words, &told.rows);
    }
}

fn phase_table(out: &mut String, document: &RunDocument) {
    let rows = rows(document);
    let amplified = rows.iter().any(|row| row.amplification != NONE);
    let row = |r: crate::rows::Row| {
        let remark = r.remark.map(|why| format!(" ({why})")).unwrap_or_default();
        let title = format!("{}{remark}", r.title);
        let mut cells = vec![
            title,
            r.op,
            r.rate,
            r.iops,
            r.p50,
            r.p99,
            r.p99_9,
            r.spread,
            r.cpu,
            r.calls,
            r.device_share,
        ];
        cells.extend(amplified.then_some(r.amplification));
        cells
    };
    let rows: Vec<_> = rows.into_iter().map(row).collect();
    if rows.is_empty() && !document.phases.is_empty() {
        return;
    }
    let mut columns = vec![
        "phase",
        "operation",
        "MB/s",
        "IOPS",
        "p50",
        "p99",
        "p99.9",
        "spread",
        "CPU ns/request",
        "requests/call",
        "reached the device",
    ];
    columns.extend(amplified.then_some("write amplification"));
    *out += "<h2>All phases</h2>\n";
    *out += &table("Medians of the valid repeats; MB/s of 10^6 bytes", &columns, 2, &rows);
}

fn step_table(out: &mut String, document: &RunDocument) {
    let row = |s: crate::suite::StepRow| {
        let others = s.others.into_iter().map(|(name, value)| format!("{name} {value}"));
        let rest: Vec<String> = others.chain(s.notes).chain(s.remark).collect();
        vec![s.title, rest.join("; "), s.result, s.cpu, s.longest, s.spread]
    };
    let rows: Vec<_> = steps(document).into_iter().map(row).collect();
    if !rows.is_empty() {
        let columns = ["step", "and", "result", "CPU", "longest", "spread"];
        *out += "<h2>All steps</h2>\n";
        *out += &table("Medians of the valid repeats; MB/s of 10^6 bytes", &columns, 2, &rows);
    }
}

fn finding(out: &mut String, finding: &Finding) {
    let (class, word) = match finding.severity {
        Severity::Error => ("error", "✕ Error"),
        Severity::Warning => ("warning", "▲ Warning"),
        Severity::Info => ("info", "● Note"),
    };
    let evidence = finding.evidence.iter();
    let evidence: String = evidence
        .map(|e| format!("<li>{} <code>{}</code></li>", escape(&e.seen), escape(&e.from)))
        .collect();
    let remedy: Vec<String> = clean_lines(&finding.remedy).iter().map(|l| escape(l)).collect();
    *out += &format!(
        "<article class=\"finding {class}\"><h3><span class=\"severity\">{word}</span> {}</h3>\n\
         <p>{}</p>\n<ul>{evidence}</ul>\n<pre class=\"remedy\">{}</pre>\n\
         <p class=\"hint\">{}</p></article>\n",
        escape(&finding.title),
        escape(&finding.why),
        remedy.join("\n"),
        escape(&finding.id),
    );
}

fn missing_table(out: &mut String, document: &RunDocument) {
    let missing = &document.inspection.missing;
    let row =
        |m: &seekwell_inspect::Missing| vec![m.what.clone(), m.reason.clone(), m.from.clone()];
    let rows: Vec<_> = missing.iter().map(row).collect();
    if !rows.is_empty() {
        *out += "<h2>What could not be read</h2>\n";
        let columns = ["what", "why not", "looked for in"];
        *out += &table("Looked for and not read", &columns, usize::MAX, &rows);
    }
}

//! What a page says of one question, is B better than A: the same shape for a comparison of kept
//! runs and for an experiment, so that one design shows both.
//!
//! All text is clean and numbers are written as everywhere else; what the page draws it gets as
//! numbers beside them.

use crate::page::table;
use crate::text::{escape_html as escape, when};
use seekwell_runs::{Detail, RunDocument};
use serde::Serialize;

/// The most runs of a side whose latencies are put into a page.
const MOST_RUNS: usize = 8;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sheet {
    /// What was held against what.
    pub heading: String,
    /// The answer; the first sentence is the verdict.
    pub verdict: Vec<String>,
    /// Whether the claim that was to be checked holds, and that as a sentence.
    pub claim: Option<(bool, String)>,
    /// What must be known before any number is read.
    pub banners: Vec<Banner>,
    pub facts: Vec<(String, String)>,
    /// The names of A and B.
    pub names: [String; 2],
    /// What differed beside what was meant to.
    pub setup: Vec<Setup>,
    pub setup_note: Option<String>,
    pub effects: Vec<Effect>,
    /// What the numbers rest on.
    pub caveat: String,
    pub course: Option<Course>,
    /// The change of each block, in time.
    pub blocks: Option<Blocks>,
    /// What was looked at before the verdict: how it came out, and what.
    pub checks: Vec<(String, String)>,
    /// How latencies are distributed on both sides.
    pub shapes: Vec<Shape>,
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Banner {
    /// `error`, `warning` or `note`.
    pub kind: &'static str,
    /// A sign and a word.
    pub mark: String,
    pub text: String,
}

/// One thing that is otherwise in B.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Setup {
    pub what: String,
    pub a: String,
    pub b: String,
    pub matters: bool,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Effect {
    /// The workload, if there are several.
    pub group: Option<String>,
    pub title: String,
    pub a: String,
    pub b: String,
    pub change: String,
    pub word: String,
    /// `better`, `worse`, `same` or `open`.
    pub tone: &'static str,
    /// Whether it is one of those a workload is about.
    pub main: bool,
    /// Change in percent of A.
    pub percent: Option<f64>,
    /// Its 95 % interval, in percent.
    pub interval: Option<(f64, f64)>,
    /// What lies between is no difference that matters, in percent.
    pub band: Option<(f64, f64)>,
    /// What the band is: `margin`, or `usual` for how far single runs lie apart.
    pub band_is: &'static str,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Course {
    pub metric: String,
    pub points: Vec<Point>,
    /// Runs of a block; absent if there are no blocks.
    pub block_runs: Option<u32>,
    pub in_time: bool,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Point {
    /// 0 for A and 1 for B.
    pub side: usize,
    /// Its number; `None` if it gave none.
    pub value: Option<f64>,
    /// The same with its unit, or why it is missing.
    pub text: String,
    pub started: String,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Blocks {
    /// The order of each, and its change in percent.
    pub each: Vec<(String, Option<f64>)>,
    /// The 95 % interval of the whole, in percent.
    pub interval: Option<(f64, f64)>,
    pub margin: (f64, f64),
}

/// Latencies of one workload and operation on both sides.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Shape {
    pub title: String,
    pub lines: Vec<ShapeLine>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct ShapeLine {
    pub label: String,
    pub repeats: Vec<Vec<(u32, u64)>>,
}

/// The margin as the page draws it: symmetric as a ratio, so not quite in percent.
pub(crate) fn band_of(fraction: f64) -> (f64, f64) {
    (100.0 * (1.0 / (1.0 + fraction) - 1.0), 100.0 * fraction)
}

/// Latencies that both sides have, from their runs: of each workload, what it is about. The newest
/// runs are taken.
pub(crate) fn shapes(names: &[String; 2], sides: [&[(RunDocument, Detail)]; 2]) -> Vec<Shape> {
    let [a, b] = sides.map(|runs| runs.get(runs.len().saturating_sub(MOST_RUNS)..).unwrap_or(&[]));
    let Some((first, detail)) = a.last() else { return Vec::new() };
    let mut out = Vec::new();
    for phase in &first.phases {
        let of_phase = detail.repeats.iter().filter(|d| d.phase == phase.name);
        let mut ops: Vec<&String> = of_phase.flat_map(|d| d.latency_bins.keys()).collect();
        ops.sort_unstable();
        ops.dedup();
        for op in &ops {
            let line = |name: &String, runs: &[(RunDocument, Detail)]| ShapeLine {
                label: crate::text::clean(name),
                repeats: runs.iter().flat_map(|run| bins(run, &phase.name, op)).collect(),
            };
            let lines = vec![line(&names[0], a), line(&names[1], b)];
            if lines.iter().all(|line| !line.repeats.is_empty()) {
                let title = crate::text::clean(&phase.title);
                let title = if ops.len() > 1 { format!("{title}: {op}") } else { title };
                out.push(Shape { title, lines });
            }
        }
    }
    out
}

fn bins(run: &(RunDocument, Detail), phase: &str, op: &str) -> Vec<Vec<(u32, u64)>> {
    let (document, detail) = run;
    let Some(phase) = document.phases.iter().find(|p| p.name == phase) else { return Vec::new() };
    let counts = |repeat: u32| {
        phase.repeats.get(repeat as usize).is_none_or(|repeat| repeat.invalid.is_none())
    };
    let mine = detail.repeats.iter().filter(|d| d.phase == phase.name && counts(d.repeat));
    let found = mine.filter_map(|d| d.latency_bins.get(op)).filter(|bins| !bins.is_empty());
    found.cloned().collect()
}

/// The sheets as HTML without scripts or style of its own.
pub(crate) fn body(sheets: &[Sheet]) -> String {
    sheets.iter().map(one).collect()
}

fn one(sheet: &Sheet) -> String {
    let mut out = format!("<h1>{}</h1>\n", escape(&sheet.heading));
    for banner in &sheet.banners {
        let (mark, text) = (escape(&banner.mark), escape(&banner.text));
        let kind = banner.kind;
        out += &format!("<p class=\"banner {kind}\"><strong>{mark}</strong> {text}</p>\n");
    }
    for sentence in &sheet.verdict {
        out += &format!("<p class=\"sentence\">{}</p>\n", escape(sentence));
    }
    if let Some((holds, sentence)) = &sheet.claim {
        let mark = if *holds { "✓" } else { "✕" };
        out += &format!("<p class=\"sentence\">{mark} {}</p>\n", escape(sentence));
    }
    let [a, b] = &sheet.names;
    out += "<h2>What differed in the set-up</h2>\n";
    if let Some(note) = &sheet.setup_note {
        out += &format!("<p>{}</p>\n", escape(note));
    }
    let rows = |s: &Setup| vec![s.what.clone(), s.a.clone(), s.b.clone()];
    let rows: Vec<_> = sheet.setup.iter().map(rows).collect();
    if !rows.is_empty() {
        out += &table("What differed, the most important first", &["what", a, b], 3, &rows);
    }
    out += "<h2>Numbers</h2>\n";
    let row = |e: &Effect| {
        let title = match &e.group {
            Some(group) => format!("{group}: {}", e.title),
            None => e.title.clone(),
        };
        vec![title, e.a.clone(), e.b.clone(), e.change.clone(), e.word.clone()]
    };
    let rows: Vec<_> = sheet.effects.iter().map(row).collect();
    out += &table(&sheet.caveat, &["metric", a, b, "change", "verdict"], 1, &rows);
    if let Some(course) = &sheet.course {
        let row = |p: &Point| vec![when(&p.started), sheet.names[p.side].clone(), p.text.clone()];
        let rows: Vec<_> = course.points.iter().map(row).collect();
        out += &table(&course.metric, &["started", "side", "value"], 2, &rows);
    }
    for (word, text) in &sheet.checks {
        out += &format!("<p>{}: {}</p>\n", escape(word), escape(text));
    }
    for note in &sheet.notes {
        out += &format!("<p class=\"hint\">{}</p>\n", escape(note));
    }
    out
}

//! A self-contained page: the template with a static summary in its body and the data beside it.
//!
//! ```text
//! <main id="app">   static tables, replaced by the script   </main>
//! <template id="data">   base64(gzip(JSON))   </template>
//! ```
//!
//! The data is base64, whose alphabet has no `<`, so no text in it can end the element or begin
//! another. A template is inert: a policy that lets no script run but the page's own does not mind
//! it.

use crate::compare;
use crate::describe::{headings, sentence};
use crate::experiment;
use crate::fidelity::{Faith, fidelity};
use crate::figures::{Figure, figures};
use crate::fleet;
use crate::history::{self, History};
use crate::limits::{CeilingRow, LimitRow, ceilings, limits};
use crate::page::{self, Kept};
use crate::plan::{self, PlanPage};
use crate::rows::{Row, rows};
use crate::sheet::{self, Sheet, shapes};
use crate::study::{StudyText, preconditioning, study};
use crate::suite::{StepRow, steps};
use crate::text::escape_html;
use crate::trace;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use seekwell_compare::Comparison;
use seekwell_experiment::Document as Experiment;
use seekwell_fleet::Fleet;
use seekwell_runs::{Detail, RunDocument};
use seekwell_sys::classify;
use seekwell_trace::stats::{Drawing, TraceStats};
use serde::Serialize;
use std::borrow::Cow;
use std::io;

/// The page as `make page` builds it from `web/`.
const TEMPLATE: &str = include_str!("../page.html");
const TITLE: &str = "<title>seekwell</title>";
const STATIC: &str = "<!--seekwell:static-->";
const DATA: &str = "<template id=\"data\"></template>";
const HTML: &str = "<html lang=\"en\">";
const SERVED_HTML: &str = "<html lang=\"en\" data-served>";
const POLICY: &str = "; base-uri 'none'";
const SERVED_POLICY: &str = "; connect-src 'self'; base-uri 'none'";

#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("a report needs at least one run")]
    NoRuns,
    #[error("a run could not be written as JSON")]
    Json(#[source] serde_json::Error),
    #[error("the data of the report could not be compressed")]
    Compress(#[source] io::Error),
    /// The page that was built in is not the one this program knows.
    #[error("the page built into this program lacks {marker}, or has it twice; rebuild web/")]
    Template { marker: &'static str },
}

classify!(ReportError {
    Refused: NoRuns, Json, Compress, Template;
});

/// What the page gets of one run: the document, and what all reports say of it alike.
#[derive(Serialize)]
struct Entry<'a> {
    document: &'a RunDocument,
    detail: &'a Detail,
    heading: String,
    sentence: String,
    figures: Vec<Figure>,
    rows: Vec<Row>,
    /// Of suites only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<StepRow>,
    /// Of replays only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fidelity: Vec<Faith>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    study: Vec<StudyText>,
    /// What was written before measuring.
    #[serde(skip_serializing_if = "Option::is_none")]
    preconditioning: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits: Vec<LimitRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ceilings: Vec<CeilingRow>,
    /// How it stands; on a page that is served only.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'a str>,
}

/// What a page can hold.
#[derive(Serialize)]
#[serde(untagged)]
enum Payload<'a> {
    Runs {
        runs: Vec<Entry<'a>>,
    },
    /// Questions and their answers, with the document they were made from.
    Sheets {
        sheets: Cow<'a, [Sheet]>,
        document: serde_json::Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        state: Option<&'a str>,
    },
    Trace {
        trace: trace::Shown<'a>,
        document: serde_json::Value,
    },
    Fleet {
        fleet: fleet::Shown,
        document: &'a Fleet,
    },
    List {
        list: &'a [Kept],
        /// What the list is of, if it is not all that is kept.
        #[serde(skip_serializing_if = "Option::is_none")]
        of: Option<&'a str>,
    },
    History {
        history: &'a History,
    },
    Plan {
        plan: &'a PlanPage,
        document: &'a serde_json::Value,
    },
}

/// The kept runs of one side of a comparison, oldest first: their latencies are drawn.
#[derive(Debug, Clone, Default)]
pub struct SideRuns {
    pub name: String,
    pub runs: Vec<(RunDocument, Detail)>,
}

/// One HTML file that shows the runs, works from a disk without a network, and holds their data.
///
/// # Errors
/// [`ReportError`]: no runs, a number JSON cannot hold, or a template that does not fit.
pub fn html(runs: &[(RunDocument, Detail)]) -> Result<String, ReportError> {
    let Some((first, _)) = runs.first() else { return Err(ReportError::NoRuns) };
    let title = match runs.len() {
        1 => format!("{} · seekwell", headings(first)),
        n => format!("{n} runs · seekwell"),
    };
    let documents: Vec<&RunDocument> = runs.iter().map(|(document, _)| document).collect();
    let entries = runs.iter().map(|(document, detail)| entry(document, detail, None)).collect();
    made(TEMPLATE, &title, &page::body(&documents), &Payload::Runs { runs: entries })
}

/// A page that shows a comparison as [`html`] shows runs. Latencies are drawn for the sides whose
/// runs are given.
///
/// # Errors
/// [`ReportError`].
pub fn html_comparison(comparison: &Comparison, kept: &[SideRuns]) -> Result<String, ReportError> {
    let mut sheets = compare::sheets(comparison);
    for (sheet, against) in sheets.iter_mut().zip(&comparison.against) {
        let of = |name: &str| {
            let side = kept.iter().find(|side| side.name == name);
            side.map_or(&[][..], |side| side.runs.as_slice())
        };
        sheet.shapes = shapes(&sheet.names, [of(&against.a), of(&against.b)]);
    }
    of_sheets(&sheets, comparison)
}

/// A page that shows an experiment as [`html`] shows runs.
///
/// # Errors
/// [`ReportError`].
pub fn html_experiment(document: &Experiment) -> Result<String, ReportError> {
    of_sheets(&[experiment::sheet(document, None)], document)
}

fn of_sheets(sheets: &[Sheet], document: &impl Serialize) -> Result<String, ReportError> {
    let Some(first) = sheets.first() else { return Err(ReportError::NoRuns) };
    let title = format!("{} · seekwell", first.heading);
    let document = serde_json::to_value(document).map_err(ReportError::Json)?;
    let payload = Payload::Sheets { sheets: sheets.into(), document, state: None };
    made(TEMPLATE, &title, &sheet::body(sheets), &payload)
}

/// A page that shows the statistics of a trace as [`html`] shows runs.
///
/// # Errors
/// [`ReportError`].
pub fn html_trace_stats(stats: &TraceStats, drawing: &Drawing) -> Result<String, ReportError> {
    let shown = trace::shown(stats, drawing);
    let title = format!("{} · seekwell", trace::heading(stats));
    let body = trace::body(&shown);
    let document = serde_json::to_value(stats).map_err(ReportError::Json)?;
    made(TEMPLATE, &title, &body, &Payload::Trace { trace: shown, document })
}

/// A page that shows which machines bear a load; the document is what it was made from.
///
/// # Errors
/// [`ReportError`].
pub fn html_plan(plan: &PlanPage, document: &serde_json::Value) -> Result<String, ReportError> {
    let title = format!("{} · seekwell", plan.heading);
    made(TEMPLATE, &title, &plan::body(plan), &Payload::Plan { plan, document })
}

/// A page that shows many hosts as [`html`] shows runs.
///
/// # Errors
/// [`ReportError`].
pub fn html_fleet(fleet: &Fleet) -> Result<String, ReportError> {
    Served::fleet(fleet).on(TEMPLATE)
}

/// A page for a server: it may ask the server it came from for newer data, and does so while what
/// it shows is still going on.
pub struct Served<'a> {
    title: String,
    /// What is seen where scripts do not run.
    body: String,
    payload: Payload<'a>,
}

impl<'a> Served<'a> {
    /// One run; `state` is `running` while it is measured.
    pub fn run((document, detail): &'a (RunDocument, Detail), state: &'a str) -> Self {
        let title = headings(document);
        let runs = vec![entry(document, detail, Some(state))];
        Self { title, body: page::body(&[document]), payload: Payload::Runs { runs } }
    }

    /// One experiment; `state` is `running` while it is made.
    ///
    /// # Errors
    /// [`ReportError::Json`].
    pub fn experiment(document: &Experiment, state: &'a str) -> Result<Self, ReportError> {
        let sheets = vec![experiment::sheet(document, Some(state))];
        let document = serde_json::to_value(document).map_err(ReportError::Json)?;
        let (title, body) = (sheets[0].heading.clone(), sheet::body(&sheets));
        let payload = Payload::Sheets { sheets: sheets.into(), document, state: Some(state) };
        Ok(Self { title, body, payload })
    }

    /// A list of runs and experiments: all that is kept, or what `of` says. `query` is put behind
    /// every address: nothing, or `?token=…`.
    pub fn list(list: &'a [Kept], of: Option<&'a str>, query: &str) -> Self {
        let title = of.unwrap_or("What is kept").to_owned();
        let body = page::list(&title, list, query);
        Self { title, body, payload: Payload::List { list, of } }
    }

    /// Many hosts side by side.
    pub fn fleet(document: &'a Fleet) -> Self {
        let fleet = fleet::shown(document);
        let (title, body) = (fleet.heading.clone(), fleet::body(&fleet));
        Self { title, body, payload: Payload::Fleet { fleet, document } }
    }

    /// The history of a metric.
    pub fn history(history: &'a History) -> Self {
        let (title, body) = (history.heading.clone(), history::body(history));
        Self { title, body, payload: Payload::History { history } }
    }

    /// The page.
    ///
    /// # Errors
    /// [`ReportError`].
    pub fn html(&self) -> Result<String, ReportError> {
        self.on(&fill(TEMPLATE, &[(HTML, SERVED_HTML), (POLICY, SERVED_POLICY)])?)
    }

    fn on(&self, template: &str) -> Result<String, ReportError> {
        made(template, &format!("{} · seekwell", self.title), &self.body, &self.payload)
    }

    /// What the page holds, as JSON.
    ///
    /// # Errors
    /// [`ReportError::Json`].
    pub fn json(&self) -> Result<Vec<u8>, ReportError> {
        serde_json::to_vec(&self.payload).map_err(ReportError::Json)
    }
}

fn entry<'a>(document: &'a RunDocument, detail: &'a Detail, state: Option<&'a str>) -> Entry<'a> {
    Entry {
        document,
        detail,
        heading: headings(document),
        sentence: sentence(document),
        figures: figures(document),
        rows: rows(document),
        steps: steps(document),
        fidelity: fidelity(document),
        study: study(document),
        preconditioning: preconditioning(document),
        limits: limits(document),
        ceilings: ceilings(document),
        state,
    }
}

/// A page that is all text: its body needs no script.
pub(crate) fn of_text(title: &str, body: &str) -> Result<String, ReportError> {
    let title = format!("<title>{}</title>", escape_html(title));
    fill(TEMPLATE, &[(TITLE, &title), (STATIC, body)])
}

fn made(
    template: &str,
    title: &str,
    body: &str,
    payload: &Payload<'_>,
) -> Result<String, ReportError> {
    let title = format!("<title>{}</title>", escape_html(title));
    let data = format!("<template id=\"data\">{}</template>", pack(payload)?);
    fill(template, &[(TITLE, &title), (STATIC, body), (DATA, &data)])
}

fn pack(payload: &Payload<'_>) -> Result<String, ReportError> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    serde_json::to_writer(&mut gzip, payload).map_err(ReportError::Json)?;
    let packed = gzip.finish().map_err(ReportError::Compress)?;
    Ok(STANDARD.encode(packed))
}

/// Puts each text in the place of its marker, which must occur once, in the order given.
fn fill(template: &str, parts: &[(&'static str, &str)]) -> Result<String, ReportError> {
    let length = parts.iter().map(|(_, text)| text.len()).sum::<usize>();
    let mut out = String::with_capacity(template.len() + length);
    let mut rest = template;
    for &(marker, text) in parts {
        if template.matches(marker).count() != 1 {
            return Err(ReportError::Template { marker });
        }
        let (before, after) = rest.split_once(marker).ok_or(ReportError::Template { marker })?;
        out.push_str(before);
        out.push_str(text);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use std::io::Read;

    fn data_of(page: &str) -> serde_json::Value {
        let (_, after) = page.split_once("<template id=\"data\">").expect("data");
        let (text, _) = after.split_once("</template>").expect("an end of the data");
        let packed = STANDARD.decode(text).expect("base64");
        let mut json = String::new();
        flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut json).expect("gzip");
        serde_json::from_str(&json).expect("JSON")
    }

    #[test]
    fn a_page_gives_back_the_documents_it_was_made_from() {
        let runs = [testing::rich(), testing::degraded()];
        let data = data_of(&html(&runs).expect("a page"));
        for (i, (document, detail)) in runs.iter().enumerate() {
            let entry = &data["runs"][i];
            let back: RunDocument = serde_json::from_value(entry["document"].clone()).expect("run");
            assert_eq!(&back, document);
            let back: Detail = serde_json::from_value(entry["detail"].clone()).expect("detail");
            assert_eq!(&back, detail);
        }
    }

    #[test]
    fn hostile_text_adds_no_element_to_the_page() {
        let tame = html(&[testing::rich()]).expect("a page");
        let hostile = html(&[testing::degraded()]).expect("a page");
        for tag in ["<script", "</template", "</main", "<img"] {
            assert_eq!(tame.matches(tag).count(), hostile.matches(tag).count(), "{tag}");
        }
        assert!(hostile.contains("&lt;script&gt;"), "the text itself is shown");
        assert!(!hostile.contains('\u{1b}'));
    }

    #[test]
    fn without_scripts_the_page_still_has_figures_findings_and_phases() {
        let page = html(&[testing::rich()]).expect("a page");
        let (body, _) = page.split_once("<template id=\"data\">").expect("data");
        for text in ["random read 4 KiB, depth 1", "SW-LINK-001", "IOPS", "<caption>"] {
            assert!(body.contains(text), "{text}");
        }
    }

    #[test]
    fn the_page_has_every_marker_once() {
        for marker in [TITLE, STATIC, DATA, HTML, POLICY] {
            assert_eq!(TEMPLATE.matches(marker).count(), 1, "{marker}");
        }
    }

    #[test]
    fn only_a_served_page_may_ask_its_server() {
        let run = testing::rich();
        let served = Served::run(&run, "running").html().expect("a page");
        assert!(served.contains("connect-src 'self'") && served.contains("data-served"));
        assert_eq!(data_of(&served)["runs"][0]["state"], "running");
        let page = html(&[run]).expect("a page");
        assert!(!page.contains("connect-src") && !page.contains("<html lang=\"en\" data-served>"));
        assert!(data_of(&page)["runs"][0].get("state").is_none());
    }

    #[test]
    fn a_list_shows_hostile_targets_as_text_and_links_with_the_query() {
        let kept = Kept {
            id: "20261120-231502-bench-5f3a".into(),
            host: None,
            kind: "bench".into(),
            state: "killed".into(),
            label: Some("\"><img src=x>".into()),
            target: "<script>alert(1)</script>\u{1b}".into(),
            device_model: None,
            started_at: "2026-11-20T23:15:02Z".into(),
            modelled: true,
            invalid: true,
        };
        let list = [kept.clone()];
        let page = Served::list(&list, None, "?token=abc").html().expect("a page");
        let (body, _) = page.split_once("<template id=\"data\">").expect("data");
        for hostile in ["<img", "<script>alert", "\u{1b}"] {
            assert!(!body.contains(hostile), "{hostile:?}");
        }
        assert!(body.contains("href=\"/run/20261120-231502-bench-5f3a?token=abc\""));
        assert!(body.contains("killed, invalid, modelled"));
        assert_eq!(data_of(&page)["list"][0]["label"], "\"><img src=x>");
        let experiment = Kept { kind: "experiment".into(), ..kept.clone() };
        let other = Kept { host: Some("<b>&%".into()), ..kept };
        let list = [experiment, other];
        let page = Served::list(&list, Some("<i>all"), "").html().expect("a page");
        assert!(page.contains("href=\"/experiment/20261120-231502-bench-5f3a\""));
        let address = "href=\"/run/20261120-231502-bench-5f3a?host=%3Cb%3E%26%25\"";
        assert!(page.contains(address) && !page.contains("<b>") && !page.contains("<i>"));
    }

    #[test]
    fn a_template_without_its_markers_is_refused() {
        let twice = format!("{DATA}{DATA}");
        for template in ["", twice.as_str()] {
            let error = fill(template, &[(DATA, "x")]).expect_err("no page");
            assert!(matches!(error, ReportError::Template { marker } if marker == DATA));
        }
        assert!(matches!(html(&[]), Err(ReportError::NoRuns)));
    }
}

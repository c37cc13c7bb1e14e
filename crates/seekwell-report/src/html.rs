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

use crate::describe::{heading, sentence};
use crate::figures::{Figure, figures};
use crate::page;
use crate::rows::{Row, rows};
use crate::text::escape_html;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use seekwell_runs::{Detail, RunDocument};
use serde::Serialize;
use std::io;

/// The page as built from `web/`, or the plain one.
const TEMPLATE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));
const TITLE: &str = "<title>seekwell</title>";
const STATIC: &str = "<!--seekwell:static-->";
const DATA: &str = "<template id=\"data\"></template>";

/// Why a page could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// There is nothing to show.
    #[error("a report needs one run at least")]
    NoRuns,
    /// A document could not be written as JSON.
    #[error("a run could not be written as JSON")]
    Json(#[source] serde_json::Error),
    /// The data could not be compressed.
    #[error("the data of the report could not be compressed")]
    Compress(#[source] io::Error),
    /// The page that was built in is not the one this program knows.
    #[error("the page built into this program lacks {marker}, or has it twice; build web/ again")]
    Template {
        /// What was looked for in the page.
        marker: &'static str,
    },
}

/// What the page gets of one run: the document, and what all reports say of it alike.
#[derive(Serialize)]
struct Entry<'a> {
    document: &'a RunDocument,
    detail: &'a Detail,
    heading: String,
    sentence: String,
    figures: Vec<Figure>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Payload<'a> {
    runs: Vec<Entry<'a>>,
}

/// One HTML file that shows the runs, works from a disk without a network, and holds their data.
///
/// # Errors
/// [`ReportError`]: no runs, a number JSON cannot hold, or a template that does not fit.
pub fn html(runs: &[(RunDocument, Detail)]) -> Result<String, ReportError> {
    let Some((first, _)) = runs.first() else { return Err(ReportError::NoRuns) };
    let title = match runs.len() {
        1 => format!("{} · seekwell", heading(&first.inspection)),
        n => format!("{n} runs · seekwell"),
    };
    let title = format!("<title>{}</title>", escape_html(&title));
    let documents: Vec<&RunDocument> = runs.iter().map(|(document, _)| document).collect();
    let data = format!("<template id=\"data\">{}</template>", pack(runs)?);
    fill(TEMPLATE, &[(TITLE, &title), (STATIC, &page::body(&documents)), (DATA, &data)])
}

/// Whether the page has plots: `false` where the program was built without `web/`.
pub fn html_has_plots() -> bool {
    TEMPLATE.contains("<script")
}

fn pack(runs: &[(RunDocument, Detail)]) -> Result<String, ReportError> {
    let entries = runs.iter().map(|(document, detail)| Entry {
        document,
        detail,
        heading: heading(&document.inspection),
        sentence: sentence(document),
        figures: figures(document),
        rows: rows(document),
    });
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    serde_json::to_writer(&mut gzip, &Payload { runs: entries.collect() })
        .map_err(ReportError::Json)?;
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
    fn a_template_without_its_markers_is_refused() {
        let twice = format!("{DATA}{DATA}");
        for template in ["", twice.as_str()] {
            let error = fill(template, &[(DATA, "x")]).expect_err("no page");
            assert!(matches!(error, ReportError::Template { marker } if marker == DATA));
        }
        assert!(matches!(html(&[]), Err(ReportError::NoRuns)));
    }
}

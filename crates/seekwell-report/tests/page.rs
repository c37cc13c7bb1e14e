//! The page as a person sees it: opened from a file in headless Chromium, without a network.
//! Skipped if there is no browser, or if `web/` was not built.

#![allow(clippy::print_stderr, reason = "a skipped test says so")]

#[path = "common/browser.rs"]
mod browser;
#[path = "sample/mod.rs"]
mod sample;

use seekwell_report::{SideRuns, html_comparison, html_experiment, html_fleet};
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

type Failure = Box<dyn std::error::Error>;

/// Bytes the page may take without the data in it.
const MOST_CODE: usize = 150_000;

/// The page of some runs after its script ran, as markup; `None` if the test is skipped.
fn shown(
    runs: &[(seekwell_runs::RunDocument, seekwell_runs::Detail)],
    spoil: fn(String) -> String,
) -> Result<Option<String>, Failure> {
    opened(&spoil(seekwell_report::html(runs)?))
}

/// A page after its script ran, as markup; `None` if the test is skipped.
fn opened(html: &str) -> Result<Option<String>, Failure> {
    let Some(browser) = browser::browser() else { return Ok(None) };
    // Beside other work the browser now and then gives the markup before its first frame, in which
    // plots learn their width. So one at a time, and again where that happens.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let early = |dom: &str| {
        let tags = dom.split("<figure ").skip(1).filter_map(|figure| figure.split('>').next());
        let mut plots = tags.filter(|tag| tag.contains("class=\"plot\""));
        plots.any(|tag| !tag.contains("data-points=\"0\"") && !tag.contains("data-ink"))
    };
    let mut dom = opened_in(&browser, html)?;
    for _ in 0..8 {
        if !early(&dom) {
            break;
        }
        dom = opened_in(&browser, html)?;
    }
    Ok(Some(dom))
}

fn opened_in(browser: &Path, html: &str) -> Result<String, Failure> {
    let folder = tempfile::tempdir()?;
    let page = folder.path().join("page.html");
    fs::write(&page, html)?;
    Ok(browser::dom(browser, &format!("file://{}", page.display()), |_| {}))
}

/// The value of an attribute in the first element whose start tag begins with `tag`.
fn attribute<'a>(markup: &'a str, tag: &str, name: &str) -> Option<&'a str> {
    let (_, after) = markup.split_once(tag)?;
    let (start_tag, _) = after.split_once('>')?;
    let (_, value) = start_tag.split_once(&format!("{name}=\""))?;
    value.split_once('"').map(|(value, _)| value)
}

/// Title, number of values and number of coloured pixels of each plot.
fn plots(dom: &str) -> Vec<(String, u64, u64)> {
    let figures = dom.split("<figure ").skip(1);
    figures
        .map(|figure| {
            let start_tag = figure.split('>').next().unwrap_or_default();
            let number = |name: &str| {
                let (_, value) = start_tag.split_once(&format!("{name}=\""))?;
                value.split('"').next()?.parse().ok()
            };
            let caption = figure.split_once("<figcaption>").and_then(|(_, t)| t.split_once('<'));
            (
                caption.map_or_else(String::new, |(text, _)| text.to_owned()),
                number("data-points").unwrap_or(0),
                number("data-ink").unwrap_or(0),
            )
        })
        .collect()
}

#[test]
fn every_plot_is_drawn_findings_are_shown_and_nothing_is_loaded() -> Result<(), Failure> {
    let runs = [sample::rich()];
    let Some(dom) = shown(&runs, |page| page)? else { return Ok(()) };
    assert_eq!(attribute(&dom, "<html", "data-state"), Some("drawn"));
    assert_eq!(attribute(&dom, "<html", "data-requests"), Some("0"));
    assert_eq!(attribute(&dom, "<html", "data-refused"), Some("0"), "the policy refuses nothing");
    let plots = plots(&dom);
    let phases = runs[0].0.phases.len();
    assert_eq!(plots.len(), 2 + 2 + 1 + phases, "depth, distributions, mix, one for each phase");
    for (title, points, ink) in &plots {
        assert!(*points >= 8, "{title}: {points} values");
        assert!(*ink > 200, "{title}: {ink} coloured pixels");
    }
    for text in [
        "The disk's PCIe link runs at 2 lanes of 4.",
        "/sys/bus/pci/devices/0000:01:00.0/current_link_width",
        "random read 4 KiB, depth 128",
        "Example NV-1000 Pro",
        "permission denied",
    ] {
        assert!(dom.contains(text), "{text}");
    }
    let (warning, note) = (dom.find("▲ Warning"), dom.find("● Note"));
    assert!(warning.is_some() && warning < note, "worst first");
    Ok(())
}

#[test]
fn what_limits_a_run_heads_the_page_and_is_drawn_as_a_roofline() -> Result<(), Failure> {
    let runs = [sample::limited()];
    let Some(dom) = shown(&runs, |page| page)? else { return Ok(()) };
    assert_eq!(attribute(&dom, "<html", "data-refused"), Some("0"));
    let found = plots(&dom);
    let roofline = found.iter().find(|(title, ..)| title == "MB/s over request size");
    assert_eq!(roofline.map(|(_, points, _)| *points), Some(6));
    assert_eq!(dom.matches("class=\"ceiling line-of").count(), 4);
    for text in [
        "98 % of 3,500 MB/s",
        "PCIe switch: 3,600 MB/s, declared: /sys/bus/pci/devices/0000:01:00.0/",
        "Roofline: MB/s over request size for 6 phases, below 4 ceilings",
        "then the flash, up to ×2.0",
        "to tell: seekwell bench --rw write",
    ] {
        assert!(dom.contains(text), "{text}");
    }
    let summary = dom.find("<p class=\"summary\">").expect("sentences");
    assert!(summary < dom.find("class=\"tiles\"").expect("figures"));
    assert!(!dom.contains("id=\"run-findings\""));
    Ok(())
}

#[test]
fn hostile_names_are_text_and_run_nothing() -> Result<(), Failure> {
    let Some(dom) = shown(&[sample::degraded()], |page| page)? else { return Ok(()) };
    assert_eq!(attribute(&dom, "<html", "data-state"), Some("drawn"));
    assert_eq!(attribute(&dom, "<html", "data-refused"), Some("0"));
    let tags = |tag: &str| dom.matches(tag).count();
    assert_eq!((tags("<script"), tags("<img"), tags("<b>"), tags("</template>")), (1, 0, 0, 1));
    assert!(dom.contains("&lt;script&gt;alert(1)&lt;/script&gt;&lt;/template&gt;"));
    assert!(dom.contains("INVALID"));
    assert!(dom.contains("INCOMPLETE"));
    assert!(!dom.contains('\u{202e}'), "nothing turns the direction of writing");
    Ok(())
}

#[test]
fn several_runs_stand_side_by_side_and_a_model_is_marked() -> Result<(), Failure> {
    let Some(dom) = shown(&[sample::rich(), sample::array()], |page| page)? else { return Ok(()) };
    assert_eq!(attribute(&dom, "<html", "data-state"), Some("drawn"));
    assert_eq!(dom.matches("role=\"tab\"").count(), 2);
    assert!(dom.contains("Side by side"));
    assert!(dom.contains("MODELLED"));
    assert!(plots(&dom).iter().all(|(_, points, ink)| *points > 0 && *ink > 0));
    Ok(())
}

/// A file cut short by mail or a full disk must not look like a run without phases.
#[test]
fn data_that_cannot_be_read_is_said_and_the_summary_stays() -> Result<(), Failure> {
    let spoil =
        |page: String| page.replacen("<template id=\"data\">H4sI", "<template id=\"data\">AAAA", 1);
    let Some(dom) = shown(&[sample::rich()], spoil)? else { return Ok(()) };
    assert_eq!(attribute(&dom, "<html", "data-state"), Some("failed"));
    assert!(dom.contains("could not be read"));
    assert!(dom.contains("random read 4 KiB, depth 1"), "the static table is still there");
    Ok(())
}

/// What holds of every page that was opened from a file.
fn assert_drawn_alone(dom: &str) {
    assert_eq!(attribute(dom, "<html", "data-state"), Some("drawn"));
    assert_eq!(attribute(dom, "<html", "data-requests"), Some("0"), "nothing is fetched");
    assert_eq!(attribute(dom, "<html", "data-refused"), Some("0"), "the policy refuses nothing");
}

fn position(dom: &str, text: &str) -> Result<usize, Failure> {
    dom.find(text).ok_or_else(|| format!("{text:?} is not on the page").into())
}

#[test]
fn a_comparison_says_its_verdict_then_what_differed_then_by_how_much() -> Result<(), Failure> {
    let runs = |name: &str, runs| SideRuns { name: name.to_owned(), runs };
    let sides = [runs("piix", vec![sample::rich()]), runs("ahci", vec![sample::rich()])];
    let page = html_comparison(&sample::questions::published(), &sides)?;
    let Some(dom) = opened(&page)? else { return Ok(()) };
    assert_drawn_alone(&dom);
    let verdict = position(&dom, "Only create and delete differ by more than runs usually do.")?;
    let setup = position(&dom, "interrupt of sda")?;
    let effects = position(&dom, "class=\"effect open\"")?;
    assert!(verdict < setup && setup < effects, "{verdict} {setup} {effects}");
    for text in ["ata_piix", "IRQ 14, shared", "17,299/s", "28,173/s", "+62.9 %", "unusual"] {
        position(&dom, text)?;
    }
    let drawn = dom.matches("class=\"effect ").count();
    assert_eq!(drawn, 12, "every rate of bonnie++ is in the forest plot");
    assert_eq!(dom.matches("class=\"band usual\"").count(), 12);
    assert_eq!(dom.matches("class=\"whole\"").count(), 0, "one run each has no interval");
    let plots = plots(&dom);
    assert_eq!(plots.len(), 3, "forest and two of latencies: {plots:?}");
    assert!(plots.iter().skip(1).all(|(_, points, ink)| *points > 0 && *ink > 200), "{plots:?}");
    Ok(())
}

#[test]
fn several_runs_have_intervals_over_the_margin_and_hostile_names_are_text() -> Result<(), Failure> {
    let page = html_comparison(&sample::questions::several(), &[])?;
    let static_page = page.split("<template id=\"data\">").next().unwrap_or_default();
    assert!(!static_page.contains("<img") && !static_page.contains("alert(1)</script>"));
    let Some(dom) = opened(&page)? else { return Ok(()) };
    assert_drawn_alone(&dom);
    let tags = |tag: &str| dom.matches(tag).count();
    assert_eq!((tags("<script"), tags("<img"), tags("</template>")), (1, 0, 1));
    position(&dom, "&lt;script&gt;alert(1)&lt;/script&gt;&lt;/template&gt;")?;
    assert!(!dom.contains('\u{202e}'), "nothing turns the direction of writing");
    assert!(tags("class=\"whole\"") >= 3, "an interval and its two ends");
    assert!(tags("class=\"band margin\"") >= 1);
    position(&dom, "class=\"effect better\"")?;
    position(&dom, "is faster by 10.0 %")?;
    Ok(())
}

#[test]
fn an_experiment_shows_its_runs_and_blocks_in_order_and_what_was_checked() -> Result<(), Failure> {
    let document = sample::questions::experiment(1.031, sample::questions::HOSTILE);
    let Some(dom) = opened(&html_experiment(&document)?)? else { return Ok(()) };
    assert_drawn_alone(&dom);
    let verdict = position(&dom, "B is faster by 3.1 %")?;
    assert!(verdict < position(&dom, "iodepth</th>")?);
    assert_eq!(dom.matches("<circle").count(), 24 + 12 + 2, "24 runs of A, 12 blocks, 2 effects");
    assert_eq!(dom.matches("class=\"side-1\"").count(), 24, "24 runs of B");
    position(&dom, "run 1, ")?;
    position(&dom, "class=\"band interval\"")?;
    position(&dom, "all 12 planned blocks are complete")?;
    position(&dom, "What was expected (B is faster) holds.")?;
    assert_eq!((dom.matches("<script").count(), dom.matches("<img").count()), (1, 0));
    Ok(())
}

#[test]
fn an_experiment_without_an_end_shows_no_verdict_on_the_way() -> Result<(), Failure> {
    let mut document = sample::questions::experiment(1.5, "/dev/sda");
    document.status = seekwell_experiment::Status::Interrupted;
    document.conclusion = None;
    document.runs.truncate(20);
    let page = html_experiment(&document)?;
    let Some(dom) = opened(&page)? else { return Ok(()) };
    assert_drawn_alone(&dom);
    position(&dom, "No verdict yet: 5 of 12 blocks are done")?;
    position(&dom, "INCOMPLETE")?;
    assert!(!dom.contains("faster by") && !dom.contains("<circle"), "nor what leads to one");
    Ok(())
}

/// A row that is wider than a phone makes the whole page scroll sideways.
#[test]
fn a_fleet_shows_its_outlier_and_what_is_different_before_all_hosts() -> Result<(), Failure> {
    let Some(dom) = opened(&html_fleet(&sample::fleet::fleet())?)? else { return Ok(()) };
    assert_drawn_alone(&dom);
    let order = [
        "Fleet of 30 hosts",
        "1 outlier: web17.",
        "INTERRUPTED",
        "the only one of 30 at 3.0 Gbps",
        "EXAMPLE SSD 960, firmware X1: 30 hosts",
        "median 91,250/s",
        "What each host measured",
    ];
    let places = order.iter().map(|text| position(&dom, text)).collect::<Result<Vec<_>, _>>()?;
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(plots(&dom)[0].1, 90, "three metrics of thirty hosts");
    assert_eq!(dom.matches("class=\"dot beyond\"").count(), 2);
    Ok(())
}

#[test]
fn no_page_is_wider_than_a_phone() -> Result<(), Failure> {
    let comparison = html_comparison(&sample::questions::published(), &[])?;
    let experiment = html_experiment(&sample::questions::experiment(1.031, "/dev/sda"))?;
    let fleet = html_fleet(&sample::fleet::fleet())?;
    for page in [comparison, experiment, fleet] {
        // Headless Chromium has no window below 500 px: the page is put into a frame of 320.
        let framed = page.replace('&', "&amp;").replace('"', "&quot;");
        let outer = format!(
            "<!doctype html><html data-state=waiting><body><iframe id=f width=320 height=900 \
             srcdoc=\"{framed}\"></iframe><script>setTimeout(() => {{ \
             const d = document.getElementById('f').contentDocument.documentElement; \
             document.documentElement.dataset.state = d.dataset.state; \
             document.documentElement.dataset.wide = d.scrollWidth; \
             }}, 4000)</script></body></html>"
        );
        let Some(dom) = opened(&outer)? else { return Ok(()) };
        assert_eq!(attribute(&dom, "<html", "data-state"), Some("drawn"));
        let wide: u32 = attribute(&dom, "<html", "data-wide").ok_or("not measured")?.parse()?;
        assert!(wide <= 320, "{wide} px");
    }
    Ok(())
}

#[test]
fn the_code_of_the_page_stays_small_and_loads_nothing() -> Result<(), Failure> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("page.html"))?;
    assert!(page.len() < MOST_CODE, "{} bytes", page.len());
    let policy = attribute(&page, "<meta http-equiv", "content").ok_or("no policy")?;
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    Ok(())
}

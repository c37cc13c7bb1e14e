//! The page as a person sees it: opened from a file in headless Chromium, without a network.
//! Skipped where there is no browser, or where `web/` was not built.

#![allow(clippy::print_stderr, reason = "a skipped test says so")]

#[path = "sample/mod.rs"]
mod sample;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

type Failure = Box<dyn std::error::Error>;

/// Bytes the page may take without the data in it.
const MOST_CODE: usize = 150_000;

fn built_page() -> Option<PathBuf> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist/index.html");
    let built = page.is_file() && seekwell_report::html_has_plots();
    if !built {
        eprintln!("skipped: web/ is not built (npm ci && npm run build in web/)");
    }
    built.then_some(page)
}

fn browser() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|candidate| candidate.is_file());
    if found.is_none() {
        eprintln!("skipped: no Chromium in PATH");
    }
    found
}

/// The page of some runs after its script ran, as markup; `None` where the test is skipped.
fn shown(
    runs: &[(seekwell_runs::RunDocument, seekwell_runs::Detail)],
    spoil: fn(String) -> String,
) -> Result<Option<String>, Failure> {
    let (Some(_), Some(browser)) = (built_page(), browser()) else { return Ok(None) };
    let folder = tempfile::tempdir()?;
    let page = folder.path().join("page.html");
    fs::write(&page, spoil(seekwell_report::html(runs)?))?;
    let dom = folder.path().join("dom.html");
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND"])
        .args(["--window-size=1280,900", "--virtual-time-budget=20000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .stdout(fs::File::create(&dom)?)
        .stderr(Stdio::null())
        .spawn()?;
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if started.elapsed() > Duration::from_secs(90) {
            child.kill()?;
            child.wait()?;
            return Err("Chromium did not end within 90 s".into());
        }
        thread::sleep(Duration::from_millis(50));
    };
    let dom = fs::read_to_string(&dom)?;
    if !status.success() || dom.is_empty() {
        return Err(format!("Chromium ended with {status} and {} bytes", dom.len()).into());
    }
    Ok(Some(dom))
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

#[test]
fn the_code_of_the_page_stays_small_and_loads_nothing() -> Result<(), Failure> {
    let Some(page) = built_page() else { return Ok(()) };
    let page = fs::read_to_string(page)?;
    assert!(page.len() < MOST_CODE, "{} bytes", page.len());
    let policy = attribute(&page, "<meta http-equiv", "content").ok_or("no policy")?;
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    Ok(())
}

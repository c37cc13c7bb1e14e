//! Every published figure is modelled: what is promised of the whole, and that the page in docs is
//! the one this program writes.

use seekwell_report::reproduced::{document, html, markdown, terminal};
use seekwell_reproduce::{
    Basis, DOCUMENTS, Effect, Effort, How, ON_REQUEST, Reproduced, Row, SAMPLES, Verdict, effects,
    reproduce, rows, summary,
};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The page's own words above the table.
const HEAD: &str = "# Published and modelled\n\nWritten by `seekwell reproduce --limits \
                    --markdown`.\n\n\
                    - *modelled*: with assumed values for the inputs that the document does not \
                    state.\n\
                    - *5 to 95 %*: over samples of the unstated inputs and run-to-run variation. \
                    The ranges and their sources are listed below; they were fixed before they \
                    were compared with figures.\n\
                    - *predicted*: no fitted figure determines it, and the published one lies in \
                    the interval, whose ends differ by less than × 1.5. *consistent*: they differ \
                    by more. *missed*: it lies outside.\n\
                    - *carried over*: it repeats a fitted figure of the same test within 0.5 %, or \
                    is a property of a re-recorded trace.\n\
                    - *fitted*: a parameter of the machine was fitted on it; the error is what \
                    remains. `seekwell machine show` tells which parameter, and where every other \
                    value is from.\n- *depends most on*: the unstated input that explains most \
                    of the variance, and its share.\n- *limited by*: the station of the \
                    model whose speed the figure follows most, shown by making each 10 % faster in \
                    turn.\n- *shown*: an effect with the published direction and at least half \
                    of the size, on a logarithmic scale; *smaller*: the direction alone.\n\n";

#[test]
fn the_published_figures_are_reproduced_as_the_page_says() {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut five = rows();
    five.retain(|row| !ON_REQUEST.contains(&row.document));
    let effort =
        Effort { threads, samples: if updating() { SAMPLES } else { 0 }, limits: updating() };
    let reproduced = reproduce(five, effort, &AtomicBool::new(false), &|_, _| {})
        .expect("all machines and traces ship");
    let sum = summary(&reproduced);
    eprintln!("{sum:?}");
    the_effect_of_the_first_document_is_predicted(&reproduced);
    every_miss_has_a_sentence(&reproduced);
    every_fitted_figure_exists(&reproduced);
    page(&reproduced);
    let shown = terminal(&reproduced, 80);
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "80 columns are enough");
    let page = html(&reproduced).expect("the template is whole");
    assert!(
        page.contains("◇ MODELLED") && page.contains("<h2>R3 ") && page.contains("database heavy")
    );
    assert_eq!(document(&reproduced)["summary"]["predicted"], sum.predicted);
}

/// Story: the write buffer of the modelled drive sorted everything by itself, so that queueing sped
/// up deletes by 4 %, where the document has 112 %.
fn the_effect_of_the_first_document_is_predicted(rows: &[Reproduced]) {
    for test in ["R0 sequential delete", "R0 random delete"] {
        let of = |effect: &Effect<'_>| effect.to.row.id() == format!("{test}, AHCI");
        let effect = effects(rows).find(of).expect("it is an effect");
        assert!(effect.has_direction() && effect.modelled > 1.4, "{test}: {}", effect.modelled);
        assert_eq!(effect.to.basis, Basis::Predicted, "{test}");
    }
}

fn every_miss_has_a_sentence(rows: &[Reproduced]) {
    let is_silent = |row: &&Reproduced| {
        let is_off = match row.verdict() {
            Verdict::Predicted | Verdict::Consistent => false,
            Verdict::Fitted | Verdict::CarriedOver => row.is_near() == Some(false),
            Verdict::Missed | Verdict::NotModelled => true,
        };
        is_off && row.why().is_none()
    };
    let silent = rows.iter().filter(is_silent);
    let silent: Vec<String> = silent.map(|row| row.row.id()).collect();
    assert!(silent.is_empty(), "no sentence for {silent:?}");
}

/// A machine that says it was fitted on a row names one there is.
fn every_fitted_figure_exists(rows: &[Reproduced]) {
    use seekwell_machine::{Model, library};
    let all = seekwell_reproduce::rows();
    for (name, text) in library::MACHINES {
        let model = Model::read(name, text, &[], &library::Shelf::default()).expect("it ships");
        for on in model.parameters().iter().flat_map(|p| &p.origin.on) {
            let is_row = DOCUMENTS.iter().any(|(name, _)| on.starts_with(&format!("{name} ")));
            let is_named = |row: &Row| {
                row.id() == *on || format!("{} {}", row.document, row.configuration) == *on
            };
            let known = all.iter().any(is_named);
            assert!(!is_row || known, "{name} was fitted on {on:?}, which is no row");
        }
    }
    let modelled = rows.iter().filter(|row| !matches!(row.row.how, How::NotModelled { .. }));
    assert!(modelled.clone().all(|row| row.modelled.is_some_and(f64::is_finite)));
    assert!(modelled.count() >= 100);
}

/// Whether the pages are to be written. What limits each figure, and what it may be, takes minutes:
/// of that, only the quick rows of one document are compared.
fn updating() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// The figures with the assumed inputs, of the table of rows: its first six columns.
fn figures(page: &str) -> Vec<String> {
    let rows = page.lines().take_while(|line| !line.starts_with("## "));
    let table = rows.filter(|line| line.starts_with("| R"));
    table.map(|line| line.split('|').take(7).collect::<Vec<_>>().join("|")).collect()
}

/// `docs/reproduced.md` is what the program writes; `UPDATE_DOCS=1` writes it.
fn page(rows: &[Reproduced]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reproduced.md");
    let written = format!("{HEAD}{}", markdown(rows));
    if updating() {
        std::fs::write(&path, &written).expect("docs can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        figures(&kept) == figures(&written),
        "docs/reproduced.md is stale; regenerate it: UPDATE_DOCS=1 cargo test -p seekwell-report \
         --test reproduced"
    );
}

#[test]
fn what_limits_the_figures_of_one_document_and_their_intervals_are_as_the_page_says() {
    let mut rows = rows();
    rows.retain(|row| row.document == "R4");
    let effort = Effort { threads: 1, samples: SAMPLES, limits: true };
    let reproduced =
        reproduce(rows, effort, &AtomicBool::new(false), &|_, _| {}).expect("all machines ship");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reproduced.md");
    let kept = std::fs::read_to_string(path).expect("the page is there");
    let told = markdown(&reproduced);
    let figures: Vec<&str> = told
        .lines()
        .filter(|line| line.starts_with("| R4") && line.split('|').count() == 12)
        .collect();
    assert!(figures.iter().any(|line| line.contains("| transfer mode |")), "{told}");
    for line in figures {
        assert!(kept.lines().any(|kept| kept == line), "docs/reproduced.md lacks {line}");
    }
}

/// The words above the table of today's drives.
const DRIVES_HEAD: &str = "# Today's SSDs, published and modelled\n\nWritten by `seekwell \
                           reproduce R5 R6 --markdown`. The drives of R5 were fitted to \
                           all of these rates: the errors are what remains, not errors of \
                           predictions. Those of R6 have the rates of their data sheets, except \
                           where a row says fitted. A rate or a median is near within 15 %, a \
                           rarer quantile within 30 %.\n\n";

/// `docs/reproduced-drives.md` is what the program writes: of R5 two rates and of R6 one test are
/// run and looked up in it. `UPDATE_DOCS=1` runs all and writes it.
#[test]
fn the_figures_of_todays_drives_are_those_on_their_page() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reproduced-drives.md");
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let run = |wanted: &dyn Fn(&Row) -> bool| {
        let mut rows = rows();
        rows.retain(|row| ON_REQUEST.contains(&row.document) && wanted(row));
        let effort = Effort { threads, samples: SAMPLES, limits: false };
        reproduce(rows, effort, &AtomicBool::new(false), &|_, _| {}).expect("all machines ship")
    };
    if updating() {
        let written = format!("{DRIVES_HEAD}{}", markdown(&run(&|_| true)));
        std::fs::write(&path, written).expect("docs can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let rows = run(&|row| {
        ["20000/s", "150000/s"].contains(&row.configuration) || row.what == "random 4 KiB reads"
    });
    let near = rows.iter().filter(|row| row.is_near() == Some(true)).count();
    eprintln!("{near} of {} near", rows.len());
    assert!(near * 10 >= rows.len() * 6, "{near} of {} near", rows.len());
    let is_figure = |line: &&str| line.contains("| µs |") || line.contains("| IOPS |");
    for line in markdown(&rows).lines().filter(is_figure) {
        assert!(
            kept.lines().any(|kept| kept == line),
            "docs/reproduced-drives.md lacks {line}; regenerate it: UPDATE_DOCS=1 cargo test -p \
             seekwell-report --test reproduced"
        );
    }
}

//! Every published figure is modelled: what is promised of the whole, and that the page in docs is
//! the one this program writes.

use seekwell_report::reproduced::{document, html, markdown, terminal};
use seekwell_reproduce::{
    Basis, DOCUMENTS, How, ON_REQUEST, Reproduced, Row, effects, is_shown, ratios, reproduce, rows,
    summary,
};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The page's own words above the table.
const HEAD: &str = "# Published and modelled\n\nWritten by `seekwell reproduce --limits \
                    --markdown`.\n\n\
                    - *near*, *missed*: predicted. No figure that was fitted determines it.\n\
                    - *carried over*: it repeats a fitted figure of the same test within 0.5 %, or \
                    is a property of a re-recorded trace.\n\
                    - *fitted*: a parameter of the machine was fitted on it; the error is what \
                    remains. `seekwell machine show` tells which parameter, and where every other \
                    value is from.\n- *limited by*: the station of the model whose speed the \
                    figure follows most, shown by making each 10 % faster in turn.\n\nA figure \
                    is near within 15 %, or where a published share of the processor, printed \
                    without decimals, is what it rounds to.\n\n";

#[test]
fn the_published_figures_are_reproduced_as_the_page_says() {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut five = rows();
    five.retain(|row| !ON_REQUEST.contains(&row.document));
    let reproduced = reproduce(five, threads, updating(), &AtomicBool::new(false), &|_, _| {})
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
    assert_eq!(document(&reproduced)["summary"]["predicted"]["near"], sum.predicted.near);
}

/// Story: the write buffer of the modelled drive sorted everything by itself, so that queueing sped
/// up deletes by 4 %, where the document has 112 %.
fn the_effect_of_the_first_document_is_predicted(rows: &[Reproduced]) {
    for test in ["R0 sequential delete", "R0 random delete"] {
        let of = |pair: &[&Reproduced; 2]| pair[1].row.id() == format!("{test}, AHCI");
        let pair = effects(rows).find(of).expect("it is an effect");
        assert!(is_shown(pair), "{test}: {:?}", ratios(pair));
        assert_eq!(pair[1].basis, Basis::Predicted, "{test}");
    }
}

fn every_miss_has_a_sentence(rows: &[Reproduced]) {
    let silent = rows.iter().filter(|row| row.is_near() != Some(true) && row.why().is_none());
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

/// Whether the pages are to be written. What limits each figure takes minutes: of that, only the
/// quick rows of one document are compared.
fn updating() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// The table of figures without the column of what limits them.
fn without_limits(page: &str) -> String {
    let line = |line: &str| {
        let mut cells: Vec<&str> = line.split('|').collect();
        if cells.len() == 10 {
            cells.remove(7);
        }
        cells.join("|")
    };
    page.lines().map(line).collect::<Vec<_>>().join("\n")
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
        without_limits(&kept) == without_limits(&written),
        "docs/reproduced.md is stale; regenerate it: UPDATE_DOCS=1 cargo test -p seekwell-report \
         --test reproduced"
    );
}

#[test]
fn what_limits_the_figures_of_one_document_is_as_the_page_says() {
    let mut rows = rows();
    rows.retain(|row| row.document == "R4");
    let reproduced =
        reproduce(rows, 1, true, &AtomicBool::new(false), &|_, _| {}).expect("all machines ship");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reproduced.md");
    let kept = std::fs::read_to_string(path).expect("the page is there");
    let told = markdown(&reproduced);
    let figures: Vec<&str> = told.lines().filter(|line| line.split('|').count() == 10).collect();
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
        reproduce(rows, threads, false, &AtomicBool::new(false), &|_, _| {})
            .expect("all machines ship")
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

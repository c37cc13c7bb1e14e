//! The figures of R0 are those of the CSV lines that its document prints.

use seekwell_reproduce::{Row, rows};
use std::path::Path;

/// Fields of a bonnie++ 1.96 line, by the figure: rate, share of the processor, longest wait.
const FIELDS: [(&str, [usize; 3]); 12] = [
    ("sequential output, per character", [7, 8, 36]),
    ("sequential output, block", [9, 10, 37]),
    ("rewrite", [11, 12, 38]),
    ("sequential input, per character", [13, 14, 39]),
    ("sequential input, block", [15, 16, 40]),
    ("random seeks", [17, 18, 41]),
    ("sequential create", [24, 25, 42]),
    ("sequential stat", [26, 27, 43]),
    ("sequential delete", [28, 29, 44]),
    ("random create", [30, 31, 45]),
    ("random stat", [32, 33, 46]),
    ("random delete", [34, 35, 47]),
];

#[test]
fn the_figures_of_r0_are_those_that_its_document_prints() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/seeds");
    let Ok(folder) = seeds.read_dir() else {
        eprintln!("skipped: {} is not there", seeds.display());
        return;
    };
    let texts = folder.filter_map(|file| std::fs::read_to_string(file.ok()?.path()).ok());
    let lines: Vec<Vec<String>> = texts.flat_map(|text| csv_lines(&text)).collect();
    assert_eq!(lines.len(), 2, "piix and AHCI");
    let rows = rows();
    for (line, mode) in lines.iter().zip(["piix", "AHCI"]) {
        for (what, fields) in FIELDS {
            for (suffix, field) in ["", ": processor", ": longest wait"].into_iter().zip(fields) {
                let printed = number(&line[field]);
                let row = row(&rows, &format!("R0 {what}{suffix}, {mode}"));
                assert!((row.published / printed - 1.0).abs() < 1e-9, "{}: {printed}", row.id());
            }
        }
    }
}

fn csv_lines(text: &str) -> Vec<Vec<String>> {
    let begins = text.match_indices("1.96,1.96,").map(|(at, _)| &text[at..]);
    let lines = begins.map(|rest| rest.split(['\\', '\n', '<']).next().unwrap_or(rest));
    lines.map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// A figure; waits in milliseconds.
fn number(field: &str) -> f64 {
    let (digits, factor) = match (field.strip_suffix("us"), field.strip_suffix("ms")) {
        (Some(micro), _) => (micro, 1e-3),
        (None, Some(milli)) => (milli, 1.0),
        (None, None) => (field, 1.0),
    };
    digits.parse::<f64>().unwrap_or_else(|_| panic!("{field:?} is no figure")) * factor
}

fn row<'a>(rows: &'a [Row], id: &str) -> &'a Row {
    rows.iter().find(|row| row.id() == id).unwrap_or_else(|| panic!("there is no row {id}"))
}

//! Insertions by the suite `sqlite` beside the sqlite3 program doing the same statements.

use super::{Bench, Figure, Figures};
use crate::report::{Page, Unit, Wanted};
use crate::{Failure, process};
use seekwell_suites::sqlite::{Statements, TABLE};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Insertions a second by three journal modes.
pub fn measure(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    for journal in ["delete", "truncate", "wal"] {
        let step = format!("insert-{journal}-t1");
        let set = |number: u64| {
            [
                ("journals", journal.to_owned()),
                ("threads", "1".to_owned()),
                ("scale", "0".to_owned()),
                ("seconds", "1".to_owned()),
                ("insertions", number.to_string()),
            ]
        };
        let suite = |number| bench.suite("sqlite", bench.place.dir(), &set(number));
        // As many as this disk does in the time, whatever it is.
        let rate = suite(0)?.get(&step).copied().ok_or("the suite gave no rate")?;
        let number = (rate * bench.choose(1.5, 4.0)) as u64 + 1;
        let figure = Figure {
            name: &step,
            what: format!("sqlite: insertions, journal {journal}, beside sqlite3"),
            unit: Unit::PerSecond,
            wanted: Wanted::RatioWithin(0.15),
        };
        let theirs = || {
            let rate = program(bench.place.dir(), journal, number)?;
            Ok(Figures::from([(step.clone(), rate)]))
        };
        bench.compare(page, vec![figure], || suite(number), theirs)?;
    }
    Ok(())
}

/// Insertions a second of the program, its start included.
fn program(dir: &Path, journal: &str, number: u64) -> Result<f64, Failure> {
    let folder = tempfile::tempdir_in(dir)?;
    let (script, database) = (folder.path().join("script.sql"), folder.path().join("rival.db"));
    let set = format!("PRAGMA journal_mode={journal};\nPRAGMA synchronous=FULL;\n");
    process::output(Command::new("sqlite3").arg(&database).arg(format!("{set}{TABLE}")))?;
    let mut text = set;
    for statement in Statements::new(1, 0).take(number as usize) {
        writeln!(text, "{statement}")?;
    }
    fs::write(&script, text)?;
    let began = Instant::now();
    let status = Command::new("sqlite3")
        .arg(&database)
        .stdin(File::open(&script)?)
        .stdout(Stdio::null())
        .status()?;
    let seconds = began.elapsed().as_secs_f64();
    if !status.success() {
        return Err(format!("sqlite3 ended with {status}").into());
    }
    Ok(number as f64 / seconds)
}

//! Insertions by the suite beside the sqlite3 program doing the same statements.

use super::pair::{Pair, alternate, run_suite};
use crate::Failure;
use seekwell_suites::sqlite::{Statements, TABLE};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Seconds of one run, about.
const SECONDS: f64 = 3.0;

/// Insertions a second by three journal modes.
pub fn measure(rounds: u32, dir: &Path) -> Result<Vec<Pair>, Failure> {
    let modes = ["delete", "truncate", "wal"];
    modes.into_iter().map(|journal| insertions(rounds, dir, journal)).collect()
}

fn insertions(rounds: u32, dir: &Path, journal: &str) -> Result<Pair, Failure> {
    let set = [("journals", journal), ("threads", "1"), ("scale", "0")];
    let suite = |set: &[_]| run_suite("sqlite", set, dir, 0, "insertions_per_s");
    // As many as this disk does in the time, whatever it is.
    let number = (suite(&set)? * SECONDS) as usize + 1;
    let text = number.to_string();
    let set = [&set[..], &[("insertions", text.as_str())]].concat();
    let (ours, theirs) = alternate(rounds, || suite(&set), || program(dir, journal, number))?;
    let what = format!("SQLite insertions, journal {journal}");
    Ok(Pair { what, peer: "sqlite3", unit: "insertions/s", allowed_percent: 15.0, ours, theirs })
}

fn program(dir: &Path, journal: &str, number: usize) -> Result<f64, Failure> {
    let folder = tempfile::tempdir_in(dir)?;
    let (script, database) = (folder.path().join("script.sql"), folder.path().join("peer.db"));
    let set = format!("PRAGMA journal_mode={journal};\nPRAGMA synchronous=FULL;\n");
    let created = Command::new("sqlite3").arg(&database).arg(format!("{set}{TABLE}")).output()?;
    if !created.status.success() {
        return Err(String::from_utf8_lossy(&created.stderr).into_owned().into());
    }
    let mut text = set;
    for statement in Statements::new(1, 0).take(number) {
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

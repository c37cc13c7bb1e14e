//! R1: SQLite, FS-Mark and Threaded I/O as the Phoronix Test Suite ran them.
//!
//! pts/sqlite 1.8 fed 2500 statements to the sqlite3 program, five times over; each is a
//! transaction. pts/fs-mark made 1000 files of 1 MiB, each synced before it is closed.
//! pts/tiobench 1.2 ran 32 threads, each with a file of 64 MiB and 1000 random requests of 4 KiB,
//! through the page cache and synced at the end.

use super::report::{Ran, Report};
use super::stage::Stage;
use crate::Failure;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::process::{Command, Stdio};

/// Insertions recorded: one of the test's five rounds.
const INSERTIONS: u64 = 2500;
/// Files recorded, of the test's 1000.
const FILES: u64 = 200;
/// Threads, and random requests of each.
const THREADS: u64 = 32;
const RANDOM: u64 = 1000;
/// Bytes of a random request, and of each file.
const BLOCK: u64 = 4096;
const SIZE: u64 = 64 << 20;
/// Part of each that `--quick` records.
const PART: u64 = 20;

/// The table of pts/sqlite 1.8.
const TABLE: &str = "CREATE TABLE pts1 ('I' SMALLINT NOT NULL, \
     'DT' TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, 'F1' VARCHAR(4) NOT NULL, \
     'F2' VARCHAR(16) NOT NULL);";

pub fn run(stage: &Stage, report: &mut Report) -> Result<(), Failure> {
    let part = if stage.quick { PART } else { 1 };
    sqlite(stage, report, INSERTIONS / part)?;
    fsmark(stage, report, FILES / part)?;
    threaded(stage, report, RANDOM / part)
}

fn sqlite(stage: &Stage, report: &mut Report, insertions: u64) -> Result<(), Failure> {
    let database = stage.place.root().join("benchmark.db");
    let text = stage.place.aside().join("insertions.sql");
    fs::write(&text, statements(insertions))?;
    stage.play(stage.command("sqlite3").arg(&database).arg(TABLE))?;
    settle(stage)?;
    stage.place.disk.pace(true);
    let recorder = stage.record("sqlite-insert")?;
    let mut sqlite = stage.command("sqlite3");
    let (seconds, cpu_s) = stage.play(sqlite.arg(&database).stdin(File::open(&text)?))?;
    let program = "sqlite3 benchmark.db < insertions.sql".to_owned();
    let ran = Ran { program, count: insertions, unit: "insertions", seconds, cpu_s };
    stage.recorded(recorder, "sqlite-insert", ran, report)?;
    stage.place.disk.pace(false);
    Ok(())
}

/// One transaction each, with digits as many as the test's.
fn statements(insertions: u64) -> String {
    let mut text = String::new();
    for row in 1..=insertions {
        let digits = row.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (few, many) = (1_000 + digits % 9_000, 10_u64.pow(15) + digits % (9 * 10_u64.pow(15)));
        // A String takes all that is written.
        let _ = writeln!(
            text,
            "INSERT INTO 'pts1' ('I', 'DT', 'F1', 'F2') \
             VALUES ('{row}', CURRENT_TIMESTAMP, '{few}', '{many}');"
        );
    }
    text
}

fn fsmark(stage: &Stage, report: &mut Report, files: u64) -> Result<(), Failure> {
    settle(stage)?;
    stage.place.disk.pace(true);
    let recorder = stage.record("fsmark-1m")?;
    let count = files.to_string();
    let settings = [("files", count.as_str()), ("size", "1m"), ("runtime", "0")];
    let (program, (seconds, cpu_s), _) = stage.suite("fsmark", &settings)?;
    let ran = Ran { program, count: files, unit: "files", seconds, cpu_s };
    stage.recorded(recorder, "fsmark-1m", ran, report)?;
    stage.place.disk.pace(false);
    Ok(())
}

/// The files are laid out at full speed; then random writes are recorded; then random reads are
/// counted, which the page cache answers.
fn threaded(stage: &Stage, report: &mut Report, random: u64) -> Result<(), Failure> {
    stage.step("laying out the files of Threaded I/O")?;
    stage.play(tiotest(stage, SIZE / BLOCK).args(["--rw=write", "--bs=1m"]))?;
    settle(stage)?;
    stage.place.disk.pace(true);
    let count = random * THREADS;
    let told = |kind: &str| {
        format!("fio, {THREADS} threads, a file of 64 MiB each, {random} random {kind} of 4 KiB")
    };
    let recorder = stage.record("threaded-randwrite")?;
    let (seconds, cpu_s) = stage.play(tiotest(stage, random).arg("--rw=randwrite"))?;
    let ran = Ran { program: told("writes"), count, unit: "writes", seconds, cpu_s };
    stage.recorded(recorder, "threaded-randwrite", ran, report)?;
    let before = stage.served()?;
    let (seconds, cpu_s) = stage.play(tiotest(stage, random).arg("--rw=randread"))?;
    let ran = Ran { program: told("reads"), count, unit: "reads", seconds, cpu_s };
    report.cached("threaded-randread", ran, before, stage.served()?);
    stage.place.disk.pace(false);
    Ok(())
}

/// Threads and files as tiotest has them, with this many requests each; of two equal options the
/// later one holds.
fn tiotest(stage: &Stage, requests: u64) -> Command {
    let mut command = stage.command("fio");
    command
        .args(["--name=tiotest", "--thread", "--ioengine=psync", "--norandommap"])
        .args(["--end_fsync=1", "--invalidate=0", "--fallocate=none", "--minimal"])
        .args([format!("--numjobs={THREADS}"), format!("--bs={BLOCK}"), format!("--size={SIZE}")])
        .arg(format!("--directory={}", stage.place.root().display()))
        .arg(format!("--io_size={}", requests * BLOCK))
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

/// Writes out what earlier work left in the page cache, so that it is in no recording.
fn settle(stage: &Stage) -> Result<(), Failure> {
    stage.play(Command::new("sync").arg("-f").arg(stage.place.root()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_statement_is_a_transaction_with_digits_as_many_as_the_tests() {
        let text = statements(3);
        assert_eq!(text.lines().count(), 3);
        for (number, line) in text.lines().enumerate() {
            let values: Vec<&str> = line.rsplit_once('(').unwrap().1.split('\'').collect();
            assert_eq!(values[1], (number + 1).to_string());
            assert_eq!((values[3].len(), values[5].len()), (4, 16));
        }
    }
}

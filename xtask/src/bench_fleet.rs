//! `cargo xtask bench-fleet`: how fast many runs are sent to PostgreSQL and asked there, beside the
//! Parquet tables with DuckDB and the index of the folder.
//!
//! One run is measured, and copies of it, each of another host, moment and speed, are the others.

use crate::report::{Page, Row, Unit, Wanted};
use crate::{Failure, bench, process, root};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

const HOSTS: u64 = 100;
const PHASE: &str = "rand-read-4k-d32";
const METRIC: &str = "read.requests_per_s";

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    common: bench::Common,
    /// An empty PostgreSQL database made for this: postgres:///bench.
    #[arg(long, value_name = "URL")]
    database: String,
    /// How many runs.
    #[arg(
        long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=100_000)
    )]
    runs: u64,
    /// How often each question is asked.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// What is measured for the first run.
    #[arg(long, default_value = ".", value_name = "TARGET")]
    target: PathBuf,
    /// Python that has DuckDB.
    #[arg(long, default_value = "target/python/bin/python", value_name = "PROGRAM")]
    python: PathBuf,
}

/// Runs everything, prints the table and writes it.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let seekwell = args.common.program()?;
    let home = tempfile::tempdir()?;
    let (first, kept, tables) =
        (home.path().join("first"), home.path().join("runs"), home.path().join("tables"));
    let ours = |runs: &Path, words: &[&str]| {
        let mut command = Command::new(&seekwell);
        let begun = Instant::now();
        process::output(command.args(words).arg("--runs-dir").arg(runs))?;
        Ok::<_, Failure>(begun.elapsed().as_secs_f64())
    };
    let target = args.target.to_string_lossy();
    ours(&first, &["checkup", "--quick", &target])?;
    let metrics = copies(&first, &kept, args.runs)?;
    let tables_dir = tables.to_string_lossy().into_owned();
    let trend = ["runs", "trend", METRIC, "--phase", PHASE, "--host", "host7"];
    let remote = [&trend[..], &["--store", &args.database]].concat();
    let index = ours(&kept, &["runs", "list", "-n1"])?;
    let push = ours(&kept, &["runs", "push", &args.database])?;
    let export = ours(&kept, &["runs", "export", &tables_dir])?;

    let mut page = Page::of(&seekwell, "DuckDB or the index")?;
    let count = args.runs as f64;
    page.fact("runs", format!("{} of {HOSTS} hosts, {metrics} rows of metrics", args.runs));
    let server = process::text(&mut psql(&args.database, "SHOW server_version"))?;
    page.fact("PostgreSQL", server.trim().to_owned());
    let rate = |s: f64| vec![count / s];
    page.rows.push(Row::new("runs push", Unit::PerSecond, rate(push), Wanted::Nothing));
    page.rows.push(Row::new("runs export", Unit::PerSecond, rate(export), Wanted::Nothing));
    page.rows.push(Row::new("index of the folder", Unit::PerSecond, rate(index), Wanted::Nothing));
    let report = ["fleet", "report", "--label", "fleet", "--json"];
    let remote_report = [&report[..], &["--store", &args.database]].concat();
    let (mut database, mut folder) = (Vec::new(), Vec::new());
    let mut reports = (Vec::new(), Vec::new());
    let (mut outliers, mut duckdb) = (Vec::new(), Vec::new());
    let (question, mut without) = (question()?, None);
    for _ in 0..args.rounds {
        database.push(ours(&kept, &remote)? * 1e9);
        folder.push(ours(&kept, &trend)? * 1e9);
        reports.0.push(ours(&kept, &remote_report)? * 1e9);
        reports.1.push(ours(&kept, &report)? * 1e9);
        let begun = Instant::now();
        process::output(&mut psql(&args.database, &question))?;
        outliers.push(begun.elapsed().as_nanos() as f64);
        match ask_duckdb(&root().join(&args.python), &tables, &question) {
            Ok(time) => duckdb.push(time),
            Err(error) if duckdb.is_empty() => without = Some(error),
            Err(error) => return Err(error),
        }
    }
    if let Some(error) = without {
        page.missing("DuckDB", error);
    }
    let most = Wanted::AtMost(1e9);
    let trends = (database, folder);
    page.rows.push(Row::beside("runs trend --store, beside the folder", Unit::Ns, trends, most));
    page.rows.push(Row::beside("fleet report --store, beside the folder", Unit::Ns, reports, most));
    page.rows.push(match duckdb.is_empty() {
        true => Row::new("outliers by psql", Unit::Ns, outliers, most),
        false => Row::beside("outliers by psql, beside DuckDB", Unit::Ns, (outliers, duckdb), most),
    });
    let how = format!(
        "cargo xtask bench-fleet --database URL --runs {} --rounds {}; programs are measured \
         whole, DuckDB without the start of Python",
        args.runs, args.rounds
    );
    page.finish(args.common.out.as_deref(), "fleet", "Many hosts' runs", &how)
}

/// Keeps copies of the one run in `first`; gives how many metrics they have together.
fn copies(first: &Path, kept: &Path, count: u64) -> Result<usize, Failure> {
    let bundle = fs::read_dir(first)?.flatten().map(|entry| entry.path()).find(|p| p.is_dir());
    let bundle = bundle.ok_or("nothing was measured")?;
    let mut run: Value = serde_json::from_slice(&fs::read(bundle.join("run.json"))?)?;
    run["label"] = json!("fleet");
    let detail: Value = serde_json::from_slice(&fs::read(bundle.join("detail.json"))?)?;
    let detail = detail.to_string();
    let mut dice = bench::Dice(1);
    let mut metrics = 0;
    for n in 0..count {
        let moment = jiff::Timestamp::from_second(1_700_000_000 + n as i64 * 60)?;
        let id = format!("{}-checkup-{:04x}", moment.strftime("%Y%m%d-%H%M%S"), n % 0x1_0000);
        let mut copy = run.clone();
        copy["id"] = json!(id);
        copy["started_at"] = json!(moment.to_string());
        let host = n % HOSTS;
        copy["inspection"]["host"]["name"]["value"] = json!(format!("host{host}"));
        // One host is slow, and each run differs a little.
        let speed = (0.98 + 0.04 * dice.uniform()) * if host == 3 { 0.5 } else { 1.0 };
        for phase in copy["phases"].as_array_mut().into_iter().flatten() {
            for spread in phase["metrics"].as_object_mut().into_iter().flat_map(|m| m.values_mut())
            {
                for value in ["median", "low", "high"] {
                    spread[value] = json!(spread[value].as_f64().unwrap_or_default() * speed);
                }
                metrics += 1;
            }
        }
        let dir = kept.join(&id);
        fs::create_dir_all(&dir)?;
        fs::write(dir.join("run.json"), copy.to_string())?;
        fs::write(dir.join("detail.json"), &detail)?;
    }
    Ok(metrics)
}

fn psql(database: &str, sql: &str) -> Command {
    let mut command = Command::new("psql");
    command.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", sql]);
    command
}

/// The question about outliers of docs/fleet.md.
fn question() -> Result<String, Failure> {
    let guide = fs::read_to_string(root().join("docs/fleet.md"))?;
    let last = guide.rsplit("```sql\n").next().and_then(|rest| rest.split("```").next());
    Ok(last.ok_or("docs/fleet.md asks nothing")?.to_owned())
}

/// The time that DuckDB takes for the same question, in ns.
fn ask_duckdb(python: &Path, tables: &Path, question: &str) -> Result<f64, Failure> {
    let program = "
import duckdb, sys, time
for table in ('metrics', 'disks'):
    duckdb.sql(f\"CREATE VIEW {table} AS SELECT * FROM read_parquet('{table}/*/*.parquet')\")
begun = time.perf_counter()
duckdb.sql(sys.argv[1].split(';', 1)[1]).fetchall()
print(time.perf_counter() - begun)";
    let mut command = Command::new(python);
    let text = process::text(command.args(["-c", program, question]).current_dir(tables))?;
    Ok(text.trim().parse::<f64>()? * 1e9)
}

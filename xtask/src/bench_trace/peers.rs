//! Statistics and import of one store beside DuckDB, polars and libCacheSim, as far as those can do
//! the same. They run in a Python that has them; what it lacks is said.

use super::Bench;
use super::import::children_cpu_s;
use super::stats::{Made, RATE_LOG2};
use crate::report::{Page, Row, Unit, Wanted};
use crate::{Failure, bench, process, root};
use seekwell_trace::source::{About, BATCH, Capture, Clock, Device, Tables};
use seekwell_trace::store;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

const REQUESTS: u64 = 20_000_000;
const DEVICES: u32 = 100;
/// Its analysis keeps every object in memory.
const CACHE_REQUESTS: u64 = 5_000_000;

/// Those of our figures that they have as well, and gaps: they sum up each device's minutes apart.
const COUNTS: &[&str] = &["--only", "counts,sizes,arrivals,devices"];
const MORE: &[&str] = &["--only", "counts,sizes,arrivals,latencies,order,devices"];
/// What they have as well: counts, bytes and percentiles of sizes, and the load of each device
/// in each minute. With `more` also percentiles of response times, of gaps on each device, and what
/// of its requests is sequential.
const DUCKDB: &str = r#"
import duckdb
def counts(file):
    duckdb.sql(f"""select op, count(*), sum(length_bytes),
        quantile_disc(length_bytes, [0.5, 0.9, 0.99]) from '{file}' group by op""").fetchall()
    duckdb.sql(f"""select device, queued_ns // 60000000000 as minute, count(*), sum(length_bytes)
        from '{file}' group by all""").fetchall()
def more(file):
    counts(file)
    duckdb.sql(f"""select op, quantile_disc(completed_ns - queued_ns, [0.5, 0.9, 0.99, 0.999])
        from '{file}' group by op""").fetchall()
    duckdb.sql(f"""select device, quantile_disc(gap, [0.5, 0.99]), avg(sequential::int) from (
        select device, queued_ns - lag(queued_ns) over of_device as gap,
            offset_bytes = lag(offset_bytes + length_bytes) over of_device as sequential
        from '{file}' window of_device as (partition by device order by queued_ns)
        ) group by device""").fetchall()
"#;
const POLARS: &str = r#"
import polars as pl
def of(file):
    file, size = pl.scan_parquet(file), pl.col("length_bytes")
    at = lambda column, *all: [column.quantile(q).alias(f"{q}") for q in all]
    total = size.cast(pl.Int64).sum()
    minute = (pl.col("queued_ns") // 60_000_000_000).alias("minute")
    counts = [
        file.group_by("op").agg(pl.len(), total, *at(size, 0.5, 0.9, 0.99)),
        file.group_by("device", minute).agg(pl.len(), total),
    ]
    response = pl.col("completed_ns") - pl.col("queued_ns")
    end = (pl.col("offset_bytes") + size).shift().over("device")
    follows = pl.col("offset_bytes") == end
    gap = pl.col("queued_ns").diff().over("device")
    return counts, [
        file.group_by("op").agg(*at(response, 0.5, 0.9, 0.99, 0.999)),
        file.select("device", gap.alias("gap"), follows.alias("follows"))
            .group_by("device").agg(*at(pl.col("gap"), 0.5, 0.99), pl.col("follows").mean()),
    ]
def counts(file): pl.collect_all(of(file)[0])
def more(file): pl.collect_all(sum(of(file), []))
"#;
const LIBCACHESIM: &str = r#"
import libcachesim, os, tempfile
def analysis(file):
    reader = libcachesim.TraceReader(file, libcachesim.TraceType.ORACLE_GENERAL_TRACE)
    wanted = libcachesim.AnalysisOption(req_rate=False, access_pattern=False)
    with tempfile.TemporaryDirectory() as place:
        # It leaves a file in the working directory.
        os.chdir(place)
        libcachesim.TraceAnalyzer(reader, f"{place}/out", analysis_option=wanted).run()
        os.chdir("/")
"#;
/// Seconds of both, of each round but the first.
const IMPORT: &str = r#"
import sys, time
import polars as pl, seekwell
file, rounds = sys.argv[1], int(sys.argv[2])
def timed(read):
    begun = time.perf_counter()
    rows = len(read(file))
    return time.perf_counter() - begun, rows
ways = [lambda file: pl.DataFrame(seekwell.scan(file)), pl.read_parquet]
for turn in range(rounds + 1):
    took = [None, None]
    for way in (0, 1) if turn % 2 else (1, 0):
        took[way] = timed(ways[way])
    assert took[0][1] == took[1][1]
    if turn:
        print(took[0][0], took[1][0])
"#;

/// One store of many devices for all.
pub fn peers(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let requests = if bench.quick { REQUESTS / 10 } else { REQUESTS };
    let file = folder.path().join("made.parquet");
    make_store(&file, requests)?;
    for (name, script) in [("DuckDB", DUCKDB), ("polars", POLARS)] {
        for (ours, what, work, only) in [
            ("", "counts, bytes, sizes, load of each device and minute", "counts", COUNTS),
            ("", "the same, response times, gaps and sequence of each device", "more", MORE),
            (" with SHARDS", "the latter", "more", &[]),
        ] {
            let what = format!("statistics{ours}, 100 devices, beside {name}: {what}");
            statistics(bench, page, what, &file, requests, only, (script, work))?;
        }
    }
    import(bench, page, &file, requests)?;
    let (some, objects) = (folder.path().join("some.parquet"), folder.path().join("some.oracle"));
    let requests = requests.min(CACHE_REQUESTS);
    make_store(&some, requests)?;
    let mut convert = Command::new(&bench.seekwell);
    convert.args(["trace", "convert", "--to", "oracle"]).arg(&some).arg(&objects);
    process::output(&mut convert)?;
    let what =
        "statistics with SHARDS, oracleGeneral, beside libCacheSim's sizes, reuse and popularity"
            .to_owned();
    statistics(bench, page, what, &objects, requests, &[], (LIBCACHESIM, "analysis"))
}

/// Requests per second of CPU: of our whole process, and of what the other does with its file.
fn statistics(
    bench: &Bench,
    page: &mut Page,
    what: String,
    file: &Path,
    requests: u64,
    only: &[&str],
    (script, work): (&str, &str),
) -> Result<(), Failure> {
    let script = format!(
        "{script}\nimport sys, time\nbegun = time.process_time()\n{work}(sys.argv[1])\n\
         print(time.process_time() - begun)"
    );
    let theirs = || Ok(requests as f64 / seconds(bench.python(&script).arg(file))?[0]);
    // Its first round shows whether it is there.
    if let Err(error) = theirs() {
        page.missing(what, error);
        return Ok(());
    }
    let ours = || {
        let before = children_cpu_s();
        let mut command = Command::new(&bench.seekwell);
        command.args(["trace", "stats", "--json", "--threads", "1", "--rate-log2"]);
        process::output(command.arg(RATE_LOG2.to_string()).args(only).arg(file))?;
        Ok(requests as f64 / (children_cpu_s() - before))
    };
    let both = bench::in_turn(bench.rounds, &AtomicBool::new(false), ours, theirs)?;
    let unit = Unit::Named("requests/s of CPU");
    page.rows.push(Row::beside(what, unit, both, Wanted::RatioAtLeast(1.0)));
    Ok(())
}

/// Requests a second, all cores at work, into a data frame of polars.
fn import(bench: &Bench, page: &mut Page, file: &Path, requests: u64) -> Result<(), Failure> {
    let what = "import of the store into polars, beside its own reader";
    let folder = tempfile::tempdir()?;
    let module = folder.path().join("seekwell");
    let library = bench.seekwell.with_file_name("libseekwell_python.so");
    fs::create_dir(&module)?;
    for entry in fs::read_dir(root().join("crates/seekwell-python/python/seekwell"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "py") {
            fs::copy(&path, module.join(path.file_name().unwrap_or_default()))?;
        }
    }
    if fs::copy(&library, module.join("_native.abi3.so")).is_err() {
        page.missing(what, "needed: cargo build --release --package seekwell-python");
        return Ok(());
    }
    let mut python = bench.python(IMPORT);
    python.arg(file).arg(bench.rounds.to_string()).env("PYTHONPATH", folder.path());
    match seconds(&mut python) {
        Ok(seconds) => {
            let rates = |first: usize| {
                seconds.iter().skip(first).step_by(2).map(|s| requests as f64 / s).collect()
            };
            let both = (rates(0), rates(1));
            let unit = Unit::Named("requests/s");
            page.rows.push(Row::beside(what, unit, both, Wanted::RatioAtLeast(1.0)));
        }
        Err(error) => page.missing(what, error),
    }
    Ok(())
}

/// What a script prints; its last word where it fails.
fn seconds(python: &mut Command) -> Result<Vec<f64>, Failure> {
    let ran = python.output()?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        return Err(said.lines().last().unwrap_or("Python failed").to_owned().into());
    }
    // libCacheSim prints as well; the seconds come last.
    let said = String::from_utf8_lossy(&ran.stdout);
    let numbers = said.lines().map(|line| line.split(' ').map(str::parse).collect());
    let numbers: Vec<Vec<f64>> = numbers.filter_map(Result::ok).collect();
    if numbers.is_empty() { Err("it printed no seconds".into()) } else { Ok(numbers.concat()) }
}

fn make_store(path: &Path, requests: u64) -> Result<(), Failure> {
    let about = About::new("made", Clock::Start, Capture::Both);
    let mut sink = store::create(path, &about, false)?;
    let named = |i| Device { name: format!("disk{i}"), ..Device::default() };
    let tables =
        Tables { devices: (0..DEVICES).map(named).collect(), processes: vec![String::new()] };
    let mut made = Made::new(1, DEVICES);
    let mut batch = Vec::with_capacity(BATCH);
    for _ in 0..requests.div_ceil(BATCH as u64) {
        batch.clear();
        batch.extend((0..BATCH).map(|_| made.record()));
        sink.write(&batch, &tables)?;
    }
    sink.finish(&about, &tables)?;
    Ok(())
}

//! Recording: what it loses and what it costs, on a disk that is faster than most.
//!
//! The same load runs alone and recorded, in turn, each round beginning with the other one. Two
//! processes read a zram device of zeros in batches; they do all of a request's work, so the
//! difference of their CPU time for each request is what the kernel spends on the events; the
//! recorder counts its own.

use super::Bench;
use super::page::{Page, Row};
use crate::Failure;
use crate::bench_engine::devices::Zram;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Requests a second that must be recorded without loss.
const RATE_AT_LEAST: f64 = 200_000.0;
/// Requests that a second of the recorder's CPU time must be enough for: 1 µs each.
const PER_CPU_AT_LEAST: f64 = 1e6;
/// Seconds of each run.
const SECONDS: u32 = 5;

/// What one run of the load came to.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Load {
    per_s: f64,
    cpu_ns: f64,
}

/// What the recorder said of itself.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Recorded {
    load: Load,
    requests: f64,
    lost: f64,
    missing: f64,
    own_ns: f64,
}

/// Recording beside the same load alone.
pub fn record(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    let disk = match Zram::new() {
        Ok(disk) => disk,
        Err(error) => {
            page.missing("recording", error.to_string());
            return Ok(());
        }
    };
    let place = tempfile::tempdir()?;
    let (mut alone, mut recorded) = (Vec::new(), Vec::new());
    for round in 0..bench.rounds {
        for turn in 0..2 {
            if (round + turn) % 2 == 0 {
                alone.push(load(&disk.path(), place.path())?);
            } else {
                recorded.push(under(&bench.seekwell, &disk.path(), place.path())?);
            }
        }
    }
    rows(&alone, &recorded).into_iter().for_each(|row| page.row(row));
    Ok(())
}

/// The words of fio that make the load.
fn words(disk: &Path, result: &Path) -> Vec<String> {
    let mut words: Vec<String> = ["--name=load", "--readonly", "--rw=randread", "--bs=4k"]
        .iter()
        .chain(&["--direct=1", "--time_based", "--output-format=json", "--numjobs=2"])
        .chain(&["--ioengine=io_uring", "--iodepth=32", "--iodepth_batch=16"])
        .chain(&["--norandommap", "--gtod_reduce=1"])
        .map(|word| (*word).to_owned())
        .collect();
    words.push(format!("--filename={}", disk.display()));
    words.push(format!("--runtime={SECONDS}"));
    words.push(format!("--output={}", result.display()));
    words
}

fn load(disk: &Path, place: &Path) -> Result<Load, Failure> {
    let result = place.join("fio.json");
    finish(Command::new("fio").args(words(disk, &result)))?;
    of_fio(&fs::read(&result)?).map(|(load, _)| load)
}

fn under(seekwell: &Path, disk: &Path, place: &Path) -> Result<Recorded, Failure> {
    let (result, trace) = (place.join("fio.json"), place.join("trace.parquet"));
    let mut command = Command::new(seekwell);
    command.args(["record", "--json", "-o"]).arg(&trace).arg(disk).args(["--", "fio"]);
    let text = finish(command.args(words(disk, &result)))?;
    fs::remove_file(&trace)?;
    let (load, issued) = of_fio(&fs::read(&result)?)?;
    let said: Value = serde_json::from_slice(&text)?;
    let number = |key: &str| said[key].as_f64().ok_or(format!("seekwell said no {key}"));
    Ok(Recorded {
        load,
        requests: number("requests")?,
        lost: number("lost_events")?,
        // fio looks at the device before and after its load; those requests come on top.
        missing: (issued - number("reads")?).max(0.0),
        own_ns: number("recording_cost_ns_per_request")?,
    })
}

/// Runs a program to its end. A trace with losses ends with 4 and is a result.
pub fn finish(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{name} could not be started: {e}"))?;
    if !matches!(output.status.code(), Some(0 | 4)) {
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(format!("{name} failed ({}): {words}", output.status).into());
    }
    Ok(output.stdout)
}

/// The load of all jobs together and how many requests it made.
fn of_fio(text: &[u8]) -> Result<(Load, f64), Failure> {
    // fio may write notes before its JSON.
    let start = text.iter().position(|b| *b == b'{').ok_or("fio wrote no JSON")?;
    let value: Value = serde_json::from_slice(&text[start..])?;
    let number = |value: &Value| value.as_f64().ok_or("fio's JSON lacks a number");
    let (mut requests, mut per_s, mut cpu_s) = (0.0, 0.0, 0.0);
    for job in value["jobs"].as_array().ok_or("fio's JSON lacks jobs")? {
        let (done, seconds) =
            (number(&job["read"]["total_ios"])?, number(&job["read"]["runtime"])? / 1e3);
        if done == 0.0 || seconds == 0.0 {
            return Err("fio made no requests".into());
        }
        requests += done;
        per_s += done / seconds;
        cpu_s += (number(&job["usr_cpu"])? + number(&job["sys_cpu"])?) / 100.0 * seconds;
    }
    if requests == 0.0 {
        return Err("fio ran no job".into());
    }
    Ok((Load { per_s, cpu_ns: cpu_s * 1e9 / requests }, requests))
}

fn rows(alone: &[Load], recorded: &[Recorded]) -> Vec<Row> {
    let row = |what: &str, unit, values: Vec<f64>, at_least| Row {
        what: what.to_owned(),
        unit,
        values,
        at_least,
    };
    // One loss in one round is a loss: the least share of all rounds, not their median.
    let share = |r: &Recorded| 100.0 * (1.0 - (r.lost + r.missing) / (r.requests + r.missing));
    let share = recorded.iter().map(share).fold(100.0, f64::min);
    let all = |value: fn(&Recorded) -> f64| recorded.iter().map(value).collect::<Vec<_>>();
    vec![
        row("the load alone", "requests/s", alone.iter().map(|l| l.per_s).collect(), None),
        row("the load recorded", "requests/s", all(|r| r.load.per_s), Some(RATE_AT_LEAST)),
        row("recorded without loss, worst round", "%", vec![share], Some(100.0)),
        row(
            "recording",
            "requests/s of the recorder's CPU",
            all(|r| 1e9 / r.own_ns.max(1.0)),
            Some(PER_CPU_AT_LEAST),
        ),
        row(
            "CPU of the load alone",
            "ns a request",
            alone.iter().map(|l| l.cpu_ns).collect(),
            None,
        ),
        row("CPU of the load recorded", "ns a request", all(|r| r.load.cpu_ns), None),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_in_one_round_is_a_promise_not_kept() {
        let load = Load { per_s: 300_000.0, cpu_ns: 1500.0 };
        let good = Recorded { load, requests: 1e6, lost: 0.0, missing: 0.0, own_ns: 400.0 };
        let met = |rounds: &[Recorded]| {
            let rows = rows(&[load], rounds);
            rows.iter().all(|row| row.at_least.is_none_or(|least| row.median() >= least))
        };
        assert!(met(&[good, good, good]));
        assert!(!met(&[good, good, Recorded { lost: 1.0, ..good }]));
        assert!(!met(&[good, good, Recorded { missing: 1.0, ..good }]));
        assert!(!met(&[Recorded { own_ns: 1200.0, ..good }]));
        assert!(!met(&[Recorded { load: Load { per_s: 9000.0, ..load }, ..good }]));
    }

    #[test]
    fn fios_json_gives_rate_and_cpu_time_of_a_request() {
        let text = br#"note
            {"jobs":[{"usr_cpu":20.0,"sys_cpu":60.0,"read":{"total_ios":400000,"runtime":2000}},
            {"usr_cpu":10.0,"sys_cpu":10.0,"read":{"total_ios":100000,"runtime":1000}}]}"#;
        let (load, requests) = of_fio(text).unwrap();
        assert_eq!((load.per_s, load.cpu_ns, requests), (300_000.0, 3600.0, 500_000.0));
        assert!(of_fio(b"no").is_err());
    }
}

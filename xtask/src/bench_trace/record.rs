//! Recording: what it loses and what it costs, on a disk that is faster than most.
//!
//! The same load runs alone and recorded, in turn, each round beginning with the other one. Two
//! processes read a zram device of zeros in batches; they do all of a request's work, so the
//! difference of their CPU time for each request is what the kernel spends on the events; the
//! recorder counts its own.

use super::Bench;
use crate::devices::Zram;
use crate::report::{Page, Row, Unit, Wanted};
use crate::{Failure, process};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Requests a second that must be recorded without loss.
const RATE_AT_LEAST: f64 = 200_000.0;
/// Requests that a second of the recorder's CPU time must be enough for: 1 µs each.
const PER_CPU_AT_LEAST: f64 = 1e6;
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
            page.missing("recording", error);
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
    page.rows.extend(rows(&alone, &recorded));
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
    process::output(Command::new("fio").args(words(disk, &result)))?;
    of_fio(&fs::read(&result)?).map(|(load, _)| load)
}

fn under(seekwell: &Path, disk: &Path, place: &Path) -> Result<Recorded, Failure> {
    let (result, trace) = (place.join("fio.json"), place.join("trace.parquet"));
    let mut command = Command::new(seekwell);
    command.args(["record", "--json", "-o"]).arg(&trace).arg(disk).args(["--", "fio"]);
    // A trace with losses ends with 4 and is a result.
    let text = process::output_of(command.args(words(disk, &result)), &[0, 4])?;
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

/// The load of all jobs together and how many requests it made.
fn of_fio(text: &[u8]) -> Result<(Load, f64), Failure> {
    let value = process::fio_json(text)?;
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
    // One loss in one round is a loss: the least share of all rounds, not their median.
    let share = |r: &Recorded| 100.0 * (1.0 - (r.lost + r.missing) / (r.requests + r.missing));
    let share = recorded.iter().map(share).fold(100.0, f64::min);
    let all = |value: fn(&Recorded) -> f64| recorded.iter().map(value).collect::<Vec<_>>();
    let per_s = Unit::Named("requests/s");
    let cost = Unit::Named("ns a request");
    let load_rate = alone.iter().map(|l| l.per_s).collect();
    let load_cost = alone.iter().map(|l| l.cpu_ns).collect();
    let at_least = Wanted::AtLeast;
    vec![
        Row::new("the load alone", per_s, load_rate, Wanted::Nothing),
        Row::new("the load recorded", per_s, all(|r| r.load.per_s), at_least(RATE_AT_LEAST)),
        Row::new(
            "recorded without loss, worst round",
            Unit::Named("%"),
            vec![share],
            at_least(100.0),
        ),
        Row::new(
            "recording",
            Unit::Named("requests/s of the recorder's CPU"),
            all(|r| 1e9 / r.own_ns.max(1.0)),
            at_least(PER_CPU_AT_LEAST),
        ),
        Row::new("CPU of the load alone", cost, load_cost, Wanted::Nothing),
        Row::new("CPU of the load recorded", cost, all(|r| r.load.cpu_ns), Wanted::Nothing),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_in_one_round_is_a_promise_not_kept() {
        let load = Load { per_s: 300_000.0, cpu_ns: 1500.0 };
        let good = Recorded { load, requests: 1e6, lost: 0.0, missing: 0.0, own_ns: 400.0 };
        let met =
            |rounds: &[Recorded]| rows(&[load], rounds).iter().all(|row| row.met() != Some(false));
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

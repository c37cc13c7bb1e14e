//! Replaying on time: how late requests are, beside fio's `read_iolog` of the same trace.
//!
//! seekwell counts its own lateness. fio counts none, so both are also watched from outside: the
//! kernel's block events are recorded while each plays the trace, and each request's time in the
//! recording is compared with its time in the trace. The least late request counts as on time, so a
//! constant delay of a whole replay is held against neither.

use super::Bench;
use crate::bench::Dice;
use crate::devices::{SIZE_BYTES, Zram};
use crate::report::{Page, Row, Unit, Wanted};
use crate::{Failure, process};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

const BLOCK: u64 = 4096;
/// Not used at either end of the device, which udev and blkid read.
const MARGIN: u64 = 1 << 20;
const STEADY: u64 = 10_000;
const FAST: u64 = 100_000;

/// One request: when, in microseconds, and where.
type Due = (u64, u64);

/// Lateness as seen from outside.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Seen {
    p50_us: f64,
    p99_us: f64,
    drift_ppm: f64,
    missing: f64,
}

/// Replays at both rates on a zram device.
pub fn replay(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    let seconds = if bench.quick { 10 } else { 60 };
    let disk = Zram::new()?;
    let place = tempfile::tempdir()?;
    let steady = trace(STEADY, STEADY * seconds);
    let fast = trace(FAST, FAST * seconds.min(20));
    let (csv, log, rush) = ["t.csv", "t.iolog", "fast.csv"].map(|n| place.path().join(n)).into();
    fs::write(&csv, as_csv(&steady))?;
    fs::write(&log, as_iolog(&steady, &disk.path()))?;
    fs::write(&rush, as_csv(&fast))?;
    let (mut own, mut ours, mut theirs, mut rushed) = (vec![], vec![], vec![], vec![]);
    for _ in 0..bench.rounds {
        own.push(play(bench, &csv, &disk.path())?);
        let words = replay_words(bench, &csv, &disk.path());
        ours.push(watched(bench, &words, &disk.path(), place.path(), &steady)?);
        let words = fio_words(&log);
        theirs.push(watched(bench, &words, &disk.path(), place.path(), &steady)?);
        rushed.push(play(bench, &rush, &disk.path())?);
    }
    let name = format!("replay, {STEADY} requests/s for {seconds} s");
    let of = |all: &[Value], key: &str| all.iter().map(|f| number(f, key)).collect::<Vec<_>>();
    let ppm = of(&own, "/drift_percent").into_iter().map(|d| (d * 1e4).abs()).collect();
    let (us, cost) = (Unit::Named("µs"), Unit::Named("ns a request"));
    let (none, most) = (Wanted::Nothing, Wanted::AtMost);
    let late = |all: &[Value]| of(all, "/lateness/ns_p99").iter().map(|ns| ns / 1e3).collect();
    let rows = &mut page.rows;
    rows.push(Row::new(format!("{name}: lateness p99"), us, late(&own), most(100.0)));
    rows.push(Row::new(format!("{name}: drift"), Unit::Named("ppm"), ppm, most(1000.0)));
    rows.push(Row::new(format!("{name}: CPU"), cost, of(&own, "/cpu_ns"), none));
    for (who, all) in [("seekwell", &ours), ("fio read_iolog", &theirs)] {
        let mut add = |what: &str, unit, pick: fn(&Seen) -> f64| {
            let what = format!("{name}, {who} as the kernel saw it: {what}");
            rows.push(Row::new(what, Unit::Named(unit), all.iter().map(pick).collect(), none));
        };
        add("lateness p50", "µs", |s| s.p50_us);
        add("lateness p99", "µs", |s| s.p99_us);
        add("drift", "ppm", |s| s.drift_ppm);
        add("requests not seen", "", |s| s.missing);
    }
    let name = format!("replay, {FAST} requests/s on zram");
    rows.push(Row::new(format!("{name}: lateness p99"), us, late(&rushed), most(500.0)));
    let lacking = of(&rushed, "/issued").into_iter().map(|n| fast.len() as f64 - n).collect();
    let what = format!("{name}: requests not issued");
    rows.push(Row::new(what, Unit::Named(""), lacking, most(0.0)));
    rows.push(Row::new(format!("{name}: CPU"), cost, of(&rushed, "/cpu_ns"), none));
    Ok(())
}

fn number(value: &Value, at: &str) -> f64 {
    value.pointer(at).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

/// Random arrivals (exponential gaps) at random places, the same in every run.
fn trace(per_s: u64, count: u64) -> Vec<Due> {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let blocks = (SIZE_BYTES - 2 * MARGIN) / BLOCK;
    let mut at = 0.0;
    let one = |_| {
        at += -dice.uniform().ln() * 1e6 / per_s as f64;
        (at as u64, MARGIN + dice.next() % blocks * BLOCK)
    };
    (0..count).map(one).collect()
}

fn as_csv(trace: &[Due]) -> String {
    let mut out = "queued_ns,issued_ns,completed_ns,op,offset_bytes,length_bytes,device,pid,\
                   process,cpu,error,flags\n"
        .to_owned();
    for (at, offset) in trace {
        writeln!(out, "{},,,read,{offset},{BLOCK},disk,0,,0,0,", at * 1000)
            .expect("memory takes it");
    }
    out
}

fn as_iolog(trace: &[Due], disk: &Path) -> String {
    let disk = disk.display();
    let mut out = format!("fio version 3 iolog\n0 {disk} add\n0 {disk} open\n");
    for (at, offset) in trace {
        writeln!(out, "{at} {disk} read {offset} {BLOCK}").expect("memory takes it");
    }
    let last = trace.last().map_or(0, |(at, _)| *at);
    writeln!(out, "{last} {disk} close").expect("memory takes it");
    out
}

fn replay_words(bench: &Bench, trace: &Path, disk: &Path) -> Vec<String> {
    let path = |p: &Path| p.display().to_string();
    let words = ["replay", &path(trace), "--json", "--no-keep", "--on", &path(disk)];
    std::iter::once(path(&bench.seekwell)).chain(words.map(str::to_owned)).collect()
}

fn fio_words(log: &Path) -> Vec<String> {
    let log = format!("--read_iolog={}", log.display());
    let words = ["fio", "--name=replay", "--ioengine=io_uring", "--iodepth=256", "--direct=1"];
    let words = words.into_iter().chain(["--readonly", "--output-format=json", &log]);
    words.map(str::to_owned).collect()
}

/// Plays it alone; what the program says of its own fidelity, with its CPU time beside it.
fn play(bench: &Bench, trace: &Path, disk: &Path) -> Result<Value, Failure> {
    let words = replay_words(bench, trace, disk);
    let text = process::output_of(Command::new(&words[0]).args(&words[1..]), &[0, 4])?;
    let document: Value = serde_json::from_slice(&text)?;
    let repeat = &document["phases"][0]["repeats"][0];
    let mut fidelity = repeat["fidelity"].clone();
    let cpu = number(repeat, "/cpu_user_ns") + number(repeat, "/cpu_system_ns");
    fidelity["cpu_ns"] = Value::from(cpu / number(&fidelity, "/issued"));
    Ok(fidelity)
}

/// Runs a command that plays the trace, recorded.
fn watched(
    bench: &Bench,
    words: &[String],
    disk: &Path,
    place: &Path,
    trace: &[Due],
) -> Result<Seen, Failure> {
    let (recorded, text) = (place.join("seen.parquet"), place.join("seen.csv"));
    let mut command = Command::new(&bench.seekwell);
    command.args(["record", "-o"]).arg(&recorded).arg(disk).arg("--").args(words);
    process::output_of(&mut command, &[0, 4])?;
    let mut command = Command::new(&bench.seekwell);
    process::output_of(command.args(["trace", "convert"]).arg(&recorded).arg(&text), &[0, 4])?;
    let seen = seen(trace, &fs::read_to_string(&text)?)?;
    fs::remove_file(&recorded)?;
    fs::remove_file(&text)?;
    Ok(seen)
}

/// Finds each request of the trace in the recording, by its place and its turn there.
fn seen(trace: &[Due], recording: &str) -> Result<Seen, Failure> {
    let mut due: HashMap<u64, VecDeque<u64>> = HashMap::new();
    for (at, offset) in trace {
        due.entry(*offset).or_default().push_back(at * 1000);
    }
    let mut found: Vec<(u64, u64)> = Vec::with_capacity(trace.len());
    for line in recording.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let field = |i: usize| fields.get(i).copied().unwrap_or("").parse::<u64>().ok();
        let (Some(at), Some(offset)) = (field(0).or(field(1)), field(4)) else { continue };
        if let Some(wanted) = due.get_mut(&offset).and_then(VecDeque::pop_front) {
            found.push((wanted, at));
        }
    }
    let base = found.iter().map(|(due, at)| at.wrapping_sub(*due).cast_signed()).min();
    let base = base.ok_or("the recording holds none of the requests")?;
    let late = |(due, at): &(u64, u64)| (at.wrapping_sub(*due).cast_signed() - base) as f64 / 1e3;
    let mut all: Vec<f64> = found.iter().map(late).collect();
    let (first, last) = (all[0], all[all.len() - 1]);
    let span = (found[found.len() - 1].0 - found[0].0).max(1) as f64 / 1e3;
    all.sort_by(f64::total_cmp);
    let quantile = |q: f64| all[((all.len() - 1) as f64 * q) as usize];
    Ok(Seen {
        p50_us: quantile(0.5),
        p99_us: quantile(0.99),
        drift_ppm: (last - first) / span * 1e6,
        missing: (trace.len() - found.len()) as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_what_a_request_is_later_than_the_least_late_one() {
        let trace = vec![(0, 8192), (100, 4096), (200, 8192), (300, 12288)];
        let recording = "head\n5000,,,read,8192,4096\n4000,,,read,99,4096\n\
                         107000,,,read,4096,4096\n205000,,,read,8192,4096\n";
        let got = seen(&trace, recording).unwrap();
        assert_eq!((got.p50_us, got.p99_us, got.missing), (0.0, 0.0, 1.0));
        assert_eq!(got.drift_ppm, 0.0);
        assert!(seen(&trace, "head\n").is_err());
    }

    #[test]
    fn the_trace_has_the_rate_it_should_and_keeps_off_the_ends() {
        let trace = trace(10_000, 20_000);
        let last = trace.last().unwrap().0;
        assert!((1_900_000..2_100_000).contains(&last), "{last}");
        assert!(trace.windows(2).all(|w| w[0].0 <= w[1].0));
        assert!(trace.iter().all(|(_, o)| *o >= MARGIN && o + BLOCK <= SIZE_BYTES - MARGIN));
        assert_eq!(as_csv(&trace).lines().count(), 20_001);
    }
}

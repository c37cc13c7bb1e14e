//! The live view beside biolatency, which counts in the kernel: the same histogram of the same
//! load, what each costs that load, and what each costs itself.

use super::Bench;
use super::import::children_cpu_s;
use crate::devices::Loop;
use crate::report::{Page, Row, Unit, Wanted};
use crate::{Failure, bench, process};
use seekwell_io::histogram::Histogram;
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;

const DISK_BYTES: u64 = 256 << 20;
const LOAD_S: u32 = 5;
/// Longer than the load, with time to begin before it.
const LOOK_S: u32 = 8;
const BEGIN: Duration = Duration::from_millis(1500);
/// Powers of two of microseconds.
const BUCKETS: usize = 32;

/// Counts of issue to completion, by power of two of microseconds.
type Buckets = [u64; BUCKETS];

/// Load and looker, in turn with the other and with nobody.
pub fn live(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    if let Err(error) = process::output(Command::new("biolatency").arg("--version")) {
        page.missing("live view beside biolatency", error);
        return Ok(());
    }
    let disk = Loop::in_memory(DISK_BYTES)?;
    let (mut alone, mut alike) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        alone.push(load(&disk)?);
        alike.push(both(bench, &disk)?);
    }
    let ours = || under(&mut ours(bench, &disk), &disk);
    let theirs = || under(&mut theirs(&disk), &disk);
    let (ours, theirs) = bench::in_turn(bench.rounds, &AtomicBool::new(false), ours, theirs)?;
    let side = |of: fn(&Cost) -> f64| {
        (ours.iter().map(of).collect::<Vec<_>>(), theirs.iter().map(of).collect::<Vec<_>>())
    };
    let per_s = Unit::Named("requests/s");
    let cost = Unit::Named("ns of CPU a request");
    let share = Unit::Named("%");
    page.rows.extend([
        Row::new("load that nobody looks at", per_s, alone, Wanted::Nothing),
        Row::beside(
            "load under `top`, beside biolatency",
            per_s,
            side(|cost| cost.per_s),
            Wanted::RatioAtLeast(1.0),
        ),
        Row::beside(
            "`top` itself, beside biolatency",
            cost,
            side(|cost| cost.own_ns),
            Wanted::RatioAtMost(1.0),
        ),
        Row::new(
            "requests in the same bucket of both histograms",
            share,
            alike,
            Wanted::AtLeast(98.0),
        ),
    ]);
    Ok(())
}

/// A load while somebody looked.
#[derive(Debug, Clone, Copy)]
struct Cost {
    per_s: f64,
    /// CPU time of who looked, for each request.
    own_ns: f64,
}

fn ours(bench: &Bench, disk: &Loop) -> Command {
    let mut command = Command::new(&bench.seekwell);
    command.args(["top", "--json", "--for", &format!("{LOOK_S}s")]).arg(&disk.node);
    command
}

fn theirs(disk: &Loop) -> Command {
    let mut command = Command::new("biolatency");
    let name = disk.node.file_name().unwrap_or_default();
    command.arg("-d").arg(name).args([&LOOK_S.to_string(), "1"]);
    command
}

fn begin(command: &mut Command) -> Result<Child, Failure> {
    Ok(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
}

fn end(child: Child) -> Result<String, Failure> {
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout)?);
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned().into())
}

/// Random reads at depth 4: requests a second.
fn load(disk: &Loop) -> Result<f64, Failure> {
    let mut fio = Command::new("fio");
    fio.args(["--name=load", "--readonly", "--rw=randread", "--bs=4k", "--direct=1"])
        .args(["--time_based", "--output-format=json", "--ioengine=libaio", "--iodepth=4"])
        .args([format!("--filename={}", disk.node.display()), format!("--runtime={LOAD_S}")]);
    let json = process::fio_json(&process::output(&mut fio)?)?;
    Ok(json["jobs"][0]["read"]["iops"].as_f64().ok_or("fio's JSON lacks a rate")?)
}

fn under(looker: &mut Command, disk: &Loop) -> Result<Cost, Failure> {
    let child = begin(looker)?;
    sleep(BEGIN);
    let per_s = load(disk)?;
    // fio has been waited for by now.
    let before = children_cpu_s();
    end(child)?;
    let own_s = children_cpu_s() - before;
    Ok(Cost { per_s, own_ns: own_s * 1e9 / (per_s * f64::from(LOAD_S)) })
}

/// Both look at one load: the share of requests that they put into the same bucket.
fn both(bench: &Bench, disk: &Loop) -> Result<f64, Failure> {
    let (ours, theirs) = (begin(&mut ours(bench, disk))?, begin(&mut theirs(disk))?);
    sleep(BEGIN);
    load(disk)?;
    let (ours, theirs) = (of_lines(&end(ours)?)?, of_text(&end(theirs)?));
    if theirs.iter().sum::<u64>() == 0 {
        return Err("biolatency saw no request".into());
    }
    let all = ours.iter().sum::<u64>().max(theirs.iter().sum()).max(1);
    let same: u64 = ours.iter().zip(&theirs).map(|(a, b)| a.min(b)).sum();
    Ok(100.0 * same as f64 / all as f64)
}

fn bucket(ns: u64) -> usize {
    ((ns / 1000).max(1).ilog2() as usize).min(BUCKETS - 1)
}

/// The histograms of all our lines.
fn of_lines(text: &str) -> Result<Buckets, Failure> {
    let mut buckets = [0; BUCKETS];
    for line in text.lines() {
        let interval: Value = serde_json::from_str(line)?;
        let disk = &interval["devices"][0];
        let histograms = disk["histograms"].as_array().ok_or("no histograms")?;
        let at_device = histograms.iter().filter(|h| h["span"] == "issue-to-complete");
        for pair in at_device.flat_map(|h| h["bins"].as_array().into_iter().flatten()) {
            let number = |i: usize| pair[i].as_u64().ok_or("a bin is two numbers");
            buckets[bucket(Histogram::middle_of(number(0)? as usize))] += number(1)?;
        }
    }
    Ok(buckets)
}

/// Theirs, of lines such as `16 -> 31 : 127 |****|`.
fn of_text(text: &str) -> Buckets {
    let mut buckets = [0; BUCKETS];
    for line in text.lines() {
        let mut words = line.split_whitespace();
        if let (Some(from), Some("->"), Some(_), Some(":"), Some(count)) =
            (words.next(), words.next(), words.next(), words.next(), words.next())
            && let (Ok(from), Ok(count)) = (from.parse::<u64>(), count.parse::<u64>())
        {
            buckets[bucket(from * 1000)] += count;
        }
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_histograms_have_the_same_buckets() {
        let text = "     usecs               : count    distribution\n         \
                    0 -> 1          : 5        |*   |\n        \
                    16 -> 31         : 127      |****|\n";
        let theirs = of_text(text);
        assert_eq!((theirs[0], theirs[4], theirs.iter().sum::<u64>()), (5, 127, 132));
        let bin = Histogram::bin_of(20_000);
        let line = format!(
            r#"{{"devices":[{{"histograms":[{{"span":"queue-to-complete","bins":[[1,9]]}},
            {{"span":"issue-to-complete","bins":[[900,5],[{bin},127]]}}]}}]}}"#
        );
        let ours = of_lines(&line.replace('\n', "")).unwrap();
        assert_eq!((ours[4], ours.iter().sum::<u64>()), (127, 132));
        assert!(of_lines("no").is_err());
    }
}

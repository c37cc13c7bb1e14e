//! The live view beside biolatency: the same histogram of the same load, what each costs that load,
//! and what each costs itself, in the kernel and out of it.

use super::Bench;
use super::import::children_cpu_s;
use crate::devices::Loop;
use crate::report::{Page, Row, Unit, Wanted};
use crate::{Failure, bench, process};
use seekwell_io::histogram::Histogram;
use serde_json::Value;
use std::fs;
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

/// Makes the kernel measure how long programs of BPF run; that costs the load, so rates are
/// measured without it.
const STATISTICS: &str = "/proc/sys/kernel/bpf_stats_enabled";

/// Who looks at the load.
#[derive(Clone, Copy)]
enum Looker {
    Counts,
    Events,
    Biolatency,
}

impl Looker {
    fn command(self, bench: &Bench, disk: &Loop) -> Command {
        let time = format!("{LOOK_S}s");
        let mut command = match self {
            Self::Biolatency => Command::new("biolatency"),
            Self::Counts | Self::Events => Command::new(&bench.seekwell),
        };
        match self {
            Self::Counts => command.args(["top", "--json", "--for", &time]).arg(&disk.node),
            Self::Events => {
                command.args(["top", "--json", "--via", "tracefs", "--for", &time]).arg(&disk.node)
            }
            Self::Biolatency => {
                let name = disk.node.file_name().unwrap_or_default();
                command.arg("-d").arg(name).args([&LOOK_S.to_string(), "1"])
            }
        };
        command
    }
}

/// Load and looker, in turn with the load alone.
pub fn live(bench: &Bench, page: &mut Page) -> Result<(), Failure> {
    if let Err(error) = process::output(Command::new("biolatency").arg("--version")) {
        page.missing("live view beside biolatency", error);
        return Ok(());
    }
    let disk = Loop::in_memory(DISK_BYTES)?;
    let per_s = Unit::Named("requests/s");
    let share = Unit::Named("%");
    let beside_alone = |looker: Looker| {
        let under = || under(&mut looker.command(bench, &disk), &disk).map(|cost| cost.per_s);
        let alone = || load(&disk).map(|load| load.per_s);
        bench::in_turn(bench.rounds, &AtomicBool::new(false), under, alone)
    };
    for (what, looker, wanted) in [
        ("load under `top`, beside the load alone", Looker::Counts, Wanted::RatioAtLeast(0.98)),
        ("load under `top` by events, beside the load alone", Looker::Events, Wanted::Nothing),
        ("load under biolatency, beside the load alone", Looker::Biolatency, Wanted::Nothing),
    ] {
        page.rows.push(Row::beside(what, per_s, beside_alone(looker)?, wanted));
    }
    let statistics = Statistics::on()?;
    let own =
        |looker: Looker| under(&mut looker.command(bench, &disk), &disk).map(|cost| cost.own_ns);
    for (what, looker, wanted) in [
        ("`top` itself, beside biolatency", Looker::Counts, Wanted::RatioAtMost(2.0)),
        ("`top` by events itself, beside biolatency", Looker::Events, Wanted::Nothing),
    ] {
        let never = AtomicBool::new(false);
        let side = bench::in_turn(bench.rounds, &never, || own(looker), || own(Looker::Biolatency));
        page.rows.push(Row::beside(what, Unit::Named("ns of CPU a request"), side?, wanted));
    }
    drop(statistics);
    let (mut alike, mut counted) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        let both = both(bench, &disk)?;
        alike.push(both.alike);
        counted.push(both.counted);
    }
    page.rows.extend([
        Row::new(
            "requests in the same bucket of both histograms",
            share,
            alike,
            Wanted::AtLeast(98.0),
        ),
        Row::new("fio's requests that `top` counts", share, counted, Wanted::AtLeast(99.9)),
    ]);
    Ok(())
}

/// A load while somebody looked.
#[derive(Debug, Clone, Copy)]
struct Cost {
    per_s: f64,
    /// CPU time of who looked, and of its programs in the kernel, for each request.
    own_ns: f64,
}

/// The kernel measures programs while this lives.
struct Statistics;

impl Statistics {
    fn on() -> Result<Self, Failure> {
        fs::write(STATISTICS, "1")?;
        Ok(Self)
    }
}

impl Drop for Statistics {
    fn drop(&mut self) {
        let _ = fs::write(STATISTICS, "0");
    }
}

/// How long the programs of a process have run, in nanoseconds; 0 if that is not measured.
fn programs_ns(child: &Child) -> Result<u64, Failure> {
    let mut sum = 0;
    for file in fs::read_dir(format!("/proc/{}/fdinfo", child.id()))? {
        let told = fs::read_to_string(file?.path()).unwrap_or_default();
        let ran = told.lines().find_map(|line| line.strip_prefix("run_time_ns:"));
        sum += ran.map_or(Ok(0), |ran| ran.trim().parse::<u64>())?;
    }
    Ok(sum)
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

/// What fio did.
struct Load {
    per_s: f64,
    requests: f64,
}

/// Random reads at depth 32.
fn load(disk: &Loop) -> Result<Load, Failure> {
    let mut fio = Command::new("fio");
    fio.args(["--name=load", "--readonly", "--rw=randread", "--bs=4k", "--direct=1"])
        .args(["--time_based", "--output-format=json", "--ioengine=libaio", "--iodepth=32"])
        .args([format!("--filename={}", disk.node.display()), format!("--runtime={LOAD_S}")]);
    let json = process::fio_json(&process::output(&mut fio)?)?;
    let number = |key| json["jobs"][0]["read"][key].as_f64().ok_or("fio's JSON lacks a rate");
    Ok(Load { per_s: number("iops")?, requests: number("total_ios")? })
}

fn under(looker: &mut Command, disk: &Loop) -> Result<Cost, Failure> {
    let child = begin(looker)?;
    sleep(BEGIN);
    let Load { per_s, requests } = load(disk)?;
    let in_kernel = programs_ns(&child)? as f64;
    // fio has been waited for by now.
    let before = children_cpu_s();
    end(child)?;
    let own_s = children_cpu_s() - before;
    Ok(Cost { per_s, own_ns: (own_s * 1e9 + in_kernel) / requests })
}

/// Of one load that both look at, in percent.
struct Both {
    /// Requests that they put into the same bucket.
    alike: f64,
    /// Requests that we count, at most all.
    counted: f64,
}

fn both(bench: &Bench, disk: &Loop) -> Result<Both, Failure> {
    let begin = |looker: Looker| begin(&mut looker.command(bench, disk));
    let (ours, theirs) = (begin(Looker::Counts)?, begin(Looker::Biolatency)?);
    sleep(BEGIN);
    let load = load(disk)?;
    let (ours, theirs) = (of_lines(&end(ours)?)?, of_text(&end(theirs)?));
    if theirs.iter().sum::<u64>() == 0 {
        return Err("biolatency saw no request".into());
    }
    let counted = ours.iter().sum::<u64>();
    let all = counted.max(theirs.iter().sum()).max(1);
    let same: u64 = ours.iter().zip(&theirs).map(|(a, b)| a.min(b)).sum();
    let counted = 100.0 * (counted as f64 / load.requests).min(1.0);
    Ok(Both { alike: 100.0 * same as f64 / all as f64, counted })
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

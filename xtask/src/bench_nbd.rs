//! `cargo xtask bench-nbd`: modelled machines served over NBD, under fio, beside the same machines
//! in their own time (`bench --on`); and as disks of a guest of the lab (`--guest`).

use crate::report::{Page, Row, Unit, Wanted};
use crate::serve::Served;
use crate::{Failure, bench, lab, process};
use seekwell_runs::read;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    common: bench::Common,
    /// How often each is measured; the median counts.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Measure in a guest of the lab instead, with files and SQLite on the modelled disks.
    #[arg(long)]
    guest: bool,
    /// Seconds each run measures.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=60))]
    seconds: u32,
}

/// Machines that ship, and whether this host is to keep up with them.
const MACHINES: [(&str, bool); 3] =
    [("pii350-default", true), ("p4sbe-ich8-ahci", true), ("nvme-ssd", false)];

/// What each is measured at: a name, and options that fio and seekwell read alike.
const WORKLOADS: [(&str, [&str; 4]); 4] = [
    ("4 KiB random reads, depth 1", ["--rw=randread", "--bs=4k", "--iodepth=1", "--fsync=0"]),
    ("4 KiB random reads, depth 32", ["--rw=randread", "--bs=4k", "--iodepth=32", "--fsync=0"]),
    ("64 KiB sequential reads, depth 4", ["--rw=read", "--bs=64k", "--iodepth=4", "--fsync=0"]),
    (
        "4 KiB random writes, each flushed",
        ["--rw=randwrite", "--bs=4k", "--iodepth=1", "--fsync=1"],
    ),
];

/// How far a machine that is served may be off.
const WITHIN: Wanted = Wanted::RatioWithin(0.1);

/// Measures, prints the table and writes it. Fails where a promise is not kept.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let stop = bench::stop_flag()?;
    let seekwell = args.common.program()?;
    if args.guest {
        return in_guest(args, &seekwell, &stop);
    }
    let mut page = Page::of(&seekwell, "bench --on")?;
    page.fact("fio", process::first_line(Command::new("fio").arg("--version")));
    let dir = tempfile::tempdir()?;
    let log = std::fs::File::create(dir.path().join("log"))?;
    for (machine, keeps_up) in MACHINES {
        let socket = dir.path().join("disk.nbd");
        let served = Served::start(&seekwell, machine, &socket, &[], &log)?;
        for (what, options) in &WORKLOADS {
            let rates = bench::in_turn(
                args.rounds,
                &stop,
                || fio(&served.uri(), options, args.seconds),
                || direct(&seekwell, machine, options, args.seconds),
            )?;
            let wanted = if keeps_up { WITHIN } else { Wanted::Nothing };
            let what = format!("{machine}: {what}");
            page.rows.push(Row::beside(what, Unit::PerSecond, rates, wanted));
        }
    }
    page.finish(args.common.out.as_deref(), "nbd", "Modelled machines served over NBD", &how(args))
}

/// Scenarios of the lab that print rows, the machine of each, and whether the guest keeps up.
const GUESTS: [(&str, &str, bool); 3] = [
    ("nbd-pii350", "pii350-default", true),
    ("nbd-p4sbe", "p4sbe-ich8-ahci", true),
    ("nbd-pm9a3", "pm9a3-960", false),
];

/// Measures in guests, whose rows are `row WHAT HERE MODEL`, rates, and `time WHAT SECONDS`.
fn in_guest(args: &Args, seekwell: &Path, stop: &Arc<AtomicBool>) -> Result<ExitCode, Failure> {
    let mut page = Page::of(seekwell, "model")?;
    page.fact("QEMU", process::first_line(Command::new("qemu-system-x86_64").arg("--version")));
    for (scenario, machine, keeps_up) in GUESTS {
        let mut rows: Vec<Row> = Vec::new();
        for _ in 0..args.rounds {
            for line in lab::printed(scenario, seekwell, stop)?.lines() {
                let fields: Vec<&str> = line.split('\t').collect();
                let row = match fields[..] {
                    ["row", what, here, model] => {
                        let rates = (vec![here.parse()?], vec![model.parse()?]);
                        let wanted = if keeps_up { WITHIN } else { Wanted::Nothing };
                        Row::beside(format!("{machine}: {what}"), Unit::PerSecond, rates, wanted)
                    }
                    ["time", what, seconds] => {
                        let ns = vec![seconds.parse::<f64>()? * 1e9];
                        Row::new(format!("{machine}: {what}"), Unit::Ns, ns, Wanted::Nothing)
                    }
                    _ => continue,
                };
                match rows.iter_mut().find(|r| r.what == row.what) {
                    Some(earlier) => earlier.add(row),
                    None => rows.push(row),
                }
            }
        }
        page.rows.extend(rows);
    }
    page.finish(
        args.common.out.as_deref(),
        "nbd-guest",
        "Modelled disks of a guest",
        &how_guest(args),
    )
}

fn how_guest(args: &Args) -> String {
    format!(
        "Made by `cargo xtask bench-nbd --guest` from the lab's scenarios `nbd-pii350`, \
         `nbd-p4sbe` and `nbd-pm9a3` (docs/lab.md); rounds: {}. A guest with one processor, \
         emulated in software, boots from a modelled disk that `seekwell machine serve` serves, \
         and works on a second one. Left, rates a second as the guest sees them. Beside them, \
         jobs of random and sequential requests by `seekwell bench --on` of the same machine \
         with the same options; file systems and SQLite by the requests that `seekwell record` \
         saw in the guest, replayed on the machine, each after those it waited for and the \
         guest's own time between them (`replay --mode dependent`). mkfs counts runs, files are \
         counted, insertions are transactions. The boot lasts until the program, sqlite3 and \
         mkfs.ext4 have been started from the disk. On the NVMe drive the emulated processor is \
         the limit.",
        args.rounds
    )
}

fn how(args: &Args) -> String {
    format!(
        "Made by `cargo xtask bench-nbd`: {} rounds of {} s. Left, fio's nbd engine on `seekwell \
         machine serve` over a Unix socket, client and server on this host, in real time. Beside \
         it `seekwell bench --on` with the same options, on the model's own clock. Requests a \
         second. The last machine is faster than client and server on two processors can be.",
        args.rounds, args.seconds
    )
}

/// Reads and writes a second of fio on a machine that is served.
fn fio(uri: &str, options: &[&str], seconds: u32) -> Result<f64, Failure> {
    let mut command = Command::new("fio");
    command.args(["--name=nbd", "--ioengine=nbd", "--time_based", "--output-format=json"]);
    command.arg(format!("--uri={uri}")).arg(format!("--runtime={seconds}")).args(options);
    let told = process::fio_json(&process::output(&mut command)?)?;
    let rate = |op: &str| told["jobs"][0][op]["iops"].as_f64().ok_or("fio told no rate");
    Ok(rate("read")? + rate("write")?)
}

/// The same of the machine in its own time.
fn direct(seekwell: &Path, machine: &str, options: &[&str], seconds: u32) -> Result<f64, Failure> {
    let mut command = Command::new(seekwell);
    command.args(["bench", "--no-keep", "--json", "--on", &format!("{machine}.toml")]);
    command.arg(format!("--runtime={seconds}s")).args(options);
    let run = read::run(&process::output(&mut command)?, Path::new("seekwell bench --json"))?;
    let phase = run.phases.first().ok_or("seekwell measured no phase")?;
    let rates = ["read.requests_per_s", "write.requests_per_s"].map(|name| phase.median(name));
    Ok(rates.into_iter().flatten().sum())
}

//! `cargo xtask bench-nbd`: modelled machines served over NBD, under fio, beside the same machines
//! in their own time (`bench --on`).

use crate::report::{Page, Row, Unit, Wanted};
use crate::serve::Served;
use crate::{Failure, bench, process};
use seekwell_runs::read;
use std::path::Path;
use std::process::{Command, ExitCode};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    common: bench::Common,
    /// How often each is measured; the median counts.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Seconds each run measures.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=60))]
    seconds: u32,
}

/// Machines that ship, and whether this host is to keep up with them.
const MACHINES: [(&str, bool); 3] =
    [("pii350-default", true), ("p4sbe-ich8-ahci", true), ("nvme-ssd", false)];

/// What is asked of each: a name, and options that fio and seekwell read alike.
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
const MARGIN: f64 = 0.1;

/// Measures, prints the table and writes it. Fails where a promise is not kept.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let stop = bench::stop_flag()?;
    let seekwell = args.common.program()?;
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
            let wanted = if keeps_up { Wanted::RatioWithin(MARGIN) } else { Wanted::Nothing };
            let what = format!("{machine}: {what}");
            page.rows.push(Row::beside(what, Unit::PerSecond, rates, wanted));
        }
    }
    page.finish(args.common.out.as_deref(), "nbd", "Modelled machines served over NBD", &how(args))
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

//! `seekwell machine`.

use super::trace::Reading;
use super::{Destroy, Force, Keep, values};
use clap::{Args, Subcommand, ValueHint};
use seekwell_io::units::Nanos;
use seekwell_machine::plan::Limit;
use seekwell_machine::what_if::FASTER;
use seekwell_nbd::{Fault, Place};
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// What is shown below the options.
pub const EXAMPLES: &str = "\
Examples:
  seekwell machine list                              which machines are built in
  seekwell machine show p4sbe-ich8-ahci              its layers, and where every value is from
  seekwell bench --on p4sbe-ich8-ahci --set controller.kind=ide
                                                     the same machine in another mode
  seekwell machine check mine.toml                   what is wrong with a description, and where
  seekwell machine import atlas10k.parv -o atlas.toml
  seekwell machine validate atlas.toml --trace atlas10k.trace
  seekwell machine validate synthraid5.parv          a whole system under its own workload
  seekwell machine serve pii350-default --nbd 127.0.0.1:10809
                                                     its disk for a virtual machine, in real time
  seekwell machine fit last -o mine.toml             a model of the disk of the last checkup, then
  seekwell bench --on mine.toml --rw=randread --iodepth=32 --set controller.part=ide
  seekwell machine plan sata-ssd nvme-ssd --workload web-light --limit p99=5ms
                                                     which of them sustains the load, and how much
  seekwell machine limits sata-ssd randread,iodepth=4 --set link.speed=1.5Gbps
                                                     which of its parts the load waits for";

/// `seekwell machine`.
#[derive(Debug, Args)]
pub struct Machine {
    /// What to do.
    #[command(subcommand)]
    pub command: MachineCommand,
}

/// What to do with descriptions of machines.
#[derive(Debug, Subcommand)]
pub enum MachineCommand {
    /// List the built-in machines and parts
    List,
    /// Show a machine's layers and parameters, with the source of each
    Show(Described),
    /// Validate descriptions; for errors, name the line, the key and the remedy
    Check(Check),
    /// Import a drive from a DiskSim parameter file
    Import(Import),
    /// Replay measured requests on a machine and compare its service times with the measured ones
    ///
    /// The next request is issued the recorded think time after the modelled end of the one before.
    /// Prints means, percentiles and the demerit figure of Ruemmler and Wilkes: the root mean
    /// square of the horizontal distance between the two distributions of service times.
    ///
    /// Without a trace, FILE.parv is a whole system of DiskSim, which runs its own synthetic
    /// workload: response times of requests, of accesses to devices, and by device.
    Validate(Validate),
    /// Fit a model to a checkup of a disk
    ///
    /// Fits a hard drive, or a drive of which only its speed is known, to the curve of random reads
    /// over depth, sequential rates, mixes and commits, and says by how much each phase is missed.
    /// What is then modelled with it is shown with a range as wide as that. A thorough checkup has
    /// the most depths; three are the least.
    Fit(Fit),
    /// Serve a machine as a block device by the NBD protocol, in real time
    ///
    /// QEMU, nbd-client and other clients read and write it like any disk, and every request is
    /// answered when the model says. Where this host cannot keep up, it says so. Ctrl-C ends it and
    /// prints what was served and how late it was.
    ///
    /// What was written and not flushed is volatile: a power cut (--fault) closes all connections
    /// and keeps a random part of it, sector by sector.
    Serve(Serve),
    /// Find the highest load each machine sustains within limits
    ///
    /// Scales the load (a trace and a rate by a factor, a closed loop by its depth) until a limit
    /// is no longer kept or requests come faster than they are served. Prints for each machine
    /// whether it keeps the limits under the load as given, what it gives there, and the highest
    /// load at which it does.
    /// Machines are modelled at the same time on all processors.
    Plan(Plan),
    /// Show what limits loads on a machine, by making each of its stations faster in turn
    ///
    /// A station is what a request passes and may wait for: link, bus, controller, processor,
    /// mechanics and so on. Each is made 10 % faster (or larger, where it is room), then there are
    /// twice the tags, then twice as many requests outstanding. How much of that the rate follows
    /// is the elasticity: 1 all of it, 0 nothing.
    Limits(Limits),
}

/// `seekwell machine limits`.
#[derive(Debug, Args)]
pub struct Limits {
    /// The machine and its parameters.
    #[command(flatten)]
    pub machine: Described,
    /// Jobs in one word each: randread,iodepth=32; the phases of a quick checkup without any
    #[arg(value_name = "JOB")]
    pub jobs: Vec<String>,
    /// How many times as fast each station is made: 1.1 shows what limits, more shows what can be
    /// gained
    #[arg(long, value_name = "TIMES", default_value_t = FASTER, value_parser = times)]
    pub faster: f64,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

fn times(word: &str) -> Result<f64, String> {
    let times: f64 = word.parse().map_err(|_| "a number is needed, such as 1.1")?;
    let fits = (1.001..=1e6).contains(&times);
    fits.then_some(times).ok_or_else(|| "1.001 to 1000000 is possible".to_owned())
}

/// `seekwell machine serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// The machine and its parameters.
    #[command(flatten)]
    pub machine: Described,
    /// Where to listen for clients of the NBD protocol: HOST:PORT (port 0: any free one) or
    /// unix:PATH
    #[arg(long, value_name = "ADDRESS")]
    pub nbd: Place,
    /// Keep the data in this sparse file instead of memory; it is made, or was made by an earlier
    /// server of a machine of the same size
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub data: Option<PathBuf>,
    /// Memory for the data; writes that do not fit fail with ENOSPC
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "1g",
        value_parser = values::size,
        conflicts_with = "data"
    )]
    pub memory: u64,
    /// Inject a fault: error=OFFSET+LENGTH, slow=OFFSET+LENGTH:TIME, hang=AT:TIME, power-cut=TIME
    /// or power-cut=COUNTwrites; times count from the start. Can be given several times
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<Fault>,
    /// How long the power stays off after a cut
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = values::duration)]
    pub down: Nanos,
    /// Complete flushes and FUA writes without making anything durable
    #[arg(long)]
    pub lie_about_flush: bool,
    /// Seed of the machine and of what a power cut takes
    #[arg(long, default_value_t = 1)]
    pub seed: u32,
}

/// `seekwell machine plan`.
#[derive(Debug, Args)]
pub struct Plan {
    /// .toml files, or the names of built-in machines
    #[arg(required = true, value_name = "MACHINE", value_hint = ValueHint::FilePath)]
    pub machines: Vec<PathBuf>,
    /// A trace (a file, or the name of a built-in one), or a job in one word:
    /// randrw,rwmixread=70,iodepth=64,rate_iops=5000
    ///
    /// A trace is played at its recorded times, all its devices on one machine. A job with
    /// `rate_iops` is scaled by its rate and keeps at most `iodepth` requests outstanding, one
    /// without by `iodepth`.
    #[arg(long, value_name = "TRACE|JOB")]
    pub workload: String,
    /// What has to be kept: p99=5ms, also mean, p50, p90, p99.9, p99.99; iops=5000 is the least
    /// rate. May be given several times
    #[arg(long, value_name = "FIGURE=BOUND", required = true)]
    pub limit: Vec<Limit>,
    /// Change a parameter of every machine
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::pair)]
    pub set: Vec<(String, String)>,
    /// Try each machine with each of several values: host.openings=16,32,64
    ///
    /// May be given several times; then all combinations are tried.
    #[arg(long, value_name = "KEY=VALUES")]
    pub sweep: Vec<String>,
    /// What a machine costs, in any unit: sata-ssd=90. The table then has the price of 1,000
    /// requests a second within the limits
    #[arg(long, value_name = "MACHINE=PRICE", value_parser = price)]
    pub price: Vec<(String, f64)>,
    /// Requests of a job that are modelled at each load
    #[arg(
        long, value_name = "N", default_value_t = 20_000,
        value_parser = clap::value_parser!(u64).range(100..=100_000_000)
    )]
    pub requests: u64,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How a trace is read.
    #[command(flatten)]
    pub reading: Reading,
    /// Write the plan as one page to this file
    #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
}

/// `sata-ssd=90`.
fn price(text: &str) -> Result<(String, f64), String> {
    let found = text.rsplit_once('=').and_then(|(name, price)| {
        let price: f64 = price.parse().ok()?;
        (!name.is_empty() && price >= 0.0 && price.is_finite()).then(|| (name.to_owned(), price))
    });
    found.ok_or_else(|| format!("{text:?} is no price; one looks like sata-ssd=90"))
}

/// `seekwell machine fit`.
#[derive(Debug, Args)]
pub struct Fit {
    /// Saved runs of one disk, a checkup first: run ID, unique prefix, bundle directory, or `last`
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// The description to write
    #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// Fit to these depths only, and report how well the others are predicted
    #[arg(long, value_name = "FROM..TO", default_value = "1..65536", value_parser = depths)]
    pub on_depths: RangeInclusive<u32>,
    /// Measure what the fit knows least about, fit again, and so on; without a target, print the
    /// command that would
    ///
    /// TARGET is the disk of the runs. Reads only, unless the runs have writes; then TARGET must be
    /// a directory, or a device that --destroy names. Ends when no job's range is wider than 15 %.
    #[arg(long, value_name = "TARGET", num_args = 0..=1, value_hint = ValueHint::AnyPath)]
    pub measure: Option<Option<PathBuf>>,
    /// With --measure: the most measurements, of 12 s each
    #[arg(long, value_name = "N", default_value_t = 6, requires = "measure")]
    pub at_most: u32,
    /// What may be overwritten.
    #[command(flatten)]
    pub destroy: Destroy,
    /// How the measurements are kept.
    #[command(flatten)]
    pub keep: Keep,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
}

/// A range of depths, both ends included: `1..8`.
fn depths(text: &str) -> Result<RangeInclusive<u32>, String> {
    let ends = text.split_once("..").and_then(|(from, to)| {
        Some((from.trim().parse().ok()?, to.trim_start_matches('=').trim().parse().ok()?))
    });
    match ends {
        Some((from, to)) if from <= to => Ok(from..=to),
        _ => Err(format!("{text:?} is no range of depths; one looks like 1..8")),
    }
}

/// A description.
#[derive(Debug, Args)]
pub struct Described {
    /// A .toml file, or the name of a built-in machine
    #[arg(value_hint = ValueHint::FilePath)]
    pub machine: PathBuf,
    /// Change a parameter: controller.kind=ide, host.tags=split
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::pair)]
    pub set: Vec<(String, String)>,
}

/// `seekwell machine check`.
#[derive(Debug, Args)]
pub struct Check {
    /// Descriptions
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub machines: Vec<PathBuf>,
    /// Change a parameter before checking
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::pair)]
    pub set: Vec<(String, String)>,
}

/// `seekwell machine import`.
#[derive(Debug, Args)]
pub struct Import {
    /// A parameter file of DiskSim (.parv), with those it names beside it
    #[arg(value_hint = ValueHint::FilePath)]
    pub parv: PathBuf,
    /// The description to write
    #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
}

/// `seekwell machine validate`.
#[derive(Debug, Args)]
#[command(mut_group("Reading", |reading| reading.requires("trace")))]
pub struct Validate {
    /// A .toml file, or the name of a built-in machine; without a trace a parameter file of
    /// DiskSim (.parv), with those it names beside it
    #[arg(value_hint = ValueHint::FilePath)]
    pub machine: PathBuf,
    /// A trace with the time each request was issued and done
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub trace: Option<PathBuf>,
    /// How the trace is read.
    #[command(flatten)]
    pub reading: Reading,
    /// Change a parameter first
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::pair, requires = "trace")]
    pub set: Vec<(String, String)>,
    /// Write each request with its measured and its modelled time to FILE, as comma-separated text
    #[arg(long, value_name = "FILE", requires = "trace", value_hint = ValueHint::FilePath)]
    pub per_request: Option<PathBuf>,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
    /// Seed of all random choices; 1 or the parameter file's if not given
    #[arg(long)]
    pub seed: Option<u32>,
}

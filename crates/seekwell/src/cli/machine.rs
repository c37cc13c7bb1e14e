//! `seekwell machine`.

use super::trace::Reading;
use super::{Force, values};
use clap::{Args, Subcommand, ValueHint};
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// What is shown below the options.
pub const EXAMPLES: &str = "\
Examples:
  seekwell machine list                              which machines are built in
  seekwell machine show p4sbe-ich8-ahci.toml         its layers, and where every value is from
  seekwell bench --on p4sbe-ich8-ahci.toml --set controller.kind=ide
                                                     the same machine in another mode
  seekwell machine check mine.toml                   what is wrong with a description, and where
  seekwell machine import atlas10k.parv -o atlas.toml
  seekwell machine validate atlas.toml --trace atlas10k.trace
  seekwell machine validate synthraid5.parv          a whole system under its own workload
  seekwell machine fit last -o mine.toml             a model of the disk of the last checkup, then
  seekwell bench --on mine.toml --rw=randread --iodepth=32 --set controller.part=ide";

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
}

/// `seekwell machine fit`.
#[derive(Debug, Args)]
pub struct Fit {
    /// A saved run of this disk: run ID, unique prefix, bundle directory, or `last`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The description to write
    #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// Fit to these depths only, and report how well the others are predicted
    #[arg(long, value_name = "FROM..TO", default_value = "1..65536", value_parser = depths)]
    pub on_depths: RangeInclusive<u32>,
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

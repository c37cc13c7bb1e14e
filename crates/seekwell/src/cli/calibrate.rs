//! `seekwell calibrate`.

use super::{Force, Repeated, values};
use clap::{Args, ValueHint};
use seekwell_io::units::Nanos;
use std::path::PathBuf;

/// What is shown below the options.
pub const EXAMPLES: &str = "\
Examples:
  seekwell calibrate                                    list the programs
  seekwell calibrate --for scylla --on /var/lib/scylla --out /etc/scylla.d/io_properties.yaml
  seekwell calibrate --for ceph --on /dev/sdX --destroy SERIAL
  seekwell calibrate --for ceph --on volume-gp2         would burst credits mislead it? (modelled)
  seekwell calibrate --for scylla --show                the jobs, the program's own method, sources

A calibration of your own is a TOML file as in calibrations/ of the source tree: title, sources,
job (in fio's language), [[quantity]] tables with name, job, metric (as in `metrics` of the run
document) and first (the part of a run that the program measures), and text with {name} where a
number goes.

Exit status: 0 if all numbers are known, 1 if one is not, 4 if the measurement is not valid.";

/// `seekwell calibrate`.
#[derive(Debug, Args)]
pub struct Calibrate {
    /// The program, or the TOML file of a calibration; without it, the programs are listed
    #[arg(long = "for", value_name = "PROGRAM", value_hint = ValueHint::FilePath)]
    pub program: Option<PathBuf>,
    /// A directory, block device or file, or the .toml description of a modelled machine
    #[arg(long, value_name = "TARGET", default_value = ".", value_hint = ValueHint::AnyPath)]
    pub on: PathBuf,
    /// Print the jobs, the program's own method and the sources, without running anything
    #[arg(long, requires = "program")]
    pub show: bool,
    /// Write what the program reads to this file, once all its numbers are known
    #[arg(long, value_name = "FILE", requires = "program", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// What is done with that file if it exists.
    #[command(flatten)]
    pub replace: Force,
    /// How long each job runs, instead of what the calibration says
    ///
    /// A modelled volume with burst credits is run until these are spent all the same.
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub runtime: Option<Nanos>,
    /// Size of each job's file, or of the part of the target used, instead of what it says
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub size: Option<u64>,
    /// How it is repeated, kept, and what may be overwritten.
    #[command(flatten)]
    pub repeated: Repeated,
}

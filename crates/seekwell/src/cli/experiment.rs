//! `seekwell experiment`.

use super::tune::RiskClass;
use super::workload::Workload;
use super::{Destroy, Expect, Force, expect, margin, values};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use seekwell_io::units::Nanos;
use seekwell_stats::Margin;
use std::path::PathBuf;

pub(super) const EXAMPLES: &str = "\
Examples:
  seekwell experiment --on . --a iodepth=1 --b iodepth=32
  seekwell experiment --on /dev/sdb --a scheduler=none --b scheduler=mq-deadline --runtime=10s
  seekwell experiment --on /srv --b-cmd 'mount -o remount,noatime /srv' \\
                      --a-cmd 'mount -o remount,atime,relatime /srv' --expect faster
  seekwell experiment --on /dev/sda --reboot-between \\
                      --a-mode 'AHCI in the BIOS' --b-mode 'IDE in the BIOS'
  seekwell experiment --on . --aa        how noisy is this machine?
  seekwell experiment resume             continue after Ctrl-C, a crash or a reboot

Keys of --a and --b: rw, bs, iodepth, numjobs, direct, engine, tags (or host.tags: none, N,
POLICY or POLICY:N), rwmixread, rate_iops, rate_process, random_distribution, fsync; and every
setting of `seekwell tune`.

Exit status: 0 decided; 1 undecided, the --expect claim does not hold, or waiting for a reboot;
4 invalid; 5 a setting could not be put back; 130 interrupted, all put back.";

/// `seekwell experiment`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Experiment {
    /// Going on with an experiment.
    #[command(subcommand)]
    pub command: Option<ExperimentCommand>,
    /// A directory, file or block device, or `null` for the engine itself
    #[arg(long, value_name = "TARGET", required = true, value_hint = ValueHint::AnyPath)]
    pub on: Option<PathBuf>,
    /// What arm A has: options of the workload or settings of the disk
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub a: Vec<String>,
    /// What arm B has
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub b: Vec<String>,
    /// Allow settings that may hang the disk (C) or lose data (D)
    #[arg(long, value_name = "CLASS", ignore_case = true)]
    pub allow_risk: Option<RiskClass>,
    /// A shell command run before each run of A; if it fails, the experiment ends as invalid
    #[arg(long, value_name = "COMMAND")]
    pub a_cmd: Option<String>,
    /// A shell command run before each run of B
    #[arg(long, value_name = "COMMAND")]
    pub b_cmd: Option<String>,
    /// The arms need a reboot in between; name them with --a-mode and --b-mode
    ///
    /// Each block has one run per mode; consecutive runs in one mode share a boot. After each boot
    /// `seekwell experiment resume` continues and names the next mode.
    #[arg(long, requires_all = ["a_mode", "b_mode"], conflicts_with = "aa")]
    pub reboot_between: bool,
    /// What to set by hand for A, such as `AHCI in the BIOS`
    #[arg(long, value_name = "TEXT", requires = "reboot_between")]
    pub a_mode: Option<String>,
    /// What to set by hand for B
    #[arg(long, value_name = "TEXT", requires = "reboot_between")]
    pub b_mode: Option<String>,
    /// The mode the machine is in now
    #[arg(long, value_name = "ARM", default_value = "a", requires = "reboot_between")]
    pub now_in: Letter,
    /// Use the same configuration for both arms, to learn how noisy the machine is
    #[arg(long, conflicts_with_all = ["b", "b_cmd", "expect"])]
    pub aa: bool,
    /// Primary metric [default: requests per second of the dominant operation]
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,
    /// The smallest difference that matters [default: 2%, 5% for the 99th percentile and beyond]
    #[arg(long, value_name = "PERCENT", value_parser = margin)]
    pub margin: Option<Margin>,
    /// Fixed number of blocks [default: 10 to 40, from the noise of the first 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(8..=40))]
    pub blocks: Option<u32>,
    /// Blocks of two runs instead of four, for expensive runs
    #[arg(long)]
    pub pairs: bool,
    /// Pause before every run, after the arm was applied
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = values::duration)]
    pub settle: Nanos,
    /// Random seed of the order and of all requests [default: random]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Exit with 1 unless this is shown: faster, slower, equivalent, equivalent:3%
    #[arg(long, value_name = "CLAIM", value_parser = expect)]
    pub expect: Option<Expect>,
    /// Write the result as one page to this file
    #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
    /// The workload of both arms.
    #[command(flatten)]
    pub workload: Workload,
    /// What may be overwritten.
    #[command(flatten)]
    pub destroy: Destroy,
}

/// An arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Letter {
    /// The baseline
    A,
    /// What is compared with it
    B,
}

/// What can be done with an experiment that was begun.
#[derive(Debug, Subcommand)]
pub enum ExperimentCommand {
    /// Continue an interrupted experiment
    Resume {
        /// Identifier, unique beginning or last four digits of one, a file, or `last` [default: the
        /// newest that can go on]
        experiment: Option<String>,
        /// Write the result as one page to this file; of one that is at its end, too
        #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
        /// What is done with a file that exists.
        #[command(flatten)]
        replace: Force,
    },
}

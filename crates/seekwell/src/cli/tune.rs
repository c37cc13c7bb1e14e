//! `seekwell tune`: what can be typed.

use super::{Destroy, margin, values};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use seekwell_io::units::Nanos;
use seekwell_run::tuning::Goal;
use seekwell_stats::Margin;
use seekwell_tune::setting::Risk;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  seekwell tune plan /dev/sda                     what could be changed, and what is worth a try?
  seekwell tune try /dev/sda scheduler=none nr_requests=256
  seekwell tune try /dev/sda --for 10m -- -a1024  hdparm's switches, where the kernel supports them
  seekwell tune try /dev/sda scheduler=none --measure randread,iodepth=32
  seekwell tune plan /srv --iocost                what its disk can do, for shares by io.weight
  seekwell tune try /dev/sda 'io.cost.model=rbps=...' 'io.cost.qos=enable=1 min=75 max=100'
  seekwell tune auto /dev/sda --workload randread,iodepth=32 --goal p99
  seekwell tune keep /dev/sda                     until the next boot
  seekwell tune keep /dev/sda --persist           and after every boot, by a udev rule
  seekwell tune undo /dev/sda                     as it was";

const AUTO_EXIT: &str = "\
Exit status: 0 a setting helps and was confirmed; 1 nothing here helps, or it is undecided;
4 invalid; 5 a setting could not be put back; 130 interrupted, all put back.";

const WORKLOAD: &str = "\
A direction and order of requests with options, all as fio names them, separated by commas:
randread,bs=4k,iodepth=32. Options are bs, iodepth, numjobs, direct, engine, tags, rwmixread,
rate_iops, rate_process, random_distribution and fsync.";

const MEASURE: &str = "\
Measure this workload before and under the setting: one run each, so no verdict.

A direction and order of requests with options, all as fio names them, separated by commas:
randread,bs=4k,iodepth=32. The time of --for starts over when the measurement is done.";

const IOCOST: &str = "\
Measure the numbers of the kernel's io.cost model instead, and propose its settings.

With them, control groups share a disk by their io.weight. The six numbers are sustained rates, as \
the kernel's iocost_coef_gen.py defines them: bytes/s of sequential reads and writes of 128 MiB, \
and requests/s of 4 KiB, sequential and random, at depth 64; 120 s each. Latency targets are the \
95th percentile at half of the random rates. No setting is changed: where the disk has a scheduler \
or merges requests, which the definition has not, the result says so and how to try it without.

A directory gives a temporary file (16 GiB, or --size) and all numbers; so does a device named \
with --destroy SERIAL; of any other device only reads are measured.";

/// `seekwell tune`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Tune {
    /// What to do.
    #[command(subcommand)]
    pub command: TuneCommand,
}

/// What can be done with settings.
#[derive(Debug, Subcommand)]
pub enum TuneCommand {
    /// Show a disk's settings, which ones may be worth trying, and what else sets them
    Plan(Plan),
    /// Apply settings, verify them, and roll back automatically unless `keep` follows in time
    ///
    /// Each old value is checked to be restorable, written to a journal, and the new one read back.
    /// A guard process that outlives this terminal rolls everything back when the time is up, when
    /// the disk or its link reports errors, or on request.
    Try(Try),
    /// Search for a setting that helps a workload, with proof; leaves nothing changed
    ///
    /// Tries every setting that can be put back at once and may matter to the workload against the
    /// disk as it is, a few interleaved runs each; confirms the best of them with fresh runs and a
    /// verdict; and says the commands that keep it, or that nothing here helps. Everything is put
    /// back at the end.
    #[command(after_help = AUTO_EXIT)]
    Auto(Box<Auto>),
    /// Keep the tried settings until the next boot
    Keep {
        /// The disk [default: the one with a trial]
        #[arg(value_hint = ValueHint::AnyPath)]
        target: Option<PathBuf>,
        /// Reapply at every boot with a udev rule for this disk
        #[arg(long)]
        persist: bool,
        /// Where rules are written.
        #[command(flatten)]
        rules: Rules,
    },
    /// Restore what was tried or kept, and remove its udev rule
    Undo {
        /// The disk [default: the one with a trial]
        #[arg(value_hint = ValueHint::AnyPath)]
        target: Option<PathBuf>,
        /// Where rules are written.
        #[command(flatten)]
        rules: Rules,
    },
    /// Show what is currently changed and what survives a reboot
    Status {
        /// The disk [default: all]
        #[arg(value_hint = ValueHint::AnyPath)]
        target: Option<PathBuf>,
        /// Where rules are written.
        #[command(flatten)]
        rules: Rules,
    },
}

/// Where rules are written.
#[derive(Debug, Args)]
pub struct Rules {
    /// Where rules are written
    #[arg(
        long = "rules-dir", hide = true, env = "SEEKWELL_RULES_DIR", value_name = "DIR",
        default_value = seekwell_tune::persist::RULES_DIR
    )]
    pub dir: PathBuf,
}

/// `seekwell tune plan`.
#[derive(Debug, Args)]
#[command(
    mut_group("Destroy", |destroy| destroy.requires("iocost")),
    mut_arg("size", |size| size.requires("iocost")),
    mut_arg("runtime", |runtime| {
        runtime.requires("iocost").help("How long each run takes [default: 120s]")
    })
)]
pub struct Plan {
    /// A block device, or a path on one; with --iocost also a directory or a modelled machine
    #[arg(value_hint = ValueHint::AnyPath)]
    pub target: PathBuf,
    /// Measure the numbers of the kernel's io.cost model instead, and propose its settings
    #[arg(long, long_help = IOCOST)]
    pub iocost: bool,
    /// How it is measured.
    #[command(flatten)]
    pub length: Length,
}

/// `seekwell tune try`.
#[derive(Debug, Args)]
pub struct Try {
    /// A block device, or a path on one
    #[arg(value_hint = ValueHint::AnyPath)]
    pub target: PathBuf,
    /// What to set; after `--` also switches of hdparm, as -a1024
    #[arg(required = true, value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Roll back after this time unless `keep` follows
    #[arg(
        long = "for", value_name = "TIME", default_value = "120s", value_parser = values::duration
    )]
    pub time: Nanos,
    /// Allow settings that may hang the disk (C) or lose data (D)
    #[arg(long, value_name = "CLASS", ignore_case = true)]
    pub allow_risk: Option<RiskClass>,
    /// Do not read a block every second to see whether the disk answers: it wakes a sleeping disk
    #[arg(long)]
    pub no_canary: bool,
    /// Measure this workload before and under the setting: one run each, so no verdict
    #[arg(long, value_name = "WORKLOAD", long_help = MEASURE)]
    pub measure: Option<String>,
    /// How it is measured.
    #[command(flatten)]
    pub length: Length,
}

/// How long, on what part of the target, and what may be overwritten.
#[derive(Debug, Args)]
pub struct Length {
    /// How long one run of the workload takes [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub runtime: Option<Nanos>,
    /// Size of the temporary file, or of the part of the target used
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub size: Option<u64>,
    /// What may be overwritten.
    #[command(flatten)]
    pub destroy: Destroy,
}

/// `seekwell tune auto`.
#[derive(Debug, Args)]
pub struct Auto {
    /// A directory, file or block device
    #[arg(value_hint = ValueHint::AnyPath)]
    pub target: PathBuf,
    /// Workload to optimise, in fio's words: randread,bs=4k,iodepth=32
    #[arg(long, value_name = "WORKLOAD", long_help = WORKLOAD, default_value = "randread")]
    pub workload: String,
    /// Metric to optimise
    #[arg(long, default_value = "rate", value_parser = values::one_of(GOALS, Goal::name))]
    pub goal: Goal,
    /// Try this setting instead of the automatic choice; may be repeated
    #[arg(long = "candidate", value_name = "KEY=VALUE")]
    pub candidates: Vec<String>,
    /// Pairs of runs for each candidate, before the best is confirmed
    #[arg(
        long, value_name = "N", default_value_t = 6,
        value_parser = clap::value_parser!(u32).range(2..=40)
    )]
    pub screen: u32,
    /// The smallest gain that matters [default: 2% of a rate, 5% of the 99th percentile]
    #[arg(long, value_name = "PERCENT", value_parser = margin)]
    pub margin: Option<Margin>,
    /// Pause before every run, after the setting was applied
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = values::duration)]
    pub settle: Nanos,
    /// Random seed of the order and of all requests [default: random]
    #[arg(long)]
    pub seed: Option<u64>,
    /// How it is measured.
    #[command(flatten)]
    pub length: Length,
}

/// What `tune auto` is to make better.
const GOALS: [(Goal, &str); 2] = [
    (Goal::Rate, "Requests per second"),
    (Goal::P99, "The 99th percentile of the time a request takes"),
];

/// Risks that must be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RiskClass {
    /// May hang or drop the disk or the machine
    #[value(name = "C")]
    C,
    /// May lose data
    #[value(name = "D")]
    D,
}

impl RiskClass {
    /// The risk it allows.
    pub const fn risk(self) -> Risk {
        match self {
            Self::C => Risk::C,
            Self::D => Risk::D,
        }
    }

    /// Its letter.
    pub fn letter(self) -> char {
        self.risk().letter()
    }
}

/// `seekwell tune-guard`: for this program alone.
#[derive(Debug, Args)]
pub struct TuneGuard {
    /// The journal of the trial
    pub journal: PathBuf,
}

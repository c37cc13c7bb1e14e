//! `seekwell tune`: what can be typed.

use super::values;
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use seekwell_io::units::Nanos;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  seekwell tune plan /dev/sda                     what could be changed, and what is worth a try?
  seekwell tune try /dev/sda scheduler=none nr_requests=256
  seekwell tune try /dev/sda --for 10m -- -a1024  hdparm's switches work where the kernel heeds them
  seekwell tune keep /dev/sda                     until the next boot
  seekwell tune keep /dev/sda --persist           and after every boot, by a udev rule
  seekwell tune undo /dev/sda                     as it was";

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
    /// Show every setting of a disk, what may be worth a try, and who else sets it
    Plan {
        /// A block device, or a path on one
        #[arg(value_hint = ValueHint::AnyPath)]
        target: PathBuf,
    },
    /// Set, verify, and put back by itself unless `keep` is said in time
    ///
    /// Every value is proven to be one that can be put back before it is changed, written down
    /// first and read back afterwards. A guard process that outlives this terminal puts everything
    /// back when the time is up, when the disk or its link shows trouble, or when it is told to.
    Try(Try),
    /// Let what is tried stay until the next boot
    Keep {
        /// The disk [default: the one with a trial]
        #[arg(value_hint = ValueHint::AnyPath)]
        target: Option<PathBuf>,
        /// Set it again at every boot, by a udev rule for this very disk
        #[arg(long)]
        persist: bool,
        /// Where rules are written
        #[arg(
            long, hide = true, env = "SEEKWELL_RULES_DIR", value_name = "DIR",
            default_value = seekwell_tune::persist::RULES_DIR
        )]
        rules_dir: PathBuf,
    },
    /// Put back what was tried or kept, and remove its udev rule
    Undo {
        /// The disk [default: the one with a trial]
        #[arg(value_hint = ValueHint::AnyPath)]
        target: Option<PathBuf>,
        /// Where rules are written
        #[arg(
            long, hide = true, env = "SEEKWELL_RULES_DIR", value_name = "DIR",
            default_value = seekwell_tune::persist::RULES_DIR
        )]
        rules_dir: PathBuf,
    },
    /// Show what is changed now, and what survives a reboot
    Status {
        /// The disk [default: all]
        #[arg(value_hint = ValueHint::AnyPath)]
        target: Option<PathBuf>,
        /// Where rules are written
        #[arg(
            long, hide = true, env = "SEEKWELL_RULES_DIR", value_name = "DIR",
            default_value = seekwell_tune::persist::RULES_DIR
        )]
        rules_dir: PathBuf,
    },
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
    /// Put it back after this time unless `keep` is said
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
}

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

/// `seekwell tune-guard`: for this program alone.
#[derive(Debug, Args)]
pub struct TuneGuard {
    /// The journal of the trial
    pub journal: PathBuf,
}

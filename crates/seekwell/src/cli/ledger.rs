//! `seekwell flush-ledger`.

use super::{Destroy, values};
use clap::{Args, Subcommand, ValueHint};
use seekwell_io::units::Nanos;
use std::path::PathBuf;

/// What is shown below the options.
pub const EXAMPLES: &str = "\
Examples:
  seekwell flush-ledger write /dev/sdb --destroy SERIAL | ssh other 'cat >ledger'
  ssh other cat ledger | seekwell flush-ledger check /dev/sdb

In between, cut the disk's power and turn it on again: a reset or `reboot` is not a power cut.
The ledger must be where the power stays on: on another host or another disk (`>FILE`, where each
line is synced). A file system is tested through a loop device over a file on it. A disk that passes
once may have been lucky; cut its power a dozen times.

Exit status of write: 0 the time is over, or the disk failed, as it does without power; 130 stopped
with Ctrl-C. Exit status of check: 0 all that was acknowledged is there, 1 something is not.";

/// `seekwell flush-ledger`.
#[derive(Debug, Args)]
pub struct FlushLedger {
    #[command(subcommand)]
    pub command: LedgerCommand,
}

/// What is done with a ledger.
#[derive(Debug, Subcommand)]
pub enum LedgerCommand {
    /// Write and flush until the power is cut; the ledger goes to standard output
    Write(Write),
    /// Check after a power cut that everything the disk acknowledged is there; only reads
    Check(Check),
}

/// `seekwell flush-ledger write`.
#[derive(Debug, Args)]
pub struct Write {
    /// The block device to write
    #[arg(value_name = "DEVICE", value_hint = ValueHint::FilePath)]
    pub device: PathBuf,
    /// How much of it is written, from its start [default: 1g, or all of it]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub size: Option<u64>,
    /// Size of one write
    #[arg(long, value_name = "SIZE", default_value = "4k", value_parser = values::block_size)]
    pub bs: u32,
    /// Writes that are outstanding together and then made durable by one flush
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub iodepth: u32,
    /// Make each write durable by itself (FUA), and do not flush
    #[arg(long)]
    pub fua: bool,
    /// How long to write [default: until the power is cut or Ctrl-C]
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub runtime: Option<Nanos>,
    /// What may be overwritten.
    #[command(flatten)]
    pub destroy: Destroy,
}

/// `seekwell flush-ledger check`.
#[derive(Debug, Args)]
pub struct Check {
    /// The block device that was written
    #[arg(value_name = "DEVICE", value_hint = ValueHint::FilePath)]
    pub device: PathBuf,
    /// The ledger [default: standard input]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub ledger: Option<PathBuf>,
}

//! `seekwell fleet`: what can be typed.

use clap::{Args, Subcommand, ValueHint};
use seekwell_io::units::Nanos;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// `seekwell fleet`.
#[derive(Debug, Args)]
pub struct Fleet {
    /// What to do with them.
    #[command(subcommand)]
    pub command: FleetCommand,
}

/// What can be done with many hosts.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Run a command on many hosts over ssh, and save their runs here
    ///
    /// Uses the system's ssh with its configuration and agent, and never asks for a password. A
    /// host whose seekwell is missing or another version gets this one for the time of the run;
    /// nothing stays there, neither after the end nor after Ctrl-C. A host that fails is a line of
    /// the result. The exit status is 0 when the command succeeded on all hosts, 3 when it could
    /// not be run or finished on some, else the highest status of a host.
    #[command(after_help = "\
Examples:
  seekwell fleet run --hosts hosts.txt -- checkup --quick /srv
  seekwell fleet run --hosts hosts.txt --jobs 50 --per rack=2 --per hypervisor=1 -- checkup
  seekwell fleet run --hosts hosts.txt --program ./seekwell-static --json -- inspect --json /srv

The file of hosts has one a line, as ssh takes it, then its labels:
  db1 rack=r1 hypervisor=h3
  root@10.0.0.7 rack=r2      # a comment")]
    Run(Run),
}

/// `seekwell fleet run`.
#[derive(Debug, Args)]
pub struct Run {
    /// File of hosts and their labels
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub hosts: PathBuf,
    /// Hosts that run at the same time
    #[arg(long, value_name = "N", default_value = "8")]
    pub jobs: NonZeroUsize,
    /// At most N hosts with the same value of this label at the same time: rack=2
    #[arg(long, value_name = "LABEL=N", value_parser = bound)]
    pub per: Vec<(String, usize)>,
    /// Stop a host that takes longer: 10m
    #[arg(long, value_name = "TIME", value_parser = super::values::duration)]
    pub timeout: Option<Nanos>,
    /// Program to copy, for other processors or C libraries [default: this one]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub program: Option<PathBuf>,
    /// Configuration for ssh in place of yours
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub ssh_config: Option<PathBuf>,
    /// Option for ssh, as after its -o: Port=2222
    #[arg(long, value_name = "OPTION")]
    pub ssh_option: Vec<String>,
    /// Command of this program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

fn bound(text: &str) -> Result<(String, usize), String> {
    let (label, most) = text.split_once('=').unwrap_or_default();
    match most.parse() {
        Ok(most @ 1..) if !label.is_empty() => Ok((label.to_owned(), most)),
        _ => Err("needed: LABEL=N with N of 1 or more, as rack=2".into()),
    }
}

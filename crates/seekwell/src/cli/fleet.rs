//! `seekwell fleet`: what can be typed.

use super::{Force, PushTo, ReadFrom};
use clap::{Args, Subcommand, ValueHint};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
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
    /// Compare the newest runs of all hosts, and name the outliers of each disk model
    ///
    /// Takes the newest checkup that counts of each host and target, or with --label the newest run
    /// with that label. Disks are grouped by model and firmware. An outlier differs from its group
    /// by more than chance explains and by at least 2 %; a report about equal hosts names one in at
    /// most 5 % of cases. A group of fewer than 6 hosts gets no verdict. Beside each outlier stands
    /// what else is different about its host: link speed, driver, controller mode, scheduler,
    /// kernel, findings and so on.
    #[command(after_help = "\
Examples:
  seekwell fleet report                       saved runs, such as those of fleet run
  seekwell fleet report --since 7d -o fleet.html
  seekwell fleet report --store postgres://seekwell@db.example/fleet --json")]
    Report(Report),
}

/// `seekwell fleet report`.
#[derive(Debug, Args)]
pub struct Report {
    /// Runs with this label, whatever command made them [default: checkups]
    #[arg(long)]
    pub label: Option<String>,
    /// Only runs since then: 2026-11-01, 2026-11-01T06:00:00Z, or an age such as 36h or 7d
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub since: Option<Timestamp>,
    /// Write the page to this file
    #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
    /// Where runs are read from.
    #[command(flatten)]
    pub from: ReadFrom,
}

/// A moment, a day, or so long ago.
fn since(text: &str) -> Result<Timestamp, String> {
    let day = || Some(text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp());
    let age = || {
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let seconds = match &text[number.len()..] {
            "m" => 60,
            "h" => 3600,
            "d" => 86_400,
            "w" => 7 * 86_400,
            _ => return None,
        };
        let seconds = number.parse::<u32>().ok().map(|n| i64::from(n) * seconds)?;
        Timestamp::now().checked_sub(SignedDuration::from_secs(seconds)).ok()
    };
    text.parse().ok().or_else(day).or_else(age).ok_or_else(|| {
        "needed: a day (2026-11-01), a time (2026-11-01T06:00:00Z) or an age in m, h, d or w (7d)"
            .into()
    })
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
    /// Runs that a host may send; its further ones are refused
    #[arg(long, value_name = "N", default_value = "100")]
    pub max_runs: usize,
    /// Bytes of runs and output that a host may send; the rest is refused
    #[arg(long, value_name = "SIZE", default_value = "64m", value_parser = super::values::size)]
    pub max_bytes: u64,
    /// Program to copy, for other processors or C libraries [default: this one]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub program: Option<PathBuf>,
    /// Configuration for ssh in place of yours
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub ssh_config: Option<PathBuf>,
    /// Option for ssh, as after its -o: Port=2222
    #[arg(long, value_name = "OPTION")]
    pub ssh_option: Vec<String>,
    /// Where the runs are sent.
    #[command(flatten)]
    pub push: PushTo,
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

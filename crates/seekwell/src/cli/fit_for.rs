//! `seekwell fit-for`.

use super::Repeated;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// What is shown below the options.
pub const EXAMPLES: &str = "\
Examples:
  seekwell fit-for                             list the built-in demands
  seekwell fit-for etcd --on /var/lib/etcd     is the disk under it fast enough for etcd?
  seekwell fit-for etcd --on volume-gp3        would this cloud volume be? (modelled)
  seekwell fit-for etcd --on volume-gp3 --on nvme-ssd   which of these would be?
  seekwell fit-for etcd --show                 the load, the bounds and where they come from
  seekwell fit-for mine.toml --on /srv         a demand of your own

A demand of your own is a TOML file as in demands/ of the source tree: title, sources, job (in
fio's language) and [[bound]] tables with job, metric (as in `metrics` of the run document),
at_most or at_least, and why.

Exit status: 0 if it fits (of several targets, at least one), 1 if it does not or that is undecided,
4 if the measurement is not valid.";

/// `seekwell fit-for`.
#[derive(Debug, Args)]
pub struct FitFor {
    /// A built-in demand or the TOML file of one; without it, the built-in ones are listed
    #[arg(value_name = "DEMAND", value_hint = ValueHint::FilePath)]
    pub demand: Option<PathBuf>,
    /// A directory, block device or file, or the .toml description of a modelled machine; several
    /// are put side by side
    #[arg(long, value_name = "TARGET", default_value = ".", value_hint = ValueHint::AnyPath)]
    pub on: Vec<PathBuf>,
    /// Print the load, the bounds and their sources, without running anything
    #[arg(long, requires = "demand")]
    pub show: bool,
    /// How it is repeated, kept, and what may be overwritten.
    #[command(flatten)]
    pub repeated: Repeated,
}

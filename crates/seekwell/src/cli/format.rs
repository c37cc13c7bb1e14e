//! Results in forms that other programs read: what `bench` and `report` share.

use super::Force;
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

/// What is printed or written for other programs.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Results for other programs")]
pub struct Formats {
    /// Print the result in this form, and nothing else, on standard output
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    pub format: Option<Format>,
    /// Write results and logs into DIR under the names that fio-plot looks for
    ///
    /// RW-DEPTH-JOBS.json is fio's json+; beside it are the logs of bandwidth, rate and latency
    /// over time. Repeats after the first are in folders of their own.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output_dir: Option<PathBuf>,
    /// Write fio's logs PREFIX_bw.N.log, PREFIX_iops.N.log and PREFIX_lat.N.log for each job N
    ///
    /// What fio calls write_bw_log, write_iops_log and write_lat_log, averaged over steps of 50 ms,
    /// and of longer ones in runs of minutes.
    #[arg(long, value_name = "PREFIX", value_hint = ValueHint::FilePath)]
    pub write_logs: Option<PathBuf>,
    /// Where metrics go.
    #[command(flatten)]
    pub textfile: Textfile,
    /// What is done with a file that exists.
    #[command(flatten)]
    pub replace: Force,
}

impl Formats {
    /// Whether anything was asked for.
    pub const fn any(&self) -> bool {
        self.format.is_some() || self.textfile.path.is_some() || self.files()
    }

    /// Whether files are to be written.
    pub const fn files(&self) -> bool {
        self.output_dir.is_some() || self.write_logs.is_some()
    }
}

/// A file of metrics.
#[derive(Debug, Clone, Default, Args)]
pub struct Textfile {
    /// Write OpenMetrics to PATH, for the textfile collector of Prometheus' node exporter
    ///
    /// The file is replaced as a whole. Only one that this program wrote is replaced without
    /// --force.
    #[arg(id = "textfile", long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub path: Option<PathBuf>,
}

/// Forms of what inspection found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InspectFormat {
    /// Metrics of disks and findings, for Prometheus
    Openmetrics,
}

/// Forms that other programs read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// What fio prints under --output-format=json
    FioJson,
    /// The same with all bins of the histograms: --output-format=json+
    #[value(name = "fio-json+")]
    FioJsonPlus,
    /// One row for each phase and metric
    Csv,
    /// Metrics for the textfile collector of Prometheus' node exporter
    Prometheus,
    /// The same as OpenMetrics, with histograms, which can be added over hosts, and the host's and
    /// disk's names
    Openmetrics,
    /// The CSV line of bonnie++ 2.00, one for each repeat of the suite fs
    BonnieCsv,
    /// The same as bonnie++ 1.97 wrote it
    #[value(name = "bonnie-csv-1.97")]
    BonnieCsv197,
    /// The same as bonnie++ 1.96 wrote it
    #[value(name = "bonnie-csv-1.96")]
    BonnieCsv196,
}

impl Format {
    /// Whether it is made of fio's jobs, of which a run of a suite has none.
    pub const fn is_fio(self) -> bool {
        matches!(self, Self::FioJson | Self::FioJsonPlus)
    }

    /// Whether it can only hold the suite fs.
    pub const fn is_bonnie(self) -> bool {
        matches!(self, Self::BonnieCsv | Self::BonnieCsv197 | Self::BonnieCsv196)
    }
}

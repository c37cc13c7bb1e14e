//! Results in forms that other programs read: fio's JSON and logs, CSV, and the text that
//! Prometheus' node exporter collects. `docs/formats.md` says what each holds.
//!
//! All are made of a finished run document and, where fio's readers want distributions and samples,
//! of its detail. What was not measured is left out. Where fio itself prints a zero for want of
//! data, so does this: for a direction without requests, and for the submission latency that an
//! engine does not measure separately.

mod csv;
mod distribution;
mod fio;
mod inspected;
mod job;
mod job_logs;
mod logs;
mod options;
mod prometheus;
mod samples;
#[cfg(test)]
mod tests;

pub use csv::csv;
pub use fio::{Bins, document as fio_json, plot_files};
pub use inspected::inspected;
pub use job_logs::{LogKind, job_log_paths, write_job_log};
pub use logs::logs;
pub use prometheus::{Metrics, openmetrics, prometheus};

use seekwell_sys::classify;
use std::path::PathBuf;

/// A file to be written: where below the folder or after the prefix that was asked for, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Relative path, or what follows the prefix.
    pub path: PathBuf,
    /// Its contents.
    pub text: String,
}

/// A run that a form cannot hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum OutputError {
    /// A step of a suite is no job with a request size and a depth.
    #[error(
        "{phase} is of a suite, whose steps are no fio jobs; its figures fit csv or prometheus"
    )]
    Suite { phase: String },
    #[error("repeat {repeat} of {phase} has no histograms, which fio's results are made of")]
    NoDetail {
        phase: String,
        /// Number of the repeat, from 1.
        repeat: u32,
    },
    #[error("{found:?} in the run is not a time")]
    Time { found: String },
}

classify!(OutputError {
    Usage: Suite, NoDetail, Time;
});

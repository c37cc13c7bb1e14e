//! What can go wrong, with the data a person needs to act.

use crate::document::FieldDifference;
use seekwell_runs::StoreError;
use seekwell_sys::is_wrong_file;
use std::io;
use std::path::PathBuf;

/// Why a side could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Neither a label, a run nor a file.
    #[error(
        "{wanted:?} is neither the label of a kept run, nor a run, nor a file{}",
        hint("; labels: ", labels)
    )]
    NotFound {
        /// What was asked for.
        wanted: String,
        /// Labels there are, nearest first.
        labels: Vec<String>,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file could not be read.
    #[error("reading {} failed: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A folder holds more files than any series of runs.
    #[error("{} holds more than {most} files, which is the limit", path.display())]
    TooMany {
        /// The folder.
        path: PathBuf,
        /// The most that is read.
        most: usize,
    },
    /// What a file says cannot be read.
    #[error("{}: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: FormatError,
    },
    /// The file describes several configurations.
    #[error(
        "{} describes several configurations: name one of them as {}#NAME, NAME being {}",
        path.display(), path.display(), names.join(", ")
    )]
    SeveralConfigurations {
        /// The file.
        path: PathBuf,
        /// Their names.
        names: Vec<String>,
    },
    /// The file does not describe this configuration.
    #[error("{} does not describe {wanted:?}; it describes {}", path.display(), names.join(", "))]
    NoSuchConfiguration {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        wanted: String,
        /// What there is.
        names: Vec<String>,
    },
    /// A side is put together from files of different kinds.
    #[error("{name} mixes {} and {}: a side must be of one kind", kinds.0, kinds.1)]
    MixedKinds {
        /// The side.
        name: String,
        /// The kinds.
        kinds: (&'static str, &'static str),
    },
    /// No run of this label is complete.
    #[error("no run with the label {label:?} is complete ({runs} were kept)")]
    NoneComplete {
        /// The label.
        label: String,
        /// How many runs have it.
        runs: usize,
    },
    /// A side without numbers.
    #[error("{name} holds no numbers to compare{}", hint(": ", why))]
    Empty {
        /// The side.
        name: String,
        /// What was left out, and why.
        why: Vec<String>,
    },
}

impl SourceError {
    /// Whether naming something else would help.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Store(error) => error.is_usage(),
            Self::Io { source, .. } => is_wrong_file(source),
            _ => true,
        }
    }
}

/// Why the contents of a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// None of the formats that are known.
    #[error(
        "this is neither a run of seekwell, output of fio or hdparm, bonnie++ CSV (1.96 to 1.98) \
         nor a composite.xml of the Phoronix Test Suite"
    )]
    Unknown,
    /// Not the JSON it should be.
    #[error("line {line}, column {column}: {reason}")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// Not the XML it should be.
    #[error("byte {at}: {reason}")]
    Xml {
        /// Offset of the trouble.
        at: u64,
        /// What is wrong there.
        reason: String,
    },
    /// A document type declaration: the one thing in XML that makes a small file a large one.
    #[error("byte {at}: a document type declaration, which result files do not have")]
    DocumentType {
        /// Its offset.
        at: u64,
    },
    /// A version this program does not know.
    #[error("{tool} {found:?} is not supported; supported: {known}")]
    Version {
        /// The tool.
        tool: &'static str,
        /// The version in the file.
        found: String,
        /// The versions read.
        known: &'static str,
    },
    /// A line with too few or too many fields.
    #[error("line {line} has {found} fields; format {version} has {needed}: is it cut short?")]
    Fields {
        /// Line, from 1.
        line: usize,
        /// Fields found.
        found: usize,
        /// Fields needed.
        needed: usize,
        /// The format's version.
        version: String,
    },
    /// A value that is not what its place needs.
    #[error("{place}: {field} is {found:?}; needed: {needed}")]
    Value {
        /// Where: `line 3`, `job rr`.
        place: String,
        /// Which field.
        field: String,
        /// What is there.
        found: String,
        /// What would be accepted.
        needed: &'static str,
    },
    /// More of something than any real file has.
    #[error("more than {most} {what}, which is the limit")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The most that is read.
        most: usize,
    },
    /// A run of this program that cannot be read.
    #[error(transparent)]
    Run(#[from] StoreError),
}

impl FormatError {
    pub(crate) fn json(error: &serde_json::Error, lines_before: usize) -> Self {
        let reason = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        Self::Json {
            line: error.line() + lines_before,
            column: error.column(),
            reason: reason.strip_suffix(&place).unwrap_or(&reason).to_owned(),
        }
    }

    pub(crate) fn value(
        place: impl Into<String>,
        field: impl Into<String>,
        found: &str,
        needed: &'static str,
    ) -> Self {
        let found = found.chars().take(60).collect();
        Self::Value { place: place.into(), field: field.into(), found, needed }
    }
}

fn hint(lead: &str, what: &[String]) -> String {
    if what.is_empty() { String::new() } else { format!("{lead}{}", what.join(", ")) }
}

/// Why sides cannot be compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CompareError {
    /// One side is no comparison.
    #[error("there is only one side to compare: name another")]
    OneSide,
    /// The workloads are not the same.
    #[error(
        "{a} and {b} are of different workloads: {}; nothing follows from comparing their numbers; \
         --different-workloads shows them all the same",
        list(differences)
    )]
    DifferentWorkloads {
        /// The baseline.
        a: String,
        /// The other.
        b: String,
        /// The fields that differ.
        differences: Vec<FieldDifference>,
    },
    /// The runs of one side are of different workloads.
    #[error("the runs of {side} are of different workloads: {}", list(differences))]
    MixedWorkloads {
        /// The side.
        side: String,
        /// The fields that differ.
        differences: Vec<FieldDifference>,
    },
    /// No workload is on both sides.
    #[error(
        "{a} and {b} have no workload in common: {a} has {}, {b} has {}",
        names(groups_a),
        names(groups_b)
    )]
    NothingInCommon {
        /// The baseline.
        a: String,
        /// The other.
        b: String,
        /// Workloads of the baseline.
        groups_a: Vec<String>,
        /// Workloads of the other.
        groups_b: Vec<String>,
    },
    /// The primary metric is not there, or is several.
    #[error(
        "{wanted:?} does not name one metric of this comparison; its metrics are {}",
        names(candidates)
    )]
    NoSuchMetric {
        /// What was asked for.
        wanted: String,
        /// Metrics there are, the most prominent first.
        candidates: Vec<String>,
    },
    /// A claim without a metric that it is about.
    #[error("a claim is about one metric: name it with --metric; there are {}", names(candidates))]
    NoPrimary {
        /// Metrics there are, the most prominent first.
        candidates: Vec<String>,
    },
    /// A claim on a metric that has no better.
    #[error(
        "{metric} only explains other metrics: neither direction is better, so a claim on it \
             means nothing"
    )]
    NotJudged {
        /// The metric.
        metric: String,
    },
}

fn list(differences: &[FieldDifference]) -> String {
    let value = |v: &Option<String>| v.clone().unwrap_or_else(|| "not set".into());
    let told = differences
        .iter()
        .take(6)
        .map(|d| format!("{} of {} is {} and {}", d.field, d.group, value(&d.a), value(&d.b)));
    let mut text = told.collect::<Vec<_>>().join("; ");
    if differences.len() > 6 {
        text += &format!("; and {} more", differences.len() - 6);
    }
    text
}

fn names(names: &[String]) -> String {
    let mut text = names.iter().take(12).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > 12 {
        text += &format!(" and {} more", names.len() - 12);
    }
    text
}

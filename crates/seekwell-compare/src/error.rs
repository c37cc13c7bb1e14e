//! What can go wrong, with the data a person needs to act.

use crate::document::FieldDifference;
use seekwell_runs::StoreError;
use seekwell_sys::{Class, classify};
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error(
        "{wanted:?} is neither the label of a kept run, nor a run, nor a file{}",
        hint("; labels: ", labels)
    )]
    NotFound { wanted: String, labels: Vec<String> },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("reading {} failed: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} holds more than {most} files, which is the limit", path.display())]
    TooMany { path: PathBuf, most: usize },
    #[error("{}: {source}", path.display())]
    Format { path: PathBuf, source: FormatError },
    #[error(
        "{} describes several configurations: name one of them as {}#NAME, NAME being {}",
        path.display(), path.display(), names.join(", ")
    )]
    SeveralConfigurations { path: PathBuf, names: Vec<String> },
    #[error("{} does not describe {wanted:?}; it describes {}", path.display(), names.join(", "))]
    NoSuchConfiguration { path: PathBuf, wanted: String, names: Vec<String> },
    /// A side is put together from files of different kinds.
    #[error("{name} mixes {} and {}: a side must be of one kind", kinds.0, kinds.1)]
    MixedKinds { name: String, kinds: (&'static str, &'static str) },
    #[error("no run with the label {label:?} is complete ({runs} were kept)")]
    NoneComplete { label: String, runs: usize },
    #[error("{name} holds no numbers to compare{}", hint(": ", why))]
    Empty { name: String, why: Vec<String> },
}

classify!(SourceError {
    Usage: NotFound, TooMany, Format, SeveralConfigurations, NoSuchConfiguration, MixedKinds,
        NoneComplete, Empty;
    | Self::Store(error) => error.class(),
    | Self::Io { source, .. } => Class::of_file(source),
});

#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    #[error(
        "this is neither a run of seekwell, output of fio or hdparm, bonnie++ CSV (1.96 to 1.98) \
         nor a composite.xml of the Phoronix Test Suite"
    )]
    Unknown,
    #[error("line {line}, column {column}: {reason}")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        reason: String,
    },
    #[error("byte {at}: {reason}")]
    Xml { at: u64, reason: String },
    /// A document type declaration: the one thing in XML that makes a small file a large one.
    #[error("byte {at}: a document type declaration, which result files do not have")]
    DocumentType { at: u64 },
    #[error("{tool} {found:?} is not supported; supported: {known}")]
    Version { tool: &'static str, found: String, known: &'static str },
    #[error("line {line} has {found} fields; format {version} has {needed}: is it cut short?")]
    Fields {
        /// Line, from 1.
        line: usize,
        found: usize,
        needed: usize,
        version: String,
    },
    #[error("{place}: {field} is {found:?}; needed: {needed}")]
    Value {
        /// Where: `line 3`, `job rr`.
        place: String,
        field: String,
        found: String,
        needed: &'static str,
    },
    #[error("more than {most} {what}, which is the limit")]
    TooMany { what: &'static str, most: usize },
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

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CompareError {
    #[error("there is only one side to compare: name another")]
    OneSide,
    #[error(
        "{a} and {b} are of different workloads: {}; nothing follows from comparing their numbers; \
         --different-workloads shows them all the same",
        list(differences)
    )]
    DifferentWorkloads { a: String, b: String, differences: Vec<FieldDifference> },
    #[error("the runs of {side} are of different workloads: {}", list(differences))]
    MixedWorkloads { side: String, differences: Vec<FieldDifference> },
    #[error(
        "{a} and {b} have no workload in common: {a} has {}, {b} has {}",
        names(groups_a),
        names(groups_b)
    )]
    NothingInCommon { a: String, b: String, groups_a: Vec<String>, groups_b: Vec<String> },
    #[error(
        "{wanted:?} does not name one metric of this comparison; its metrics are {}",
        names(candidates)
    )]
    NoSuchMetric { wanted: String, candidates: Vec<String> },
    #[error("a claim is about one metric: name it with --metric; there are {}", names(candidates))]
    NoPrimary {
        /// Metrics there are, the most prominent first.
        candidates: Vec<String>,
    },
    #[error(
        "{metric} only explains other metrics: neither direction is better, so a claim on it \
             means nothing"
    )]
    NotJudged { metric: String },
}

classify!(CompareError {
    Usage: OneSide, DifferentWorkloads, MixedWorkloads, NothingInCommon, NoSuchMetric, NoPrimary,
        NotJudged;
});

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

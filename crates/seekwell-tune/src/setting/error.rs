//! Why a key or value is not for this disk.

use super::hdparm::Refused;
use super::request::RequestError;
use super::values::ValueProblem;
use seekwell_sys::{classify, did_you_mean, sudo};
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    #[error("there is no setting {key}{}", did_you_mean(near.as_ref()))]
    Unknown { key: String, near: Option<String> },
    #[error("{disk} has no {key}: {why}")]
    Absent { key: String, disk: String, why: String },
    #[error("{key}={value}: {problem}")]
    Value {
        key: String,
        value: String,
        /// What is wrong with it, with what would be right.
        problem: ValueProblem,
    },
    #[error(
        "{key} is read-only for this disk: its driver has no way to change it ({})", path.display()
    )]
    ReadOnly { key: String, path: PathBuf },
    #[error("{key} is {present}, and this user may not change it{}", sudo())]
    Denied { key: String, present: String },
    #[error("{key} is {present} now, and that could not be put back: {why}")]
    NotReversible { key: String, present: String, why: String },
    #[error("{key} is given twice")]
    Twice { key: String },
    /// What was typed is no `KEY=VALUE`.
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error(transparent)]
    Classic(#[from] Refused),
}

classify!(SettingError {
    Usage: Unknown, Value, Twice, Request;
    Refused: Absent, ReadOnly, Denied, NotReversible, Classic;
});

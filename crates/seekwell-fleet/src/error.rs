//! What can go wrong with many hosts and their runs.

use seekwell_access::OutputError;
use seekwell_runs::StoreError;
use seekwell_sys::{Class, classify};
use std::io;
use std::path::{Path, PathBuf};

/// Why runs could not be exported, or hosts not be asked.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum FleetError {
    #[error("{doing} {} failed: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{} is not a file of such an export: {reason}", path.display())]
    Damaged { path: PathBuf, reason: String },
    #[error("another process is exporting to {}; let it finish first", path.display())]
    Busy { path: PathBuf },
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{}, line {line}: {reason}", path.display())]
    Hosts { path: PathBuf, line: usize, reason: String },
    #[error("no host has the label {key}; a line of the file needs {key}=VALUE after the host")]
    NoSuchLabel { key: String },
}

classify!(FleetError {
    Usage: Hosts, NoSuchLabel;
    Refused: Io, Output, Damaged, Busy;
    | Self::Read { source, .. } => Class::of_file(source),
    | Self::Store(error) => error.class(),
});

impl FleetError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { doing, path, source }
    }
}

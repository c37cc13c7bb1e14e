//! What can go wrong with many hosts and their runs.

use jiff::Timestamp;
use seekwell_access::OutputError;
use seekwell_runs::StoreError;
use seekwell_sys::thread::NoThread;
use seekwell_sys::{Class, classify};
use std::io;
use std::path::{Path, PathBuf};

/// Why runs could not be exported, sent or read, or hosts not be asked.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum FleetError {
    #[error("{doing} {} failed: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    NoThread(#[from] NoThread),
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
    #[error(
        "this seekwell was built without PostgreSQL; \
         cargo build --release --package seekwell builds one that has it"
    )]
    Without,
    /// It is not repeated, for it may hold a password.
    #[error(
        "this is no address of a PostgreSQL database; needed: \
         postgres://USER@HOST:PORT/DATABASE?sslmode=require&sslrootcert=FILE, where all but \
         postgres:// can be left out, sslmode is disable, prefer, require or verify-full, and \
         / ? # @ in a name or password are written %2F %3F %23 %40"
    )]
    Address,
    #[error("cannot read the certificates in {}: {reason}", path.display())]
    Roots { path: PathBuf, reason: String },
    #[error("{store} holds no runs; seekwell runs push sends some there")]
    Empty { store: String },
    #[error(
        "no {}{} is saved; seekwell fleet run --hosts FILE -- checkup --quick makes one on each \
         host{}",
        label.as_ref().map_or("finished checkup of a disk".into(), |l| format!(
            "finished run with the label {l:?}"
        )),
        since.map(|at| format!(" since {at}")).unwrap_or_default(),
        if label.is_none() { ", and --label names runs of other commands" } else { "" }
    )]
    NoRuns { label: Option<String>, since: Option<Timestamp> },
    #[error(
        "{store} has tables of version {found}; this program knows those up to {known}: \
         use a newer seekwell"
    )]
    NewerSchema { store: String, found: i32, known: i32 },
}

classify!(FleetError {
    Usage: Address, Hosts, NoRuns, NoSuchLabel;
    Refused: Io, Output, NoThread, Damaged, Busy, Without, Roots, Empty, NewerSchema;
    | Self::Read { source, .. } => Class::of_file(source),
    | Self::Store(error) => error.class(),
});

impl FleetError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { doing, path, source }
    }
}

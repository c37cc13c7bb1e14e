//! A machine in a file: saving all that inspection read, and inspecting what was saved.
//!
//! [`capture`] inspects through a [`Recording`], so that the file holds every answer the
//! inspection got, and then adds what a person with only the file will wish to see: the folders of
//! the disks and their controllers, the kernel log, the tables of `/proc`. [`open`] reads such a
//! file, a folder of a saved machine or a sosreport; what it gives is a [`seekwell_sys::View`] like
//! any other.

mod sweep;
mod targets;

pub use targets::{SavedError, of_snapshot, target_in};

use crate::find;
use crate::inspect::inspect;
use crate::inspection::Inspection;
use crate::log::{self, LogReport, LogSource};
use crate::reader::Reader;
use crate::target::{Target, all_disks};
use crate::text;
use seekwell_sys::{Bundle, KMSG, LSPCI, Recording, Snapshot, SnapshotError, View};

pub use seekwell_sys::unused;
use std::path::Path;

/// The most of the kernel log that is kept, in bytes: the newest.
pub const MAX_LOG: usize = 4 << 20;

/// Holds the environment of the first process, which names a container's runtime, and may hold
/// passwords.
const ENVIRON: &str = "/proc/1/environ";

#[derive(Debug, Clone, Default)]
pub struct About {
    pub tool: String,
    pub date: String,
    /// The kernel log: raw records of `/dev/kmsg` or text, where it could be read.
    pub log: Option<Vec<u8>>,
}

/// Inspects the targets and keeps everything that was read, and more of their devices. The
/// inspections are what [`inspect()`] gives of the snapshot, byte for byte.
pub fn capture(view: &dyn View, targets: &[Target], about: &About) -> (Bundle, Vec<Inspection>) {
    let recording = Recording::new(view);
    // Kept for who looks for another disk in the snapshot later.
    all_disks(&recording);
    let found: Vec<Inspection> = targets.iter().map(|t| inspect(&recording, t)).collect();
    sweep::sweep(&recording, &found);
    let environ = Path::new(ENVIRON);
    if let Ok(all) = recording.read(environ) {
        recording.keep(environ, only_container(&all));
    }
    if let Some(log) = &about.log {
        let excess = log.len().saturating_sub(MAX_LOG);
        recording.keep(KMSG, &log[excess..]);
    }
    let mut bundle = Bundle::default();
    bundle.field("tool", &about.tool);
    bundle.field("date", &about.date);
    let kernel = found.iter().find_map(|i| i.host.kernel.as_ref());
    kernel.iter().for_each(|k| bundle.field("kernel", &k.value));
    targets.iter().for_each(|t| bundle.field(targets::FIELD, targets::written(t)));
    bundle.snapshot = recording.into_snapshot();
    (bundle, found)
}

/// Of an environment only what names a container's runtime.
fn only_container(environ: &[u8]) -> Vec<u8> {
    let kept = environ.split(|b| *b == 0).filter(|entry| entry.starts_with(b"container="));
    kept.collect::<Vec<_>>().join(&0)
}

/// Reads a snapshot file, a folder of a saved machine or a sosreport.
///
/// # Errors
/// [`SnapshotError`] names the file, and the line if there is one.
pub fn open(path: &Path) -> Result<Bundle, SnapshotError> {
    // The running system looks like a report, and reading all its files is not without effects.
    if path.canonicalize().is_ok_and(|whole| whole == Path::new("/")) {
        return Err(SnapshotError::NotOne { path: path.to_path_buf() });
    }
    if path.is_dir() {
        return Ok(Bundle { snapshot: Snapshot::open(path)?, ..Bundle::default() });
    }
    Bundle::open(path)
}

/// The inspections of everything a snapshot was made of. A controller that its kernel's files do
/// not show, and the text of `lspci` does, is inspected from that text.
pub fn inspections(bundle: &Bundle) -> Vec<Inspection> {
    let view = &bundle.snapshot;
    let mut found: Vec<Inspection> =
        of_snapshot(bundle).iter().map(|target| inspect(view, target)).collect();
    let Ok(lspci) = view.text(Path::new(LSPCI)) else { return found };
    let modules = view.text(Path::new("/proc/modules")).ok();
    let shown = find::pci_functions(&Reader::new(view));
    let known = |address: &str| shown.iter().any(|f| f.ends_with(address));
    let printed = text::inspections("lspci", &lspci, modules.as_deref());
    found.extend(printed.into_iter().filter(|i| !known(&i.target)));
    found
}

/// What the kernel log in a snapshot says of its disks; `None` when there is no log in it.
pub fn log(bundle: &Bundle) -> Option<LogReport> {
    let view = &bundle.snapshot;
    let text = view.read(Path::new(KMSG)).ok()?;
    let source = LogSource::Stream(KMSG, &mut &text[..]);
    // Memory does not fail to be read.
    log::read(source, Some(view)).ok()
}

#[cfg(test)]
mod tests;

//! One file per command.

pub mod bench;
pub mod checkup;
pub mod compare;
pub mod diff;
pub mod experiment;
pub mod explain;
pub mod format;
pub mod inspect;
pub mod machine;
pub mod record;
pub mod replay;
pub mod report;
pub mod reproduce;
pub mod runs;
pub mod serve;
mod snapshot;
mod suite;
pub mod trace;
mod trend;
pub mod tune;
mod watch;

use crate::context::Context;
use crate::exit::{CommandError, Exit};
use seekwell_runs::{Detail, RunDocument};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Shows a finished run the way the switches say.
fn show(
    context: &Context,
    ended: &(RunDocument, Detail, Exit),
    page: Option<&Path>,
) -> Result<Exit, CommandError> {
    let (document, detail, exit) = ended;
    if let Some(path) = page {
        write_page(path, &[(document.clone(), detail.clone())])?;
        context.note(&format!("the page is {}", path.display()));
    }
    if context.json {
        context.print_json(document)?;
    } else {
        context.print(&seekwell_report::terminal(document, context.width, context.style))?;
    }
    Ok(*exit)
}

/// Whether a page can be written beside `path` later.
fn check_writable(path: &Path) -> Result<(), CommandError> {
    let fail = |source| CommandError::Write { path: path.to_path_buf(), source };
    if path.is_dir() {
        return Err(fail(std::io::ErrorKind::IsADirectory.into()));
    }
    tempfile::tempfile_in(folder_of(path)).map_err(fail).map(drop)
}

/// The folder a file is or will be in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a page whole or not at all.
fn write_page(path: &Path, runs: &[(RunDocument, Detail)]) -> Result<(), CommandError> {
    write_whole(path, seekwell_report::html(runs)?.as_bytes())
}

/// Writes a file whole or not at all.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    write_with(path, |out| out.write_all(bytes))
}

/// The same with what `fill` writes.
fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), CommandError> {
    let fail = |source| CommandError::Write { path: path.to_path_buf(), source };
    let mut file = tempfile::Builder::new()
        .prefix(".seekwell-page-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .tempfile_in(folder_of(path))
        .map_err(fail)?;
    let mut out = BufWriter::new(&mut file);
    fill(&mut out).and_then(|()| out.flush()).map_err(fail)?;
    drop(out);
    file.as_file().sync_all().map_err(fail)?;
    file.persist(path).map_err(|e| fail(e.error))?;
    Ok(())
}

//! The log files that jobs ask for: refused beforehand where they cannot be written, and written
//! once their stage is over.

use super::Request;
use super::error::JobRunError;
use super::member::Outcome;
use super::noted::Noted;
use crate::sweep;
use seekwell_access::{OutputFile, folder_of};
use seekwell_job::job::{Job, Logs};
use seekwell_job::layout::Layout;
use seekwell_job::output::{LogKind, job_log_paths, write_job_log};
use seekwell_job::play::log::Lines;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Logs that this run wrote: where two stages have the same, it is the last one's.
pub struct Written {
    paths: BTreeSet<PathBuf>,
    replace: bool,
}

impl Written {
    /// None so far.
    pub const fn none(replace: bool) -> Self {
        Self { paths: BTreeSet::new(), replace }
    }
}

/// Whether the logs of all repeats can be written when the jobs are over.
pub fn check(
    jobs: &[Job],
    layout: &Layout,
    request: &Request<'_>,
    tell: impl Fn(&str),
) -> Result<(), JobRunError> {
    let free = |path: &Path| {
        OutputFile::create(path, request.replace)?;
        sweep(folder_of(path), &tell);
        Ok::<_, JobRunError>(())
    };
    for (number, member) in (1..).zip(&layout.members) {
        for (_, path) in job_log_paths(&jobs[member.job].logs, number) {
            free(&path)?;
            // Folders of later repeats are made when they are needed.
            let later = (1..request.repeats).map(|repeat| in_repeat(&path, repeat));
            for path in later.filter(|path| folder_of(path).exists()) {
                free(&path)?;
            }
        }
    }
    Ok(())
}

/// Writes the logs of a stage. Those of repeats after the first, which is number 0, are in folders
/// `repeat-2`, … beside the first's.
pub fn write(
    jobs: &[Job],
    layout: &Layout,
    played: &[Outcome],
    repeat: u32,
    written: &mut Written,
    tell: impl Fn(&str),
) -> Result<(), JobRunError> {
    let mut files: BTreeMap<PathBuf, Vec<(LogKind, &Logs, &Noted)>> = BTreeMap::new();
    for (number, outcome) in played {
        let job = &jobs[layout.members[*number].job];
        let Some(noted) = outcome.as_ref().ok().and_then(|played| played.log.as_ref()) else {
            continue;
        };
        if let Lines::Requests { left_out: more @ 1.., .. } = noted.recorded.lines {
            let name = &job.name;
            tell(&format!(
                "job `{name}`: its logs end before it did: there was no room for {more} requests; \
                 log_avg_msec sums requests up"
            ));
        }
        for (kind, path) in job_log_paths(&job.logs, number + 1) {
            files.entry(path).or_default().push((kind, &job.logs, noted));
        }
    }
    for (path, parts) in files {
        let path = in_repeat(&path, repeat);
        let folder = folder_of(&path);
        std::fs::create_dir_all(folder)
            .map_err(|source| JobRunError::Folder { path: folder.to_owned(), source })?;
        let force = written.replace || !written.paths.insert(path.clone());
        let output = OutputFile::create(&path, force)?.filled(|out| {
            parts.iter().try_for_each(|(kind, logs, noted)| {
                let epoch = if logs.unix_epoch { noted.epoch_ms } else { 0 };
                write_job_log(out, logs, *kind, &noted.recorded, epoch)
            })
        })?;
        output.finish()?;
    }
    Ok(())
}

/// Where the log of a repeat is.
fn in_repeat(path: &Path, repeat: u32) -> PathBuf {
    if repeat == 0 {
        return path.to_path_buf();
    }
    let folder = folder_of(path).join(format!("repeat-{}", repeat + 1));
    folder.join(path.file_name().unwrap_or_default())
}

//! Reading the files of a bundle. They may be cut short, written by a later version, or made to do
//! harm: what comes out of here is complete, and its numbers are in the ranges that other code
//! relies on.

use crate::document::{Detail, RunDocument};
use crate::error::StoreError;
use crate::id;
use seekwell_io::histogram::BINS;
use seekwell_io::measurement::Series;
use seekwell_io::units::Nanos;
use seekwell_sys::read_file;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// The summary of a run, in its folder.
pub(crate) const RUN: &str = "run.json";
/// Its histograms and series.
pub(crate) const DETAIL: &str = "detail.json";
/// The most that is read of a `run.json`: a hundred times the largest seen.
pub const MAX_RUN_BYTES: u64 = 64 << 20;
/// The most that is read of a `detail.json`: series and histograms are bounded, so real ones stay
/// far below it.
pub const MAX_DETAIL_BYTES: u64 = 512 << 20;

#[derive(Deserialize)]
struct Head {
    schema: String,
}

/// Reads a run document from the bytes of a file; `path` is named in errors.
///
/// # Errors
/// [`StoreError::Damaged`] with line and column, [`StoreError::Newer`] when a later version wrote
/// it, [`StoreError::Invalid`] when it says something that cannot be.
pub fn run(bytes: &[u8], path: &Path) -> Result<RunDocument, StoreError> {
    let head: Head = serde_json::from_slice(bytes).map_err(|e| StoreError::json(path, &e))?;
    let invalid = |field, found: &str, needed| {
        let found = format!("{:?}", found.chars().take(80).collect::<String>());
        Err(StoreError::Invalid { path: path.to_path_buf(), field, found, needed })
    };
    if head.schema != RunDocument::SCHEMA {
        return match version(&head.schema) {
            Some(v) if Some(v) > version(RunDocument::SCHEMA) => Err(StoreError::Newer {
                path: path.to_path_buf(),
                found: head.schema,
                known: RunDocument::SCHEMA,
            }),
            _ => invalid("schema", &head.schema, RunDocument::SCHEMA),
        };
    }
    let run: RunDocument = serde_json::from_slice(bytes).map_err(|e| StoreError::json(path, &e))?;
    // In the store a run also has to be called as its folder is.
    if !id::is_id(&run.id) && run.id != RunDocument::NOT_KEPT {
        return invalid("id", &run.id, "an id such as 20261120-231502-checkup-5f3a");
    }
    let mut names = BTreeSet::new();
    for phase in &run.phases {
        if !names.insert(&phase.name) {
            return invalid("phases[].name", &phase.name, "a name no other phase has");
        }
    }
    Ok(run)
}

fn version(schema: &str) -> Option<u32> {
    schema.strip_prefix("seekwell/run/")?.parse().ok()
}

/// Reads the histograms and series from the bytes of a file; `path` is named in errors.
///
/// # Errors
/// As for [`run`].
pub fn detail(bytes: &[u8], path: &Path) -> Result<Detail, StoreError> {
    let detail: Detail = serde_json::from_slice(bytes).map_err(|e| StoreError::json(path, &e))?;
    let invalid = |field, found: String, needed| {
        Err(StoreError::Invalid { path: path.to_path_buf(), field, found, needed })
    };
    for repeat in &detail.repeats {
        if repeat.series.step_ns == Nanos::ZERO {
            return invalid("repeats[].series.step_ns", "0".into(), "a step above 0");
        }
        if repeat.series.steps.len() > Series::MAX_STEPS {
            let found = format!("{} steps", repeat.series.steps.len());
            return invalid("repeats[].series.steps", found, "at most 2048 steps");
        }
        for (field, bins) in
            [("latency_bins", &repeat.latency_bins), ("response_bins", &repeat.response_bins)]
        {
            if let Some(found) = bad_bins(bins) {
                return invalid(field, found, "bins that exist, in order, with counts that add up");
            }
        }
    }
    Ok(detail)
}

fn bad_bins(bins: &BTreeMap<String, Vec<(u32, u64)>>) -> Option<String> {
    for (op, bins) in bins {
        if let Some(bin) = bins.iter().find(|(bin, _)| *bin as usize >= BINS) {
            return Some(format!("bin {} of {op}", bin.0));
        }
        if let Some(pair) = bins.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return Some(format!("bin {} after bin {} of {op}", pair[1].0, pair[0].0));
        }
        if bins.iter().try_fold(0_u64, |sum, (_, n)| sum.checked_add(*n)).is_none() {
            return Some(format!("more than {} requests in {op}", u64::MAX));
        }
    }
    None
}

/// Reads a bundle's two files. Detail of repeats the summary does not speak of is left out: a kill
/// between writing the one and the other leaves some. A bundle without detail is one that was
/// taken away to save room.
pub(crate) fn bundle(dir: &Path) -> Result<(RunDocument, Detail), StoreError> {
    let run = run_file(dir)?;
    let path = dir.join(DETAIL);
    let mut detail = match bounded(&path, MAX_DETAIL_BYTES) {
        Ok(bytes) => detail(&bytes, &path)?,
        Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Detail::default()
        }
        Err(error) => return Err(error),
    };
    detail.repeats.retain(|r| {
        run.phase(&r.phase).is_some_and(|phase| (r.repeat as usize) < phase.repeats.len())
    });
    Ok((run, detail))
}

pub(crate) fn run_file(dir: &Path) -> Result<RunDocument, StoreError> {
    let path = dir.join(RUN);
    run(&bounded(&path, MAX_RUN_BYTES)?, &path)
}

fn bounded(path: &Path, most: u64) -> Result<Vec<u8>, StoreError> {
    read_file(path, most).map_err(StoreError::io("reading", path))
}

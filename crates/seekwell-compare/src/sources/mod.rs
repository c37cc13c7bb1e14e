//! Reading one side: stored runs by label, by id or by path, and files other tools wrote. What a
//! file is, is found from what it holds and not from its name.

pub mod bonnie;
pub mod fio;
mod fio_output;
mod fio_text;
pub mod hdparm;
pub mod kept;
pub mod phoronix;

use crate::error::{FormatError, SourceError};
use crate::model::{MOST_RUNS, RunValues, Side, SourceKind, only_newest};
use seekwell_runs::{Filter, RunEntry, RunState, Runs, StoreError, read};
use seekwell_sys::read_file;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub const MAX_BYTES: u64 = 64 << 20;
pub const MAX_FILES: usize = 1000;

/// The most configurations of one file that are compared with each other.
pub const MAX_SIDES: usize = 64;

/// What a file holds: one or more configurations with their runs, each with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Contents {
    pub kind: SourceKind,
    /// Name and runs of each configuration; one without a name takes that of the file.
    pub configurations: Vec<(String, Vec<RunValues>)>,
}

/// Reads the contents of a file; `name` is the name of its runs.
///
/// # Errors
/// [`FormatError`] says what it is not, or where it is damaged.
pub fn contents(bytes: &[u8], name: &str) -> Result<Contents, FormatError> {
    let text = std::str::from_utf8(bytes).map_err(|_| FormatError::Unknown)?;
    let text = text.trim_start_matches('\u{feff}');
    let one = |kind, runs| Ok(Contents { kind, configurations: vec![(name.to_owned(), runs)] });
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if first.starts_with('<') && text.contains("<PhoronixTestSuite") {
        let configurations = phoronix::read(text, name)?;
        return Ok(Contents { kind: SourceKind::PhoronixXml, configurations });
    }
    if first.starts_with('{') && is_run(text) {
        let run = read::run(bytes, Path::new(name))?;
        return one(SourceKind::KeptRuns, vec![kept::values(&run)]);
    }
    if text.lines().any(|line| bonnie::is_result(line.trim())) && !first.starts_with('{') {
        return one(SourceKind::BonnieCsv, bonnie::read(text, name)?);
    }
    let printed = text.lines().any(fio_text::is_job);
    if printed || (fio::is_json(text) && text.contains("\"fio version\"")) {
        return one(SourceKind::Fio, vec![fio::read(text, name)?]);
    }
    if text.lines().any(hdparm::is_timing) {
        let mut configurations = hdparm::read(text, name)?;
        if let [(only, _)] = configurations.as_mut_slice() {
            name.clone_into(only);
        }
        return Ok(Contents { kind: SourceKind::Hdparm, configurations });
    }
    Err(FormatError::Unknown)
}

/// Whether a JSON text calls itself a run of this program.
fn is_run(text: &str) -> bool {
    let head: String = text.chars().take(4096).collect();
    head.contains("\"schema\"") && head.contains("seekwell/run/")
}

/// Reads what `arg` names as one side: in this order the label of kept runs, a kept run (its id,
/// part of it or `last`), a bundle, a file, or a folder of files, each file then being one or more
/// runs. Several of these with commas between are one side together. `FILE#NAME` is one
/// configuration of a file that describes several. A name with a `/` is always a path.
///
/// # Errors
/// [`SourceError`] names what was not found, and the file with what is wrong in it.
pub fn side(arg: &str, store: &dyn Runs) -> Result<Side, SourceError> {
    let parts: Vec<&str> = match Path::new(arg).exists() {
        true => vec![arg],
        false => arg.split(',').filter(|p| !p.is_empty()).collect(),
    };
    let mut side: Option<Side> = None;
    for part in parts {
        let next = one(part, store)?;
        match &mut side {
            None => side = Some(Side { name: short_name(arg), ..next }),
            Some(side) if side.source == next.source => side.runs.extend(next.runs),
            Some(side) => {
                return Err(SourceError::MixedKinds {
                    name: arg.to_owned(),
                    kinds: (side.source.name(), next.source.name()),
                });
            }
        }
    }
    let side = side.ok_or_else(|| not_found(arg, store))?;
    if side.runs.iter().all(|r| r.groups.iter().all(|g| g.values.is_empty() && g.invalid.is_none()))
    {
        let why = side.runs.iter().flat_map(|r| r.left_out.clone()).take(3).collect();
        return Err(SourceError::Empty { name: side.name, why });
    }
    Ok(side)
}

/// The sides in one file that describes several configurations: the systems of a Phoronix file, the
/// lines of a bonnie++ file. `None` when it describes one.
///
/// # Errors
/// As for [`side`].
pub fn sides_of_file(arg: &str) -> Result<Option<Vec<Side>>, SourceError> {
    let path = Path::new(arg);
    if !path.is_file() {
        return Ok(None);
    }
    let found = file(path)?;
    let source = found.kind;
    let configurations = found.configurations.len();
    let lines = found.configurations.first().map_or(0, |(_, runs)| runs.len());
    if configurations > MAX_SIDES || (source == SourceKind::BonnieCsv && lines > MAX_SIDES) {
        let too_many = FormatError::TooMany { what: "configurations", most: MAX_SIDES };
        return Err(SourceError::Format { path: path.to_path_buf(), source: too_many });
    }
    let sides: Vec<Side> = match source {
        SourceKind::BonnieCsv => {
            let lines = found.configurations.into_iter().flat_map(|(_, runs)| runs);
            lines.map(|r| Side { name: r.name.clone(), source, runs: vec![r] }).collect()
        }
        _ => {
            let all = found.configurations.into_iter();
            all.map(|(name, runs)| Side { name, source, runs }).collect()
        }
    };
    Ok((sides.len() > 1).then_some(sides))
}

/// The last part of a path; anything else as it is.
fn short_name(arg: &str) -> String {
    let last = |part: &str| part.trim_end_matches('/').rsplit('/').next().map(str::to_owned);
    let names: Vec<String> = arg.split(',').filter_map(last).collect();
    names.join(",")
}

fn one(arg: &str, store: &dyn Runs) -> Result<Side, SourceError> {
    let path = Path::new(arg);
    if !arg.contains('/') {
        if let Some(side) = by_label(arg, store)? {
            return Ok(side);
        }
        match store.load(arg) {
            Ok((run, _)) => return Ok(kept_side(arg, vec![kept::values(&run)])),
            Err(StoreError::NotFound { .. }) => {}
            Err(StoreError::Ambiguous { .. }) if path.exists() => {}
            Err(error) => return Err(error.into()),
        }
    }
    let bundle = path.join("run.json");
    if bundle.is_file() {
        let run = read::run(&bounded(&bundle)?, &bundle)?;
        return Ok(kept_side(arg, vec![kept::values(&run)]));
    }
    if path.is_dir() {
        return folder(path);
    }
    if path.exists() {
        return configuration(path, file(path)?, None);
    }
    match arg.rsplit_once('#') {
        Some((path, name)) if Path::new(path).is_file() => {
            let path = Path::new(path);
            configuration(path, file(path)?, Some(name))
        }
        _ => Err(not_found(arg, store)),
    }
}

fn kept_side(name: &str, runs: Vec<RunValues>) -> Side {
    Side { name: name.to_owned(), source: SourceKind::KeptRuns, runs }
}

/// All runs with this label that came to their end, oldest first; `None` if none has it.
fn by_label(label: &str, store: &dyn Runs) -> Result<Option<Side>, SourceError> {
    let filter = Filter { label: Some(label.to_owned()), ..Filter::default() };
    let found = store.list(&filter)?.runs;
    if found.is_empty() {
        return Ok(None);
    }
    let complete: Vec<&RunEntry> = found.iter().filter(|e| e.state == RunState::Complete).collect();
    let newest: Vec<&RunEntry> = complete.iter().take(MOST_RUNS).rev().copied().collect();
    let mut runs = Vec::new();
    store.each(&newest, &mut |run| runs.push(kept::values(&run)))?;
    if let (Some(first), true) = (runs.first_mut(), complete.len() > MOST_RUNS) {
        first.left_out.insert(0, only_newest(complete.len()));
    }
    if runs.is_empty() {
        let (label, runs) = (label.to_owned(), found.len());
        return Err(SourceError::NoneComplete { label, runs });
    }
    Ok(Some(kept_side(label, runs)))
}

fn not_found(arg: &str, store: &dyn Runs) -> SourceError {
    let listing = store.list(&Filter::default()).unwrap_or_default();
    let labels: BTreeSet<String> = listing.runs.into_iter().filter_map(|e| e.label).collect();
    SourceError::NotFound { wanted: arg.to_owned(), labels: labels.into_iter().take(8).collect() }
}

/// One configuration of a file, the only one if none is named.
fn configuration(path: &Path, found: Contents, wanted: Option<&str>) -> Result<Side, SourceError> {
    let names = || found.configurations.iter().map(|(name, _)| name.clone()).take(20).collect();
    let at = match wanted {
        None if found.configurations.len() == 1 => Some(0),
        None if found.configurations.is_empty() => {
            let name = path.display().to_string();
            return Err(SourceError::Empty { name, why: Vec::new() });
        }
        None => {
            let path = path.to_path_buf();
            return Err(SourceError::SeveralConfigurations { path, names: names() });
        }
        Some(name) => found.configurations.iter().position(|(n, _)| n == name),
    };
    let Some(at) = at else {
        return Err(SourceError::NoSuchConfiguration {
            path: path.to_path_buf(),
            wanted: wanted.unwrap_or_default().to_owned(),
            names: names(),
        });
    };
    let source = found.kind;
    let (name, runs) = found.configurations.into_iter().nth(at).unwrap_or_default();
    Ok(Side { name, source, runs })
}

/// A folder of files as one side, in the order of their names.
fn folder(path: &Path) -> Result<Side, SourceError> {
    let failed = |source| SourceError::Io { path: path.to_path_buf(), source };
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if hidden || !entry.file_type().map_err(failed)?.is_file() {
            continue;
        }
        if files.len() == MAX_FILES {
            return Err(SourceError::TooMany { path: path.to_path_buf(), most: MAX_FILES });
        }
        files.push(entry.path());
    }
    files.sort();
    let mut side: Option<Side> = None;
    for file_path in files {
        let next = configuration(&file_path, file(&file_path)?, None)?;
        match &mut side {
            None => side = Some(next),
            Some(side) if side.source == next.source => side.runs.extend(next.runs),
            Some(side) => {
                return Err(SourceError::MixedKinds {
                    name: path.display().to_string(),
                    kinds: (side.source.name(), next.source.name()),
                });
            }
        }
    }
    side.ok_or_else(|| SourceError::Empty { name: path.display().to_string(), why: Vec::new() })
}

fn file(path: &Path) -> Result<Contents, SourceError> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let bytes = bounded(path)?;
    contents(&bytes, &name).map_err(|source| SourceError::Format { path: path.into(), source })
}

fn bounded(path: &Path) -> Result<Vec<u8>, SourceError> {
    read_file(path, MAX_BYTES)
        .map_err(|source| SourceError::Io { path: path.to_path_buf(), source })
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;

//! Appending runs to a folder of Parquet files.
//!
//! A table is a folder, and in it a month is one: `metrics/month=2026-11/HOST-RUN.parquet`, as
//! DuckDB, polars and Spark read partitions. Runs are appended in batches of a file a table. The
//! file of the table `runs` comes last and makes the batch count: files of other tables without it
//! are what a killed export left, and go with the next one.

use crate::error::FleetError;
use crate::parquet::{keys, write};
use crate::table::{Row, Table};
use crate::tables::{rows, tables};
use seekwell_access::{Locked, OutputFile};
use seekwell_runs::{Detail, RunDocument};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Runs of one batch: their histograms are in memory together.
const BATCH: usize = 256;
const ENDING: &str = ".parquet";

/// A folder that runs are appended to. Only one process at a time has it.
#[derive(Debug)]
pub struct Export {
    dir: PathBuf,
    /// Host and run of all that is there.
    there: BTreeSet<[String; 2]>,
    /// What is to be written, by month.
    batches: BTreeMap<String, Batch>,
    exported: Exported,
    _lock: Locked,
}

/// What an export did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// Runs that were appended.
    pub runs: u64,
    /// Runs that were there before.
    pub known: u64,
}

#[derive(Debug, Default)]
struct Batch {
    /// Host and run of the first.
    name: String,
    runs: usize,
    rows: [Vec<Row>; 5],
}

impl Export {
    /// Takes a folder, which is made if it is not there yet, and removes what a killed export
    /// left in it.
    ///
    /// # Errors
    /// [`FleetError`] if it cannot be made, read or locked.
    pub fn open(dir: &Path) -> Result<Self, FleetError> {
        fs::create_dir_all(dir).map_err(FleetError::io("creating", dir))?;
        let lock = File::open(dir).map_err(FleetError::io("opening", dir))?;
        let lock = Locked::of(lock).map_err(FleetError::io("locking", dir))?;
        let lock = lock.ok_or_else(|| FleetError::Busy { path: dir.to_path_buf() })?;
        let [others @ .., runs] = tables();
        let mut there = BTreeSet::new();
        let mut whole = BTreeSet::new();
        for (file, name) in files(dir, &runs)? {
            there.extend(keys::<2>(&file, &runs)?);
            whole.insert(name);
        }
        for table in others {
            for (file, name) in files(dir, &table)? {
                if !whole.contains(&name) {
                    fs::remove_file(&file).map_err(FleetError::io("removing", &file))?;
                }
            }
        }
        let (batches, exported) = (BTreeMap::new(), Exported::default());
        Ok(Self { dir: dir.to_path_buf(), there, batches, exported, _lock: lock })
    }

    /// Host and id of all runs that are there.
    pub const fn there(&self) -> &BTreeSet<[String; 2]> {
        &self.there
    }

    /// Appends a run, unless it is there.
    ///
    /// # Errors
    /// [`FleetError`] where a batch is full and cannot be written.
    pub fn add(&mut self, run: &RunDocument, detail: &Detail) -> Result<(), FleetError> {
        let host = run.inspection.host.label();
        if !self.there.insert([host.to_owned(), run.id.clone()]) {
            self.exported.known += 1;
            return Ok(());
        }
        let month: String = run.started_at.chars().take(7).collect();
        let batch = self.batches.entry(month.clone()).or_default();
        if batch.runs == 0 {
            batch.name = format!("{}-{}{ENDING}", plain(host), plain(&run.id));
        }
        batch.runs += 1;
        for (all, new) in batch.rows.iter_mut().zip(rows(run, detail)) {
            all.extend(new);
        }
        if batch.runs == BATCH { self.write(&month) } else { Ok(()) }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// [`FleetError`]; runs that were not written are not there.
    pub fn finish(mut self) -> Result<Exported, FleetError> {
        for month in self.batches.keys().cloned().collect::<Vec<_>>() {
            self.write(&month)?;
        }
        Ok(self.exported)
    }

    fn write(&mut self, month: &str) -> Result<(), FleetError> {
        let batch = self.batches.remove(month).expect("a month that has runs");
        assert_eq!(batch.rows[4].len(), batch.runs, "each run has one row");
        for (table, rows) in tables().iter().zip(&batch.rows) {
            let folder = self.dir.join(table.name).join(format!("month={month}"));
            fs::create_dir_all(&folder).map_err(FleetError::io("creating", &folder))?;
            let failed = |e: parquet::errors::ParquetError| io::Error::other(e);
            OutputFile::create(&folder.join(&batch.name), true)?
                .filled(|out| write(out, table, rows).map_err(failed))?
                .finish()?;
        }
        self.exported.runs += batch.runs as u64;
        Ok(())
    }
}

/// The files of a table, each with its month and name.
fn files(dir: &Path, table: &Table) -> Result<Vec<(PathBuf, PathBuf)>, FleetError> {
    let mut found = Vec::new();
    let folder = dir.join(table.name);
    for month in entries(&folder)? {
        for file in entries(&month)? {
            if file.to_string_lossy().ends_with(ENDING) {
                let name = file.strip_prefix(&folder).expect("it is below").to_path_buf();
                found.push((file, name));
            }
        }
    }
    Ok(found)
}

/// What is in a folder; nothing in one that is not there.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, FleetError> {
    let entries = match fs::read_dir(folder) {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries.map_err(FleetError::io("reading", folder))?,
    };
    entries.map(|e| Ok(e.map_err(FleetError::io("reading", folder))?.path())).collect()
}

/// A text of characters that a file name may have.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests;

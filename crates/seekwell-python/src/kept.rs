//! Runs that the command line kept, and comparisons.

use crate::error::Error;
use crate::machine::document;
use crate::simulate::Run;
use crate::table::{Table, batch};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, StringArray, UInt64Array};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use seekwell_compare::sources::kept::values;
use seekwell_compare::{Margin, MetricComparison, Options, Side, SourceKind, side};
use seekwell_runs::{Filter, RunEntry, Runs, Store, default_dir};
use serde::Serialize;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;

fn store(dir: Option<PathBuf>) -> PyResult<Store> {
    let var = std::env::var_os;
    let dir = match dir {
        Some(dir) => dir,
        None => default_dir(var("XDG_DATA_HOME").as_deref(), var("HOME").as_deref())
            .map_err(Error::from)?,
    };
    Ok(Store::open(dir))
}

/// The name that a value has in documents.
fn name(value: &impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

/// A column of text.
fn text<'a, T, S: AsRef<str>>(rows: &'a [T], of: impl Fn(&'a T) -> Option<S>) -> ArrayRef {
    Arc::new(rows.iter().map(of).collect::<StringArray>())
}

fn number<T>(rows: &[T], of: impl Fn(&T) -> Option<f64>) -> ArrayRef {
    Arc::new(rows.iter().map(of).collect::<Float64Array>())
}

/// The kept runs, the newest first, as `seekwell runs list --json` shows them.
#[pyfunction]
#[pyo3(signature = (dir=None))]
pub fn runs(py: Python<'_>, dir: Option<PathBuf>) -> PyResult<Table> {
    let store = store(dir)?;
    let listing = py.detach(|| store.list(&Filter::default())).map_err(Error::from)?;
    for (id, error) in &listing.unreadable {
        let said = CString::new(format!("{id} cannot be read: {error}")).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &said, 1)?;
    }
    let runs: &[RunEntry] = &listing.runs;
    let flag = |of: fn(&RunEntry) -> bool| -> ArrayRef {
        Arc::new(BooleanArray::from(runs.iter().map(of).collect::<Vec<_>>()))
    };
    let columns = vec![
        ("id", text(runs, |r| Some(&r.id))),
        ("host", text(runs, |r| Some(&r.host))),
        ("kind", text(runs, |r| name(&r.kind))),
        ("state", text(runs, |r| Some(r.state.name()))),
        ("label", text(runs, |r| r.label.as_ref())),
        ("modelled", flag(|r| r.modelled)),
        ("target", text(runs, |r| Some(&r.target))),
        ("device_model", text(runs, |r| r.device_model.as_ref())),
        ("device_serial", text(runs, |r| r.device_serial.as_ref())),
        ("kernel", text(runs, |r| r.kernel.as_ref())),
        ("tool_version", text(runs, |r| Some(&r.tool_version))),
        ("started_at", text(runs, |r| Some(&r.started_at))),
        ("ended_at", text(runs, |r| r.ended_at.as_ref())),
        ("invalid", flag(|r| r.invalid)),
        ("path", text(runs, |r| r.path.as_ref().map(|p| p.display().to_string()))),
    ];
    Ok(batch(columns)?.into())
}

/// One side of a comparison.
#[derive(FromPyObject)]
pub enum Asked<'py> {
    /// What `seekwell compare` takes: a label, a run, a bundle or a file.
    Named(String),
    /// A path.
    Path(PathBuf),
    /// A modelled run.
    Run(Bound<'py, Run>),
    /// Several of them.
    Runs(Vec<Bound<'py, Run>>),
}

impl Asked<'_> {
    fn side(&self, name: &str, store: &Store) -> PyResult<Side> {
        let of = |runs: &[Bound<'_, Run>]| Side {
            name: name.to_owned(),
            source: SourceKind::KeptRuns,
            runs: runs.iter().map(|run| values(&run.get().document)).collect(),
        };
        Ok(match self {
            Self::Named(name) => side(name, store).map_err(Error::from)?,
            Self::Path(path) => side(&path.display().to_string(), store).map_err(Error::from)?,
            Self::Run(run) => of(std::slice::from_ref(run)),
            Self::Runs(runs) => of(runs),
        })
    }
}

/// Two sides, and what may be concluded.
#[pyclass(frozen, module = "seekwell")]
pub struct Comparison(seekwell_compare::Comparison);

/// Compares two sides as `seekwell compare` does; `margin` is in per cent.
#[pyfunction]
#[pyo3(signature = (a, b, metric=None, margin=None, different_workloads=false, runs_dir=None))]
pub fn compare(
    py: Python<'_>,
    a: Asked<'_>,
    b: Asked<'_>,
    metric: Option<String>,
    margin: Option<f64>,
    different_workloads: bool,
    runs_dir: Option<PathBuf>,
) -> PyResult<Comparison> {
    // Files can be compared by somebody who keeps no runs.
    let store = match runs_dir {
        None => store(None).unwrap_or_else(|_| Store::open("/nonexistent")),
        dir => store(dir)?,
    };
    let sides = [a.side("a", &store)?, b.side("b", &store)?];
    let margin = margin.map(|percent| Margin::new(percent / 100.0)).transpose();
    let margin = margin.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let options = Options { metric, margin, expect: None, different_workloads };
    let found = py.detach(|| seekwell_compare::compare(&sides, &options));
    Ok(Comparison(found.map_err(Error::from)?))
}

#[pymethods]
impl Comparison {
    /// The document of `seekwell compare --json`.
    #[getter(document)]
    fn py_document<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        document(py, &self.0)
    }

    /// What follows, in sentences.
    #[getter]
    fn summary(&self) -> Vec<String> {
        self.0.against.iter().flat_map(|against| against.summary.clone()).collect()
    }

    /// A row for each metric of each workload.
    fn metrics(&self) -> PyResult<Table> {
        let rows: Vec<&MetricComparison> = self.0.against.iter().flat_map(|a| &a.metrics).collect();
        let runs = |n: fn(&MetricComparison) -> usize| -> ArrayRef {
            Arc::new(rows.iter().map(|row| Some(n(row) as u64)).collect::<UInt64Array>())
        };
        let columns = vec![
            ("workload", text(&rows, |row| Some(&row.group))),
            ("metric", text(&rows, |row| Some(&row.metric))),
            ("a", number(&rows, |row| Some(row.a.median))),
            ("b", number(&rows, |row| Some(row.b.median))),
            ("a_runs", runs(|row| row.a.n)),
            ("b_runs", runs(|row| row.b.n)),
            ("change_percent", number(&rows, |row| row.change_percent)),
            ("low_percent", number(&rows, |row| row.interval95_percent.map(|i| i.low))),
            ("high_percent", number(&rows, |row| row.interval95_percent.map(|i| i.high))),
            ("p", number(&rows, |row| row.p_adjusted.or(row.p))),
            ("conclusion", text(&rows, |row| name(&row.conclusion))),
            ("sentence", text(&rows, |row| Some(&row.sentence))),
        ];
        Ok(batch(columns)?.into())
    }

    fn __repr__(&self) -> String {
        format!("<Comparison: {}>", self.summary().join(" "))
    }
}

//! Jobs on modelled machines.

use crate::error::Error;
use crate::heed::{Stop, heeded};
use crate::job::{FIO_NAME, Job, Work};
use crate::machine::{Machine, document};
use crate::table::{Cell, Row, Table, Value, ipc, limits, metrics, sweep};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use seekwell_checkup::Progress;
use seekwell_io::engine::Control;
use seekwell_io::target::Engine;
use seekwell_run::bench::{BenchOptions, Question, bench};
use seekwell_run::jobs::{Jobs, Request};
use seekwell_run::replay::{ReplayOptions, Targets, replay};
use seekwell_run::{Ending, Finished, Host, Keeping, Purpose, RunError, Watcher};
use seekwell_runs::{RunDocument, RunKind, Tool};
use seekwell_sys::{Live, Patient};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The kernel's own files answer at once.
const ANSWER: Duration = Duration::from_secs(2);

/// A run of a job on a modelled machine.
#[pyclass(frozen, module = "seekwell")]
pub struct Run {
    /// Its document.
    pub document: RunDocument,
    ending: Ending,
    notes: Vec<String>,
}

#[pymethods]
impl Run {
    /// The document of `seekwell bench --json`, `seekwell/run/1`.
    #[getter(document)]
    fn py_document<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        document(py, &self.document)
    }

    /// Whether everything that was measured is valid.
    #[getter]
    fn valid(&self) -> bool {
        self.ending == Ending::Complete
    }

    /// What was said beside the result.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// A row for each metric of each phase.
    fn metrics(&self) -> PyResult<Table> {
        metrics(&self.document)
    }

    /// A row for each phase that says what limits it; empty if nothing is said.
    fn limits(&self) -> PyResult<Table> {
        limits(&self.document)
    }

    fn __repr__(&self) -> String {
        let names: Vec<_> = self.document.phases.iter().map(|phase| phase.name.as_str()).collect();
        format!("<Run of {} on {}>", names.join(", "), self.document.inspection.path)
    }
}

/// Keeps what is reported to it.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Watcher for &Notes {
    fn doing(&self, _: &str) {}
    fn part(&self, _: &str, _: u64, _: u64) {}
    fn at(&self, _: &Progress<'_>) {}
    fn note(&self, text: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }
    fn clear(&self) {}
}

/// Runs a job; `None` if it was stopped before anything was measured.
fn run(
    machine: &Machine,
    job: &Job,
    (seed, repeats): (u64, u32),
    control: &Arc<Control>,
) -> Result<Option<Run>, RunError> {
    let view = Patient::new(Live::system(), ANSWER);
    let host = Host { view: &view, control };
    let notes = Notes::default();
    let purpose = |kind| Purpose {
        kind,
        label: None,
        keep: Keeping::No,
        engine: Engine::Auto,
        tool: Tool { version: env!("CARGO_PKG_VERSION").to_owned(), git_commit: None },
    };
    let (target, set) = (machine.path.as_path(), machine.set.as_slice());
    let finished: Option<Finished> = match &job.work {
        Work::Plain { job, size_bytes } => {
            let (destroy, precondition, size_bytes) = (None, false, *size_bytes);
            let with =
                BenchOptions { target, size_bytes, destroy, set, precondition, repeats, seed };
            let asked = Question::Once(job.clone());
            Some(bench(host, &notes, purpose(RunKind::Bench), &with, &asked)?)
        }
        Work::Fio(parsed) => {
            let (files, on) = (&[PathBuf::from(FIO_NAME)], Some(target));
            let (destroy, replace, ages) = (None, false, false);
            let request = Request { files, on, set, repeats, seed, destroy, replace, ages };
            let tell = |text: &str| (&notes).note(text);
            let jobs = Jobs::of(request, parsed.clone())?;
            let (finished, logged) = jobs.plan(tell)?.run(host, &notes, purpose(RunKind::Bench))?;
            logged?;
            Some(finished)
        }
        Work::Trace(options) => {
            let Targets::One { device, .. } = &options.targets else {
                unreachable!("a trace is played on one machine")
            };
            let targets = Targets::One { on: target.to_owned(), device: device.clone() };
            let set = set.to_vec();
            let with = ReplayOptions { targets, set, repeats, ..(**options).clone() };
            replay(host, &notes, purpose(RunKind::Replay), &with)?
        }
    };
    let notes = notes.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(finished.map(|(document, _, ending)| Run { document, ending, notes }))
}

/// Runs a job on a modelled machine.
#[pyfunction]
#[pyo3(signature = (machine, job, seed=1, repeats=1))]
pub fn simulate(
    py: Python<'_>,
    machine: &Bound<'_, Machine>,
    job: &Bound<'_, Job>,
    seed: u64,
    repeats: u32,
) -> PyResult<Run> {
    let (machine, job) = (machine.get(), job.get());
    let ran = heeded(py, None, |control| run(machine, job, (seed, repeats.max(1)), control))?;
    ran.map_err(Error::from)?.ok_or_else(|| PyKeyboardInterrupt::new_err(()))
}

/// A `Cell` of Python.
#[derive(FromPyObject)]
pub struct Asked {
    machine: Py<Machine>,
    job: Py<Job>,
    seed: u64,
    repeats: u32,
    values: BTreeMap<String, Value>,
}

/// Runs some cells of a sweep, numbered from `first` on; gives their rows as an Arrow file. Each
/// axis has a name and a type.
#[pyfunction]
#[pyo3(signature = (first, cells, axes, stop=None))]
pub fn run_cells<'py>(
    py: Python<'py>,
    first: u64,
    cells: Vec<Asked>,
    axes: Vec<(String, String)>,
    stop: Option<&Bound<'_, Stop>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let stop = stop.map(|stop| stop.get());
    let bytes = heeded(py, stop, |control| {
        let mut rows = Vec::new();
        for (number, asked) in (first..).zip(&cells) {
            let machine = asked.machine.get();
            let ran = run(machine, asked.job.get(), (asked.seed, asked.repeats), control);
            if control.stop.load(Relaxed) {
                return Err(PyRuntimeError::new_err("stopped"));
            }
            let (seed, values) = (asked.seed, &asked.values);
            let cell = Cell { number, machine: machine.name(), seed, values };
            rows.extend(Row::of(cell, ran.map(|run| run.map(|run| run.document))));
        }
        ipc(&sweep(&axes, &rows)?)
    })??;
    Ok(PyBytes::new(py, &bytes))
}

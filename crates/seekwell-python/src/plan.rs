//! How much of a load a machine bears.

use crate::error::Error;
use crate::job::{Job, Work};
use crate::machine::Machine;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use seekwell_machine::plan::Limit;
use seekwell_run::{Asked, Burden, arrivals, plan_rows};

/// A row of `seekwell/plan/1` as JSON.
#[pyfunction]
pub fn plan_machine(
    py: Python<'_>,
    machine: &Bound<'_, Machine>,
    job: &Bound<'_, Job>,
    limits: Vec<String>,
    requests: u64,
    seed: u64,
) -> PyResult<String> {
    let limits: Result<Vec<Limit>, _> = limits.iter().map(|limit| limit.parse()).collect();
    let limits = limits.map_err(Error::from)?;
    let machine = machine.get();
    let asked = Asked {
        machine: machine.path.display().to_string(),
        set: machine.set.clone(),
        model: machine.model.clone(),
        price: None,
    };
    let job = job.get();
    let rows = py.detach(|| {
        let burden = match &job.work {
            Work::Plain { job, .. } => Burden::Job(Box::new(job.clone()), requests),
            Work::Trace(replay) => {
                Burden::Trace(arrivals(&replay.trace, &replay.reading).map_err(Error::from)?)
            }
            Work::Fio(_) => {
                return Err(PyValueError::new_err("a plan needs a Job or a Job.from_trace"));
            }
        };
        Ok(plan_rows(&[asked], &burden, &limits, seed, 1))
    })?;
    let row = rows.into_iter().next().ok_or_else(|| PyRuntimeError::new_err("no row"))?;
    let row = row.map_err(Error::from)?;
    serde_json::to_string(&row).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

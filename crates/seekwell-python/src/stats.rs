//! Statistics of traces, gathered in parts that merge.

use crate::error::Error;
use crate::heed::heeded;
use crate::machine::document;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use seekwell_io::engine::Control;
use seekwell_trace::formats::{Reading, open_file};
use seekwell_trace::stats::{self, Options, Policy, StatsError, usual_rate_log2};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::available_parallelism;

/// Statistics of any number of devices. Whoever gathers which devices, and in whatever order the
/// parts are merged, the digest is the same.
#[pyclass(module = "seekwell")]
pub struct Stats {
    gathered: stats::Stats,
    options: Options,
}

#[pymethods]
impl Stats {
    /// Nothing seen yet. One block in `2**rate_log2` is followed; only equal rates can be merged.
    #[new]
    #[pyo3(signature = (rate_log2=0, policies=Vec::new()))]
    fn new(rate_log2: u32, policies: Vec<String>) -> PyResult<Self> {
        let named = |name: String| {
            let found = Policy::ALL.into_iter().find(|policy| policy.name() == name);
            found.ok_or_else(|| {
                let known = Policy::ALL.map(Policy::name).join(", ");
                PyValueError::new_err(format!("{name}: one of {known} is needed"))
            })
        };
        if rate_log2 > 32 {
            let why = format!("rate_log2={rate_log2}: a whole number from 0 to 32 is needed");
            return Err(PyValueError::new_err(why));
        }
        let policies = policies.into_iter().map(named).collect::<PyResult<_>>()?;
        let options = Options { rate_log2, policies, ..Options::default() };
        Ok(Self { gathered: stats::Stats::new(options.clone()), options })
    }

    /// Adds a trace, read on all cores.
    fn update(&mut self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.add(py, &path, None)
    }

    /// Adds one device of a trace.
    fn update_partition(&mut self, py: Python<'_>, partition: (PathBuf, String)) -> PyResult<()> {
        self.add(py, &partition.0, Some(partition.1))
    }

    /// Adds what another has gathered, of other devices.
    fn merge(&mut self, other: &Bound<'_, Self>) -> PyResult<()> {
        // Of itself it cannot be borrowed, and it would hold every device twice.
        let bytes = other.try_borrow_mut().map(|mut other| other.gathered.to_bytes());
        let bytes =
            bytes.map_err(|_| PyValueError::new_err("statistics do not merge with themselves"))?;
        let other = stats::Stats::from_bytes(&bytes).map_err(Error::from)?;
        Ok(self.gathered.merge(other).map_err(Error::from)?)
    }

    /// All that is known, as `seekwell trace stats -o NAME.stats` writes it.
    #[pyo3(name = "to_bytes")]
    fn bytes<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.gathered.to_bytes())
    }

    /// Reads what `to_bytes` gave.
    #[staticmethod]
    fn from_bytes(contents: &[u8]) -> PyResult<Self> {
        let gathered = stats::Stats::from_bytes(contents).map_err(Error::from)?;
        Ok(Self { gathered, options: Options::default() })
    }

    /// SHA-256 of the figures.
    #[getter]
    fn digest(&mut self) -> String {
        self.gathered.digest()
    }

    /// The document of `seekwell trace stats --json`.
    #[pyo3(signature = (name=""))]
    fn finish<'py>(&mut self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let copy = stats::Stats::from_bytes(&self.gathered.to_bytes()).map_err(Error::from)?;
        document(py, &copy.finish(name).0)
    }
}

impl Stats {
    fn add(&mut self, py: Python<'_>, path: &Path, device: Option<String>) -> PyResult<()> {
        let threads = match device {
            Some(_) => 1,
            None => available_parallelism().map_or(1, usize::from),
        };
        let options = Options { device, ..self.options.clone() };
        let found = heeded(py, None, |control| gather(path, &options, threads, control))?;
        let part = found.map_err(Error::from)?.ok_or_else(|| PyKeyboardInterrupt::new_err(()))?;
        Ok(self.gathered.merge(part).map_err(Error::from)?)
    }
}

fn gather(
    path: &Path,
    options: &Options,
    threads: usize,
    control: &Arc<Control>,
) -> Result<Option<stats::Stats>, StatsError> {
    let mut source = open_file(path, &Reading::default())?;
    let name = path.display().to_string();
    stats::of(source.as_mut(), &name, options, threads, |_| !control.stop.load(Relaxed))
}

/// The devices of some traces, each with the path of its trace.
#[pyfunction]
pub fn devices(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Vec<(PathBuf, String)>> {
    let read = |control: &Arc<Control>| stats::partitions(&paths, &Reading::default(), control);
    let found = heeded(py, None, read)?.map_err(Error::from)?;
    Ok(found.into_iter().map(|partition| (partition.path, partition.device)).collect())
}

/// The rate at which blocks of a file are followed where none is given.
#[pyfunction]
pub fn usual_rate(path: PathBuf) -> u32 {
    usual_rate_log2(&path)
}

//! Statistics of traces, gathered in parts that merge.

use crate::error::Error;
use crate::heed::{Stop, heeded};
use crate::machine::document;
use crate::requests::Requests;
use crate::trace::Trace;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use seekwell_trace::error::TraceError;
use seekwell_trace::formats::{Reading, open_file};
use seekwell_trace::source::TraceSource;
use seekwell_trace::stats::{self, Asked, Figure, Options, Policy, Shard, usual_rate_log2};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::thread::available_parallelism;

/// Statistics of any number of devices. Whoever gathers which devices, and in whatever order the
/// parts are merged, the digest is the same.
#[pyclass(module = "seekwell")]
pub struct Stats {
    gathered: stats::Stats,
    options: Options,
    /// What the times of tables count from.
    epoch_ns: Option<i64>,
}

/// Where requests are from.
#[derive(FromPyObject)]
enum Source<'py> {
    /// Ours, whose files hold more than its columns.
    Trace(Bound<'py, Trace>),
    Path(PathBuf),
    /// Anything with an Arrow stream.
    Table(Bound<'py, PyAny>),
}

#[pymethods]
impl Stats {
    /// Nothing seen yet. One block in `2**rate_log2` is followed, and `only` some figures are
    /// gathered, where named; only statistics that are equal in both can be merged.
    #[new]
    #[pyo3(signature = (rate_log2=0, policies=Vec::new(), epoch_ns=None, only=None))]
    fn new(
        rate_log2: u32,
        policies: Vec<String>,
        epoch_ns: Option<i64>,
        only: Option<Vec<String>>,
    ) -> PyResult<Self> {
        if rate_log2 > 32 {
            let why = format!("rate_log2={rate_log2}: a whole number from 0 to 32 is needed");
            return Err(PyValueError::new_err(why));
        }
        let policies = named(&Policy::ALL, Policy::name, &policies)?;
        let asked = match only {
            Some(only) => Asked::of(&named(&Figure::ALL, Figure::name, &only)?),
            None => Asked::ALL,
        };
        let options = Options { asked, maps: false, rate_log2, policies, ..Options::default() };
        Ok(Self { gathered: stats::Stats::new(options.clone()), options, epoch_ns })
    }

    /// Adds a trace, or a table of requests, read on all cores.
    fn update(&mut self, py: Python<'_>, source: Source<'_>) -> PyResult<()> {
        let cores = available_parallelism().map_or(1, usize::from);
        let from = Gather { options: &self.options, threads: cores, stop: None };
        let part = match source {
            Source::Path(path) => from.file(py, &path, &Reading::default())?,
            Source::Trace(trace) => {
                let mut all = stats::Stats::new(self.options.clone());
                for path in &trace.get().paths {
                    let part = from.file(py, path, &trace.get().reading)?;
                    all.merge(part).map_err(Error::from)?;
                }
                all
            }
            Source::Table(table) => {
                let requests = Requests::of(&table, self.epoch_ns)?;
                from.source(py, "", || Ok(Box::new(requests) as Box<_>))?
            }
        };
        Ok(self.gathered.merge(part).map_err(Error::from)?)
    }

    /// Adds the devices of one part of a trace, on one core.
    #[pyo3(signature = (partition, stop=None))]
    fn update_partition(
        &mut self,
        py: Python<'_>,
        partition: (PathBuf, String),
        stop: Option<&Bound<'_, Stop>>,
    ) -> PyResult<()> {
        let (path, shard) = partition;
        let wrong = |why| PyValueError::new_err(format!("{shard}: {why}"));
        let shard: Shard = shard.parse().map_err(wrong)?;
        let options = Options { shard, ..self.options.clone() };
        let from = Gather { options: &options, threads: 1, stop: stop.map(|stop| stop.get()) };
        let part = from.file(py, &path, &Reading::default())?;
        Ok(self.gathered.merge(part).map_err(Error::from)?)
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
        Ok(Self { gathered, options: Options::default(), epoch_ns: None })
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
        document(py, &py.detach(|| copy.finish(name).0))
    }
}

/// Those of these names.
fn named<T: Copy>(all: &[T], name: fn(T) -> &'static str, names: &[String]) -> PyResult<Vec<T>> {
    let find = |wanted: &String| {
        all.iter().copied().find(|one| name(*one) == wanted).ok_or_else(|| {
            let known = all.iter().map(|one| name(*one)).collect::<Vec<_>>().join(", ");
            PyValueError::new_err(format!("{wanted}: one of {known} is needed"))
        })
    };
    names.iter().map(find).collect()
}

/// How requests are gathered.
struct Gather<'a> {
    options: &'a Options,
    threads: usize,
    stop: Option<&'a Stop>,
}

impl Gather<'_> {
    fn file(&self, py: Python<'_>, path: &Path, how: &Reading) -> PyResult<stats::Stats> {
        self.source(py, &path.display().to_string(), || open_file(path, how))
    }

    fn source(
        &self,
        py: Python<'_>,
        name: &str,
        open: impl FnOnce() -> Result<Box<dyn TraceSource + Send>, TraceError> + Send,
    ) -> PyResult<stats::Stats> {
        let found = heeded(py, self.stop, |control| {
            let source = open()?;
            let proceed = |_| !control.stop.load(Relaxed);
            stats::of(source, name, self.options, self.threads, proceed)
        })?;
        found.map_err(Error::from)?.ok_or_else(|| PyKeyboardInterrupt::new_err(()))
    }
}

/// The rate at which blocks of a file are followed if none is given.
#[pyfunction]
pub fn usual_rate(path: PathBuf) -> u32 {
    usual_rate_log2(&path)
}

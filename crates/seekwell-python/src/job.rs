//! What a machine is asked to do.

use crate::error::Error;
use crate::word::{Booleans, Words};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use seekwell_io::units::Nanos;
use seekwell_io::value::{duration, size};
use seekwell_job::job::JobFile;
use seekwell_job::plain::{PlainJob, canonical};
use seekwell_job::{Surroundings, parse_text};
use seekwell_run::replay::{ReplayOptions, Targets};
use seekwell_runs::ReplayMode;
use seekwell_trace::formats::Reading;
use seekwell_trace::replay::{Fit, Moment};
use std::path::{Path, PathBuf};

/// What is done.
pub enum Work {
    /// Drawn requests, as `seekwell bench` makes them.
    Plain { job: PlainJob, size_bytes: Option<u64> },
    /// Jobs of fio.
    Fio(JobFile),
    /// A trace that is played; the target is given to each run.
    Trace(Box<ReplayOptions>),
}

/// Where a job's words are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Plain,
    Fio,
    Trace,
}

const KINDS: [(Kind, &str); 3] =
    [(Kind::Plain, "Job"), (Kind::Fio, "Job.from_fio"), (Kind::Trace, "Job.from_trace")];

/// What a machine is asked to do. The words it was made of are all there is to it: by them it is
/// compared, pickled and shown.
#[pyclass(frozen, eq, hash, module = "seekwell")]
pub struct Job {
    kind: Kind,
    words: Words,
    /// What is done.
    pub work: Work,
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, &self.words) == (other.kind, &other.words)
    }
}

impl std::hash::Hash for Job {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.kind, &self.words).hash(state);
    }
}

impl Job {
    fn of(kind: Kind, words: Words) -> PyResult<Self> {
        let work = match kind {
            Kind::Plain => plain(&words)?,
            Kind::Trace => Work::Trace(Box::new(traced(&words)?)),
            Kind::Fio => {
                let text = words.first().map_or("", |(_, text)| text);
                let parsed = parse_text(text, Path::new(FIO_NAME), &Surroundings::here());
                Work::Fio(parsed.map_err(Error::from)?)
            }
        };
        Ok(Self { kind, words, work })
    }
}

/// The name that a job file without one has in documents.
pub const FIO_NAME: &str = "job.fio";

#[pymethods]
impl Job {
    /// Drawn requests, by the options of `seekwell bench`.
    #[new]
    #[pyo3(signature = (**options))]
    fn new(options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::of(Kind::Plain, options.map_or(Ok(Words::new()), |o| Booleans::NUMBER.words(o))?)
    }

    /// The jobs of a fio job file, given as its text.
    #[staticmethod]
    fn from_fio(text: String) -> PyResult<Self> {
        Self::of(Kind::Fio, vec![("text".to_owned(), text)])
    }

    /// A trace to be played, by the options of `seekwell replay`.
    #[staticmethod]
    #[pyo3(signature = (path, mode="timed", **options))]
    fn from_trace(
        path: PathBuf,
        mode: &str,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let path = path.into_os_string().into_string();
        let path = path.map_err(|path| {
            PyValueError::new_err(format!("{}: the path has to be UTF-8", path.display()))
        })?;
        let mut words = vec![("path".to_owned(), path), ("mode".to_owned(), mode.to_owned())];
        words.extend(options.map_or(Ok(Words::new()), |o| Booleans::NUMBER.words(o))?);
        Self::of(Kind::Trace, words)
    }

    /// The same job with other options.
    #[pyo3(signature = (**options))]
    fn replace(&self, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let new = options.map_or(Ok(Words::new()), |o| Booleans::NUMBER.words(o))?;
        if self.kind == Kind::Fio && !new.is_empty() {
            let what = "a job of a fio job file is changed in its text";
            return Err(PyValueError::new_err(what));
        }
        let mut words = self.words.clone();
        words.retain(|(key, _)| new.iter().all(|(other, _)| canonical(other) != canonical(key)));
        words.extend(new);
        Self::of(self.kind, words)
    }

    #[staticmethod]
    fn _restore(kind: usize, words: Words) -> PyResult<Self> {
        Self::of(KINDS[kind].0, words)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let restore = py.get_type::<Self>().getattr("_restore")?;
        Ok((restore, (self.kind as usize, self.words.clone()).into_pyobject(py)?))
    }

    fn __repr__(&self) -> String {
        let name = KINDS[self.kind as usize].1;
        let words: Vec<_> = self.words.iter().map(|(k, v)| format!("{k}={v:?}")).collect();
        format!("{name}({})", words.join(", "))
    }
}

fn wrong(key: &str, value: &str, why: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("{key}={value}: {why}"))
}

fn plain(words: &Words) -> PyResult<Work> {
    let (mut job, mut size_bytes) = (PlainJob::default(), None);
    for (key, value) in words {
        let bytes = || size(value).map_err(|why| wrong(key, value, why));
        let time = || duration(value).map_err(|why| wrong(key, value, why));
        match canonical(key) {
            "size" => size_bytes = Some(bytes()?),
            "offset" => job.offset_bytes = bytes()?,
            "runtime" => job.runtime_ns = time()?,
            "ramp_time" => job.ramp_ns = time()?,
            _ => job.set(key, value).map_err(Error::from)?,
        }
    }
    Ok(Work::Plain { job, size_bytes })
}

/// One of a few values by its name.
fn one_of<T: Copy, const N: usize>(
    (key, value): (&str, &str),
    all: [T; N],
    name: fn(T) -> &'static str,
) -> PyResult<T> {
    let found = all.into_iter().find(|one| name(*one) == value);
    found.ok_or_else(|| wrong(key, value, format!("one of {} is needed", all.map(name).join(", "))))
}

fn traced(words: &Words) -> PyResult<ReplayOptions> {
    let mut options = ReplayOptions {
        trace: PathBuf::new(),
        reading: Reading::default(),
        targets: Targets::Mapped(Vec::new()),
        mode: ReplayMode::Timed,
        speed: 1.0,
        depth: None,
        fit: Fit::Fail,
        moment: Moment::Queue,
        late: Nanos::from_millis(1),
        size_bytes: None,
        repeats: 1,
        tags: None,
        destroy: Vec::new(),
        accept_data: Vec::new(),
        set: Vec::new(),
    };
    let mut device = None;
    for (key, value) in words {
        let word = (key.as_str(), value.as_str());
        match key.as_str() {
            "path" => options.trace = PathBuf::from(value),
            "mode" => options.mode = one_of(word, MODES, ReplayMode::name)?,
            "fit" => options.fit = one_of(word, [Fit::Fail, Fit::Modulo, Fit::Scale], Fit::name)?,
            "times" => options.moment = one_of(word, [Moment::Queue, Moment::Issue], Moment::name)?,
            "size" => options.size_bytes = Some(size(value).map_err(|e| wrong(key, value, e))?),
            "device" => device = Some(value.clone()),
            "speed" => {
                let speed = value.parse().ok().filter(|s: &f64| *s > 0.0 && s.is_finite());
                let why = "a number above 0 is needed";
                options.speed = speed.ok_or_else(|| wrong(key, value, why))?;
            }
            "depth" => {
                let depth = value.parse().ok().filter(|depth| (1..=4096).contains(depth));
                let why = "a whole number from 1 to 4096 is needed";
                options.depth = Some(depth.ok_or_else(|| wrong(key, value, why))?);
            }
            _ => {
                let known = "mode, fit, times, size, device, speed and depth";
                let why = format!("there is no option {key}; a trace takes {known}");
                return Err(PyValueError::new_err(why));
            }
        }
    }
    options.targets = Targets::One { on: PathBuf::new(), device };
    Ok(options)
}

const MODES: [ReplayMode; 3] = [ReplayMode::Timed, ReplayMode::Depth, ReplayMode::Dependent];

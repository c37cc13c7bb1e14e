//! Modelled machines.

use crate::error::Error;
use crate::word::{Booleans, Words};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use seekwell_machine::Model;
use seekwell_run::{is_modelled, model};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A modelled machine. Each worker loads it from its path, so all need the same description.
#[pyclass(frozen, eq, hash, module = "seekwell")]
pub struct Machine {
    /// As the command line takes it.
    pub path: PathBuf,
    /// Parameters that are different.
    pub set: Words,
    pub model: Model,
    /// Of all parameters.
    pub digest: String,
}

impl PartialEq for Machine {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl std::hash::Hash for Machine {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

impl Machine {
    fn read(path: PathBuf, set: Words) -> PyResult<Self> {
        let model = model(&path, &set).map_err(Error::from)?;
        let mut parameters: Vec<_> =
            model.parameters().iter().map(|p| format!("{}={}\n", p.key, p.value)).collect();
        parameters.sort();
        let digest = hex(&Sha256::digest(parameters.concat()));
        Ok(Self { path, set, model, digest })
    }

    /// Its name: that of its file, without the ending.
    pub fn name(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

#[pymethods]
impl Machine {
    /// Loads a description: the name of a built-in machine or the path of a `.toml` file.
    #[staticmethod]
    #[pyo3(signature = (name, set=None))]
    fn load(name: PathBuf, set: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let set = set.map_or(Ok(Words::new()), |set| Booleans::TOML.words(set))?;
        let is_path = name.file_name() != Some(name.as_os_str());
        match is_modelled(&name) {
            true => Self::read(name, set),
            false if is_path || name == Path::new("null") => Err(PyValueError::new_err(format!(
                "{}: a modelled machine is needed, the name of a built-in one or a .toml file; \
                 devices are measured by the command line program: seekwell bench --on {0}",
                name.display()
            ))),
            false => {
                let mut file = name.into_os_string();
                file.push(".toml");
                Self::read(file.into(), set)
            }
        }
    }

    #[staticmethod]
    fn _restore(path: PathBuf, set: Words, digest: &str) -> PyResult<Self> {
        let machine = Self::read(path, set)?;
        if machine.digest == digest {
            return Ok(machine);
        }
        Err(PyValueError::new_err(format!(
            "{} is not the machine it was: its digest is {}, and {digest} is needed; use the same \
             file on all workers",
            machine.path.display(),
            machine.digest
        )))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let restore = py.get_type::<Self>().getattr("_restore")?;
        Ok((restore, (self.path.clone(), self.set.clone(), &self.digest).into_pyobject(py)?))
    }

    #[getter(name)]
    fn py_name(&self) -> String {
        self.name()
    }

    #[getter]
    fn path(&self) -> &Path {
        &self.path
    }

    #[getter]
    fn title(&self) -> &str {
        self.model.title()
    }

    #[getter]
    fn capacity_bytes(&self) -> u64 {
        self.model.capacity()
    }

    /// SHA-256 of all parameters: equal for machines that behave equally.
    #[getter]
    fn digest(&self) -> &str {
        &self.digest
    }

    /// What differs from the description.
    #[getter]
    fn set<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let set = PyDict::new(py);
        self.set.iter().try_for_each(|(key, value)| set.set_item(key, value))?;
        Ok(set)
    }

    /// The document of `seekwell machine show --json`.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        document(py, &self.model.described())
    }

    fn __repr__(&self) -> String {
        let set = self.set.iter().map(|(key, value)| format!(" {key}={value}"));
        format!("<Machine {}{}>", self.name(), set.collect::<String>())
    }
}

/// A document as Python has it.
///
/// # Errors
/// When it is no JSON, which it always is.
pub fn document<'py>(
    py: Python<'py>,
    document: &impl serde::Serialize,
) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(document).map_err(|e| PyValueError::new_err(e.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        write!(out, "{byte:02x}").expect("a string takes all");
        out
    })
}

//! Values of Python as the words that the command line takes.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use std::path::PathBuf;

/// Keys and values as typed.
pub type Words = Vec<(String, String)>;

/// What `False` and `True` are called.
pub struct Booleans(pub [&'static str; 2]);

impl Booleans {
    /// In a description of a machine.
    pub const TOML: Self = Self(["false", "true"]);
    /// In a job.
    pub const NUMBER: Self = Self(["0", "1"]);

    /// Entries of a dictionary, without those that are `None`.
    ///
    /// # Errors
    /// `TypeError` with the key of a value that is neither text nor number.
    pub fn words(&self, dict: &Bound<'_, PyDict>) -> PyResult<Words> {
        let entries = dict.iter().filter(|(_, value)| !value.is_none());
        entries.map(|(key, value)| Ok((key.extract()?, self.word(&key, &value)?))).collect()
    }

    fn word(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<String> {
        if let Ok(value) = value.cast::<PyBool>() {
            return Ok(self.0[usize::from(value.is_true())].to_owned());
        }
        let plain = value.is_instance_of::<PyInt>()
            || value.is_instance_of::<PyFloat>()
            || value.is_instance_of::<PyString>();
        if plain {
            return Ok(value.str()?.to_str()?.to_owned());
        }
        match value.extract::<PathBuf>() {
            Ok(path) => Ok(path.display().to_string()),
            Err(_) => Err(PyTypeError::new_err(format!(
                "{key}: a string, a number or a bool is needed, not {}",
                value.get_type().name()?
            ))),
        }
    }
}

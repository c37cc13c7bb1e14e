//! Errors of the libraries as exceptions, each with the library's sentence.

use arrow_schema::ArrowError;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use seekwell_sys::{Class, Classified};

/// An error of any library of the workspace.
pub struct Error(PyErr);

impl<E: Classified> From<E> for Error {
    fn from(error: E) -> Self {
        let text = error.to_string();
        Self(match error.class() {
            Class::Usage => PyValueError::new_err(text),
            Class::Refused => PyOSError::new_err(text),
            Class::Interrupted => PyKeyboardInterrupt::new_err(text),
            _ => PyRuntimeError::new_err(text),
        })
    }
}

impl From<Error> for PyErr {
    fn from(Error(error): Error) -> Self {
        error
    }
}

/// What Arrow cannot do with a table.
pub fn arrow(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

//! Traces of any format as Arrow streams.

use crate::error::Error;
use crate::table::stream;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{
    ArrayRef, DictionaryArray, Int64Array, PrimitiveArray, RecordBatch, RecordBatchReader,
    StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use seekwell_io::request::Op;
use seekwell_trace::formats::{Format, Reading, open_file};
use seekwell_trace::record::{Record, Stamp};
use seekwell_trace::source::{Tables, TraceSource};
use std::path::PathBuf;
use std::sync::Arc;

/// Records of one batch.
const ROWS: usize = 1 << 17;

/// Traces, one after the other.
#[pyclass(frozen, module = "seekwell")]
pub struct Trace {
    paths: Vec<PathBuf>,
    reading: Reading,
}

/// One path or several.
#[derive(FromPyObject)]
pub enum Paths {
    /// One.
    One(PathBuf),
    /// Several.
    Several(Vec<PathBuf>),
}

/// Traces of any format, by their paths or the names of built-in ones.
#[pyfunction]
#[pyo3(signature = (paths, format=None))]
pub fn scan(paths: Paths, format: Option<&str>) -> PyResult<Trace> {
    let paths = match paths {
        Paths::One(path) => vec![path],
        Paths::Several(paths) => paths,
    };
    let named = |name: &str| {
        let known = || Format::ALL.map(|format| format.name).join(", ");
        let unknown = || PyValueError::new_err(format!("{name}: one of {} is needed", known()));
        Format::named(name).ok_or_else(unknown)
    };
    let reading = Reading { format: format.map(named).transpose()?, ..Reading::default() };
    // What cannot be opened is said at once.
    for path in &paths {
        open_file(path, &reading).map_err(Error::from)?;
    }
    Ok(Trace { paths, reading })
}

#[pymethods]
impl Trace {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may give its own schema whatever was asked for.
        let _ = requested_schema;
        let reading = self.reading.clone();
        stream(py, Box::new(Batches { paths: self.paths.clone().into_iter(), reading, open: None }))
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __repr__(&self) -> String {
        let paths: Vec<_> = self.paths.iter().map(|path| path.display().to_string()).collect();
        format!("<Trace {}>", paths.join(", "))
    }
}

/// The records of some traces, a batch at a time.
struct Batches {
    paths: std::vec::IntoIter<PathBuf>,
    reading: Reading,
    open: Option<Box<dyn TraceSource + Send>>,
}

impl Batches {
    fn read(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let external = |error| ArrowError::ExternalError(Box::new(error));
        let mut records = Vec::with_capacity(ROWS);
        loop {
            let Some(source) = &mut self.open else {
                let Some(path) = self.paths.next() else { return Ok(None) };
                self.open = Some(open_file(&path, &self.reading).map_err(external)?);
                continue;
            };
            while records.len() < ROWS {
                let before = records.len();
                source.read(&mut records).map_err(external)?;
                if records.len() == before {
                    break;
                }
            }
            if !records.is_empty() {
                return columns(&records, source.tables()).map(Some);
            }
            self.open = None;
        }
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        schema()
    }
}

fn schema() -> SchemaRef {
    let text = |key| DataType::Dictionary(Box::new(key), Box::new(DataType::Utf8));
    let field = |name: &str, kind, nullable| Field::new(name, kind, nullable);
    Arc::new(Schema::new(vec![
        field("time_ns", DataType::Int64, true),
        field("device", text(DataType::UInt32), false),
        field("op", text(DataType::UInt8), false),
        field("offset_bytes", DataType::Int64, false),
        field("length_bytes", DataType::UInt32, false),
        field("queued_ns", DataType::Int64, true),
        field("issued_ns", DataType::Int64, true),
        field("completed_ns", DataType::Int64, true),
        field("flags", DataType::UInt16, false),
        field("pid", DataType::UInt32, false),
        field("process", text(DataType::UInt32), false),
        field("cpu", DataType::UInt16, false),
        field("error", DataType::UInt16, false),
    ]))
}

fn columns(records: &[Record], tables: &Tables) -> Result<RecordBatch, ArrowError> {
    let devices = StringArray::from_iter_values(tables.devices.iter().map(|device| &device.name));
    let processes = StringArray::from_iter_values(&tables.processes);
    let ops = StringArray::from_iter_values(Op::ALL.map(Op::name));
    RecordBatch::try_new(
        schema(),
        vec![
            times(records, Record::arrival),
            named(numbers::<UInt32Type>(records, |r| r.device), devices)?,
            named(numbers::<UInt8Type>(records, |r| r.op as u8), ops)?,
            Arc::new(Int64Array::from_iter_values(records.iter().map(|r| signed(r.offset)))),
            Arc::new(numbers::<UInt32Type>(records, |r| r.len)),
            times(records, |r| r.queued),
            times(records, |r| r.issued),
            times(records, |r| r.completed),
            Arc::new(numbers::<UInt16Type>(records, |r| r.flags.0)),
            Arc::new(numbers::<UInt32Type>(records, |r| r.pid)),
            named(numbers::<UInt32Type>(records, |r| r.process), processes)?,
            Arc::new(numbers::<UInt16Type>(records, |r| r.cpu)),
            Arc::new(numbers::<UInt16Type>(records, |r| r.error)),
        ],
    )
}

fn times(records: &[Record], time: fn(&Record) -> Stamp) -> ArrayRef {
    let known = |record| time(record).get().map(|at| signed(at.0));
    Arc::new(records.iter().map(known).collect::<Int64Array>())
}

/// Signed, so that a difference of two is one in any query language.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn numbers<T: ArrowPrimitiveType>(
    records: &[Record],
    number: fn(&Record) -> T::Native,
) -> PrimitiveArray<T> {
    PrimitiveArray::from_iter_values(records.iter().map(number))
}

fn named<T: ArrowDictionaryKeyType>(
    keys: PrimitiveArray<T>,
    names: StringArray,
) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(names))?))
}

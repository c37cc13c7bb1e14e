//! Tables, and how Arrow takes them.

use crate::error::arrow;
use arrow_array::builder::{ArrayBuilder, BooleanBuilder, Float64Builder, Int64Builder};
use arrow_array::builder::{StringBuilder, UInt32Builder, UInt64Builder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{Schema, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyCapsule;
use seekwell_run::RunError;
use seekwell_runs::limits::PhaseLimit;
use seekwell_runs::{RunDocument, Spread};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::Arc;

/// A table. Whatever reads Arrow streams takes it without a copy: polars, pandas, pyarrow, DuckDB.
#[pyclass(frozen, module = "seekwell")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

/// Hands batches out in the shape of the Arrow PyCapsule interface. A producer may give its own
/// schema whatever was asked for, and this one does.
///
/// # Errors
/// When Python has no memory.
pub fn stream<'py>(
    py: Python<'py>,
    _requested_schema: Option<&Bound<'_, PyAny>>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
}

/// Columns under names.
///
/// # Errors
/// When they are of unequal length, which no caller's are.
pub fn batch(columns: Vec<(&str, ArrayRef)>) -> PyResult<RecordBatch> {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
        .map_err(arrow)
}

impl From<RecordBatch> for Table {
    fn from(batch: RecordBatch) -> Self {
        Self { schema: batch.schema(), batches: vec![batch] }
    }
}

#[pymethods]
impl Table {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        stream(py, requested_schema, Box::new(reader))
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __repr__(&self) -> String {
        format!("<Table of {} rows: {}>", self.__len__(), self.columns().join(", "))
    }

    /// Reads the contents of Arrow files of one schema as one table.
    #[staticmethod]
    fn parse(contents: Vec<PyBackedBytes>) -> PyResult<Self> {
        let mut batches = Vec::new();
        for bytes in contents {
            let reader = FileReader::try_new(Cursor::new(bytes), None);
            let read = reader.and_then(|reader| reader.collect::<Result<Vec<_>, _>>());
            batches.extend(read.map_err(arrow)?);
        }
        let schema = batches.first().map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema);
        match batches.iter().find(|batch| batch.schema() != schema) {
            None => Ok(Self { schema, batches }),
            Some(_) => Err(PyValueError::new_err("the files are of different sweeps")),
        }
    }
}

/// The contents of an Arrow file.
///
/// # Errors
/// When Arrow cannot write the batch.
pub fn ipc(batch: &RecordBatch) -> PyResult<Vec<u8>> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).map_err(arrow)?;
    writer.write(batch).map_err(arrow)?;
    writer.into_inner().map_err(arrow)
}

/// A value of an axis.
#[derive(FromPyObject, Clone)]
pub enum Value {
    /// `True` is an `int` as well, so this is tried first.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// All else.
    Text(String),
}

/// A cell of a sweep.
#[derive(Clone)]
pub struct Cell<'a> {
    /// Its number.
    pub number: u64,
    /// The machine's name.
    pub machine: String,
    /// Of its requests.
    pub seed: u64,
    /// Its values on the axes.
    pub values: &'a BTreeMap<String, Value>,
}

/// A metric of a cell, or why it has none.
pub struct Row<'a> {
    cell: Cell<'a>,
    found: Result<(String, String, Spread), String>,
}

impl<'a> Row<'a> {
    /// The rows of a cell.
    pub fn of(cell: Cell<'a>, ran: Result<Option<RunDocument>, RunError>) -> Vec<Self> {
        let row = |found| Self { cell: cell.clone(), found };
        let document = match ran {
            Ok(Some(document)) => document,
            Ok(None) => return vec![row(Err("it was stopped".to_owned()))],
            Err(error) => return vec![row(Err(error.to_string()))],
        };
        let mut rows: Vec<Self> = spreads(&document)
            .map(|(phase, metric, spread)| row(Ok((phase.to_owned(), metric.to_owned(), *spread))))
            .collect();
        rows.extend(document.invalid.into_iter().map(|why| row(Err(why))));
        rows
    }
}

fn spreads(document: &RunDocument) -> impl Iterator<Item = (&str, &str, &Spread)> {
    document.phases.iter().flat_map(|phase| {
        phase.metrics.iter().map(|(metric, spread)| (phase.name.as_str(), metric.as_str(), spread))
    })
}

/// What is known of each metric.
#[derive(Default)]
struct Metrics {
    phase: StringBuilder,
    metric: StringBuilder,
    median: Float64Builder,
    low: Float64Builder,
    high: Float64Builder,
    repeats: UInt32Builder,
}

impl Metrics {
    fn push(&mut self, found: Option<(&str, &str, &Spread)>) {
        self.phase.append_option(found.map(|f| f.0));
        self.metric.append_option(found.map(|f| f.1));
        self.median.append_option(found.map(|f| f.2.median));
        self.low.append_option(found.map(|f| f.2.low));
        self.high.append_option(found.map(|f| f.2.high));
        self.repeats.append_option(found.map(|f| f.2.n));
    }

    fn columns(mut self) -> Vec<(&'static str, ArrayRef)> {
        vec![
            ("phase", Arc::new(self.phase.finish())),
            ("metric", Arc::new(self.metric.finish())),
            ("median", Arc::new(self.median.finish())),
            ("low", Arc::new(self.low.finish())),
            ("high", Arc::new(self.high.finish())),
            ("repeats", Arc::new(self.repeats.finish())),
        ]
    }
}

/// The metrics of a run.
///
/// # Errors
/// As for [`batch`].
pub fn metrics(document: &RunDocument) -> PyResult<Table> {
    let mut metrics = Metrics::default();
    spreads(document).for_each(|found| metrics.push(Some(found)));
    Ok(batch(metrics.columns())?.into())
}

/// The word that a value has in documents.
fn word(value: &impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

/// What limits each phase of a run.
///
/// # Errors
/// As for [`batch`].
pub fn limits(document: &RunDocument) -> PyResult<Table> {
    let all = &document.limits;
    let text = |of: fn(&PhaseLimit) -> Option<String>| -> ArrayRef {
        Arc::new(all.iter().map(of).collect::<StringArray>())
    };
    let number = |of: fn(&PhaseLimit) -> Option<f64>| -> ArrayRef {
        Arc::new(all.iter().map(of).collect::<Float64Array>())
    };
    let columns = vec![
        ("phase", text(|limit| Some(limit.phase.clone()))),
        ("by", text(|limit| word(&limit.by))),
        ("name", text(|limit| Some(limit.name.clone()))),
        ("measured", number(|limit| limit.measured)),
        ("ceiling", number(|limit| limit.ceiling)),
        ("unit", text(|limit| word(&limit.unit?))),
        ("share", number(|limit| limit.share)),
        ("confidence", text(|limit| word(&limit.confidence))),
        ("next_by", text(|limit| word(&limit.next?.by))),
        ("next_gain", number(|limit| limit.next?.gain)),
        ("request_bytes", number(|limit| limit.request_bytes)),
        ("bytes_per_s", number(|limit| limit.bytes_per_s)),
    ];
    Ok(batch(columns)?.into())
}

/// The metrics of cells, with the cells' values on the axes: `bool`, `int`, `float` or `str`.
///
/// # Errors
/// `ValueError` where a value is not of its axis's type.
pub fn sweep(axes: &[(String, String)], rows: &[Row<'_>]) -> PyResult<RecordBatch> {
    let (mut number, mut seed) = (UInt64Builder::new(), UInt64Builder::new());
    let (mut machine, mut error) = (StringBuilder::new(), StringBuilder::new());
    let mut metrics = Metrics::default();
    for Row { cell, found } in rows {
        number.append_value(cell.number);
        machine.append_value(&cell.machine);
        seed.append_value(cell.seed);
        metrics.push(found.as_ref().ok().map(|(phase, metric, s)| (&**phase, &**metric, s)));
        error.append_option(found.as_ref().err());
    }
    let mut columns: Vec<(&str, ArrayRef)> = vec![("cell", Arc::new(number.finish()))];
    let own = |name: &str| axes.iter().any(|(axis, _)| axis == name);
    if !own("machine") {
        columns.push(("machine", Arc::new(machine.finish())));
    }
    if !own("seed") {
        columns.push(("seed", Arc::new(seed.finish())));
    }
    for (name, kind) in axes {
        columns.push((name, axis(kind, rows.iter().map(|row| row.cell.values.get(name)))?));
    }
    columns.extend(metrics.columns());
    columns.push(("error", Arc::new(error.finish())));
    batch(columns)
}

fn axis<'a>(kind: &str, values: impl Iterator<Item = Option<&'a Value>>) -> PyResult<ArrayRef> {
    let (mut bools, mut ints) = (BooleanBuilder::new(), Int64Builder::new());
    let (mut floats, mut texts) = (Float64Builder::new(), StringBuilder::new());
    for value in values {
        match (kind, value) {
            ("bool", Some(Value::Bool(value))) => bools.append_value(*value),
            ("int", Some(Value::Int(value))) => ints.append_value(*value),
            ("float", Some(Value::Float(value))) => floats.append_value(*value),
            ("float", Some(Value::Int(value))) => floats.append_value(*value as f64),
            ("str", Some(Value::Text(value))) => texts.append_value(value),
            _ => return Err(PyValueError::new_err(format!("a value of an axis is no {kind}"))),
        }
    }
    let built: [&mut dyn ArrayBuilder; 4] = [&mut bools, &mut ints, &mut floats, &mut texts];
    let at = ["bool", "int", "float", "str"].iter().position(|known| *known == kind);
    at.map(|at| built[at].finish())
        .ok_or_else(|| PyValueError::new_err(format!("{kind} is no type of an axis")))
}

//! Traces of any format as Arrow streams.

use crate::error::Error;
use crate::heed::receive;
use crate::table::stream;
use arrow_array::builder::NullBufferBuilder;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int64Array, PrimitiveArray, RecordBatch, RecordBatchReader,
    StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use seekwell_io::request::Op;
use seekwell_sys::thread::start;
use seekwell_trace::error::TraceError;
use seekwell_trace::formats::{Format, Reading, contents, open_file};
use seekwell_trace::source::{Tables, TraceSource};
use seekwell_trace::store::{Columns, Stored, Times};
use std::mem::take;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// Records of one batch; a batch of a store is one of its groups.
const ROWS: usize = 1 << 17;
/// Threads that decode a store; each holds two groups.
const MOST_THREADS: usize = 4;

/// Traces, one after the other.
#[pyclass(frozen, module = "seekwell")]
pub struct Trace {
    /// Files, or names of built-in traces.
    pub paths: Vec<PathBuf>,
    /// How they are read.
    pub reading: Reading,
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
        let reading = self.reading.clone();
        stream(
            py,
            requested_schema,
            Box::new(Batches {
                paths: self.paths.clone().into_iter(),
                reading,
                ahead: Vec::new(),
                turn: 0,
            }),
        )
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// What its times count from, in nanoseconds since 1970; `None` if that is not known, or not
    /// the same in all of its files.
    #[getter]
    fn epoch_ns(&self) -> PyResult<Option<i64>> {
        let mut all = Vec::new();
        for path in &self.paths {
            let mut source = open_file(path, &self.reading).map_err(Error::from)?;
            source.read(&mut Vec::new()).map_err(Error::from)?;
            all.push(source.about().unix_ns_at_zero);
        }
        all.dedup();
        Ok(if let [one] = all[..] { one } else { None })
    }

    fn __repr__(&self) -> String {
        let paths: Vec<_> = self.paths.iter().map(|path| path.display().to_string()).collect();
        format!("<Trace {}>", paths.join(", "))
    }
}

/// The batches of some traces, in order.
struct Batches {
    paths: std::vec::IntoIter<PathBuf>,
    reading: Reading,
    /// What decodes the present trace, and whose turn it is.
    ahead: Vec<Receiver<Piece>>,
    turn: usize,
}

/// A batch; none at the end.
type Piece = Result<Option<RecordBatch>, ArrowError>;

impl Batches {
    fn read(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        loop {
            if self.ahead.is_empty() {
                let Some(path) = self.paths.next() else { return Ok(None) };
                (self.ahead, self.turn) = (decode(&path, &self.reading).map_err(external)?, 0);
            }
            let batch = receive(&self.ahead[self.turn])??;
            if batch.is_some() {
                self.turn = (self.turn + 1) % self.ahead.len();
                return Ok(batch);
            }
            self.ahead.clear();
        }
    }
}

fn external(error: impl std::error::Error + Send + Sync + 'static) -> ArrowError {
    ArrowError::ExternalError(Box::new(error))
}

/// Decodes a trace ahead of its reader: a store on several threads, which take its groups in turn,
/// any other on one.
fn decode(path: &Path, reading: &Reading) -> Result<Vec<Receiver<Piece>>, TraceError> {
    let is_store = path.is_file() && contents(path, reading, &Arc::default())?.is_some();
    let Some(store) = is_store.then(|| Stored::by_group(path)).transpose()?.flatten() else {
        let mut source = open_file(path, reading)?;
        return Ok(vec![on_thread(move |give| {
            while give(next_batch(&mut source)?) {}
            Ok(())
        })]);
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    let mut stores = vec![store];
    for _ in 1..threads {
        stores.extend(Stored::by_group(path)?);
    }
    let worker = |(first, mut store): (usize, Stored)| {
        on_thread(move |give| {
            let mut columns = Columns::default();
            for group in (first..store.groups()).step_by(threads) {
                store.columns(group, &mut columns).map_err(external)?;
                if !give(Some(table(&mut columns, store.tables())?)) {
                    return Ok(());
                }
            }
            give(None);
            Ok(())
        })
    };
    Ok(stores.into_iter().enumerate().map(worker).collect())
}

/// Takes a batch, or none at the end; says whether more are wanted.
type Give<'a> = &'a dyn Fn(Option<RecordBatch>) -> bool;

/// Makes batches on a thread, until there is an error or the reader is gone.
fn on_thread(
    work: impl FnOnce(Give<'_>) -> Result<(), ArrowError> + Send + 'static,
) -> Receiver<Piece> {
    let (sender, receiver) = sync_channel(1);
    let told = sender.clone();
    let started = start("batches", move || {
        let give = |batch: Option<RecordBatch>| {
            let more = batch.is_some();
            sender.send(Ok(batch)).is_ok() && more
        };
        if let Err(error) = work(&give) {
            // Nobody may want to know.
            let _ = sender.send(Err(error));
        }
    });
    if let Err(error) = started {
        let _ = told.send(Err(external(error)));
    }
    receiver
}

/// The next requests; none at the end.
fn next_batch(source: &mut dyn TraceSource) -> Result<Option<RecordBatch>, ArrowError> {
    let mut records = Vec::with_capacity(ROWS);
    while records.len() < ROWS {
        let before = records.len();
        source.read(&mut records).map_err(external)?;
        if records.len() == before {
            break;
        }
    }
    let columns = || table(&mut Columns::from(&records[..]), source.tables());
    if records.is_empty() { Ok(None) } else { columns().map(Some) }
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

/// The columns as Arrow has them, which takes the memory of the wide ones.
fn table(columns: &mut Columns, tables: &Tables) -> Result<RecordBatch, ArrowError> {
    let devices = StringArray::from_iter_values(tables.devices.iter().map(|device| &device.name));
    let processes = StringArray::from_iter_values(&tables.processes);
    let ops = StringArray::from_iter_values(Op::ALL.map(Op::name));
    let [queued, issued, completed] = columns.times.each_mut().map(times);
    let arrival = if queued.null_count() == 0 { queued.clone() } else { either(&queued, &issued) };
    let offset = Int64Array::new(take(&mut columns.offset).into(), None);
    let [len, op, flags, device, pid, process, cpu, error] = &columns.numbers;
    let number = |values| Arc::new(numbers::<UInt32Type>(values, |n| n as u32));
    let short = |values| Arc::new(numbers::<UInt16Type>(values, |n| n as u16));
    let key = |values| numbers::<UInt32Type>(values, |n| n as u32);
    RecordBatch::try_new(
        schema(),
        vec![
            Arc::new(arrival),
            named(key(device), devices)?,
            named(numbers::<UInt8Type>(op, |n| n as u8), ops)?,
            Arc::new(offset),
            number(len),
            Arc::new(queued),
            Arc::new(issued),
            Arc::new(completed),
            short(flags),
            number(pid),
            named(key(process), processes)?,
            short(cpu),
            short(error),
        ],
    )
}

fn numbers<T: ArrowPrimitiveType>(
    values: &[i32],
    to: impl Fn(i32) -> T::Native,
) -> PrimitiveArray<T> {
    let values: Vec<T::Native> = values.iter().map(|value| to(*value)).collect();
    PrimitiveArray::new(values.into(), None)
}

fn times(times: &mut Times) -> Int64Array {
    if times.known.len() == times.levels.len() {
        return Int64Array::new(take(&mut times.known).into(), None);
    }
    if times.known.is_empty() {
        return Int64Array::new_null(times.levels.len());
    }
    let mut nulls = NullBufferBuilder::new(times.levels.len());
    let mut known = times.known.iter();
    let place = |level: &i16| {
        nulls.append(*level != 0);
        if *level == 0 { 0 } else { known.next().copied().unwrap_or(0) }
    };
    let values: Vec<i64> = times.levels.iter().map(place).collect();
    Int64Array::new(values.into(), nulls.finish())
}

fn either(one: &Int64Array, other: &Int64Array) -> Int64Array {
    one.iter().zip(other).map(|(one, other)| one.or(other)).collect()
}

fn named<T: ArrowDictionaryKeyType>(
    keys: PrimitiveArray<T>,
    names: StringArray,
) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(names))?))
}

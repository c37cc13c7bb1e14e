//! Requests out of Arrow streams that others made, for statistics.
//!
//! Columns have the names that `scan` gives them. Those that statistics need have to be there; the
//! others may be.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{Array, RecordBatch, RecordBatchReader, downcast_integer_array};
use arrow_schema::{DataType, Schema};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_trace::error::{At, TraceError};
use seekwell_trace::record::{Flags, Record, Stamp};
use seekwell_trace::source::{About, BATCH, Capture, Clock, Device, Tables, TraceSource};
use std::collections::HashMap;
use std::path::PathBuf;
use std::vec::IntoIter;

/// Name of the format in messages and documents.
const FORMAT: &str = "Arrow";

/// The requests of an Arrow stream.
pub struct Requests {
    reader: RecordBatchStreamReader,
    columns: Columns,
    about: About,
    tables: Tables,
    devices: HashMap<String, u32>,
    processes: HashMap<String, u32>,
    decoded: IntoIter<Record>,
    /// Of the next batch's first row.
    row: u64,
}

/// Where the columns are.
struct Columns {
    time: usize,
    device: usize,
    op: usize,
    offset: usize,
    length: usize,
    queued: Option<usize>,
    issued: Option<usize>,
    completed: Option<usize>,
    flags: Option<usize>,
    process: Option<usize>,
    error: Option<usize>,
}

impl Columns {
    fn of(schema: &Schema) -> PyResult<Self> {
        let found = |name: &str, what: &str, fits: fn(&DataType) -> bool| {
            let Some((at, field)) = schema.column_with_name(name) else { return Ok(None) };
            match field.data_type() {
                kind if fits(kind) => Ok(Some(at)),
                kind => Err(PyTypeError::new_err(format!("{name}: {what} needed, not {kind}"))),
            }
        };
        let integers = |name| found(name, "integers are", DataType::is_integer);
        let text = |name| found(name, "text is", is_text);
        let needed = |name: &str, at: Option<usize>| {
            at.ok_or_else(|| {
                let there: Vec<_> = schema.fields().iter().map(|f| f.name().as_str()).collect();
                let there = there.join(", ");
                PyValueError::new_err(format!("there is no column {name}, only {there}"))
            })
        };
        Ok(Self {
            time: needed("time_ns", integers("time_ns")?)?,
            device: needed("device", text("device")?)?,
            op: needed("op", text("op")?)?,
            offset: needed("offset_bytes", integers("offset_bytes")?)?,
            length: needed("length_bytes", integers("length_bytes")?)?,
            queued: integers("queued_ns")?,
            issued: integers("issued_ns")?,
            completed: integers("completed_ns")?,
            flags: integers("flags")?,
            process: text("process")?,
            error: integers("error")?,
        })
    }
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, value) => is_text(value),
        kind => matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View),
    }
}

impl Requests {
    /// Takes the stream of an object; `epoch_ns` is what its times count from, in nanoseconds since
    /// 1970, if that is known.
    ///
    /// # Errors
    /// `TypeError` for an object without one and for a column of another type, `ValueError` for a
    /// column that is not there.
    pub fn of(object: &Bound<'_, PyAny>, epoch_ns: Option<i64>) -> PyResult<Self> {
        let Ok(export) = object.getattr("__arrow_c_stream__") else {
            let given = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "a path or a table with __arrow_c_stream__ is needed, not {given}"
            )));
        };
        let capsule = export.call0()?.cast_into::<PyCapsule>()?;
        let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
        // SAFETY: a capsule of this name holds such a stream, by the Arrow PyCapsule interface; the
        // stream moves out of it and leaves an empty one, which the capsule may release.
        let reader = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr().cast()) };
        let reader = reader.map_err(crate::error::arrow)?;
        let columns = Columns::of(&reader.schema())?;
        let capture = match (columns.queued, columns.issued) {
            (Some(_), Some(_)) => Capture::Both,
            (None, Some(_)) => Capture::Issue,
            _ => Capture::Queue,
        };
        let unix_ns_at_zero = epoch_ns;
        Ok(Self {
            reader,
            columns,
            about: About { unix_ns_at_zero, ..About::new(FORMAT, Clock::Start, capture) },
            tables: Tables { devices: Vec::new(), processes: vec![String::new()] },
            devices: HashMap::new(),
            processes: HashMap::from([(String::new(), 0)]),
            decoded: Vec::new().into_iter(),
            row: 0,
        })
    }

    fn decode(&mut self, batch: &RecordBatch) -> Result<Vec<Record>, TraceError> {
        let Self { columns, devices, processes, tables, .. } = self;
        let column = |at: usize| &**batch.column(at);
        let integers = |at: usize| integers(column(at));
        let optional =
            |at: Option<usize>| at.map_or_else(|| vec![None; batch.num_rows()], integers);
        let (time, offset, length) =
            (integers(columns.time), integers(columns.offset), integers(columns.length));
        let [queued, issued, completed, flags, error] =
            [columns.queued, columns.issued, columns.completed, columns.flags, columns.error]
                .map(optional);
        let device = numbers(column(columns.device), &mut |name| {
            number(devices, name, |name| {
                tables.devices.push(Device { name, ..Device::default() });
            })
        });
        let process = columns.process.map(|at| {
            numbers(column(at), &mut |name| {
                number(processes, name, |name| tables.processes.push(name))
            })
        });
        let op = numbers(column(columns.op), &mut |name| {
            Op::ALL.iter().position(|op| op.name() == name).map(|at| at as u32)
        });
        let mut records = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            let at = At::Record(self.row + row as u64);
            let wrong =
                |wrong| TraceError::Malformed { format: FORMAT, at, wrong, found: String::new() };
            let stamp = |of: &[Option<i64>]| match of[row].map(u64::try_from) {
                Some(Ok(time)) => Ok(Stamp::at(Nanos(time))),
                None => Ok(Stamp::NONE),
                Some(Err(_)) => Err(wrong("times of 0 or more")),
            };
            let small = |of: &[Option<i64>], what| {
                u16::try_from(of[row].unwrap_or(0)).map_err(|_| wrong(what))
            };
            let op = op[row].ok_or_else(|| wrong("an op: read, write, flush or discard"))?;
            let offset = offset[row].and_then(|value| u64::try_from(value).ok());
            let length = length[row].and_then(|value| u32::try_from(value).ok());
            let (queued, issued) = (stamp(&queued)?, stamp(&issued)?);
            let came = if issued == Stamp::NONE { stamp(&time)? } else { Stamp::NONE };
            records.push(Record {
                queued: queued.or(came),
                issued,
                completed: stamp(&completed)?,
                device: device[row].ok_or_else(|| wrong("a device"))?,
                process: process.as_ref().and_then(|process| process[row]).unwrap_or(0),
                flags: Flags(small(&flags, "flags below 65536")?),
                error: small(&error, "an error below 65536")?,
                ..Record::new(
                    Op::ALL[op as usize],
                    offset.ok_or_else(|| wrong("an offset_bytes of 0 or more"))?,
                    length.ok_or_else(|| wrong("a length_bytes from 0 to 4294967295"))?,
                )
            });
        }
        self.row += records.len() as u64;
        Ok(records)
    }
}

impl TraceSource for Requests {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        while self.decoded.len() == 0 {
            let Some(batch) = self.reader.next() else { return Ok(()) };
            let batch = batch.map_err(|error| TraceError::Io {
                what: "reading",
                path: PathBuf::from("the Arrow stream"),
                source: std::io::Error::other(error),
            })?;
            self.decoded = self.decode(&batch)?.into_iter();
        }
        out.extend(self.decoded.by_ref().take(BATCH));
        Ok(())
    }

    fn about(&self) -> &About {
        &self.about
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }
}

/// The number of a name; one that was not seen is `added` and gets the next.
fn number(known: &mut HashMap<String, u32>, name: &str, added: impl FnOnce(String)) -> Option<u32> {
    if let Some(number) = known.get(name) {
        return Some(*number);
    }
    let number = u32::try_from(known.len()).ok()?;
    known.insert(name.to_owned(), number);
    added(name.to_owned());
    Some(number)
}

/// A number for each row's text; `None` if it has none, or `number` knows none.
fn numbers(column: &dyn Array, number: &mut dyn FnMut(&str) -> Option<u32>) -> Vec<Option<u32>> {
    if let Some(dictionary) = column.as_any_dictionary_opt() {
        let of_values = numbers(dictionary.values(), number);
        if of_values.is_empty() {
            return vec![None; column.len()];
        }
        let keys = dictionary.normalized_keys().into_iter().enumerate();
        return keys.map(|(row, key)| of_values[key].filter(|_| column.is_valid(row))).collect();
    }
    let mut of = |text: Option<&str>| text.and_then(&mut *number);
    match column.data_type() {
        DataType::LargeUtf8 => column.as_string::<i64>().iter().map(&mut of).collect(),
        DataType::Utf8View => column.as_string_view().iter().map(&mut of).collect(),
        // The schema was checked.
        _ => column.as_string::<i32>().iter().map(&mut of).collect(),
    }
}

/// What is beyond 64 bits with a sign counts as missing.
fn integers(column: &dyn Array) -> Vec<Option<i64>> {
    downcast_integer_array!(
        column => column.iter().map(|value| i64::try_from(i128::from(value?)).ok()).collect(),
        _ => vec![None; column.len()],
    )
}

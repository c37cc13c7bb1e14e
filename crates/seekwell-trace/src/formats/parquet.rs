//! Parquet files of other programs, by the names of their columns.

use super::format::{Format, Holds, Opened, Reader};
use super::mapping::{self, Cell, Mapping, Row};
use super::time_unit::TimeUnit;
use crate::error::{At, TraceError};
use crate::order::Ordered;
use crate::record::Record;
use crate::source::{About, BATCH, Clock, Tables, TraceSource};
use crate::store::files::{io_error, key};
use crate::store::{guarded, listed};
use parquet::basic::ConvertedType;
use parquet::file::metadata::FileMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The format.
pub const FORMAT: Format = Format {
    name: "parquet",
    description: "Parquet of other programs, by the names of its columns",
    holds: Holds::EVERYTHING,
    reader: Reader::File(|path| open(path, &Mapping::default())),
    writer: None,
    ending: None,
    // Our own store begins alike, and knows what is not its own.
    looks_like: |_| None,
    locate: None,
    unit: None,
};

/// Opens a file whose columns hold what the mapping says.
///
/// # Errors
/// [`TraceError::Io`], and [`TraceError::NoColumn`].
pub fn open(path: &Path, mapping: &Mapping) -> Opened {
    let file = File::open(path).map_err(|e| io_error("reading", path, e))?;
    let reader = guarded(|| Ok(SerializedFileReader::new(file)?));
    let reader = reader.map_err(|bad| bad.at(FORMAT.name, 0, path))?;
    let metadata = reader.metadata().file_metadata();
    let columns = metadata.schema().get_fields();
    let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    let cells = mapping.of(FORMAT.name, &names)?;
    // Only what is needed is decoded.
    let used = columns.iter().zip(&cells).filter_map(|(column, cell)| Some((column, (*cell)?)));
    let (columns, cells): (Vec<_>, Vec<Cell>) = used.map(|(c, cell)| (c.clone(), cell)).unzip();
    let is_date = |column: &Type| {
        use ConvertedType::{TIMESTAMP_MICROS, TIMESTAMP_MILLIS};
        matches!(column.get_basic_info().converted_type(), TIMESTAMP_MICROS | TIMESTAMP_MILLIS)
    };
    let is_dated = columns.iter().any(|column| column.is_primitive() && is_date(column));
    let clock = if is_dated { Clock::Unix } else { Clock::Start };
    let optional: Vec<_> = cells.iter().copied().map(Some).collect();
    let (tables, is_numbered) = tables(metadata);
    let root = metadata.schema().name().to_owned();
    let about = mapping::about(FORMAT.name, &optional, clock);
    let rows = guarded(|| {
        let projection = Type::group_type_builder(&root).with_fields(columns).build()?;
        Ok(RowIter::from_file_into(Box::new(reader)).project(Some(projection))?)
    });
    let rows = rows.map_err(|bad| bad.at(FORMAT.name, 0, path))?;
    let row = Row::new(is_numbered);
    let path = path.to_owned();
    Ok(Box::new(Ordered::new(Foreign { path, rows, cells, row, about, tables, read: 0 })))
}

/// The lists of names, where a program kept them from a store that it read.
fn tables(metadata: &FileMetaData) -> (Tables, bool) {
    match listed(metadata, key::TABLES).and_then(|json| serde_json::from_str(json).ok()) {
        Some(tables) => (tables, true),
        None => (Tables { devices: Vec::new(), processes: vec![String::new()] }, false),
    }
}

struct Foreign {
    path: PathBuf,
    rows: RowIter<'static>,
    cells: Vec<Cell>,
    row: Row,
    about: About,
    tables: Tables,
    read: u64,
}

impl Foreign {
    fn next(&mut self) -> Result<Option<Record>, TraceError> {
        let Self { path, rows, cells, row, tables, read, .. } = self;
        let next = guarded(|| Ok(rows.next().transpose()?));
        let Some(fields) = next.map_err(|bad| bad.at(FORMAT.name, *read, path))? else {
            return Ok(None);
        };
        let mut texts: Vec<(Cell, Vec<u8>)> = Vec::with_capacity(cells.len());
        for ((holding, factor), (_, field)) in cells.iter().zip(fields.get_column_iter()) {
            let (text, unit) = text(field);
            texts.push(((*holding, factor.or(unit)), text));
        }
        let cells = texts.iter().map(|(cell, text)| (*cell, text.as_slice()));
        let record = row.record(cells, tables).map_err(|wrong| TraceError::Malformed {
            format: FORMAT.name,
            at: At::Record(*read),
            wrong: wrong.what,
            found: wrong.found,
        })?;
        *read += 1;
        Ok(Some(record))
    }
}

impl TraceSource for Foreign {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        for _ in 0..BATCH {
            let Some(record) = self.next()? else { return Ok(()) };
            out.push(record);
        }
        Ok(())
    }

    fn about(&self) -> &About {
        &self.about
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }
}

/// The text of a cell, and its unit where its type says one.
fn text(field: &Field) -> (Vec<u8>, Option<u64>) {
    let mut out = Vec::new();
    let written = match field {
        Field::Null => Ok(()),
        Field::Str(text) => out.write_all(text.as_bytes()),
        Field::Bytes(bytes) => out.write_all(bytes.data()),
        Field::TimestampMillis(n) | Field::TimestampMicros(n) => write!(out, "{n}"),
        Field::Double(n) => write!(out, "{n}"),
        other => write!(out, "{other}"),
    };
    written.expect("memory takes it");
    let unit = match field {
        Field::TimestampMillis(_) => Some(TimeUnit::Milliseconds.ns()),
        Field::TimestampMicros(_) => Some(TimeUnit::Microseconds.ns()),
        _ => None,
    };
    (out, unit)
}

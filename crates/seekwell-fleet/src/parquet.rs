//! Rows to a Parquet file, and two columns of one back.

use crate::error::FleetError;
use crate::table::{Cell, Kind, Row, Table};
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::Field;
use parquet::schema::types::{Type, TypePtr};
use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

/// Writes the rows of a table as a whole file.
pub fn write<W: Write + Send>(out: W, table: &Table, rows: &[Row]) -> Result<(), ParquetError> {
    let level = ZstdLevel::try_new(3).expect("a level that zstd has");
    let properties = WriterProperties::builder()
        .set_created_by(concat!("seekwell ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .build();
    let mut file = SerializedFileWriter::new(out, schema(table), properties.into())?;
    let mut group = file.next_row_group()?;
    for (at, column) in table.columns.iter().enumerate() {
        let cells = rows.iter().map(|row| &row[at]);
        match column.kind {
            Kind::Ints => lists(&mut group, cells)?,
            Kind::Text => optional::<ByteArrayType>(&mut group, cells, |cell| match cell {
                Cell::Text(text) => Some(ByteArray::from(text.as_str())),
                _ => None,
            })?,
            Kind::Int | Kind::Time => {
                optional::<Int64Type>(&mut group, cells, |cell| match cell {
                    Cell::Int(number) | Cell::Time(number) => Some(*number),
                    _ => None,
                })?
            }
            Kind::Real => optional::<DoubleType>(&mut group, cells, |cell| match cell {
                Cell::Real(number) => Some(*number),
                _ => None,
            })?,
            Kind::Bool => optional::<BoolType>(&mut group, cells, |cell| match cell {
                Cell::Bool(value) => Some(*value),
                _ => None,
            })?,
        }
    }
    group.close()?;
    file.close().map(|_| ())
}

type Group<'a, W> = SerializedRowGroupWriter<'a, W>;

fn optional<'c, T: DataType>(
    group: &mut Group<'_, impl Write + Send>,
    cells: impl Iterator<Item = &'c Cell>,
    value: impl Fn(&Cell) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let cells: Vec<Option<T::T>> = cells.map(value).collect();
    let levels: Vec<i16> = cells.iter().map(|cell| cell.is_some().into()).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    column::<T>(group, &values, &levels, None)
}

fn lists<'c>(
    group: &mut Group<'_, impl Write + Send>,
    cells: impl Iterator<Item = &'c Cell>,
) -> Result<(), ParquetError> {
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    for cell in cells {
        let Cell::Ints(list) = cell else { unreachable!("checked where rows are made") };
        // An empty list has no element, and stands for itself.
        let elements = list.len().max(1);
        definitions.extend(std::iter::repeat_n(i16::from(!list.is_empty()), elements));
        repetitions.extend((0..elements).map(|element| i16::from(element > 0)));
        values.extend_from_slice(list);
    }
    column::<Int64Type>(group, &values, &definitions, Some(&repetitions))
}

fn column<T: DataType>(
    group: &mut Group<'_, impl Write + Send>,
    values: &[T::T],
    definitions: &[i16],
    repetitions: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let mut writer = group.next_column()?.expect("a writer for each column");
    writer.typed::<T>().write_batch(values, Some(definitions), repetitions)?;
    writer.close()
}

fn schema(table: &Table) -> TypePtr {
    let primitive = |name: &str, kind: Kind, repetition| {
        let (physical, converted) = match kind {
            Kind::Text => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
            Kind::Int | Kind::Ints => (Physical::INT64, ConvertedType::NONE),
            Kind::Time => (Physical::INT64, ConvertedType::TIMESTAMP_MICROS),
            Kind::Real => (Physical::DOUBLE, ConvertedType::NONE),
            Kind::Bool => (Physical::BOOLEAN, ConvertedType::NONE),
        };
        let built = Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_converted_type(converted)
            .build();
        Arc::new(built.expect("a column that Parquet knows"))
    };
    let group = |name: &str, repetition, converted, field: TypePtr| {
        let built = Type::group_type_builder(name)
            .with_repetition(repetition)
            .with_converted_type(converted)
            .with_fields(vec![field])
            .build();
        Arc::new(built.expect("a group of one field"))
    };
    let fields = table.columns.iter().map(|column| match column.kind {
        Kind::Ints => {
            let element = primitive("element", Kind::Ints, Repetition::REQUIRED);
            let list = group("list", Repetition::REPEATED, ConvertedType::NONE, element);
            group(column.name, Repetition::REQUIRED, ConvertedType::LIST, list)
        }
        kind => primitive(column.name, kind, Repetition::OPTIONAL),
    });
    let message = Type::group_type_builder(table.name).with_fields(fields.collect()).build();
    Arc::new(message.expect("columns with names of their own"))
}

/// The texts of the first columns of a file that [`write()`] wrote.
///
/// # Errors
/// [`FleetError::Io`], and [`FleetError::Damaged`] for any other file.
pub fn keys<const N: usize>(path: &Path, table: &Table) -> Result<Vec<[String; N]>, FleetError> {
    let file = File::open(path).map_err(FleetError::io("opening", path))?;
    // The library panics on some damaged files.
    catch_unwind(AssertUnwindSafe(|| keys_of(file, path, table))).unwrap_or_else(|_| {
        Err(FleetError::Damaged { path: path.to_path_buf(), reason: "it is damaged".to_owned() })
    })
}

fn keys_of<const N: usize>(
    file: File,
    path: &Path,
    table: &Table,
) -> Result<Vec<[String; N]>, FleetError> {
    let damaged = |reason: String| FleetError::Damaged { path: path.to_path_buf(), reason };
    let reader = SerializedFileReader::new(file).map_err(|e| damaged(e.to_string()))?;
    let whole = schema(table);
    let first = Type::group_type_builder(table.name)
        .with_fields(whole.get_fields()[..N].to_vec())
        .build()
        .expect("columns of the table");
    let rows = reader.get_row_iter(Some(first)).map_err(|e| damaged(e.to_string()))?;
    let mut keys = Vec::new();
    for row in rows {
        let row = row.map_err(|e| damaged(e.to_string()))?;
        let texts: Vec<String> = row
            .get_column_iter()
            .filter_map(|(_, field)| match field {
                Field::Str(text) => Some(text.clone()),
                _ => None,
            })
            .collect();
        let key = texts.try_into().map_err(|_| damaged("a key is missing".to_owned()))?;
        keys.push(key);
    }
    Ok(keys)
}

//! The columns of the store.

use crate::record::{Fields, Record, Stamp};
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::schema::types::{Type, TypePtr};
use seekwell_io::request::Op;
use std::sync::Arc;

/// A time that may be missing.
pub struct TimeColumn {
    pub name: &'static str,
    pub field: Fields,
    pub of: fn(&Record) -> Stamp,
}

/// A number of at most `most`.
pub struct NumberColumn {
    pub name: &'static str,
    pub field: Fields,
    pub kind: ConvertedType,
    pub most: u32,
    pub of: fn(&Record) -> u32,
}

pub const OFFSET: &str = "offset_bytes";

/// The times, which come first.
pub const TIMES: [TimeColumn; 3] = [
    TimeColumn { name: "queued_ns", field: Fields::QUEUED, of: |r| r.queued },
    TimeColumn { name: "issued_ns", field: Fields::ISSUED, of: |r| r.issued },
    TimeColumn { name: "completed_ns", field: Fields::COMPLETED, of: |r| r.completed },
];

const LAST_OP: u32 = Op::ALL.len() as u32 - 1;
const MOST_16: u32 = u16::MAX as u32;

/// The numbers, which come after the offset.
pub const NUMBERS: [NumberColumn; 8] = [
    column("length_bytes", Fields::LENGTH, ConvertedType::UINT_32, u32::MAX, |r| r.len),
    column("op", Fields::OP, ConvertedType::UINT_8, LAST_OP, |r| r.op as u32),
    column("flags", Fields::FLAGS, ConvertedType::UINT_16, MOST_16, |r| r.flags.0.into()),
    column("device", Fields::DEVICE, ConvertedType::UINT_32, u32::MAX, |r| r.device),
    column("pid", Fields::PID, ConvertedType::UINT_32, u32::MAX, |r| r.pid),
    column("process", Fields::PROCESS, ConvertedType::UINT_32, u32::MAX, |r| r.process),
    column("cpu", Fields::CPU, ConvertedType::UINT_16, MOST_16, |r| r.cpu.into()),
    column("error", Fields::ERROR, ConvertedType::UINT_16, MOST_16, |r| r.error.into()),
];

const fn column(
    name: &'static str,
    field: Fields,
    kind: ConvertedType,
    most: u32,
    of: fn(&Record) -> u32,
) -> NumberColumn {
    NumberColumn { name, field, kind, most, of }
}

/// The field of each column, in their order.
pub fn fields() -> impl Iterator<Item = Fields> {
    let times = TIMES.iter().map(|column| column.field);
    times.chain([Fields::OFFSET]).chain(NUMBERS.iter().map(|column| column.field))
}

/// The schema as Parquet wants it.
pub fn message() -> TypePtr {
    let column = |name, physical, kind, repetition| {
        let built = Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_converted_type(kind)
            .build();
        Arc::new(built.expect("a column that Parquet knows"))
    };
    let mut columns = Vec::new();
    for time in &TIMES {
        columns.push(column(time.name, Physical::INT64, ConvertedType::NONE, Repetition::OPTIONAL));
    }
    columns.push(column(OFFSET, Physical::INT64, ConvertedType::NONE, Repetition::REQUIRED));
    for number in &NUMBERS {
        columns.push(column(number.name, Physical::INT32, number.kind, Repetition::REQUIRED));
    }
    let message = Type::group_type_builder("request").with_fields(columns).build();
    Arc::new(message.expect("columns with names of their own"))
}

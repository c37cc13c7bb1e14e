//! The columns of the store.

use crate::record::{Record, Stamp};
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::schema::types::{Type, TypePtr};
use seekwell_io::request::Op;
use std::sync::Arc;

/// A time that may be missing.
pub struct TimeColumn {
    pub name: &'static str,
    pub of: fn(&Record) -> Stamp,
}

/// A number of at most `most`.
pub struct NumberColumn {
    pub name: &'static str,
    pub kind: ConvertedType,
    pub most: u32,
    pub of: fn(&Record) -> u32,
}

pub const OFFSET: &str = "offset_bytes";

/// The times, which come first.
pub const TIMES: [TimeColumn; 3] = [
    TimeColumn { name: "queued_ns", of: |r| r.queued },
    TimeColumn { name: "issued_ns", of: |r| r.issued },
    TimeColumn { name: "completed_ns", of: |r| r.completed },
];

const LAST_OP: u32 = Op::ALL.len() as u32 - 1;

/// The numbers, which come after the offset.
pub const NUMBERS: [NumberColumn; 8] = [
    number("length_bytes", ConvertedType::UINT_32, u32::MAX, |r| r.len),
    number("op", ConvertedType::UINT_8, LAST_OP, |r| r.op as u32),
    number("flags", ConvertedType::UINT_16, u16::MAX as u32, |r| r.flags.0.into()),
    number("device", ConvertedType::UINT_32, u32::MAX, |r| r.device),
    number("pid", ConvertedType::UINT_32, u32::MAX, |r| r.pid),
    number("process", ConvertedType::UINT_32, u32::MAX, |r| r.process),
    number("cpu", ConvertedType::UINT_16, u16::MAX as u32, |r| r.cpu.into()),
    number("error", ConvertedType::UINT_16, u16::MAX as u32, |r| r.error.into()),
];

const fn number(
    name: &'static str,
    kind: ConvertedType,
    most: u32,
    of: fn(&Record) -> u32,
) -> NumberColumn {
    NumberColumn { name, kind, most, of }
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

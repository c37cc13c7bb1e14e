//! The columns of the store.

use crate::record::{Record, Stamp};
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::schema::types::{Type, TypePtr};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::sync::Arc;

/// A time that may be missing.
pub struct TimeColumn {
    pub name: &'static str,
    pub of: fn(&Record) -> Stamp,
    pub to: fn(&mut Record, Stamp),
}

/// A number below 2^32; `to` is false where the value cannot be.
pub struct NumberColumn {
    pub name: &'static str,
    pub kind: ConvertedType,
    pub of: fn(&Record) -> u32,
    pub to: fn(&mut Record, u32) -> bool,
}

pub const OFFSET: &str = "offset_bytes";

/// The times, which come first.
pub const TIMES: [TimeColumn; 3] = [
    TimeColumn { name: "queued_ns", of: |r| r.queued, to: |r, t| r.queued = t },
    TimeColumn { name: "issued_ns", of: |r| r.issued, to: |r, t| r.issued = t },
    TimeColumn { name: "completed_ns", of: |r| r.completed, to: |r, t| r.completed = t },
];

/// The numbers, which come after the offset.
pub const NUMBERS: [NumberColumn; 8] = [
    number("length_bytes", ConvertedType::UINT_32, |r| r.len, |r, v| set(&mut r.len, v)),
    number("op", ConvertedType::UINT_8, |r| r.op as u32, set_op),
    number("flags", ConvertedType::UINT_16, |r| r.flags.0.into(), |r, v| set(&mut r.flags.0, v)),
    number("device", ConvertedType::UINT_32, |r| r.device, |r, v| set(&mut r.device, v)),
    number("pid", ConvertedType::UINT_32, |r| r.pid, |r, v| set(&mut r.pid, v)),
    number("process", ConvertedType::UINT_32, |r| r.process, |r, v| set(&mut r.process, v)),
    number("cpu", ConvertedType::UINT_16, |r| r.cpu.into(), |r, v| set(&mut r.cpu, v)),
    number("error", ConvertedType::UINT_16, |r| r.error.into(), |r, v| set(&mut r.error, v)),
];

const fn number(
    name: &'static str,
    kind: ConvertedType,
    of: fn(&Record) -> u32,
    to: fn(&mut Record, u32) -> bool,
) -> NumberColumn {
    NumberColumn { name, kind, of, to }
}

/// False where the value does not fit.
fn set<T: TryFrom<u32>>(field: &mut T, value: u32) -> bool {
    T::try_from(value).map(|value| *field = value).is_ok()
}

fn set_op(record: &mut Record, value: u32) -> bool {
    Op::ALL.get(value as usize).map(|&op| record.op = op).is_some()
}

/// A time as a column keeps it. Signed, so that a difference of two is one in any query language.
pub fn time_value(stamp: Stamp) -> Option<Result<i64, u64>> {
    stamp.get().map(|at| i64::try_from(at.0).map_err(|_| at.0))
}

/// A time from what a column keeps; none where it is negative.
pub fn stamp_of(value: i64) -> Option<Stamp> {
    u64::try_from(value).ok().map(|ns| Stamp::at(Nanos(ns)))
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

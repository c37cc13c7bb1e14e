//! The columns of the store.

use crate::record::{Flags, Record, Stamp};
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
    NumberColumn {
        name: "length_bytes",
        kind: ConvertedType::UINT_32,
        of: |r| r.len,
        to: |r, v| {
            r.len = v;
            true
        },
    },
    NumberColumn {
        name: "op",
        kind: ConvertedType::UINT_8,
        of: |r| r.op as u32,
        to: |r, v| Op::ALL.get(v as usize).map(|&op| r.op = op).is_some(),
    },
    NumberColumn {
        name: "flags",
        kind: ConvertedType::UINT_16,
        of: |r| u32::from(r.flags.0),
        to: |r, v| u16::try_from(v).map(|v| r.flags = Flags(v)).is_ok(),
    },
    NumberColumn {
        name: "device",
        kind: ConvertedType::UINT_32,
        of: |r| r.device,
        to: |r, v| {
            r.device = v;
            true
        },
    },
    NumberColumn {
        name: "pid",
        kind: ConvertedType::UINT_32,
        of: |r| r.pid,
        to: |r, v| {
            r.pid = v;
            true
        },
    },
    NumberColumn {
        name: "process",
        kind: ConvertedType::UINT_32,
        of: |r| r.process,
        to: |r, v| {
            r.process = v;
            true
        },
    },
    NumberColumn {
        name: "cpu",
        kind: ConvertedType::UINT_16,
        of: |r| u32::from(r.cpu),
        to: |r, v| u16::try_from(v).map(|v| r.cpu = v).is_ok(),
    },
    NumberColumn {
        name: "error",
        kind: ConvertedType::UINT_16,
        of: |r| u32::from(r.error),
        to: |r, v| u16::try_from(v).map(|v| r.error = v).is_ok(),
    },
];

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

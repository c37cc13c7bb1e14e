//! Alibaba block traces, 2020: `device_id,opcode,offset,length,timestamp`; opcode R or W, bytes,
//! microseconds since 1970.

use super::columns::{self, Column, Header, R_OR_W, Table, Time, Unit};
use super::format::{Format, Holds};
use super::time_unit::TimeUnit;
use crate::source::Clock;

/// The format.
pub const FORMAT: Format = columns::format::<Alibaba>(
    "alibaba",
    "Alibaba block traces, 2020",
    Holds { step_ns: 1000, ..Holds::ARRIVALS },
    Some(TimeUnit::Microseconds),
);

enum Alibaba {}

impl Table for Alibaba {
    const FORMAT: Format = FORMAT;
    const CLOCK: Clock = Clock::Unix;
    const HEADER: Header = Header::Optional(b"device_id");
    const COLUMNS: &'static [Column] = &[
        Column::Device,
        Column::Op(R_OR_W),
        Column::Offset(Unit::Bytes),
        Column::Length(Unit::Bytes),
        Column::Arrival(Time::Decimal { expected: "a time in microseconds since 1970", places: 3 }),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{read_all, read_error};
    use seekwell_io::request::Op;
    use seekwell_io::units::Nanos;

    #[test]
    fn offsets_are_bytes_and_times_microseconds_since_1970() {
        let (records, about, tables) =
            read_all(&FORMAT, b"419,W,8792731648,16384,1577808144360767\n");
        let r = records[0];
        assert_eq!((r.op, r.offset, r.len), (Op::Write, 8_792_731_648, 16_384));
        assert_eq!(r.queued.get(), Some(Nanos(1_577_808_144_360_767_000)));
        assert_eq!((about.clock, tables.devices[0].name.as_str()), (Clock::Unix, "419"));
    }

    #[test]
    fn a_code_that_is_neither_r_nor_w_is_refused() {
        assert_eq!(
            read_error(&FORMAT, b"1,0,0,512,1\n"),
            "alibaba, line 1: expected R or W, found \"0\""
        );
    }
}

//! Storage Performance Council trace file, revision 1.0.1 (2002; UMass Financial and WebSearch):
//! `ASU,LBA,Size,Opcode,Timestamp`, more fields allowed; blocks of 512 bytes, size in bytes, R or W
//! in any case, seconds from the start.

use super::columns::{self, Column, R_OR_W, Table, Time, Unit};
use super::format::{Format, Holds};
use super::time_unit::TimeUnit;
use crate::source::Clock;

/// The format.
pub const FORMAT: Format = columns::format::<Spc>(
    "spc",
    "Storage Performance Council 1.0.1 (UMass Financial, WebSearch)",
    Holds { step_ns: 1000, ..Holds::ARRIVALS },
    Some(TimeUnit::Seconds),
);

enum Spc {}

impl Table for Spc {
    const FORMAT: Format = FORMAT;
    const CLOCK: Clock = Clock::Start;
    const COLUMNS: &'static [Column] = &[
        Column::Device,
        Column::Offset(Unit::Blocks),
        Column::Length(Unit::Bytes),
        Column::Op(R_OR_W),
        Column::Arrival(Time::Decimal { expected: "a time in seconds", places: 9 }),
        Column::Rest,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_all;
    use seekwell_io::request::Op;
    use seekwell_io::units::Nanos;

    #[test]
    fn the_place_is_in_blocks_while_the_size_is_in_bytes() {
        let (records, _, tables) =
            read_all(&FORMAT, b"0,20941264,8192,W,0.551706\n1, 3 ,512, r ,0.554041,extra\n");
        let (w, r) = (records[0], records[1]);
        assert_eq!((w.op, w.offset, w.len), (Op::Write, 20_941_264 * 512, 8192));
        assert_eq!((r.op, r.offset, r.len), (Op::Read, 1536, 512));
        assert_eq!(w.queued.get(), Some(Nanos(551_706_000)));
        assert_eq!(tables.devices.len(), 2);
    }
}

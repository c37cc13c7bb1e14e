//! Tencent CBS, 2018 (SNIA IOTTA 27917): `Timestamp,Offset,Size,IOType,VolumeID`; seconds since
//! 1970, blocks of 512 bytes, 0 reads and 1 writes (the other way round than DiskSim).

use super::columns::{self, Column, Header, Table, Time, Unit, Words};
use super::format::{Format, Holds};
use super::time_unit::TimeUnit;
use crate::source::Clock;
use seekwell_io::request::Op;

/// The format.
pub const FORMAT: Format = columns::format::<Tencent>(
    "tencent",
    "Tencent cloud block storage, 2018 (SNIA 27917)",
    Holds { step_ns: 1_000_000_000, ..Holds::ARRIVALS },
    Some(TimeUnit::Seconds),
);

enum Tencent {}

impl Table for Tencent {
    const FORMAT: Format = FORMAT;
    const CLOCK: Clock = Clock::Unix;
    const HEADER: Header = Header::Optional(b"Timestamp");
    const COLUMNS: &'static [Column] = &[
        Column::Arrival(Time::Decimal { expected: "a time in seconds since 1970", places: 9 }),
        Column::Offset(Unit::Blocks),
        Column::Length(Unit::Blocks),
        Column::Op(ZERO_OR_ONE),
        Column::Device,
    ];
}

const ZERO_OR_ONE: Words<Option<Op>> = Words {
    expected: "0 (read) or 1 (write)",
    words: &[(b"0", Some(Op::Read)), (b"1", Some(Op::Write))],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_all;
    use seekwell_io::units::Nanos;

    #[test]
    fn zero_reads_one_writes_and_offsets_are_blocks() {
        let (records, _, tables) =
            read_all(&FORMAT, b"1538323200,3904,8,1,1283\n1538323200,16,1,0,1283\n");
        let (w, r) = (records[0], records[1]);
        assert_eq!((w.op, w.offset, w.len), (Op::Write, 3904 * 512, 4096));
        assert_eq!((r.op, r.offset, r.len), (Op::Read, 8192, 512));
        assert_eq!(w.queued.get(), Some(Nanos(1_538_323_200_000_000_000)));
        assert_eq!(tables.devices.len(), 1);
    }

    #[test]
    fn that_times_step_by_whole_seconds_is_said() {
        let (_, about, _) = read_all(&FORMAT, b"1538323200,3904,8,1,1283\n");
        assert_eq!(about.time_step_ns, Some(1_000_000_000));
    }
}

//! Systor '17 (SNIA IOTTA 4928): `Timestamp,Response,IOType,LUN,Offset,Size` below a header row;
//! seconds since 1970 with nine decimals of which six mean something, bytes. The operation is
//! blank if the capture does not have it; the response may be missing.

use super::columns::{self, Column, Header, Table, Time, Unit, Words};
use super::format::{Certainty, Format, Holds, Sample, Step};
use crate::source::Clock;
use seekwell_io::request::Op;

/// The format.
pub const FORMAT: Format = Format {
    looks_like,
    ..columns::format::<Systor>(
        "systor",
        "Systor '17 (SNIA 4928)",
        Holds { times: &[Step::Queued, Step::Completed], step_ns: 1000, ..Holds::ARRIVALS },
        None,
    )
};

enum Systor {}

impl Table for Systor {
    const FORMAT: Format = FORMAT;
    const CLOCK: Clock = Clock::Unix;
    const HEADER: Header = Header::Optional(b"Timestamp");
    const COLUMNS: &'static [Column] = &[
        Column::Arrival(Time::Decimal { expected: "a time in seconds since 1970", places: 9 }),
        Column::Response(Time::Decimal { expected: "a response time in seconds", places: 9 }),
        Column::Op(R_W_OR_BLANK),
        Column::Device,
        Column::Offset(Unit::Bytes),
        Column::Length(Unit::Bytes),
    ];
}

const R_W_OR_BLANK: Words<Option<Op>> = Words {
    expected: "R, W or nothing",
    words: &[(b"R", Some(Op::Read)), (b"W", Some(Op::Write)), (b"", None)],
};

fn looks_like(sample: &Sample<'_>) -> Option<Certainty> {
    if sample.first_line().starts_with(b"Timestamp,Response,IOType") {
        return Some(Certainty::Header);
    }
    columns::looks_like::<Systor>(sample)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_all;
    use crate::record::Flags;
    use crate::record::Stamp;
    use seekwell_io::units::Nanos;

    const HEAD: &str = "Timestamp,Response,IOType,LUN,Offset,Size\n";

    #[test]
    fn seconds_with_decimals_lose_nothing() {
        let text = format!("{HEAD}1455592378.011457000,0.000284000,R,4,56153677824,8192\n");
        let (records, _, tables) = read_all(&FORMAT, text.as_bytes());
        let r = records[0];
        assert_eq!(r.queued.get(), Some(Nanos(1_455_592_378_011_457_000)));
        assert_eq!(r.completed.get(), Some(Nanos(1_455_592_378_011_741_000)));
        assert_eq!((r.offset, r.len, tables.devices[0].name.as_str()), (56_153_677_824, 8192, "4"));
    }

    #[test]
    fn a_blank_operation_is_counted_and_never_called_a_read_to_replay() {
        let text = format!("{HEAD}1455592378.5,0.1,,4,512,512\n1455592378.5,,,4,,\n");
        let (records, ..) = read_all(&FORMAT, text.as_bytes());
        assert!(records.iter().all(|r| r.flags.has(Flags::OTHER)));
        assert_eq!(records.len(), 2);
    }

    #[test]
    fn a_missing_response_is_unknown() {
        let text = format!("{HEAD}1455592378.5,,W,4,512,512\n");
        assert_eq!(read_all(&FORMAT, text.as_bytes()).0[0].completed, Stamp::NONE);
    }
}

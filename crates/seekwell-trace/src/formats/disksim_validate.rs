//! DiskSim's validation traces, measured on real drives: `R|W Hit|Miss block blocks service_µs
//! think_µs`, with `Doub` and `Trip` beside `Hit` and `Miss` in one of them. Where every line says
//! `Hit`, the column says nothing. One request at a time: the next is issued the think time after
//! the completion.

use super::columns::{self, Column, R_OR_W, Table, Time, Unit, Words};
use super::format::{Detail, Format, Holds, Step};
use super::text::Separator;
use crate::record::Flags;
use crate::source::Clock;

/// The format.
pub const FORMAT: Format = columns::format::<Validate>(
    "disksim-validate",
    "DiskSim validation traces of measured drives",
    Holds {
        times: &[Step::Issued, Step::Completed],
        step_ns: 1000,
        details: &[Detail::Flags],
        ..Holds::ARRIVALS
    },
    None,
);

enum Validate {}

impl Table for Validate {
    const FORMAT: Format = FORMAT;
    const CLOCK: Clock = Clock::Start;
    const SEPARATOR: Separator = Separator::Blanks;
    const COLUMNS: &'static [Column] = &[
        Column::OnlyDevice(b"drive"),
        Column::Op(R_OR_W),
        Column::Flags(CACHE),
        Column::Offset(Unit::Blocks),
        Column::Length(Unit::Blocks),
        Column::Service(Time::Decimal { expected: "a service time in microseconds", places: 3 }),
        Column::Think(Time::Decimal { expected: "a think time in microseconds", places: 3 }),
    ];
}

/// Requests that needed two and three seeks are `Doub` and `Trip`, in traces of HP drives.
const CACHE: Words<Flags> = Words {
    expected: "Hit, Miss, Doub or Trip",
    words: &[
        (b"Hit", Flags::CACHE_HIT),
        (b"Miss", Flags(0)),
        (b"Doub", Flags(0)),
        (b"Trip", Flags(0)),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_all;
    use crate::record::Stamp;
    use seekwell_io::request::Op;
    use seekwell_io::units::Nanos;

    #[test]
    fn the_next_request_is_issued_its_think_time_after_the_completion() {
        let text = b"W Hit    4583176   4    663.00000  45422.00000\nR Miss 8 2 607.5 1\n";
        let (records, ..) = read_all(&FORMAT, text);
        let (w, r) = (records[0], records[1]);
        assert_eq!((w.issued.get(), w.completed.get()), (Some(Nanos(0)), Some(Nanos(663_000))));
        assert_eq!(r.issued.get(), Some(Nanos(46_085_000)));
        assert_eq!(r.completed.get(), Some(Nanos(46_692_500)));
        assert_eq!(w.queued, Stamp::NONE, "only the drive was watched");
        assert!(w.flags.has(Flags::CACHE_HIT) && !r.flags.has(Flags::CACHE_HIT));
        assert_eq!((w.op, w.offset, w.len), (Op::Write, 4_583_176 * 512, 2048));
    }
}

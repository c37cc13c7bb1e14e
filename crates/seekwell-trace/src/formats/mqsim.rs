//! MQSim's ASCII traces: `arrival_ns device lba sectors type`, of which type 0 is a write and 1 a
//! read (ASCII_Trace_Definition.h). Sectors are of 512 bytes. DiskSim's have the same five fields,
//! in milliseconds with decimals, and may have more flags: that distinguishes them.

use super::columns::{self, Column, Table, Time, Unit, Words};
use super::format::{Certainty, Format, Holds, Sample};
use super::text::Separator;
use super::time_unit::TimeUnit;
use crate::source::Clock;
use seekwell_io::request::Op;

/// The format.
pub const FORMAT: Format = Format {
    looks_like,
    ..columns::format::<MqSim>(
        "mqsim",
        "MQSim ASCII traces",
        Holds::ARRIVALS,
        Some(TimeUnit::Nanoseconds),
    )
};

enum MqSim {}

impl Table for MqSim {
    const FORMAT: Format = FORMAT;
    const CLOCK: Clock = Clock::Start;
    const SEPARATOR: Separator = Separator::Blanks;
    const COLUMNS: &'static [Column] = &[
        Column::Arrival(Time::Decimal { expected: "an arrival in nanoseconds", places: 0 }),
        Column::Device,
        Column::Offset(Unit::Blocks),
        Column::Length(Unit::Blocks),
        Column::Op(WRITE_OR_READ),
        Column::End("five fields"),
    ];
}

const WRITE_OR_READ: Words<Option<Op>> = Words {
    expected: "0 (write) or 1 (read)",
    words: &[(b"0", Some(Op::Write)), (b"1", Some(Op::Read))],
};

/// All lines have to fit: DiskSim's may begin with a few whole milliseconds. The last one of many
/// may be cut.
fn looks_like(sample: &Sample<'_>) -> Option<Certainty> {
    let lines = sample.lines().count();
    let fit = sample.lines().take_while(|line| columns::is_row::<MqSim>(line)).count();
    Certainty::FirstLine.when(fit > 0 && fit + usize::from(lines > 8) >= lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{read_all, read_error};
    use crate::formats::{detect, disksim};
    use seekwell_io::units::Nanos;
    use std::path::Path;

    #[test]
    fn zero_writes_one_reads_and_times_are_nanoseconds() {
        let (records, ..) = read_all(&FORMAT, b"0 0 8 16 0\n60055212345 1 24 8 1\n");
        let (w, r) = (records[0], records[1]);
        assert_eq!((w.op, w.offset, w.len), (Op::Write, 4096, 8192));
        assert_eq!((r.op, r.queued.get()), (Op::Read, Some(Nanos(60_055_212_345))));
        assert!(read_error(&FORMAT, b"0 0 8 16 2\n").contains("expected 0 (write) or 1 (read)"));
    }

    // A trace of 60 s was taken for DiskSim's, and read as one of 695 days.
    #[test]
    fn it_is_told_from_disksims_by_whole_times_and_types() {
        let format = |text: &[u8]| detect(text, Path::new("trace"));
        assert_eq!(format(b"0 0 8 16 0\n60055212345 1 24 8 1\n"), Some(&FORMAT));
        assert_eq!(format(&b"4630 1 8 16 1\n".repeat(20)[..200]), Some(&FORMAT));
        assert_eq!(format(b"0 0 8 16 0\n1.5 1 24 8 1\n"), Some(&disksim::FORMAT));
        assert_eq!(format(b"0 0 8 16 0\n2 1 24 8 1f\n3 1 24 8 0\n"), Some(&disksim::FORMAT));
        assert_eq!(format(b"0.000000\t0\t8\t2\t1\n"), Some(&disksim::FORMAT));
    }
}

//! Florida International University (SNIA IOTTA 411):
//! `ts_ns pid process lba size R|W major minor md5`; blocks of 512 bytes.

use super::columns::{self, Column, R_OR_W, Table, Time, Unit};
use super::format::{Detail, Format, Holds};
use super::text::Separator;
use super::time_unit::TimeUnit;
use crate::source::Clock;

/// The format.
pub const FORMAT: Format = columns::format::<Fiu>(
    "fiu",
    "Florida International University (SNIA 411)",
    Holds { details: &[Detail::Device, Detail::Process], ..Holds::ARRIVALS },
    Some(TimeUnit::Nanoseconds),
);

enum Fiu {}

impl Table for Fiu {
    const FORMAT: Format = FORMAT;
    const CLOCK: Clock = Clock::Start;
    const SEPARATOR: Separator = Separator::Blanks;
    const COLUMNS: &'static [Column] = &[
        Column::Arrival(Time::Decimal { expected: "a time in nanoseconds", places: 0 }),
        Column::Pid,
        Column::ProcessBefore(6),
        Column::Offset(Unit::Blocks),
        Column::Length(Unit::Blocks),
        Column::Op(R_OR_W),
        Column::DevicePair(","),
        Column::Ignored,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{read_all, read_error};
    use seekwell_io::request::Op;
    use seekwell_io::units::Nanos;

    #[test]
    fn a_process_name_with_blanks_stays_one_name() {
        let text = b"0 4892 syslogd 904265560 8 W 6 0 531e779f9a0b5c\n\
                     39064 12 my own tool 16 1 R 8 1 abc\n";
        let (records, _, tables) = read_all(&FORMAT, text);
        let (a, b) = (records[0], records[1]);
        assert_eq!((a.op, a.offset, a.len), (Op::Write, 904_265_560 * 512, 4096));
        assert_eq!((b.op, b.offset, b.len, b.pid), (Op::Read, 8192, 512, 12));
        assert_eq!(b.queued.get(), Some(Nanos(39_064)));
        assert_eq!(tables.processes, ["", "syslogd", "my own tool"]);
        let names: Vec<_> = tables.devices.iter().map(|d| d.name.as_str()).collect();
        assert_eq!(names, ["6,0", "8,1"]);
    }

    #[test]
    fn a_line_without_its_checksum_is_refused() {
        assert_eq!(
            read_error(&FORMAT, b"0 4892 syslogd 904265560 8 W 6\n"),
            "fiu, line 1: expected a process name and all columns after it, found \
             \"syslogd 904265560 8 W 6\""
        );
    }
}

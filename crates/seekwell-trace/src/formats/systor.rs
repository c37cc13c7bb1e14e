//! Systor '17 (SNIA IOTTA 4928): `Timestamp,Response,IOType,LUN,Offset,Size` below a header row;
//! seconds since 1970 with nine decimals of which six mean something, bytes. The operation is
//! blank where the capture did not tell; the response may be missing.

use super::input::Input;
use super::names::Names;
use super::text::{Fields, LineFormat, TextSource, Wrong, flag_empty, length};
use crate::record::{Flags, Record, Stamp};
use crate::source::{About, Capture, Clock, Source, Tables};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// Reads it.
pub fn open(input: Input) -> Box<dyn Source + Send> {
    let mut about = About::new(Systor::NAME, Clock::Unix, Capture::Queue);
    about.unix_ns_at_zero = Some(0);
    Box::new(TextSource::new(input, Systor::default(), about))
}

#[derive(Default)]
struct Systor {
    names: Names,
}

impl LineFormat for Systor {
    const NAME: &'static str = "systor";

    fn line(
        &mut self,
        line: &[u8],
        _: &mut About,
        tables: &mut Tables,
        out: &mut Vec<Record>,
    ) -> Result<(), Wrong> {
        if line.starts_with(b"Timestamp") {
            return Ok(());
        }
        let mut fields = Fields::comma(line);
        let at = fields.scaled("a time in seconds since 1970", 9)?;
        let response = fields.text();
        let (op, flags) = match fields.text() {
            b"R" => (Op::Read, Flags::default()),
            b"W" => (Op::Write, Flags::default()),
            b"" => (Op::Read, Flags::OTHER),
            other => return Err(Wrong::new("R, W or nothing", other)),
        };
        let device = self.names.device(fields.text(), tables)?;
        let number_or_zero = |field: &[u8], what| {
            let is_blank = flags.has(Flags::OTHER) && field.is_empty();
            if is_blank { Ok(0) } else { Fields::comma(field).number(what) }
        };
        let offset = number_or_zero(fields.text(), "an offset in bytes")?;
        let len = length(number_or_zero(fields.text(), "a size in bytes")?)?;
        let mut record = Record::new(op, offset, len);
        record.device = device;
        record.flags = flags;
        record.queued = Stamp::at(Nanos(at));
        if !response.is_empty() {
            let response = Fields::comma(response).scaled("a response time in seconds", 9)?;
            record.completed = Stamp::at(Nanos(at.saturating_add(response)));
        }
        out.push(flag_empty(record));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_all;

    const HEAD: &str = "Timestamp,Response,IOType,LUN,Offset,Size\n";

    #[test]
    fn seconds_with_decimals_lose_nothing() {
        let text = format!("{HEAD}1455592378.011457000,0.000284000,R,4,56153677824,8192\n");
        let (records, _, tables) = read_all(open, text.as_bytes());
        let r = records[0];
        assert_eq!(r.queued.get(), Some(Nanos(1_455_592_378_011_457_000)));
        assert_eq!(r.completed.get(), Some(Nanos(1_455_592_378_011_741_000)));
        assert_eq!((r.offset, r.len, tables.devices[0].name.as_str()), (56_153_677_824, 8192, "4"));
    }

    #[test]
    fn a_blank_operation_is_counted_and_never_called_a_read_to_replay() {
        let text = format!("{HEAD}1455592378.5,0.1,,4,512,512\n1455592378.5,,,4,,\n");
        let (records, ..) = read_all(open, text.as_bytes());
        assert!(records.iter().all(|r| r.flags.has(Flags::OTHER)));
        assert_eq!(records.len(), 2);
    }

    #[test]
    fn a_missing_response_is_unknown() {
        let text = format!("{HEAD}1455592378.5,,W,4,512,512\n");
        assert_eq!(read_all(open, text.as_bytes()).0[0].completed, Stamp::NONE);
    }
}

//! Alibaba block traces, 2020: `device_id,opcode,offset,length,timestamp`; opcode R or W, bytes,
//! microseconds since 1970.

use super::input::Input;
use super::names::Names;
use super::text::{Fields, LineFormat, TextSource, Wrong, flag_empty, length};
use crate::record::{Record, Stamp};
use crate::source::{About, Capture, Clock, Source, Tables};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// Reads it.
pub fn open(input: Input) -> Box<dyn Source + Send> {
    let mut about = About::new(Alibaba::NAME, Clock::Unix, Capture::Queue);
    about.unix_ns_at_zero = Some(0);
    Box::new(TextSource::new(input, Alibaba::default(), about))
}

#[derive(Default)]
struct Alibaba {
    names: Names,
}

impl LineFormat for Alibaba {
    const NAME: &'static str = "alibaba";

    fn line(
        &mut self,
        line: &[u8],
        _: &mut About,
        tables: &mut Tables,
        out: &mut Vec<Record>,
    ) -> Result<(), Wrong> {
        if out.is_empty() && line.starts_with(b"device_id") {
            return Ok(());
        }
        let mut fields = Fields::comma(line);
        let device = self.names.device(fields.text(), tables)?;
        let op = match fields.text() {
            b"R" | b"r" => Op::Read,
            b"W" | b"w" => Op::Write,
            other => return Err(Wrong::new("R or W", other)),
        };
        let offset = fields.number("an offset in bytes")?;
        let len = length(fields.number("a length in bytes")?)?;
        let at = fields.scaled("a time in microseconds since 1970", 3)?;
        let mut record = Record::new(op, offset, len);
        record.device = device;
        record.queued = Stamp::at(Nanos(at));
        out.push(flag_empty(record));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{read_all, read_error};

    #[test]
    fn offsets_are_bytes_and_times_microseconds_since_1970() {
        let (records, about, tables) = read_all(open, b"419,W,8792731648,16384,1577808144360767\n");
        let r = records[0];
        assert_eq!((r.op, r.offset, r.len), (Op::Write, 8_792_731_648, 16_384));
        assert_eq!(r.queued.get(), Some(Nanos(1_577_808_144_360_767_000)));
        assert_eq!((about.clock, tables.devices[0].name.as_str()), (Clock::Unix, "419"));
    }

    #[test]
    fn a_code_that_is_neither_r_nor_w_is_refused() {
        assert_eq!(read_error(open, b"1,0,0,512,1\n"), "alibaba, line 1: R or W (found \"0\")");
    }
}

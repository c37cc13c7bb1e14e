//! Florida International University (SNIA IOTTA 411):
//! `ts_ns pid process lba size R|W major minor md5`; blocks of 512 bytes.

use super::input::Input;
use super::names::Names;
use super::text::{Fields, LineFormat, TextSource, Wrong, blocks, flag_empty, length};
use crate::record::{Record, Stamp};
use crate::source::{About, Capture, Clock, Source, Tables};
use memchr::memrchr2;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// Fields after the name of the process.
const FIELDS_AFTER: usize = 6;

/// Reads it.
pub fn open(input: Input) -> Box<dyn Source + Send> {
    let about = About::new(Fiu::NAME, Clock::Start, Capture::Queue);
    Box::new(TextSource::new(input, Fiu::default(), about))
}

#[derive(Default)]
struct Fiu {
    devices: Names,
    processes: Names,
}

impl LineFormat for Fiu {
    const NAME: &'static str = "fiu";

    fn line(
        &mut self,
        line: &[u8],
        _: &mut About,
        tables: &mut Tables,
        out: &mut Vec<Record>,
    ) -> Result<(), Wrong> {
        let mut front = Fields::blank(line);
        let at = front.number("a time in nanoseconds")?;
        let pid = front.number_u32("a process number")?;
        let (process, mut fields) = split_process(front.rest())?;
        let offset = blocks(fields.number("a block of 512 bytes")?, "a block")?;
        let len = length(blocks(fields.number("a size in blocks of 512 bytes")?, "a size")?)?;
        let op = match fields.text() {
            b"R" | b"r" => Op::Read,
            b"W" | b"w" => Op::Write,
            other => return Err(Wrong::new("R or W", other)),
        };
        let device = fields.text_pair();
        let mut record = Record::new(op, offset, len);
        record.device = self.devices.device_as(device, tables, |n| n.replacen(' ', ",", 1))?;
        record.queued = Stamp::at(Nanos(at));
        record.pid = pid;
        record.process = self.processes.process(process, tables)?;
        out.push(flag_empty(record));
        Ok(())
    }
}

/// The name, which may contain blanks, and the fields behind it.
fn split_process(rest: &[u8]) -> Result<(&[u8], Fields<'_>), Wrong> {
    let mut end = rest.trim_ascii_end().len();
    for _ in 0..FIELDS_AFTER {
        let field = memrchr2(b' ', b'\t', &rest[..end]);
        let field = field.ok_or_else(|| Wrong::new("nine fields", rest))?;
        end = rest[..field].trim_ascii_end().len();
    }
    Ok((&rest[..end], Fields::blank(&rest[end..])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{read_all, read_error};

    #[test]
    fn a_process_name_with_blanks_stays_one_name() {
        let text = b"0 4892 syslogd 904265560 8 W 6 0 531e779f9a0b5c\n\
                     39064 12 my own tool 16 1 R 8 1 abc\n";
        let (records, _, tables) = read_all(open, text);
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
            read_error(open, b"0 4892 syslogd 904265560 8 W 6\n"),
            "fiu, line 1: nine fields (found \"syslogd 904265560 8 W 6\")"
        );
    }
}

//! Our own comma-separated text: everything a record keeps, one column each, for spreadsheets and
//! scripts. A time that is not known is empty. Names with commas or quotes are quoted.

use super::input::Input;
use super::names::Names;
use super::output::Output;
use super::text::{Fields, LineFormat, LineWriter, TextSink, TextSource, Wrong};
use crate::error::TraceError;
use crate::record::{Flags, Record, Stamp};
use crate::source::{About, Capture, Clock, Sink, Source, Tables};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::io::Write;

/// First line of every file.
pub const HEADER: &str = concat!(
    "queued_ns,issued_ns,completed_ns,op,offset_bytes,length_bytes,",
    "device,pid,process,cpu,error,flags"
);

/// Flags by name, joined with `+` in the last column.
pub const FLAGS: [(&str, Flags); 8] = [
    ("sync", Flags::SYNC),
    ("fua", Flags::FUA),
    ("preflush", Flags::PREFLUSH),
    ("meta", Flags::META),
    ("readahead", Flags::READ_AHEAD),
    ("hit", Flags::CACHE_HIT),
    ("other", Flags::OTHER),
    ("secure", Flags::SECURE),
];

/// Reads it. What times count from is not kept in it.
pub fn open(input: Input) -> Box<dyn Source + Send> {
    let about = About::new(Csv::NAME, Clock::Start, Capture::Both);
    Box::new(TextSource::new(input, Csv::default(), about))
}

/// Writes it.
///
/// # Errors
/// [`TraceError::Io`].
pub fn create(output: Output) -> Result<Box<dyn Sink + Send>, TraceError> {
    Ok(Box::new(TextSink::new(output, Writer)?))
}

#[derive(Default)]
struct Csv {
    has_begun: bool,
    devices: Names,
    processes: Names,
}

impl LineFormat for Csv {
    const NAME: &'static str = "csv";

    fn line(
        &mut self,
        line: &[u8],
        _: &mut About,
        tables: &mut Tables,
        out: &mut Vec<Record>,
    ) -> Result<(), Wrong> {
        if !self.has_begun {
            self.has_begun = true;
            return if line == HEADER.as_bytes() {
                Ok(())
            } else {
                Err(Wrong::new("the header that `trace convert --to csv` writes", line))
            };
        }
        let mut fields = Fields::comma(line);
        let mut stamp = || match fields.text() {
            b"" => Ok(Stamp::NONE),
            text => {
                Fields::comma(text).number("a time in nanoseconds").map(|ns| Stamp::at(Nanos(ns)))
            }
        };
        let (queued, issued, completed) = (stamp()?, stamp()?, stamp()?);
        let name = fields.text();
        let op = Op::ALL.into_iter().find(|op| op.name().as_bytes() == name);
        let op = op.ok_or_else(|| Wrong::new("read, write, flush or discard", name))?;
        let offset = fields.number("an offset in bytes")?;
        let mut record = Record::new(op, offset, fields.number_u32("a length in bytes")?);
        (record.queued, record.issued, record.completed) = (queued, issued, completed);
        let mut unquoted = Vec::new();
        let name = fields.quoted(&mut unquoted)?;
        record.device = self.devices.device(name, tables)?;
        record.pid = fields.number_u32("a process number")?;
        let name = fields.quoted(&mut unquoted)?;
        record.process = self.processes.process(name, tables)?;
        record.cpu = fields.number_u16("a CPU number")?;
        record.error = fields.number_u16("an error number")?;
        record.flags = flags(fields.text())?;
        out.push(record);
        Ok(())
    }
}

fn flags(text: &[u8]) -> Result<Flags, Wrong> {
    let mut flags = Flags::default();
    for name in text.split(|&b| b == b'+').filter(|name| !name.is_empty()) {
        let known = FLAGS.iter().find(|(known, _)| known.as_bytes() == name);
        flags = flags | known.ok_or_else(|| Wrong::new("names of flags", name))?.1;
    }
    Ok(flags)
}

struct Writer;

impl LineWriter for Writer {
    fn head(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(HEADER.as_bytes());
        out.push(b'\n');
    }

    fn line(&mut self, r: &Record, tables: &Tables, out: &mut Vec<u8>) -> Result<bool, TraceError> {
        for stamp in [r.queued, r.issued, r.completed] {
            if let Some(at) = stamp.get() {
                write!(out, "{}", at.0).expect("memory takes it");
            }
            out.push(b',');
        }
        write!(out, "{},{},{},", r.op.name(), r.offset, r.len).expect("memory takes it");
        let device = tables.devices.get(r.device as usize).map_or("", |d| d.name.as_str());
        quote(device, out);
        write!(out, ",{},", r.pid).expect("memory takes it");
        quote(tables.processes.get(r.process as usize).map_or("", String::as_str), out);
        write!(out, ",{},{},", r.cpu, r.error).expect("memory takes it");
        let names = FLAGS.iter().filter(|(_, flag)| r.flags.has(*flag));
        for (i, (name, _)) in names.enumerate() {
            if i > 0 {
                out.push(b'+');
            }
            out.extend_from_slice(name.as_bytes());
        }
        out.push(b'\n');
        Ok(true)
    }
}

/// Quoted where it has to be (RFC 4180); a line break would end the record and becomes a blank.
fn quote(text: &str, out: &mut Vec<u8>) {
    let is_plain = text.trim() == text && !text.contains([',', '"', '\n', '\r']);
    if is_plain {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\"\""),
            b'\n' | b'\r' => out.push(b' '),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{read_all, read_error, write_all};

    #[test]
    fn everything_a_record_keeps_is_written_and_read_back() {
        let text = format!(
            "{HEADER}\n5,7,9,write,4096,512,\"8,0\",12,\"a \"\"b\"\", c\",3,5,sync+fua\n\
             ,8,,read,0,512,sdb,0,,0,0,\n6,8,,flush,0,0,sdb,1,kworker/0:1,1,0,preflush\n"
        );
        let (records, _, tables) = read_all(open, text.as_bytes());
        assert_eq!(tables.processes[1], "a \"b\", c");
        assert_eq!(tables.devices[0].name, "8,0");
        assert_eq!(records[0].flags, Flags::SYNC | Flags::FUA);
        assert_eq!((records[0].queued, records[1].queued), (Stamp::at(Nanos(5)), Stamp::NONE));
        assert_eq!(write_all(open, text.as_bytes(), |o, _| create(o)), (text, 0));
    }

    #[test]
    fn a_quote_that_is_never_closed_and_an_unknown_flag_are_refused() {
        let open_quote = format!("{HEADER}\n1,,,read,0,512,\"sda,0,,0,0,\n");
        assert!(read_error(open, open_quote.as_bytes()).contains("a closing quote"));
        let flag = format!("{HEADER}\n1,,,read,0,512,sda,0,,0,0,fast\n");
        assert!(read_error(open, flag.as_bytes()).contains("names of flags (found \"fast\")"));
    }
}

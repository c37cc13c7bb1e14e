//! fio's I/O log. Version 3: `fio version 3 iolog`, then `µs file action [offset length]`.
//! Version 2 is the same without times; its `wait` means one thing in fio's manual and another in
//! its code (iolog.c), which waits until that many milliseconds after the start. The code is
//! followed, and the trace says that its times are too coarse to replay.

use super::format::{Certainty, Create, Created, Format, Holds, Opened, Reader, Sample, Writer};
use super::input::Input;
use super::names::Names;
use super::output::Output;
use super::text::{
    Fields, LineFormat, LineWriter, Separator, TextSink, TextSource, Wrong, flag_empty, length,
};
use crate::error::TraceError;
use crate::record::{Flags, Record, Stamp};
use crate::source::{About, Capture, Clock, Tables};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::io::Write;

/// Step of the times of version 2.
const V2_STEP_NS: u64 = 1_000_000;

/// The format.
pub const FORMAT: Format = Format {
    name: "iolog",
    description: "fio I/O log, version 2 and 3; written as 3",
    holds: Holds { step_ns: 1000, ops: &Op::ALL, ..Holds::ARRIVALS },
    reader: Reader::Stream(open),
    writer: Some(Writer { create: Create::Stream(create), leaves_out: &[] }),
    ending: Some("iolog"),
    looks_like,
    locate: None,
    unit: None,
};

fn looks_like(sample: &Sample<'_>) -> Option<Certainty> {
    let first = sample.first_line();
    Certainty::Header.when(first.starts_with(b"fio version ") && first.ends_with(b" iolog"))
}

fn open(input: Input) -> Opened {
    let about = About::new(FORMAT.name, Clock::Start, Capture::Queue);
    Ok(Box::new(TextSource::new(input, Iolog::default(), about)))
}

/// Writes version 3. Times count from the first request.
fn create(output: Output, _: &About) -> Created {
    Ok(Box::new(TextSink::new(output, Lines::default())?))
}

#[derive(Default)]
struct Iolog {
    names: Names,
    version: Option<Version>,
    /// Where version 2 is.
    waited_ns: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Two,
    Three,
}

impl LineFormat for Iolog {
    const NAME: &'static str = FORMAT.name;

    fn line(
        &mut self,
        line: &[u8],
        about: &mut About,
        tables: &mut Tables,
        out: &mut Vec<Record>,
    ) -> Result<(), Wrong> {
        let Some(version) = self.version else {
            self.version = Some(version_of(line, about)?);
            return Ok(());
        };
        let mut fields = Fields::new(line, Separator::Blanks);
        let at = match version {
            Version::Two => self.waited_ns,
            Version::Three => fields.scaled("a time in microseconds", 3)?,
        };
        let file = fields.text();
        let action = fields.text();
        let op = match action {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Discard,
            b"sync" | b"datasync" | b"sync_file_range" => Op::Flush,
            b"add" | b"open" | b"close" => {
                self.names.device(file, tables)?;
                return Ok(());
            }
            b"wait" if version == Version::Two => {
                let ms = fields.number("milliseconds")?.checked_mul(V2_STEP_NS);
                self.waited_ns = ms.ok_or_else(|| Wrong::new("milliseconds", line))?;
                return Ok(());
            }
            other => return Err(Wrong::new("an action that fio logs", other)),
        };
        let (offset, len) = if op == Op::Flush {
            (0, 0)
        } else {
            (fields.number("an offset in bytes")?, length(fields.number("a length in bytes")?)?)
        };
        let mut record = Record::new(op, offset, len);
        record.device = self.names.device(file, tables)?;
        record.queued = Stamp::at(Nanos(at));
        out.push(flag_empty(record));
        Ok(())
    }
}

fn version_of(line: &[u8], about: &mut About) -> Result<Version, Wrong> {
    match line.trim_ascii() {
        b"fio version 2 iolog" => {
            about.time_step_ns = Some(V2_STEP_NS);
            Ok(Version::Two)
        }
        b"fio version 3 iolog" => Ok(Version::Three),
        other => Err(Wrong::new("\"fio version 2 iolog\" or 3", other)),
    }
}

#[derive(Default)]
struct Lines {
    zero_ns: Option<u64>,
    /// Names as they are written; fio wants each file added and opened before it is used.
    opened: Vec<String>,
    last_us: u64,
}

impl Lines {
    /// Names of files that begin with this record; fio reads neither blanks nor empty names.
    fn open_files(&mut self, upto: u32, us: u64, tables: &Tables, out: &mut Vec<u8>) {
        while self.opened.len() <= upto as usize {
            let number = self.opened.len();
            let name = tables.devices.get(number).map_or("", |d| d.name.as_str());
            let mut name: String =
                name.chars().map(|c| if c.is_whitespace() { '_' } else { c }).take(250).collect();
            if name.is_empty() {
                name = format!("device{number}");
            }
            writeln!(out, "{us} {name} add\n{us} {name} open").expect("memory takes it");
            self.opened.push(name);
        }
    }
}

impl LineWriter for Lines {
    fn head(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"fio version 3 iolog\n");
    }

    fn line(&mut self, r: &Record, tables: &Tables, out: &mut Vec<u8>) -> Result<bool, TraceError> {
        let at = r.arrival().get();
        if r.flags.has(Flags::OTHER) || r.device as usize >= tables.devices.len() {
            return Ok(false);
        }
        let at = at.map_or(self.zero_ns.unwrap_or(0), |t| t.0);
        let us = at.saturating_sub(*self.zero_ns.get_or_insert(at)) / 1000;
        self.last_us = us;
        self.open_files(r.device, us, tables, out);
        let name = &self.opened[r.device as usize];
        let action = match r.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Flush => "sync",
            Op::Discard => "trim",
        };
        writeln!(out, "{us} {name} {action} {} {}", r.offset, r.len).expect("memory takes it");
        Ok(true)
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        for name in &self.opened {
            writeln!(out, "{} {name} close", self.last_us).expect("memory takes it");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{read_all, read_error, write_all};

    #[test]
    fn times_of_version_3_are_microseconds_and_offsets_bytes() {
        let text = b"fio version 3 iolog\n0 /dev/sdb add\n1 /dev/sdb open\n\
                     150 /dev/sdb read 4096 8192\n200 /dev/sdb trim 0 4096\n\
                     300 /dev/sdb datasync 0 0\n400 /dev/sdb close\n";
        let (records, about, tables) = read_all(&FORMAT, text);
        assert_eq!(records[0].queued.get(), Some(Nanos(150_000)));
        assert_eq!((records[0].op, records[0].offset, records[0].len), (Op::Read, 4096, 8192));
        assert_eq!((records[1].op, records[2].op), (Op::Discard, Op::Flush));
        assert_eq!((tables.devices.len(), about.time_step_ns), (1, None));
    }

    #[test]
    fn version_2_has_no_times_but_its_waits_and_says_so() {
        let text =
            b"fio version 2 iolog\nf add\nf open\nf write 0 512\nf wait 20 0\nf read 0 512\n";
        let (records, about, _) = read_all(&FORMAT, text);
        assert_eq!(records[0].queued.get(), Some(Nanos(0)));
        assert_eq!(records[1].queued.get(), Some(Nanos(20_000_000)));
        assert_eq!(about.time_step_ns, Some(V2_STEP_NS));
    }

    #[test]
    fn another_version_is_refused_by_its_first_line() {
        assert_eq!(
            read_error(&FORMAT, b"fio version 4 iolog\n"),
            "iolog, line 1: expected \"fio version 2 iolog\" or 3, found \"fio version 4 iolog\""
        );
        let waiting = b"fio version 3 iolog\n5 f wait 1 0\n";
        assert_eq!(
            read_error(&FORMAT, waiting),
            "iolog, line 2: expected an action that fio logs, found \"wait\""
        );
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let text = "fio version 3 iolog\n0 sda add\n0 sda open\n0 sda read 4096 8192\n\
                    70 sdb add\n70 sdb open\n70 sdb sync 0 0\n90 sda trim 0 512\n\
                    90 sda close\n90 sdb close\n";
        assert_eq!(write_all(&FORMAT, text.as_bytes()), (text.to_owned(), 0));
    }
}

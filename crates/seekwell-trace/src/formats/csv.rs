//! Comma-separated text. Our own holds everything a record keeps, one column each, for spreadsheets
//! and scripts: a time that is not known is empty, names with commas or quotes are quoted. Text of
//! other programs is read by the names of its columns, separated by commas or else by blanks.

use super::columns::{self, Column, FLAGS, Header, Table, Unit, Words};
use super::format::{
    Certainty, Create, Created, Format, Holds, Opened, Reader, Sample, Step, Writer,
};
use super::input::Input;
use super::mapping::{self, Cell, Mapping, Row};
use super::output::Output;
use super::text::{Fields, LineFormat, LineWriter, Separator, TextSink, TextSource, Wrong};
use super::time_unit::TimeUnit;
use crate::error::{At, TraceError};
use crate::record::Record;
use crate::source::{About, Clock, Tables};
use seekwell_io::request::Op;
use std::io::Write;

/// First line of every file.
pub const HEADER: &str = concat!(
    "queued_ns,issued_ns,completed_ns,op,offset_bytes,length_bytes,",
    "device,pid,process,cpu,error,flags"
);

const OPS: Words<Option<Op>> = Words {
    expected: "read, write, flush or discard",
    words: &[
        (b"read", Some(Op::Read)),
        (b"write", Some(Op::Write)),
        (b"flush", Some(Op::Flush)),
        (b"discard", Some(Op::Discard)),
    ],
};

/// The format.
pub const FORMAT: Format = Format {
    name: "csv",
    description: "seekwell's comma-separated text",
    holds: Holds::EVERYTHING,
    reader: Reader::Stream(open),
    writer: Some(Writer { create: Create::Stream(create), leaves_out: &[] }),
    ending: Some("csv"),
    looks_like,
    locate: None,
    unit: Some(TimeUnit::Nanoseconds),
};

enum Csv {}

impl Table for Csv {
    const FORMAT: Format = FORMAT;
    const CLOCK: Clock = Clock::Start;
    const HEADER: Header = Header::Required {
        line: HEADER.as_bytes(),
        expected: "the header that `trace convert --to csv` writes",
    };
    const COLUMNS: &'static [Column] = &[
        Column::Stamp(Step::Queued),
        Column::Stamp(Step::Issued),
        Column::Stamp(Step::Completed),
        Column::Op(OPS),
        Column::Offset(Unit::Bytes),
        Column::Length(Unit::Bytes),
        Column::Device,
        Column::Pid,
        Column::Process,
        Column::Cpu,
        Column::Error,
        Column::Flags(FLAGS),
    ];
}

fn looks_like(sample: &Sample<'_>) -> Option<Certainty> {
    let first = sample.first_line();
    let is_ours = first == HEADER.as_bytes();
    Certainty::Header.when(is_ours || header(first, &Mapping::default()).is_ok())
}

fn open(input: Input) -> Opened {
    let first = Sample { bytes: input.head(), path: input.path() }.first_line();
    if first == HEADER.as_bytes() {
        columns::open::<Csv>(input)
    } else {
        mapped(input, &Mapping::default())
    }
}

/// Reads text whose columns hold what the mapping says. Its first line names them; where the
/// mapping calls them by numbers, from 1, there is no such line.
///
/// # Errors
/// [`TraceError::NoColumn`].
pub fn mapped(input: Input, mapping: &Mapping) -> Opened {
    let first = Sample { bytes: input.head(), path: input.path() }.first_line().to_vec();
    let separator = separator(&first);
    let (cells, has_header) = header(&first, mapping)?;
    let about = mapping::about(FORMAT.name, &cells, Clock::Start);
    let row = Row::new(false);
    Ok(Box::new(TextSource::new(input, Mapped { cells, separator, has_header, row }, about)))
}

fn separator(line: &[u8]) -> Separator {
    if line.contains(&b',') { Separator::Comma } else { Separator::Blanks }
}

/// What the columns hold, and whether the first line names them.
fn header(first: &[u8], mapping: &Mapping) -> Result<(Vec<Option<Cell>>, bool), TraceError> {
    let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first);
    let mut fields = Fields::new(first, separator(first));
    let mut names = Vec::new();
    while !fields.is_over() {
        let name = fields.quoted().map_err(|wrong| TraceError::Malformed {
            format: FORMAT.name,
            at: At::Line(1),
            wrong: wrong.what,
            found: wrong.found,
        })?;
        names.push(String::from_utf8_lossy(&name).into_owned());
    }
    if mapping.is_by_number() {
        names = (1..=names.len()).map(|n| n.to_string()).collect();
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok((mapping.of(FORMAT.name, &names)?, !mapping.is_by_number()))
}

struct Mapped {
    cells: Vec<Option<Cell>>,
    separator: Separator,
    /// The first line is still to come and holds names.
    has_header: bool,
    row: Row,
}

impl LineFormat for Mapped {
    const NAME: &'static str = FORMAT.name;

    fn line(
        &mut self,
        line: &[u8],
        _: &mut About,
        tables: &mut Tables,
        out: &mut Vec<Record>,
    ) -> Result<(), Wrong> {
        if std::mem::take(&mut self.has_header) {
            return Ok(());
        }
        let mut fields = Fields::new(line, self.separator);
        let mut texts = Vec::with_capacity(self.cells.len());
        for cell in &self.cells {
            let text = fields.quoted()?;
            texts.extend(cell.map(|cell| (cell, text)));
        }
        if !fields.is_over() {
            return Err(Wrong::new("as many columns as the first line has", line));
        }
        let cells = texts.iter().map(|(cell, text)| (*cell, &**text));
        out.push(self.row.record(cells, tables)?);
        Ok(())
    }
}

/// What times count from is not kept.
fn create(output: Output, _: &About) -> Created {
    Ok(Box::new(TextSink::new(output, Lines)?))
}

struct Lines;

impl LineWriter for Lines {
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
        let names = FLAGS.words.iter().filter(|(_, flag)| r.flags.has(*flag));
        for (i, (name, _)) in names.enumerate() {
            if i > 0 {
                out.push(b'+');
            }
            out.extend_from_slice(name);
        }
        out.push(b'\n');
        Ok(true)
    }
}

/// Quoted if it has to be (RFC 4180); a line break would end the record and becomes a blank.
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
    use crate::record::{Flags, Stamp};
    use seekwell_io::units::Nanos;

    #[test]
    fn everything_a_record_keeps_is_written_and_read_back() {
        let text = format!(
            "{HEADER}\n5,7,9,write,4096,512,\"8,0\",12,\"a \"\"b\"\", c\",3,5,sync+fua\n\
             ,8,,read,0,512,sdb,0,,0,0,\n6,8,,flush,0,0,sdb,1,kworker/0:1,1,0,preflush\n"
        );
        let (records, _, tables) = read_all(&FORMAT, text.as_bytes());
        assert_eq!(tables.processes[1], "a \"b\", c");
        assert_eq!(tables.devices[0].name, "8,0");
        assert_eq!(records[0].flags, Flags::SYNC | Flags::FUA);
        assert_eq!((records[0].queued, records[1].queued), (Stamp::at(Nanos(5)), Stamp::NONE));
        assert_eq!(write_all(&FORMAT, text.as_bytes()), (text, 0));
    }

    #[test]
    fn a_quote_that_is_never_closed_and_an_unknown_flag_are_refused() {
        let open_quote = format!("{HEADER}\n1,,,read,0,512,\"sda,0,,0,0,\n");
        assert!(read_error(&FORMAT, open_quote.as_bytes()).contains("a closing quote"));
        let flag = format!("{HEADER}\n1,,,read,0,512,sda,0,,0,0,fast\n");
        assert!(
            read_error(&FORMAT, flag.as_bytes())
                .contains("expected names of flags, found \"fast\"")
        );
    }
}

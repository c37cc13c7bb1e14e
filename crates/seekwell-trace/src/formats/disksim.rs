//! DiskSim's ASCII input: `arrival_ms devno block blocks flags`, flags in hexadecimal without 0x,
//! of which bit 0 means a read (disksim_iotrace.c). Blocks are of 512 bytes.

use super::input::Input;
use super::names::Names;
use super::output::Output;
use super::text::{
    Fields, LineFormat, LineWriter, TextSink, TextSource, Wrong, blocks, flag_empty, length,
};
use crate::error::TraceError;
use crate::record::{Flags, Record, Stamp};
use crate::source::{About, Capture, Clock, Sink, Source, Tables};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::io::Write;

const READ_BIT: u64 = 1;

/// Reads it.
pub fn open(input: Input) -> Box<dyn Source + Send> {
    let about = About::new(DiskSim::NAME, Clock::Start, Capture::Queue);
    Box::new(TextSource::new(input, DiskSim::default(), about))
}

/// Writes it, times from the first request. Only reads and writes, as whole blocks, have a place.
///
/// # Errors
/// [`TraceError::Io`].
pub fn create(output: Output) -> Result<Box<dyn Sink + Send>, TraceError> {
    Ok(Box::new(TextSink::new(output, Writer::default())?))
}

#[derive(Default)]
struct DiskSim {
    names: Names,
}

impl LineFormat for DiskSim {
    const NAME: &'static str = "disksim";

    fn line(
        &mut self,
        line: &[u8],
        _: &mut About,
        tables: &mut Tables,
        out: &mut Vec<Record>,
    ) -> Result<(), Wrong> {
        let mut fields = Fields::blank(line);
        let at = fields.scaled("an arrival in milliseconds", 6)?;
        let device = fields.text();
        let offset = blocks(fields.number("a block of 512 bytes")?, "a block")?;
        let len = length(blocks(fields.number("a number of blocks")?, "a number of blocks")?)?;
        let flags = fields.text();
        let flags = std::str::from_utf8(flags)
            .ok()
            .and_then(|hex| u64::from_str_radix(hex.strip_prefix("0x").unwrap_or(hex), 16).ok())
            .ok_or_else(|| Wrong::new("flags in hexadecimal", flags))?;
        let op = if flags & READ_BIT == 0 { Op::Write } else { Op::Read };
        if !fields.is_over() {
            return Err(Wrong::new("five fields", line));
        }
        let mut record = Record::new(op, offset, len);
        record.device = self.names.device(device, tables)?;
        record.queued = Stamp::at(Nanos(at));
        out.push(flag_empty(record));
        Ok(())
    }
}

#[derive(Default)]
struct Writer {
    zero_ns: Option<u64>,
}

impl LineWriter for Writer {
    fn line(&mut self, r: &Record, _: &Tables, out: &mut Vec<u8>) -> Result<bool, TraceError> {
        let Some(at) = r.arrival().get() else { return Ok(false) };
        let flags = match r.op {
            _ if r.flags.has(Flags::OTHER) => return Ok(false),
            Op::Read => READ_BIT,
            Op::Write => 0,
            Op::Flush | Op::Discard => return Ok(false),
        };
        let ns = at.0.saturating_sub(*self.zero_ns.get_or_insert(at.0));
        let first = r.offset / 512;
        let count = r.end().div_ceil(512) - first;
        let (ms, rest) = (ns / 1_000_000, ns % 1_000_000);
        writeln!(out, "{ms}.{rest:06}\t{}\t{first}\t{count}\t{flags:x}", r.device)
            .expect("memory takes it");
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{read_all, read_error, write_all};

    #[test]
    fn bit_0_of_hexadecimal_flags_is_a_read() {
        let text = b"0.5 3 8 2 10\n1.000001 3 8 2 11\n2 4 8 2 b\n2 4 8 2 A\n";
        let (records, _, tables) = read_all(open, text);
        let ops: Vec<Op> = records.iter().map(|r| r.op).collect();
        assert_eq!(ops, [Op::Write, Op::Read, Op::Read, Op::Write]);
        assert_eq!((records[0].offset, records[0].len), (4096, 1024));
        assert_eq!(records[1].queued.get(), Some(Nanos(1_000_001)));
        assert_eq!(tables.devices.len(), 2);
    }

    #[test]
    fn flags_that_are_no_hexadecimal_number_are_refused() {
        assert_eq!(
            read_error(open, b"0.5 3 8 2 R\n"),
            "disksim, line 1: flags in hexadecimal (found \"R\")"
        );
    }

    #[test]
    fn a_request_of_no_blocks_is_counted_and_never_replayed() {
        let (records, ..) = read_all(open, b"0.5 3 8 0 1\n");
        assert!(records[0].flags.has(Flags::OTHER));
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let text = "0.000000\t0\t8\t2\t1\n1.500001\t1\t7\t1\t0\n";
        assert_eq!(write_all(open, text.as_bytes(), |o, _| create(o)), (text.to_owned(), 0));
    }
}

//! Microsoft Research Cambridge, 2007 (SNIA IOTTA 388):
//! `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`. Times are ticks of 100 ns since
//! 1601-01-01 UTC; offset and size are bytes; the response is ticks.

use super::input::Input;
use super::names::Names;
use super::output::Output;
use super::text::{
    Fields, LineFormat, LineWriter, TextSink, TextSource, Wrong, flag_empty, length,
};
use crate::error::TraceError;
use crate::record::{Flags, Record, Stamp};
use crate::source::{About, Capture, Clock, Sink, Source, Tables};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::io::Write;

/// 1970-01-01 in ticks of 100 ns since 1601-01-01.
const UNIX_EPOCH_TICKS: u64 = 116_444_736_000_000_000;
const TICK_NS: u64 = 100;

/// Reads it.
pub fn open(input: Input) -> Box<dyn Source + Send> {
    let mut about = About::new(Msr::NAME, Clock::Unix, Capture::Queue);
    about.unix_ns_at_zero = Some(0);
    Box::new(TextSource::new(input, Msr::default(), about))
}

/// Writes it. Flushes, discards and who asked have no place in it.
///
/// # Errors
/// [`TraceError::Io`].
pub fn create(output: Output, about: &About) -> Result<Box<dyn Sink + Send>, TraceError> {
    let zero_ticks = match about.unix_ns_at_zero {
        Some(ns) if ns >= 0 => UNIX_EPOCH_TICKS + ns as u64 / TICK_NS,
        _ => 0,
    };
    Ok(Box::new(TextSink::new(output, Writer { zero_ticks })?))
}

#[derive(Default)]
struct Msr {
    names: Names,
    /// Ticks that are time zero, once the first line showed which.
    zero_ticks: Option<u64>,
}

impl LineFormat for Msr {
    const NAME: &'static str = "msr";

    #[inline]
    fn line(
        &mut self,
        line: &[u8],
        about: &mut About,
        tables: &mut Tables,
        out: &mut Vec<Record>,
    ) -> Result<(), Wrong> {
        if self.zero_ticks.is_none() && line.starts_with(b"Timestamp") {
            return Ok(());
        }
        let mut fields = Fields::comma(line);
        let ticks = fields.number("a time in ticks of 100 ns since 1601")?;
        let zero = match self.zero_ticks {
            Some(zero) => zero,
            None => self.find_zero(ticks, about),
        };
        let since = ticks.checked_sub(zero).and_then(|t| t.checked_mul(TICK_NS));
        let queued = since.ok_or_else(|| Wrong::new("a time after 1970", line))?;
        let device = fields.text_pair();
        let device = self.names.device_as(device, tables, |name| name.replacen(',', "_", 1))?;
        let op = match fields.text() {
            b"Read" => Op::Read,
            b"Write" => Op::Write,
            other if other.eq_ignore_ascii_case(b"read") => Op::Read,
            other if other.eq_ignore_ascii_case(b"write") => Op::Write,
            other => return Err(Wrong::new("Read or Write", other)),
        };
        let offset = fields.number("an offset in bytes")?;
        let len = length(fields.number("a size in bytes")?)?;
        let mut record = Record::new(op, offset, len);
        record.device = device;
        record.queued = Stamp::at(Nanos(queued));
        if !fields.is_over() {
            let response = fields.number("a response time in ticks of 100 ns")?;
            let done = response.checked_mul(TICK_NS).and_then(|r| queued.checked_add(r));
            let done = done.ok_or_else(|| Wrong::new("a shorter response time", line))?;
            record.completed = Stamp::at(Nanos(done));
        }
        out.push(flag_empty(record));
        Ok(())
    }
}

impl Msr {
    /// Tools that write this format without knowing the date count from zero.
    #[cold]
    fn find_zero(&mut self, first_ticks: u64, about: &mut About) -> u64 {
        let zero = if first_ticks >= UNIX_EPOCH_TICKS {
            UNIX_EPOCH_TICKS
        } else {
            about.clock = Clock::Start;
            about.unix_ns_at_zero = None;
            0
        };
        self.zero_ticks = Some(zero);
        zero
    }
}

struct Writer {
    zero_ticks: u64,
}

impl LineWriter for Writer {
    fn line(&mut self, r: &Record, tables: &Tables, out: &mut Vec<u8>) -> Result<bool, TraceError> {
        let Some(at) = r.arrival().get() else { return Ok(false) };
        let kind = match r.op {
            _ if r.flags.has(Flags::OTHER) => return Ok(false),
            Op::Read => "Read",
            Op::Write => "Write",
            Op::Flush | Op::Discard => return Ok(false),
        };
        let name = tables.devices.get(r.device as usize).map_or("", |d| d.name.as_str());
        let (host, disk) = match name.rsplit_once('_') {
            Some((host, disk)) if disk.parse::<u32>().is_ok() => (host, disk),
            _ => (name, "0"),
        };
        let host = host.replace(|c: char| c == ',' || c.is_whitespace(), "-");
        let ticks = self.zero_ticks.saturating_add(at.0 / TICK_NS);
        let done = write!(out, "{ticks},{host},{disk},{kind},{},{},", r.offset, r.len);
        done.expect("memory takes it");
        if let Some(completed) = r.completed.get() {
            let response = completed.0.saturating_sub(at.0) / TICK_NS;
            write!(out, "{response}").expect("memory takes it");
        }
        out.push(b'\n');
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{read_all, read_error, write_all};

    #[test]
    fn ticks_of_100_ns_since_1601_become_nanoseconds_since_1970() {
        let (records, about, tables) =
            read_all(open, b"128166372003061629,hm,1,Read,383496192,32768,413\n");
        let r = records[0];
        // 2007-02-22 17:00:00 UTC.
        assert_eq!(r.queued.get(), Some(Nanos(1_172_163_600_306_162_900)));
        assert_eq!(r.completed.get(), Some(Nanos(1_172_163_600_306_204_200)));
        assert_eq!((r.op, r.offset, r.len), (Op::Read, 383_496_192, 32_768));
        assert_eq!((about.clock, about.unix_ns_at_zero), (Clock::Unix, Some(0)));
        assert_eq!(tables.devices[0].name, "hm_1");
    }

    #[test]
    fn a_missing_response_is_unknown_and_not_zero() {
        let text = b"128166372003061629,hm,0,Write,0,4096,\n128166372003061630,hm,0,write,0,4096\n";
        let (records, ..) = read_all(open, text);
        assert!(records.iter().all(|r| r.completed == Stamp::NONE && r.op == Op::Write));
    }

    #[test]
    fn times_that_count_from_zero_are_not_before_1970() {
        let (records, about, _) = read_all(open, b"0,a,0,Read,0,512,10\n5,a,0,Read,0,512,10\n");
        assert_eq!(records[1].queued.get(), Some(Nanos(500)));
        assert_eq!((about.clock, about.unix_ns_at_zero), (Clock::Start, None));
    }

    #[test]
    fn a_bad_line_is_named_by_its_number_and_a_torn_one_is_called_torn() {
        let good = "128166372003061629,hm,1,Read,383496192,32768,413\n";
        let wrong = format!("{good}128166372003061629,hm,1,Reed,0,1,1\n");
        assert_eq!(
            read_error(open, wrong.as_bytes()),
            "msr, line 2: Read or Write (found \"Reed\")"
        );
        let torn = format!("{good}12816637200");
        assert_eq!(
            read_error(open, torn.as_bytes()),
            "msr, line 2: the input ends in the middle of a line"
        );
        let huge = "128166372003061629,hm,1,Read,0,4294967296,1\n";
        assert_eq!(
            read_error(open, huge.as_bytes()),
            "msr, line 1: a length below 4 GiB (found \"4294967296\")"
        );
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let text = "128166372003061629,hm,1,Read,383496192,32768,413\n\
                    128166372003061640,hm,0,Write,1024,512,\n";
        assert_eq!(write_all(open, text.as_bytes(), create), (text.to_owned(), 0));
    }
}

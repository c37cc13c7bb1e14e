//! Microsoft Research Cambridge, 2007 (SNIA IOTTA 388):
//! `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`. Times are ticks of 100 ns since
//! 1601-01-01 UTC; offset and size are bytes; the response is ticks.

use super::columns::{self, Column, Header, TICK_NS, Table, Time, UNIX_EPOCH_TICKS, Unit, Words};
use super::format::{Create, Created, Format, Holds, Step, Writer};
use super::output::Output;
use super::text::{LineWriter, TextSink};
use crate::error::TraceError;
use crate::record::{Flags, Record};
use crate::source::{About, Clock, Tables};
use seekwell_io::request::Op;
use std::io::Write;

/// The format.
pub const FORMAT: Format = Format {
    writer: Some(Writer { create: Create::Stream(create), leaves_out: &[Op::Flush, Op::Discard] }),
    ..columns::format::<Msr>(
        "msr",
        "Microsoft Research Cambridge, 2007 (SNIA 388)",
        Holds { times: &[Step::Queued, Step::Completed], step_ns: TICK_NS, ..Holds::ARRIVALS },
        None,
    )
};

enum Msr {}

impl Table for Msr {
    const FORMAT: Format = FORMAT;
    const CLOCK: Clock = Clock::Unix;
    const HEADER: Header = Header::Optional(b"Timestamp");
    const COLUMNS: &'static [Column] = &[
        Column::Arrival(Time::Ticks),
        Column::DevicePair("_"),
        Column::Op(READ_OR_WRITE),
        Column::Offset(Unit::Bytes),
        Column::Length(Unit::Bytes),
        Column::Response(Time::Ticks),
    ];
}

const READ_OR_WRITE: Words<Option<Op>> = Words {
    expected: "Read or Write",
    words: &[(b"Read", Some(Op::Read)), (b"Write", Some(Op::Write))],
};

fn create(output: Output, about: &About) -> Created {
    let zero_ticks = match about.unix_ns_at_zero {
        Some(ns) if ns >= 0 => UNIX_EPOCH_TICKS + ns as u64 / TICK_NS,
        _ => 0,
    };
    Ok(Box::new(TextSink::new(output, Lines { zero_ticks })?))
}

struct Lines {
    zero_ticks: u64,
}

impl LineWriter for Lines {
    fn line(&mut self, r: &Record, tables: &Tables, out: &mut Vec<u8>) -> Result<bool, TraceError> {
        let Some(at) = r.arrival().get() else { return Ok(false) };
        let kind = match r.op {
            _ if r.flags.has(Flags::OTHER) => return Ok(false),
            Op::Read => "Read",
            Op::Write => "Write",
            Op::Flush | Op::Discard => return Ok(false),
        };
        let name = tables.devices.get(r.device as usize).map_or("", |d| d.name.as_str());
        let (host, disk) = host_and_disk(name);
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

    fn renamed(&self, tables: &Tables) -> Vec<(String, String)> {
        let names = tables.devices.iter().map(|device| {
            let (host, disk) = host_and_disk(&device.name);
            (device.name.clone(), format!("{host}_{disk}"))
        });
        names.filter(|(name, new)| name != new).collect()
    }
}

/// What the two columns of a device hold, which read back as `host_disk`.
fn host_and_disk(name: &str) -> (String, &str) {
    let (host, disk) = match name.rsplit_once('_') {
        Some((host, disk)) if disk.parse::<u32>().is_ok() => (host, disk),
        _ => (name, "0"),
    };
    (host.replace(|c: char| c == ',' || c.is_whitespace(), "-"), disk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{read_all, read_error, write_all};
    use crate::record::Stamp;
    use seekwell_io::units::Nanos;

    #[test]
    fn ticks_of_100_ns_since_1601_become_nanoseconds_since_1970() {
        let (records, about, tables) =
            read_all(&FORMAT, b"128166372003061629,hm,1,Read,383496192,32768,413\n");
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
        let (records, ..) = read_all(&FORMAT, text);
        assert!(records.iter().all(|r| r.completed == Stamp::NONE && r.op == Op::Write));
    }

    #[test]
    fn times_that_count_from_zero_are_not_before_1970() {
        let (records, about, _) = read_all(&FORMAT, b"0,a,0,Read,0,512,10\n5,a,0,Read,0,512,10\n");
        assert_eq!(records[1].queued.get(), Some(Nanos(500)));
        assert_eq!((about.clock, about.unix_ns_at_zero), (Clock::Start, None));
    }

    #[test]
    fn a_bad_line_is_named_by_its_number_and_a_torn_one_is_called_torn() {
        let good = "128166372003061629,hm,1,Read,383496192,32768,413\n";
        let wrong = format!("{good}128166372003061629,hm,1,Reed,0,1,1\n");
        assert_eq!(
            read_error(&FORMAT, wrong.as_bytes()),
            "msr, line 2: expected Read or Write, found \"Reed\""
        );
        let torn = format!("{good}12816637200");
        assert_eq!(
            read_error(&FORMAT, torn.as_bytes()),
            "msr, line 2: the input ends in the middle of a line"
        );
        let huge = "128166372003061629,hm,1,Read,0,4294967296,1\n";
        assert_eq!(
            read_error(&FORMAT, huge.as_bytes()),
            "msr, line 1: expected a length below 4 GiB, found \"4294967296\""
        );
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let text = "128166372003061629,hm,1,Read,383496192,32768,413\n\
                    128166372003061640,hm,0,Write,1024,512,\n";
        assert_eq!(write_all(&FORMAT, text.as_bytes()), (text.to_owned(), 0));
    }
}

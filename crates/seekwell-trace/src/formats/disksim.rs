//! DiskSim's ASCII input: `arrival_ms devno block blocks flags`, flags in hexadecimal without 0x,
//! of which bit 0 means a read (disksim_iotrace.c). Blocks are of 512 bytes.

use super::columns::{self, Column, Table, Time, Unit};
use super::format::{Create, Created, Format, Holds, Writer};
use super::names::Numbers;
use super::output::Output;
use super::text::{LineWriter, Separator, TextSink};
use super::time_unit::TimeUnit;
use crate::error::TraceError;
use crate::record::{Flags, Record};
use crate::source::{About, Clock, Tables};
use seekwell_io::request::Op;
use std::io::Write;

/// The format.
pub const FORMAT: Format = Format {
    writer: Some(Writer { create: Create::Stream(create), leaves_out: &[Op::Flush, Op::Discard] }),
    ..columns::format::<DiskSim>(
        "disksim",
        "DiskSim ASCII input",
        Holds::ARRIVALS,
        Some(TimeUnit::Milliseconds),
    )
};

enum DiskSim {}

impl Table for DiskSim {
    const FORMAT: Format = FORMAT;
    const CLOCK: Clock = Clock::Start;
    const SEPARATOR: Separator = Separator::Blanks;
    const COLUMNS: &'static [Column] = &[
        Column::Arrival(Time::Decimal { expected: "an arrival in milliseconds", places: 6 }),
        Column::Device,
        Column::Offset(Unit::Blocks),
        Column::Length(Unit::Blocks),
        Column::ReadBit,
        Column::End("five fields"),
    ];
}

const READ_BIT: u64 = 1;

/// Times count from the first request, and places are whole blocks.
fn create(output: Output, _: &About) -> Created {
    Ok(Box::new(TextSink::new(
        output,
        Lines { zero_ns: None, devices: Numbers::new(|name| name.parse().ok(), 0) },
    )?))
}

struct Lines {
    zero_ns: Option<u64>,
    devices: Numbers,
}

impl LineWriter for Lines {
    fn line(&mut self, r: &Record, tables: &Tables, out: &mut Vec<u8>) -> Result<bool, TraceError> {
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
        let device = self.devices.of(r.device, tables);
        writeln!(out, "{ms}.{rest:06}\t{device}\t{first}\t{count}\t{flags:x}")
            .expect("memory takes it");
        Ok(true)
    }

    fn renamed(&self, tables: &Tables) -> Vec<(String, String)> {
        self.devices.renamed(tables, |number| number.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{read_all, read_error, write_all};
    use seekwell_io::units::Nanos;

    #[test]
    fn bit_0_of_hexadecimal_flags_is_a_read() {
        let text = b"0.5 3 8 2 10\n1.000001 3 8 2 11\n2 4 8 2 b\n2 4 8 2 A\n";
        let (records, _, tables) = read_all(&FORMAT, text);
        let ops: Vec<Op> = records.iter().map(|r| r.op).collect();
        assert_eq!(ops, [Op::Write, Op::Read, Op::Read, Op::Write]);
        assert_eq!((records[0].offset, records[0].len), (4096, 1024));
        assert_eq!(records[1].queued.get(), Some(Nanos(1_000_001)));
        assert_eq!(tables.devices.len(), 2);
    }

    #[test]
    fn flags_that_are_no_hexadecimal_number_are_refused() {
        assert_eq!(
            read_error(&FORMAT, b"0.5 3 8 2 R\n"),
            "disksim, line 1: expected flags in hexadecimal, found \"R\""
        );
    }

    #[test]
    fn a_request_of_no_blocks_is_counted_and_never_replayed() {
        let (records, ..) = read_all(&FORMAT, b"0.5 3 8 0 1\n");
        assert!(records[0].flags.has(Flags::OTHER));
    }

    // Devices 30 and 20 of a real host came out as 0 and 1, and it was not said.
    #[test]
    fn what_is_written_reads_back_the_same_with_the_devices_own_numbers() {
        let text = "0.000000\t30\t8\t2\t1\n1.500001\t20\t7\t1\t0\n";
        assert_eq!(write_all(&FORMAT, text.as_bytes()), (text.to_owned(), 0));
    }
}

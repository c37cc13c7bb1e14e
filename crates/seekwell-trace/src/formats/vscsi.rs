//! VMware vscsiStats, little-endian records.
//!
//! Version 1, 32 bytes: `u32 sn, u32 len, u32 nSG, u16 cmd, u16 ver, u64 lbn, u64 ts`.
//! Version 2, 40 bytes: `u16 cmd, u16 ver, u32 sn, u32 len, u32 nSG, u64 lbn, u64 ts, u64 rt`.
//! `len` is bytes, `lbn` blocks of 512 bytes, `ts` and `rt` microseconds; the version stands in the
//! upper byte of `ver`, the SCSI operation code in `cmd`.

use super::format::{Certainty, Format, Holds, Opened, Reader, Sample, Step};
use super::input::{Bytes, Input};
use super::text::{blocks, flag_empty};
use crate::error::{At, TraceError};
use crate::record::{Flags, Record, Stamp};
use crate::source::{About, BATCH, Capture, Clock, Device, Tables, TraceSource};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

const V1_LEN: usize = 32;
const V2_LEN: usize = 40;

/// The format.
pub const FORMAT: Format = Format {
    name: "vscsi",
    description: "VMware vscsiStats, version 1 and 2",
    holds: Holds {
        times: &[Step::Queued, Step::Completed],
        step_ns: 1000,
        ops: &Op::ALL,
        details: &[],
    },
    reader: Reader::Stream(open),
    writer: None,
    ending: None,
    looks_like,
    locate: None,
    unit: None,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    V1,
    V2,
}

impl Layout {
    const fn len(self) -> usize {
        match self {
            Self::V1 => V1_LEN,
            Self::V2 => V2_LEN,
        }
    }
}

fn looks_like(sample: &Sample<'_>) -> Option<Certainty> {
    let layout = layout(sample.bytes)?;
    let mut records = sample.bytes.chunks_exact(layout.len()).take(16);
    Certainty::Header.when(records.all(|r| Raw::of(r, layout).is_sane(layout)))
}

fn layout(head: &[u8]) -> Option<Layout> {
    let sane = |l: Layout| head.get(..l.len()).is_some_and(|r| Raw::of(r, l).is_sane(l));
    [Layout::V1, Layout::V2].into_iter().find(|&l| sane(l))
}

fn open(input: Input) -> Opened {
    let head = input.head();
    let Some(layout) = layout(head) else {
        if !head.is_empty() && head.len() < V1_LEN {
            let at = At::Byte(head.len() as u64);
            return Err(TraceError::Truncated { format: FORMAT.name, at, what: "a record" });
        }
        if head.is_empty() {
            return Ok(Box::new(Vscsi::new(input, Layout::V1)));
        }
        return Err(wrong(0, "a little-endian record of version 1 or 2"));
    };
    Ok(Box::new(Vscsi::new(input, layout)))
}

struct Raw {
    cmd: u16,
    ver: u16,
    len: u32,
    lbn: u64,
    ts: u64,
    rt: Option<u64>,
}

impl Raw {
    fn of(bytes: &[u8], layout: Layout) -> Self {
        let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let u32_at =
            |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let u64_at =
            |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        match layout {
            Layout::V1 => Self {
                cmd: u16_at(12),
                ver: u16_at(14),
                len: u32_at(4),
                lbn: u64_at(16),
                ts: u64_at(24),
                rt: None,
            },
            Layout::V2 => Self {
                cmd: u16_at(0),
                ver: u16_at(2),
                len: u32_at(8),
                lbn: u64_at(16),
                ts: u64_at(24),
                rt: Some(u64_at(32)),
            },
        }
    }

    fn is_sane(&self, layout: Layout) -> bool {
        let version = match layout {
            Layout::V1 => 1,
            Layout::V2 => 2,
        };
        self.ver >> 8 == version && self.cmd <= 0xff
    }
}

struct Vscsi {
    bytes: Bytes,
    layout: Layout,
    about: About,
    tables: Tables,
}

impl Vscsi {
    fn new(input: Input, layout: Layout) -> Self {
        let device = Device { name: "disk".to_owned(), ..Device::default() };
        Self {
            bytes: input.bytes(FORMAT.name),
            layout,
            about: About::new(FORMAT.name, Clock::Monotonic, Capture::Queue),
            tables: Tables { devices: vec![device], processes: vec![String::new()] },
        }
    }
}

impl TraceSource for Vscsi {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        for _ in 0..BATCH {
            let at = self.bytes.position();
            let Some(bytes) = self.bytes.take(self.layout.len(), "a record")? else {
                return Ok(());
            };
            let raw = Raw::of(bytes, self.layout);
            if !raw.is_sane(self.layout) {
                return Err(wrong(at, "a record of the version that the first one has"));
            }
            out.push(record(&raw).ok_or_else(|| wrong(at, "a block and times that fit 64 bits"))?);
        }
        Ok(())
    }

    fn about(&self) -> &About {
        &self.about
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }
}

fn record(raw: &Raw) -> Option<Record> {
    // READ, WRITE, SYNCHRONIZE CACHE and UNMAP in their forms of 6, 10, 12 and 16 bytes (SBC-4).
    let op = match raw.cmd {
        0x08 | 0x28 | 0xa8 | 0x88 => Some(Op::Read),
        0x0a | 0x2a | 0xaa | 0x8a => Some(Op::Write),
        0x35 | 0x91 => Some(Op::Flush),
        0x42 => Some(Op::Discard),
        _ => None,
    };
    let at = raw.ts.checked_mul(1000)?;
    let len = if op == Some(Op::Flush) { 0 } else { raw.len };
    let mut record = Record::new(op.unwrap_or(Op::Read), blocks(raw.lbn, "").ok()?, len);
    record.queued = Stamp::at(Nanos(at));
    if let Some(rt) = raw.rt {
        record.completed = Stamp::at(Nanos(at.checked_add(rt.checked_mul(1000)?)?));
    }
    Some(match op {
        None => Record { flags: Flags::OTHER, ..record },
        Some(_) => flag_empty(record),
    })
}

#[cold]
fn wrong(at: u64, wrong: &'static str) -> TraceError {
    TraceError::Malformed { format: FORMAT.name, at: At::Byte(at), wrong, found: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{read_all, try_read};

    fn v1(cmd: u16, len: u32, lbn: u64, ts: u64) -> Vec<u8> {
        let mut out = Vec::new();
        for word in [7_u32, len, 1] {
            out.extend(word.to_le_bytes());
        }
        out.extend(cmd.to_le_bytes());
        out.extend(0x0100_u16.to_le_bytes());
        out.extend(lbn.to_le_bytes());
        out.extend(ts.to_le_bytes());
        out
    }

    fn v2(cmd: u16, len: u32, lbn: u64, ts: u64, rt: u64) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(cmd.to_le_bytes());
        out.extend(0x0200_u16.to_le_bytes());
        for word in [7_u32, len, 1] {
            out.extend(word.to_le_bytes());
        }
        for word in [lbn, ts, rt] {
            out.extend(word.to_le_bytes());
        }
        out
    }

    #[test]
    fn scsi_codes_tell_the_operation_and_blocks_are_of_512_bytes() {
        let data = [v1(0x28, 4096, 8, 5), v1(0x2a, 512, 1, 6), v1(0x12, 36, 0, 7)].concat();
        let (records, ..) = read_all(&FORMAT, &data);
        assert_eq!((records[0].op, records[0].offset, records[0].len), (Op::Read, 4096, 4096));
        assert_eq!(records[0].queued.get(), Some(Nanos(5000)));
        assert_eq!(records[1].op, Op::Write);
        assert!(records[2].flags.has(Flags::OTHER), "an INQUIRY is counted only");
        assert_eq!(records[1].completed, Stamp::NONE);
    }

    #[test]
    fn version_2_puts_its_fields_elsewhere_and_has_responses() {
        let data = [v2(0x88, 4096, 8, 5, 3), v2(0x35, 0, 0, 9, 1)].concat();
        let (records, ..) = read_all(&FORMAT, &data);
        assert_eq!(records[0].completed.get(), Some(Nanos(8000)));
        assert_eq!((records[0].op, records[1].op), (Op::Read, Op::Flush));
    }

    #[test]
    fn a_torn_file_says_at_which_byte_it_ends() {
        let data = [v1(0x28, 4096, 8, 5), v1(0x2a, 512, 1, 6)].concat();
        let error = try_read(&FORMAT, &data[..50]).expect_err("torn");
        assert_eq!(error.to_string(), "vscsi, byte 50: the input ends in the middle of a record");
    }

    #[test]
    fn a_file_of_the_other_byte_order_is_refused() {
        let mut data = v1(0x28, 4096, 8, 5);
        for word in data[..12].chunks_mut(4) {
            word.reverse();
        }
        for word in data[12..16].chunks_mut(2) {
            word.reverse();
        }
        let error = try_read(&FORMAT, &data).expect_err("big-endian");
        assert_eq!(
            error.to_string(),
            "vscsi, byte 0: expected a little-endian record of version 1 or 2"
        );
    }
}

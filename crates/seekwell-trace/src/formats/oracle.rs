//! libCacheSim's oracleGeneral: little-endian records of 24 bytes,
//! `u32 time_s, u64 object, u32 size, i64 next_access`. For block traces the object is the first
//! 512-byte block; the next access is the number, counted from 1, of the next record of the same
//! object, -1 if absent (traceConvOracleGeneral.cpp). It keeps no operation and whole
//! seconds only.

use super::format::{Certainty, Create, Created, Format, Holds, Opened, Reader, Sample};
use super::input::{Bytes, Input};
use super::output::Output;
use super::text::{blocks, flag_empty};
use crate::error::{At, TraceError};
use crate::record::{Flags, Record, Stamp};
use crate::source::{About, BATCH, Capture, Clock, Device, Sink, Tables, TraceSource, Written};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const LEN: usize = 24;
const NONE: i64 = -1;
const NS_PER_S: u64 = 1_000_000_000;
/// Objects remembered at once while next accesses are filled in: about 200 MB.
const OBJECTS_AT_ONCE: u64 = 1 << 22;
const RECORDS_AT_ONCE: u64 = 1 << 15;

/// The format.
pub const FORMAT: Format = Format {
    name: "oracle",
    description: "libCacheSim oracleGeneral, for cache simulation",
    holds: Holds { step_ns: NS_PER_S, ops: &[], details: &[], ..Holds::ARRIVALS },
    reader: Reader::Stream(open),
    writer: Some(super::format::Writer {
        create: Create::File(create),
        leaves_out: &[Op::Flush, Op::Discard],
    }),
    ending: None,
    looks_like,
    locate: None,
    unit: None,
};

fn looks_like(sample: &Sample<'_>) -> Option<Certainty> {
    let name = sample.path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    Certainty::Plausible.when(name.contains("oraclegeneral") || has_sane_records(sample.bytes))
}

fn has_sane_records(head: &[u8]) -> bool {
    let records = || head.chunks_exact(LEN).map(fields);
    let sane = |(i, (_, _, size, next)): (usize, Fields)| {
        size > 0 && size % 512 == 0 && (next == NONE || next > i as i64)
    };
    let sorted = records().map(|f| f.0).is_sorted();
    records().next().is_some() && sorted && records().enumerate().all(sane)
}

/// As operations are not kept, all are called reads.
fn open(input: Input) -> Opened {
    let mut about = About::new(FORMAT.name, Clock::Start, Capture::Queue);
    about.time_step_ns = Some(NS_PER_S);
    let device = Device { name: "objects".to_owned(), ..Device::default() };
    let tables = Tables { devices: vec![device], processes: vec![String::new()] };
    Ok(Box::new(Oracle { bytes: input.bytes(FORMAT.name), about, tables }))
}

fn create(path: &Path, _: &About, force: bool) -> Created {
    let output = Output::begin(path, force)?;
    let (buffer, written) = (Vec::new(), Written::default());
    Ok(Box::new(Accesses { output, buffer, zero_ns: None, written }))
}

type Fields = (u32, u64, u32, i64);

fn fields(bytes: &[u8]) -> Fields {
    (
        u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")),
        u64::from_le_bytes(bytes[4..12].try_into().expect("eight bytes")),
        u32::from_le_bytes(bytes[12..16].try_into().expect("four bytes")),
        i64::from_le_bytes(bytes[16..24].try_into().expect("eight bytes")),
    )
}

struct Oracle {
    bytes: Bytes,
    about: About,
    tables: Tables,
}

impl TraceSource for Oracle {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        for _ in 0..BATCH {
            let at = self.bytes.position();
            let Some(bytes) = self.bytes.take(LEN, "a record")? else { return Ok(()) };
            let (time, object, size, _) = fields(bytes);
            let offset = blocks(object, "").map_err(|_| TraceError::Malformed {
                format: FORMAT.name,
                at: At::Byte(at + 4),
                wrong: "an object that is a block number",
                found: object.to_string(),
            })?;
            let mut record = Record::new(Op::Read, offset, size);
            record.queued = Stamp::at(Nanos(u64::from(time) * NS_PER_S));
            out.push(flag_empty(record));
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

struct Accesses {
    output: Output,
    buffer: Vec<u8>,
    zero_ns: Option<u64>,
    written: Written,
}

impl Sink for Accesses {
    fn write(&mut self, records: &[Record], _: &Tables) -> Result<(), TraceError> {
        for batch in records.chunks(BATCH) {
            self.buffer.clear();
            for r in batch {
                let is_access = matches!(r.op, Op::Read | Op::Write);
                if !is_access || r.flags.has(Flags::OTHER) {
                    self.written.left_out += 1;
                    continue;
                }
                let zero = self.zero_ns;
                let at = r.arrival().get().map_or(zero.unwrap_or(0), |t| t.0);
                let since = at.saturating_sub(*self.zero_ns.get_or_insert(at)) / NS_PER_S;
                let time = u32::try_from(since).map_err(|_| TraceError::Inexpressible {
                    format: FORMAT.name,
                    what: "a trace of more than 136 years".to_owned(),
                })?;
                self.buffer.extend(time.to_le_bytes());
                self.buffer.extend((r.offset / 512).to_le_bytes());
                self.buffer.extend(r.len.to_le_bytes());
                self.buffer.extend(NONE.to_le_bytes());
                self.written.records += 1;
            }
            self.output.put(&self.buffer)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &About, _: &Tables) -> Result<Written, TraceError> {
        let records = self.written.records;
        let file = self.output.plain()?;
        if let Err(source) = link(file, records, OBJECTS_AT_ONCE) {
            return Err(self.output.failed(source));
        }
        self.output.commit()?;
        Ok(self.written)
    }
}

/// Fills in the next accesses. Walks the file backwards, once for each share of the objects that
/// memory holds, so that memory stays bounded whatever the trace.
fn link(file: &File, records: u64, objects_at_once: u64) -> io::Result<()> {
    let shares = records.div_ceil(objects_at_once).max(1);
    let mut chunk = Vec::new();
    for share in 0..shares {
        let mut seen: HashMap<u64, i64> = HashMap::new();
        let mut end = records;
        while end > 0 {
            let start = end.saturating_sub(RECORDS_AT_ONCE);
            let at = start * LEN as u64;
            chunk.resize((end - start) as usize * LEN, 0);
            file.read_exact_at(&mut chunk, at)?;
            for (i, record) in chunk.chunks_exact_mut(LEN).enumerate().rev() {
                let object = fields(record).1;
                if spread(object) % shares != share {
                    continue;
                }
                let next = seen.insert(object, start as i64 + i as i64 + 1).unwrap_or(NONE);
                record[16..].copy_from_slice(&next.to_le_bytes());
            }
            file.write_all_at(&chunk, at)?;
            end = start;
        }
    }
    Ok(())
}

/// Neighbouring blocks go to different shares (the finaliser of SplitMix64).
const fn spread(object: u64) -> u64 {
    let x = (object ^ (object >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{read_all, write_bytes};
    use std::io::Write as _;

    fn record(time: u32, object: u64, size: u32, next: i64) -> Vec<u8> {
        let mut out = time.to_le_bytes().to_vec();
        out.extend(object.to_le_bytes());
        out.extend(size.to_le_bytes());
        out.extend(next.to_le_bytes());
        out
    }

    #[test]
    fn objects_are_blocks_and_times_whole_seconds_which_is_said() {
        let (records, about, _) = read_all(&FORMAT, &record(3, 8, 4096, -1));
        let r = records[0];
        assert_eq!((r.offset, r.len, r.queued.get()), (4096, 4096, Some(Nanos(3 * NS_PER_S))));
        assert_eq!(about.time_step_ns, Some(NS_PER_S));
    }

    // Counted from 0, which is one less than in files of libCacheSim's own traceConv.
    #[test]
    fn what_is_written_knows_the_next_access_of_each_object() {
        let given = [
            record(0, 8, 4096, 3),
            record(0, 16, 512, -1),
            record(1, 8, 512, 4),
            record(9, 8, 512, -1),
        ]
        .concat();
        let mut blank = given.clone();
        for r in blank.chunks_mut(LEN) {
            r[16..].copy_from_slice(&NONE.to_le_bytes());
        }
        assert_eq!(write_bytes(&FORMAT, &blank), (given, 0));
    }

    #[test]
    fn next_accesses_are_the_same_in_one_walk_and_in_many() {
        let mut file = tempfile::tempfile().expect("a file");
        let count = 70_000_u64;
        let data: Vec<u8> = (0..count).flat_map(|i| record(0, spread(i) % 997, 512, -1)).collect();
        file.write_all(&data).expect("writes");
        let mut results = Vec::new();
        for at_once in [count, 7_000] {
            link(&file, count, at_once).expect("links");
            let mut linked = vec![0; data.len()];
            file.read_exact_at(&mut linked, 0).expect("reads");
            results.push(linked);
        }
        assert!(results[0] == results[1]);
        let mut last = HashMap::new();
        for (i, r) in results[0].chunks(LEN).map(fields).enumerate() {
            if let Some(promised) = last.insert(r.1, r.3) {
                assert_eq!(promised, i as i64 + 1);
            }
        }
        assert!(last.values().all(|&next| next == NONE));
    }
}

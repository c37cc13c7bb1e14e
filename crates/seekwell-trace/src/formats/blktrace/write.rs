//! Writing: each request becomes what `blktrace` would have recorded of it, Q, D and C, in one
//! merged stream of version 7 that `blkparse`, `btt` and fio read. Of a bio that was merged or
//! split that is Q alone: D and C are those of the requests that carried it.

use super::wire::{Raw, act, category, note};
use crate::error::TraceError;
use crate::formats::names::Numbers;
use crate::formats::output::Output;
use crate::record::{Flags, Record};
use crate::source::{About, Sink, Tables, Written};
use seekwell_io::request::Op;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};

/// Major number of devices whose name is not a pair of numbers: Linux's for experiments.
const MAJOR_UNKNOWN: u32 = 240;
/// Of a flush's two requests, the one that the drive gets carries no data and no direction.
const FLUSH_ITSELF: u64 = category::FLUSH | category::READ;

/// Begins a stream. Offsets that are not whole sectors and commands other than read, write, flush
/// and discard have no place in it and are left out.
///
/// # Errors
/// [`TraceError::Io`].
pub fn create(output: Output, about: &About) -> Result<Box<dyn Sink + Send>, TraceError> {
    let mut sink = Blktrace {
        output,
        waiting: BinaryHeap::new(),
        sequences: BTreeMap::new(),
        named: HashSet::new(),
        devices: Numbers::new(number_of, MAJOR_UNKNOWN << 20),
        added: 0,
        buffer: Vec::new(),
        written: Written::default(),
    };
    if let Some(ns) = about.unix_ns_at_zero.and_then(|ns| u64::try_from(ns).ok()) {
        let seconds = (ns / 1_000_000_000) as u32;
        let rest = (ns % 1_000_000_000) as u32;
        let payload = [seconds.to_ne_bytes(), rest.to_ne_bytes()].concat();
        sink.note(note::TIMESTAMP, 0, &payload);
    }
    Ok(Box::new(sink))
}

/// An event to come: its time and place in line, then what it is.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pending {
    time: u64,
    added: u64,
    action: u64,
    sector: u64,
    bytes: u32,
    pid: u32,
    process: u32,
    device: u32,
    cpu: u16,
    error: u16,
}

struct Blktrace {
    output: Output,
    waiting: BinaryHeap<Reverse<Pending>>,
    /// How many events each CPU has had.
    sequences: BTreeMap<u16, u32>,
    /// Processes whose name was written.
    named: HashSet<(u32, u32)>,
    devices: Numbers,
    added: u64,
    buffer: Vec<u8>,
    written: Written,
}

impl Blktrace {
    fn note(&mut self, kind: u8, pid: u32, payload: &[u8]) {
        let raw = Raw {
            action: category::NOTIFY | u64::from(kind),
            pid,
            pdu_len: payload.len() as u16,
            ..Raw::default()
        };
        raw.put_v7(&mut self.buffer);
        self.buffer.extend_from_slice(payload);
    }

    fn add(&mut self, record: &Record, device: u32) {
        let first = Pending {
            time: 0,
            added: 0,
            action: 0,
            sector: record.offset / 512,
            bytes: record.len,
            pid: record.pid,
            process: record.process,
            device,
            cpu: record.cpu,
            error: 0,
        };
        let wanted = categories(record);
        let is_flush = record.op == Op::Flush;
        let driven = if is_flush { FLUSH_ITSELF } else { wanted };
        let mut put = |time: u64, action: u8, kind: u64, error: u16| {
            self.added += 1;
            let added = self.added;
            let action = u64::from(action) | kind;
            self.waiting.push(Reverse(Pending { time, added, action, error, ..first }));
        };
        if let Some(at) = record.queued.get() {
            put(at.0, act::QUEUE, wanted | category::QUEUE, 0);
        }
        let (at_device, flagged) = (record.reached_device(), record.flags);
        if let Some(at) = record.issued.get().filter(|_| at_device) {
            put(at.0, act::ISSUE, driven | category::ISSUE, 0);
        }
        if let Some(at) = record.completed.get() {
            let error = record.error.wrapping_neg();
            if at_device {
                put(at.0, act::COMPLETE, driven | category::COMPLETE, error);
            }
            // What a program waits for is the end of its own request, not of the drive's.
            let durable = flagged.has(Flags::PREFLUSH) || flagged.has(Flags::FUA);
            let apart = if at_device { is_flush } else { is_flush || durable };
            if apart && record.queued.get().is_some() && record.issued.get().is_some() {
                let own = category::WRITE | category::COMPLETE | category::FS;
                self.added += 1;
                let (added, action) = (self.added, u64::from(act::COMPLETE) | own);
                let own = Pending { time: at.0, added, action, error, bytes: 0, ..first };
                self.waiting.push(Reverse(own));
            }
        }
    }

    /// Writes what happens before `until`; all later records happen after it.
    fn flush_before(&mut self, until: u64, tables: &Tables) -> Result<(), TraceError> {
        while let Some(Reverse(next)) = self.waiting.peek()
            && next.time < until
            && let Some(Reverse(next)) = self.waiting.pop()
        {
            self.put(&next, tables);
            if self.buffer.len() > 1 << 16 {
                self.output.put(&self.buffer)?;
                self.buffer.clear();
            }
        }
        Ok(())
    }

    fn put(&mut self, event: &Pending, tables: &Tables) {
        let name = tables.processes.get(event.process as usize).map_or("", String::as_str);
        if !name.is_empty() && self.named.insert((event.pid, event.process)) {
            let mut payload = [0_u8; 16];
            let len = name.len().min(15);
            payload[..len].copy_from_slice(&name.as_bytes()[..len]);
            self.note(note::PROCESS, event.pid, &payload);
        }
        let sequence = self.sequences.entry(event.cpu).or_default();
        *sequence = sequence.wrapping_add(1);
        let raw = Raw {
            sequence: *sequence,
            time: event.time,
            sector: event.sector,
            bytes: event.bytes,
            action: event.action,
            pid: event.pid,
            device: event.device,
            cpu: u32::from(event.cpu),
            error: event.error,
            pdu_len: 0,
        };
        raw.put_v7(&mut self.buffer);
    }
}

/// The number of a device that is named by it, `8,16`.
fn number_of(name: &str) -> Option<u32> {
    let (major, minor) = name.split_once(',')?;
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    (major < 1 << 12 && minor < 1 << 20).then_some(major << 20 | minor)
}

fn categories(record: &Record) -> u64 {
    let mut bits = category::FS
        | match record.op {
            Op::Read => category::READ,
            Op::Write => category::WRITE,
            Op::Flush => category::WRITE | category::FLUSH,
            Op::Discard => category::WRITE | category::DISCARD,
        };
    for (flag, bit) in [
        (Flags::PREFLUSH, category::FLUSH),
        (Flags::FUA, category::FUA),
        (Flags::SYNC, category::SYNC),
        (Flags::META, category::META),
        (Flags::READ_AHEAD, category::AHEAD),
    ] {
        if record.flags.has(flag) {
            bits |= bit;
        }
    }
    bits
}

impl Sink for Blktrace {
    fn write(&mut self, records: &[Record], tables: &Tables) -> Result<(), TraceError> {
        for record in records {
            let arrival = record.arrival().get();
            let (Some(at), 0, false) =
                (arrival, record.offset % 512, record.flags.has(Flags::OTHER))
            else {
                self.written.left_out += 1;
                continue;
            };
            self.flush_before(at.0, tables)?;
            let device = self.devices.of(record.device, tables);
            self.add(record, device);
            self.written.records += 1;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &About, tables: &Tables) -> Result<Written, TraceError> {
        self.flush_before(u64::MAX, tables)?;
        self.output.put(&self.buffer)?;
        self.output.commit()?;
        self.written.renamed = self
            .devices
            .renamed(tables, |number| format!("{},{}", number >> 20, number & 0xf_ffff));
        Ok(self.written)
    }
}

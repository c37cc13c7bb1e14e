//! Reading: one merged stream, or the files of all CPUs at once in the order of time.

use super::wire::{LEN_V7, LEN_V8, NAME, Order, Raw, act, category, magic, note};
use crate::error::{At, TraceError};
use crate::formats::events::{Pairing, errno_of};
use crate::formats::input::{Bytes, Input};
use crate::formats::text::Wrong;
use crate::pair::{Event, EventKind, rwbs};
use crate::record::{Flags, Record};
use crate::source::{About, BATCH, Capture, Clock, Tables, TraceSource};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What stands between a trace's name and the number of a CPU.
const PER_CPU: &str = ".blktrace.";
/// More processes than this keep no name.
const MOST_PROCESSES: usize = 1 << 20;
/// A sector's number in the payload of a split.
const SPLIT_LEN: usize = 8;

/// The file of the lowest CPU of a trace given by its base name, `sda` for `sda.blktrace.0`.
pub fn first_of(base: &Path) -> Option<PathBuf> {
    let name = format!("{}{PER_CPU}0", base.file_name()?.to_str()?);
    siblings(&base.with_file_name(name)).into_iter().next()
}

/// Reads a merged stream; or, where the input is one CPU's file, it and those of the others.
///
/// # Errors
/// [`TraceError::Io`], and [`TraceError::Malformed`] or [`TraceError::Truncated`] where a file
/// does not begin with a record.
pub fn open(input: Input) -> Result<Box<dyn TraceSource + Send>, TraceError> {
    let siblings = siblings(input.path());
    // Times of a merged stream begin at 0; a CPU's own are the machine's.
    let clock = if siblings.is_empty() { Clock::Start } else { Clock::Monotonic };
    let mut inputs = Vec::new();
    for path in siblings.iter().filter(|path| *path != input.path()) {
        inputs.push(Input::open(path, &Arc::default())?);
    }
    inputs.insert(0, input);
    Ok(Box::new(Blktrace::new(inputs, clock)?))
}

/// All files of the trace that this is one CPU's of, in the order of the CPUs.
fn siblings(path: &Path) -> Vec<PathBuf> {
    let Some((base, _)) = path.file_name().and_then(|name| cpu_of(name.to_str()?)) else {
        return Vec::new();
    };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if let Some(name) = entry.file_name().to_str()
            && let Some((other, cpu)) = cpu_of(name)
            && other == base
        {
            found.push((cpu, path.with_file_name(name)));
        }
    }
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

fn cpu_of(name: &str) -> Option<(&str, u32)> {
    let (base, cpu) = name.rsplit_once(PER_CPU)?;
    Some((base, cpu.parse().ok()?))
}

struct Stream {
    bytes: Bytes,
    order: Option<Order>,
    /// The record whose turn comes next, with what of its payload matters.
    raw: Raw,
    payload: Vec<u8>,
}

impl Stream {
    /// Reads the next record into `raw` and `payload`; false at the end.
    fn advance(&mut self) -> Result<bool, TraceError> {
        let at = self.bytes.position();
        let head = self.bytes.peek(4)?;
        let Ok(word) = <[u8; 4]>::try_from(head) else {
            return if head.is_empty() {
                Ok(false)
            } else {
                Err(truncated(at + head.len() as u64))
            };
        };
        let (order, version) = self.check(word, at)?;
        let len = if version == 7 { LEN_V7 } else { LEN_V8 };
        let Some(bytes) = self.bytes.take(len, "a record")? else { return Ok(false) };
        self.raw = if version == 7 { Raw::v7(order, bytes) } else { Raw::v8(order, bytes) };
        self.payload.clear();
        let len = usize::from(self.raw.pdu_len);
        if len > 0 {
            let end = self.bytes.position();
            let Some(pdu) = self.bytes.take(len, "a record's payload")? else {
                return Err(truncated(end));
            };
            let cgroup = if self.raw.action & act::HAS_CGROUP == 0 { 0 } else { 8.min(len) };
            self.payload.extend_from_slice(&pdu[cgroup..]);
        }
        Ok(true)
    }

    fn check(&mut self, word: [u8; 4], at: u64) -> Result<(Order, u8), TraceError> {
        let malformed = |wrong| TraceError::Malformed {
            format: NAME,
            at: At::Byte(at),
            wrong,
            found: format!("{:02x} {:02x} {:02x} {:02x}", word[0], word[1], word[2], word[3]),
        };
        let Some((order, version)) = magic(word) else {
            return Err(malformed("a record that begins with 65 61 74, in either byte order"));
        };
        if !matches!(version, 7 | 8) {
            return Err(malformed("a record of version 7 or 8"));
        }
        if *self.order.get_or_insert(order) != order {
            return Err(malformed("a record in the byte order of the first one"));
        }
        Ok((order, version))
    }
}

fn truncated(at: u64) -> TraceError {
    TraceError::Truncated { format: NAME, at: At::Byte(at), what: "a record" }
}

pub(super) struct Blktrace {
    streams: Vec<Stream>,
    /// Time of each stream's next record, earliest first.
    turns: BinaryHeap<Reverse<(u64, usize)>>,
    pairing: Pairing,
    /// Number in the tables of each device and process.
    devices: HashMap<u32, u32>,
    last_device: (u32, u32),
    processes: HashMap<u32, u32>,
    about: About,
    tables: Tables,
}

impl Blktrace {
    pub fn new(inputs: Vec<Input>, clock: Clock) -> Result<Self, TraceError> {
        let mut source = Self {
            streams: Vec::new(),
            turns: BinaryHeap::new(),
            pairing: Pairing::new(),
            devices: HashMap::new(),
            last_device: (0, u32::MAX),
            processes: HashMap::new(),
            about: About::new(NAME, clock, Capture::Both),
            tables: Tables { devices: Vec::new(), processes: vec![String::new()] },
        };
        for input in inputs {
            let bytes = input.bytes(NAME);
            let raw = Raw::default();
            let mut stream = Stream { bytes, order: None, raw, payload: Vec::new() };
            if stream.advance()? {
                source.turns.push(Reverse((stream.raw.time, source.streams.len())));
                source.streams.push(stream);
            }
        }
        Ok(source)
    }

    fn step(&mut self, turn: usize, out: &mut Vec<Record>) -> Result<(), TraceError> {
        let Stream { raw, payload, bytes, order } = &mut self.streams[turn];
        let raw = *raw;
        if raw.is(category::NOTIFY) {
            let payload = std::mem::take(payload);
            let order = order.unwrap_or(Order::Little);
            self.notice(&raw, &payload, order);
            self.streams[turn].payload = payload;
            return Ok(());
        }
        let Some(kind) = kind_of(raw.act()) else { return Ok(()) };
        let mut len = raw.bytes;
        if kind == EventKind::Split {
            // The only number here in an order of its own: big-endian, always.
            let Some(second) = payload.get(..SPLIT_LEN) else {
                return Err(TraceError::Malformed {
                    format: NAME,
                    at: At::Byte(bytes.position()),
                    wrong: "a split with a payload of eight bytes",
                    found: payload.len().to_string(),
                });
            };
            let sectors = Order::Big.u64(second, 0).saturating_sub(raw.sector);
            len = u32::try_from(sectors.saturating_mul(512)).unwrap_or(u32::MAX);
        }
        let at = bytes.position();
        let event = self.event(&raw, kind, len).map_err(|wrong| TraceError::Malformed {
            format: NAME,
            at: At::Byte(at),
            wrong: wrong.what,
            found: wrong.found,
        })?;
        self.pairing.push(&event, &mut self.about, out);
        Ok(())
    }

    fn event(&mut self, raw: &Raw, kind: EventKind, len: u32) -> Result<Event, Wrong> {
        let (op, flags) = operation(raw);
        let commanded = raw.is(category::COMMAND);
        Ok(Event {
            at: Nanos(raw.time),
            offset: if commanded { Event::NOWHERE } else { Event::offset_of(raw.sector) },
            len,
            device: self.device(raw.device)?,
            pid: raw.pid,
            process: self.processes.get(&raw.pid).copied().unwrap_or(0),
            cpu: raw.cpu as u16,
            error: errno_of(raw.error),
            flags,
            op,
            kind,
        })
    }

    fn device(&mut self, device: u32) -> Result<u32, Wrong> {
        if self.last_device.0 == device && self.last_device.1 != u32::MAX {
            return Ok(self.last_device.1);
        }
        let number = match self.devices.get(&device) {
            Some(&number) => number,
            None => {
                let name = format!("{},{}", device >> 20, device & 0xf_ffff);
                let number = self.pairing.devices.device(name.as_bytes(), &mut self.tables)?;
                self.devices.insert(device, number);
                number
            }
        };
        self.last_device = (device, number);
        Ok(number)
    }

    /// The tracer's own messages: names of processes, and what the time was.
    fn notice(&mut self, raw: &Raw, payload: &[u8], order: Order) {
        match raw.act() {
            note::PROCESS => {
                let name = payload.split(|&b| b == 0).next().unwrap_or(&[]);
                let name = &name[..name.len().min(16)];
                if self.processes.len() < MOST_PROCESSES
                    && let Ok(number) = self.pairing.processes.process(name, &mut self.tables)
                {
                    self.processes.insert(raw.pid, number);
                }
            }
            note::TIMESTAMP if payload.len() >= 8 && self.about.unix_ns_at_zero.is_none() => {
                let (seconds, ns) = (order.u32(payload, 0), order.u32(payload, 4));
                let unix = i128::from(seconds) * 1_000_000_000 + i128::from(ns);
                let zero = i64::try_from(unix - i128::from(raw.time)).ok();
                self.about.unix_ns_at_zero = zero;
            }
            _ => {}
        }
    }
}

const fn kind_of(act: u8) -> Option<EventKind> {
    Some(match act {
        act::QUEUE => EventKind::Queue,
        act::BACK_MERGE | act::FRONT_MERGE => EventKind::Merge,
        act::REQUEUE => EventKind::Requeue,
        act::ISSUE => EventKind::Issue,
        act::COMPLETE => EventKind::Complete,
        act::SPLIT => EventKind::Split,
        _ => return None,
    })
}

fn operation(raw: &Raw) -> (Op, Flags) {
    let op = if raw.is(category::DISCARD) {
        Op::Discard
    } else if raw.is(category::WRITE) {
        Op::Write
    } else {
        Op::Read
    };
    let mut flags = Flags(0);
    for (bit, flag) in [
        (category::FLUSH, Flags::PREFLUSH),
        (category::FUA, Flags::FUA),
        (category::SYNC, Flags::SYNC),
        (category::META, Flags::META),
        (category::AHEAD, Flags::READ_AHEAD),
        (category::COMMAND, Flags::OTHER),
        (category::ZONED, Flags::OTHER),
    ] {
        if raw.is(bit) {
            flags = flags | flag;
        }
    }
    rwbs::settle(op, flags, raw.bytes == 0)
}

impl TraceSource for Blktrace {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        let enough = out.len() + BATCH;
        while out.len() < enough {
            let Some(&Reverse((_, turn))) = self.turns.peek() else {
                self.pairing.end(&mut self.about, out);
                return Ok(());
            };
            let stepped = self.step(turn, out).and_then(|()| self.streams[turn].advance());
            match stepped {
                Ok(true) => {
                    let time = self.streams[turn].raw.time;
                    if let Some(mut first) = self.turns.peek_mut() {
                        *first = Reverse((time, turn));
                    }
                }
                Ok(false) => {
                    self.turns.pop();
                }
                Err(error) => {
                    self.turns.clear();
                    self.pairing.end(&mut self.about, out);
                    return Err(error);
                }
            }
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

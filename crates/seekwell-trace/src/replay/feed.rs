//! Reads ahead on a thread of its own, so that decoding a file makes no request late.

use super::depend::Tasks;
use super::fit::Placing;
use super::time::Moment;
use crate::error::TraceError;
use crate::order::Ordered;
use crate::record::{Flags, Record, Stamp};
use crate::source::{About, BATCH, Tables, TraceSource};
use seekwell_io::request::{Op, Request};
use seekwell_io::units::Nanos;
use seekwell_sys::thread::start;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Batches read ahead.
const AHEAD: usize = 64;

/// A request to be played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// When it was wanted, since the trace's first request.
    pub at: Nanos,
    /// First byte on the target.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// What it does.
    pub op: Op,
    /// It was to be durable when done (FUA).
    pub durable: bool,
    /// Requests outstanding when it came, where the trace has completions.
    pub in_flight: Option<u32>,
    /// Numbers of the requests it waited for; requests are numbered from 0 as they are fed.
    pub parents: Vec<u32>,
    /// From the last of them being done to its coming.
    pub think: Nanos,
}

impl Planned {
    /// The request to be issued under this number.
    pub(super) const fn request(&self, id: u32, wanted: Option<Nanos>) -> Request {
        let Self { op, offset, len, durable, .. } = *self;
        Request { op, offset, len, wanted, id, durable, queue: 0 }
    }
}

/// Which records are played and how.
#[derive(Debug, Clone, Copy)]
pub struct Picked {
    /// Only this device.
    pub device: Option<u32>,
    /// Which time counts.
    pub moment: Moment,
    /// Time of the trace's first request.
    pub first: Nanos,
    /// Writes, discards and flushes too.
    pub writes: bool,
    /// Where requests go.
    pub placing: Placing,
    /// Longer reads and writes are split into parts of this length, a multiple of the block. A
    /// discard needs no buffer and stays whole.
    pub longest_bytes: u32,
    /// Play requests without a time too, at that of the one before; where times do not count.
    pub untimed: bool,
    /// Find out what each request waited for.
    pub dependencies: bool,
    /// Several devices are played: the number of each stands in the offsets of its requests, from
    /// this bit on.
    pub device_shift: Option<u32>,
}

/// What was not played as recorded, and what was inferred.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Left out because only reads may be played, by [`Op`] number.
    pub by_op: [u64; 4],
    /// Left out because nothing like it can be played, or because it has no time.
    pub other: u64,
    /// Moved, aligned or cut.
    pub altered: u64,
    /// Parts beyond the first that long requests were split into.
    pub parts: u64,
    /// Wanted earlier than one before it; played at that one's time.
    pub backwards: u64,
    /// Tasks whose requests waited for each other, where that was to be found out.
    pub tasks: u64,
}

impl Skipped {
    /// Adds what another pass did not play as recorded.
    pub fn merge(&mut self, more: &Self) {
        self.by_op.iter_mut().zip(more.by_op).for_each(|(sum, n)| *sum += n);
        self.other += more.other;
        self.altered += more.altered;
        self.parts += more.parts;
        self.backwards += more.backwards;
        self.tasks += more.tasks;
    }
}

enum Sent {
    Batch(Vec<Planned>),
    End(Result<Skipped, TraceError>),
}

/// Planned requests, in order.
pub struct Feed {
    sent: Receiver<Sent>,
    batch: std::vec::IntoIter<Planned>,
    end: Option<Result<Skipped, TraceError>>,
    stop: Arc<AtomicBool>,
    reader: JoinHandle<()>,
    /// Numbers given so far.
    next_id: u32,
}

impl Feed {
    /// Begins to read ahead.
    ///
    /// # Errors
    /// [`TraceError::NoThread`].
    pub fn start(source: Box<dyn TraceSource + Send>, picked: Picked) -> Result<Self, TraceError> {
        assert!(picked.longest_bytes > 0, "a request is split into parts that hold something");
        let (send, sent) = sync_channel(AHEAD);
        let stop = Arc::new(AtomicBool::new(false));
        let asked_to_stop = Arc::clone(&stop);
        let reader = start("read-ahead", move || {
            let source = in_order(source, picked.moment);
            let end = Reader::new(picked, &send, &asked_to_stop).read(source);
            // A feed that was dropped does not listen any more.
            let _ = send.send(Sent::End(end));
        })?;
        Ok(Self { sent, stop, batch: Vec::new().into_iter(), end: None, reader, next_id: 0 })
    }

    /// The next request, which stays.
    pub fn peek(&mut self) -> Option<&Planned> {
        while self.batch.as_slice().is_empty() && self.end.is_none() {
            match self.sent.recv() {
                Ok(Sent::Batch(batch)) => self.batch = batch.into_iter(),
                Ok(Sent::End(end)) => self.end = Some(end),
                Err(_) => return None,
            }
        }
        self.batch.as_slice().first()
    }

    /// The next request and its number.
    pub fn take(&mut self) -> Option<(u32, Planned)> {
        self.peek()?;
        let planned = self.batch.next()?;
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        Some((id, planned))
    }

    /// Ends reading and says what was not played as recorded, as far as was read.
    ///
    /// # Errors
    /// What is wrong with the trace.
    pub fn finish(mut self) -> Result<Skipped, TraceError> {
        self.stop.store(true, Relaxed);
        while self.end.is_none()
            && let Ok(message) = self.sent.recv()
        {
            if let Sent::End(end) = message {
                self.end = Some(end);
            }
        }
        let panicked = self.reader.join().is_err();
        assert!(!panicked, "reading ahead does not panic");
        self.end.unwrap_or(Ok(Skipped::default()))
    }
}

/// The task that a kernel thread of a ring works for, `iou-wrk-1234`.
fn owner(process: &str) -> Option<u32> {
    process.strip_prefix("iou-wrk-")?.parse().ok()
}

/// The order in which requests were issued is not that in which they came.
fn in_order(source: Box<dyn TraceSource + Send>, moment: Moment) -> Box<dyn TraceSource + Send> {
    match moment {
        Moment::Queue => source,
        Moment::Issue => Box::new(Ordered::new(ByIssue(source))),
    }
}

/// Requests without the time they were queued, if they have one of issue.
struct ByIssue(Box<dyn TraceSource + Send>);

impl TraceSource for ByIssue {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        let before = out.len();
        self.0.read(out)?;
        for record in &mut out[before..] {
            if record.issued != Stamp::NONE {
                record.queued = Stamp::NONE;
            }
        }
        Ok(())
    }
    fn about(&self) -> &About {
        self.0.about()
    }
    fn tables(&self) -> &Tables {
        self.0.tables()
    }
}

struct Reader<'a> {
    picked: Picked,
    send: &'a SyncSender<Sent>,
    stop: &'a AtomicBool,
    skipped: Skipped,
    /// What the device of the current record adds to offsets.
    base: u64,
    inference: Tasks,
    /// Who made the current record, and for whom each process works, by its number in the trace.
    task: u32,
    owners: Vec<Option<u32>>,
    last: Nanos,
    next_id: u32,
    out: Vec<Planned>,
}

impl<'a> Reader<'a> {
    fn new(picked: Picked, send: &'a SyncSender<Sent>, stop: &'a AtomicBool) -> Self {
        Self {
            picked,
            send,
            stop,
            skipped: Skipped::default(),
            base: 0,
            inference: Tasks::default(),
            task: 0,
            owners: Vec::new(),
            last: Nanos::ZERO,
            next_id: 0,
            out: Vec::with_capacity(BATCH),
        }
    }

    fn read(&mut self, mut source: Box<dyn TraceSource + Send>) -> Result<Skipped, TraceError> {
        let mut records = Vec::with_capacity(BATCH);
        loop {
            records.clear();
            source.read(&mut records)?;
            let names = &source.tables().processes[self.owners.len()..];
            self.owners.extend(names.iter().map(|name| owner(name)));
            for record in &records {
                let owner = self.owners.get(record.process as usize).copied().flatten();
                self.task = owner.unwrap_or(record.pid);
                self.plan(record);
            }
            if !self.out.is_empty() {
                let batch = std::mem::replace(&mut self.out, Vec::with_capacity(BATCH));
                if self.send.send(Sent::Batch(batch)).is_err() {
                    break;
                }
            }
            if records.is_empty() || self.stop.load(Relaxed) {
                break;
            }
        }
        self.skipped.tasks = self.inference.seen;
        Ok(self.skipped)
    }

    fn plan(&mut self, record: &Record) {
        let elsewhere = self.picked.device.is_some_and(|device| device != record.device);
        if elsewhere || !record.reached_device() {
            return;
        }
        let none = self.picked.untimed.then(|| self.picked.first + self.last);
        let time = self.picked.moment.of(record).get().or(none);
        let Some(time) = time.filter(|_| !record.flags.has(Flags::OTHER)) else {
            self.skipped.other += 1;
            return;
        };
        if record.op != Op::Read && !self.picked.writes {
            self.skipped.by_op[record.op as usize] += 1;
            return;
        }
        if record.op != Op::Flush && record.len == 0 {
            self.skipped.other += 1;
            return;
        }
        self.base = self.picked.device_shift.map_or(0, |shift| u64::from(record.device) << shift);
        let at = time.since(self.picked.first);
        self.skipped.backwards += u64::from(at < self.last);
        self.last = self.last.max(at);
        let at = self.last;
        let completed = record.completed.get().map(|end| end.since(self.picked.first));
        if record.flags.has(Flags::PREFLUSH) && record.op == Op::Write {
            self.push(at, completed, Op::Flush, 0, 0, false);
        }
        if record.op == Op::Flush {
            self.push(at, completed, Op::Flush, 0, 0, false);
            return;
        }
        let placed = self.picked.placing.place(record.offset, record.len);
        self.skipped.altered += u64::from(placed.altered);
        let durable = record.flags.has(Flags::FUA) && record.op == Op::Write;
        let (mut offset, mut left) = (placed.offset, placed.len);
        let longest = if record.op == Op::Discard { u32::MAX } else { self.picked.longest_bytes };
        loop {
            let len = left.min(longest);
            self.push(at, completed, record.op, offset, len, durable);
            left -= len;
            if left == 0 {
                break;
            }
            offset += u64::from(len);
            self.skipped.parts += 1;
        }
    }

    fn push(
        &mut self,
        at: Nanos,
        completed: Option<Nanos>,
        op: Op,
        offset: u64,
        len: u32,
        durable: bool,
    ) {
        debug_assert!(self.out.last().is_none_or(|last| last.at <= at), "in the order of arrival");
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        let learned = self.inference.next(self.task, id, at, completed, self.picked.dependencies);
        self.out.push(Planned {
            at,
            offset: self.base | offset,
            len,
            op,
            durable,
            in_flight: completed.map(|_| learned.in_flight),
            parents: learned.parents,
            think: learned.think,
        });
    }
}

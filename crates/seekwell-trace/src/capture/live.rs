//! A recording as a source of records: events of all CPUs in the order of time, paired, and kept
//! where they are wanted.

use super::decode::{Decoded, Decoder};
use super::error::CaptureError;
use super::plan::{Plan, Recorded, Via};
use super::process::{Birth, Judge};
use super::ring::Ring;
use super::shared::SharedRings;
use super::transport::{Encoding, Message, Pump, Shared, Transport, monotonic};
use crate::error::TraceError;
use crate::pair::{Event, EventKind, Pair};
use crate::record::{Record, Stamp};
use crate::source::{About, Capture, Clock, Tables, TraceSource};
use rustix::time::{ClockId, clock_gettime};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The process of requests that are not recorded, until they are dropped.
const NOBODY: u32 = u32::MAX;

/// How a recording stands, for the code that shows or ends it.
#[derive(Debug, Clone)]
pub struct Watch {
    shared: Arc<Shared>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    requests: AtomicU64,
    queued: AtomicU64,
    done: AtomicU64,
}

impl Watch {
    /// Ends the recording; the source comes to its end shortly after.
    pub fn stop(&self) {
        self.shared.stop.store(true, Relaxed);
    }

    /// Requests recorded.
    pub fn requests(&self) -> u64 {
        self.counts.requests.load(Relaxed)
    }

    /// Requests of all processes now under way at the disks, merged ones counted once.
    pub fn depth(&self) -> u64 {
        self.counts.queued.load(Relaxed).saturating_sub(self.counts.done.load(Relaxed))
    }

    /// Events lost so far.
    pub fn lost_events(&self) -> u64 {
        self.shared.lost.load(Relaxed)
    }
}

/// A recording that runs.
///
/// Its end comes once [`Watch::stop`] was called and the requests under way had a moment to
/// complete. Dropping it removes everything it set up.
pub struct Recording {
    pump: Pump,
    counts: Arc<Counts>,
    decoder: Decoder,
    disks: Vec<Recorded>,
    judge: Judge,
    everyone: bool,
    via: Via,
    cpus: Vec<VecDeque<Event>>,
    births: Vec<Birth>,
    unreadable: u64,
    pair: Pair,
    paired: Vec<Record>,
    /// Records that are not kept and never ended: no losses of this trace.
    forgotten: u64,
    begun: Nanos,
    stopped_at: u64,
    /// Everything up to here was seen.
    known: Nanos,
    cpu_ns_at_start: u64,
    over: bool,
    about: About,
    tables: Tables,
}

impl Recording {
    /// Begins.
    ///
    /// # Errors
    /// [`CaptureError`] says what is missing and what would help.
    pub fn start(plan: Plan) -> Result<Self, CaptureError> {
        let cpu_ns_at_start = cpu_ns();
        let (transport, encoding, via) = transport(&plan)?;
        let decoder = Decoder::new(encoding, &plan);
        let tables = Tables {
            devices: plan.disks.iter().map(|disk| disk.device.clone()).collect(),
            processes: vec![String::new()],
        };
        let everyone = plan.processes.everyone();
        let judge = Judge::new(plan.processes);
        let about = about();
        Ok(Self {
            pump: Pump::start(transport, Arc::default())?,
            counts: Arc::default(),
            decoder,
            disks: plan.disks,
            judge,
            everyone,
            via,
            cpus: Vec::new(),
            births: Vec::new(),
            unreadable: 0,
            pair: Pair::in_order(plan.order),
            paired: Vec::new(),
            forgotten: 0,
            begun: Nanos(monotonic()),
            stopped_at: u64::MAX,
            known: Nanos::ZERO,
            cpu_ns_at_start,
            over: false,
            about,
            tables,
        })
    }

    /// How it stands, and how to end it.
    pub fn watch(&self) -> Watch {
        Watch { shared: Arc::clone(&self.pump.shared), counts: Arc::clone(&self.counts) }
    }

    /// When it began, on the clock of its records.
    pub fn begun(&self) -> Nanos {
        self.begun
    }

    /// How the events are read: never [`Via::Auto`].
    pub fn via(&self) -> Via {
        self.via
    }

    /// Bios refused without waiting, which came again: none of them is a record.
    pub fn refused(&self) -> u64 {
        self.pair.refused()
    }

    /// Waits for what the kernel reports next, at most a tenth of a second while nothing happens.
    /// Gives the time up to which all is known; `None` at the end.
    ///
    /// # Errors
    /// As for [`TraceSource::read`].
    pub fn advance(&mut self, out: &mut Vec<Record>) -> Result<Option<Nanos>, TraceError> {
        if self.over {
            return Ok(None);
        }
        // The thread says that it ends, or why it cannot go on; only a panic ends it otherwise.
        let message = self.pump.messages.recv().unwrap_or_else(|_| {
            Message::Failed(CaptureError::Thread(std::io::ErrorKind::BrokenPipe.into()))
        });
        self.take(message)?;
        self.keep(out);
        if self.over {
            self.conclude();
        }
        Ok(Some(self.known))
    }

    /// Requests that are wanted, have begun and not ended, the oldest first.
    pub fn outstanding(&self) -> impl Iterator<Item = Record> {
        let wanted =
            |record: &Record| record.was_asked_for() && (self.everyone || record.process != NOBODY);
        self.pair.outstanding().copied().filter(wanted).filter_map(|mut record| {
            within(self.disks.get(record.device as usize), &mut record).then_some(record)
        })
    }

    fn take(&mut self, message: Message) -> Result<(), CaptureError> {
        match message {
            Message::Chunk(chunk) => {
                let cpu = usize::from(chunk.cpu);
                if self.cpus.len() <= cpu {
                    self.cpus.resize_with(cpu + 1, VecDeque::new);
                }
                let mut decoded = Decoded::default();
                let queue = &mut self.cpus[cpu];
                let known = queue.len();
                self.decoder.decode(&chunk, &mut self.tables, queue, &mut decoded)?;
                sort(queue, known);
                self.births.append(&mut decoded.births);
                self.unreadable += decoded.lost;
            }
            Message::Until(time) => {
                self.merge(time);
                self.known = Nanos(time);
            }
            Message::Ended(at) => {
                self.stopped_at = at;
                self.merge(u64::MAX);
                self.pair.finish(&mut self.paired);
                self.known = Nanos(at);
                self.over = true;
            }
            Message::Failed(error) => return Err(error),
        }
        Ok(())
    }

    /// Pairs the events up to a time, those of all CPUs in one order.
    fn merge(&mut self, until: u64) {
        self.births.sort_by_key(|birth| birth.at);
        let mut births = std::mem::take(&mut self.births).into_iter().peekable();
        let at = |queue: &VecDeque<Event>| queue.front().map(|e| e.at.0).filter(|at| *at <= until);
        let heads = self.cpus.iter().enumerate();
        let mut heads: BinaryHeap<Reverse<(u64, usize)>> =
            heads.filter_map(|(cpu, queue)| Some(Reverse((at(queue)?, cpu)))).collect();
        while let Some(Reverse((_, cpu))) = heads.pop() {
            let limit = heads.peek().map_or(until, |Reverse((next, _))| (*next).min(until));
            while self.cpus[cpu].front().is_some_and(|event| event.at.0 <= limit) {
                let Some(event) = self.cpus[cpu].pop_front() else { break };
                while let Some(birth) = births.next_if(|birth| birth.at <= event.at.0) {
                    self.judge.born(birth.parent, birth.child, birth.clone_flags);
                }
                self.push(event);
            }
            if let Some(next) = at(&self.cpus[cpu]) {
                heads.push(Reverse((next, cpu)));
            }
        }
        self.births = births.collect();
    }

    fn push(&mut self, mut event: Event) {
        match event.kind {
            EventKind::Queue => {
                self.counts.queued.fetch_add(1, Relaxed);
                let name = &self.tables.processes[event.process as usize];
                if !self.everyone && !self.judge.wants(event.pid, event.process, name) {
                    event.process = NOBODY;
                }
            }
            EventKind::Merge => _ = self.counts.done.fetch_add(1, Relaxed),
            EventKind::Split => _ = self.counts.queued.fetch_add(1, Relaxed),
            EventKind::Complete if event.len > 0 || event.op == Op::Flush => {
                self.counts.done.fetch_add(1, Relaxed);
            }
            _ => {}
        }
        self.pair.push(&event, &mut self.paired);
    }

    /// Moves what is kept to `out`.
    fn keep(&mut self, out: &mut Vec<Record>) {
        let before = out.len();
        for mut record in self.paired.drain(..) {
            let seen = record.queued != Stamp::NONE || !record.was_asked_for();
            let known = self.everyone || (seen && record.process != NOBODY);
            // Bios go with the requests that carry them.
            let came = if record.reached_device() { record.arrival() } else { record.issued };
            let early = came.get().is_none_or(|at| at.0 <= self.stopped_at);
            let disk = self.disks.get(record.device as usize);
            if known && early && within(disk, &mut record) {
                out.push(record);
            } else if record.completed == Stamp::NONE && record.was_asked_for() {
                self.forgotten += 1;
            }
        }
        let asked = out[before..].iter().filter(|record| record.was_asked_for()).count();
        self.counts.requests.fetch_add(asked as u64, Relaxed);
    }

    fn conclude(&mut self) {
        let mut losses = self.pair.losses();
        losses.unfinished = losses.unfinished.saturating_sub(self.forgotten);
        losses.lost_events = self.pump.shared.lost.load(Relaxed) + self.unreadable;
        let requests = self.counts.requests.load(Relaxed);
        self.about.lose(losses, requests);
        let spent = cpu_ns().saturating_sub(self.cpu_ns_at_start);
        self.about.recording_cost_ns_per_request = spent.checked_div(requests);
    }
}

impl TraceSource for Recording {
    fn read(&mut self, out: &mut Vec<Record>) -> Result<(), TraceError> {
        let before = out.len();
        while !self.over && out.len() == before {
            self.advance(out)?;
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

/// Sorts events from `known` on by time. One that interrupted another on its CPU may have been
/// written before it.
fn sort(events: &mut VecDeque<Event>, known: usize) {
    for new in known.max(1)..events.len() {
        let mut at = new;
        while at > 0 && events[at - 1].at > events[at].at {
            events.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Whether a record belongs to the part of the disk that is recorded; counts its place from there.
/// A flush is for the whole disk, whichever part it was asked for on.
fn within(disk: Option<&Recorded>, record: &mut Record) -> bool {
    let Some((begin, length)) = disk.and_then(|disk| disk.part) else { return true };
    if record.op == Op::Flush {
        return true;
    }
    let inside = record.offset >= begin && record.end() <= begin.saturating_add(length);
    record.offset = record.offset.wrapping_sub(begin);
    inside
}

/// The way that was asked for, or the first that works.
fn transport(plan: &Plan) -> Result<(Box<dyn Transport>, Encoding, Via), CaptureError> {
    if plan.via != Via::Tracefs {
        match SharedRings::open(plan) {
            Ok(rings) => return Ok((Box::new(rings), Encoding::Raw, Via::Bpf)),
            Err(error) if plan.via == Via::Bpf => return Err(error),
            // What tracefs says is what a person can change.
            Err(_) => {}
        }
    }
    let (ring, encoding) = Ring::open(plan)?;
    Ok((Box::new(ring), encoding, Via::Tracefs))
}

fn about() -> About {
    let now = clock_gettime(ClockId::Realtime);
    let unix_ns = now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec);
    let host = rustix::system::uname();
    let mut about = About::new("seekwell", Clock::Monotonic, Capture::Both);
    about.unix_ns_at_zero = i64::try_from(monotonic()).ok().map(|at| unix_ns - at);
    about.kernel = host.release().to_str().ok().map(str::to_owned);
    about.host = host.nodename().to_str().ok().map(str::to_owned);
    about
}

/// CPU time of this process, all its threads.
fn cpu_ns() -> u64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    spent.tv_sec as u64 * 1_000_000_000 + spent.tv_nsec as u64
}

//! From what happened to requests, to requests.
//!
//! The kernel reports events: a request is queued, given to the driver, done. Nothing numbers
//! them, so what belongs together is found by device, place and operation. Three things make that
//! more than a lookup. Queued requests (bios) are merged and split on their way, so that one of
//! them may travel in several pieces and several in one: then each bio and each request of the
//! device is a record of its own. A flush has no place: it is issued at sector 0, it completes at
//! sector 2⁶⁴−1 and only then, by an empty completion, the request that wanted it ends. And some of
//! it is always missing at the edges of a trace, so whatever waits has a limit.
//!
//! Records leave in the order of their arrival, which means that a finished one waits for those
//! that came before it: the window below. Whoever watches and does not record
//! ([`Order::Completion`]) gets each as it ends, however long an earlier one takes.

mod complete;
mod device;
mod flush;
mod issue;
pub mod rwbs;
mod table;
#[cfg(test)]
mod tests;

use crate::record::{Flags, Record, Stamp};
use crate::source::{Capture, Losses};
use device::DeviceState;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::collections::{BTreeMap, VecDeque};
use table::Table;

/// What happened to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// It entered the block layer (Q, `block_bio_queue`).
    Queue,
    /// It became part of another (M and F, `block_bio_backmerge`).
    Merge,
    /// It was cut in two (X, `block_split`); `len` is what stays in front.
    Split,
    /// It was given to the driver (D, `block_rq_issue`).
    Issue,
    /// The driver gave it back (R, `block_rq_requeue`).
    Requeue,
    /// It, or some of it from its beginning on, was done (C, `block_rq_complete` and
    /// `block_bio_complete`).
    Complete,
}

/// One moment of a request, in no particular tool's terms.
#[derive(Debug, Clone, Copy)]
pub struct Event {
    /// When.
    pub at: Nanos,
    /// First byte; [`Event::NOWHERE`] for what has no place.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// Index into the tables of the trace.
    pub device: u32,
    /// Process under which it happened.
    pub pid: u32,
    /// That process's name, as an index into the tables of the trace.
    pub process: u32,
    /// CPU on which it happened.
    pub cpu: u16,
    /// Errno, of completions; 0 when it went well.
    pub error: u16,
    /// What more is known; see [`rwbs::settle`].
    pub flags: Flags,
    /// What the request does.
    pub op: Op,
    /// What happened.
    pub kind: EventKind,
}

impl Event {
    /// The place of flushes and passed-through commands once they are done.
    pub const NOWHERE: u64 = u64::MAX;

    /// An event at some place in sectors of 512 bytes; past the end of any disk is nowhere.
    pub const fn offset_of(sector: u64) -> u64 {
        match sector.checked_mul(512) {
            Some(offset) => offset,
            None => Self::NOWHERE,
        }
    }
}

/// In which order records leave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// As requests arrived; one that hangs holds up what came after it.
    #[default]
    Arrival,
    /// As requests end; those that never do only by [`Pair::outstanding`] and [`Pair::finish`].
    Completion,
}

/// How much may wait for its end.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Requests in the window, finished ones that wait for earlier ones included.
    pub requests: usize,
    /// Age at which an unfinished request is given up, on the clock of the trace.
    pub age: Nanos,
}

impl Default for Limits {
    /// A million requests, 150 MB at most; a minute, longer than a disk's own attempts.
    fn default() -> Self {
        Self { requests: 1 << 20, age: Nanos::from_millis(60_000) }
    }
}

/// Slots of the window behind its first unfinished request, where records leave as they end.
const WINDOW_OF_ENDED: usize = 1 << 14;

/// Most requests that wait in a trace that shows no completion at all.
const REQUESTS_WITHOUT_ENDS: usize = 1 << 14;

/// How long the empty completion that ends a request with a flush in it is waited for.
const FLUSH_END_WAIT: Nanos = Nanos(1_000_000_000);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Something of it is still to happen.
    Open,
    /// Done as far as is known, but the end of its flush may still come.
    Held,
    /// Ready to leave.
    Done,
    /// It leaves nothing behind.
    Void,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    record: Record,
    /// Pieces that are not done.
    parts: u32,
    state: State,
    /// A flush that it asks for is done apart from it.
    flushed_apart: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    queue: bool,
    issue: bool,
    complete: bool,
    split: bool,
}

/// Puts the requests of a trace together from events in the order of time.
#[derive(Debug)]
pub struct Pair {
    limits: Limits,
    order: Order,
    window: VecDeque<Slot>,
    /// Unfinished requests that the window has passed, where records leave as they end.
    passed: BTreeMap<u64, Slot>,
    /// Requests that are ready to leave out of turn.
    ended: Vec<u64>,
    /// Number of the first request in the window.
    base: u64,
    table: Table,
    devices: Vec<DeviceState>,
    /// Devices that requests were queued on and none issued: partitions, and volumes of drivers
    /// that handle requests themselves.
    unissued: Vec<u32>,
    given_up_since_sweep: usize,
    seen: Seen,
    unfinished: u64,
    orphans: u64,
    empty: u64,
    refused: u64,
    now: Nanos,
}

impl Default for Pair {
    fn default() -> Self {
        Self::new()
    }
}

impl Pair {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    /// As [`Pair::new`], with other limits.
    pub fn with_limits(limits: Limits) -> Self {
        Self {
            limits,
            order: Order::Arrival,
            window: VecDeque::new(),
            passed: BTreeMap::new(),
            ended: Vec::new(),
            base: 0,
            table: Table::new(),
            devices: Vec::new(),
            unissued: Vec::new(),
            given_up_since_sweep: 0,
            seen: Seen::default(),
            unfinished: 0,
            orphans: 0,
            empty: 0,
            refused: 0,
            now: Nanos::ZERO,
        }
    }

    /// As [`Pair::new`], with records leaving in this order.
    pub fn in_order(order: Order) -> Self {
        Self { order, ..Self::new() }
    }

    /// Requests that have begun and not ended, the oldest first.
    pub fn outstanding(&self) -> impl Iterator<Item = &Record> {
        let open = |slot: &&Slot| slot.state == State::Open;
        self.passed.values().chain(&self.window).filter(open).map(|slot| &slot.record)
    }

    /// Says that requests for `part` are requests for `disk`. Without it a partition's requests
    /// are recognised when the disk issues them.
    pub fn partition(&mut self, part: u32, disk: u32) {
        self.device(part).disk = Some(disk);
    }

    /// Takes an event; records that are whole and whose turn has come go to `out`.
    pub fn push(&mut self, event: &Event, out: &mut Vec<Record>) {
        self.now = event.at;
        let of_disk;
        let event = match self.device(event.device).disk {
            Some(disk) => {
                of_disk = Event { device: disk, ..*event };
                &of_disk
            }
            None => event,
        };
        match event.kind {
            EventKind::Queue => self.queue(event),
            EventKind::Merge => self.merge(event),
            EventKind::Split => self.split(event),
            EventKind::Issue => self.issue(event),
            EventKind::Requeue => self.requeue(event),
            EventKind::Complete => self.complete(event),
        }
        self.take_ended(out);
        self.drain(out);
    }

    /// Hands out what has ended, if that is not a matter of turns.
    fn take_ended(&mut self, out: &mut Vec<Record>) {
        while let Some(owner) = self.ended.pop() {
            if let Some(slot) = self.slot(owner)
                && slot.state == State::Done
            {
                out.push(slot.record);
                slot.state = State::Void;
            }
            self.passed.remove(&owner);
        }
    }

    /// Hands out everything that is left, finished or not.
    pub fn finish(&mut self, out: &mut Vec<Record>) {
        while let Some((_, slot)) = self.passed.pop_first() {
            self.let_go(slot, out);
        }
        while !self.window.is_empty() {
            self.give_up(out);
        }
        if cfg!(debug_assertions) {
            self.sweep();
            assert_eq!(self.table.len(), 0, "no piece outlives the request it belongs to");
        }
        self.table = Table::new();
        self.devices.clear();
    }

    /// Requests that never ended and ends of requests that were never seen. Where a trace shows
    /// no completions at all, nothing is missing.
    pub fn losses(&self) -> Losses {
        Losses {
            unfinished: if self.seen.complete { self.unfinished } else { 0 },
            orphans: self.orphans,
            ..Losses::default()
        }
    }

    /// Completions without data that ended nothing known; a flush leaves one behind where the
    /// queueing of it was not recorded.
    pub fn empty_completions(&self) -> u64 {
        self.empty
    }

    /// Bios that were to be done without waiting and were refused, which then come again.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Which moments there were so far.
    pub fn capture(&self) -> Capture {
        let Seen { queue, issue, complete, .. } = self.seen;
        match (queue, issue || complete) {
            (true, true) => Capture::Both,
            (true, false) => Capture::Queue,
            (false, true) => Capture::Issue,
            (false, false) => Capture::Both,
        }
    }

    fn device(&mut self, device: u32) -> &mut DeviceState {
        let index = device as usize;
        if index >= self.devices.len() {
            self.devices.resize_with(index + 1, DeviceState::default);
        }
        &mut self.devices[index]
    }

    fn slot(&mut self, owner: u64) -> Option<&mut Slot> {
        match owner.checked_sub(self.base) {
            Some(index) => self.window.get_mut(usize::try_from(index).ok()?),
            None => self.passed.get_mut(&owner),
        }
    }

    /// Whether a request still waits for its end or for its turn.
    fn is_live(&self, owner: u64) -> bool {
        owner >= self.base || self.passed.contains_key(&owner)
    }

    fn open(&mut self, record: Record, parts: u32) -> u64 {
        self.window.push_back(Slot { record, parts, state: State::Open, flushed_apart: false });
        let owner = self.base + self.window.len() as u64 - 1;
        debug_assert!(parts > 0 && self.slot(owner).is_some());
        owner
    }

    /// Makes sure that a request leaves nothing behind.
    fn void(&mut self, owner: u64) {
        self.close(owner, State::Void);
    }

    fn close(&mut self, owner: u64, state: State) {
        let out_of_turn = self.order == Order::Completion;
        let Some(slot) = self.slot(owner) else { return };
        slot.state = state;
        if out_of_turn && state != State::Held {
            self.ended.push(owner);
        }
    }

    fn drain(&mut self, out: &mut Vec<Record>) {
        let limit = if self.order == Order::Completion {
            WINDOW_OF_ENDED
        } else if self.seen.complete {
            self.limits.requests
        } else {
            self.limits.requests.min(REQUESTS_WITHOUT_ENDS)
        };
        while let Some(slot) = self.window.front() {
            let over = match slot.state {
                State::Done => {
                    out.push(slot.record);
                    self.base += 1;
                    self.window.pop_front();
                    continue;
                }
                State::Void => true,
                State::Held => since(self.now, slot.record.completed) > FLUSH_END_WAIT,
                State::Open if self.order == Order::Completion => false,
                State::Open => since(self.now, slot.record.arrival()) > self.limits.age,
            };
            if !over && self.window.len() <= limit {
                return;
            }
            if slot.state == State::Open && self.order == Order::Completion {
                self.pass(out);
                continue;
            }
            self.give_up(out);
        }
    }

    /// Takes the window past its first request, which goes on.
    fn pass(&mut self, out: &mut Vec<Record>) {
        if self.passed.len() >= self.limits.requests
            && let Some((_, oldest)) = self.passed.pop_first()
        {
            self.let_go(oldest, out);
        }
        self.passed.extend(self.window.pop_front().map(|slot| (self.base, slot)));
        self.base += 1;
    }

    fn give_up(&mut self, out: &mut Vec<Record>) {
        let Some(slot) = self.window.pop_front() else { return };
        self.base += 1;
        self.let_go(slot, out);
    }

    fn let_go(&mut self, slot: Slot, out: &mut Vec<Record>) {
        if slot.state == State::Open {
            self.unfinished += u64::from(slot.record.was_asked_for());
            self.given_up_since_sweep += 1;
        }
        if slot.state != State::Void {
            out.push(slot.record);
        }
        if self.given_up_since_sweep > 1024.max(self.table.len() / 2) {
            self.given_up_since_sweep = 0;
            self.sweep();
        }
    }

    /// Lets go of what belongs to requests that are no more.
    fn sweep(&mut self) {
        let (base, passed) = (self.base, &self.passed);
        let live = |owner: u64| owner >= base || passed.contains_key(&owner);
        self.table.sweep(live);
        self.devices.iter_mut().for_each(|device| device.sweep(live));
    }
}

fn since(now: Nanos, then: Stamp) -> Nanos {
    then.get().map_or(Nanos::ZERO, |then| now.since(then))
}

fn record_of(event: &Event) -> Record {
    let offset = if event.offset == Event::NOWHERE { 0 } else { event.offset };
    Record {
        device: event.device,
        pid: event.pid,
        process: event.process,
        cpu: event.cpu,
        flags: event.flags,
        ..Record::new(event.op, offset, event.len)
    }
}

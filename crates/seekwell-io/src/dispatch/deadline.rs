//! Linux's mq-deadline: batches in the order of addresses, reads preferred, no request starves
//! (block/mq-deadline.c, with its defaults, without I/O priorities).

use super::{Dispatcher, Tags};
use crate::request::{Op, Request};
use crate::units::Nanos;
use std::collections::{BTreeMap, VecDeque};

const READ_EXPIRE: Nanos = Nanos::from_millis(500);
const WRITE_EXPIRE: Nanos = Nanos::from_millis(5_000);
/// Batches of reads that may pass waiting writes.
const WRITES_STARVED: u32 = 2;
const FIFO_BATCH: u32 = 16;

/// Address, then order of arrival.
type Key = (u64, u64);

#[derive(Debug, Default)]
struct Side {
    sorted: BTreeMap<Key, Request>,
    /// Deadline and place; entries of what has left are skipped.
    fifo: VecDeque<(Nanos, Key)>,
    /// Where the batch goes on.
    next: Option<Key>,
}

impl Side {
    fn oldest(&mut self) -> Option<(Nanos, Key)> {
        while let Some(entry) = self.fifo.front() {
            if self.sorted.contains_key(&entry.1) {
                return Some(*entry);
            }
            self.fifo.pop_front();
        }
        None
    }

    fn take(&mut self, key: Key) -> Option<Request> {
        let request = self.sorted.remove(&key)?;
        let after = (key.0, key.1 + 1);
        self.next = self.sorted.range(after..).next().map(|(key, _)| *key);
        Some(request)
    }
}

/// Two directions over one pool of tags; a flush passes both.
#[derive(Debug)]
pub struct Deadline {
    tags: Tags,
    reads: Side,
    writes: Side,
    flushes: VecDeque<Request>,
    writing: bool,
    batched: u32,
    starved: u32,
    arrivals: u64,
}

impl Deadline {
    /// Over `tags` shared tags, at least one.
    pub fn new(tags: u32) -> Self {
        Self {
            tags: Tags::new(tags),
            reads: Side::default(),
            writes: Side::default(),
            flushes: VecDeque::new(),
            writing: false,
            batched: 0,
            starved: 0,
            arrivals: 0,
        }
    }

    const fn side(&mut self) -> &mut Side {
        if self.writing { &mut self.writes } else { &mut self.reads }
    }

    fn next(&mut self, now: Nanos) -> Option<Request> {
        if self.batched < FIFO_BATCH
            && let Some(key) = self.side().next
            && let Some(request) = self.side().take(key)
        {
            self.batched += 1;
            return Some(request);
        }
        let (reads, writes) = (!self.reads.sorted.is_empty(), !self.writes.sorted.is_empty());
        self.writing = match (reads, writes) {
            (false, false) => return None,
            (true, false) => false,
            (false, true) => true,
            (true, true) => {
                self.starved += 1;
                self.starved > WRITES_STARVED
            }
        };
        if self.writing {
            self.starved = 0;
        }
        let side = self.side();
        let (deadline, oldest) = side.oldest()?;
        let key = side.next.filter(|_| deadline > now).unwrap_or(oldest);
        self.batched = 1;
        self.side().take(key)
    }
}

impl Dispatcher for Deadline {
    fn queue(&mut self, request: Request, now: Nanos) {
        let (side, expire) = match request.op {
            Op::Flush => return self.flushes.push_back(request),
            Op::Read => (&mut self.reads, READ_EXPIRE),
            Op::Write | Op::Discard => (&mut self.writes, WRITE_EXPIRE),
        };
        let key = (request.offset, self.arrivals);
        self.arrivals += 1;
        side.sorted.insert(key, request);
        side.fifo.push_back((now + expire, key));
    }

    fn release(&mut self, now: Nanos) -> Option<Request> {
        if !self.tags.any_free() {
            return None;
        }
        let request = self.flushes.pop_front().or_else(|| self.next(now))?;
        self.tags.take();
        Some(request)
    }

    fn complete(&mut self, _: Op) {
        self.tags.put_back();
    }
}

//! A part as a target: the engine's clock is the model's.

use crate::part::{Command, Done, Part};
use seekwell_io::request::{Completion, Op, Tagged};
use seekwell_io::target::{Target, TargetError, Until};
use seekwell_io::units::Nanos;
use std::collections::VecDeque;

/// What Linux answers to a write past the end: ENOSPC, the same number on every architecture.
const NO_SPACE: i32 = 28;

/// A modelled machine whose outermost part takes the requests.
#[derive(Debug)]
pub struct Machine<P> {
    part: P,
    now: Nanos,
    /// Length of what each slot has outstanding, which is what it transfers.
    lens: Vec<u32>,
    /// Requests answered at once because they cannot be: beyond the end.
    refused: Vec<u32>,
    done: Vec<Done>,
    queues: Queues,
}

/// The host's submission queues. What the part has no room for waits in them, and each is served
/// in its turn (NVM Express Base Specification, round robin arbitration).
#[derive(Debug)]
struct Queues {
    waiting: Vec<VecDeque<Command>>,
    /// Commands in all of them.
    commands: usize,
    turn: usize,
    /// Commands the part has room for.
    room: u32,
}

impl Queues {
    const fn before(room: u32) -> Self {
        Self { waiting: Vec::new(), commands: 0, turn: 0, room }
    }

    /// The command itself where there is room for it now.
    fn put(&mut self, queue: u16, command: Command) -> Option<Command> {
        if self.room > 0 {
            self.room -= 1;
            return Some(command);
        }
        let queue = usize::from(queue);
        if self.waiting.len() <= queue {
            self.waiting.resize_with(queue + 1, VecDeque::new);
        }
        self.waiting[queue].push_back(command);
        self.commands += 1;
        None
    }

    /// The next command there is room for.
    fn take(&mut self) -> Option<Command> {
        if self.room == 0 || self.commands == 0 {
            return None;
        }
        loop {
            self.turn = (self.turn + 1) % self.waiting.len();
            if let Some(command) = self.waiting[self.turn].pop_front() {
                self.commands -= 1;
                self.room -= 1;
                return Some(command);
            }
        }
    }
}

impl<P: Part> Machine<P> {
    /// The machine at time zero.
    pub fn new(part: P) -> Self {
        let (lens, refused, done) = (Vec::new(), Vec::new(), Vec::new());
        let queues = Queues::before(u32::MAX);
        Self { part, now: Nanos::ZERO, lens, refused, done, queues }
    }

    /// The machine at time zero, of a host that keeps a submission queue for each
    /// [`queue`](seekwell_io::request::Request::queue), as NVMe drivers do.
    pub fn with_queues(part: P) -> Self {
        let queues = Queues::before(part.depth());
        Self { queues, ..Self::new(part) }
    }

    /// The outermost part.
    pub const fn part(&self) -> &P {
        &self.part
    }

    /// Bytes that can be addressed.
    pub fn capacity(&self) -> u64 {
        self.part.capacity()
    }
}

impl<P: Part> Target for Machine<P> {
    fn submit(&mut self, batch: &[Tagged]) -> Result<(), TargetError> {
        for Tagged { slot, request } in batch {
            let index = *slot as usize;
            if self.lens.len() <= index {
                self.lens.resize(index + 1, 0);
            }
            let data = matches!(request.op, Op::Read | Op::Write);
            self.lens[index] = if data { request.len } else { 0 };
            let end = request.offset.saturating_add(u64::from(request.len));
            if end > self.part.capacity() {
                self.refused.push(*slot);
                continue;
            }
            let command = Command {
                tag: *slot,
                op: request.op,
                offset: request.offset,
                len: request.len,
                durable: request.durable,
            };
            if let Some(command) = self.queues.put(request.queue, command) {
                self.part.submit(command, self.now);
            }
        }
        Ok(())
    }

    fn reap(&mut self, until: Until, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        let before = out.len();
        for slot in self.refused.drain(..) {
            out.push(Completion { slot, result: Err(NO_SPACE), at: self.now });
        }
        // With nothing to wait for, the rest of a batch is still to come.
        if until.completions > 0 {
            self.part.host_waits(until.deadline, self.now);
        }
        loop {
            let next = self.part.next();
            let got = (out.len() - before) as u32;
            let must_wait = next > self.now;
            if next == Nanos::MAX
                || (must_wait && (got >= until.completions || next > until.deadline))
            {
                break;
            }
            self.now = self.now.max(next);
            self.part.advance(self.now, &mut self.done);
            let (lens, now) = (&self.lens, self.now);
            debug_assert!(self.done.iter().all(|done| done.at <= now), "done in the future");
            self.queues.room = self.queues.room.saturating_add(self.done.len() as u32);
            out.extend(self.done.drain(..).map(|done| Completion {
                slot: done.tag,
                result: Ok(lens[done.tag as usize]),
                at: done.at,
            }));
            while let Some(command) = self.queues.take() {
                self.part.submit(command, self.now);
            }
        }
        if ((out.len() - before) as u32) < until.completions {
            self.now = self.now.max(until.deadline);
        }
        Ok(())
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn cpu(&self) -> (Nanos, Nanos) {
        (Nanos::ZERO, self.part.usage().processor)
    }
}

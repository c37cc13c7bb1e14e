//! A part as a target: the engine's clock is the model's.

use crate::part::{Command, Done, Part};
use crate::ssd::WritePointers;
use seekwell_io::failure::FailureKind;
use seekwell_io::request::{Completion, Op, Request, Tagged};
use seekwell_io::target::{Target, TargetError, Until};
use seekwell_io::units::Nanos;
use std::collections::VecDeque;

/// What Linux answers to a write past the end: ENOSPC, the same number on every architecture.
const NO_SPACE: i32 = 28;
/// And to a request of which an end lies within a sector: EINVAL.
const INVALID: i32 = 22;
/// And to a write that is not at a zone's write pointer: EIO.
const NOT_IN_ORDER: i32 = 5;

/// A modelled machine whose outermost part takes the requests.
#[derive(Debug)]
pub struct Machine<P> {
    part: P,
    /// Offset bits within a sector; a request with any of them set at either end is misaligned.
    in_sector: u64,
    /// Where alone it accepts writes, if its drive has zones.
    pointers: Option<WritePointers>,
    now: Nanos,
    /// Length of what each slot has outstanding, which is what it transfers.
    lens: Vec<u32>,
    /// Requests answered at once because they cannot be, and the error.
    refused: Vec<(u32, i32)>,
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

    /// The command itself if there is room for it now.
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
    /// The machine at time zero, which takes requests of any bytes.
    pub fn new(part: P) -> Self {
        let (lens, refused, done) = (Vec::new(), Vec::new(), Vec::new());
        let queues = Queues::before(u32::MAX);
        Self { part, in_sector: 0, pointers: None, now: Nanos::ZERO, lens, refused, done, queues }
    }

    /// Makes the machine refuse misaligned requests. Only sectors above 512 bytes are checked, as
    /// the engine issues nothing shorter, and only if they are a power of two.
    #[must_use]
    pub fn with_sectors(self, sector_bytes: u32) -> Self {
        let counts = sector_bytes > 512 && sector_bytes.is_power_of_two();
        Self { in_sector: if counts { u64::from(sector_bytes) - 1 } else { 0 }, ..self }
    }

    /// Makes the machine refuse writes that are not at a zone's write pointer.
    #[must_use]
    pub fn with_zones(self, pointers: Option<WritePointers>) -> Self {
        Self { pointers, ..self }
    }

    /// The machine of a host that keeps a submission queue for each
    /// [`queue`](seekwell_io::request::Request::queue), as NVMe drivers do.
    #[must_use]
    pub fn with_queues(self) -> Self {
        Self { queues: Queues::before(self.part.depth()), ..self }
    }

    /// Why a request cannot be, as an error number.
    fn refusal(&mut self, request: &Request) -> Option<i32> {
        let end = request.offset.saturating_add(u64::from(request.len));
        if (request.offset | end) & self.in_sector != 0 {
            return Some(INVALID);
        }
        if end > self.part.capacity() {
            return Some(NO_SPACE);
        }
        let pointers = self.pointers.as_mut().filter(|_| request.op == Op::Write)?;
        (!pointers.write(request.offset, request.len)).then_some(NOT_IN_ORDER)
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
            if let Some(error) = self.refusal(request) {
                self.refused.push((*slot, error));
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
        for (slot, errno) in self.refused.drain(..) {
            out.push(Completion { slot, result: Err(FailureKind::Errno { errno }), at: self.now });
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

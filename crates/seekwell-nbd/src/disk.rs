//! A modelled machine with its data and faults, on a clock that its holder moves.

use crate::fault::{Fault, Faults};
use crate::protocol::{Command, Failure, Request};
use crate::store::{Lost, Store};
use crate::tally::op_of;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use seekwell_io::dispatch::{Dispatcher, dispatcher};
use seekwell_io::request;
use seekwell_io::units::Nanos;
use seekwell_machine::{AnyPart, Done, Model, Part};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// A request that is under way.
#[derive(Debug)]
struct UnderWay {
    client: u64,
    request: Request,
    arrived: Nanos,
    /// What a flush covers.
    mark: Option<u64>,
}

/// What became of a request.
#[derive(Debug)]
pub struct Answer {
    /// Who asked, as passed to [`Disk::submit`].
    pub client: u64,
    /// What was asked.
    pub request: Request,
    /// The data of a read, nothing of others, or why it failed.
    pub result: Result<Vec<u8>, Failure>,
    /// When it was asked.
    pub arrived: Nanos,
    /// When the model was done with it, faults included.
    pub due: Nanos,
}

/// A modelled disk. Times are its holder's and never go back.
pub struct Disk {
    model: Model,
    seed: u64,
    part: AnyPart,
    dispatcher: Box<dyn Dispatcher>,
    store: Store,
    faults: Faults,
    lies: bool,
    /// When the power came on, on the holder's clock: zero of the model's.
    power_on: Nanos,
    slots: Vec<Option<UnderWay>>,
    free: Vec<u32>,
    /// When the answer to the request in a slot is due; those due at once in order of arrival.
    due: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    order: u64,
    writes: u64,
    rng: Xoshiro256PlusPlus,
    done: Vec<Done>,
}

impl std::fmt::Debug for Disk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Disk({}, {:?})", self.model.title(), self.store)
    }
}

impl Disk {
    /// A disk with power from time zero on. One that `lies` answers flushes at once and makes
    /// nothing durable, FUA writes included.
    pub fn new(model: Model, store: Store, faults: Vec<Fault>, lies: bool, seed: u64) -> Self {
        Self {
            part: model.part(seed),
            dispatcher: dispatcher(model.tags()),
            model,
            seed,
            store,
            faults: Faults::new(faults),
            lies,
            power_on: Nanos::ZERO,
            slots: Vec::new(),
            free: Vec::new(),
            due: BinaryHeap::new(),
            order: 0,
            writes: 0,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            done: Vec::new(),
        }
    }

    /// Takes a request, whose range lies within the machine.
    pub fn submit(&mut self, client: u64, request: Request, now: Nanos) {
        self.run_to(now);
        let (bytes, op) = (bytes_of(&request.command), op_of(&request.command));
        let durable = matches!(request.command, Command::Write { fua, .. } if fua && !self.lies);
        let flush = matches!(request.command, Command::Flush);
        self.writes += u64::from(matches!(request.command, Command::Write { .. }));
        let mark = (flush && !self.lies).then(|| self.store.begin_flush());
        let under_way = UnderWay { client, request, arrived: now, mark };
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(slot as usize) {
            Some(place) => *place = Some(under_way),
            None => self.slots.push(Some(under_way)),
        }
        if flush && self.lies {
            self.answer_at(slot, now);
            return;
        }
        let (offset, len) = (bytes.start, (bytes.end - bytes.start) as u32);
        let at = now - self.power_on;
        let wanted =
            request::Request { op, offset, len, wanted: None, id: slot, durable, queue: 0 };
        self.dispatcher.queue(wanted, at);
        self.release(at);
    }

    /// Hands to the machine what may be outstanding.
    fn release(&mut self, at: Nanos) {
        while let Some(next) = self.dispatcher.release(at) {
            let request::Request { op, offset, len, durable, id: tag, .. } = next;
            self.part.submit(seekwell_machine::Command { tag, op, offset, len, durable }, at);
        }
    }

    fn answer_at(&mut self, slot: u32, done: Nanos) {
        let Some(under_way) = self.under_way(slot) else { return };
        let due = self.faults.answered(&bytes_of(&under_way.request.command), done);
        self.due.push(Reverse((due, self.order, slot)));
        self.order += 1;
    }

    fn under_way(&self, slot: u32) -> Option<&UnderWay> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// Lets the machine do everything up to `now`.
    fn run_to(&mut self, now: Nanos) {
        let (until, mut at) = (now.since(self.power_on), Nanos::ZERO);
        while self.part.next() <= until {
            at = at.max(self.part.next());
            let mut done = std::mem::take(&mut self.done);
            self.part.advance(at, &mut done);
            for done in done.drain(..) {
                let op = self.under_way(done.tag).map(|u| op_of(&u.request.command));
                op.into_iter().for_each(|op| self.dispatcher.complete(op));
                self.answer_at(done.tag, self.power_on + done.at);
            }
            self.done = done;
            self.release(at);
        }
    }

    /// Lets time pass up to `now` and appends the answers that are due, in order.
    pub fn advance(&mut self, now: Nanos, out: &mut Vec<Answer>) {
        self.run_to(now);
        while let Some(Reverse((due, _, slot))) = self.due.peek().copied() {
            if due > now {
                break;
            }
            self.due.pop();
            let Some(under_way) = self.slots[slot as usize].take() else { continue };
            self.free.push(slot);
            let result = self.carry_out(&under_way);
            let UnderWay { client, request, arrived, .. } = under_way;
            out.push(Answer { client, request, result, arrived, due });
        }
    }

    /// Moves the data.
    fn carry_out(&mut self, what: &UnderWay) -> Result<Vec<u8>, Failure> {
        let command = &what.request.command;
        if self.faults.fails(&bytes_of(command)) {
            return Err(Failure::Io);
        }
        match command {
            Command::Read { offset, len } => {
                let mut data = vec![0; *len as usize];
                self.store.read(*offset, &mut data)?;
                return Ok(data);
            }
            Command::Write { offset, data, fua } => {
                self.store.write(*offset, data, *fua && !self.lies)?;
            }
            Command::Flush => what.mark.map_or(Ok(()), |mark| self.store.end_flush(mark))?,
            Command::Trim { offset, len } => self.store.trim(*offset, u64::from(*len))?,
        }
        Ok(Vec::new())
    }

    /// When something happens next, if no request comes before; [`Nanos::MAX`] for never.
    pub fn next(&self) -> Nanos {
        let model = self.part.next();
        let model = if model == Nanos::MAX { model } else { model + self.power_on };
        let due = self.due.peek().map_or(Nanos::MAX, |Reverse((due, _, _))| *due);
        model.min(due).min(self.faults.next_cut().unwrap_or(Nanos::MAX))
    }

    /// Whether a fault asks for the power to be cut now; each does once.
    pub fn wants_cut(&mut self, now: Nanos) -> bool {
        self.faults.cuts(now, self.writes)
    }

    /// Cuts the power: what is under way is gone, of what was not durable some is lost. The machine
    /// starts again at `power_on`.
    ///
    /// # Errors
    /// When the file with the data cannot be written.
    pub fn cut(&mut self, power_on: Nanos) -> Result<Lost, Failure> {
        let mut gone: Vec<UnderWay> = self.slots.drain(..).flatten().collect();
        gone.sort_by_key(|under_way| under_way.arrived);
        gone.retain(|under_way| !self.faults.fails(&bytes_of(&under_way.request.command)));
        let writes = gone.iter().filter_map(|under_way| match &under_way.request.command {
            Command::Write { offset, data, .. } => Some((*offset, data.as_slice())),
            _ => None,
        });
        let lost = self.store.cut(writes, &mut self.rng)?;
        self.free.clear();
        self.due.clear();
        self.seed += 1;
        self.part = self.model.part(self.seed);
        self.dispatcher = dispatcher(self.model.tags());
        self.power_on = power_on;
        Ok(lost)
    }

    /// Makes everything durable, as a machine does that is switched off in order.
    ///
    /// # Errors
    /// When the file with the data cannot be written.
    pub fn switch_off(&mut self) -> Result<(), Failure> {
        self.store.settle()
    }
}

/// The bytes a command touches; none of a flush.
pub fn bytes_of(command: &Command) -> Range<u64> {
    match command {
        Command::Read { offset, len } | Command::Trim { offset, len } => {
            *offset..*offset + u64::from(*len)
        }
        Command::Write { offset, data, .. } => *offset..*offset + data.len() as u64,
        Command::Flush => 0..0,
    }
}

#[cfg(test)]
mod tests;

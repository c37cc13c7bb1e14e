//! A drive of which nothing is known but how fast it is: a flow-equivalent server.
//!
//! Whatever happens inside, a closed loop sees one thing: how many requests a second are done at
//! each queue depth. A server with the same rates can stand for the whole inside, as a
//! source of equal current stands for a circuit (K. Chandy, U. Herzog and L. Woo, "Parametric
//! analysis of queuing networks", IBM Journal of Research and Development 19(1), 1975). All that is
//! outstanding is served at once, each request at the reciprocal of its time at that depth;
//! so a closed loop gets the rate of the law at every depth, however single times are distributed.
//!
//! Each kind of work has a clock of its own that runs at the kind's present speed. A request is
//! done when its clock has run as far as the request needs, so a change of speed costs no walk over
//! the requests.

mod params;
#[cfg(test)]
mod tests;

pub use params::{Distribution, Factors, FlowParams, Law, OpParams};

use crate::limits::OutOfRange;
use crate::part::{Command, Done, Part};
use params::between;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Kinds of work, each with a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Read,
    Write,
    /// What of a request's bytes is beyond the first 4096; in nanoseconds.
    Bytes,
    /// A flush, or what makes a write durable; in nanoseconds.
    Flush,
}

const KINDS: [Work; 4] = [Work::Read, Work::Write, Work::Bytes, Work::Flush];

#[derive(Debug, Default)]
struct Clock {
    /// How far it has run since something first waited.
    run: f64,
    /// Its speed per nanosecond.
    speed: f64,
    /// What is done when it has run that far; bits of numbers that are not negative ascend as the
    /// numbers do.
    waiting: BinaryHeap<Reverse<(u64, u64, u32)>>,
}

impl Clock {
    /// When the first is done, from `now` on.
    fn next(&self, now: u64) -> u64 {
        let Some(Reverse((until, ..))) = self.waiting.peek() else { return u64::MAX };
        let left = (f64::from_bits(*until) - self.run).max(0.0);
        now.saturating_add((left / self.speed).ceil() as u64)
    }
}

/// A flow-equivalent drive.
#[derive(Debug)]
pub struct Flow {
    params: FlowParams,
    rng: Xoshiro256PlusPlus,
    clocks: [Clock; 4],
    /// How far the clocks have run.
    now: u64,
    /// Commands outstanding, and those of them that read and that write.
    outstanding: u32,
    reads: u32,
    writes: u32,
    /// The commands, by their place in the table.
    commands: Vec<Command>,
    free: Vec<u32>,
    /// Orders what is done at the same time as it began.
    begun: u64,
}

impl Flow {
    /// A drive at time zero; the seed decides which requests take longer than others.
    ///
    /// # Errors
    /// As [`FlowParams::check`].
    pub fn new(mut params: FlowParams, seed: u64) -> Result<Self, OutOfRange> {
        params.check()?;
        for op in [&mut params.read, &mut params.write] {
            for (_, points) in &mut op.variation {
                let mean = mean(points);
                points.iter_mut().for_each(|(_, factor)| *factor /= mean);
            }
        }
        Ok(Self {
            params,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            clocks: Default::default(),
            now: 0,
            outstanding: 0,
            reads: 0,
            writes: 0,
            commands: Vec::new(),
            free: Vec::new(),
            begun: 0,
        })
    }

    fn run_to(&mut self, now: u64) {
        let span = (now - self.now) as f64;
        self.now = now;
        for clock in &mut self.clocks {
            clock.run = if clock.waiting.is_empty() { 0.0 } else { clock.run + span * clock.speed };
        }
    }

    /// The clocks' speeds with what is outstanding now.
    fn set_speeds(&mut self) {
        let n = self.outstanding.max(1);
        // All of the factor where half reads and half writes, none of it where one kind is alone.
        let pairs = 4.0 * f64::from(self.reads) * f64::from(self.writes);
        let mixed = 1.0 + (self.params.mixed - 1.0) * (pairs / (f64::from(n) * f64::from(n)));
        let FlowParams { read, write, .. } = &self.params;
        // The bytes of all that is outstanding go one after the other.
        let bytes = 1.0 / f64::from(n);
        let speeds = [mixed / read.time_ns(n), mixed / write.time_ns(n), bytes, 1.0];
        for (clock, speed) in self.clocks.iter_mut().zip(speeds) {
            clock.speed = speed;
        }
    }

    fn begin(&mut self, command: u32, kind: Work, amount: f64) {
        let clock = &mut self.clocks[kind as usize];
        self.begun += 1;
        clock.waiting.push(Reverse(((clock.run + amount).to_bits(), self.begun, command)));
    }

    /// A request's own share of work, by what is outstanding: 1 in the mean.
    fn draw(&mut self, op: Op) -> f64 {
        let of = if op == Op::Read { &self.params.read } else { &self.params.write };
        let Some(((_, low), (_, high), part)) = between(&of.variation, self.outstanding) else {
            return 1.0;
        };
        let mut share = || (self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let points = if share() < part { high } else { low };
        let share = share();
        let above = points.partition_point(|(at, _)| *at <= share).clamp(1, points.len() - 1);
        let ((from, low), (to, high)) = (points[above - 1], points[above]);
        let part = if to > from { (share - from) / (to - from) } else { 1.0 };
        low + (high - low) * part
    }

    /// A command has done one kind of work. What comes next, or `None` when it is done.
    fn after(&self, kind: Work, command: &Command) -> Option<(Work, f64)> {
        let durable = command.durable && command.op == Op::Write;
        let of = if command.op == Op::Read { &self.params.read } else { &self.params.write };
        let bytes_ns = if command.op == Op::Discard { 0.0 } else { of.bytes_ns(command.len) };
        match kind {
            Work::Read | Work::Write if bytes_ns > 0.0 => Some((Work::Bytes, bytes_ns)),
            Work::Write | Work::Bytes if durable => {
                Some((Work::Flush, self.params.flush_ns as f64))
            }
            _ => None,
        }
    }

    /// What a clock has run far enough for goes on, or is done.
    fn happen(&mut self, kind: Work, done: &mut Vec<Done>) {
        let Some(Reverse((_, _, index))) = self.clocks[kind as usize].waiting.pop() else { return };
        let command = self.commands[index as usize];
        if let Some((next, amount)) = self.after(kind, &command) {
            return self.begin(index, next, amount);
        }
        self.outstanding -= 1;
        *self.counter(command.op) -= u32::from(command.op != Op::Flush);
        self.free.push(index);
        self.set_speeds();
        let at = Nanos(self.now);
        done.push(Done { tag: command.tag, ready: at, at });
    }

    fn counter(&mut self, op: Op) -> &mut u32 {
        if op == Op::Read { &mut self.reads } else { &mut self.writes }
    }

    /// The first thing that happens: when, and of which kind.
    fn first(&self) -> (u64, Work) {
        let times = KINDS.map(|kind| (self.clocks[kind as usize].next(self.now), kind));
        times.into_iter().min_by_key(|(at, _)| *at).unwrap_or((u64::MAX, Work::Flush))
    }
}

impl Part for Flow {
    fn capacity(&self) -> u64 {
        self.params.capacity_bytes
    }

    fn depth(&self) -> u32 {
        self.params.depth
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        self.run_to(now.0);
        self.outstanding += 1;
        *self.counter(command.op) += u32::from(command.op != Op::Flush);
        self.set_speeds();
        let index = match self.free.pop() {
            Some(index) => {
                self.commands[index as usize] = command;
                index
            }
            None => {
                self.commands.push(command);
                (self.commands.len() - 1) as u32
            }
        };
        match command.op {
            Op::Flush => self.begin(index, Work::Flush, self.params.flush_ns as f64),
            op => {
                let share = self.draw(op);
                let kind = if op == Op::Read { Work::Read } else { Work::Write };
                self.begin(index, kind, share);
            }
        }
    }

    fn next(&self) -> Nanos {
        Nanos(self.first().0)
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        loop {
            let (at, kind) = self.first();
            if at > now.0 || at == u64::MAX {
                return;
            }
            self.run_to(at);
            self.happen(kind, done);
        }
    }
}

/// The mean of a distribution that is given by points with straight lines between them.
fn mean(points: &[(f64, f64)]) -> f64 {
    let areas = points.windows(2).map(|p| (p[1].0 - p[0].0) * f64::midpoint(p[0].1, p[1].1));
    let mean: f64 = areas.sum();
    if mean > 0.0 { mean } else { 1.0 }
}

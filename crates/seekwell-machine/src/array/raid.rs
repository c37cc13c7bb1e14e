//! An array as a part: the controller that gives commands to the members.

use super::layout::Layout;
use super::member::{Access, Member};
use super::params::{ArrayError, ArrayParams, ReadChoice};
use super::plan::{Plan, Round};
use super::stripes::{Extent, StripeLocks};
use crate::part::{Command, Done, Part, Usage};
use crate::serial::Serial;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::collections::VecDeque;
use std::ops::Add;

/// Members that look like one drive.
///
/// A command becomes one or two rounds of accesses, the second only for writes with parity that
/// need old data first. [`Part::depth`] is the controller's; more may be given.
#[derive(Debug)]
pub struct Array<P> {
    params: ArrayParams,
    plan: Plan,
    members: Vec<Member<P>>,
    processor: Serial,
    jobs: Vec<Job>,
    /// Unused entries of `jobs`.
    free: Vec<u32>,
    /// Rounds by the time at which the controller's processor is done with them and they begin.
    rounds: VecDeque<(Nanos, u32)>,
    locks: StripeLocks,
    /// The copy read last, where they are read one after the other.
    turn: u32,
    finished: Vec<Done>,
}

#[derive(Debug, Clone, Copy)]
struct Job {
    command: Command,
    round: Round,
    /// Accesses of this round that are not done.
    left: u32,
    /// From when on all of what is read was coming.
    ready: Nanos,
}

impl<P: Part> Array<P> {
    /// An array of members, which count as large as the smallest.
    ///
    /// # Errors
    /// [`ArrayError`] for parameters out of range and for members that do not make such an array.
    pub fn new(params: ArrayParams, members: Vec<P>) -> Result<Self, ArrayError> {
        params.check(members.len())?;
        let unit = u64::from(params.stripe_unit_bytes);
        let smallest = members.iter().map(Part::capacity).min().unwrap_or(0);
        if smallest < unit {
            return Err(ArrayError::Small { bytes: smallest });
        }
        let count = members.len() as u32;
        let layout = Layout::new(params.level, params.rotation, count, unit, smallest);
        Ok(Self {
            plan: Plan { layout, parity_update: params.parity_update, failed: params.failed },
            members: members.into_iter().map(|part| Member::new(part, params.order)).collect(),
            params,
            processor: Serial::default(),
            jobs: Vec::new(),
            free: Vec::new(),
            rounds: VecDeque::new(),
            locks: StripeLocks::default(),
            turn: 0,
            finished: Vec::new(),
        })
    }

    /// The members, first to last.
    pub fn members(&self) -> impl Iterator<Item = &P> {
        self.members.iter().map(Member::part)
    }

    /// Time that the controller's own processor was at work, reservations included.
    pub const fn busy(&self) -> Nanos {
        self.processor.busy()
    }

    /// Books the controller's processor for a round, which begins when that is done.
    fn prepare(&mut self, job: u32, now: Nanos) {
        let Job { command, round, .. } = self.jobs[job as usize];
        let tally = self.plan.tally(&command, round);
        let mut cost = tally.accesses * u64::from(self.params.access_ns);
        if round == Round::First {
            cost += u64::from(self.params.command_ns);
        }
        let rate = self.params.xor_bytes_per_s;
        if rate > 0 && self.plan.changes_parity(&command) {
            cost += (tally.bytes * 1_000_000_000).div_ceil(rate);
        }
        let start = self.processor.reserve(now, Nanos(cost));
        self.rounds.push_back((start + Nanos(cost), job));
    }

    /// Begins a round, unless its stripes are being written: then it begins when they are not.
    fn begin(&mut self, job: u32, now: Nanos, done: &mut Vec<Done>) {
        let Job { command, round, .. } = self.jobs[job as usize];
        if round == Round::First && self.plan.changes_parity(&command) {
            let end = command.offset + u64::from(command.len);
            let layout = &self.plan.layout;
            let (first, last) = (layout.stripe_of(command.offset), layout.stripe_of(end - 1));
            if !self.locks.claim(job, first, last) {
                return;
            }
        }
        self.spread(job, now, done);
    }

    /// Gives the accesses of a round to the members.
    fn spread(&mut self, job: u32, now: Nanos, done: &mut Vec<Done>) {
        let Job { command, round, .. } = self.jobs[job as usize];
        let mut left = 0;
        let mut queue = |members: &mut [Member<P>], op, Extent { member, offset, len }: Extent| {
            left += 1;
            let durable = command.durable && op == Op::Write;
            members[member as usize].queue(Access { job, op, offset, len, durable });
        };
        let plan = self.plan;
        if command.op == Op::Read && plan.layout.copies() > 1 {
            for piece in plan.layout.pieces(command.offset, command.len) {
                let first = plan.copy(&piece, 0);
                let copy = self.choose(&first);
                queue(&mut self.members, Op::Read, plan.copy(&piece, copy));
            }
        } else {
            plan.each(&command, round, |op, extent| queue(&mut self.members, op, extent));
        }
        self.jobs[job as usize].left = left;
        for member in &mut self.members {
            member.issue(now);
        }
        if left == 0 {
            self.end_round(job, now, done);
        }
    }

    /// Which copy to read; copies lie at the same place on members that follow each other.
    fn choose(&mut self, first: &Extent) -> u32 {
        let copies = self.plan.layout.copies();
        let works = |copy: &u32| Some(first.member + copy) != self.params.failed;
        let member = |copy: u32| &self.members[(first.member + copy) as usize];
        let distance = |copy| member(copy).distance(first.offset);
        let mut working = (0..copies).filter(works);
        let best = match self.params.read_choice {
            ReadChoice::Primary => working.next(),
            ReadChoice::RoundRobin => {
                let mut turns = (1..=copies).map(|step| (self.turn + step) % copies);
                self.turn = turns.find(works).unwrap_or(self.turn);
                Some(self.turn)
            }
            ReadChoice::Nearest => working.min_by_key(|&copy| distance(copy)),
            ReadChoice::ShortestQueue => {
                working.min_by_key(|&copy| (member(copy).load(), distance(copy)))
            }
        };
        best.unwrap_or(0)
    }

    /// All accesses of a round are done: the next round, or the end.
    fn end_round(&mut self, job: u32, now: Nanos, done: &mut Vec<Done>) {
        let Job { command, round, ready, .. } = self.jobs[job as usize];
        let changes_parity = self.plan.changes_parity(&command);
        if changes_parity
            && round == Round::First
            && self.plan.tally(&command, Round::Second).accesses > 0
        {
            self.jobs[job as usize].round = Round::Second;
            self.prepare(job, now);
            return;
        }
        let ready = if command.op == Op::Read { ready } else { now };
        done.push(Done { tag: command.tag, ready, at: now });
        self.free.push(job);
        if changes_parity {
            self.locks.release(job);
            while let Some(job) = self.locks.grant() {
                self.spread(job, now, done);
            }
        }
    }

    fn collect(&mut self, now: Nanos, done: &mut Vec<Done>) {
        let mut finished = std::mem::take(&mut self.finished);
        for member in &mut self.members {
            if member.next() <= now {
                member.advance(now, &mut finished);
                member.issue(now);
            }
        }
        for end in finished.drain(..) {
            let job = &mut self.jobs[end.tag as usize];
            job.left -= 1;
            job.ready = job.ready.max(end.ready);
            if job.left == 0 {
                self.end_round(end.tag, now, done);
            }
        }
        self.finished = finished;
    }
}

impl<P: Part> Part for Array<P> {
    fn capacity(&self) -> u64 {
        self.plan.layout.capacity()
    }

    fn depth(&self) -> u32 {
        self.params.depth
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        let new = Job { command, round: Round::First, left: 0, ready: now };
        let job = match self.free.pop() {
            Some(job) => {
                self.jobs[job as usize] = new;
                job
            }
            None => {
                self.jobs.push(new);
                self.jobs.len() as u32 - 1
            }
        };
        self.prepare(job, now);
    }

    fn next(&self) -> Nanos {
        let round = self.rounds.front().map_or(Nanos::MAX, |(at, _)| *at);
        self.members.iter().map(Member::next).fold(round, Nanos::min)
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        loop {
            let at = self.next();
            if at > now || at == Nanos::MAX {
                return;
            }
            self.collect(at, done);
            if self.rounds.front().is_some_and(|(start, _)| *start <= at)
                && let Some((_, job)) = self.rounds.pop_front()
            {
                self.begin(job, at, done);
            }
        }
    }

    fn usage(&self) -> Usage {
        self.members().map(Part::usage).fold(Usage::default(), Add::add)
    }
}

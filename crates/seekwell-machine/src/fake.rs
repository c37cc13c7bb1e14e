//! A drive with fixed service times for the tests of what drives are attached to.

use crate::part::{Command, Done, Part};
use proptest::prelude::*;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// Serves up to `depth` commands at once, each in a fixed time, and remembers all it was given.
#[derive(Debug)]
pub struct FakeDrive {
    pub depth: u32,
    /// Time from taking a command to having done it.
    pub service: Nanos,
    /// How long before the end the data of a read begins to come.
    pub streams: Nanos,
    /// What it was given, and when.
    pub given: Vec<(Nanos, Command)>,
    outstanding: Vec<(Nanos, u32)>,
    last: Nanos,
}

impl FakeDrive {
    pub fn new(depth: u32, service_ns: u64) -> Self {
        Self {
            depth,
            service: Nanos(service_ns),
            streams: Nanos::ZERO,
            given: Vec::new(),
            outstanding: Vec::new(),
            last: Nanos::ZERO,
        }
    }

    /// The operations it was given, in order.
    pub fn ops(&self) -> Vec<Op> {
        self.given.iter().map(|(_, command)| command.op).collect()
    }
}

impl Part for FakeDrive {
    fn capacity(&self) -> u64 {
        1 << 40
    }

    fn depth(&self) -> u32 {
        self.depth
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        assert!(now >= self.last, "time goes back from {} to {now}", self.last);
        assert!(self.next() >= now, "something was left to happen before {now}");
        assert!((self.outstanding.len() as u32) < self.depth, "more than {} at once", self.depth);
        assert!(self.outstanding.iter().all(|(_, tag)| *tag != command.tag), "a tag used twice");
        assert!(command.offset + u64::from(command.len) <= self.capacity(), "beyond the end");
        self.last = now;
        self.given.push((now, command));
        self.outstanding.push((now + self.service, command.tag));
    }

    fn next(&self) -> Nanos {
        self.outstanding.iter().map(|(at, _)| *at).min().unwrap_or(Nanos::MAX)
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        assert!(now >= self.last, "time goes back from {} to {now}", self.last);
        self.last = now;
        // All take the same time, so they are in order of their ends.
        while let Some((at, tag)) = self.outstanding.first().copied().filter(|(at, _)| *at <= now) {
            self.outstanding.remove(0);
            let ready = Nanos(at.0 - self.streams.0.min(self.service.0));
            done.push(Done { tag, ready, at });
        }
    }
}

/// A command without FUA.
pub fn command(tag: u32, op: Op, offset: u64, len: u32) -> Command {
    Command { tag, op, offset, len, durable: false }
}

/// Lets time pass until nothing happens any more and returns what was done.
pub fn drain(part: &mut impl Part) -> Vec<Done> {
    let mut done = Vec::new();
    while part.next() < Nanos::MAX {
        let at = part.next();
        part.advance(at, &mut done);
    }
    done
}

/// Keeps `outstanding` commands at the part until all are done; returns each end by its index.
pub fn closed_loop(
    part: &mut impl Part,
    outstanding: u32,
    count: u32,
    make: impl Fn(u32) -> (Op, u64, u32),
) -> Vec<Nanos> {
    let mut ends = vec![Nanos::ZERO; count as usize];
    let mut of_tag: Vec<u32> = (0..outstanding.min(count)).collect();
    let mut given = of_tag.len() as u32;
    for tag in 0..given {
        let (op, offset, len) = make(tag);
        part.submit(command(tag, op, offset, len), Nanos::ZERO);
    }
    let mut done = Vec::new();
    while part.next() < Nanos::MAX {
        let now = part.next();
        part.advance(now, &mut done);
        for end in done.drain(..) {
            assert!(end.at <= now && end.ready <= end.at);
            ends[of_tag[end.tag as usize] as usize] = end.at;
            if given < count {
                of_tag[end.tag as usize] = given;
                let (op, offset, len) = make(given);
                part.submit(command(end.tag, op, offset, len), now);
                given += 1;
            }
        }
    }
    ends
}

/// A command and how long after the one before it comes.
pub fn arrivals() -> impl Strategy<Value = Vec<(u64, Op, u64, u32)>> {
    let op = prop_oneof![
        6 => Just(Op::Read),
        6 => Just(Op::Write),
        1 => Just(Op::Flush),
        1 => Just(Op::Discard),
    ];
    let one = (0_u64..60_000, op, 0_u64..100_000, 1_u32..400).prop_map(|(gap, op, at, len)| {
        let len = if op == Op::Flush { 0 } else { len * 512 };
        (gap, op, if op == Op::Flush { 0 } else { at * 512 }, len)
    });
    prop::collection::vec(one, 1..120)
}

/// Gives commands when they come, but no more than `most` at once, and asserts what holds for every
/// part: each is done exactly once, none before it was given, and times never go back. Returns the
/// tags and ends in order.
pub fn lawful(part: &mut impl Part, most: u32, arrivals: &[(u64, Op, u64, u32)]) -> Vec<Done> {
    let mut given = vec![None; arrivals.len()];
    let mut all: Vec<Done> = Vec::new();
    let mut now = Nanos::ZERO;
    for (tag, &(gap, op, offset, len)) in arrivals.iter().enumerate() {
        let wanted = now + Nanos(gap);
        while part.next() < wanted || tag - all.len() >= most as usize {
            now = part.next();
            assert!(now < Nanos::MAX, "waits for ever");
            part.advance(now, &mut all);
        }
        now = now.max(wanted);
        part.advance(now, &mut all);
        part.submit(command(tag as u32, op, offset, len), now);
        given[tag] = Some(now);
    }
    all.extend(drain(part));
    assert_eq!(all.len(), arrivals.len(), "everything is done once");
    assert!(all.is_sorted_by_key(|done| done.at), "in order of time");
    for done in &all {
        let start = given[done.tag as usize].take().expect("done once");
        assert!(start <= done.at && done.ready <= done.at);
    }
    all
}

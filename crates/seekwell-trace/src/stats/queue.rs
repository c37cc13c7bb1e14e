//! How many requests are under way, from a sweep over their beginnings and ends.
//!
//! Two queues are told apart: all that came and are not done, and those of them that the device
//! has. Records come in the order of arrival, their issues and ends do not: those wait until time
//! has passed them. Nothing that comes later can be issued or done before it arrived, so all up to
//! the newest arrival is final.

use super::document;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Depths told apart; deeper ones share the last bin.
const DEPTHS: usize = 1 << 12;
/// Requests under way at once before it is taken for a trace whose ends cannot be believed.
const MOST: usize = 1 << 20;
/// No time; later than any.
const NEVER: u64 = u64::MAX;

/// What waits in order before a heap is used: only what comes after the new one is moved.
const NEAR: usize = 64;

/// A moment to come, with whether the device's queue becomes longer or shorter by it.
#[derive(Debug, Clone, Copy, Default)]
struct Moment {
    at: u64,
    /// Whether what ends was asked for.
    asked: bool,
    /// Whether the device has it.
    counts: bool,
}

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Moment {}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at.cmp(&other.at)
    }
}

/// Moments to come, the soonest first. The first few lie in order in a row that is taken from its
/// front, the others in a heap.
#[derive(Debug)]
struct Coming {
    /// The soonest, or [`NEVER`].
    soonest: u64,
    row: [Moment; 2 * NEAR],
    from: usize,
    to: usize,
    far: BinaryHeap<Reverse<Moment>>,
}

impl Default for Coming {
    fn default() -> Self {
        let row = [Moment::default(); 2 * NEAR];
        Self { soonest: NEVER, row, from: 0, to: 0, far: BinaryHeap::new() }
    }
}

impl Coming {
    fn len(&self) -> usize {
        self.to - self.from + self.far.len()
    }

    #[inline]
    fn push(&mut self, new: Moment) {
        self.soonest = self.soonest.min(new.at);
        if self.to - self.from >= NEAR {
            return self.far.push(Reverse(new));
        }
        if self.to == self.row.len() {
            self.row.copy_within(self.from.., 0);
            (self.from, self.to) = (0, self.to - self.from);
        }
        // A new one tends to be among the last.
        let mut at = self.to;
        while at > self.from && self.row[at - 1].at > new.at {
            self.row[at] = self.row[at - 1];
            at -= 1;
        }
        self.row[at] = new;
        self.to += 1;
    }

    /// Takes out the soonest, which there is.
    #[inline]
    fn pop(&mut self) -> Moment {
        let near = self.near();
        let taken = if near == self.soonest && self.from < self.to {
            self.from += 1;
            self.row[self.from - 1]
        } else {
            self.far.pop().map_or_else(Moment::default, |far| far.0)
        };
        self.soonest = self.near().min(self.far.peek().map_or(NEVER, |far| far.0.at));
        taken
    }

    #[inline]
    fn near(&self) -> u64 {
        if self.from < self.to { self.row[self.from].at } else { NEVER }
    }
}

/// One queue.
#[derive(Debug)]
struct Level {
    first: Option<u64>,
    now: u64,
    depth: u64,
    deepest: u64,
    area: u128,
    under_way_ns: u128,
    seen: Vec<u64>,
    seen_sum: u128,
    requests: u64,
}

impl Default for Level {
    fn default() -> Self {
        Self {
            first: None,
            now: 0,
            depth: 0,
            deepest: 0,
            area: 0,
            under_way_ns: 0,
            seen: vec![0; DEPTHS],
            seen_sum: 0,
            requests: 0,
        }
    }
}

impl Level {
    /// Lets time pass. `passed` gets the stretch and the depth in it, where there was any.
    #[inline]
    fn pass(&mut self, to: u64, passed: &mut impl FnMut(u64, u64, u64)) {
        if self.depth > 0 && to > self.now {
            self.area += u128::from(to - self.now) * u128::from(self.depth);
            passed(self.now, to, self.depth);
        }
        self.now = self.now.max(to);
    }

    /// A request begins now. One of no length does not `stay`.
    #[inline]
    fn begin(&mut self, stays: bool) {
        self.first.get_or_insert(self.now);
        self.requests += 1;
        self.seen[(self.depth as usize).min(DEPTHS - 1)] += 1;
        self.seen_sum += u128::from(self.depth);
        self.deepest = self.deepest.max(self.depth + 1);
        self.depth += u64::from(stays);
    }

    fn finish(&self) -> Option<document::Queue> {
        let first = self.first?;
        let duration = (self.now > first).then(|| (self.now - first) as f64)?;
        let requests = self.requests as f64;
        let over_time_mean = self.area as f64 / duration;
        let latency = self.under_way_ns as f64 / requests;
        let by_littles_law = requests / duration * latency;
        let seen = self.seen.iter().enumerate().filter(|(_, n)| **n > 0);
        Some(document::Queue {
            requests: self.requests,
            seen_mean: self.seen_sum as f64 / requests,
            seen: seen.map(|(depth, n)| (depth as u32, *n)).collect(),
            deepest: self.deepest,
            over_time_mean,
            by_littles_law,
            littles_difference: by_littles_law - over_time_mean,
        })
    }
}

/// The sweep.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    issues: Coming,
    ends: Coming,
    all: Level,
    device: Level,
    overflowed: bool,
}

impl Sweep {
    /// A request that arrives at `at`, not before the last one, and ends at `end`, not before that;
    /// `issued` where all three are known. `passed` gets each stretch of time and how many were
    /// under way in it.
    #[inline]
    pub fn add(
        &mut self,
        at: u64,
        issued: Option<u64>,
        end: u64,
        passed: &mut impl FnMut(u64, u64, u64),
    ) {
        if self.overflowed {
            return;
        }
        self.advance(at, passed);
        self.all.under_way_ns += u128::from(end - at);
        self.all.begin(end > at);
        let issued = issued.map(|issued| issued.max(at));
        let counts = issued.is_some_and(|issued| end > issued);
        if let Some(issued) = issued {
            self.device.under_way_ns += u128::from(end.saturating_sub(issued));
            self.issues.push(Moment { at: issued, asked: true, counts });
        }
        if end > at {
            self.ends.push(Moment { at: end, asked: true, counts });
        }
        self.bound();
    }

    /// A request that the device gets now, of what was asked for and added by itself.
    pub fn add_at_device(&mut self, at: u64, end: u64, passed: &mut impl FnMut(u64, u64, u64)) {
        if self.overflowed {
            return;
        }
        self.advance(at, passed);
        self.device.under_way_ns += u128::from(end - at);
        self.device.pass(at, &mut |_, _, _| {});
        self.device.begin(end > at);
        if end > at {
            self.ends.push(Moment { at: end, asked: false, counts: true });
        }
        self.bound();
    }

    fn bound(&mut self) {
        if self.issues.len().max(self.ends.len()) > MOST {
            self.overflowed = true;
            (self.issues, self.ends) = (Coming::default(), Coming::default());
        }
    }

    /// Nothing arrives before `at` any more. What ends when another begins ends first.
    #[inline]
    fn advance(&mut self, at: u64, passed: &mut impl FnMut(u64, u64, u64)) {
        loop {
            let (issue, end) = (self.issues.soonest, self.ends.soonest);
            if issue.min(end) > at {
                break;
            }
            if issue < end {
                self.device.pass(issue, &mut |_, _, _| {});
                let stays = self.issues.pop().counts;
                self.device.begin(stays);
            } else {
                self.all.pass(end, passed);
                let ended = self.ends.pop();
                self.all.depth -= u64::from(ended.asked);
                if ended.counts {
                    self.device.pass(end, &mut |_, _, _| {});
                    self.device.depth -= 1;
                }
            }
        }
        self.all.pass(at, passed);
    }

    /// Lets everything end: the queue of all, and that of the device.
    pub fn finish(
        mut self,
        passed: &mut impl FnMut(u64, u64, u64),
    ) -> [Option<document::Queue>; 2] {
        if self.overflowed {
            return [None, None];
        }
        while self.issues.soonest.min(self.ends.soonest) < NEVER {
            self.advance(self.issues.soonest.min(self.ends.soonest), passed);
        }
        [self.all.finish(), self.device.finish()]
    }
}

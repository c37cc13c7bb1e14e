//! How many requests are under way on each device, from a sweep over their beginnings and ends.
//!
//! There are two queues: all that came and are not done, and those of them that the device
//! has. Records come in the order of arrival, their issues and ends do not: those wait until time
//! has passed them. Nothing that comes later can be issued or done before it arrived, so all up to
//! the newest arrival is final.

use super::document;
use super::sum::{Counts, Max, Sum, sums};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Depths with a bin each; deeper ones share the last bin.
const DEPTHS: usize = 1 << 12;
/// Requests under way at once on one device before its ends cannot be believed.
const MOST: usize = 1 << 14;
/// No time; later than any.
const NEVER: u64 = u64::MAX;

/// What waits in order before a heap is used: only what comes after the new one is moved.
const NEAR: usize = 32;

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
            let soonest = self.row[self.from];
            self.from += 1;
            if self.from == self.to {
                // Few places are used, and stay in the cache, where few are under way.
                (self.from, self.to) = (0, 0);
            }
            soonest
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

sums! {
    /// One kind of queue, of all devices together.
    struct Queue {
        requests: u64,
        seen: Counts<DEPTHS>,
        seen_sum: u128,
        deepest: Max,
        area: u128,
        under_way_ns: u128,
        /// From the first beginning to the last event, of each device.
        span_ns: u128,
        /// The ends of some device cannot be believed.
        overflowed: bool,
    }
}

impl Queue {
    fn finish(&self) -> Option<document::Queue> {
        let duration = (self.span_ns > 0 && !self.overflowed).then_some(self.span_ns as f64)?;
        let over_time_mean = self.area as f64 / duration;
        let by_littles_law = self.under_way_ns as f64 / duration;
        let seen = self.seen.0.iter().enumerate().filter(|(_, n)| **n > 0);
        Some(document::Queue {
            requests: self.requests,
            seen_mean: self.seen_sum as f64 / self.requests as f64,
            seen: seen.map(|(depth, n)| (depth as u32, *n)).collect(),
            deepest: self.deepest.0,
            over_time_mean,
            by_littles_law,
            littles_difference: by_littles_law - over_time_mean,
        })
    }
}

sums! {
    /// What came and is not done, and what of it the device has.
    struct Queues {
        all: Queue,
        device: Queue,
    }
}

impl Queues {
    pub fn finish(&self) -> [Option<document::Queue>; 2] {
        [self.all.finish(), self.device.finish()]
    }
}

/// One queue of one device.
#[derive(Debug, Default)]
struct Level {
    first: Option<u64>,
    now: u64,
    depth: u64,
}

impl Level {
    /// Lets time pass. `passed` gets the stretch and the depth in it, if there was any.
    #[inline]
    fn pass(&mut self, to: u64, sums: &mut Queue, passed: &mut impl FnMut(u64, u64, u64)) {
        if self.depth > 0 && to > self.now {
            sums.area += u128::from(to - self.now) * u128::from(self.depth);
            passed(self.now, to, self.depth);
        }
        self.now = self.now.max(to);
    }

    /// A request begins now. One of no length does not `stay`.
    #[inline]
    fn begin(&mut self, stays: bool, sums: &mut Queue) {
        self.first.get_or_insert(self.now);
        sums.requests += 1;
        sums.seen.0[(self.depth as usize).min(DEPTHS - 1)] += 1;
        sums.seen_sum += u128::from(self.depth);
        sums.deepest.merge(Max(self.depth + 1));
        self.depth += u64::from(stays);
    }
}

/// The sweep over one device.
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
        sums: &mut Queues,
        at: u64,
        issued: Option<u64>,
        end: u64,
        passed: &mut impl FnMut(u64, u64, u64),
    ) {
        if self.overflowed {
            return;
        }
        self.advance(sums, at, passed);
        sums.all.under_way_ns += u128::from(end - at);
        self.all.begin(end > at, &mut sums.all);
        let issued = issued.map(|issued| issued.max(at));
        let counts = issued.is_some_and(|issued| end > issued);
        if let Some(issued) = issued {
            sums.device.under_way_ns += u128::from(end.saturating_sub(issued));
            self.issues.push(Moment { at: issued, asked: true, counts });
        }
        if end > at {
            self.ends.push(Moment { at: end, asked: true, counts });
        }
        self.bound(sums);
    }

    /// A request that the device gets now, of what was asked for and added by itself.
    pub fn add_at_device(
        &mut self,
        sums: &mut Queues,
        at: u64,
        end: u64,
        passed: &mut impl FnMut(u64, u64, u64),
    ) {
        if self.overflowed {
            return;
        }
        self.advance(sums, at, passed);
        sums.device.under_way_ns += u128::from(end - at);
        self.device.pass(at, &mut sums.device, &mut |_, _, _| {});
        self.device.begin(end > at, &mut sums.device);
        if end > at {
            self.ends.push(Moment { at: end, asked: false, counts: true });
        }
        self.bound(sums);
    }

    fn bound(&mut self, sums: &mut Queues) {
        if self.issues.len().max(self.ends.len()) > MOST {
            self.overflowed = true;
            (self.issues, self.ends) = (Coming::default(), Coming::default());
            (sums.all.overflowed, sums.device.overflowed) = (true, true);
        }
    }

    /// Nothing arrives before `at` any more. What ends when another begins ends first.
    #[inline]
    fn advance(&mut self, sums: &mut Queues, at: u64, passed: &mut impl FnMut(u64, u64, u64)) {
        loop {
            let (issue, end) = (self.issues.soonest, self.ends.soonest);
            if issue.min(end) > at {
                break;
            }
            if issue < end {
                self.device.pass(issue, &mut sums.device, &mut |_, _, _| {});
                let stays = self.issues.pop().counts;
                self.device.begin(stays, &mut sums.device);
            } else {
                self.all.pass(end, &mut sums.all, passed);
                let ended = self.ends.pop();
                self.all.depth -= u64::from(ended.asked);
                if ended.counts {
                    self.device.pass(end, &mut sums.device, &mut |_, _, _| {});
                    self.device.depth -= 1;
                }
            }
        }
        self.all.pass(at, &mut sums.all, passed);
    }

    /// Lets everything end.
    pub fn end(mut self, sums: &mut Queues, passed: &mut impl FnMut(u64, u64, u64)) {
        while self.issues.soonest.min(self.ends.soonest) < NEVER {
            self.advance(sums, self.issues.soonest.min(self.ends.soonest), passed);
        }
        for (level, queue) in [(self.all, &mut sums.all), (self.device, &mut sums.device)] {
            queue.span_ns += u128::from(level.first.map_or(0, |first| level.now - first));
        }
    }
}

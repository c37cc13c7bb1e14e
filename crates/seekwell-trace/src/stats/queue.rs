//! How many requests are under way, from a sweep over their beginnings and ends.
//!
//! Records come in the order of arrival, their ends do not: ends wait in a heap until time has
//! passed them. For the device's own queue beginnings wait too, for issue is not in order of
//! arrival; but nothing that comes later can be issued before it arrived, so all up to the newest
//! arrival is final.

use super::document;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Depths told apart; deeper ones share the last bin.
const DEPTHS: usize = 1 << 12;
/// Requests under way at once before it is taken for a trace whose ends cannot be believed.
const MOST: usize = 1 << 20;

/// Ends kept in order before a heap is used: only those are moved that end after the new one.
const NEAR: usize = 64;

/// Ends to come. The first few lie in order in a row that is taken from its front, the others in a
/// heap.
#[derive(Debug)]
struct Ends {
    row: [u64; 2 * NEAR],
    from: usize,
    to: usize,
    far: BinaryHeap<Reverse<u64>>,
}

impl Default for Ends {
    fn default() -> Self {
        Self { row: [0; 2 * NEAR], from: 0, to: 0, far: BinaryHeap::new() }
    }
}

impl Ends {
    fn len(&self) -> usize {
        self.to - self.from + self.far.len()
    }

    #[inline]
    fn push(&mut self, end: u64) {
        if self.to - self.from >= NEAR {
            return self.far.push(Reverse(end));
        }
        if self.to == self.row.len() {
            self.row.copy_within(self.from.., 0);
            (self.from, self.to) = (0, self.to - self.from);
        }
        // A new one tends to be among the last to end.
        let mut at = self.to;
        while at > self.from && self.row[at - 1] > end {
            self.row[at] = self.row[at - 1];
            at -= 1;
        }
        self.row[at] = end;
        self.to += 1;
    }

    /// Takes out the soonest, unless it is later than `at`.
    #[inline]
    fn pop_until(&mut self, at: u64) -> Option<u64> {
        let near = if self.from < self.to { self.row[self.from] } else { u64::MAX };
        match self.far.peek() {
            Some(&Reverse(far)) if far < near || self.from == self.to => {
                (far <= at).then(|| self.far.pop()).flatten().map(|end| end.0)
            }
            _ if self.from < self.to && near <= at => {
                self.from += 1;
                Some(near)
            }
            _ => None,
        }
    }
}

/// The sweep.
#[derive(Debug)]
pub(super) struct Sweep {
    begins: BinaryHeap<Reverse<(u64, u64)>>,
    ends: Ends,
    first: Option<u64>,
    now: u64,
    depth: u64,
    deepest: u64,
    area: u128,
    under_way_ns: u128,
    seen: Vec<u64>,
    seen_sum: u128,
    requests: u64,
    overflowed: bool,
}

impl Default for Sweep {
    fn default() -> Self {
        Self {
            begins: BinaryHeap::new(),
            ends: Ends::default(),
            first: None,
            now: 0,
            depth: 0,
            deepest: 0,
            area: 0,
            under_way_ns: 0,
            seen: vec![0; DEPTHS],
            seen_sum: 0,
            requests: 0,
            overflowed: false,
        }
    }
}

impl Sweep {
    /// A request that begins at `from`, not before the last one, and ends at `to`. `passed` gets
    /// each stretch of time and the depth in it.
    #[inline]
    pub fn add(&mut self, from: u64, to: u64, passed: &mut impl FnMut(u64, u64, u64)) {
        if self.overflowed {
            return;
        }
        self.advance(from, passed);
        self.begin(from, to);
    }

    /// The same where `from` may lie after that of later ones, but not before `arrival`.
    #[inline]
    pub fn add_later(&mut self, arrival: u64, from: u64, to: u64) {
        if self.overflowed {
            return;
        }
        self.begin_all_until(arrival, &mut |_, _, _| {});
        self.begins.push(Reverse((from, to)));
        self.overflowed |= self.begins.len() > MOST;
    }

    /// Nothing arrives before `at` any more.
    #[inline]
    fn advance(&mut self, at: u64, passed: &mut impl FnMut(u64, u64, u64)) {
        while let Some(end) = self.ends.pop_until(at) {
            self.pass(end, passed);
            self.depth -= 1;
        }
        self.pass(at, passed);
    }

    fn begin_all_until(&mut self, at: u64, passed: &mut impl FnMut(u64, u64, u64)) {
        while let Some(&Reverse((from, to))) = self.begins.peek().filter(|next| next.0.0 <= at) {
            self.begins.pop();
            self.advance(from, passed);
            self.begin(from, to);
        }
    }

    #[inline]
    fn pass(&mut self, to: u64, passed: &mut impl FnMut(u64, u64, u64)) {
        if to > self.now {
            if self.depth > 0 {
                self.area += u128::from(to - self.now) * u128::from(self.depth);
                passed(self.now, to, self.depth);
            }
            self.now = to;
        }
    }

    #[inline]
    fn begin(&mut self, from: u64, to: u64) {
        self.first.get_or_insert(from);
        self.now = self.now.max(from);
        self.requests += 1;
        self.under_way_ns += u128::from(to - from);
        self.seen[(self.depth as usize).min(DEPTHS - 1)] += 1;
        self.seen_sum += u128::from(self.depth);
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        self.ends.push(to);
        self.overflowed |= self.ends.len() > MOST;
    }

    /// Lets everything end.
    pub fn finish(mut self, passed: &mut impl FnMut(u64, u64, u64)) -> Option<document::Queue> {
        self.begin_all_until(u64::MAX, passed);
        while let Some(end) = self.ends.pop_until(u64::MAX) {
            self.pass(end, passed);
            self.depth -= 1;
        }
        let first = self.first.filter(|_| !self.overflowed)?;
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

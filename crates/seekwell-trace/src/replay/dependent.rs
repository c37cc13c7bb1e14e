//! A loop closed as the recorded programs closed it: each request once the ones it waited for are
//! done, and the time that was thought in between has passed.

use super::feed::{Feed, Planned};
use super::fidelity::Fidelity;
use super::time::{due, is_early};
use foldhash::{HashMap, HashMapExt};
use seekwell_io::request::{Completion, Request};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Requests looked at ahead of the oldest that is not issued.
const WINDOW: usize = 8192;
/// Completions remembered; a wait for an older one is over.
const REMEMBERED: usize = 1 << 16;

/// A request that is not done.
struct Pending {
    planned: Planned,
    /// Requests it waits for.
    missing: u32,
    /// When the last of those that are done was done.
    after: Nanos,
    /// Requests that wait for it.
    children: Vec<u32>,
}

/// Issues each request after the ones it waited for.
pub struct Dependent {
    feed: Feed,
    base: Nanos,
    speed: f64,
    /// Those that wait, those that are ready and those that were handed out.
    pending: HashMap<u32, Pending>,
    /// Requests whose time is known, the earliest first.
    ready: BinaryHeap<Reverse<(Nanos, u32)>>,
    handed: usize,
    /// Completions by number modulo the length: the number and the time.
    done: Vec<(u32, Nanos)>,
    fidelity: Fidelity,
}

impl Dependent {
    /// Time zero of the trace is `base` on the target's clock; `speed` 2 thinks half as long.
    pub fn new(feed: Feed, base: Nanos, speed: f64, fidelity: Fidelity) -> Self {
        assert!(speed > 0.0 && speed.is_finite(), "a replay goes forward, at speed {speed}");
        Self {
            feed,
            base,
            speed,
            pending: HashMap::new(),
            ready: BinaryHeap::new(),
            handed: 0,
            done: vec![(u32::MAX, Nanos::ZERO); REMEMBERED],
            fidelity,
        }
    }

    /// The feed and what was noted.
    pub fn finish(self) -> (Feed, Fidelity) {
        (self.feed, self.fidelity)
    }

    fn load(&mut self) {
        while self.pending.len() - self.handed < WINDOW {
            let Some((id, planned)) = self.feed.take() else { return };
            let (mut missing, mut after) = (0, self.base);
            for parent in &planned.parents {
                // Numbers wrap around; half of them are behind.
                debug_assert!(*parent != id && id.wrapping_sub(*parent) < u32::MAX / 2);
                let (number, at) = self.done[*parent as usize % REMEMBERED];
                if number == *parent {
                    after = after.max(at);
                } else if let Some(parent) = self.pending.get_mut(parent) {
                    missing += 1;
                    parent.children.push(id);
                }
            }
            let pending = Pending { planned, missing, after, children: Vec::new() };
            if missing == 0 {
                self.ready.push(Reverse((self.time_of(&pending), id)));
            }
            let before = self.pending.insert(id, pending);
            debug_assert!(before.is_none(), "a number comes once");
        }
    }

    /// When a request that waits for none is due.
    fn time_of(&self, Pending { planned, after, .. }: &Pending) -> Nanos {
        // What waited for nothing comes at its own time.
        if planned.parents.is_empty() {
            due(self.base, planned.at, self.speed)
        } else {
            due(*after, planned.think, self.speed)
        }
    }
}

impl Source for Dependent {
    fn is_warming(&mut self, now: Nanos) -> bool {
        is_early(self.base, now)
    }

    fn next(&mut self, now: Nanos) -> Next {
        self.load();
        let Some(Reverse((at, id))) = self.ready.peek().copied() else {
            return if self.pending.len() == self.handed && self.feed.peek().is_none() {
                Next::Done
            } else {
                Next::NotBefore(Nanos::MAX)
            };
        };
        if at > now {
            return Next::NotBefore(at);
        }
        self.ready.pop();
        self.handed += 1;
        Next::Request(self.pending[&id].planned.request(id, Some(at)))
    }

    fn submitted(&mut self, request: &Request, at: Nanos) {
        let recorded = self.pending.get(&request.id).and_then(|p| p.planned.in_flight);
        self.fidelity.issue(request.id, request.wanted, recorded, at);
    }

    fn completed(&mut self, request: &Request, _: Nanos, completion: &Completion) {
        let (id, at) = (request.id, completion.at);
        let held = self.handed > self.fidelity.in_flight() as usize;
        self.fidelity.complete(at, held);
        let done = self.pending.remove(&id);
        let Pending { children, .. } = done.expect("only what was handed out completes, and once");
        self.handed -= 1;
        self.done[id as usize % REMEMBERED] = (id, at);
        for id in children {
            let child = self.pending.get_mut(&id).expect("a child waits for its parents");
            assert!(child.missing > 0, "what waits, waits for something");
            child.missing -= 1;
            child.after = child.after.max(at);
            if child.missing == 0 {
                let at = self.time_of(&self.pending[&id]);
                self.ready.push(Reverse((at, id)));
            }
        }
    }
}

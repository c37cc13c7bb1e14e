//! A loop closed as the recorded programs closed it: each request once the ones it waited for are
//! done, and the time that was thought in between has passed.

use super::feed::{Feed, Planned};
use super::fidelity::Fidelity;
use super::time::due;
use seekwell_io::request::{Completion, Request};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Requests looked at ahead of the oldest that is not issued.
const WINDOW: usize = 8192;
/// Completions remembered; whoever waits for an older one has waited long enough.
const REMEMBERED: usize = 1 << 16;

/// A request that waits for others.
struct Waiting {
    planned: Planned,
    missing: u32,
    /// When the last of those that are done was done.
    after: Nanos,
}

/// Issues each request after the ones it waited for.
pub struct Dependent {
    feed: Feed,
    base: Nanos,
    speed: f64,
    waiting: HashMap<u32, Waiting>,
    children: HashMap<u32, Vec<u32>>,
    /// Requests whose time is known, the earliest first.
    ready: BinaryHeap<Reverse<(Nanos, u32)>>,
    due: HashMap<u32, Planned>,
    handed: HashMap<u32, Option<u32>>,
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
            waiting: HashMap::new(),
            children: HashMap::new(),
            ready: BinaryHeap::new(),
            due: HashMap::new(),
            handed: HashMap::new(),
            done: vec![(u32::MAX, Nanos::ZERO); REMEMBERED],
            fidelity,
        }
    }

    /// The feed and what was noted.
    pub fn finish(self) -> (Feed, Fidelity) {
        (self.feed, self.fidelity)
    }

    fn load(&mut self) {
        while self.waiting.len() + self.ready.len() < WINDOW {
            let Some((id, planned)) = self.feed.take() else { return };
            let (mut missing, mut after) = (0, self.base);
            for parent in &planned.parents {
                // Numbers wrap around; half of them are behind.
                debug_assert!(*parent != id && id.wrapping_sub(*parent) < u32::MAX / 2);
                let (number, at) = self.done[*parent as usize % REMEMBERED];
                if number == *parent {
                    after = after.max(at);
                } else if self.is_to_come(*parent) {
                    missing += 1;
                    self.children.entry(*parent).or_default().push(id);
                }
            }
            if missing > 0 {
                self.waiting.insert(id, Waiting { planned, missing, after });
            } else {
                self.make_ready(id, planned, after);
            }
        }
    }

    /// Whether a request is not done yet, given that it is not among the completions remembered.
    fn is_to_come(&self, id: u32) -> bool {
        self.waiting.contains_key(&id)
            || self.due.contains_key(&id)
            || self.handed.contains_key(&id)
    }

    fn make_ready(&mut self, id: u32, planned: Planned, after: Nanos) {
        // What waited for nothing comes at its own time.
        let at = if planned.parents.is_empty() {
            due(self.base, planned.at, self.speed)
        } else {
            due(after, planned.think, self.speed)
        };
        debug_assert!(!self.waiting.contains_key(&id) && !self.handed.contains_key(&id));
        self.ready.push(Reverse((at, id)));
        self.due.insert(id, planned);
        debug_assert_eq!(self.ready.len(), self.due.len());
    }
}

impl Source for Dependent {
    fn next(&mut self, now: Nanos) -> Next {
        self.load();
        let Some(Reverse((at, id))) = self.ready.peek().copied() else {
            return if self.waiting.is_empty() && self.feed.peek().is_none() {
                Next::Done
            } else {
                Next::NotBefore(Nanos::MAX)
            };
        };
        if at > now {
            return Next::NotBefore(at);
        }
        self.ready.pop();
        let planned = self.due.remove(&id).expect("what is ready is known");
        debug_assert_eq!(self.ready.len(), self.due.len());
        self.handed.insert(id, planned.in_flight);
        Next::Request(planned.request(id, Some(at)))
    }

    fn submitted(&mut self, request: &Request, at: Nanos) {
        let recorded = self.handed.get(&request.id).copied().flatten();
        self.fidelity.issue(request.id, request.wanted, recorded, at);
    }

    fn completed(&mut self, request: &Request, _: Nanos, completion: &Completion) {
        let (id, at) = (request.id, completion.at);
        let held = self.handed.len() > self.fidelity.in_flight() as usize;
        self.fidelity.complete(at, held);
        let handed = self.handed.remove(&id);
        assert!(handed.is_some(), "only what was handed out completes, and once");
        self.done[id as usize % REMEMBERED] = (id, at);
        for child in self.children.remove(&id).unwrap_or_default() {
            let waiting = self.waiting.get_mut(&child).expect("a child waits for its parents");
            assert!(waiting.missing > 0, "what waits, waits for something");
            waiting.missing -= 1;
            waiting.after = waiting.after.max(at);
            if waiting.missing == 0 {
                let Waiting { planned, after, .. } =
                    self.waiting.remove(&child).expect("it was just there");
                self.make_ready(child, planned, after);
            }
        }
    }
}

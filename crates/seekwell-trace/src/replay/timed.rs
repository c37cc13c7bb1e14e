//! An open loop: every request at its own time, whether or not the device keeps up.

use super::feed::Feed;
use super::fidelity::Fidelity;
use super::time::{due, is_early};
use seekwell_io::request::{Completion, Request};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};
use std::collections::VecDeque;

/// Issues each request at its recorded time.
pub struct Timed {
    feed: Feed,
    base: Nanos,
    speed: f64,
    /// Number and recorded depth of requests the engine has and has not issued.
    handed: VecDeque<(u32, Option<u32>)>,
    fidelity: Fidelity,
}

impl Timed {
    /// Time zero of the trace is `base` on the target's clock; `speed` 2 plays twice as fast.
    pub fn new(feed: Feed, base: Nanos, speed: f64, fidelity: Fidelity) -> Self {
        assert!(speed > 0.0 && speed.is_finite(), "a replay goes forward, at speed {speed}");
        Self { feed, base, speed, handed: VecDeque::with_capacity(64), fidelity }
    }

    /// The feed and what was noted.
    pub fn finish(self) -> (Feed, Fidelity) {
        (self.feed, self.fidelity)
    }
}

impl Source for Timed {
    fn is_warming(&mut self, now: Nanos) -> bool {
        is_early(self.base, now)
    }

    #[inline]
    fn next(&mut self, now: Nanos) -> Next {
        let Some(planned) = self.feed.peek() else { return Next::Done };
        let wanted = due(self.base, planned.at, self.speed);
        if wanted > now {
            return Next::NotBefore(wanted);
        }
        let Some((id, planned)) = self.feed.take() else { return Next::Done };
        debug_assert!(self.base <= wanted && wanted <= now, "nothing is issued before its time");
        self.handed.push_back((id, planned.in_flight));
        Next::Request(planned.request(id, Some(wanted)))
    }

    #[inline]
    fn submitted(&mut self, request: &Request, at: Nanos) {
        let recorded = take(&mut self.handed, request.id);
        self.fidelity.issue(request.id, request.wanted, recorded, at);
    }

    #[inline]
    fn completed(&mut self, _: &Request, _: Nanos, completion: &Completion) {
        self.fidelity.complete(completion.at, !self.handed.is_empty());
    }
}

/// The recorded depth of a request; without a policy that reorders it is the first in line.
pub(super) fn take(handed: &mut VecDeque<(u32, Option<u32>)>, id: u32) -> Option<u32> {
    let at = handed.iter().position(|(handed, _)| *handed == id);
    debug_assert!(at.is_some(), "the engine issues what it was handed, once");
    handed.remove(at?)?.1
}

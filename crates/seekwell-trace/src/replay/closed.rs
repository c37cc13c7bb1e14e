//! A closed loop: recorded order and addresses, no recorded times.

use super::feed::Feed;
use super::fidelity::Fidelity;
use super::timed::take;
use seekwell_io::request::{Completion, Request};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};
use std::collections::VecDeque;

/// Issues each request as soon as fewer are outstanding than a depth.
pub struct Closed {
    feed: Feed,
    /// The depth, or as many as were outstanding in the recording.
    depth: Option<u32>,
    handed: VecDeque<(u32, Option<u32>)>,
    fidelity: Fidelity,
}

impl Closed {
    /// `depth` requests at once; without it as many as were outstanding in the recording when the
    /// request came, and one more: the request itself.
    pub fn new(feed: Feed, depth: Option<u32>, fidelity: Fidelity) -> Self {
        assert_ne!(depth, Some(0), "a closed loop has room for a request");
        Self { feed, depth, handed: VecDeque::with_capacity(64), fidelity }
    }

    /// The feed and what was noted.
    pub fn finish(self) -> (Feed, Fidelity) {
        (self.feed, self.fidelity)
    }
}

impl Source for Closed {
    fn next(&mut self, _: Nanos) -> Next {
        let Some(planned) = self.feed.peek() else { return Next::Done };
        let outstanding = self.fidelity.in_flight() + self.handed.len() as u32;
        let most = self.depth.unwrap_or_else(|| planned.in_flight.map_or(1, |n| n + 1));
        if outstanding >= most {
            return Next::NotBefore(Nanos::MAX);
        }
        let Some((id, planned)) = self.feed.take() else { return Next::Done };
        self.handed.push_back((id, planned.in_flight));
        debug_assert!(self.fidelity.in_flight() as usize + self.handed.len() <= most as usize);
        Next::Request(planned.request(id, None))
    }

    fn submitted(&mut self, request: &Request, at: Nanos) {
        let recorded = take(&mut self.handed, request.id);
        self.fidelity.issue(request.id, None, recorded, at);
    }

    fn completed(&mut self, _: &Request, _: Nanos, completion: &Completion) {
        self.fidelity.complete(completion.at, !self.handed.is_empty());
    }
}

//! The rule that decides which waiting requests may be outstanding: the tag policy.

use crate::request::{Op, Request};
use std::collections::VecDeque;

/// Holds waiting requests and releases those that may go to the target now.
pub trait Dispatcher {
    /// A request begins to wait.
    fn queue(&mut self, request: Request);
    /// The next request that may be outstanding, if any may.
    fn release(&mut self) -> Option<Request>;
    /// A request that was released is done.
    fn complete(&mut self, op: Op);
}

/// No rule: first come, first out. The depth of the workload is the only bound.
#[derive(Debug, Default)]
pub struct Unlimited {
    waiting: VecDeque<Request>,
}

impl Dispatcher for Unlimited {
    #[inline]
    fn queue(&mut self, request: Request) {
        self.waiting.push_back(request);
    }

    #[inline]
    fn release(&mut self) -> Option<Request> {
        self.waiting.pop_front()
    }

    #[inline]
    fn complete(&mut self, _: Op) {}
}

/// One pool of tags for everything, first come, first served: what a plain NCQ driver does.
#[derive(Debug)]
pub struct SharedTags {
    waiting: VecDeque<Request>,
    free: u32,
}

impl SharedTags {
    /// A pool of `tags`, at least one.
    pub fn new(tags: u32) -> Self {
        assert!(tags > 0, "a device without tags takes no commands");
        Self { waiting: VecDeque::new(), free: tags }
    }
}

impl Dispatcher for SharedTags {
    fn queue(&mut self, request: Request) {
        self.waiting.push_back(request);
    }

    fn release(&mut self) -> Option<Request> {
        if self.free == 0 {
            return None;
        }
        let request = self.waiting.pop_front()?;
        self.free -= 1;
        Some(request)
    }

    fn complete(&mut self, _: Op) {
        self.free += 1;
    }
}

//! The rule that decides which waiting requests may be outstanding: the tag policy.

mod deadline;
mod domains;
mod reads_first;
mod split;

#[cfg(test)]
mod tests;

pub use deadline::Deadline;
pub use domains::Domains;
pub use reads_first::ReadsFirst;
pub use split::SplitTags;

use crate::request::{Op, Request};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Holds waiting requests and releases those that may go to the target now.
pub trait Dispatcher {
    /// A request begins to wait.
    fn queue(&mut self, request: Request, now: Nanos);
    /// The next request that may be outstanding, if any may.
    fn release(&mut self, now: Nanos) -> Option<Request>;
    /// A request that was released is done.
    fn complete(&mut self, op: Op);
}

impl<D: Dispatcher + ?Sized> Dispatcher for Box<D> {
    fn queue(&mut self, request: Request, now: Nanos) {
        (**self).queue(request, now);
    }

    fn release(&mut self, now: Nanos) -> Option<Request> {
        (**self).release(now)
    }

    fn complete(&mut self, op: Op) {
        (**self).complete(op);
    }
}

/// A rule by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TagPolicy {
    /// [`SharedTags`].
    Shared,
    /// [`SplitTags`].
    Split,
    /// [`ReadsFirst`].
    ReadsFirst,
    /// [`Deadline`].
    Deadline,
    /// [`Domains`].
    Domains,
}

impl TagPolicy {
    /// All rules.
    pub const ALL: [Self; 5] =
        [Self::Shared, Self::Split, Self::ReadsFirst, Self::Deadline, Self::Domains];

    /// The name used in documents and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Split => "split",
            Self::ReadsFirst => "reads-first",
            Self::Deadline => "deadline",
            Self::Domains => "domains",
        }
    }

    /// The rule over `tags` tags, at least one.
    pub fn over(self, tags: u32) -> Box<dyn Dispatcher + Send> {
        match self {
            Self::Shared => Box::new(SharedTags::new(tags)),
            Self::Split => Box::new(SplitTags::new(tags)),
            Self::ReadsFirst => Box::new(ReadsFirst::new(tags)),
            Self::Deadline => Box::new(Deadline::new(tags)),
            Self::Domains => Box::new(Domains::new(tags)),
        }
    }
}

/// A policy over a number of tags; without one every request is released at once.
pub fn dispatcher(tags: Option<(TagPolicy, u32)>) -> Box<dyn Dispatcher> {
    match tags {
        None => Box::new(Unlimited::default()),
        Some((policy, tags)) => policy.over(tags),
    }
}

/// No rule: first come, first out. The depth of the workload is the only bound.
#[derive(Debug, Default)]
pub struct Unlimited {
    waiting: VecDeque<Request>,
}

impl Dispatcher for Unlimited {
    #[inline]
    fn queue(&mut self, request: Request, _: Nanos) {
        self.waiting.push_back(request);
    }

    #[inline]
    fn release(&mut self, _: Nanos) -> Option<Request> {
        self.waiting.pop_front()
    }

    #[inline]
    fn complete(&mut self, _: Op) {}
}

#[derive(Debug)]
struct Tags {
    free: u32,
    all: u32,
}

impl Tags {
    fn new(all: u32) -> Self {
        assert!(all > 0, "a device without tags takes no commands");
        Self { free: all, all }
    }

    const fn any_free(&self) -> bool {
        self.free > 0
    }

    fn take(&mut self) {
        debug_assert!(self.free > 0, "more requests released than there are tags");
        self.free -= 1;
    }

    fn put_back(&mut self) {
        debug_assert!(self.free < self.all, "more requests completed than released");
        self.free += 1;
    }
}

/// One pool of tags for everything, first come, first served: what a plain NCQ driver does.
#[derive(Debug)]
pub struct SharedTags {
    waiting: VecDeque<Request>,
    tags: Tags,
}

impl SharedTags {
    /// A pool of `tags`, at least one.
    pub fn new(tags: u32) -> Self {
        Self { waiting: VecDeque::new(), tags: Tags::new(tags) }
    }
}

impl Dispatcher for SharedTags {
    fn queue(&mut self, request: Request, _: Nanos) {
        self.waiting.push_back(request);
    }

    fn release(&mut self, _: Nanos) -> Option<Request> {
        if !self.tags.any_free() {
            return None;
        }
        let request = self.waiting.pop_front()?;
        self.tags.take();
        Some(request)
    }

    fn complete(&mut self, _: Op) {
        self.tags.put_back();
    }
}

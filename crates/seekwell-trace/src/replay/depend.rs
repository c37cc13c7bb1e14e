//! Which requests a request waited for, judged by who made it and when.
//!
//! Tasks (threads) that make requests are independent of each other: a request waits for those of
//! its own task only, and the first of a task for those of all. Where one task in truth waited for
//! another, as a program does for the journal of its file system, that time counts as thought.
//!
//! Within a task a request may have waited for any request that was done before it came. Of those,
//! one that was done before another of them had even come is implied by that other. What is left
//! are the requests done since the youngest of the finished ones came: at most as many as were
//! outstanding then. (The relation is an interval order; this is its transitive reduction. The idea
//! of inferring dependencies this way is hfplayer's: Haghdoost et al., FAST 2017.)

use seekwell_io::units::Nanos;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// Tasks known apart. Beyond them those with nothing outstanding are forgotten.
const TASKS: usize = 1 << 14;

/// Completion, arrival and number of a request.
type Seen = (Nanos, Nanos, u32);

/// What was learned about one request as it came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Learned {
    /// Requests outstanding when it came.
    pub in_flight: u32,
    /// What it waited for.
    pub parents: Vec<u32>,
    /// From the last of them being done to its coming.
    pub think: Nanos,
}

/// Learns from requests of many tasks in the order they came.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    all: Inference,
    each: HashMap<u32, Inference>,
    /// Tasks seen; one that was forgotten counts again.
    pub seen: u64,
}

impl Tasks {
    /// As [`Inference::next`], of a request that `task` made.
    pub fn next(
        &mut self,
        task: u32,
        id: u32,
        arrived: Nanos,
        completed: Option<Nanos>,
        parents: bool,
    ) -> Learned {
        if !parents {
            return self.all.next(id, arrived, completed, false);
        }
        if self.each.len() >= TASKS {
            self.each.retain(|_, task| !task.outstanding.is_empty());
        }
        let is_first = !self.each.contains_key(&task);
        self.seen += u64::from(is_first);
        let all = self.all.next(id, arrived, completed, is_first);
        let own = self.each.entry(task).or_default().next(id, arrived, completed, true);
        if is_first { all } else { Learned { in_flight: all.in_flight, ..own } }
    }
}

/// Learns from requests in the order they came.
#[derive(Debug, Default)]
pub(crate) struct Inference {
    outstanding: BinaryHeap<Reverse<Seen>>,
    /// Finished requests that may still be waited for, by completion.
    recent: VecDeque<Seen>,
    /// When the youngest finished request came.
    youngest: Nanos,
}

impl Inference {
    /// The next request, with its `parents` where they are wanted. Without `completed` nothing can
    /// be learned from it.
    pub fn next(
        &mut self,
        id: u32,
        arrived: Nanos,
        completed: Option<Nanos>,
        parents: bool,
    ) -> Learned {
        while let Some(Reverse(done)) = self.outstanding.peek().copied()
            && done.0 < arrived
        {
            self.outstanding.pop();
            self.youngest = self.youngest.max(done.1);
            self.recent.push_back(done);
        }
        while self.recent.front().is_some_and(|done| done.0 < self.youngest) {
            self.recent.pop_front();
        }
        let learned = Learned {
            in_flight: self.outstanding.len() as u32,
            parents: if parents {
                self.recent.iter().map(|done| done.2).collect()
            } else {
                Vec::new()
            },
            think: self.recent.back().map_or(Nanos::ZERO, |done| arrived.since(done.0)),
        };
        if let Some(completed) = completed {
            self.outstanding.push(Reverse((completed.max(arrived), arrived, id)));
        }
        learned
    }
}

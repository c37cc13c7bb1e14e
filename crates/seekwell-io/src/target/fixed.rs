//! A target on a virtual clock whose service times and results are given: every measurement made
//! with it can be checked to the nanosecond, and it can be made to fail, hang or shorten requests.

use super::{Target, TargetError, Until};
use crate::failure::FailureKind;
use crate::request::{Completion, Request, Tagged};
use crate::units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What becomes of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// How long it takes once a server is free. [`Nanos::MAX`] never completes.
    pub takes: Nanos,
    /// Bytes moved, or the errno.
    pub result: Result<u32, i32>,
}

impl Served {
    /// All of `request` after `takes`.
    pub const fn whole(request: &Request, takes: Nanos) -> Self {
        Self { takes, result: Ok(request.len) }
    }
}

/// Finish time, order of submission, slot and result.
type Pending = (Nanos, u64, u32, Result<u32, i32>);

/// `servers` requests at once, each served as `serve` says, the others waiting in order.
pub struct Fixed<F> {
    serve: F,
    now: Nanos,
    /// When each server is free.
    free: BinaryHeap<Reverse<Nanos>>,
    pending: BinaryHeap<Reverse<Pending>>,
    submitted: u64,
}

impl<F: FnMut(&Request) -> Served> Fixed<F> {
    /// A target with at least one server; its clock begins at zero.
    pub fn new(servers: u32, serve: F) -> Self {
        assert!(servers > 0, "nothing would ever complete");
        let free = (0..servers).map(|_| Reverse(Nanos::ZERO)).collect();
        Self { serve, now: Nanos::ZERO, free, pending: BinaryHeap::new(), submitted: 0 }
    }
}

impl<F: FnMut(&Request) -> Served> Target for Fixed<F> {
    fn submit(&mut self, batch: &[Tagged]) -> Result<(), TargetError> {
        for tagged in batch {
            let served = (self.serve)(&tagged.request);
            self.submitted += 1;
            let Some(Reverse(free)) = self.free.pop() else { unreachable!("servers are put back") };
            let finish = free.max(self.now) + served.takes;
            self.free.push(Reverse(finish));
            self.pending.push(Reverse((finish, self.submitted, tagged.slot, served.result)));
        }
        Ok(())
    }

    fn reap(&mut self, until: Until, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        let mut got = 0;
        while let Some(Reverse((finish, _, slot, result))) = self.pending.peek().copied() {
            let must_wait = finish > self.now;
            if must_wait && (got >= until.completions || finish > until.deadline) {
                break;
            }
            self.pending.pop();
            self.now = self.now.max(finish);
            let result = result.map_err(|errno| FailureKind::Errno { errno });
            out.push(Completion { slot, result, at: finish });
            got += 1;
        }
        if got < until.completions {
            self.now = self.now.max(until.deadline);
        }
        Ok(())
    }

    fn now(&self) -> Nanos {
        self.now
    }
}

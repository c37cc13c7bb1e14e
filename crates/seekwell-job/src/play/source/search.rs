//! `latency_target`: the greatest depth at which enough requests stay below a latency.
//!
//! The depth doubles while windows meet the target; from the first that misses it, the range
//! between the deepest good and the shallowest bad is halved until they are neighbours.

use crate::job::LatencyTarget;
use seekwell_io::units::Nanos;

/// A search in progress.
#[derive(Debug)]
pub struct DepthSearch {
    target: LatencyTarget,
    depth: u32,
    /// The deepest that met the target; 0 for none yet.
    good: u32,
    /// The shallowest that missed it; one more than allowed for none yet.
    bad: u32,
    since: Option<Nanos>,
    requests: u64,
    late: u64,
    settled: bool,
}

impl DepthSearch {
    /// Up to `most` requests outstanding.
    pub const fn new(target: LatencyTarget, most: u32) -> Self {
        let bad = most.saturating_add(1);
        Self { target, depth: 1, good: 0, bad, since: None, requests: 0, late: 0, settled: false }
    }

    /// The most that may be outstanding now.
    #[inline]
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// The depth that was found: 0 where not even one request at a time met the target; none while
    /// the search goes on.
    pub const fn found(&self) -> Option<u32> {
        if self.settled { Some(self.good) } else { None }
    }

    /// Whether the job is over: the depth is found and is not to be adjusted further.
    pub const fn is_over(&self) -> bool {
        self.settled && !self.target.keep_adjusting
    }

    /// Counts a request; at the end of a window decides on the next depth.
    pub fn completed(&mut self, latency: Nanos, now: Nanos) {
        let since = *self.since.get_or_insert(now);
        self.requests += 1;
        self.late += u64::from(latency > self.target.target);
        if now.since(since) < self.target.window {
            return;
        }
        let on_time = (self.requests - self.late) as f64 / self.requests as f64;
        self.judge(on_time * 100.0 >= self.target.percentile);
        (self.requests, self.late, self.since) = (0, 0, Some(now));
    }

    fn judge(&mut self, met: bool) {
        if met {
            self.good = self.depth;
        } else {
            self.bad = self.depth;
        }
        if self.good + 1 >= self.bad {
            self.settled = true;
            self.depth = self.good.max(1);
            if self.target.keep_adjusting && !met {
                // The device got slower: what was good before need not be now.
                self.good = 0;
            }
            return;
        }
        let doubled = self.depth.saturating_mul(2);
        self.depth = match met {
            true if doubled < self.bad => doubled,
            _ => self.good + (self.bad - self.good) / 2,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(limit: u32, most: u32) -> u32 {
        let target = LatencyTarget {
            target: Nanos(100),
            window: Nanos(10),
            percentile: 90.0,
            keep_adjusting: false,
        };
        let mut search = DepthSearch::new(target, most);
        let mut now = Nanos::ZERO;
        for _ in 0..100_000 {
            if search.is_over() {
                break;
            }
            now += Nanos(1);
            let latency = if search.depth() > limit { 101 } else { 100 };
            search.completed(Nanos(latency), now);
        }
        search.found().expect("the search ends")
    }

    proptest! {
        #[test]
        fn the_greatest_depth_that_meets_the_target_is_found(
            limit in 0u32..600, most in 1u32..600,
        ) {
            prop_assert_eq!(found(limit, most), limit.min(most));
        }
    }
}

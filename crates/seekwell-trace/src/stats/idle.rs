//! Periods in which nothing is under way.

use super::arrivals::SECOND_NS;
use super::document;
use super::sum::{Max, Sum, sums};

/// Lengths by which periods are counted.
const AT_LEAST: [u64; 6] =
    [SECOND_NS / 1000, SECOND_NS / 100, SECOND_NS / 10, SECOND_NS, 10 * SECOND_NS, 60 * SECOND_NS];

sums! {
    /// Periods in which nothing is under way on a device.
    struct Idle {
        from_completions: bool,
        total_ns: u128,
        longest_ns: Max,
        /// How many are at least so long, and how long those are together.
        at_least: [(u64, u128); AT_LEAST.len()],
    }
}

impl Idle {
    /// An arrival on a device that is busy until then, and when the request ends. Until when the
    /// device is busy now: a request whose end is not known is over when it comes.
    #[inline]
    pub fn add(&mut self, busy_until: Option<u64>, at: u64, end: Option<u64>) -> u64 {
        self.from_completions |= end.is_some();
        let until = end.unwrap_or(at);
        let Some(busy) = busy_until else { return until };
        if at > busy {
            self.period(at - busy);
        }
        busy.max(until)
    }

    #[inline]
    fn period(&mut self, ns: u64) {
        self.total_ns += u128::from(ns);
        self.longest_ns.merge(Max(ns));
        for ((count, sum), least) in self.at_least.iter_mut().zip(AT_LEAST) {
            if ns < least {
                break;
            }
            *count += 1;
            *sum += u128::from(ns);
        }
    }

    /// Over the time from the first to the last arrival, of all devices together.
    pub fn finish(&self, devices_ns: u128) -> Option<document::Idle> {
        let duration = (devices_ns > 0).then_some(devices_ns as f64)?;
        let lengths = self.at_least.iter().zip(AT_LEAST);
        Some(document::Idle {
            from_completions: self.from_completions,
            share: self.total_ns as f64 / duration,
            longest_ns: self.longest_ns.0,
            at_least: lengths.map(|((n, sum), ns)| (ns, *n, *sum as f64 / duration)).collect(),
        })
    }
}

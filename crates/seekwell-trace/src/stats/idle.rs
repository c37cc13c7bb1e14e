//! Periods in which nothing is under way.

use super::arrivals::SECOND_NS;
use super::document;

/// Lengths by which periods are counted.
const AT_LEAST: [u64; 6] =
    [SECOND_NS / 1000, SECOND_NS / 100, SECOND_NS / 10, SECOND_NS, 10 * SECOND_NS, 60 * SECOND_NS];

/// Periods between the end of all that came before and the next arrival. A request whose end is not
/// known is over when it comes.
#[derive(Debug, Default)]
pub(super) struct Idle {
    busy_until: Option<u64>,
    from_completions: bool,
    total_ns: u64,
    longest_ns: u64,
    at_least: [(u64, u64); AT_LEAST.len()],
}

impl Idle {
    #[inline]
    pub fn add(&mut self, at: u64, end: Option<u64>) {
        self.from_completions |= end.is_some();
        let until = end.unwrap_or(at);
        let Some(busy) = self.busy_until else {
            self.busy_until = Some(until);
            return;
        };
        if at > busy {
            self.period(at - busy);
        }
        self.busy_until = Some(busy.max(until));
    }

    #[inline]
    fn period(&mut self, ns: u64) {
        self.total_ns += ns;
        self.longest_ns = self.longest_ns.max(ns);
        for ((count, sum), least) in self.at_least.iter_mut().zip(AT_LEAST) {
            if ns < least {
                break;
            }
            *count += 1;
            *sum += ns;
        }
    }

    /// Over the time from first to last arrival.
    pub fn finish(&self, duration_ns: Option<u64>) -> Option<document::Idle> {
        let duration = duration_ns.filter(|ns| *ns > 0)? as f64;
        let lengths = self.at_least.iter().zip(AT_LEAST);
        Some(document::Idle {
            from_completions: self.from_completions,
            share: self.total_ns as f64 / duration,
            longest_ns: self.longest_ns,
            at_least: lengths.map(|((n, sum), ns)| (ns, *n, *sum as f64 / duration)).collect(),
        })
    }
}

//! What a run is doing right now, for a live display.
//!
//! The loop keeps its histograms anyway. While a display is attached, it adds what came to them
//! since it last did so to counters that are shared, every fifth of a second: one comparison a turn
//! of the loop is all the rest of the time, and nothing is counted twice.

use crate::histogram::{BINS, Histogram};
use crate::measurement::Measurement;
use crate::units::Nanos;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// How often a loop reports, on its target's clock.
const EVERY: Nanos = Nanos::from_millis(200);

/// Latencies that completed since they were last taken, from all loops that share it.
#[derive(Debug)]
pub struct Gauge {
    watched: AtomicBool,
    bins: Box<[AtomicU64]>,
    span_ns: AtomicU64,
}

/// What completed between two looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Glance {
    /// Response times where requests were wanted at a time, else service times. A value is the
    /// middle of its bin.
    pub latencies: Histogram,
    /// Time that passed on the targets' clocks, added up over the loops.
    pub span: Nanos,
}

impl Default for Gauge {
    /// One without a display.
    fn default() -> Self {
        let bins = (0..BINS).map(|_| AtomicU64::new(0)).collect();
        Self { watched: AtomicBool::new(false), bins, span_ns: AtomicU64::new(0) }
    }
}

impl Gauge {
    /// Loops that begin from now on report what they do.
    pub fn watch(&self) {
        self.watched.store(true, Relaxed);
    }

    /// Takes what completed since the last call.
    pub fn take(&self) -> Glance {
        let mut latencies = Histogram::default();
        for (bin, count) in self.bins.iter().enumerate() {
            let n = count.swap(0, Relaxed);
            if n > 0 {
                latencies.record_many(Nanos(Histogram::middle_of(bin)), n);
            }
        }
        Glance { latencies, span: Nanos(self.span_ns.swap(0, Relaxed)) }
    }
}

/// One loop's side of a gauge.
#[derive(Debug)]
pub(crate) struct Feed {
    /// When to report next; never without a display.
    due: Nanos,
    last: Nanos,
    /// What has been reported of each bin so far.
    told: Box<[u64]>,
}

impl Feed {
    pub(crate) fn new(gauge: &Gauge, now: Nanos) -> Self {
        let watched = gauge.watched.load(Relaxed);
        Self {
            due: if watched { now + EVERY } else { Nanos::MAX },
            last: now,
            told: vec![0; if watched { BINS } else { 0 }].into(),
        }
    }

    #[inline]
    pub(crate) fn is_due(&self, now: Nanos) -> bool {
        now >= self.due
    }

    /// Tells what was measured since the last time, where somebody looks on.
    #[cold]
    pub(crate) fn tell(&mut self, gauge: &Gauge, measured: &Measurement, now: Nanos) {
        if self.told.is_empty() {
            return;
        }
        let mut all = Histogram::default();
        for op in &measured.ops {
            let timed = op.response.count() > 0;
            all.merge(if timed { &op.response } else { &op.service });
        }
        for ((told, shared), n) in self.told.iter_mut().zip(&gauge.bins).zip(all.bins()) {
            if *n > *told {
                shared.fetch_add(*n - *told, Relaxed);
                *told = *n;
            }
        }
        gauge.span_ns.fetch_add(now.since(self.last).0, Relaxed);
        (self.last, self.due) = (now, now + EVERY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::Unlimited;
    use crate::engine::{Control, run};
    use crate::target::{Fixed, Served};
    use crate::workload::{Pace, Pattern, Workload};

    /// A thousand reads of a millisecond each, one after the other.
    fn a_second(control: &Control, pace: Pace) {
        let mut workload = Workload::closed(Pattern::Random, 100, 4096, 1, 1 << 30);
        workload.pace = pace;
        workload.runtime_ns = Nanos::ZERO;
        workload.requests = 1000;
        let mut target = Fixed::new(1, |r| Served::whole(r, Nanos::from_millis(1)));
        run(&workload, 0, &mut target, &mut Unlimited::default(), control).expect("nothing fails");
    }

    const CLOSED: Pace = Pace::Closed { depth: 1 };

    #[test]
    fn whoever_looks_on_sees_every_request_once_and_the_time_it_took() {
        let control = Control::default();
        control.gauge.watch();
        for _ in 0..2 {
            a_second(&control, CLOSED);
            let seen = control.gauge.take();
            assert_eq!((seen.latencies.count(), seen.span), (1000, Nanos::from_millis(1000)));
            let middle = Histogram::middle_of(Histogram::bin_of(1_000_000));
            assert_eq!(seen.latencies.quantile(0.99), Some(Nanos(middle)));
        }
        assert_eq!(control.gauge.take().latencies.count(), 0, "nothing came since");
    }

    #[test]
    fn where_requests_are_wanted_at_a_time_the_wait_counts() {
        let control = Control::default();
        control.gauge.watch();
        // Twice what the target does: the last request waits for about half a second.
        a_second(&control, Pace::Open { requests_per_s: 2000.0, poisson: false, depth: 1 });
        let seen = control.gauge.take();
        assert_eq!(seen.latencies.count(), 1000);
        assert!(seen.latencies.quantile(0.99) > Some(Nanos::from_millis(480)), "{seen:?}");
    }

    #[test]
    fn nothing_is_told_where_nobody_looks_on() {
        let control = Control::default();
        a_second(&control, CLOSED);
        let seen = control.gauge.take();
        assert_eq!((seen.latencies.count(), seen.span), (0, Nanos::ZERO));
    }
}

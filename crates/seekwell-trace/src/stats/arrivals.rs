//! How requests come: gaps, and counts in windows.

use super::document;
use super::ratio::share;
use seekwell_io::histogram::Histogram;
use seekwell_io::units::Nanos;

/// A second, in nanoseconds.
pub(super) const SECOND_NS: u64 = 1_000_000_000;

/// Times of arrival, in order.
#[derive(Debug)]
pub(super) struct Arrivals {
    last: Option<u64>,
    gaps: Histogram,
    squares: f64,
    seconds: Windows,
    minutes: Windows,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self {
            last: None,
            gaps: Histogram::default(),
            squares: 0.0,
            seconds: Windows::of(SECOND_NS),
            minutes: Windows::of(60 * SECOND_NS),
        }
    }
}

impl Arrivals {
    /// One arrival, not before the last.
    #[inline]
    pub fn add(&mut self, at: u64) {
        if let Some(last) = self.last {
            let gap = at - last;
            self.gaps.record(Nanos(gap));
            self.squares += gap as f64 * gap as f64;
        }
        self.last = Some(at);
        self.seconds.add(at);
        self.minutes.add(at);
    }

    pub fn finish(&self) -> Option<document::Arrivals> {
        let mean = self.gaps.mean_ns()?;
        let variance = (self.squares / self.gaps.count() as f64 - mean * mean).max(0.0);
        let quantile = |q| self.gaps.quantile(q).map(|ns| ns.0);
        Some(document::Arrivals {
            gap_ns_mean: mean,
            gap_ns_p50: quantile(0.5),
            gap_ns_p99: quantile(0.99),
            gap_variation: (mean > 0.0).then(|| variance.sqrt() / mean),
            per_second: self.seconds.finish(),
            per_minute: self.minutes.finish(),
        })
    }
}

/// Arrivals in windows of one length, from the first on. The last window is not whole and does not
/// count.
#[derive(Debug)]
struct Windows {
    length: u64,
    end: Option<u64>,
    here: u64,
    whole: u64,
    active: u64,
    peak: u64,
    sum: u64,
    squares: f64,
}

impl Windows {
    fn of(length: u64) -> Self {
        Self { length, end: None, here: 0, whole: 0, active: 0, peak: 0, sum: 0, squares: 0.0 }
    }

    #[inline]
    fn add(&mut self, at: u64) {
        let end = *self.end.get_or_insert(at.saturating_add(self.length));
        if at >= end {
            self.close(at, end);
        }
        self.here += 1;
    }

    #[cold]
    fn close(&mut self, at: u64, end: u64) {
        self.active += u64::from(self.here > 0);
        self.peak = self.peak.max(self.here);
        self.sum += self.here;
        self.squares += self.here as f64 * self.here as f64;
        self.here = 0;
        let passed = 1 + (at - end) / self.length;
        self.whole += passed;
        self.end = Some(end.saturating_add(passed.saturating_mul(self.length)));
    }

    fn finish(&self) -> document::Windows {
        let enough = self.whole > 0 && self.sum > 0;
        let mean = self.sum as f64 / self.whole as f64;
        document::Windows {
            windows: self.whole,
            active_share: share(self.active, self.whole),
            peak_to_mean: enough.then(|| self.peak as f64 / mean),
            dispersion: (enough && self.whole > 1).then(|| {
                let whole = self.whole as f64;
                (self.squares - whole * mean * mean).max(0.0) / (whole - 1.0) / mean
            }),
        }
    }
}

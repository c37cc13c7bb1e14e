//! How requests come: gaps, and counts in windows.

use super::document;
use super::ratio::share;
use super::sum::{Series, Sum, sums};
use seekwell_io::histogram::Histogram;
use seekwell_io::units::Nanos;

/// A second, in nanoseconds.
pub(super) const SECOND_NS: u64 = 1_000_000_000;

/// The lengths of windows.
const WINDOWS_NS: [u64; 2] = [SECOND_NS, 60 * SECOND_NS];

sums! {
    /// Times of arrival: gaps on each device, and all arrivals in windows of the epoch.
    struct Arrivals {
        gaps: Histogram,
        squares: u128,
        /// Of a second and a minute.
        windows: [Series; 2],
    }
}

/// What is remembered of the arrivals at one device.
#[derive(Debug, Default)]
pub(super) struct Coming {
    last: Option<u64>,
    /// Which window of each length it is in, and the arrivals in it so far.
    windows: [(u64, u64); 2],
}

impl Arrivals {
    /// One arrival, not before the last at this device.
    #[inline]
    pub fn add(&mut self, device: &mut Coming, at: u64) {
        if let Some(last) = device.last {
            let gap = at - last;
            self.gaps.record(Nanos(gap));
            self.squares.merge(u128::from(gap).pow(2));
        }
        device.last = Some(at);
        let [(second, seconds), (_, minutes)] = &mut device.windows;
        if at / SECOND_NS != *second {
            self.leave(device, at);
        } else {
            *seconds += 1;
            *minutes += 1;
        }
    }

    #[cold]
    fn leave(&mut self, device: &mut Coming, at: u64) {
        for ((here, n), (series, ns)) in
            device.windows.iter_mut().zip(self.windows.iter_mut().zip(WINDOWS_NS))
        {
            if at / ns != *here {
                if *n > 0 {
                    series.add(*here, *n);
                }
                (*here, *n) = (at / ns, 0);
            }
            *n += 1;
        }
    }

    /// Nothing more arrives at this device.
    pub fn end(&mut self, device: &mut Coming) {
        for ((here, n), series) in device.windows.iter_mut().zip(&mut self.windows) {
            let n = std::mem::take(n);
            if n > 0 {
                series.add(*here, n);
            }
        }
    }

    /// Of arrivals between these two.
    pub fn finish(&self, first: u64, last: u64) -> Option<document::Arrivals> {
        let mean = self.gaps.mean_ns()?;
        let variance = (self.squares as f64 / self.gaps.count() as f64 - mean * mean).max(0.0);
        let quantile = |q| self.gaps.quantile(q).map(|ns| ns.0);
        let [seconds, minutes] = &self.windows;
        let [per_second, per_minute] =
            [(seconds, WINDOWS_NS[0]), (minutes, WINDOWS_NS[1])].map(|(series, ns)| {
                // The clock of a trace does not begin before zero: that window is whole.
                let from = if first < ns { 0 } else { first.div_ceil(ns) };
                windows(series.between(from, last / ns))
            });
        Some(document::Arrivals {
            gap_ns_mean: mean,
            gap_ns_p50: quantile(0.5),
            gap_ns_p99: quantile(0.99),
            gap_variation: (mean > 0.0).then(|| variance.sqrt() / mean),
            per_second,
            per_minute,
        })
    }
}

/// What whole windows show.
fn windows(counts: &[u64]) -> document::Windows {
    let whole = counts.len() as u64;
    let sum: u128 = counts.iter().map(|n| u128::from(*n)).sum();
    let squares: f64 = counts.iter().map(|n| (*n as f64).powi(2)).sum();
    let active = counts.iter().filter(|n| **n > 0).count() as u64;
    let mean = sum as f64 / whole as f64;
    let peak = counts.iter().max().copied().unwrap_or(0);
    document::Windows {
        windows: whole,
        active_share: share(active, whole),
        peak_to_mean: (sum > 0).then(|| peak as f64 / mean),
        dispersion: (sum > 0 && whole > 1).then(|| {
            let whole = whole as f64;
            (squares - whole * mean * mean).max(0.0) / (whole - 1.0) / mean
        }),
    }
}

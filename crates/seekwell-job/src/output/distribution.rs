//! What fio prints of a distribution, from its bins. Ours are fio's own (64 to a power of two, 29
//! groups), so counts and their mid-points are exact.

use seekwell_io::histogram::{BINS, Histogram};
use serde::ser::{Serialize, Serializer};

/// Bins of a histogram: number of the bin and its count, in order.
pub(super) type Bins = [(u32, u64)];

/// Percentiles fio gives by default.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// Upper ends of the classes of nanoseconds and microseconds.
const SMALL: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
/// Upper ends of the classes of milliseconds; what is longer has a class of its own.
const MILLISECONDS: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];

/// A JSON object whose keys stay in this order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ordered<V>(pub(super) Vec<(String, V)>);

impl<V: Serialize> Serialize for Ordered<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// The middle of a bin in nanoseconds; past the last bin, that of the last.
fn middle(bin: u32) -> u64 {
    Histogram::middle_of((bin as usize).min(BINS - 1))
}

/// Values in a histogram.
pub(super) fn total(bins: &Bins) -> u64 {
    bins.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n))
}

/// Counts by the middle of their bin in nanoseconds, as json+ has them.
pub(super) fn by_middle(bins: &Bins) -> Ordered<u64> {
    Ordered(bins.iter().map(|(bin, n)| (middle(*bin).to_string(), *n)).collect())
}

/// fio's list of percentiles: for each, the middle of the first bin up to which that share of all
/// values lies. One with fewer than 10 values beyond it on either side would be an accident and is
/// left out.
pub(super) fn percentiles(bins: &Bins) -> Ordered<u64> {
    let total = total(bins);
    let known = PERCENTILES.into_iter().filter(|p| {
        let rarer = p.min(100.0 - p) / 100.0;
        total as f64 * rarer >= 10.0 - 1e-6
    });
    let (mut seen, mut value) = (0_u64, 0);
    let mut at = bins.iter();
    let found = known.map(|percent| {
        while (seen as f64) < percent / 100.0 * total as f64 {
            let Some((bin, n)) = at.next() else { break };
            seen = seen.saturating_add(*n);
            value = middle(*bin);
        }
        (format!("{percent:.6}"), value)
    });
    Ordered(found.collect())
}

/// Standard deviation of the values, each taken as the middle of its bin.
pub(super) fn deviation(bins: &Bins) -> f64 {
    let total = total(bins) as f64;
    if total < 2.0 {
        return 0.0;
    }
    let values = || bins.iter().map(|(bin, n)| (middle(*bin) as f64, *n as f64));
    let mean = values().map(|(value, n)| value * n).sum::<f64>() / total;
    let squares: f64 = values().map(|(value, n)| (value - mean) * (value - mean) * n).sum();
    (squares / (total - 1.0)).sqrt()
}

/// Shares of all latencies in percent, by fio's classes: below a microsecond, below a millisecond,
/// and longer. A bin counts where its middle lies.
pub(super) struct Classes {
    pub(super) ns: Ordered<f64>,
    pub(super) us: Ordered<f64>,
    pub(super) ms: Ordered<f64>,
}

/// Sorts the requests of several histograms into classes.
pub(super) fn classes<'a>(histograms: impl Iterator<Item = &'a Bins>) -> Classes {
    let mut counts = [[0_u64; 12]; 3];
    for (bin, n) in histograms.flatten() {
        let ns = middle(*bin);
        let (unit, value, ends) = match ns {
            0..1_000 => (0, ns, &SMALL[..]),
            1_000..1_000_000 => (1, ns / 1_000, &SMALL[..]),
            _ => (2, ns / 1_000_000, &MILLISECONDS[..]),
        };
        let count = &mut counts[unit][ends.partition_point(|end| *end <= value)];
        *count = count.saturating_add(*n);
    }
    let total = counts.iter().flatten().map(|n| *n as f64).sum::<f64>().max(1.0);
    let shares = |unit: usize, ends: &[u64]| {
        let labels = ends.iter().map(u64::to_string);
        let last = (unit == 2).then(|| ">=2000".to_owned());
        let share = |n: &u64| 100.0 * *n as f64 / total;
        Ordered(labels.chain(last).zip(counts[unit].iter().map(share)).collect())
    };
    Classes { ns: shares(0, &SMALL), us: shares(1, &SMALL), ms: shares(2, &MILLISECONDS) }
}

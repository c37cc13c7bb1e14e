//! Latency histogram: a fixed log-linear array with fio's geometry, 64 linear sub-bins for each
//! power of two in 29 groups, so bins exported to its consumers are exact.
//!
//! A value below 128 has a bin of its own; above, a bin is 2^(k-6) wide for values in [2^k,
//! 2^(k+1)), so its middle is within 1/128 of every value in it. Values from 2^35 (34 s) on share
//! the last bin; minimum, maximum and mean stay exact.

use crate::units::Nanos;

/// Sub-bins for each power of two, as a power of two.
const SUB_BITS: u32 = 6;
const SUB: usize = 1 << SUB_BITS;
const GROUPS: usize = 29;
/// Number of bins.
pub const BINS: usize = SUB * GROUPS;

/// Counts of latencies in nanoseconds. About 15 kB; recording neither allocates nor branches on
/// data.
#[derive(Clone, PartialEq)]
pub struct Histogram {
    bins: Box<[u64; BINS]>,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.min(), self.max()) {
            (Some(min), Some(max)) => write!(f, "Histogram({} values, {min}..{max})", self.count),
            _ => write!(f, "Histogram(empty)"),
        }
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self { bins: Box::new([0; BINS]), count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }
}

impl Histogram {
    /// The bin a value falls in.
    #[inline]
    pub const fn bin_of(ns: u64) -> usize {
        let top = 63 - (ns | 1).leading_zeros();
        if top <= SUB_BITS {
            return ns as usize;
        }
        let shift = top - SUB_BITS;
        let bin = ((shift as usize + 1) << SUB_BITS) + ((ns >> shift) as usize & (SUB - 1));
        if bin < BINS { bin } else { BINS - 1 }
    }

    /// The value in the middle of a bin.
    pub const fn middle_of(bin: usize) -> u64 {
        if bin < 2 * SUB {
            return bin as u64;
        }
        let shift = (bin >> SUB_BITS) as u32 - 1;
        let base = 1u64 << (shift + SUB_BITS);
        base + ((bin & (SUB - 1)) as u64) * (1 << shift) + (1 << (shift - 1))
    }

    /// Adds the same latency `n` times.
    pub fn record_many(&mut self, latency: Nanos, n: u64) {
        let ns = latency.0;
        self.bins[Self::bin_of(ns)] += n;
        self.count += n;
        self.sum_ns += u128::from(ns) * u128::from(n);
        if n > 0 {
            self.min_ns = self.min_ns.min(ns);
            self.max_ns = self.max_ns.max(ns);
        }
    }

    /// Adds one latency.
    #[inline]
    pub fn record(&mut self, latency: Nanos) {
        let ns = latency.0;
        self.bins[Self::bin_of(ns)] += 1;
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds all of another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.bins.iter_mut().zip(other.bins.iter()) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// How many values each bin holds.
    pub(crate) const fn bins(&self) -> &[u64; BINS] {
        &self.bins
    }

    /// How many values were recorded.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The smallest value, exact.
    pub fn min(&self) -> Option<Nanos> {
        (self.count > 0).then_some(Nanos(self.min_ns))
    }

    /// The largest value, exact.
    pub fn max(&self) -> Option<Nanos> {
        (self.count > 0).then_some(Nanos(self.max_ns))
    }

    /// The mean in nanoseconds, exact but for rounding.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The value below which a share `q` of all values lie, within 1/128, or `None` if fewer
    /// than 10/(1−q) values were recorded: a rarer quantile would be an accident.
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        assert!((0.0..1.0).contains(&q), "a quantile lies in [0, 1)");
        if (self.count as f64) < 10.0 / (1.0 - q) - 1e-6 {
            return None;
        }
        let rank = ((q * self.count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (bin, &n) in self.bins.iter().enumerate() {
            seen += n;
            if seen >= rank {
                return Some(Nanos(Self::middle_of(bin).clamp(self.min_ns, self.max_ns)));
            }
        }
        Some(Nanos(self.max_ns))
    }

    /// The sum in nanoseconds, exact.
    pub const fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Puts together what [`Self::sparse`], [`Self::sum_ns`], [`Self::min`] and [`Self::max`]
    /// returned, the last two zero of no values. `None` if a bin does not exist or there are too
    /// many values.
    pub fn from_parts(bins: &[(u32, u64)], sum_ns: u128, min: Nanos, max: Nanos) -> Option<Self> {
        let mut made = Self { sum_ns, ..Self::default() };
        for (bin, n) in bins {
            *made.bins.get_mut(*bin as usize)? = *n;
            made.count = made.count.checked_add(*n)?;
        }
        if made.count > 0 {
            (made.min_ns, made.max_ns) = (min.0, max.0);
        }
        (made.min_ns <= made.max_ns || made.count == 0).then_some(made)
    }

    /// The bins that are not empty: number of the bin and how many values it holds.
    pub fn sparse(&self) -> Vec<(u32, u64)> {
        let used = self.bins.iter().enumerate().filter(|(_, n)| **n > 0);
        used.map(|(bin, n)| (bin as u32, *n)).collect()
    }
}

#[cfg(test)]
mod tests;

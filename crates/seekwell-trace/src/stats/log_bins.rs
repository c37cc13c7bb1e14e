//! A histogram over all of `u64`: distances and times that seekwell-io's latencies (at most 34 s)
//! do not reach.

use super::sum::{Counts, Sum, sums, total};

/// Sub-bins for each power of two, as a power of two: a bin is within 1/32 of its middle.
const SUB_BITS: u32 = 4;
const SUB: usize = 1 << SUB_BITS;
const BINS: usize = SUB * (64 - SUB_BITS as usize + 1);

sums! {
    /// Counts in 16 bins for each power of two; a value below 32 has a bin of its own.
    struct LogBins {
        bins: Counts<BINS>,
        sum: u128,
    }
}

const fn bin_of(value: u64) -> usize {
    let top = 63 - (value | 1).leading_zeros();
    if top <= SUB_BITS {
        return value as usize;
    }
    let shift = top - SUB_BITS;
    ((shift as usize + 1) << SUB_BITS) + ((value >> shift) as usize & (SUB - 1))
}

/// The smallest value of a bin.
const fn low_of(bin: usize) -> u64 {
    if bin < 2 * SUB {
        return bin as u64;
    }
    let shift = (bin >> SUB_BITS) as u32 - 1;
    (SUB as u64 + (bin & (SUB - 1)) as u64) << shift
}

/// The largest value of a bin.
const fn high_of(bin: usize) -> u64 {
    if bin + 1 < BINS { low_of(bin + 1) - 1 } else { u64::MAX }
}

fn middle_of(bin: usize) -> u64 {
    low_of(bin) + (high_of(bin) - low_of(bin)) / 2
}

impl LogBins {
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.bins.0[bin_of(value)] += 1;
        self.sum += u128::from(value);
    }

    /// Adds one value several times.
    pub fn add_many(&mut self, value: u64, times: u64) {
        self.bins.0[bin_of(value)].merge(times);
        self.sum.merge(u128::from(value) * u128::from(times));
    }

    pub fn count(&self) -> u64 {
        total(&self.bins.0)
    }

    pub fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum as f64 / count as f64)
    }

    /// The middle of the bin that holds quantile `q`, or `None` below 10/(1−q) values.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let count = self.count() as f64;
        if count < 10.0 / (1.0 - q) - 1e-6 {
            return None;
        }
        let mut seen = 0.0;
        let found = self.used().find(|(_, n)| {
            seen += *n as f64;
            seen >= q * count
        });
        found.or_else(|| self.used().last()).map(|(bin, _)| middle_of(bin))
    }

    fn used(&self) -> impl Iterator<Item = (usize, u64)> {
        self.bins.0.iter().copied().enumerate().filter(|(_, n)| *n > 0)
    }

    /// Count of each power of two that has any: lower end (0 for zero) and count.
    pub fn powers_of_two(&self) -> Vec<(u64, u64)> {
        let mut out: Vec<(u64, u64)> = Vec::new();
        for (bin, n) in self.used() {
            let low = low_of(bin);
            let power = if low == 0 { 0 } else { 1 << low.ilog2() };
            match out.last_mut() {
                Some((at, sum)) if *at == power => *sum = sum.saturating_add(n),
                _ => out.push((power, n)),
            }
        }
        out
    }

    /// Lower end and count of every bin that has any.
    pub fn sparse(&self) -> impl Iterator<Item = (u64, u64)> {
        self.used().map(|(bin, n)| (low_of(bin), n))
    }

    /// For the first `bins` bins: the largest value of each, and the count at or below it.
    pub fn cumulative(&self, bins: usize) -> Vec<(u64, u64)> {
        let mut seen = 0_u64;
        let up_to = |(bin, n): (usize, &u64)| {
            seen = seen.saturating_add(*n);
            (high_of(bin), seen)
        };
        self.bins.0.iter().take(bins).enumerate().map(up_to).collect()
    }

    /// Bins up to the last used one.
    pub fn len(&self) -> usize {
        self.bins.0.iter().rposition(|n| *n > 0).map_or(0, |at| at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_touch_and_cover_everything() {
        for bin in 0..BINS - 1 {
            assert_eq!(bin_of(low_of(bin)), bin);
            assert_eq!(bin_of(low_of(bin + 1) - 1), bin);
        }
        assert_eq!(bin_of(u64::MAX), BINS - 1);
    }

    #[test]
    fn quantiles_are_within_a_bin_and_wait_for_enough_values() {
        let mut bins = LogBins::default();
        (1..=999).for_each(|v| bins.add(v * 1000));
        assert_eq!(bins.quantile(0.99), None);
        bins.add(1_000_000);
        for (q, exact) in [(0.5, 500e3), (0.9, 900e3), (0.99, 990e3)] {
            let got = bins.quantile(q).unwrap() as f64;
            assert!((got / exact - 1.0).abs() <= 1.0 / 32.0, "{q}: {got}");
        }
        assert!((bins.mean().unwrap() - 500_500.0).abs() < 1.0);
    }

    #[test]
    fn a_value_added_several_times_counts_as_often() {
        let mut bins = LogBins::default();
        bins.add_many(3, 8);
        bins.add_many(1 << 40, 2);
        assert_eq!(bins.powers_of_two(), [(2, 8), (1 << 40, 2)]);
        assert_eq!(bins.cumulative(bins.len())[3], (3, 8));
        assert_eq!(bins.cumulative(bins.len()).last().unwrap().1, 10);
    }
}

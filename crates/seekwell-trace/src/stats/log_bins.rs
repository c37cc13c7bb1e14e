//! A histogram over all of `u64` with weights: distances and times that seekwell-io's latencies
//! (at most 34 s) do not reach, of which a sample may stand for many.

/// Sub-bins for each power of two, as a power of two: a bin is within 1/32 of its middle.
const SUB_BITS: u32 = 4;
const SUB: usize = 1 << SUB_BITS;
const BINS: usize = SUB * (64 - SUB_BITS as usize + 1);

/// Weighted counts in 16 bins for each power of two; a value below 32 has a bin of its own.
#[derive(Debug, Clone)]
pub(super) struct LogBins {
    bins: Box<[f64]>,
    sum: f64,
    values: u64,
}

impl Default for LogBins {
    fn default() -> Self {
        Self { bins: vec![0.0; BINS].into_boxed_slice(), sum: 0.0, values: 0 }
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

impl LogBins {
    #[inline]
    pub fn add(&mut self, value: u64, weight: f64) {
        self.bins[bin_of(value)] += weight;
        self.sum += value as f64 * weight;
        self.values += 1;
    }

    /// What the values stand for.
    pub fn weight(&self) -> f64 {
        self.bins.iter().sum()
    }

    /// Adds one value several times.
    pub fn add_many(&mut self, value: u64, times: u64) {
        self.bins[bin_of(value)] += times as f64;
        self.sum += value as f64 * times as f64;
        self.values += times;
    }

    /// Adds all of another.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.bins.iter_mut().zip(&other.bins) {
            *mine += theirs;
        }
        self.sum += other.sum;
        self.values += other.values;
    }

    pub fn mean(&self) -> Option<f64> {
        let weight = self.weight();
        (weight > 0.0).then(|| self.sum / weight)
    }

    /// The middle of the bin that holds quantile `q`, or `None` below 10/(1−q) values.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if (self.values as f64) < 10.0 / (1.0 - q) - 1e-6 {
            return None;
        }
        let rank = q * self.weight();
        let mut seen = 0.0;
        let last = self.bins.iter().rposition(|n| *n > 0.0)?;
        for (bin, n) in self.bins[..=last].iter().enumerate() {
            seen += n;
            if *n > 0.0 && seen >= rank {
                return Some(middle_of(bin));
            }
        }
        Some(middle_of(last))
    }

    /// Weight of each power of two that has any: lower end (0 for zero) and weight.
    pub fn powers_of_two(&self) -> Vec<(u64, f64)> {
        let mut out: Vec<(u64, f64)> = Vec::new();
        for (bin, n) in self.bins.iter().enumerate().filter(|(_, n)| **n > 0.0) {
            let low = low_of(bin);
            let power = if low == 0 { 0 } else { 1 << low.ilog2() };
            match out.last_mut() {
                Some((at, sum)) if *at == power => *sum += n,
                _ => out.push((power, *n)),
            }
        }
        out
    }

    /// For every bin up to the last used one: its largest value, and the weight at or below it.
    pub fn cumulative(&self) -> Vec<(u64, f64)> {
        let last = self.bins.iter().rposition(|n| *n > 0.0).map_or(0, |at| at + 1);
        let mut seen = 0.0;
        let up_to = |(bin, n): (usize, &f64)| {
            seen += n;
            (if bin + 1 < BINS { low_of(bin + 1) - 1 } else { u64::MAX }, seen)
        };
        self.bins[..last].iter().enumerate().map(up_to).collect()
    }
}

fn middle_of(bin: usize) -> u64 {
    let low = low_of(bin);
    let high = if bin + 1 < BINS { low_of(bin + 1) - 1 } else { u64::MAX };
    low + (high - low) / 2
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
        (1..=999).for_each(|v| bins.add(v * 1000, 1.0));
        assert_eq!(bins.quantile(0.99), None);
        bins.add(1_000_000, 1.0);
        for (q, exact) in [(0.5, 500e3), (0.9, 900e3), (0.99, 990e3)] {
            let got = bins.quantile(q).unwrap() as f64;
            assert!((got / exact - 1.0).abs() <= 1.0 / 32.0, "{q}: {got}");
        }
        assert!((bins.mean().unwrap() - 500_500.0).abs() < 1.0);
    }

    #[test]
    fn a_value_that_stands_for_several_counts_as_often() {
        let mut bins = LogBins::default();
        bins.add(3, 8.0);
        bins.add(1 << 40, 2.0);
        assert_eq!(bins.powers_of_two(), [(2, 8.0), (1 << 40, 2.0)]);
        assert_eq!(bins.cumulative()[3], (3, 8.0));
        assert_eq!(bins.cumulative().last().unwrap().1, 10.0);
    }
}

//! Counts by index with their running sums: draws an index with a chance proportional to its count.
//! Source: P. M. Fenwick, "A New Data Structure for Cumulative Frequency Tables", Software:
//! Practice and Experience 24 (1994).

/// Counts by index; four bytes each, and a change or draw takes log₂ of their number steps.
#[derive(Debug, Clone)]
pub struct Fenwick {
    /// `sums[i]` is the sum of the counts of the `i & -i` indices that end below `i`.
    sums: Vec<u64>,
    counts: Vec<u32>,
    total: u64,
}

impl Fenwick {
    /// These counts.
    pub fn new(counts: Vec<u32>) -> Self {
        let mut sums = vec![0_u64; counts.len().next_power_of_two() + 1];
        for (index, count) in counts.iter().enumerate() {
            sums[index + 1] += u64::from(*count);
        }
        for index in 1..sums.len() {
            let above = index + (index & index.wrapping_neg());
            if above < sums.len() {
                sums[above] += sums[index];
            }
        }
        let total = counts.iter().map(|count| u64::from(*count)).sum();
        Self { sums, counts, total }
    }

    /// The sum of all counts.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// One count.
    pub fn get(&self, index: u32) -> u32 {
        self.counts[index as usize]
    }

    /// Makes a count larger.
    pub fn add(&mut self, index: u32, by: u32) {
        self.counts[index as usize] += by;
        self.total += u64::from(by);
        let mut at = index as usize + 1;
        while at < self.sums.len() {
            self.sums[at] += u64::from(by);
            at += at & at.wrapping_neg();
        }
    }

    /// Makes a count smaller.
    pub fn subtract(&mut self, index: u32, by: u32) {
        self.counts[index as usize] -= by;
        self.total -= u64::from(by);
        let mut at = index as usize + 1;
        while at < self.sums.len() {
            self.sums[at] -= u64::from(by);
            at += at & at.wrapping_neg();
        }
    }

    /// Takes one from the count that holds the `rank`-th of all, `rank` below the total; returns
    /// its index.
    pub fn take(&mut self, mut rank: u64) -> u32 {
        let mut step = self.sums.len() - 1;
        let mut at = 0;
        self.total -= 1;
        while step > 0 {
            // The sums on the way down that cover the index sought are exactly those not skipped.
            let probe = at + step;
            if probe < self.sums.len() && self.sums[probe] <= rank {
                rank -= self.sums[probe];
                at = probe;
            } else if probe < self.sums.len() {
                self.sums[probe] -= 1;
            }
            step /= 2;
        }
        self.counts[at] -= 1;
        at as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_draw_hits_the_count_that_a_walk_along_all_counts_would_hit(
            counts in prop::collection::vec(0_u32..5, 1..40),
            ranks in prop::collection::vec(any::<u64>(), 0..60),
        ) {
            let mut tree = Fenwick::new(counts.clone());
            let mut plain = counts;
            for rank in ranks {
                let total: u64 = plain.iter().map(|count| u64::from(*count)).sum();
                prop_assert_eq!(tree.total(), total);
                if total == 0 {
                    tree.add(0, 3);
                    plain[0] += 3;
                    continue;
                }
                let mut left = rank % total;
                let expected = plain.iter().position(|count| {
                    let here = left < u64::from(*count);
                    if !here {
                        left -= u64::from(*count);
                    }
                    here
                });
                let hit = tree.take(rank % total);
                prop_assert_eq!(Some(hit as usize), expected);
                plain[hit as usize] -= 1;
                prop_assert_eq!(tree.get(hit), plain[hit as usize]);
            }
        }
    }
}

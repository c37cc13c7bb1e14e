//! Counts by index, from which one is drawn with a chance proportional to its count.
//!
//! A draw first guesses: an index and a rank below the highest count there can be, both evenly,
//! and takes the index if its count is above the rank (J. von Neumann, "Various Techniques Used in
//! Connection with Random Digits", 1951). In a drive that is nearly full most guesses hit. Where
//! some miss, the draw walks along sums of groups of counts and then along one group. Both ways
//! take every one of what is counted with the same chance.

use rand_core::RngCore;

/// Guesses before a walk.
const GUESSES: u32 = 3;

/// Counts and their sums by groups of about as many indices as there are groups.
#[derive(Debug, Clone)]
pub struct Tallies {
    counts: Vec<u32>,
    /// The highest count that any index can have.
    most: u32,
    /// Indices of a group, as a power of two.
    group_bits: u32,
    groups: Vec<u64>,
    total: u64,
}

impl Tallies {
    /// These counts, none of which is, or will be, above `most`.
    pub fn new(counts: Vec<u32>, most: u32) -> Self {
        let group_bits = counts.len().max(1).ilog2().div_ceil(2);
        let sum = |group: &[u32]| group.iter().map(|count| u64::from(*count)).sum();
        let groups: Vec<u64> = counts.chunks(1 << group_bits).map(sum).collect();
        let total = groups.iter().sum();
        Self { counts, most, group_bits, groups, total }
    }

    /// The sum of all counts.
    #[cfg(test)]
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
        self.groups[(index >> self.group_bits) as usize] += u64::from(by);
        self.total += u64::from(by);
    }

    /// Makes a count smaller.
    pub fn subtract(&mut self, index: u32, by: u32) {
        self.counts[index as usize] -= by;
        self.groups[(index >> self.group_bits) as usize] -= u64::from(by);
        self.total -= u64::from(by);
    }

    /// Takes one of all that is counted, of which there must be some; returns its index.
    pub fn draw(&mut self, rng: &mut impl RngCore) -> u32 {
        let indices = self.counts.len() as u64;
        for _ in 0..GUESSES {
            let random = rng.next_u64();
            let index = ((random >> 32) * indices) >> 32;
            let rank = ((random & u64::from(u32::MAX)) * u64::from(self.most)) >> 32;
            if u64::from(self.counts[index as usize]) > rank {
                self.subtract(index as u32, 1);
                return index as u32;
            }
        }
        let rank = (u128::from(rng.next_u64()) * u128::from(self.total)) >> 64;
        let index = self.at(rank as u64);
        self.subtract(index, 1);
        index
    }

    /// The index that holds the `rank`-th of all, `rank` below the total.
    fn at(&self, mut rank: u64) -> u32 {
        let mut group = 0;
        while self.groups[group] <= rank {
            rank -= self.groups[group];
            group += 1;
        }
        let mut index = group << self.group_bits;
        while u64::from(self.counts[index]) <= rank {
            rank -= u64::from(self.counts[index]);
            index += 1;
        }
        index as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    proptest! {
        #[test]
        fn sums_hold_whatever_is_added_taken_and_drawn(
            counts in prop::collection::vec(0_u32..5, 1..70),
            steps in prop::collection::vec(any::<(u32, bool)>(), 0..60),
            seed: u64,
        ) {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut plain = counts.clone();
            let mut tallies = Tallies::new(counts, 9);
            for (step, adds) in steps {
                let index = step % plain.len() as u32;
                if adds && plain[index as usize] < 9 {
                    tallies.add(index, 1);
                    plain[index as usize] += 1;
                } else if tallies.total() > 0 {
                    plain[tallies.draw(&mut rng) as usize] -= 1;
                }
                let total: u64 = plain.iter().map(|count| u64::from(*count)).sum();
                prop_assert_eq!(tallies.total(), total);
                prop_assert!((0..plain.len()).all(|i| tallies.get(i as u32) == plain[i]));
                let mut walked = 0;
                for (index, count) in plain.iter().enumerate().filter(|(_, count)| **count > 0) {
                    prop_assert_eq!(tallies.at(walked), index as u32);
                    walked += u64::from(*count);
                    prop_assert_eq!(tallies.at(walked - 1), index as u32);
                }
            }
        }
    }

    #[test]
    fn everything_counted_is_drawn_equally_often_full_or_nearly_empty() {
        for most in [4, 400] {
            let counts = [4, 0, 1, 3, 0, 2];
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
            let mut drawn = [0_u32; 6];
            for _ in 0..100_000 {
                let index = Tallies::new(counts.to_vec(), most).draw(&mut rng);
                drawn[index as usize] += 1;
            }
            for (times, count) in drawn.iter().zip(counts) {
                let expected = f64::from(count) * 10_000.0;
                // Four standard deviations and more of the most frequent.
                assert!((f64::from(*times) - expected).abs() < 650.0, "{drawn:?} of {counts:?}");
            }
        }
    }
}

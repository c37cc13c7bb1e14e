//! Data that come again, so that storage which keeps equal blocks once has something to find
//! (`dedupe_percentage`).
//!
//! Data are named by the seed of the clone that is the first to write them and a number of its own,
//! from which they are generated again each time they repeat.

use crate::job::{Dedupe, Repeats};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use seekwell_io::workload::below;

/// Chooses what each write holds.
#[derive(Debug)]
pub struct Repeated {
    rule: Dedupe,
    seed: u64,
    /// Of the clones whose data come again here; empty for its own alone.
    seeds: Vec<u64>,
    choice: Xoshiro256PlusPlus,
    /// How many data were new so far.
    made: u64,
}

impl Repeated {
    /// For the clone of `seed`; `seeds` are those of all clones that share what they repeat.
    pub fn new(rule: Dedupe, seed: u64, seeds: &[u64]) -> Self {
        let seeds = if rule.is_shared() { seeds.to_vec() } else { Vec::new() };
        let choice = Xoshiro256PlusPlus::seed_from_u64(!seed);
        Self { rule, seed, seeds, choice, made: 0 }
    }

    /// What the data of the next write are drawn from.
    pub fn next(&mut self) -> Xoshiro256PlusPlus {
        let comes_again = below(&mut self.choice, 100) < u64::from(self.rule.percent);
        let (seed, number) = match self.rule.repeats {
            Repeats::Last if comes_again && self.made > 0 => (self.seed, self.made - 1),
            Repeats::Set { writes, .. } if comes_again => {
                let drawn = below(&mut self.choice, writes);
                let clones = self.seeds.len() as u64;
                match clones {
                    0 => (self.seed, drawn),
                    _ => (self.seeds[(drawn % clones) as usize], drawn / clones),
                }
            }
            Repeats::Last | Repeats::Set { .. } => {
                self.made += 1;
                (self.seed, self.made - 1)
            }
        };
        let name = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Xoshiro256PlusPlus::seed_from_u64(seed ^ name.rotate_left(17))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::RngCore;
    use std::collections::{HashMap, HashSet};

    /// What each of the first `writes` writes of clones with these seeds holds.
    fn data(rule: Dedupe, seeds: &[u64], writes: usize) -> Vec<Vec<u64>> {
        let one = |seed: &u64| {
            let mut repeated = Repeated::new(rule, *seed, seeds);
            (0..writes).map(|_| repeated.next().next_u64()).collect()
        };
        seeds.iter().map(one).collect()
    }

    /// Share of writes whose data were there before, per cent.
    fn duplicates<'d>(data: impl IntoIterator<Item = &'d u64>) -> f64 {
        let data: Vec<u64> = data.into_iter().copied().collect();
        let unique: HashSet<u64> = data.iter().copied().collect();
        100.0 - 100.0 * unique.len() as f64 / data.len() as f64
    }

    #[test]
    fn as_many_writes_as_asked_for_repeat_the_last_new_data() {
        for percent in [1, 30, 75, 100] {
            let data = data(Dedupe { percent, repeats: Repeats::Last }, &[7], 20_000);
            let found = duplicates(&data[0]);
            assert!((found - f64::from(percent)).abs() < 1.5, "{found} % of {percent} %");
        }
    }

    #[test]
    fn a_working_set_has_as_many_data_as_its_share_and_they_come_from_all_of_it() {
        let repeats = Repeats::Set { writes: 500, shared: false };
        let data = data(Dedupe { percent: 50, repeats }, &[7], 20_000);
        assert!((duplicates(&data[0]) - 50.0).abs() < 1.5, "{}", duplicates(&data[0]));
        let mut times = HashMap::new();
        data[0].iter().for_each(|value| *times.entry(value).or_insert(0) += 1);
        let often = times.values().filter(|times| **times > 1).count();
        assert!(often > 490 && often <= 500, "{often}");
    }

    #[test]
    fn clones_repeat_each_others_data_where_they_share_them_and_never_else() {
        let both = |shared| {
            let repeats = Repeats::Set { writes: 200, shared };
            let data = data(Dedupe { percent: 50, repeats }, &[7, 8], 10_000);
            let own: Vec<f64> = data.iter().map(duplicates).collect();
            (own[0], duplicates(data.iter().flatten()))
        };
        let (own, together) = both(true);
        assert!((own - 49.0).abs() < 2.0 && (together - 50.0).abs() < 1.5, "{own} {together}");
        let shared = |rule| -> bool {
            let data = data(rule, &[7, 8], 1000);
            data[0].iter().any(|value| data[1].contains(value))
        };
        let rule = |shared| {
            let repeats = Repeats::Set { writes: 200, shared };
            Dedupe { percent: 50, repeats }
        };
        assert!(shared(rule(true)) && !shared(rule(false)));
    }
}

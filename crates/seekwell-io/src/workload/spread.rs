//! Which of many blocks the next request goes to, where blocks may repeat.

use super::draw::{below, uniform};
use rand_distr::{Distribution, Normal, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A prime larger than any number of blocks, to scatter ranks over the region one to one.
const SCATTER: u64 = 18_446_744_073_709_551_557;

/// How blocks are preferred.
#[derive(Debug, Clone, PartialEq)]
pub enum Law {
    /// Not at all.
    Uniform,
    /// The block of rank k with probability proportional to 1/k^theta.
    Zipf {
        /// The skew, above 0.
        theta: f64,
        /// The block of rank 1, as a share of the region; none scatters ranks over it.
        centre: Option<f64>,
    },
    /// A share 1 − h of the requests goes to a share h of the blocks, and so on within these:
    /// rank (n − 1)·u^(ln h / ln(1 − h)) for u uniform.
    Pareto {
        /// h, above 0 and below 1.
        power: f64,
        /// The block of rank 1, as a share of the region; none scatters ranks over it.
        centre: Option<f64>,
    },
    /// A bell, as shares of the region; what falls beyond an end is drawn again.
    Normal {
        /// Standard deviation, above 0.
        deviation: f64,
        /// The middle.
        centre: f64,
    },
    /// Zones with weights, uniform within each.
    Zoned(Vec<Zone>),
}

/// A stretch of blocks and how often requests go there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone {
    /// Its first block.
    pub first: u64,
    /// How many.
    pub blocks: u64,
    /// Against the other zones.
    pub weight: u64,
}

/// A law over a number of blocks.
#[derive(Debug, Clone)]
pub struct Spread {
    blocks: u64,
    way: Way,
}

#[derive(Debug, Clone)]
enum Way {
    Uniform,
    Zipf { law: Zipf<f64>, first: Option<u64> },
    Pareto { exponent: f64, first: Option<u64> },
    Normal(Normal<f64>),
    Zoned { zones: Vec<Zone>, weights: u64 },
}

impl Spread {
    /// `law` over `blocks`, at least one. A law that makes no sense for them is uniform.
    pub fn new(law: &Law, blocks: u64) -> Self {
        let first = |centre: &Option<f64>| centre.map(|c| (blocks as f64 * c) as u64 % blocks);
        let way = match law {
            Law::Uniform => Way::Uniform,
            Law::Zipf { theta, centre } => match Zipf::new(blocks as f64, *theta) {
                Ok(law) => Way::Zipf { law, first: first(centre) },
                Err(_) => Way::Uniform,
            },
            Law::Pareto { power, centre } => {
                Way::Pareto { exponent: power.ln() / (1.0 - power).ln(), first: first(centre) }
            }
            Law::Normal { deviation, centre } => {
                let (middle, deviation) = (blocks as f64 * centre, blocks as f64 * deviation);
                Normal::new(middle, deviation).map_or(Way::Uniform, Way::Normal)
            }
            Law::Zoned(zones) => {
                let inside = |z: &&Zone| z.blocks > 0 && z.weight > 0 && z.first < blocks;
                let cut = |z: &Zone| Zone { blocks: z.blocks.min(blocks - z.first), ..*z };
                let zones: Vec<Zone> = zones.iter().filter(inside).map(cut).collect();
                match zones.iter().map(|z| z.weight).sum() {
                    0 => Way::Uniform,
                    weights => Way::Zoned { zones, weights },
                }
            }
        };
        Self { blocks, way }
    }

    /// The next block.
    #[inline]
    pub fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        match &self.way {
            Way::Uniform => below(rng, self.blocks),
            way => self.draw_unevenly(way, rng),
        }
    }

    /// Out of the engine's loop, whose registers uniform draws need.
    #[inline(never)]
    fn draw_unevenly(&self, way: &Way, rng: &mut Xoshiro256PlusPlus) -> u64 {
        match way {
            Way::Uniform => below(rng, self.blocks),
            Way::Zipf { law, first } => {
                self.ranked((law.sample(rng) as u64).clamp(1, self.blocks) - 1, *first)
            }
            Way::Pareto { exponent, first } => {
                let rank = (self.blocks - 1) as f64 * uniform(rng).powf(*exponent);
                self.ranked((rank as u64).min(self.blocks - 1), *first)
            }
            Way::Normal(law) => self.bell(law, rng),
            Way::Zoned { zones, weights } => {
                let mut draw = below(rng, *weights);
                for zone in zones {
                    match draw.checked_sub(zone.weight) {
                        None => return zone.first + below(rng, zone.blocks),
                        Some(rest) => draw = rest,
                    }
                }
                unreachable!("weights add up to their sum")
            }
        }
    }

    /// The block of a rank from 0: beside the first, or scattered one to one.
    fn ranked(&self, rank: u64, first: Option<u64>) -> u64 {
        match first {
            Some(first) => {
                ((u128::from(first) + u128::from(rank)) % u128::from(self.blocks)) as u64
            }
            None => ((u128::from(rank + 1) * u128::from(SCATTER)) % u128::from(self.blocks)) as u64,
        }
    }

    /// Tries some times to hit the region; a bell that hardly touches it is cut off at its end.
    fn bell(&self, law: &Normal<f64>, rng: &mut Xoshiro256PlusPlus) -> u64 {
        let mut at = 0.0;
        for _ in 0..16 {
            at = law.sample(rng);
            if at >= 0.0 && at < self.blocks as f64 {
                break;
            }
        }
        (at.max(0.0) as u64).min(self.blocks - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_core::SeedableRng;

    fn counts(law: &Law, blocks: u64, n: u32) -> Vec<u32> {
        let spread = Spread::new(law, blocks);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut counts = vec![0; blocks as usize];
        (0..n).for_each(|_| counts[spread.draw(&mut rng) as usize] += 1);
        counts
    }

    fn share(counts: &[u32]) -> f64 {
        f64::from(counts.iter().sum::<u32>())
    }

    proptest! {
        #[test]
        fn every_law_stays_within_the_region(
            blocks in 1u64..1 << 40, theta in 0.1..3.0, power in 0.01..0.99, centre in 0.0..1.0,
            seed: u64,
        ) {
            let zone = Zone { first: blocks / 2, blocks: blocks * 2, weight: 3 };
            let laws = [
                Law::Uniform,
                Law::Zipf { theta, centre: None },
                Law::Zipf { theta, centre: Some(centre) },
                Law::Pareto { power, centre: None },
                Law::Normal { deviation: power, centre },
                Law::Zoned(vec![zone]),
            ];
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            for law in laws {
                let spread = Spread::new(&law, blocks);
                for _ in 0..50 {
                    prop_assert!(spread.draw(&mut rng) < blocks, "{law:?}");
                }
            }
        }
    }

    #[test]
    fn pareto_sends_the_share_its_power_says_to_the_blocks_it_says() {
        let mut counts = counts(&Law::Pareto { power: 0.2, centre: None }, 1000, 200_000);
        counts.sort_unstable_by_key(|n| std::cmp::Reverse(*n));
        let busiest = share(&counts[..200]) / 200_000.0;
        assert!((busiest - 0.8).abs() < 0.01, "{busiest}");
    }

    #[test]
    fn a_bell_has_two_thirds_within_its_deviation() {
        let counts = counts(&Law::Normal { deviation: 0.1, centre: 0.5 }, 1000, 100_000);
        let within = share(&counts[400..600]) / 100_000.0;
        assert!((within - 0.6827).abs() < 0.01, "{within}");
    }

    #[test]
    fn zones_get_their_shares() {
        let zones = vec![
            Zone { first: 0, blocks: 100, weight: 60 },
            Zone { first: 100, blocks: 900, weight: 40 },
        ];
        let counts = counts(&Law::Zoned(zones), 1000, 100_000);
        let first = share(&counts[..100]) / 100_000.0;
        assert!((first - 0.6).abs() < 0.01, "{first}");
    }

    #[test]
    fn a_centre_puts_the_busiest_block_there() {
        let counts = counts(&Law::Zipf { theta: 1.2, centre: Some(0.25) }, 1000, 10_000);
        let busiest = counts.iter().enumerate().max_by_key(|(_, n)| **n).map(|(i, _)| i);
        assert_eq!(busiest, Some(250));
    }
}

//! Random variables of a synthetic workload.

use super::rand48::Rand48;

/// A random variable as the DiskSim 4 manual defines it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distribution {
    /// Equally likely everywhere between two values.
    Uniform {
        /// The least.
        least: f64,
        /// The value it stays below.
        most: f64,
    },
    /// Normal.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        deviation: f64,
    },
    /// Exponential, moved.
    Exponential {
        /// What is added to each.
        base: f64,
        /// Mean without it.
        mean: f64,
    },
    /// Poisson, moved.
    Poisson {
        /// What is added to each.
        base: f64,
        /// Mean without it.
        mean: f64,
    },
    /// One of two values.
    TwoValue {
        /// The value otherwise.
        default: f64,
        /// The value with the probability given.
        second: f64,
        /// How likely the second value is, 0 to 1.
        probability: f64,
    },
}

/// The largest mean of a Poisson variable: e to the minus that is still a normal number.
pub const LARGEST_POISSON_MEAN: f64 = 700.0;
/// Draws after which what is asked for is taken never to come.
const MOST_DRAWS: u32 = 1_000_000;

impl Distribution {
    /// The next value.
    pub fn draw(&self, random: &mut Rand48) -> f64 {
        match *self {
            Self::Uniform { least, most } => (most - least) * random.draw() + least,
            Self::Normal { mean, deviation } => mean + deviation * standard_normal(random),
            Self::Exponential { base, mean } => base - mean * (1.0 - random.draw()).ln(),
            Self::Poisson { base, mean } => base + f64::from(poisson(mean, random)),
            Self::TwoValue { default, second, probability } => {
                if random.draw() < probability {
                    second
                } else {
                    default
                }
            }
        }
    }

    /// The next value that is not negative; `None` if none comes.
    pub fn draw_positive(&self, random: &mut Rand48) -> Option<f64> {
        (0..MOST_DRAWS).map(|_| self.draw(random)).find(|value| *value >= 0.0)
    }
}

/// A normal variable with mean 0 and deviation 1, by rejection from two exponential ones (J. von
/// Neumann, "Various techniques used in connection with random digits", 1951).
fn standard_normal(random: &mut Rand48) -> f64 {
    loop {
        let height = -(1.0 - random.draw()).ln();
        let value = -(1.0 - random.draw()).ln();
        if height > (value - 1.0) * (value - 1.0) / 2.0 {
            return if random.draw() < 0.5 { -value } else { value };
        }
    }
}

/// How many uniform variables multiply to e to the minus mean (D. Knuth, "Seminumerical
/// Algorithms", 3.4.1).
fn poisson(mean: f64, random: &mut Rand48) -> u32 {
    let stop = (-mean.min(LARGEST_POISSON_MEAN)).exp();
    let (mut product, mut count) = (random.draw(), 0);
    while product >= stop {
        product *= random.draw();
        count += 1;
    }
    count
}

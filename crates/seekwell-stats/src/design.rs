//! How runs are laid out: blocks of four, ABBA or BAAB, or pairs, the order by a seeded coin.
//!
//! Inside a block a linear drift cancels. Which of the two orders a block has must be a coin's
//! decision: a fixed ABBA ABBA … is fooled by anything whose period divides four runs, and with the
//! coin the block value of an A/A comparison is as likely d as -d whatever the disk does, so that
//! the signed-rank test holds its level by design and not by an assumption on the noise
//! (Fisher 1935, "The Design of Experiments", on randomisation as the basis of inference).

use serde::{Deserialize, Serialize};

/// One of the two settings compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arm {
    /// The baseline.
    A,
    /// What is compared with it.
    B,
}

/// Order of the runs of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// A, B, B, A; for a pair A, B.
    Abba,
    /// B, A, A, B; for a pair B, A.
    Baab,
}

impl Order {
    /// The four runs of a block, in time.
    pub fn runs(self) -> [Arm; 4] {
        match self {
            Self::Abba => [Arm::A, Arm::B, Arm::B, Arm::A],
            Self::Baab => [Arm::B, Arm::A, Arm::A, Arm::B],
        }
    }

    /// The two runs of a pair, in time.
    pub fn pair(self) -> [Arm; 2] {
        match self {
            Self::Abba => [Arm::A, Arm::B],
            Self::Baab => [Arm::B, Arm::A],
        }
    }
}

/// Order of block `index` under `seed`: a fair coin, the same for the same two numbers on every
/// machine. SplitMix64 (Steele, Lea & Flood 2014), its output number `index + 1` under `seed`.
pub fn order(seed: u64, index: u64) -> Order {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    if z >> 63 == 0 { Order::Abba } else { Order::Baab }
}

/// Four runs: two of each arm. Values are of one metric, one number per run, in any unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Order in which they were made.
    pub order: Order,
    /// The two runs of A, the earlier first.
    pub a: [f64; 2],
    /// The two runs of B, the earlier first.
    pub b: [f64; 2],
}

impl Block {
    /// d = mean(ln B) - mean(ln A), the log ratio of B to A; `None` when a value is not a positive
    /// finite number.
    pub fn value(&self) -> Option<f64> {
        let [a0, a1] = self.a;
        let [b0, b1] = self.b;
        Some(significant((log(b0)? + log(b1)? - log(a0)? - log(a1)?) / 2.0))
    }
}

/// Two runs, one of each arm, for runs too costly for a block. Drift does not cancel inside a pair;
/// only the coin protects.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Order in which they were made.
    pub order: Order,
    /// The run of A.
    pub a: f64,
    /// The run of B.
    pub b: f64,
}

impl Pair {
    /// d = ln B - ln A; `None` when a value is not a positive finite number.
    pub fn value(&self) -> Option<f64> {
        Some(significant(log(self.b)? - log(self.a)?))
    }
}

pub(crate) fn log(x: f64) -> Option<f64> {
    (x.is_finite() && x > 0.0).then(|| x.ln())
}

/// Without what lies below 1e-12: a ratio of one is a log ratio of exactly zero, and equal ratios
/// are ties, whatever order the logarithms were added in. Rank tests see differences of any size.
fn significant(log_ratio: f64) -> f64 {
    const STEPS: f64 = 1e12;
    // Adding zero makes a negative zero positive.
    (log_ratio * STEPS).round() / STEPS + 0.0
}

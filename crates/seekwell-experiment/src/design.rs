//! The design of an experiment: which arm runs when, and how many blocks.

use crate::metric::{better, default_margin};
use seekwell_io::units::Nanos;
use seekwell_stats::{Arm, BLOCKS_DEFAULT, BLOCKS_PILOT, Better, Margin, Order, order};
use serde::{Deserialize, Serialize};
use std::hash::{BuildHasher, RandomState};

/// Runs of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Four: ABBA or BAAB.
    Fours,
    /// Two: AB or BA, for runs too costly for four. Drift inside a pair does not cancel.
    Pairs,
}

impl Shape {
    /// Runs in a block.
    pub const fn runs(self) -> u32 {
        match self {
            Self::Fours => 4,
            Self::Pairs => 2,
        }
    }
}

/// Everything that was decided before the first run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// The one metric the verdict is on.
    pub metric: String,
    /// Which direction of it is good.
    pub better: Better,
    /// The smallest difference that matters.
    pub margin: Margin,
    /// Decides the order of every block and the requests of every run.
    pub seed: u64,
    /// Runs of a block.
    pub shape: Shape,
    /// Number of blocks where it was fixed beforehand; otherwise the pilot's width fixes it.
    pub blocks: Option<u32>,
    /// Pause before every run, after the arm was applied.
    pub settle_ns: Nanos,
    /// Both arms are the same on purpose: a test of the machine and of this program.
    pub aa: bool,
    /// The arms are modes that take a reboot in between.
    pub reboot_between: bool,
}

/// The place of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Number of the run in the experiment, from 0.
    pub index: u32,
    /// Its block, from 0.
    pub block: u32,
    /// Its place in the block, from 0.
    pub position: u32,
    pub arm: Arm,
    pub seed: u64,
}

impl Design {
    /// Blocks of the pilot, after which the number of blocks is fixed.
    pub const PILOT: u32 = BLOCKS_PILOT;

    /// Blocks of four, as many as the pilot asks for, without pauses; the default margin where none
    /// is given.
    pub fn new(metric: String, margin: Option<Margin>, seed: u64) -> Self {
        Self {
            better: better(&metric),
            margin: margin.unwrap_or_else(|| default_margin(&metric)),
            metric,
            seed,
            shape: Shape::Fours,
            blocks: None,
            settle_ns: Nanos::ZERO,
            aa: false,
            reboot_between: false,
        }
    }

    /// A seed that was not chosen: 32 bits, enough for a coin and short enough to be typed again.
    pub fn fresh_seed() -> u64 {
        RandomState::new().hash_one(()) & 0xFFFF_FFFF
    }

    pub fn order(&self, block: u32) -> Order {
        order(self.seed, u64::from(block))
    }

    /// The arms of a block in time.
    pub fn arms(&self, block: u32) -> Vec<Arm> {
        match self.shape {
            Shape::Fours => self.order(block).runs().to_vec(),
            Shape::Pairs => self.order(block).pair().to_vec(),
        }
    }

    /// The order of a block as a word: `ABBA`.
    pub fn order_text(&self, block: u32) -> String {
        self.arms(block).into_iter().map(|arm| if arm == Arm::A { 'A' } else { 'B' }).collect()
    }

    /// Where run number `index` stands. Its seed is its own: a run that repeated the requests of
    /// the one before would be served by the drive's cache.
    pub fn slot(&self, index: u32) -> Slot {
        let (block, position) = (index / self.shape.runs(), index % self.shape.runs());
        let arm = self.arms(block)[position as usize];
        Slot { index, block, position, arm, seed: seed(self.seed, index) }
    }

    /// Blocks that are aimed at as long as nothing better is known.
    pub fn expected_blocks(&self) -> u32 {
        self.blocks.unwrap_or(BLOCKS_DEFAULT)
    }
}

/// SplitMix64's output number `index + 1` (Steele, Lea & Flood 2014) under a seed apart from the
/// coin's; 53 bits of it, so that every reader of JSON keeps the number.
fn seed(base: u64, index: u32) -> u64 {
    let from = base ^ 0x5EED_0F00_D15C_0000;
    let mut z = from.wrapping_add((u64::from(index) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z ^ (z >> 31)) >> 11
}

/// What is known beforehand of how long an experiment takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// Standard deviation of a block's log ratio.
    pub sd: f64,
    pub blocks: u32,
    pub seconds: f64,
    /// More blocks would be needed than are ever made.
    pub beyond_cap: bool,
    /// The noise was measured under the same workload.
    pub same_workload: bool,
    /// The A/A experiment that measured it.
    pub from: String,
}

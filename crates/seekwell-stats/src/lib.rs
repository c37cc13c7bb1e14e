//! The statistics of comparing runs: what two settings of a disk differ by, how sure that is, and
//! whether the experiment was fit to say so.
//!
//! The unit is the run: one number per run and metric. A comparison is a list of blocks of runs,
//! each block giving one value [`Block::value`], the difference of the logarithms; everything else
//! follows from that list. Nothing here measures, reads a clock or draws a random number that its
//! caller did not seed, so a stored experiment gives the same verdict again.
//!
//! The method, its sources and how it was checked are described in `docs/statistics.md`.
//! Functions cite the source of what they compute at the line that computes it.

#![warn(missing_docs)]

pub mod change;
pub mod design;
pub mod gate;
pub mod groups;
pub mod holm;
pub mod interval;
pub mod majority;
pub mod margin;
pub mod outliers;
pub mod plan;
mod rank;
pub mod rank_sum;
pub mod signed;
pub mod signed_rank;
pub mod steady;
pub mod student;
pub mod verdict;

pub use change::{ChangePoint, ChangeRule, change_points};
pub use design::{Arm, Block, Order, Pair, order};
pub use gate::{CarryOver, Gate, Severity, Trend, carry_over, gates, lag_one, trend};
pub use groups::{Design, GroupComparison, compare_groups};
pub use holm::{Adjusted, holm};
pub use interval::{Interval, percent};
pub use majority::majority;
pub use margin::{Better, Margin, MarginError};
pub use outliers::{Equals, Middle, OUTLIER_FLOOR, SD_OF_MAD};
pub use plan::{
    BLOCKS_CAP, BLOCKS_DEFAULT, BLOCKS_FLOOR, BLOCKS_PILOT, blocks_needed, more_blocks,
};
pub use rank_sum::{MannWhitney, mann_whitney};
pub use signed::signed;
pub use signed_rank::{SignedRank, hodges_lehmann, interval, signed_rank};
pub use steady::{InRun, Rounds, Traffic, in_run, over_runs, rounds};
pub use student::{Skew, Welch, skew, t_interval, welch};
pub use verdict::{Claim, Estimate, Sample, Verdict, estimate, verdict};

/// Version of the whole method. Stored beside every verdict; changes whenever the same data could
/// give another one.
pub const METHOD: &str = "seekwell-compare/1";

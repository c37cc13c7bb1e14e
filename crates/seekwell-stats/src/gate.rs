//! What must hold before a verdict may be given. A closed gate is an answer in itself, with the
//! numbers that closed it; a warning stands beside the verdict.

use crate::design::{Arm, Block, log};
use crate::interval::percent;
use crate::margin::Margin;
use crate::plan::BLOCKS_FLOOR;
use crate::rank::{doubled_ranks, median_sorted, sorted, two_sided};
use crate::rank_sum::mann_whitney;
use crate::signed::signed;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// A trend over the blocks closes the gate below this p value, and a carry-over warns.
const GATE_P: f64 = 0.01;
/// Autocorrelation from which blocks do not count as independent.
const LAG_ONE: f64 = 0.5;

/// What a gate does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Stands beside the verdict.
    Warning,
    /// No verdict.
    Invalid,
}

/// Why an experiment is not fit for a verdict, or what to keep in mind beside it. The first ones
/// are found while the experiment runs, the others by [`gates`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Gate {
    /// Requests failed.
    Errors {
        /// How many.
        count: u64,
    },
    /// Something else than the setting changed between the runs.
    EnvironmentChanged {
        /// What, as from → to.
        what: String,
    },
    /// The disk throttled, warned of its temperature or reported a health event inside a run.
    Throttled {
        /// What it said.
        what: String,
    },
    /// A run did not settle.
    NotSteady {
        /// Which run of the experiment, from 0.
        run: u32,
    },
    /// Too few complete blocks.
    TooFewBlocks {
        /// Complete ones.
        have: u32,
    },
    /// A run's value is zero, negative or not a number, so it has no logarithm.
    NotANumber {
        /// Which block (or run), from 0.
        index: u32,
    },
    /// The difference itself changes while the experiment runs.
    Trend(Trend),
    /// Neighbouring blocks resemble each other.
    Autocorrelated {
        /// Correlation of each block value with the next.
        lag_one: f64,
    },
    /// An arm's runs depend on which arm ran before.
    CarryOver(CarryOver),
}

impl Gate {
    /// Whether it stands beside the verdict or in its place.
    pub fn severity(&self) -> Severity {
        match self {
            Self::Autocorrelated { .. } | Self::CarryOver(_) => Severity::Warning,
            _ => Severity::Invalid,
        }
    }
}

impl std::fmt::Display for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Errors { count: 1 } => write!(f, "one request failed"),
            Self::Errors { count } => write!(f, "{count} requests failed"),
            Self::EnvironmentChanged { what } => {
                write!(f, "something else changed between the runs: {what}")
            }
            Self::Throttled { what } => write!(f, "conditions were abnormal during a run: {what}"),
            Self::NotSteady { run } => write!(f, "run {} did not settle", run + 1),
            Self::TooFewBlocks { have } => {
                write!(f, "only {have} blocks are complete; at least {BLOCKS_FLOOR} are needed")
            }
            Self::NotANumber { index } => {
                write!(f, "value {} of the data is not above zero", index + 1)
            }
            Self::Trend(Trend { percent_per_block, p, .. }) => write!(
                f,
                "the difference drifted by {} % a block during the experiment (p = {p:.4})",
                signed(*percent_per_block, 2)
            ),
            Self::Autocorrelated { lag_one } => write!(
                f,
                "neighbouring blocks resemble each other (correlation {lag_one:.2}); the interval \
                 may be too narrow"
            ),
            Self::CarryOver(CarryOver { arm, percent, .. }) => write!(
                f,
                "runs of {arm:?} are {} % different after the other setting than after \
                 themselves: settle for longer between runs",
                signed(*percent, 1)
            ),
        }
    }
}

/// A monotone change of block values over time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// Kendall's rank correlation of value and time.
    pub tau: f64,
    /// Two-sided p value.
    pub p: f64,
    /// Change of the difference from block to block, per cent: the median of all slopes
    /// (Sen 1968, JASA 63:1379–1389).
    pub percent_per_block: f64,
}

/// Trend of `d` over its index, by Kendall's test (Kendall 1938, Biometrika 30:81–93; as a trend
/// test Mann 1945): exact without ties, else normal with the variance corrected for them. `None`
/// for fewer than three values, values that are not finite, or values that are all equal.
pub fn trend(d: &[f64]) -> Option<Trend> {
    if d.len() < 3 {
        return None;
    }
    let n = d.len();
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    let (mut up, mut down) = (0_usize, 0_usize);
    for (i, x) in d.iter().enumerate() {
        for (j, y) in d.iter().enumerate().skip(i + 1) {
            slopes.push((y - x) / (j - i) as f64);
            up += usize::from(y > x);
            down += usize::from(y < x);
        }
    }
    let slope = median_sorted(&sorted(&slopes)?);
    let (_, ties) = doubled_ranks(d);
    let pairs = slopes.len() as f64;
    let score = up as f64 - down as f64;
    let untied = (up + down) as f64;
    if untied == 0.0 {
        return None;
    }
    let p = if up + down == slopes.len() {
        two_sided(&inversions(n), down)
    } else {
        let spread = |t: usize| (t * (t - 1) * (2 * t + 5)) as f64;
        let variance = (spread(n) - ties.iter().map(|t| spread(*t)).sum::<f64>()) / 18.0;
        2.0 * Normal::standard().cdf(-score.abs() / variance.sqrt())
    };
    Some(Trend { tau: score / (pairs * untied).sqrt(), p, percent_per_block: percent(slope) })
}

/// P(an order of n things has i inversions): the k-th thing adds 0 … k-1 of them, equally likely.
fn inversions(n: usize) -> Vec<f64> {
    let mut weights = vec![1.0];
    for k in 2..=n {
        let mut next = vec![0.0; weights.len() + k - 1];
        for (i, weight) in weights.iter().enumerate() {
            next[i..i + k].iter_mut().for_each(|sum| *sum += weight / k as f64);
        }
        weights = next;
    }
    weights
}

/// Correlation of each value with the next, about the mean of all (Box & Jenkins 1970). `None` for
/// fewer than three values or values that do not vary.
pub fn lag_one(d: &[f64]) -> Option<f64> {
    let mean = crate::student::mean(d);
    let total: f64 = d.iter().map(|x| (x - mean).powi(2)).sum();
    let shared: f64 = d.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    (d.len() > 2 && total > 0.0 && total.is_finite()).then(|| shared / total)
}

/// An arm that is not the same after the other arm as after itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CarryOver {
    /// The arm.
    pub arm: Arm,
    /// Its runs after the other arm against its runs after itself, per cent.
    pub percent: f64,
    /// Two-sided p value of that difference.
    pub p: f64,
}

/// Carry-over in consecutive blocks: runs of an arm that follow the other arm against runs that
/// follow their own (Jones & Kenward 2014, "Design and Analysis of Cross-Over Trials"). Every run
/// is taken as its ratio to its block, so that drift between blocks does not count; the two groups
/// are compared by the shift of [`mann_whitney`]. Reported when the shift is above the margin and
/// its p value below 0.01; the larger one when both arms have it. `None` as well when a value has
/// no logarithm.
pub fn carry_over(blocks: &[Block], margin: Margin) -> Option<CarryOver> {
    // [arm][after itself, after the other]
    let mut groups: [[Vec<f64>; 2]; 2] = Default::default();
    let mut before: Option<Arm> = None;
    for block in blocks {
        let a = [log(block.a[0])?, log(block.a[1])?];
        let b = [log(block.b[0])?, log(block.b[1])?];
        let level = (a[0] + a[1] + b[0] + b[1]) / 4.0;
        let mut next = [a.into_iter(), b.into_iter()];
        for arm in block.order.runs() {
            let value = next[arm as usize].next()?;
            if let Some(before) = before {
                groups[arm as usize][usize::from(before != arm)].push(value - level);
            }
            before = Some(arm);
        }
    }
    [Arm::A, Arm::B]
        .into_iter()
        .filter_map(|arm| {
            let [own, other] = &groups[arm as usize];
            let test = mann_whitney(own, other)?;
            (test.shift.abs() > margin.log() && test.p < GATE_P).then(|| CarryOver {
                arm,
                percent: percent(test.shift),
                p: test.p,
            })
        })
        .max_by(|x, y| x.percent.abs().total_cmp(&y.percent.abs()))
}

/// All gates that block values can close, the invalidating ones first. `blocks` in the order in
/// which they were made, incomplete ones left out.
pub fn gates(blocks: &[Block], margin: Margin) -> Vec<Gate> {
    let mut closed = Vec::new();
    if (blocks.len() as u32) < BLOCKS_FLOOR {
        closed.push(Gate::TooFewBlocks { have: blocks.len() as u32 });
    }
    let values: Vec<Option<f64>> = blocks.iter().map(Block::value).collect();
    if let Some(index) = values.iter().position(Option::is_none) {
        closed.push(Gate::NotANumber { index: index as u32 });
        return closed;
    }
    let d: Vec<f64> = values.into_iter().flatten().collect();
    closed.extend(trend(&d).filter(|trend| trend.p < GATE_P).map(Gate::Trend));
    closed.extend(
        lag_one(&d).filter(|r| *r > LAG_ONE).map(|lag_one| Gate::Autocorrelated { lag_one }),
    );
    closed.extend(carry_over(blocks, margin).map(Gate::CarryOver));
    closed
}

//! What the data allow to be said, in the words in which it is said.
//!
//! Three answers are distinguished that a p value mixes up: a difference was shown; a difference
//! that matters was ruled out (two one-sided tests, Schuirmann 1987); neither. A test that failed
//! to show a difference never becomes "the same".

use crate::gate::Gate;
use crate::interval::{Interval, percent};
use crate::margin::{Better, Margin};
use crate::plan::{BLOCKS_CAP, BLOCKS_PILOT, more_blocks};
use crate::signed::signed;
use crate::signed_rank::{hodges_lehmann, interval, signed_rank};
use crate::student::{Skew, mean, sd, skew, t_interval};
use serde::{Deserialize, Serialize};
use std::fmt::{Display, Formatter};

/// How much data a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sample {
    /// Interleaved blocks, of four runs or of two.
    Blocks(u32),
    /// Separate runs of each arm.
    Runs {
        /// Runs of A.
        a: u32,
        /// Runs of B.
        b: u32,
    },
}

impl Display for Sample {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Blocks(1) => write!(f, "1 block"),
            Self::Blocks(n) => write!(f, "{n} blocks"),
            Self::Runs { a: 1, b: 1 } => write!(f, "one run each"),
            Self::Runs { a, b } if a == b => write!(f, "{a} runs each"),
            Self::Runs { a, b } => write!(f, "{a} and {b} runs"),
        }
    }
}

/// The numbers under a verdict; everything is a log ratio of B to A unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Blocks.
    pub blocks: u32,
    /// Hodges–Lehmann estimate.
    pub centre: f64,
    /// Exact 95 % interval; `None` below six blocks.
    pub interval95: Option<Interval>,
    /// Exact 90 % interval; `None` below five blocks.
    pub interval90: Option<Interval>,
    /// Exact two-sided p value of the signed-rank test, for Holm's adjustment.
    pub p: f64,
    /// Mean of the block values.
    pub mean: f64,
    /// Standard deviation of the block values; `None` for one block.
    pub sd: Option<f64>,
    /// 95 % t interval; `None` for one block.
    pub t95: Option<Interval>,
    /// Typical and mean block apart, where they are.
    pub skew: Option<Skew>,
}

/// All numbers of a comparison from its block values; `None` when there are none or one is not
/// finite.
pub fn estimate(d: &[f64]) -> Option<Estimate> {
    let test = signed_rank(d)?;
    (!d.is_empty()).then(|| Estimate {
        blocks: d.len() as u32,
        centre: hodges_lehmann(d),
        interval95: interval(d, 0.95),
        interval90: interval(d, 0.90),
        p: test.p,
        mean: mean(d),
        sd: sd(d),
        t95: t_interval(d, 0.95),
        skew: skew(d),
    })
}

/// A verdict on B against A. Changes are of the metric itself, in per cent of A, signed: a latency
/// that became better has a negative one. Displayed as the sentence for people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Verdict {
    /// B is significantly better.
    Faster {
        /// Estimate of the change.
        percent: f64,
        /// Lower end of its 95 % interval.
        low: f64,
        /// Upper end of its 95 % interval.
        high: f64,
        /// The whole interval is inside the margin: real, but too small to matter.
        below_margin: bool,
        /// The margin declared.
        margin: Margin,
        /// What it rests on.
        sample: Sample,
    },
    /// B is significantly worse.
    Slower {
        /// Estimate of the change.
        percent: f64,
        /// Lower end of its 95 % interval.
        low: f64,
        /// Upper end of its 95 % interval.
        high: f64,
        /// The whole interval is inside the margin: real, but too small to matter.
        below_margin: bool,
        /// The margin declared.
        margin: Margin,
        /// What it rests on.
        sample: Sample,
    },
    /// A change beyond the margin is ruled out.
    Equivalent {
        /// The margin declared.
        margin: Margin,
        /// Lower end of the 90 % interval of the change.
        low90: f64,
        /// Upper end of the 90 % interval of the change.
        high90: f64,
        /// What it rests on.
        sample: Sample,
    },
    /// Neither shown.
    Undecided {
        /// Lower end of the 95 % interval of the change.
        low: f64,
        /// Upper end of the 95 % interval of the change.
        high: f64,
        /// Blocks (or runs of each) beside these that would about settle it.
        more_blocks: u32,
        /// The margin declared.
        margin: Margin,
        /// What it rests on.
        sample: Sample,
    },
    /// Too little data for any verdict.
    TooFew {
        /// What there is.
        have: Sample,
        /// What a verdict needs.
        need: Sample,
    },
    /// The experiment was not fit for a verdict.
    Invalid {
        /// Why; the first gate that closed.
        gate: Gate,
    },
}

impl Verdict {
    /// Whether it says how B compares with A: faster, slower or no difference that matters.
    pub fn is_decided(&self) -> bool {
        matches!(self, Self::Faster { .. } | Self::Slower { .. } | Self::Equivalent { .. })
    }
}

/// A claim on B that is held against the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// B is better.
    Faster,
    /// B is worse.
    Slower,
    /// There is no difference beyond the margin.
    Equivalent,
}

impl Claim {
    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
        }
    }

    /// Whether the verdict says just that.
    pub const fn is(self, verdict: &Verdict) -> bool {
        matches!(
            (self, verdict),
            (Self::Faster, Verdict::Faster { .. })
                | (Self::Slower, Verdict::Slower { .. })
                | (Self::Equivalent, Verdict::Equivalent { .. })
        )
    }
}

/// The verdict on block values `d` (log ratios of B to A, [`crate::Block::value`]), decided once,
/// after the number of blocks that was planned. Below eight blocks it is [`Verdict::TooFew`]; a
/// value that is not finite makes it [`Verdict::Invalid`].
pub fn verdict(d: &[f64], margin: Margin, better: Better) -> Verdict {
    if let Some(block) = d.iter().position(|x| !x.is_finite()) {
        return Verdict::Invalid { gate: Gate::NotANumber { index: block as u32 } };
    }
    let sample = Sample::Blocks(d.len() as u32);
    let need = Sample::Blocks(BLOCKS_PILOT);
    if (d.len() as u32) < BLOCKS_PILOT {
        return Verdict::TooFew { have: sample, need };
    }
    match (interval(d, 0.95), interval(d, 0.90)) {
        (Some(wide), Some(narrow)) => {
            decide(hodges_lehmann(d), wide, narrow, sample, margin, better)
        }
        _ => Verdict::TooFew { have: sample, need },
    }
}

/// The rule itself, on the log scale: first whether the 95 % interval leaves zero, then whether the
/// 90 % interval stays inside the margin (Schuirmann 1987, J. Pharmacokinet. Biopharm. 15:657–680:
/// two one-sided tests at 5 % are a 90 % interval inside the bounds).
pub(crate) fn decide(
    centre: f64,
    wide: Interval,
    narrow: Interval,
    sample: Sample,
    margin: Margin,
    better: Better,
) -> Verdict {
    let Interval { low, high } = wide.percent();
    if wide.low > 0.0 || wide.high < 0.0 {
        let (percent, below_margin) = (percent(centre), wide.within(margin.log()));
        return if (wide.low > 0.0) == (better == Better::Higher) {
            Verdict::Faster { percent, low, high, below_margin, margin, sample }
        } else {
            Verdict::Slower { percent, low, high, below_margin, margin, sample }
        };
    }
    if narrow.within(margin.log()) {
        let Interval { low: low90, high: high90 } = narrow.percent();
        return Verdict::Equivalent { margin, low90, high90, sample };
    }
    let have = match sample {
        Sample::Blocks(n) => n,
        Sample::Runs { a, b } => a.min(b),
    };
    let more_blocks = more_blocks(have, wide.half_width(), margin);
    Verdict::Undecided { low, high, more_blocks, margin, sample }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Faster { percent, low, high, below_margin, margin, sample } => {
                difference(f, "faster", *percent > 0.0, [*percent, *low, *high], sample)?;
                below(f, *below_margin, *margin)
            }
            Self::Slower { percent, low, high, below_margin, margin, sample } => {
                difference(f, "slower", *percent < 0.0, [*percent, *low, *high], sample)?;
                below(f, *below_margin, *margin)
            }
            Self::Equivalent { margin, low90, high90, sample } => write!(
                f,
                "no difference within {margin} (90 % CI {}…{} %), {sample}",
                signed(*low90, 1),
                signed(*high90, 1)
            ),
            Self::Undecided { low, high, more_blocks, margin, sample } => {
                undecided(f, [*low, *high], *more_blocks, *margin, sample)
            }
            Self::TooFew { have: Sample::Runs { a: 1, b: 1 }, .. } => {
                write!(f, "no verdict: one run each")
            }
            Self::TooFew { have, need } => write!(f, "no verdict: {have}, it takes {need}"),
            Self::Invalid { gate } => write!(f, "invalid, because {gate}"),
        }
    }
}

/// "B is faster by 5.2 % (95 % CI 4.1…6.3 %), 10 blocks" where a higher metric is what happened to
/// the faster arm, and "B is faster: 20.0 % lower (…)" for a metric that is better when lower.
fn difference(
    f: &mut Formatter<'_>,
    word: &str,
    rate: bool,
    [percent, low, high]: [f64; 3],
    sample: &Sample,
) -> std::fmt::Result {
    let size = Size(percent.abs());
    let (near, far) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
    match (rate, percent < 0.0) {
        (true, _) => write!(f, "B is {word} by {size} %")?,
        (false, true) => write!(f, "B is {word}: {size} % lower")?,
        (false, false) => write!(f, "B is {word}: {size} % higher")?,
    }
    write!(f, " (95 % CI {}…{} %), {sample}", Size(near), Size(far))
}

fn below(f: &mut Formatter<'_>, below_margin: bool, margin: Margin) -> std::fmt::Result {
    if below_margin { write!(f, " - real, but below the margin of {margin}") } else { Ok(()) }
}

fn undecided(
    f: &mut Formatter<'_>,
    [low, high]: [f64; 2],
    more: u32,
    margin: Margin,
    sample: &Sample,
) -> std::fmt::Result {
    let (low, high) = (signed(low, 1), signed(high, 1));
    write!(f, "undecided after {sample}: the data allow {low}…{high} %; ")?;
    match sample {
        Sample::Blocks(n) if n.saturating_add(more) > BLOCKS_CAP => write!(
            f,
            "settling {margin} would take about {more} more blocks, above the cap of \
             {BLOCKS_CAP}: make runs longer or the machine quieter"
        ),
        Sample::Blocks(_) => write!(f, "about {more} more blocks would settle {margin}"),
        Sample::Runs { .. } => write!(f, "about {more} more runs of each would settle {margin}"),
    }
}

/// Two digits after the point below one per cent, so that a small difference is not "0.0".
struct Size(f64);

impl Display for Size {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        if self.0 < 1.0 { write!(f, "{:.2}", self.0) } else { write!(f, "{:.1}", self.0) }
    }
}

//! When a disk has settled: over rounds of a conditioned device, and inside one run.
//!
//! "Never settled" is a possible result of both. Unlike fio's `steadystate` neither ends a run: in
//! a comparison runs of unequal length would favour an arm.

use crate::student::mean;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Rounds of the SNIA window.
const WINDOW: usize = 5;
/// Rounds after which a device counts as never settling.
const ROUNDS_CAP: usize = 25;
/// Highest range over the window, as a fraction of its mean.
const RANGE: f64 = 0.20;
/// Highest excursion of the line fitted to the window, as a fraction of its mean.
const EXCURSION: f64 = 0.10;
/// Highest distance of a sample from the mean inside a run, as a fraction of the mean.
const DEVIATION: f64 = 0.10;

/// Where conditioning stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Rounds {
    /// Settled over five rounds.
    Steady {
        /// The first window of five that settled, as round numbers from 0.
        window: Range<usize>,
        /// Their mean, in the unit of the rounds.
        mean: f64,
    },
    /// Not yet, and rounds are left.
    More {
        /// Rounds left.
        left: usize,
    },
    /// Twenty-five rounds and never.
    NotReached,
}

/// The steady state rule of the SNIA Solid State Storage Performance Test Specification 2.0.2
/// (2.1.24): over five consecutive rounds the range is at most 20 % of the mean and the excursion
/// of the fitted line at most 10 % of it; at most 25 rounds, later ones are not looked at.
pub fn rounds(values: &[f64]) -> Rounds {
    let values = &values[..values.len().min(ROUNDS_CAP)];
    for (from, window) in values.windows(WINDOW).enumerate() {
        let fit = Fit::of(window);
        if fit.range <= RANGE && fit.excursion <= EXCURSION {
            return Rounds::Steady { window: from..from + WINDOW, mean: mean(window) };
        }
    }
    match ROUNDS_CAP - values.len() {
        0 => Rounds::NotReached,
        left => Rounds::More { left },
    }
}

/// What a run does mostly; writes are allowed to wander further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Traffic {
    /// Reads: the fitted line moves by at most 2 %.
    Reads,
    /// Writes, or both: at most 5 %.
    Writes,
}

/// Whether a run had settled by its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InRun {
    /// Whether both limits held.
    pub settled: bool,
    /// The samples looked at: steady from, steady to.
    pub window: Range<usize>,
    /// Their mean, in the unit of the series; the run's number where it settled.
    pub mean: f64,
    /// Excursion of the line fitted to them over their mean.
    pub excursion: f64,
    /// Highest distance of a sample from their mean, over the mean.
    pub deviation: f64,
}

/// Whether the last `window` samples of `series` are steady, after `ramp` samples that are always
/// dropped: the line fitted to them moves by at most 2 % (reads) or 5 % (writes) of their mean and
/// no sample is more than 10 % from it. `None` when fewer than `window` samples (or two) are left.
pub fn in_run(series: &[f64], ramp: usize, window: usize, traffic: Traffic) -> Option<InRun> {
    let from = series.len().checked_sub(window).filter(|from| window > 1 && *from >= ramp)?;
    let fit = Fit::of(&series[from..]);
    let limit = match traffic {
        Traffic::Reads => 0.02,
        Traffic::Writes => 0.05,
    };
    Some(InRun {
        settled: fit.excursion <= limit && fit.deviation <= DEVIATION,
        window: from..series.len(),
        mean: mean(&series[from..]),
        excursion: fit.excursion,
        deviation: fit.deviation,
    })
}

/// How far a window wanders, as fractions of its mean. NaN, which is within no limit, where the
/// mean is zero or a value is not a number.
struct Fit {
    range: f64,
    /// Of the least-squares line, from the first sample to the last.
    excursion: f64,
    deviation: f64,
}

impl Fit {
    fn of(values: &[f64]) -> Self {
        let (level, middle) = (mean(values), (values.len() - 1) as f64 / 2.0);
        let at = |i: usize| i as f64 - middle;
        let shared: f64 = values.iter().enumerate().map(|(i, y)| at(i) * (y - level)).sum();
        let slope = shared / (0..values.len()).map(|i| at(i).powi(2)).sum::<f64>();
        let (low, high) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(*y), high.max(*y)));
        let share = |x: f64| x / level.abs();
        Self {
            range: share(high - low),
            excursion: share((slope * (values.len() - 1) as f64).abs()),
            deviation: share((high - level).max(level - low)),
        }
    }
}

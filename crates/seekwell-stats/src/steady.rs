//! When a disk has settled: over rounds of a conditioned device, and inside one run.
//!
//! "Never settled" is a possible result of both. Unlike fio's `steadystate` neither ends a run: in
//! a comparison runs of unequal length would favour an arm.

use crate::student::{mean, t_interval};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Rounds of the SNIA window.
pub const WINDOW: usize = 5;
/// Rounds after which a device counts as never settling.
const ROUNDS_CAP: usize = 25;
/// Highest range over the window, as a fraction of its mean.
pub const RANGE: f64 = 0.20;
/// Highest excursion of the line fitted to the window, as a fraction of its mean.
pub const EXCURSION: f64 = 0.10;
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
        if fit.range <= RANGE && fit.excursion.abs() <= EXCURSION {
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

impl Traffic {
    /// How far the fitted line may move, as a share of the mean.
    fn limit(self) -> f64 {
        match self {
            Self::Reads => 0.02,
            Self::Writes => 0.05,
        }
    }
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
    let excursion = fit.excursion.abs();
    Some(InRun {
        settled: excursion <= traffic.limit() && fit.deviation <= DEVIATION,
        window: from..series.len(),
        mean: mean(&series[from..]),
        excursion,
        deviation: fit.deviation,
    })
}

/// Whether runs of one arm settle, from their courses: each the rates of a run in equal parts, as
/// shares of its mean. The mean course has to be within the limits of [`in_run`]; if it is not,
/// the runs have to agree on it, as a short run of few requests wanders by chance: the line's
/// excursion in each of them, or the furthest part, is away from level with 99.9 % confidence
/// (Student's interval over the runs; 99.99 % for the part, which is the worst of many). `None` of
/// no courses, or of fewer than two parts.
pub fn over_runs(courses: &[&[f64]], traffic: Traffic) -> Option<InRun> {
    let parts = courses.iter().map(|c| c.len()).min()?;
    let part = |i: usize| courses.iter().map(|c| c[i]).collect::<Vec<f64>>();
    let course: Vec<f64> = (0..parts).map(|i| mean(&part(i))).collect();
    let mut found = in_run(&course, 0, parts, traffic)?;
    let by_chance = |values: &[f64], level: f64, confidence| {
        t_interval(values, confidence).is_some_and(|i| i.low <= level && level <= i.high)
    };
    let far = |i: &usize| (course[*i] - found.mean).abs();
    let furthest = (0..parts).max_by(|a, b| far(a).total_cmp(&far(b)))?;
    let excursions: Vec<f64> = courses.iter().map(|c| Fit::of(&c[..parts]).excursion).collect();
    let line = found.excursion <= traffic.limit() || by_chance(&excursions, 0.0, 0.999);
    let spread = found.deviation <= DEVIATION || by_chance(&part(furthest), found.mean, 0.9999);
    found.settled = line && spread;
    Some(found)
}

/// How far a window wanders, as fractions of its mean. NaN, which is within no limit, where the
/// mean is zero or a value is not a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// The highest less the lowest.
    pub range: f64,
    /// Of the least-squares line, from the first sample to the last; negative where it falls.
    pub excursion: f64,
    /// Of the sample furthest from the mean.
    pub deviation: f64,
}

impl Fit {
    /// Of at least two values.
    pub fn of(values: &[f64]) -> Self {
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
            excursion: share(slope * (values.len() - 1) as f64),
            deviation: share((high - level).max(level - low)),
        }
    }
}

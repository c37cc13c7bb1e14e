//! Rounds until a tracked figure is steady by the rule of [`seekwell_stats::rounds`]: five
//! consecutive rounds within 20 % of their mean, with a fitted line that moves by at most 10 % of
//! it; at most 25 rounds. A round repeats each phase of the plan; the figure is that of one phase.

use crate::summary::metrics;
use seekwell_runs::{Invalid, Measure, Phase, Repeat, Steady, SteadyOutcome};
use seekwell_stats::Rounds;
use seekwell_stats::steady::rounds;
use std::ops::Range;

pub const LEAST_ROUNDS: u32 = 5;
pub const ROUNDS: u32 = 25;

/// The tracked figure of each of these rounds, without those that have none.
pub fn values(repeats: &[Repeat], measure: Measure) -> Vec<f64> {
    repeats.iter().filter_map(|round| value(round, measure)).collect()
}

/// The tracked figure of a round, if it has one.
fn value(round: &Repeat, measure: Measure) -> Option<f64> {
    if round.invalid.as_ref().is_some_and(|why| *why != Invalid::BeforeSteady) {
        return None;
    }
    let moved = || ["read", "write", "discard"].iter().filter_map(|op| round.ops.get(*op));
    let requests: u64 = moved().map(|op| op.requests).sum();
    let sum: f64 = match measure {
        Measure::RequestsPerS => moved().map(|op| op.requests_per_s).sum(),
        Measure::RateBytesPerS => moved().map(|op| op.rate_bytes_per_s).sum(),
        Measure::LatencyNsMean => {
            let all = moved().map(|op| op.latency.ns_mean * op.requests as f64);
            all.sum::<f64>() / requests as f64
        }
    };
    (requests > 0).then_some(sum)
}

/// Whether no more rounds are needed after the first `done`: the figure is steady or will not
/// become so.
pub(crate) fn is_over(phase: &Phase, measure: Measure, done: u32) -> bool {
    let done = &phase.repeats[..phase.repeats.len().min(done as usize)];
    !matches!(rounds(&values(done, measure)), Rounds::More { .. })
}

/// The steady rounds of a phase, numbered from 0.
pub fn window(phase: &Phase, measure: Measure) -> Option<Range<usize>> {
    let Rounds::Steady { window, .. } = rounds(&values(&phase.repeats, measure)) else {
        return None;
    };
    let has_value = |(number, round)| value(round, measure).map(|_| number);
    let mut numbers = phase.repeats.iter().enumerate().filter_map(has_value);
    let (first, last) = (numbers.nth(window.start)?, numbers.nth(window.len() - 2)?);
    Some(first..last + 1)
}

/// Excludes the rounds before `first` from a phase's figures and marks each of them.
pub fn leave_out_before(phase: &mut Phase, first: usize) {
    let before = phase.repeats.iter_mut().take(first).filter(|round| round.invalid.is_none());
    before.for_each(|round| round.invalid = Some(Invalid::BeforeSteady));
    phase.metrics = metrics(&phase.repeats);
}

/// What the rounds of a phase gave.
pub fn conclude(phase: &Phase) -> Steady {
    let rates = values(&phase.repeats, Measure::RequestsPerS);
    let outcome = match rounds(&rates) {
        Rounds::Steady { window, mean } => {
            Some(SteadyOutcome::Reached { from: window.start as u32, mean_per_s: mean })
        }
        Rounds::NotReached => Some(SteadyOutcome::NotReached),
        Rounds::More { .. } => None,
    };
    Steady { phase: phase.name.clone(), rounds_per_s: rates, outcome }
}

#[cfg(test)]
mod tests;

//! Rounds of one workload until its rate is steady, by the rule of [`seekwell_stats::rounds`]: five
//! rounds in a row within 20 % of their mean, with a fitted line that moves by at most 10 % of it;
//! 25 rounds at most. A round is a repeat of the phase.

use crate::summary::metrics;
use seekwell_runs::{Invalid, Phase, Repeat, Steady, SteadyOutcome};
use seekwell_stats::Rounds;
use seekwell_stats::steady::rounds;

pub const LEAST_ROUNDS: u32 = 5;
pub const ROUNDS: u32 = 25;

/// Reads, writes and discards a second of one round; nothing of one that gave no number.
fn rate(round: &Repeat) -> Option<f64> {
    if round.invalid.as_ref().is_some_and(|why| *why != Invalid::BeforeSteady) {
        return None;
    }
    let moved = ["read", "write", "discard"].iter().filter_map(|op| round.ops.get(*op));
    Some(moved.map(|op| op.requests_per_s).sum())
}

fn rates(phase: &Phase) -> Vec<f64> {
    phase.repeats.iter().filter_map(rate).collect()
}

/// Whether no more rounds are needed: the rate is steady, or will not be.
pub fn is_over(phase: &Phase) -> bool {
    !matches!(rounds(&rates(phase)), Rounds::More { .. })
}

/// Leaves rounds before the steady ones out of the phase's numbers, and says so in each.
pub(crate) fn keep_window(phase: &mut Phase) {
    if let Rounds::Steady { window, .. } = rounds(&rates(phase)) {
        before_steady(phase, window.start);
    }
}

/// Leaves the first `count` valid rounds out of the phase's numbers, and says so in each.
pub fn before_steady(phase: &mut Phase, count: usize) {
    let valid = phase.repeats.iter_mut().filter(|round| round.invalid.is_none());
    valid.take(count).for_each(|round| round.invalid = Some(Invalid::BeforeSteady));
    phase.metrics = metrics(&phase.repeats);
}

/// What the rounds of a phase gave.
pub fn conclude(phase: &Phase) -> Steady {
    let rates = rates(phase);
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

//! The highest rate whose response time stays under a bound: which rate is tried next, and when the
//! search is over.
//!
//! Requests come at a rate whether or not the device keeps up, and response time counts from when
//! each was wanted; a closed loop would slow down with the device and hide what is asked. Rates
//! grow by a factor of two from the lowest until one does not hold, then the gap is halved on a log
//! scale until it is as narrow as [`PRECISION`], and the rate found is confirmed by repeats. A rate
//! that does not hold again counts as too high, and the search goes on below it. Only a rate that
//! held in every repeat is a result.

use seekwell_io::units::Nanos;
use seekwell_runs::{Latency, LimitOutcome, Repeat};

/// The found rate and one that was too high are at most this factor apart.
pub const PRECISION: f64 = 1.03;
/// From one rate to the next while all hold.
const GROWTH: f64 = 2.0;
/// The lowest rate is this share of the closed loop's: with so little to do no queue forms, and
/// response time is service time.
pub const LOWEST: f64 = 1.0 / 32.0;
/// The most rates that are tried. Without noise it takes twelve; a device on which more do not
/// suffice gives another answer every time.
pub const MOST_TRIALS: usize = 40;
/// A trial lasts this long at most.
pub const LONGEST_TRIAL: Nanos = Nanos::from_millis(60_000);
/// Requests of a trial over those its quantile needs at least.
const SPARE: f64 = 1.2;
/// Share of the wanted requests that must complete in the time: with fewer the queue grows, and a
/// longer trial would exceed any bound.
const KEEPS_UP: f64 = 0.95;

/// What is bounded: a statistic of the response time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    Mean,
    P50,
    /// 90 %.
    P90,
    /// 99 %.
    P99,
    /// 99.9 %.
    P99_9,
    /// 99.99 %.
    P99_99,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    pub metric: Metric,
    pub most: Nanos,
}

impl Metric {
    pub const ALL: [Self; 6] =
        [Self::Mean, Self::P50, Self::P90, Self::P99, Self::P99_9, Self::P99_99];

    /// Its name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P99_9 => "p99_9",
            Self::P99_99 => "p99_99",
        }
    }

    /// The fewest requests it is given for: 10/(1−q), and 100 for a mean.
    pub const fn needs(self) -> u64 {
        match self {
            Self::P50 => 20,
            Self::Mean | Self::P90 => 100,
            Self::P99 => 1_000,
            Self::P99_9 => 10_000,
            Self::P99_99 => 100_000,
        }
    }

    /// Its value in nanoseconds, if there were enough requests for it.
    pub fn of(self, latency: &Latency) -> Option<f64> {
        let whole = match self {
            Self::Mean => return Some(latency.ns_mean),
            Self::P50 => latency.ns_p50,
            Self::P90 => latency.ns_p90,
            Self::P99 => latency.ns_p99,
            Self::P99_9 => latency.ns_p99_9,
            Self::P99_99 => latency.ns_p99_99,
        };
        whole.map(|ns| ns as f64)
    }

    /// How long a trial at a rate (requests a second) takes for it, `wanted` at least. `None` if
    /// that is longer than [`LONGEST_TRIAL`].
    pub fn trial_time(self, requests_per_s: f64, wanted: Nanos) -> Option<Nanos> {
        let needed = Nanos::from_secs_f64(SPARE * self.needs() as f64 / requests_per_s);
        (needed <= LONGEST_TRIAL.max(wanted)).then_some(needed.max(wanted))
    }

    /// The lowest rate, requests a second, of which a trial is short enough.
    pub fn lowest_rate(self, wanted: Nanos) -> f64 {
        SPARE * self.needs() as f64 / LONGEST_TRIAL.max(wanted).as_secs_f64() * 1.000_001
    }
}

/// What a trial at a rate gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// Requests completed a second; the fewest of the repeats.
    pub completed_per_s: f64,
    /// The metric, the highest of the repeats and operations; `None` if one lacks it.
    pub response_ns: Option<f64>,
    /// Whether every repeat kept the bound and kept up.
    pub holds: bool,
}

/// Judges the repeats of a trial at `requests_per_s`. Every operation must keep the bound. `None`
/// if a repeat is invalid or nothing was repeated.
pub fn judge(
    repeats: &[Repeat],
    metric: Metric,
    bound: Nanos,
    requests_per_s: f64,
) -> Option<Judged> {
    let mut all = Judged { completed_per_s: f64::INFINITY, response_ns: Some(0.0), holds: true };
    if repeats.is_empty() || repeats.iter().any(|r| r.invalid.is_some()) {
        return None;
    }
    for repeat in repeats {
        let responses = repeat.ops.values().filter_map(|op| op.response.as_ref());
        let response =
            responses.map(|latency| metric.of(latency)).reduce(|a, b| Some(a?.max(b?))).flatten();
        let moved = ["read", "write", "discard"].iter().filter_map(|op| repeat.ops.get(*op));
        let (mut requests, mut per_s) = (0, 0.0);
        for op in moved {
            (requests, per_s) = (requests + op.requests, per_s + op.requests_per_s);
        }
        // Random arrivals vary by chance alone.
        let chance = 3.0 / (requests.max(1) as f64).sqrt();
        let keeps_up = per_s >= requests_per_s * (1.0 - chance.max(1.0 - KEEPS_UP));
        all.completed_per_s = all.completed_per_s.min(per_s);
        all.response_ns = all.response_ns.zip(response).map(|(a, b)| a.max(b));
        all.holds &= keeps_up && response.is_some_and(|ns| ns <= bound.0 as f64);
    }
    Some(all)
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Try this rate once, requests a second.
    Try(f64),
    Confirm(f64),
    Done(LimitOutcome),
}

#[derive(Debug, Clone, Default)]
pub struct Search {
    lowest: f64,
    highest: f64,
    /// Rates that held, ascending, all below `failed`.
    held: Vec<f64>,
    failed: Option<f64>,
    confirmed: Option<f64>,
    /// How often the lowest rate did not hold; once may be an accident.
    lowest_failed: u32,
    trials: usize,
}

impl Search {
    /// A search from a lowest to a highest rate, requests a second.
    pub fn new(lowest: f64, highest: f64) -> Self {
        let lowest = lowest.min(highest);
        Self { lowest, highest, ..Self::default() }
    }

    pub fn next(&self) -> Step {
        if let Some(requests_per_s) = self.confirmed {
            return Step::Done(match self.failed {
                Some(_) => LimitOutcome::Found { requests_per_s },
                None => LimitOutcome::NeverExceeded { requests_per_s },
            });
        }
        if self.lowest_failed > 1 {
            return Step::Done(LimitOutcome::NotEvenLowest { requests_per_s: self.lowest });
        }
        if self.trials >= MOST_TRIALS {
            return Step::Done(LimitOutcome::Unsettled);
        }
        match (self.held.last(), self.failed) {
            (None, _) => Step::Try(self.lowest),
            (Some(&held), None) if held >= self.highest => Step::Confirm(held),
            (Some(&held), None) => Step::Try((held * GROWTH).min(self.highest)),
            (Some(&held), Some(failed)) if failed / held <= PRECISION => Step::Confirm(held),
            (Some(&held), Some(failed)) => Step::Try((held * failed).sqrt()),
        }
    }

    /// Takes what became of the step.
    pub fn tell(&mut self, step: Step, holds: bool) {
        self.trials += 1;
        match (step, holds) {
            (Step::Try(rate), true) => self.held.push(rate),
            (Step::Confirm(rate), true) => self.confirmed = Some(rate),
            (Step::Try(rate) | Step::Confirm(rate), false) => {
                self.held.retain(|held| *held < rate);
                if rate <= self.lowest {
                    self.lowest_failed += 1;
                } else {
                    self.failed = Some(rate);
                }
            }
            (Step::Done(_), _) => {}
        }
    }

    /// How many more trials it takes where nothing surprising happens, the repeats of the
    /// confirmation counted as one.
    pub fn left(&self) -> u32 {
        let halvings = |ratio: f64| (ratio.ln() / PRECISION.ln()).log2().ceil().max(0.0) as u32;
        match (self.held.last(), self.failed) {
            _ if self.confirmed.is_some() => 0,
            (held, None) => {
                let from = held.copied().unwrap_or(self.lowest / GROWTH);
                let up = (self.highest / from).log2().ceil().max(0.0) as u32;
                up + halvings(GROWTH) + 1
            }
            (held, Some(failed)) => halvings(failed / held.copied().unwrap_or(self.lowest)) + 1,
        }
    }
}

#[cfg(test)]
mod tests;

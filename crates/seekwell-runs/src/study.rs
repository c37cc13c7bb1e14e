//! What a bench asked beyond the numbers of its workloads, and what it found.

use crate::calibration::Calibration;
use crate::demand::Demand;
use crate::pts::Pts;
use crate::slowdown::FastCause;
use crate::together::{Ratio, Together};
use serde::{Deserialize, Serialize};

/// A question put to several runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Study {
    /// How rate and latency go with options of the workload.
    Sweep(Sweep),
    /// The highest rate whose response time stays under a bound.
    Limit(Limit),
    /// Whether the device settles.
    Steady(Steady),
    /// What others do to a workload beside them.
    Beside(Beside),
    /// Whether several targets together reach the sum of what each reaches alone.
    Together(Box<Together>),
    /// Where the rate of writes falls.
    Sustained(Sustained),
    /// What the drive writes to its medium.
    Amplification(Amplification),
    /// Whether the target does what a program demands of it.
    Demand(Box<Demand>),
    /// The numbers that a program needs.
    Calibration(Box<Calibration>),
    /// Results of the SNIA suite.
    Pts(Pts),
}

/// One workload alone and beside others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// The phase that measured it alone.
    pub alone: String,
    /// The phase that measured it beside the others.
    pub beside: String,
    /// The phases of the others.
    pub others: Vec<String>,
    /// What the others do to it.
    pub effects: Vec<Effect>,
}

/// What becomes of one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The metric's name: `read.latency_ns_p99`.
    pub metric: String,
    /// Beside over alone, in each round.
    pub rounds: Vec<f64>,
    /// The estimate from these rounds; `None` of fewer than two.
    pub ratio: Option<Ratio>,
}

/// A sweep: one phase for each combination of values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sweep {
    /// The options that were swept, by fio's names; the first is the load.
    pub keys: Vec<String>,
    /// The combinations, in the order they are run.
    pub points: Vec<Point>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    pub phase: String,
    /// The value of each key, as typed on the command line.
    pub values: Vec<String>,
}

/// A search for the highest rate under a bound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// What is bounded: `mean`, `p50`, `p90`, `p99`, `p99_9`, `p99_99`, each of the response time.
    pub metric: String,
    pub bound_ns: u64,
    /// The phase that measured the closed loop: the highest rate there is.
    pub closed_phase: String,
    /// Its rate, requests a second of all threads; `None` before it was measured.
    pub closed_requests_per_s: Option<f64>,
    /// The rates tried, in the order they were.
    pub trials: Vec<Trial>,
    /// The result; `None` if the search was stopped before it had one.
    pub outcome: Option<LimitOutcome>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    pub phase: String,
    /// Requests that were wanted a second, of all threads.
    pub requests_per_s: f64,
    /// Requests that completed a second; the fewest of its repeats.
    pub completed_per_s: f64,
    /// The bounded metric in nanoseconds, the highest of its repeats; `None` if one had too few
    /// requests for it.
    pub response_ns: Option<f64>,
    /// Whether the bound held and requests were completed as fast as they came, in every repeat.
    pub holds: bool,
    /// Whether it was the repeats that confirm a result.
    pub confirms: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum LimitOutcome {
    /// This rate keeps the bound in every repeat, and a slightly higher one does not.
    Found {
        /// Requests a second of all threads.
        requests_per_s: f64,
    },
    /// The bound is exceeded where the device has next to nothing to do.
    NotEvenLowest {
        /// The lowest rate that was tried, requests a second.
        requests_per_s: f64,
    },
    /// The bound is kept at the rate of the closed loop.
    NeverExceeded {
        /// That rate, requests a second.
        requests_per_s: f64,
    },
    /// Rates that kept the bound once did not keep it again, until the trials were used up.
    Unsettled,
}

/// Rounds of one workload until its rate is steady.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// The phase whose repeats are the rounds.
    pub phase: String,
    /// Requests a second of each round that gave a number.
    pub rounds_per_s: Vec<f64>,
    /// The result; `None` if the rounds were stopped before there was one.
    pub outcome: Option<SteadyOutcome>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum SteadyOutcome {
    /// Five rounds in a row were steady.
    Reached {
        /// The first of the five, from 0.
        from: u32,
        /// Their mean, requests a second.
        mean_per_s: f64,
    },
    /// Twenty-five rounds, and no five in a row were.
    NotReached,
}

/// Writes until their rate settles, and what a rest gives back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sustained {
    /// The phase that wrote.
    pub phase: String,
    pub written_bytes: u64,
    /// The most it would have written.
    pub most_bytes: u64,
    pub ended: SustainedEnd,
    /// What was written at one rate each, in order.
    pub stretches: Vec<Stretch>,
    /// What was written before the rate first fell; `None` if it did not fall.
    pub fast: Option<FastRegion>,
    pub cause: FastCause,
    /// What each rest gave back, in order.
    pub recoveries: Vec<Recovery>,
    /// The rate of each of these many bytes.
    pub part_bytes: u64,
    pub rates_bytes_per_s: Vec<f64>,
}

/// Why writing ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SustainedEnd {
    /// The rate had settled.
    Settled,
    /// All that was to be written was.
    Size,
    /// Its time was over.
    Runtime,
    /// It was stopped, or a request failed.
    Stopped,
}

/// A stretch of writes at one rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// Bytes written before it; 0 for the first.
    pub from_bytes: u64,
    /// The least that may be, as far as the rates vary.
    pub from_low_bytes: u64,
    /// The most that may be.
    pub from_high_bytes: u64,
    pub rate_bytes_per_s: f64,
    /// The 5th percentile of the rates of its parts.
    pub low_bytes_per_s: f64,
    /// The 95th.
    pub high_bytes_per_s: f64,
}

/// What can be written before the rate falls.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FastRegion {
    pub bytes: u64,
    pub low_bytes: u64,
    pub high_bytes: u64,
    pub before_bytes_per_s: f64,
    /// Of the last stretch.
    pub after_bytes_per_s: f64,
}

/// What a rest gave back of a fast region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    pub idle_ns: u64,
    /// Bytes that could be written at the first rate again.
    pub bytes: u64,
}

/// What a drive wrote to its medium for what it was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Amplification {
    /// Even writes, then skewed ones.
    pub workloads: Vec<AmplificationOf>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AmplificationOf {
    pub steady: Steady,
    /// Of each round; `None` if the drive did not report enough.
    pub rounds: Vec<Option<f64>>,
    /// In the steady rounds, or in all where the rate did not settle.
    pub host_written_bytes: u64,
    pub media_written_bytes: u64,
    pub write_amplification: Option<f64>,
}

/// What was written before measuring, so that the device is in the state of one in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preconditioning {
    /// Bytes written from start to end: twice the region.
    pub sequential_bytes: u64,
    /// Bytes written at random after that.
    pub random_bytes: u64,
    /// How long it took, in nanoseconds on the target's clock.
    pub took_ns: u64,
}

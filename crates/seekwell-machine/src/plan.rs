//! How much of a load each of some machines bears within limits.
//!
//! A load is scaled in steps: a rate or a trace by a factor, a closed loop by its depth. The
//! highest step at which a machine keeps every limit is found by galloping away from the load as
//! given and halving what is left. A machine that keeps all limits at a load is taken to keep them
//! at every lower one. Nothing is measured in real time, so equal arguments give equal results.
//!
//! What breaks first is shown as [`crate::what_if`] shows what limits a load: the load that breaks
//! a machine is put on machines with one station faster each, and the station that improves the
//! broken limit most is named.

use crate::sweep::{completed, on_threads, run, within};
use crate::what_if::{FASTER, Relief, faster};
use crate::{LoadError, Model};
use seekwell_io::engine::EngineError;
use seekwell_io::histogram::Histogram;
use seekwell_io::request::Request;
use seekwell_io::units::Nanos;
use seekwell_io::value::{ValueError, duration};
use seekwell_io::workload::{Generator, Next, Pace, Source, Together, Workload};
use seekwell_sys::classify;
use serde::{Serialize, Serializer};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Steps from one factor to its double: 2.2 % each.
const STEPS_PER_DOUBLE: i32 = 32;
/// Factors of a rate or a trace that are tried reach from one over this power of two to this power.
const DOUBLES: i32 = 10;
/// Depths of a closed loop that are tried, in each thread.
const DEPTHS: RangeInclusive<i32> = 1..=4096;
/// The most requests of a trace outstanding.
const TRACE_DEPTH: u32 = 1024;
/// A machine that completes less than this share of the requests that arrive has a growing queue.
const KEEPS_UP: f64 = 0.95;

/// What the machines are to do.
#[derive(Debug, Clone, Copy)]
pub enum Load<'a> {
    /// Drawn requests: `requests` of them, over the region of the workload or as much of it as a
    /// machine has. A closed loop is scaled by its depth, an open one by its rate.
    Job {
        /// The workload.
        workload: &'a Workload,
        /// Requests of all threads.
        requests: u64,
    },
    /// Requests of a trace, ascending by the time at which they are wanted; scaled by the speed at
    /// which time passes. Those without a time come with the one before.
    Trace(&'a [Request]),
}

/// A figure that a limit is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Figure {
    /// Mean response time.
    Mean,
    /// A quantile of response times, from 0 to below 1.
    Quantile(f64),
    /// Requests completed a second.
    PerSecond,
}

/// Figures that have names.
const NAMES: [(&str, Figure); 7] = [
    ("mean", Figure::Mean),
    ("p50", Figure::Quantile(0.5)),
    ("p90", Figure::Quantile(0.9)),
    ("p99", Figure::Quantile(0.99)),
    ("p99.9", Figure::Quantile(0.999)),
    ("p99.99", Figure::Quantile(0.9999)),
    ("iops", Figure::PerSecond),
];

/// A bound that a machine has to keep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Limit {
    /// Of what.
    pub figure: Figure,
    /// The longest time in nanoseconds, or the lowest rate a second.
    pub bound: f64,
}

/// Why a text is no limit.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum LimitError {
    #[error("{0:?} is not a limit; one looks like p99=5ms or iops=5000")]
    Unreadable(String),
    #[error(transparent)]
    Time(#[from] ValueError),
}

classify!(LimitError {
    Usage: Unreadable, Time;
});

impl FromStr for Limit {
    type Err = LimitError;

    /// `p99=5ms`, or `iops=5000`.
    fn from_str(text: &str) -> Result<Self, LimitError> {
        let wrong = || LimitError::Unreadable(text.to_owned());
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let (_, figure) = *NAMES.iter().find(|(known, _)| *known == name).ok_or_else(wrong)?;
        let bound = match figure {
            Figure::PerSecond => value.parse().map_err(|_| wrong())?,
            Figure::Mean | Figure::Quantile(_) => duration(value)?.0 as f64,
        };
        let positive = bound > 0.0 && f64::is_finite(bound);
        positive.then_some(Self { figure, bound }).ok_or_else(wrong)
    }
}

/// What a machine gave under a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// The load over the load as given: of rates, of speeds, or of depths.
    pub factor: f64,
    /// Requests each thread keeps outstanding, of a closed loop.
    pub depth: Option<u32>,
    /// Requests completed a second.
    pub requests_per_s: f64,
    /// The figure of each limit, in the limits' order.
    pub figures: Vec<Reached>,
    /// Whether every limit was kept, and the machine kept up.
    pub holds: bool,
}

/// A figure and its value: nanoseconds, or requests a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[allow(missing_docs, reason = "see above")]
pub struct Reached {
    pub figure: Figure,
    pub value: f64,
}

/// What a machine bears.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Planned {
    /// Under the load as given.
    pub given: Trial,
    /// Under the highest load at which it keeps all limits; `None` if it keeps them at none that
    /// was tried.
    pub most: Option<Trial>,
    /// Under the next higher load, at which it does not; `None` if it bears the highest tried.
    pub breaks: Option<Trial>,
    /// What breaks first: the station that, made faster, improves the broken limit most; `None`
    /// if none does, or nothing breaks.
    pub limited_by: Option<Relief>,
    /// Under every load that was tried, ascending.
    pub trials: Vec<Trial>,
}

/// Finds how much of the load each machine bears, on up to `threads` threads; in the machines'
/// order, and independent of the number of threads.
///
/// # Errors
/// For each machine, [`LoadError`].
pub fn plan(
    machines: &[&Model],
    load: Load<'_>,
    limits: &[Limit],
    seed: u64,
    threads: usize,
) -> Vec<Result<Planned, LoadError>> {
    on_threads(machines.len(), threads, |index| search(machines[index], load, limits, seed))
}

fn search(
    model: &Model,
    load: Load<'_>,
    limits: &[Limit],
    seed: u64,
) -> Result<Planned, LoadError> {
    let (steps, start) = load.steps();
    let mut tried: Vec<(i32, Trial)> = Vec::new();
    let mut holds = |step: i32| {
        let trial = attempt(model, load, step, limits, seed)?;
        let holds = trial.holds;
        tried.push((step, trial));
        Ok::<_, LoadError>(holds)
    };
    let (held, broken) = border(&steps, start, &mut holds)?;
    let find = |wanted: Option<i32>| {
        let at = tried.iter().position(|(step, _)| Some(*step) == wanted)?;
        Some(tried[at].1.clone())
    };
    let given = find(Some(start)).ok_or(LoadError::Empty)?;
    let (most, breaks) = (find(held), find(broken));
    let limited_by = match broken.zip(breaks.as_ref()) {
        Some((step, breaks)) => relief(model, load, step, breaks, limits, seed)?,
        None => None,
    };
    tried.sort_by_key(|(step, _)| *step);
    let trials = tried.into_iter().map(|(_, trial)| trial).collect();
    Ok(Planned { given, most, breaks, limited_by, trials })
}

/// Finds the station that, made faster, improves what `breaks` at a step most.
fn relief(
    model: &Model,
    load: Load<'_>,
    step: i32,
    breaks: &Trial,
    limits: &[Limit],
    seed: u64,
) -> Result<Option<Relief>, LoadError> {
    let kept = |n: &usize| limits[*n].kept(breaks.figures[*n].value);
    let broken = (0..limits.len()).find(|n| !kept(n));
    let goodness = |trial: &Trial| match broken {
        // Every limit was kept, but the machine fell behind the load.
        None => trial.requests_per_s,
        Some(n) if limits[n].figure == Figure::PerSecond => trial.figures[n].value,
        Some(n) => 1.0 / trial.figures[n].value,
    };
    let base = goodness(breaks);
    let mut found = Vec::new();
    for (by, other) in faster(model, FASTER) {
        found.push((by, goodness(&attempt(&other, load, step, limits, seed)?) / base));
    }
    Ok(Relief::most(found))
}

/// The last step that holds and the first that does not; both are among those asked for.
fn border<E>(
    steps: &RangeInclusive<i32>,
    start: i32,
    holds: &mut impl FnMut(i32) -> Result<bool, E>,
) -> Result<(Option<i32>, Option<i32>), E> {
    let up = holds(start)?;
    let (mut held, mut broken) = if up { (Some(start), None) } else { (None, Some(start)) };
    let (end, way) = if up { (*steps.end(), 1) } else { (*steps.start(), -1) };
    let (mut at, mut stride) = (start, 1);
    while at != end && (held.is_none() || broken.is_none()) {
        at = if way > 0 { (at + stride).min(end) } else { (at - stride).max(end) };
        stride *= 2;
        let slot = if holds(at)? { &mut held } else { &mut broken };
        *slot = Some(at);
    }
    while let (Some(low), Some(high)) = (held, broken)
        && high - low > 1
    {
        let middle = low + (high - low) / 2;
        let slot = if holds(middle)? { &mut held } else { &mut broken };
        *slot = Some(middle);
    }
    Ok((held, broken))
}

impl Load<'_> {
    /// The steps that are tried, and the one of the load as given.
    fn steps(&self) -> (RangeInclusive<i32>, i32) {
        match self {
            Self::Job { workload, .. } => match workload.pace {
                Pace::Closed { depth } => (DEPTHS, depth.clamp(1, 4096) as i32),
                Pace::Open { .. } => Self::FACTORS,
            },
            Self::Trace(_) => Self::FACTORS,
        }
    }

    const FACTORS: (RangeInclusive<i32>, i32) =
        (-DOUBLES * STEPS_PER_DOUBLE..=DOUBLES * STEPS_PER_DOUBLE, 0);
}

fn attempt(
    model: &Model,
    load: Load<'_>,
    step: i32,
    limits: &[Limit],
    seed: u64,
) -> Result<Trial, LoadError> {
    let power = (f64::from(step) / f64::from(STEPS_PER_DOUBLE)).exp2();
    let capacity = model.capacity();
    let (measured, factor, depth, offered_per_s) = match load {
        Load::Job { workload, requests } => {
            let mut workload = workload.clone();
            let threads = workload.threads.max(1);
            workload.requests = (requests / u64::from(threads)).max(1);
            (workload.runtime_ns, workload.ramp_ns, workload.seed) =
                (Nanos::ZERO, Nanos::ZERO, seed);
            workload.region_bytes =
                workload.region_bytes.min(capacity.saturating_sub(workload.offset_bytes));
            let (factor, closed, offered) = match &mut workload.pace {
                Pace::Closed { depth } => {
                    let factor = f64::from(step) / f64::from(*depth);
                    *depth = step.unsigned_abs();
                    (factor, Some(*depth), None)
                }
                Pace::Open { requests_per_s, .. } => {
                    *requests_per_s *= power;
                    (power, None, Some(*requests_per_s * f64::from(threads)))
                }
            };
            workload.check().map_err(EngineError::from)?;
            let depth = workload.pace.depth();
            let all = (0..workload.threads).map(|t| (Generator::new(&workload, t), depth));
            let mut source = Together::new(all);
            let depth = source.depth();
            (run(model, seed, &mut source, depth)?, factor, closed, offered)
        }
        Load::Trace(requests) => {
            let mut source = Timed { requests, at: 0, speed: power, capacity };
            let span = Nanos(source.due(requests.len().saturating_sub(1)));
            let offered = (span.0 > 0).then(|| requests.len() as f64 / span.as_secs_f64());
            (run(model, seed, &mut source, TRACE_DEPTH)?, power, None, offered)
        }
    };
    let (times, per_s) = completed(&measured)?;
    let reached = |Limit { figure, .. }: &Limit| {
        Ok(Reached { figure: *figure, value: figure.of(&times, per_s)? })
    };
    let figures = limits.iter().map(reached).collect::<Result<Vec<_>, LoadError>>()?;
    // Random arrivals vary by chance alone.
    let slack = (1.0 - KEEPS_UP).max(3.0 / (measured.requests() as f64).sqrt());
    let keeps_up = offered_per_s.is_none_or(|offered| per_s >= offered * (1.0 - slack));
    let kept = limits.iter().zip(&figures).all(|(limit, figure)| limit.kept(figure.value));
    Ok(Trial { factor, depth, requests_per_s: per_s, figures, holds: keeps_up && kept })
}

impl Figure {
    /// As limits and documents call it.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, figure)| *figure == self).map_or("quantile", |(name, _)| name)
    }

    fn of(self, times: &Histogram, per_s: f64) -> Result<f64, LoadError> {
        let too_few = |q: f64| LoadError::TooFew {
            requests: times.count(),
            percent: 100.0 * q,
            needed: (10.0 / (1.0 - q) - 1e-6).ceil() as u64,
        };
        match self {
            Self::PerSecond => Ok(per_s),
            Self::Mean => times.mean_ns().ok_or(LoadError::Empty),
            Self::Quantile(q) => times.quantile(q).map(|ns| ns.0 as f64).ok_or_else(|| too_few(q)),
        }
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Limit {
    fn kept(&self, figure: f64) -> bool {
        match self.figure {
            Figure::PerSecond => figure >= self.bound,
            Figure::Mean | Figure::Quantile(_) => figure <= self.bound,
        }
    }
}

/// Requests of a trace at their times, whether or not the machine keeps up.
struct Timed<'a> {
    requests: &'a [Request],
    at: usize,
    speed: f64,
    capacity: u64,
}

impl Timed<'_> {
    /// When a request is wanted, in nanoseconds since the first.
    fn due(&self, index: usize) -> u64 {
        let time = |index: usize| self.requests.get(index).and_then(|r| r.wanted);
        let first = time(0).unwrap_or(Nanos::ZERO);
        let since = time(index).map_or(0, |wanted| wanted.since(first).0);
        (since as f64 / self.speed) as u64
    }
}

impl Source for Timed<'_> {
    fn next(&mut self, now: Nanos) -> Next {
        let Some(request) = self.requests.get(self.at) else { return Next::Done };
        let wanted = Nanos(self.due(self.at));
        if wanted > now {
            return Next::NotBefore(wanted);
        }
        self.at += 1;
        Next::Request(Request { wanted: Some(wanted), ..within(*request, self.capacity) })
    }
}

#[cfg(test)]
mod tests;

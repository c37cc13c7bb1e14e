//! The highest rate whose response time keeps a bound.

use super::BenchOptions;
use super::stage::Stage;
use crate::{RunError, Watcher};
use seekwell_checkup::limit::{Bound, LOWEST, Metric, Search, Step, judge};
use seekwell_checkup::{Group, PhaseSpec, Plan};
use seekwell_io::units::{Nanos, time_about};
use seekwell_io::workload::{Pace, Workload};
use seekwell_job::PlainJob;
use seekwell_runs::{Limit, Phase, Study, Trial};
use seekwell_sys::classify;
use std::time::Instant;

/// Repeats that confirm a rate, if none are asked for.
const CONFIRMING: u32 = 3;

/// Why no limit can be searched for.
#[derive(Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum LimitError {
    #[error(
        "{} needs {} requests, and at {per_s:.1} requests a second, the most this target gives, \
         that takes longer than a trial may: bound {} or the mean, or give a longer --runtime",
        metric.name().replace('_', "."), metric.needs(),
        if *metric == Metric::P50 { "nothing rarer" } else { "p50" }
    )]
    TooSlow {
        metric: Metric,
        /// The closed loop's rate, requests a second.
        per_s: f64,
    },
}

classify!(LimitError {
    Invalid: TooSlow;
});

/// Searches for the limit; gives whether it was interrupted.
///
/// # Errors
/// [`RunError`] when the region cannot be written, or the device is too slow for the bound.
pub fn search<W: Watcher>(
    stage: &mut Stage<'_, W>,
    options: &BenchOptions<'_>,
    base: &PlainJob,
    bound: Bound,
) -> Result<bool, RunError> {
    if base.iodepth == 1 {
        stage.session.line.note(
            "at most one request is outstanding in each thread: --iodepth=32 lets the disk use its \
             queue",
        );
    }
    let workload = stage.workload(base, options.seed)?;
    let interrupted = options.precondition && stage.precondition(&workload)?;
    let limit = Limit {
        metric: bound.metric.name().into(),
        bound_ns: bound.most.0,
        closed_phase: format!("{}-closed", base.name()),
        closed_requests_per_s: None,
        trials: Vec::new(),
        outcome: None,
    };
    let mut hunt = Hunt { stage, base, workload, bound, limit };
    let interrupted = interrupted || hunt.go(options.repeats.max(CONFIRMING))?;
    hunt.keep();
    Ok(interrupted)
}

/// A search in progress.
struct Hunt<'a, 'h, W> {
    stage: &'a mut Stage<'h, W>,
    base: &'a PlainJob,
    /// The closed loop.
    workload: Workload,
    bound: Bound,
    limit: Limit,
}

impl<W: Watcher> Hunt<'_, '_, W> {
    /// Measures the closed loop, then rate after rate; gives whether it was interrupted.
    fn go(&mut self, repeats: u32) -> Result<bool, RunError> {
        let metric = self.bound.metric;
        self.keep();
        let words = format!("{}, closed loop", self.base.title());
        let name = self.limit.closed_phase.clone();
        let closed = PhaseSpec::new(name, words, Group::Custom, self.workload.clone(), 1);
        let begun = Instant::now();
        if self.run(closed) {
            return Ok(true);
        }
        let pace = begun.elapsed().as_secs_f64() / self.base.run_time().as_secs_f64();
        let Some(highest) = self.last().and_then(total) else { return Ok(false) };
        self.limit.closed_requests_per_s = Some(highest);
        let slowest = metric.lowest_rate(self.base.runtime_ns);
        if slowest > highest {
            return Err(LimitError::TooSlow { metric, per_s: highest }.into());
        }
        let mut search = Search::new((highest * LOWEST).max(slowest), highest);
        loop {
            if let [Trial { holds: true, .. }] = self.limit.trials[..] {
                self.announce(&search, repeats, pace);
            }
            let step = search.next();
            let (rate, times) = match step {
                Step::Done(outcome) => {
                    self.limit.outcome = Some(outcome);
                    return Ok(false);
                }
                Step::Try(rate) => (rate, 1),
                Step::Confirm(rate) => (rate, repeats),
            };
            let runtime = metric.trial_time(rate, self.base.runtime_ns);
            let runtime = runtime.ok_or(LimitError::TooSlow { metric, per_s: highest })?;
            let still = search.left().saturating_sub(1);
            self.stage.session.ahead = Nanos(self.base.runtime_ns.0 * u64::from(still));
            let confirms = matches!(step, Step::Confirm(_));
            let interrupted = self.run(self.trial(rate, runtime, times, confirms));
            let judged = self.last().and_then(|p| judge(&p.repeats, metric, self.bound.most, rate));
            let Some(judged) = judged.filter(|_| !interrupted) else { return Ok(interrupted) };
            self.limit.trials.push(Trial {
                phase: self.last().map(|p| p.name.clone()).unwrap_or_default(),
                requests_per_s: rate,
                completed_per_s: judged.completed_per_s,
                response_ns: judged.response_ns,
                holds: judged.holds,
                confirms,
            });
            self.keep();
            search.tell(step, judged.holds);
        }
    }

    /// Says how long it takes once the lowest rate has kept the bound: longest where the limit is
    /// half of the highest rate, shortest where the highest rate keeps it too. `pace` is how long
    /// the closed loop took for each second of its time: a model's differs.
    fn announce(&self, search: &Search, repeats: u32, pace: f64) {
        let highest = self.limit.closed_requests_per_s.unwrap_or(0.0);
        let [(fewest, least), (most, longest)] =
            [highest, highest / 2.0].map(|limit| self.left(search.clone(), repeats, limit));
        let modelled = self.stage.session.document.modelled;
        let about = |time: Nanos| {
            let real = time.as_secs_f64() * if modelled { pace } else { 1.0 };
            time_about(Nanos::from_secs_f64(real))
        };
        self.stage.session.line.note(&format!(
            "{fewest} to {most} more runs to find the limit: {} to {}, and more where a rate that \
             held does not hold again",
            about(least),
            about(longest)
        ));
    }

    /// The runs that a search still takes where rates up to `limit` keep the bound, and their time.
    fn left(&self, mut search: Search, repeats: u32, limit: f64) -> (u32, Nanos) {
        let (mut runs, mut whole) = (0, Nanos::ZERO);
        loop {
            let step = search.next();
            let (rate, times) = match step {
                Step::Done(_) => return (runs, whole),
                Step::Try(rate) => (rate, 1),
                Step::Confirm(rate) => (rate, repeats),
            };
            let runtime = self.bound.metric.trial_time(rate, self.base.runtime_ns);
            let each = runtime.unwrap_or(self.base.runtime_ns) + self.base.ramp_ns;
            whole += Nanos(each.0 * u64::from(times));
            runs += times;
            search.tell(step, rate <= limit);
        }
    }

    /// The phase that tries a rate, requests a second of all threads.
    fn trial(&self, rate: f64, runtime: Nanos, repeats: u32, confirms: bool) -> PhaseSpec {
        let number = self.limit.trials.len() as u64 + 1;
        let base = self.base;
        let mut trial = self.workload.clone();
        trial.pace = Pace::Open {
            requests_per_s: rate / f64::from(base.numjobs),
            poisson: base.poisson,
            depth: base.iodepth,
        };
        trial.runtime_ns = runtime;
        trial.seed = self.workload.seed + 1000 * number;
        let confirmed = if confirms { ", to confirm" } else { "" };
        let words = format!("{}, {rate:.0} requests/s{confirmed}", base.title());
        let phase = format!("{}-try-{number}", base.name());
        PhaseSpec::new(phase, words, Group::Custom, trial, repeats)
    }

    fn run(&mut self, phase: PhaseSpec) -> bool {
        let plan = Plan::of(vec![phase], Nanos::ZERO);
        self.stage.session.run(&plan, &mut self.stage.executor)
    }

    fn last(&self) -> Option<&Phase> {
        self.stage.session.document.phases.last()
    }

    /// Puts what is known so far into the document.
    fn keep(&mut self) {
        self.stage.session.document.study = Some(Study::Limit(self.limit.clone()));
    }
}

/// Reads, writes and discards a second of a phase.
fn total(phase: &Phase) -> Option<f64> {
    let of = |op: &str| phase.median(&format!("{op}.requests_per_s"));
    let sum: f64 = ["read", "write", "discard"].into_iter().filter_map(of).sum();
    (sum > 0.0).then_some(sum)
}

//! Runs a plan on anything that executes workloads.
//!
//! The driver decides what is run next, what a failure means for the rest, and what is kept. It
//! knows neither files nor rings nor clocks, so interruption, a vanished disk and a disk that fails
//! on its third request are all tested with a fake.

use crate::host;
use crate::plan::{PhaseSpec, Plan, Rise, Rounds};
use crate::steady;
use crate::summary::{detail, metrics, summarize};
use seekwell_io::engine::EngineError;
use seekwell_io::measurement::{Failure, FailureKind, Measurement, Stopped, is_device_gone};
use seekwell_io::units::Nanos;
use seekwell_io::workload::Workload;
use seekwell_runs::{Detail, DeviceCount, Invalid, Phase, Repeat, Skipped};
use seekwell_sys::{HostActivity, classify};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// What executes workloads: the real engine, a model, or a fake.
pub trait Executor {
    /// Runs one workload from start to end. It watches the stop flag itself and then returns what
    /// was measured so far with [`Stopped::Interrupted`], or [`ExecuteError::Interrupted`].
    ///
    /// # Errors
    /// [`ExecuteError`] where nothing could be measured. A request that failed midway is not an
    /// error but a measurement with [`Stopped::Failed`].
    fn execute(&mut self, workload: &Workload) -> Result<Execution, ExecuteError>;

    /// Runs workloads of several phases at the same time, as far as it can; by default one after
    /// the other. What comes of each is in their order.
    fn beside(&mut self, loads: &[Load<'_>]) -> Vec<Result<Execution, ExecuteError>> {
        loads.iter().map(|load| self.execute(&load.workload)).collect()
    }

    /// A phase is about to be executed: an executor that issues some phases differently goes by its
    /// name, one that has several targets by its target.
    fn begin(&mut self, _phase: &PhaseSpec) {}

    /// The time on the executor's own clock, from any start.
    fn now(&self) -> Nanos;

    /// Leaves the target alone for a moment. Pauses are a tenth of a second at most.
    fn settle(&mut self, pause: Nanos) {
        std::thread::sleep(pause.into());
    }
}

/// A phase's workload with the seed of this execution.
#[derive(Debug)]
pub struct Load<'a> {
    pub phase: &'a PhaseSpec,
    pub workload: Workload,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    pub measurement: Measurement,
    /// What the device's own counters gained, where it has them.
    pub device: Option<DeviceCount>,
    /// What the machine did meanwhile; nothing is known beside a model.
    pub host: HostActivity,
    /// What the drive counted as written, if it says.
    pub wear: Option<Result<Wear, WentBack>>,
    /// Shares of the time in percent, by the names of the repeat's values: in which demand exceeded
    /// a limit of a cloud volume ([`Repeat::EXCEEDED`]), or a thin pool's metadata was busy.
    pub shares: BTreeMap<&'static str, f64>,
}

impl Execution {
    /// A measurement without any other counts.
    pub fn of(measurement: Measurement) -> Self {
        let (host, shares) = (HostActivity::default(), BTreeMap::new());
        Self { measurement, device: None, host, wear: None, shares }
    }
}

/// Counters of a drive that cannot be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the drive's counters of what was written went backwards during the run")]
pub struct WentBack;

/// What a drive counted as written during a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wear {
    /// By the host.
    pub host_bytes: u64,
    /// To the medium, copies that the drive made included; `None` if it does not say.
    pub media_bytes: Option<u64>,
    /// Moved by garbage collection, of `media_bytes`; only a model knows.
    pub collected_bytes: Option<u64>,
    /// Superblocks that garbage collection erased; only a model knows.
    pub erased_superblocks: Option<u64>,
    /// What its counters advance by.
    pub unit_bytes: u64,
}

impl Wear {
    /// Fewer units give no ratio worth the name.
    const UNITS: u64 = 100;

    /// What the counters gained since `before`.
    ///
    /// # Errors
    /// [`WentBack`] where one went backwards, as after an update of the firmware.
    pub fn since(self, before: Self) -> Result<Self, WentBack> {
        let gained = |after: u64, before: u64| after.checked_sub(before).ok_or(WentBack);
        let told = |after: Option<u64>, before: Option<u64>| {
            after.zip(before).map(|(after, before)| gained(after, before)).transpose()
        };
        Ok(Self {
            host_bytes: gained(self.host_bytes, before.host_bytes)?,
            media_bytes: told(self.media_bytes, before.media_bytes)?,
            collected_bytes: told(self.collected_bytes, before.collected_bytes)?,
            erased_superblocks: told(self.erased_superblocks, before.erased_superblocks)?,
            ..self
        })
    }

    /// Bytes to the medium for each of the host's, where both are known well enough.
    pub fn amplification(&self) -> Option<f64> {
        let enough = self.host_bytes >= Self::UNITS * self.unit_bytes.max(1);
        Some(self.media_bytes.filter(|_| enough)? as f64 / self.host_bytes as f64)
    }

    /// As values of a repeat.
    fn values(&self) -> impl Iterator<Item = (String, f64)> {
        let counted = [
            ("host_written_bytes", Some(self.host_bytes)),
            ("media_written_bytes", self.media_bytes),
            (Repeat::COLLECTED, self.collected_bytes),
            (Repeat::ERASED, self.erased_superblocks),
        ];
        let told = counted.into_iter().filter_map(|(name, value)| Some((name, value? as f64)));
        let ratio = self.amplification().map(|ratio| (Repeat::AMPLIFICATION, ratio));
        told.chain(ratio).map(|(name, value)| (name.to_owned(), value))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExecuteError {
    /// The stop flag was seen before anything was measured.
    #[error("interrupted")]
    Interrupted,
    #[error("the device is gone: {}", FailureKind::Errno { errno: *errno })]
    DeviceGone { errno: i32 },
    /// A request failed before anything was measured.
    #[error("{0}")]
    Io(Failure),
    #[error("nothing completed for {waited}, with {outstanding} requests outstanding")]
    Stalled { waited: Nanos, outstanding: u64 },
    #[error("cannot open {path}: {}", FailureKind::Errno { errno: *errno })]
    OpenFailed { path: String, errno: i32 },
    #[error(transparent)]
    Engine(#[from] EngineError),
}

classify!(ExecuteError {
    Refused: OpenFailed;
    Invalid: DeviceGone, Io, Stalled;
    Interrupted: Interrupted;
    | Self::Engine(error) => error.class(),
});

/// Where a run stands: handed to the observer before and after each execution.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    pub phase: &'a PhaseSpec,
    /// The round, from 0.
    pub round: u32,
    pub rounds: u32,
    /// Time on the executor's clock since the run began.
    pub elapsed: Nanos,
    /// Planned time of the executions that are done.
    pub done: Nanos,
    /// Planned time of the executions still to come, this one included if it has not finished.
    pub remaining: Nanos,
}

impl Progress<'_> {
    /// The time still needed: what is planned, stretched by how much longer than planned it has
    /// taken so far.
    pub fn eta(&self) -> Nanos {
        if self.done == Nanos::ZERO || self.elapsed <= self.done {
            return self.remaining;
        }
        let stretch = self.elapsed.as_secs_f64() / self.done.as_secs_f64();
        Nanos::from_secs_f64(self.remaining.as_secs_f64() * stretch)
    }
}

/// Called as a run progresses. The default does nothing.
pub trait Observer {
    /// An execution is about to begin.
    fn started(&mut self, _at: &Progress<'_>) {}
    /// An execution has ended, successfully or not. `so_far` is complete up to here and may be
    /// saved.
    fn finished(&mut self, _at: &Progress<'_>, _so_far: &Results) {}
}

impl Observer for () {}

/// What a run gave, finished or not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Results {
    /// All phases of the plan in its order; a phase without repeats says why in `skipped`.
    pub phases: Vec<Phase>,
    /// Histograms and series.
    pub detail: Detail,
    /// It was stopped before its end.
    pub interrupted: bool,
}

/// Runs a plan to its end, or until `stop` is set or its last target is gone, fails or has stopped
/// answering.
pub fn run(
    plan: &Plan,
    executor: &mut dyn Executor,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Results {
    resume(plan, Results::default(), executor, observer, stop)
}

/// Runs the rest of a plan that was stopped after `so_far`. An execution that was interrupted is
/// repeated.
pub fn resume(
    plan: &Plan,
    so_far: Results,
    executor: &mut dyn Executor,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Results {
    let mut driver = Driver::new(plan, executor.now());
    driver.take_up(so_far);
    for round in 0..plan.rounds() {
        let mut next = 0;
        while next < plan.phases.len() {
            let group = plan.group(next);
            next = group.end;
            if driver.is_late(round, executor.now()) {
                continue;
            }
            let wanted = driver.wanted(group, round);
            if wanted.is_empty() {
                continue;
            }
            let after = if stop.load(Ordering::Relaxed) {
                vec![After::Interrupted]
            } else {
                driver.execute(&wanted, round, executor, observer)
            };
            for (index, after) in wanted.into_iter().zip(after) {
                if let Some(reason) = driver.end_reason(index, after) {
                    return driver.finish(reason);
                }
            }
        }
    }
    driver.finish(Skipped::NotReached)
}

/// What one execution means for the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    GoOn,
    /// This phase will not work next time either.
    DropPhase,
    /// A request failed.
    Failed,
    Stalled,
    Gone,
    Interrupted,
}

struct Driver<'a> {
    plan: &'a Plan,
    results: Results,
    /// Phases that are not run any more, by their place in the plan.
    dropped: Vec<bool>,
    begun: Nanos,
    done: Nanos,
    /// Executions still to come, by phase.
    left: Vec<u32>,
    /// By target.
    stalls: BTreeMap<usize, u32>,
    /// The time for another round was over.
    late: bool,
}

impl<'a> Driver<'a> {
    fn new(plan: &'a Plan, begun: Nanos) -> Self {
        let phase = |spec: &PhaseSpec| Phase {
            skipped: Some(spec.skipped.clone().map_or(Skipped::NotReached, Skipped::Because)),
            ..Phase::new(&spec.name, &spec.title, spec.workload.clone())
        };
        let left = |s: &PhaseSpec| if s.skipped.is_none() { s.repeats } else { 0 };
        let phases = plan.phases.iter().map(phase).collect();
        Self {
            plan,
            results: Results { phases, ..Results::default() },
            dropped: plan.phases.iter().map(|s| s.skipped.is_some()).collect(),
            begun,
            done: Nanos::ZERO,
            left: plan.phases.iter().map(left).collect(),
            stalls: BTreeMap::new(),
            late: false,
        }
    }

    /// Starts where `so_far` ends.
    fn take_up(&mut self, so_far: Results) {
        for phase in so_far.phases {
            let Some(index) = self.plan.phases.iter().position(|spec| spec.name == phase.name)
            else {
                continue;
            };
            let kept = &mut self.results.phases[index];
            kept.repeats = phase.repeats;
            kept.repeats.retain(|repeat| repeat.stopped != Stopped::Interrupted);
            if !kept.repeats.is_empty() {
                kept.skipped = None;
                kept.metrics = metrics(&kept.repeats);
            }
            self.left[index] = self.left[index].saturating_sub(kept.repeats.len() as u32);
            let repeats = kept.repeats.len() as u32;
            let details = so_far.detail.repeats.iter().filter(|d| d.phase == phase.name);
            let done = details.filter(|detail| detail.repeat < repeats).cloned();
            self.results.detail.repeats.extend(done);
        }
    }

    /// Whether the time for another round is over.
    fn is_late(&mut self, round: u32, now: Nanos) -> bool {
        let over = self.plan.budget.is_some_and(|most| now.since(self.begun) > most);
        self.late |= over && round > 0;
        if self.late {
            self.left.fill(0);
        }
        self.late
    }

    /// Whether a phase is run in this round. A curve that had stopped rising is looked at again in
    /// each: what is said of it in the end is said of the rates that are shown.
    fn wants(&mut self, index: usize, round: u32) -> bool {
        let spec = &self.plan.phases[index];
        let has_it = self.results.phases[index].repeats.len() > round as usize;
        if self.dropped[index] || round >= spec.repeats || has_it {
            return false;
        }
        if let Rounds::UntilSteady(tracked) = spec.rounds
            && steady::is_over(&self.results.phases[tracked.place], tracked.measure, round)
        {
            self.left[index] = 0;
            return false;
        }
        let begun = !self.results.phases[index].repeats.is_empty();
        let Some(rise) = spec.only_if.as_ref().filter(|_| !begun) else {
            return true;
        };
        let why_not = self.why_not(rise);
        let wanted = why_not.is_none();
        if let Some(reason) = why_not {
            self.left[index] = self.left[index].saturating_sub(1);
            self.results.phases[index].skipped = Some(Skipped::Because(reason));
        }
        wanted
    }

    /// The phases of a group that are run in this round. One alone of several that were to run at
    /// the same time is not worth running.
    fn wanted(&mut self, group: Range<usize>, round: u32) -> Vec<usize> {
        let wanted: Vec<usize> = group.clone().filter(|i| self.wants(*i, round)).collect();
        if group.len() > 1 && wanted.len() == 1 {
            self.drop_phase(wanted[0], "nothing is left to run beside it".into());
            return Vec::new();
        }
        wanted
    }

    /// Why a curve is not extended, or `None` if it still rises.
    fn why_not(&self, rise: &Rise) -> Option<String> {
        let rate = |name: &str| {
            let phase = self.results.phases.iter().find(|p| p.name == name)?;
            phase.median("read.requests_per_s").filter(|r| *r > 0.0)
        };
        let (Some(from), Some(to)) = (rate(&rise.from), rate(&rise.to)) else {
            let to = self.results.phases.iter().find(|p| p.name == rise.to);
            let stopped = to.is_some_and(|p| matches!(p.skipped, Some(Skipped::Because(_))));
            let why = if stopped { "the curve had stopped rising before" } else { "no rate for" };
            return Some(format!("left out: {why} {}", rise.to));
        };
        let gain = to / from;
        (gain <= rise.factor).then(|| {
            let percent = seekwell_stats::signed((gain - 1.0) * 100.0, 0);
            let (from, to) = (&rise.from, &rise.to);
            format!("left out: the curve had stopped rising ({percent} % from {from} to {to})")
        })
    }

    fn drop_phase(&mut self, index: usize, reason: String) {
        self.dropped[index] = true;
        self.left[index] = 0;
        let phase = &mut self.results.phases[index];
        if phase.repeats.is_empty() {
            phase.skipped = Some(Skipped::Because(reason));
        }
    }

    fn progress(&self, index: usize, round: u32, now: Nanos) -> Progress<'a> {
        Progress {
            phase: &self.plan.phases[index],
            round,
            rounds: self.plan.rounds(),
            elapsed: now.since(self.begun),
            done: self.done,
            remaining: self.plan.time_of(&self.left),
        }
    }

    /// Runs phases, several of them at the same time; gives what each means for the rest.
    fn execute(
        &mut self,
        wanted: &[usize],
        round: u32,
        executor: &mut dyn Executor,
        observer: &mut dyn Observer,
    ) -> Vec<After> {
        let plan = self.plan;
        let first = wanted[0];
        observer.started(&self.progress(first, round, executor.now()));
        executor.settle(plan.settle);
        let load = |index: &usize| {
            let phase = &plan.phases[*index];
            let seed = seed(phase.workload.seed, *index, round);
            Load { phase, workload: Workload { seed, ..phase.workload.clone() } }
        };
        let loads: Vec<Load<'_>> = wanted.iter().map(load).collect();
        let executed = match &loads[..] {
            [only] => {
                executor.begin(only.phase);
                vec![executor.execute(&only.workload)]
            }
            several => executor.beside(several),
        };
        let mut after = Vec::with_capacity(wanted.len());
        for ((index, load), execution) in wanted.iter().zip(&loads).zip(executed) {
            after.push(match execution {
                Ok(execution) => self.keep(*index, &load.workload, &execution),
                Err(error) => self.keep_error(*index, &load.workload, &error),
            });
            self.left[*index] = self.left[*index].saturating_sub(1);
        }
        self.done += plan.duration_of(&plan.phases[first]);
        observer.finished(&self.progress(first, round, executor.now()), &self.results);
        after
    }

    fn keep(&mut self, index: usize, workload: &Workload, execution: &Execution) -> After {
        let m = &execution.measurement;
        let phase = &mut self.results.phases[index];
        let number = phase.repeats.len() as u32;
        if m.requests() > 0 {
            let details = &mut self.results.detail.repeats;
            if let Some(rounds) = self.plan.detailed_rounds {
                details.retain(|d| d.phase != phase.name || d.repeat + rounds > number);
            }
            details.push(detail(&phase.name, number, m));
        }
        let failure = m.first_failure;
        let stopped = m.stopped;
        let mut repeat = summarize(m, execution.device, workload.seed);
        repeat.values.extend(host::values(&execution.host));
        let shares = execution.shares.iter();
        repeat.values.extend(shares.map(|(name, percent)| ((*name).to_owned(), *percent)));
        match execution.wear {
            Some(Ok(wear)) => repeat.values.extend(wear.values()),
            Some(Err(wrong)) => repeat.notes.push(wrong.to_string()),
            None => {}
        }
        self.push(index, repeat);
        match (failure.map(|f| f.kind), stopped) {
            (Some(kind), _) if kind.is_device_gone() => After::Gone,
            (_, Stopped::Interrupted) => After::Interrupted,
            (_, Stopped::Stalled) => After::Stalled,
            (Some(_), _) => After::Failed,
            _ => After::GoOn,
        }
    }

    fn keep_error(&mut self, index: usize, workload: &Workload, error: &ExecuteError) -> After {
        use ExecuteError as E;
        let (stopped, failure, after) = match error {
            E::Interrupted => return After::Interrupted,
            E::DeviceGone { .. } => (Stopped::Failed, None, After::Gone),
            E::OpenFailed { errno, .. } if is_device_gone(*errno) => {
                (Stopped::Failed, None, After::Gone)
            }
            E::Io(failure) => {
                let gone = failure.kind.is_device_gone();
                (Stopped::Failed, Some(*failure), if gone { After::Gone } else { After::Failed })
            }
            E::Engine(EngineError::CalledOff) => (Stopped::Interrupted, None, After::GoOn),
            E::Stalled { .. } => (Stopped::Stalled, None, After::Stalled),
            E::OpenFailed { .. } | E::Engine(_) => {
                self.drop_phase(index, error.to_string());
                return After::DropPhase;
            }
        };
        let repeat = Repeat {
            failure,
            failed: u64::from(failure.is_some()),
            invalid: Some(match error {
                E::OpenFailed { errno, .. } | E::DeviceGone { errno } if after == After::Gone => {
                    Invalid::device_gone(Some(&FailureKind::Errno { errno: *errno }))
                }
                _ => Invalid::Because(error.to_string()),
            }),
            ..Repeat::new(workload.seed, stopped)
        };
        self.push(index, repeat);
        after
    }

    fn push(&mut self, index: usize, repeat: Repeat) {
        let phase = &mut self.results.phases[index];
        phase.skipped = None;
        phase.repeats.push(repeat);
        phase.metrics = metrics(&phase.repeats);
    }

    /// Why the run ends here, or `None` if it goes on. A target that stalled once may have had
    /// a reason; each further stall costs as long again, so the second is the last. Of one target a
    /// failed request is no reason; of several it is left out, because it would end what runs
    /// beside it.
    fn end_reason(&mut self, index: usize, after: After) -> Option<Skipped> {
        let target = self.plan.phases[index].target;
        let several = self.plan.phases.iter().any(|p| p.target != target);
        match after {
            After::GoOn | After::DropPhase => None,
            After::Failed => {
                let last = self.results.phases[index].repeats.last();
                let failure = last.and_then(|r| r.failure).filter(|_| several)?;
                self.lose(target, Skipped::Because(failure.to_string()))
            }
            After::Stalled => {
                let stalls = self.stalls.entry(target).or_default();
                *stalls += 1;
                if *stalls > 1 { self.lose(target, Skipped::DeviceStalled) } else { None }
            }
            After::Gone => self.lose(target, Skipped::DeviceGone),
            After::Interrupted => {
                self.results.interrupted = true;
                Some(Skipped::Interrupted)
            }
        }
    }

    /// Runs nothing more on a target; gives the reason if nothing is left to run.
    fn lose(&mut self, target: usize, reason: Skipped) -> Option<Skipped> {
        for (index, spec) in self.plan.phases.iter().enumerate() {
            let phase = &mut self.results.phases[index];
            if spec.target != target || std::mem::replace(&mut self.dropped[index], true) {
                continue;
            }
            self.left[index] = 0;
            if phase.skipped == Some(Skipped::NotReached) {
                phase.skipped = Some(reason.clone());
            } else if (1..spec.repeats as usize).contains(&phase.repeats.len()) {
                phase.cut_short = Some(reason.clone());
            }
        }
        self.dropped.iter().all(|dropped| *dropped).then_some(reason)
    }

    fn finish(mut self, reason: Skipped) -> Results {
        let cut_short = match reason {
            Skipped::NotReached => self.late.then_some(Skipped::OutOfTime),
            ref ended => Some(ended.clone()),
        };
        let window = |spec: &PhaseSpec| match spec.rounds {
            Rounds::All => None,
            Rounds::UntilSteady(tracked) => {
                steady::window(&self.results.phases[tracked.place], tracked.measure)
            }
        };
        let windows: Vec<_> = self.plan.phases.iter().map(window).collect();
        let phases = self.results.phases.iter_mut();
        for ((phase, spec), window) in phases.zip(&self.plan.phases).zip(windows) {
            if !phase.repeats.is_empty() && phase.repeats.len() < spec.repeats as usize {
                phase.cut_short = phase.cut_short.take().or_else(|| cut_short.clone());
            }
            if phase.skipped == Some(Skipped::NotReached) {
                phase.skipped = Some(reason.clone());
            }
            if let Some(window) = window {
                steady::leave_out_before(phase, window.start);
            }
        }
        self.results
    }
}

/// A separate seed for every execution, reproducible from the plan alone. Repeats must not read the
/// same blocks in the same order again: the second would be served by the drive's cache.
fn seed(base: u64, index: usize, round: u32) -> u64 {
    base.wrapping_add(1000 * index as u64 + u64::from(round))
}

#[cfg(test)]
mod tests;

//! One workload, or what takes several runs of it: a sweep, the limit under a bound, rounds until a
//! steady state.

mod beside;
mod limit;
mod pts;
mod stage;
mod sustained;
mod wa;
mod watch;

pub use limit::LimitError;
pub use pts::{PtsOptions, PtsPlan};
pub(crate) use watch::Watch;

use crate::{Finished, Host, Purpose, RunError, Watcher, is_modelled, model, pick};
use seekwell_access::Consent;
use seekwell_checkup::limit::Bound;
use seekwell_checkup::steady::{LEAST_ROUNDS, ROUNDS, conclude};
use seekwell_checkup::{ExecuteError, Execution, Executor, Group, PhaseSpec, Plan, Rounds};
use seekwell_experiment::{Grid, GridPoint, SweepError};
use seekwell_io::target::Engine;
use seekwell_io::units::{Nanos, time_about};
use seekwell_io::workload::Workload;
use seekwell_job::PlainJob;
use seekwell_machine::Model;
use seekwell_runs::{Point, Study, Sweep};
use stage::Stage;
use std::path::Path;
use std::time::Instant;

/// What is measured on, and how often.
#[derive(Debug, Clone)]
pub struct BenchOptions<'a> {
    /// The target.
    pub target: &'a Path,
    /// Size of the temporary file, or of the part of the target used.
    pub size_bytes: Option<u64>,
    /// The device that may be overwritten.
    pub destroy: Option<Consent<'a>>,
    /// Changed parameters of a modelled machine.
    pub set: &'a [(String, String)],
    /// Write the region before measuring.
    pub precondition: bool,
    /// Runs of each workload.
    pub repeats: u32,
    /// Of all requests.
    pub seed: u64,
}

/// What is asked.
#[derive(Debug, Clone)]
pub enum Question {
    /// How fast a workload is.
    Once(PlainJob),
    /// How fast it is once it has become steady.
    Steady(PlainJob),
    /// How that depends on its options.
    Sweep(Grid),
    /// What others do to a workload beside them.
    Beside(PlainJob, Vec<PlainJob>),
    /// The highest rate whose response time keeps a bound.
    Limit(PlainJob, Bound),
    /// Where the rate of writes falls, and what each of these rests gives back.
    Sustained {
        /// How it writes. Its time does not count.
        job: PlainJob,
        /// The most that writing may take.
        runtime: Option<Nanos>,
        /// The rests, in order.
        rests: Vec<Nanos>,
    },
    /// What a drive writes to its medium for what it is given, in its steady state.
    Amplification {
        /// Writes spread evenly.
        even: PlainJob,
        /// Most of them to few blocks.
        skewed: PlainJob,
    },
    /// What the tests of SNIA's specification give.
    Pts(PtsPlan),
}

impl Question {
    /// Every workload that will be run.
    pub fn workloads(&self) -> Vec<&PlainJob> {
        match self {
            Self::Once(job) | Self::Steady(job) | Self::Limit(job, _) => vec![job],
            Self::Sustained { job, .. } => vec![job],
            Self::Amplification { even, skewed } => vec![even, skewed],
            Self::Beside(job, others) => std::iter::once(job).chain(others).collect(),
            Self::Sweep(grid) => grid.points.iter().map(|point| &point.job).collect(),
            Self::Pts(pts) => pts.workloads().collect(),
        }
    }

    /// Whether a run finds what the one before it left, on a modelled machine too.
    const fn goes_by_rounds(&self) -> bool {
        matches!(self, Self::Steady(_) | Self::Pts(_))
    }
}

/// Measures what answers a question.
///
/// # Errors
/// [`RunError`] for what the target, the safety rules or the kernel refuse.
pub fn bench<W: Watcher>(
    host: Host<'_>,
    watcher: W,
    purpose: Purpose,
    options: &BenchOptions<'_>,
    question: &Question,
) -> Result<Finished, RunError> {
    let mut models = Vec::new();
    if let Question::Sweep(grid) = question {
        if grid.sweeps_engine() && is_modelled(options.target) {
            return Err(SweepError::NoEngine.into());
        }
        let rings =
            |point: &GridPoint| matches!(point.job.engine, Engine::IoUring | Engine::IoUringCmd);
        if grid.sweeps_engine() && grid.points.iter().any(rings) {
            pick(Engine::IoUring, |text| watcher.note(text))?;
        }
        models = swept_models(options, grid)?;
    }
    if matches!(question, Question::Beside(..)) && is_modelled(options.target) {
        return Err(RunError::NotBeside);
    }
    let mut stage = Stage::begin(host, watcher, purpose, options, question)?;
    let interrupted = match question {
        Question::Once(workload) => once(&mut stage, options, workload, Rounds::All)?,
        Question::Steady(workload) => {
            let interrupted = once(&mut stage, options, workload, Rounds::OWN_RATE)?;
            let rounds = stage.session.document.phases.first().map(conclude);
            stage.session.document.study = rounds.map(Study::Steady);
            interrupted
        }
        Question::Sweep(grid) => sweep(&mut stage, options, grid, models)?,
        Question::Beside(job, others) => beside::measure(&mut stage, options, job, others)?,
        Question::Limit(workload, bound) => limit::search(&mut stage, options, workload, *bound)?,
        Question::Sustained { job, runtime, rests } => {
            sustained::write(&mut stage, options, job, (*runtime, rests))?
        }
        Question::Amplification { even, skewed } => {
            wa::rounds(&mut stage, options, [("even", even), ("skewed", skewed)])?
        }
        Question::Pts(pts) => pts::run(&mut stage, options, pts)?,
    };
    stage.session.conclude(interrupted, stage.wanted_bytes);
    Ok(stage.session.end())
}

/// Measures one workload; gives whether it was interrupted.
fn once<W: Watcher>(
    stage: &mut Stage<'_, W>,
    options: &BenchOptions<'_>,
    workload: &PlainJob,
    rounds: Rounds,
) -> Result<bool, RunError> {
    let drawn = stage.workload(workload, options.seed)?;
    let (name, title) = (workload.name(), workload.title());
    let mut spec = PhaseSpec::new(name, title, Group::Custom, drawn, options.repeats);
    if rounds == Rounds::All {
        return stage.run(&Plan::of(vec![spec], Nanos::ZERO), options.precondition, None);
    }
    (spec.rounds, spec.repeats) = (rounds, ROUNDS);
    let plan = Plan::of(vec![spec], Nanos::ZERO);
    let longest = expected(stage, &plan)?;
    let said =
        format!("{LEAST_ROUNDS} to {ROUNDS} rounds until the rate is steady: {longest} at most");
    stage.run(&plan, options.precondition, Some(said))
}

/// The machine of each point of a sweep; none if points do not differ in it.
fn swept_models(options: &BenchOptions<'_>, grid: &Grid) -> Result<Vec<Model>, RunError> {
    let Some(key) = grid.machine_key() else { return Ok(Vec::new()) };
    let key = || key.to_owned();
    if !is_modelled(options.target) {
        return Err(SweepError::NotModelled { key: key() }.into());
    }
    if options.precondition {
        return Err(SweepError::NotPreconditioned { key: key() }.into());
    }
    let of =
        |point: &GridPoint| model(options.target, &[options.set, point.set.as_slice()].concat());
    grid.points.iter().map(of).collect()
}

/// Measures each point of a sweep, on its own one of `models` if there are any; gives whether it
/// was interrupted.
fn sweep<W: Watcher>(
    stage: &mut Stage<'_, W>,
    options: &BenchOptions<'_>,
    grid: &Grid,
    models: Vec<Model>,
) -> Result<bool, RunError> {
    let own = stage.session.engine();
    let mut phases = Vec::with_capacity(grid.points.len());
    let mut study = Sweep { keys: grid.keys.clone(), points: Vec::new() };
    let mut models = models.into_iter();
    for GridPoint { values, job: workload, phase, title, .. } in &grid.points {
        let engine = if workload.engine == Engine::Auto { own } else { workload.engine };
        stage.executor.issue_phase_by(phase, engine, workload.tags());
        let mut drawn = stage.workload(workload, options.seed)?;
        if let Some(model) = models.next() {
            let room = model.capacity().saturating_sub(drawn.offset_bytes);
            drawn.region_bytes = drawn.region_bytes.min(room);
            drawn.check()?;
            stage.executor.ask_in_phase(phase, model);
        }
        phases.push(PhaseSpec::new(phase, title, Group::Custom, drawn, options.repeats));
        study.points.push(Point { phase: phase.clone(), values: values.clone() });
    }
    let plan = Plan::of(phases, Nanos::ZERO);
    let rounds = if options.repeats > 1 {
        format!(" × {} repeats", options.repeats)
    } else {
        String::new()
    };
    let (points, about) = (grid.points.len(), expected(stage, &plan)?);
    stage.session.document.study = Some(Study::Sweep(study));
    let said = format!("a sweep of {points} points{rounds}: {about}");
    stage.run(&plan, options.precondition, Some(said))
}

/// How long a plan takes, in words. What comes before it, the region's preconditioning, depends on
/// the device and is over when this is said.
fn expected<W: Watcher>(stage: &mut Stage<'_, W>, plan: &Plan) -> Result<String, RunError> {
    let about = format!("about {}", time_about(plan.duration()));
    if !stage.session.document.modelled {
        return Ok(about);
    }
    let mut whole = Nanos::ZERO;
    for spec in &plan.phases {
        stage.executor.begin(spec);
        let each = on_model(&spec.workload, |piece| stage.executor.execute(piece))?;
        whole += Nanos(each.0 * u64::from(spec.repeats));
    }
    stage.executor.renew_machine();
    Ok(format!("{about} of the model's time, {} in real time", time_about(whole)))
}

/// How long a workload takes on a model, in real time, from two short pieces of it: what each has
/// to set up first is the same in both.
pub(crate) fn on_model(
    workload: &Workload,
    mut execute: impl FnMut(&Workload) -> Result<Execution, ExecuteError>,
) -> Result<Nanos, ExecuteError> {
    let mut piece = |share: u64| {
        let runtime_ns = Nanos(workload.runtime_ns.0 / share);
        let begun = Instant::now();
        let done = execute(&Workload { runtime_ns, ramp_ns: Nanos::ZERO, ..workload.clone() })?;
        Ok::<_, ExecuteError>((begun.elapsed().as_secs_f64(), done.measurement.elapsed))
    };
    let (setup, first) = piece(500)?;
    let (took, second) = piece(20)?;
    let pace = (took - setup).max(0.0) / second.since(first).as_secs_f64().max(1e-9);
    let time = workload.runtime_ns + workload.ramp_ns;
    Ok(Nanos::from_secs_f64(setup + pace * time.as_secs_f64()))
}

//! Several targets: each alone, then all together, in turn.

mod conclude;
mod disks;

pub use disks::{Disks, disks};

use super::CheckupOptions;
use crate::executor::{RealExecutor, beside};
use crate::{
    Finished, Host, Purpose, RunError, Session, Wanted, Watcher, is_modelled, look, prepare,
};
use seekwell_checkup::{
    ExecuteError, Execution, Executor, Level, Load, PhaseSpec, Plan, PlanInputs, PlanMedium,
};
use seekwell_inspect::{Inspection, Overlap, Shared, SharedKind, TargetKind, overlap};
use seekwell_io::clock::Clock;
use seekwell_io::engine::EngineError;
use seekwell_io::units::{Nanos, time_about};
use seekwell_io::workload::Workload;
use seekwell_runs::together::Target;
use seekwell_runs::{Medium, PhaseId, Study};
use seekwell_sys::{DevId, DiskCounters, Live, classify, path_text};
use std::path::{Path, PathBuf};

/// The most targets of one checkup.
const MOST: usize = 64;
/// The workloads: what each of two limits of a shared part shows, bytes and requests a second.
const WORKLOADS: [PhaseId; 2] = [PhaseId::SequentialRead, PhaseId::RandomRead(32)];
/// The shortest and the longest measured time of one run.
const TIMES_MS: (u64, u64) = (600, 2_000);

/// Targets that cannot be measured together.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum SeveralError {
    #[error("{} and {} are the same disk: name it once", first.display(), second.display())]
    Same { first: PathBuf, second: PathBuf },
    #[error(
        "{} stands on {}: together they say nothing; name one of them",
        upper.display(), lower.display()
    )]
    Part { upper: PathBuf, lower: PathBuf },
    #[error(
        "{} is not a real disk, and only real disks are measured together; measure it by itself",
        target.display()
    )]
    NotReal { target: PathBuf },
    #[error("{given} targets are named, and at most {MOST} can be measured together")]
    TooMany { given: usize },
    #[error("{option} is for one target, and {given} are named; several are only read")]
    ForOne { option: &'static str, given: usize },
    #[error(
        "there is no disk here to be read{}",
        if *asleep > 0 { ": all of them sleep" } else { "" }
    )]
    NoDisk { asleep: usize },
}

classify!(SeveralError {
    Usage: Same, Part, NotReal, TooMany, ForOne;
    Refused: NoDisk;
});

/// Measures reads of several targets, each alone and then all together, round after round, and
/// finds what they share. Targets that cannot be opened are left out and given back with the error
/// of the first; the others are measured without them.
///
/// # Errors
/// [`RunError`] where targets cannot be measured together, or none of them can be opened.
pub fn several<W: Watcher>(
    host: Host<'_>,
    watcher: W,
    purpose: Purpose,
    targets: &[PathBuf],
    options: &CheckupOptions<'_>,
) -> Result<(Finished, Result<(), RunError>), RunError> {
    let inspections = check(host, targets, options)?;
    let mut session = Session::begin(host, watcher, purpose, inspections[0].clone())?;
    let all = |pick: fn(&Inspection) -> &String| {
        inspections.iter().map(|i| pick(i).as_str()).collect::<Vec<_>>().join(", ")
    };
    let own = &mut session.document.inspection;
    (own.target, own.path) = (all(|i| &i.target), all(|i| &i.path));
    let mut found: Vec<Found> = Vec::with_capacity(targets.len());
    let mut left_out = None;
    for inspection in &inspections {
        found.push(match open(&mut session, host, inspection, options) {
            Ok(found) => found,
            Err(error) => {
                let why = error.to_string();
                session.line.note(&format!("{} is left out: {why}", name(inspection)));
                left_out = left_out.or(Some(error));
                Found { opened: Err(why), medium: None }
            }
        });
    }
    if found.iter().all(|found| found.opened.is_err())
        && let Some(error) = left_out
    {
        return Err(error);
    }
    session.document.medium = found.iter().find_map(|found| found.medium.clone());
    let targets: Vec<Target> = inspections
        .into_iter()
        .zip(&found)
        .enumerate()
        .map(|(number, (inspection, found))| Target {
            name: name(&inspection),
            inspection: (number > 0).then_some(inspection),
            medium: found.medium.clone(),
            left_out: found.opened.as_ref().err().cloned(),
        })
        .collect();
    let plan = plan(&targets, &found, options);
    let about = time_about(plan.duration());
    session.line.note(&format!("{} targets, alone and together: about {about}", targets.len()));
    let on = found.into_iter().map(|found| found.opened.ok().map(|(on, _)| on)).collect();
    let shared = conclude::shared_by(&session.document, &targets);
    let below = shared.iter().filter_map(|part| Below::of(part, &targets)).collect();
    let outside = vec![Outside::NOTHING; WORKLOADS.len()];
    let (clock, view) = (Clock::real(), Live::system());
    let mut executor = Several { on, at: 0, below, outside, clock, view };
    let interrupted = session.run(&plan, &mut executor);
    let study = conclude::together(&session.document, targets, shared, &executor.outside);
    session.document.study = Some(Study::Together(Box::new(study)));
    session.conclude(interrupted, None);
    Ok((session.end(), left_out.map_or(Ok(()), Err)))
}

/// What one target gave before anything was measured: what executes workloads on it and its plan,
/// or why it is left out.
struct Found {
    opened: Result<(RealExecutor, Plan), String>,
    medium: Option<Medium>,
}

/// Whether the targets can be measured together, and how each is attached.
fn check(
    host: Host<'_>,
    targets: &[PathBuf],
    options: &CheckupOptions<'_>,
) -> Result<Vec<Inspection>, RunError> {
    let given = targets.len();
    if given > MOST {
        return Err(SeveralError::TooMany { given }.into());
    }
    if options.destroy.is_some() {
        return Err(SeveralError::ForOne { option: "--destroy", given }.into());
    }
    if !options.set.is_empty() {
        return Err(SeveralError::ForOne { option: "--set", given }.into());
    }
    let is_real = |target: &Path| !is_modelled(target) && target != Path::new("null");
    if let Some(target) = targets.iter().find(|target| !is_real(target)) {
        return Err(SeveralError::NotReal { target: target.clone() }.into());
    }
    let drives = host.drives();
    let found: Result<Vec<Inspection>, _> = targets.iter().map(|t| look(&drives, t)).collect();
    let found = found?;
    for (second, b) in targets.iter().zip(&found).skip(1) {
        let before = targets.iter().zip(&found).take_while(|(_, a)| !std::ptr::eq(*a, b));
        for (first, a) in before {
            let (first, second) = (first.clone(), second.clone());
            match overlap(a, b) {
                None => {}
                Some(Overlap::Same) => return Err(SeveralError::Same { first, second }.into()),
                Some(Overlap::FirstBelow) => {
                    return Err(SeveralError::Part { upper: second, lower: first }.into());
                }
                Some(Overlap::SecondBelow) => {
                    return Err(SeveralError::Part { upper: first, lower: second }.into());
                }
            }
        }
    }
    Ok(found)
}

/// The name of a target in phases and tables.
fn name(inspection: &Inspection) -> String {
    match (&inspection.device, inspection.kind) {
        (Some(device), TargetKind::BlockDevice) => device.name.clone(),
        _ => path_text(Path::new(&inspection.path)),
    }
}

fn open<W: Watcher>(
    session: &mut Session<'_, W>,
    host: Host<'_>,
    inspection: &Inspection,
    options: &CheckupOptions<'_>,
) -> Result<Found, RunError> {
    let wanted = Wanted {
        inspection,
        offset_bytes: 0,
        size_bytes: options.size_bytes,
        default_bytes: options.level.wanted_region_bytes(),
        blank: false,
        destroy: None,
        writes: false,
        set: &[],
    };
    let mut ready = prepare(&wanted, host, &session.line)?;
    ready.keep_to_written(&wanted, &session.line);
    let inputs = PlanInputs { seed: options.seed, ..ready.inputs };
    let plan = Plan::new(options.level, inputs);
    let on = session.executor(ready, None);
    Ok(Found { opened: Ok((on, plan)), medium: session.document.medium.take() })
}

/// How often each workload is run: an interval of 95 % takes six rounds, or fewer and a
/// distribution that is assumed.
const fn rounds(level: Level) -> u32 {
    match level {
        Level::Quick => 3,
        Level::Normal => 6,
        Level::Thorough => 10,
    }
}

/// The plan: a workload on each target alone and then on all, one workload after the other.
fn plan(targets: &[Target], found: &[Found], options: &CheckupOptions<'_>) -> Plan {
    let nowhere = PlanInputs {
        medium: PlanMedium::ReadOnly,
        offset_bytes: 0,
        region_bytes: options.level.wanted_region_bytes(),
        logical_block_bytes: 512,
        direct: true,
        seed: options.seed,
    };
    let nowhere = Plan::new(options.level, nowhere);
    let own = |found: &Found, id: PhaseId| {
        let plan = found.opened.as_ref().map_or(&nowhere, |(_, plan)| plan);
        plan.phase(&id.to_string()).cloned()
    };
    let rounds = rounds(options.level);
    let mut phases = Vec::new();
    for (number, id) in WORKLOADS.into_iter().enumerate() {
        for beside in [None, Some(number as u32)] {
            for (target, (of, found)) in targets.iter().zip(found).enumerate() {
                let Some(spec) = own(found, id) else { continue };
                phases.push(PhaseSpec {
                    name: phase_name(&of.name, id, beside.is_some()),
                    title: format!("{}{}: {}", of.name, together(beside), spec.title),
                    skipped: of.left_out.clone().or(spec.skipped.clone()),
                    repeats: rounds,
                    target,
                    beside,
                    ..spec
                });
            }
        }
    }
    let mut plan = Plan { phases, settle: nowhere.settle, budget: None, detailed_rounds: None };
    let fixed = plan.phases.first().map_or(0, |spec| {
        let run = spec.workload.runtime_ns;
        plan.duration_of(spec).since(run).0
    });
    let runs = u64::from(rounds) * (WORKLOADS.len() * (targets.len() + 1)) as u64;
    let each = (options.level.measuring_budget().0 / runs).saturating_sub(fixed) / 1_000_000;
    let runtime_ns = Nanos::from_millis(each.clamp(TIMES_MS.0, TIMES_MS.1) / 10 * 10);
    plan.phases.iter_mut().for_each(|spec| spec.workload.runtime_ns = runtime_ns);
    plan
}

const fn together(beside: Option<u32>) -> &'static str {
    if beside.is_some() { " together" } else { " alone" }
}

/// The name of the phase that measures a workload on a target.
fn phase_name(target: &str, workload: PhaseId, is_together: bool) -> String {
    format!("{target}/{workload}/{}", if is_together { "together" } else { "alone" })
}

/// What is seen from outside while all run, in each round.
#[derive(Debug, Clone)]
struct Outside {
    /// The share of all processors that was busy.
    busy: Vec<f64>,
    /// How much of what was asked for a device below several targets counted, from 0 to 1.
    reached: Vec<f64>,
}

impl Outside {
    const NOTHING: Self = Self { busy: Vec::new(), reached: Vec::new() };
}

/// A device that several targets stand on, and their numbers.
struct Below {
    dev: DevId,
    targets: Vec<usize>,
}

impl Below {
    fn of(part: &Shared, targets: &[Target]) -> Option<Self> {
        let dev = part.from.rsplit('/').next().filter(|_| part.kind == SharedKind::Device)?;
        let number = |name: &String| targets.iter().position(|target| target.name == *name);
        let targets = part.targets.iter().filter_map(number).collect();
        Some(Self { dev: dev.parse().ok()?, targets })
    }

    fn counters(&self, view: &Live) -> Option<DiskCounters> {
        DiskCounters::read(view, self.dev).ok()
    }

    /// How much of what its targets asked for it counted.
    fn reached(
        &self,
        before: Option<DiskCounters>,
        view: &Live,
        loads: &[Load<'_>],
        executed: &[Result<Execution, ExecuteError>],
    ) -> Option<f64> {
        let counted = self.counters(view)?.since(&before?).read_bytes;
        let mine =
            loads.iter().zip(executed).filter(|(l, _)| self.targets.contains(&l.phase.target));
        let asked = mine.filter_map(|(_, done)| Some(done.as_ref().ok()?.measurement.bytes()));
        let asked: u64 = asked.sum();
        (asked > 0).then(|| (counted as f64 / asked as f64).min(1.0))
    }
}

/// Executes workloads on several targets, by the number of each.
struct Several {
    on: Vec<Option<RealExecutor>>,
    /// The target of the phase that is executed.
    at: usize,
    below: Vec<Below>,
    /// By the number of the workload.
    outside: Vec<Outside>,
    clock: Clock,
    view: Live,
}

impl Executor for Several {
    fn execute(&mut self, workload: &Workload) -> Result<Execution, ExecuteError> {
        match self.on.get_mut(self.at).and_then(Option::as_mut) {
            Some(on) => on.execute(workload),
            None => Err(EngineError::CalledOff.into()),
        }
    }

    fn beside(&mut self, loads: &[Load<'_>]) -> Vec<Result<Execution, ExecuteError>> {
        for load in loads {
            let on = self.on.get_mut(load.phase.target).and_then(Option::as_mut);
            if let Some(error) = on.and_then(|on| on.ready(&load.workload).err()) {
                return loads.iter().map(|_| Err(error.clone())).collect();
            }
        }
        let on = |load: &'_ Load<'_>| self.on.get(load.phase.target)?.as_ref();
        let all: Vec<_> = loads.iter().filter_map(|l| Some((on(l)?, &l.workload))).collect();
        let counted: Vec<_> = self.below.iter().map(|below| below.counters(&self.view)).collect();
        let executed = beside(&all);
        let busy = executed.iter().flatten().find_map(|e| e.host.busy);
        let reached = self.below.iter().zip(counted);
        let reached =
            reached.filter_map(|(below, b)| below.reached(b, &self.view, loads, &executed));
        let reached = reached.min_by(f64::total_cmp);
        let number = loads.first().and_then(|load| load.phase.beside).unwrap_or(0) as usize;
        if let Some(outside) = self.outside.get_mut(number) {
            outside.busy.extend(busy);
            outside.reached.extend(reached);
        }
        executed
    }

    fn begin(&mut self, phase: &PhaseSpec) {
        self.at = phase.target;
    }

    fn now(&self) -> Nanos {
        self.clock.now()
    }
}

//! One command that measures, from its first document to its last: what `checkup` and `bench`
//! share.

use crate::described;
use crate::executor::{RealExecutor, Source, engine_cost_ns, pick};
use crate::judge::live_log;
use crate::medium::Ready;
use crate::wear::Counting;
use crate::{Host, RunError, Watcher};
use jiff::Timestamp;
use seekwell_checkup::{
    Executor, Observer, PhaseSpec, Plan, Progress, Results, is_only_short, resume,
};
use seekwell_experiment::identity;
use seekwell_explain::{Observed, findings};
use seekwell_inspect::{Fact, Inspection, TargetKind};
use seekwell_io::dispatch::TagPolicy;
use seekwell_io::target::Engine as Issuer;
use seekwell_io::units::Nanos;
use seekwell_runs::{
    Detail, Engine, Medium, Phase, RunDocument, RunKind, Skipped, Status, Store, Study, Tool, Work,
    Writer,
};
use seekwell_sys::View;
use std::cmp::Reverse;
use std::mem::take;
use std::path::Path;
use std::sync::Arc;

/// What a session is for.
pub struct Purpose {
    /// The command.
    pub kind: RunKind,
    /// The user's name for this configuration.
    pub label: Option<String>,
    /// Where the run is kept.
    pub keep: Keeping,
    /// How requests are issued.
    pub engine: Issuer,
    /// What measures.
    pub tool: Tool,
}

/// Where a run is kept.
#[derive(Debug, Clone)]
pub enum Keeping {
    /// Nowhere.
    No,
    /// Here, as a new one.
    New(Store),
    /// Here, resuming the run of this name.
    Resumed(Store, String),
}

/// How a run went as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// All that was asked for was measured.
    Complete,
    /// It was stopped.
    Interrupted,
    /// Something that was measured gave no valid number.
    Invalid,
    /// It was to be kept, and could not be.
    NotKept,
}

/// A finished run, and how it went.
pub type Finished = (RunDocument, Detail, Ending);

/// A run in the making.
pub struct Session<'a, W> {
    host: Host<'a>,
    engine: Issuer,
    writer: Option<Writer>,
    /// Who looks on.
    pub line: W,
    /// The document so far.
    pub document: RunDocument,
    /// Histograms and series so far.
    pub detail: Detail,
    /// How many phases and details are of plans that are done.
    before: (usize, usize),
    /// What will take time after the plan that is run.
    pub ahead: Nanos,
    /// It was to be kept, and could not be.
    lost: bool,
}

impl<'a, W: Watcher> Session<'a, W> {
    /// Begins: the engine is chosen and its cost measured.
    ///
    /// # Errors
    /// When the engine does not run here or the run cannot be kept.
    pub fn begin(
        host: Host<'a>,
        line: W,
        purpose: Purpose,
        inspection: Inspection,
    ) -> Result<Self, RunError> {
        if inspection.kind != TargetKind::Machine {
            line.doing("measuring what the engine itself costs");
        }
        let started = Timestamp::now();
        let modelled = inspection.kind == TargetKind::Machine;
        let (engine, notice) = match modelled {
            true => (Issuer::Auto, None),
            false => pick(purpose.engine, |text| line.note(text))?,
        };
        let (writer, kept) = match purpose.keep {
            Keeping::No => (None, None),
            Keeping::New(store) => (Some(store.create(purpose.kind, started)?), None),
            Keeping::Resumed(store, name) => {
                let (writer, document, detail) = store.resume(&name)?;
                (Some(writer), Some((document, detail)))
            }
        };
        let id =
            writer.as_ref().map_or_else(|| RunDocument::NOT_KEPT.into(), |w| w.id().to_owned());
        let issued = Engine {
            name: if modelled { "model" } else { engine.issuer() }.into(),
            notice,
            cost_ns_per_request: if modelled { None } else { engine_cost_ns(host.control) },
        };
        let made_by = (purpose.tool, issued);
        let document = RunDocument {
            label: purpose.label,
            modelled,
            ..RunDocument::new(id, purpose.kind, started.to_string(), made_by, inspection)
        };
        let (document, detail) = match kept {
            Some((kept, detail)) => (resumed(kept, document)?, detail),
            None => (document, Detail::default()),
        };
        let (before, ahead, lost) = ((0, 0), Nanos::ZERO, false);
        Ok(Self { host, engine, writer, lost, line, document, detail, before, ahead })
    }

    /// Explains what inspection saw where every phase of a plan is skipped.
    pub fn unmeasured(&mut self, plan: &Plan) {
        let phase = |spec: &PhaseSpec| Phase {
            skipped: spec.skipped.clone().map(Skipped::Because),
            ..Phase::new(&spec.name, &spec.title, spec.workload.clone())
        };
        self.document.phases = plan.phases.iter().map(phase).collect();
        self.conclude(false, None);
    }

    /// What executes workloads on what was made ready; `tags` bounds what is outstanding.
    pub fn executor(&mut self, ready: Ready, tags: Option<(TagPolicy, u32)>) -> RealExecutor {
        if let Source::Modelled(model) = &ready.source {
            self.document.inspection.device = described::device(model);
        }
        self.document.medium = Some(ready.medium);
        let control = Arc::clone(self.host.control);
        let mut executor = RealExecutor::new(ready.source, self.engine, tags, control);
        executor.count(Counting::under(&self.document.inspection));
        executor
    }

    /// Runs a plan, its phases after those of earlier plans, saving after every unit. Parts that a
    /// resumed run already has are not run again. Returns whether it was interrupted.
    pub fn run(&mut self, plan: &Plan, executor: &mut dyn Executor) -> bool {
        let so_far = self.withdraw(|phase| plan.phase(phase).is_some());
        self.before = (self.document.phases.len(), self.detail.repeats.len());
        let control = Arc::clone(self.host.control);
        let outcome = resume(plan, so_far, executor, self, &control.stop);
        self.take(&outcome);
        outcome.interrupted
    }

    /// Removes phases and their details from the document.
    pub fn withdraw(&mut self, which: impl Fn(&str) -> bool) -> Results {
        let (phases, others) =
            take(&mut self.document.phases).into_iter().partition(|phase| which(&phase.name));
        let (repeats, rest) =
            take(&mut self.detail.repeats).into_iter().partition(|detail| which(&detail.phase));
        self.document.phases = others;
        self.detail.repeats = rest;
        Results { phases, detail: Detail { repeats }, interrupted: false }
    }

    /// What the measurement needs of its process.
    pub const fn host(&self) -> Host<'a> {
        self.host
    }

    /// The engine that was chosen.
    pub const fn engine(&self) -> Issuer {
        self.engine
    }

    /// Says how the run went, and explains what its phases gave.
    pub fn conclude(&mut self, interrupted: bool, wanted: Option<u64>) {
        self.document.status = if interrupted { Status::Interrupted } else { Status::Complete };
        self.document.invalid = invalid(&self.document);
        let judged = seekwell_limits::judge(&self.document);
        self.document.summary = judged.summary;
        self.document.limits = judged.limits;
        self.document.ceilings = judged.ceilings;
        let disabled = io_uring_disabled(self.host.view);
        // The kernel log is read after measuring, which may have added to it. It shows nothing of a
        // model, nor of a target without a disk.
        let no_disk = self.document.modelled || self.document.inspection.kind == TargetKind::Null;
        let missing = &mut self.document.inspection.missing;
        let log = if no_disk { None } else { live_log(self.host.view, missing) };
        let about = |inspection| Observed {
            log: log.as_ref(),
            io_uring_disabled: disabled.as_ref(),
            ..Observed::new(inspection)
        };
        let document = &self.document;
        self.document.findings = match &document.study {
            Some(Study::Together(_)) => {
                let each = document.inspections().skip(1).flat_map(|one| findings(&about(one)));
                // The phases are of several disks, and no rule can judge one by them.
                let first = Observed {
                    phases: Some(&[]),
                    study: document.study.as_ref(),
                    ..about(&document.inspection)
                };
                let mut all = findings(&first);
                for finding in each {
                    if !all.contains(&finding) {
                        all.push(finding);
                    }
                }
                all.sort_by_key(|finding| Reverse(finding.severity));
                all
            }
            study => findings(&Observed {
                phases: Some(&document.phases),
                preconditioned: document.preconditioning.is_some(),
                limits: &document.limits,
                study: study.as_ref(),
                medium: document.medium.as_ref(),
                engine: Some(&document.engine),
                wanted_bytes: wanted,
                ..about(&document.inspection)
            }),
        };
    }

    /// Gives the figures of a fitted machine the ranges that its error allows; `load` says of a
    /// phase whether it writes and how deep, if that is known.
    pub fn widen(&mut self, load: impl Fn(usize, &Phase) -> Option<(bool, u32)>) {
        let Some(Medium::Machine {
            model_error_percent: Some(error),
            model_tail_error_percent: Some(tail),
            model_depth,
            model_write_depth,
            ..
        }) = self.document.medium
        else {
            return;
        };
        for (number, phase) in self.document.phases.iter_mut().enumerate().skip(self.before.0) {
            let deeper = load(number, phase).map_or(1.0, |(writes, depth)| {
                let known = if writes { model_write_depth } else { model_depth };
                f64::from(depth) / f64::from(known.unwrap_or(0).max(1))
            });
            phase.widen(error, tail, deeper.max(1.0));
        }
    }

    fn take(&mut self, outcome: &Results) {
        self.document.phases.truncate(self.before.0);
        self.document.phases.extend_from_slice(&outcome.phases);
        self.widen(|_, phase| match &phase.workload {
            Work::Drawn(w) => Some((w.destroys(), w.pace.depth() * w.threads)),
            _ => None,
        });
        self.detail.repeats.truncate(self.before.1);
        self.detail.repeats.extend_from_slice(&outcome.detail.repeats);
    }

    /// Keeps what there is so far.
    pub fn save(&mut self) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = writer.save(&self.document, &self.detail) {
            self.line.not_kept(&error);
            self.writer = None;
            self.lost = true;
        }
    }

    /// Ends: the document is final, and saved if it is kept.
    pub fn end(mut self) -> Finished {
        self.document.ended_at = Some(Timestamp::now().to_string());
        self.save();
        self.line.clear();
        let ending = match self.document.status {
            Status::Interrupted => Ending::Interrupted,
            _ if !self.document.invalid.is_empty() => Ending::Invalid,
            _ if self.lost => Ending::NotKept,
            _ => Ending::Complete,
        };
        (self.document, self.detail, ending)
    }
}

impl<W: Watcher> Observer for Session<'_, W> {
    fn started(&mut self, at: &Progress<'_>) {
        let workload = &at.phase.workload;
        if workload.runtime_ns == Nanos::ZERO {
            return self.line.count(&at.phase.title, workload.requests);
        }
        self.line.at(&Progress { remaining: at.remaining + self.ahead, ..*at });
    }

    fn finished(&mut self, at: &Progress<'_>, so_far: &Results) {
        self.line.at(&Progress { remaining: at.remaining + self.ahead, ..*at });
        self.take(so_far);
        self.save();
    }
}

/// Why the measurement as a whole is not valid: phases that were run and gave no number.
fn invalid(document: &RunDocument) -> Vec<String> {
    let is_failed = |phase: &&Phase| {
        // A job that did all it was to do before there is a rate is done.
        let of_job = matches!(phase.workload, Work::Job(_));
        let is_done = of_job && phase.repeats.iter().all(is_only_short);
        !phase.repeats.is_empty() && phase.metrics.is_empty() && !is_done
    };
    let failed = document.phases.iter().filter(is_failed);
    let mut reasons: Vec<String> = failed
        .map(|phase| {
            let reason = phase.repeats.iter().find_map(|r| r.invalid.as_deref());
            format!("{}: {}", phase.title, reason.unwrap_or("no valid repeat"))
        })
        .collect();
    if document.status == Status::Complete && document.phases.iter().all(|p| p.repeats.is_empty()) {
        let why = document.phases.iter().find_map(|p| p.skipped.as_deref());
        reasons.push(format!("nothing was measured: {}", why.unwrap_or("no phase was run")));
    }
    reasons
}

/// The kept document of the run that is resumed, if this one would start in the same way.
///
/// # Errors
/// [`RunError::OtherRun`] where it is of another target.
fn resumed(kept: RunDocument, begins: RunDocument) -> Result<RunDocument, RunError> {
    if identity(&kept.inspection) != identity(&begins.inspection) {
        let why = format!("it was measured on {}", kept.inspection.target);
        return Err(RunError::OtherRun { id: kept.id, why });
    }
    let RunDocument { tool, engine, inspection, label, .. } = begins;
    Ok(RunDocument {
        status: Status::Running,
        ended_at: None,
        label: label.or(kept.label),
        tool,
        engine,
        inspection,
        invalid: Vec::new(),
        ..kept
    })
}

fn io_uring_disabled(view: &dyn View) -> Option<Fact<u64>> {
    let path = Path::new("/proc/sys/kernel/io_uring_disabled");
    view.number(path).ok().map(|value| Fact::new(value, path.display().to_string()))
}

//! `seekwell experiment`: two arms, interleaved runs, one verdict.

pub mod arms;
pub(super) mod rig;
pub(super) mod setter;
mod smart;

use super::{begin_asked, write_page};
use crate::Ended;
use crate::cli::experiment::{Experiment, ExperimentCommand, Letter};
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use crate::signals;
use arms::ArmError;
use jiff::Timestamp;
use rig::{Machine, Parts};
use seekwell_access::{Consent, Fingerprint, OutputFile};
use seekwell_experiment::{
    ArmSpec, Decision, Design, Document, ExperimentStore, Folder, Forecast, Next, Noise, Observer,
    Region, Shape, Standing, Status, begin, better, check_metric, conduct, default_margin,
    default_metric, forecast, identity, next, text,
};
use seekwell_inspect::Inspection;
use seekwell_io::target::Engine;
use seekwell_io::target::TargetError;
use seekwell_io::units::Nanos;
use seekwell_io::workload::WorkloadError;
use seekwell_run::{RealExecutor, pick};
use seekwell_run::{Wanted, prepare};
use seekwell_run::{is_modelled, look, model};
use seekwell_runs::Tool;
use seekwell_stats::Arm;
use seekwell_sys::{path_text, text_path};
use setter::Setter;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const GIB: u64 = 1 << 30;
/// The shortest run: what a rate needs, and a little, for a run may end a moment early.
const SHORTEST: Nanos = Nanos::from_millis(600);

pub fn run(args: &Experiment, context: &Context) -> Ended {
    let (page, replace) = match &args.command {
        Some(ExperimentCommand::Resume { output, replace, .. }) => (output.as_deref(), *replace),
        None => (args.output.as_deref(), args.replace),
    };
    let page = begin_asked(page, replace, context)?;
    match &args.command {
        Some(ExperimentCommand::Resume { experiment, .. }) => {
            resume(experiment.as_deref(), page, context)
        }
        None => begin_new(args, page, context),
    }
}

fn begin_new(args: &Experiment, page: Option<OutputFile>, context: &Context) -> Ended {
    let target = match &args.on {
        Some(on) if on == Path::new("null") => on.clone(),
        // Kept absolute: an experiment may be resumed from another directory.
        Some(on) => std::path::absolute(on).unwrap_or_else(|_| on.clone()),
        None => PathBuf::new(),
    };
    let (a, b) = arms::arms(args)?;
    let design = design(args, &a, &b)?;
    for arm in [&a, &b] {
        // Checked before anything is laid out, with a region that any request fits in.
        let region = u64::from(arm.options.block_bytes);
        arm.options.workload(region, true, 1).check()?;
        if arm.options.runtime_ns < SHORTEST {
            let found = arm.options.runtime_ns.to_string();
            let needed = "at least 600 ms: a shorter run gives no rate";
            return Err(WorkloadError { field: "runtime", found, needed }.into());
        }
    }
    let inspection = look(&context.view, &target)?;
    let place = ExperimentStore::beside(context.store()?.dir());
    let noise = noise(context, &place);
    let identity = identity(&inspection);
    let forecast = forecast(&noise, &identity, &design, &a.options, &b.options);
    let line = Line::new(context.progress, Arc::clone(&context.control));
    heed_signals(context)?;
    let mut document = Document {
        schema: Document::SCHEMA.to_owned(),
        id: String::new(),
        status: Status::Running,
        started_at: Timestamp::now().to_string(),
        ended_at: None,
        tool: Tool {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            git_commit: option_env!("SEEKWELL_GIT_COMMIT").map(str::to_owned),
        },
        command: command(args, design.seed),
        target: path_text(&target),
        identity,
        size_bytes: args.workload.size,
        destroy: args.destroy.destroy.clone(),
        design,
        expect: args.expect.map(|e| e.claim),
        a,
        b,
        region: None,
        forecast,
        planned_blocks: None,
        sessions: Vec::new(),
        runs: Vec::new(),
        discarded: Vec::new(),
        invalid: None,
        not_restored: Vec::new(),
        conclusion: None,
    };
    let accepted = args.destroy.accept_data.as_slice();
    let mut machine = machine(&document, inspection, context, &line, Some(accepted))?;
    if document.b.command.is_some() && document.a.command.is_none() {
        context.note("what --b-cmd changes is not undone before runs of A: give --a-cmd too");
    }
    tell_forecast(context, &document);
    let folder = place.create(Timestamp::now())?;
    document.id = folder.id().to_owned();
    let mode = args.now_in;
    let mode = if mode == Letter::A { Arm::A } else { Arm::B };
    if let Err(error) = begin(&mut document, &mut machine, Some(mode)) {
        folder.discard();
        return Err(error.into());
    }
    finish(document, machine, folder, &place, page, context, line)
}

fn resume(name: Option<&str>, page: Option<OutputFile>, context: &Context) -> Ended {
    let place = ExperimentStore::beside(context.store()?.dir());
    let (folder, mut document) = place.open(name)?;
    if next(&document)? == Next::Nothing && document.conclusion.is_some() {
        return show(context, page, &document);
    }
    let line = Line::new(context.progress, Arc::clone(&context.control));
    heed_signals(context)?;
    let inspection = look(&context.view, &text_path(&document.target))?;
    let mut machine = machine(&document, inspection, context, &line, None)?;
    begin(&mut document, &mut machine, None)?;
    finish(document, machine, folder, &place, page, context, line)
}

/// Makes the runs, learns from a self-test, shows the result.
fn finish(
    mut document: Document,
    mut machine: Machine,
    mut folder: Folder,
    place: &ExperimentStore,
    page: Option<OutputFile>,
    context: &Context,
    line: Line,
) -> Ended {
    let mut shown = Shown { line, lead: String::new() };
    let stop = &context.control.stop;
    let kept = conduct(&mut document, &mut machine, &mut folder, &mut shown, stop);
    drop(machine);
    shown.line.clear();
    kept?;
    if document.status == Status::Complete && document.design.aa {
        let mut noise = noise(context, place);
        if noise.learn(&document) {
            place.keep_noise(&noise)?;
        }
    }
    if matches!(document.status, Status::Interrupted) && context.json {
        context.note(&text::unfinished(&document));
    }
    show(context, page, &document)
}

fn show(context: &Context, page: Option<OutputFile>, document: &Document) -> Ended {
    if let Some(page) = page {
        write_page(page, &seekwell_report::html_experiment(document)?, context)?;
    }
    if context.json {
        context.print_json(document)?;
    } else {
        context.print(&text::result(document, context.width))?;
    }
    Ok(exit(document))
}

fn exit(document: &Document) -> Exit {
    if !document.not_restored.is_empty() {
        return Exit::Incomplete;
    }
    match (document.status, &document.conclusion) {
        (Status::Interrupted | Status::Running, _) => Exit::Interrupted,
        (Status::Waiting, _) | (_, None) => Exit::NotShown,
        (_, Some(conclusion)) => match (conclusion.decision, conclusion.claim_holds) {
            (Decision::Invalid, _) => Exit::Invalid,
            (Decision::Undecided, _) | (Decision::Decided, Some(false)) => Exit::NotShown,
            (Decision::Decided, _) => Exit::Done,
        },
    }
}

fn design(args: &Experiment, a: &ArmSpec, b: &ArmSpec) -> Result<Design, CommandError> {
    let metric = match &args.metric {
        Some(metric) => {
            check_metric(metric)?;
            metric.clone()
        }
        None => default_metric(&a.options, &b.options),
    };
    let claimed = args.expect.and_then(|e| e.margin);
    let margin = args.margin.or(claimed).unwrap_or_else(|| default_margin(&metric));
    let shape = if args.pairs || args.reboot_between { Shape::Pairs } else { Shape::Fours };
    // 32 bits are enough for a coin, and easy to type again.
    let fresh = || RandomState::new().hash_one(()) & 0xFFFF_FFFF;
    Ok(Design {
        better: better(&metric),
        metric,
        margin,
        seed: args.seed.unwrap_or_else(fresh),
        shape,
        // A pilot cannot be looked at in the middle of a week of reboots.
        blocks: args.blocks.or(args.reboot_between.then_some(Design::PILOT)),
        settle_ns: args.settle,
        aa: args.aa,
        reboot_between: args.reboot_between,
    })
}

/// The command line as it was typed, with the seed that was drawn.
fn command(args: &Experiment, seed: u64) -> Vec<String> {
    let mut words = vec!["seekwell".to_owned()];
    words.extend(std::env::args().skip(1));
    if args.seed.is_none() {
        words.push(format!("--seed={seed}"));
    }
    words
}

pub(super) fn heed_signals(context: &Context) -> Result<(), CommandError> {
    signals::watch(Arc::clone(&context.control)).map_err(|e| {
        TargetError::Setup {
            what: "installing signal handlers",
            errno: e.raw_os_error().unwrap_or(0),
        }
        .into()
    })
}

/// Makes ready what an experiment needs, after proving that every setting can be applied and put
/// back. What unknown data was accepted counts at its start; none is for one that is resumed.
fn machine(
    document: &Document,
    inspection: Inspection,
    context: &Context,
    line: &Line,
    accepted: Option<&[Fingerprint]>,
) -> Result<Machine, CommandError> {
    let setter = setter(document, accepted.is_none())?;
    machine_with(document, setter, inspection, context, line, accepted.unwrap_or_default())
}

/// The same, of settings that were proven before.
pub(super) fn machine_with(
    document: &Document,
    setter: Option<Setter>,
    inspection: Inspection,
    context: &Context,
    line: &Line,
    accepted: &[Fingerprint],
) -> Result<Machine, CommandError> {
    let (a, b) = (&document.a.options, &document.b.options);
    let wants = |engine| a.engine == engine || b.engine == engine;
    if wants(Engine::IoUring) {
        pick(Engine::IoUring, |text| context.note(text))?;
    }
    let engine = if wants(Engine::Auto) {
        pick(Engine::Auto, |text| context.note(text))?.0
    } else {
        Engine::Threads
    };
    let wanted = Wanted {
        set: &[],
        inspection: &inspection,
        size_bytes: document.size_bytes,
        default_bytes: GIB,
        destroy: document.destroy.as_deref().map(|serial| Consent { serial, accepted }),
        writes: a.writes() || b.writes(),
    };
    let ready = prepare(&wanted, context.host(), line)?;
    let region = Region { bytes: ready.inputs.region_bytes, direct: ready.inputs.direct };
    for options in [a, b] {
        let room = region.bytes.saturating_sub(options.offset_bytes);
        options.workload(room, region.direct, 1).check()?;
    }
    let executor = RealExecutor::new(ready.source, engine, None, Arc::clone(&context.control));
    let target = text_path(&document.target);
    let baseline = document.a.command.clone();
    let parts = Parts { target, executor, engine, region, setter, baseline, seen: inspection };
    Ok(Machine::new(context, parts))
}

/// Longer than a run of this experiment takes, with the pause before it.
pub(super) fn run_time(document: &Document) -> Duration {
    let longest = |arm: &ArmSpec| arm.options.runtime_ns + arm.options.ramp_ns;
    let run = longest(&document.a).max(longest(&document.b)) + document.design.settle_ns;
    Duration::from(Nanos(run.0.saturating_mul(2)))
}

fn setter(document: &Document, resumed: bool) -> Result<Option<Setter>, CommandError> {
    let settings = document.a.settings.iter().chain(&document.b.settings);
    let mut keys: Vec<String> = settings.map(|s| s.key.clone()).collect();
    keys.dedup();
    let Some(first) = keys.first().cloned() else { return Ok(None) };
    let target = text_path(&document.target);
    if is_modelled(&target) {
        // Its parameters are no settings of a disk: nothing has to be put back.
        for arm in [&document.a, &document.b] {
            model(&target, &arm.pairs())?;
        }
        return Ok(None);
    }
    if document.target == "null" {
        let why = "the null target has no settings".to_owned();
        let target = document.target.clone();
        return Err(ArmError::NoDisk { key: first, target, why }.into());
    }
    let run = run_time(document);
    let mut setter = Setter::new(&target, run, keys, resumed)?;
    setter.allow(document.a.allow_risk);
    for arm in [&document.a, &document.b] {
        setter.restore();
        setter.apply(&arm.settings)?;
    }
    setter.restore();
    Ok(Some(setter))
}

/// The noise floors; none, with a word, where they cannot be read.
fn noise(context: &Context, place: &ExperimentStore) -> Noise {
    place.noise().unwrap_or_else(|error| {
        context.note(&format!("what is known of the machine's noise is not used: {error}"));
        Noise::default()
    })
}

fn tell_forecast(context: &Context, document: &Document) {
    let design = &document.design;
    let Some(Forecast { blocks, seconds, beyond_cap, same_workload, from, .. }) =
        &document.forecast
    else {
        let runs = f64::from(design.expected_blocks() * design.shape.runs());
        let each = document.a.options.runtime_ns + document.a.options.ramp_ns + design.settle_ns;
        let least = if design.blocks.is_some() { "" } else { "at least " };
        context.note(&format!(
            "{least}{} blocks, {}; how noisy this machine is is not known (--aa measures it)",
            design.expected_blocks(),
            minutes(runs * each.as_secs_f64())
        ));
        return;
    };
    let under = if *same_workload { "" } else { ", under another workload" };
    let settles = if *beyond_cap {
        "and that may not settle it: runs should be longer"
    } else {
        "to settle it"
    };
    context.note(&format!(
        "by this machine's noise ({from}{under}) an answer of {} takes {blocks} blocks, {} \
         {settles}",
        design.margin,
        minutes(*seconds)
    ));
}

pub(super) fn minutes(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("about {s:.0} s"),
        s if s < 7200.0 => format!("about {:.0} min", s / 60.0),
        s => format!("about {:.1} h", s / 3600.0),
    }
}

/// The progress line: never the verdict so far.
pub(super) struct Shown {
    /// Where it is drawn.
    pub line: Line,
    /// What stands before it.
    pub lead: String,
}

impl Observer for Shown {
    fn run_begins(&mut self, at: &Standing) {
        let of = match at.planned {
            Some(planned) => planned.to_string(),
            None => format!("{} or more", at.expected),
        };
        let width = at.half_width_percent.map_or_else(String::new, |width| {
            format!(" · width ±{width:.1} %, wanted ±{:.1} %", at.goal_percent)
        });
        let seconds = at.eta.as_secs_f64();
        let text = format!(
            "{}block {} of {of}, run {}{width} · {} left",
            self.lead,
            at.slot.block + 1,
            at.slot.position + 1,
            minutes(seconds)
        );
        let blocks = u64::from(at.planned.unwrap_or(at.expected));
        self.line.part(&text, u64::from(at.slot.block), blocks);
    }
}

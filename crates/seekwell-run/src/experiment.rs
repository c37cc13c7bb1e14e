//! Experiments on this machine: what `seekwell-experiment` designs and judges, carried out on a
//! real or modelled target, with the settings of its disk.

mod rig;
mod setter;
mod smart;

pub use rig::ThisMachine;
pub use setter::Setter;

use crate::{
    Host, RealExecutor, RunError, Wanted, Watcher, is_modelled, look, model, pick, prepare,
};
use jiff::Timestamp;
use seekwell_access::{Consent, Fingerprint};
use seekwell_checkup::ExecuteError;
use seekwell_experiment::{
    ArmError, ArmSpec, Document, ExperimentStore, Folder, Forecast, Next, Noise, Observer, Region,
    Standing, Status, begin, conduct, forecast, identity, next,
};
use seekwell_inspect::Inspection;
use seekwell_io::target::Engine;
use seekwell_io::units::{Nanos, time_about};
use seekwell_io::workload::WorkloadError;
use seekwell_stats::Arm;
use seekwell_sys::text_path;
use std::sync::Arc;
use std::time::Duration;

/// Size of a temporary file if none was asked for.
const FILE_BYTES: u64 = 1 << 30;
/// The shortest run: what a rate needs, and a little, for a run may end a moment early.
const SHORTEST: Nanos = Nanos::from_millis(600);

/// Makes a new experiment. `mode` is the mode the machine is in, where arms are modes; `accepted`
/// is unknown data that may be overwritten.
///
/// # Errors
/// [`RunError`] when it cannot begin or be kept. What goes wrong later is in the document.
pub fn experiment(
    host: Host<'_>,
    watcher: &impl Watcher,
    mut document: Document,
    accepted: &[Fingerprint],
    mode: Arm,
    place: &ExperimentStore,
) -> Result<Document, RunError> {
    for arm in [&document.a, &document.b] {
        // Checked before anything is laid out, with a region that any request fits in.
        arm.job.workload(u64::from(arm.job.block_bytes), true, 1).check()?;
        if arm.job.runtime_ns < SHORTEST {
            let found = arm.job.runtime_ns.to_string();
            let needed = "at least 600 ms: a shorter run gives no rate";
            return Err(WorkloadError { field: "runtime", found, needed }.into());
        }
    }
    let inspection = look(host.view, &text_path(&document.target))?;
    let noise = noise(watcher, place);
    document.identity = identity(&inspection);
    document.forecast =
        forecast(&noise, &document.identity, &document.design, &document.a.job, &document.b.job);
    let setter = setter(&document, false)?;
    let mut machine = ready(&document, setter, inspection, host, watcher, accepted)?;
    if document.b.command.is_some() && document.a.command.is_none() {
        watcher.note("what --b-cmd changes is not undone before runs of A: give --a-cmd too");
    }
    announce(&document, &mut machine, watcher)?;
    let folder = place.create(Timestamp::now())?;
    folder.id().clone_into(&mut document.id);
    if let Err(error) = begin(&mut document, &mut machine, Some(mode)) {
        folder.discard();
        return Err(error.into());
    }
    finish(document, machine, folder, place, watcher)
}

/// Goes on with an experiment by its name, or with the newest that is not at its end. One that is
/// at its end is only read.
///
/// # Errors
/// [`RunError`] if absent or it cannot go on.
pub fn resume(
    host: Host<'_>,
    watcher: &impl Watcher,
    name: Option<&str>,
    place: &ExperimentStore,
) -> Result<Document, RunError> {
    let (folder, mut document) = place.open(name)?;
    if next(&document)? == Next::Nothing && document.conclusion.is_some() {
        return Ok(document);
    }
    let inspection = look(host.view, &text_path(&document.target))?;
    let setter = setter(&document, true)?;
    let mut machine = ready(&document, setter, inspection, host, watcher, &[])?;
    begin(&mut document, &mut machine, None)?;
    finish(document, machine, folder, place, watcher)
}

/// Makes the runs and learns from a self-test.
fn finish(
    mut document: Document,
    mut machine: ThisMachine<'_>,
    mut folder: Folder,
    place: &ExperimentStore,
    watcher: &impl Watcher,
) -> Result<Document, RunError> {
    let mut shown = Shown { watcher, lead: String::new() };
    let stop = &machine.host.control.stop;
    let kept = conduct(&mut document, &mut machine, &mut folder, &mut shown, stop);
    drop(machine);
    watcher.clear();
    kept?;
    if document.status == Status::Complete && document.design.aa {
        let mut noise = noise(watcher, place);
        if noise.learn(&document) {
            place.keep_noise(&noise)?;
        }
    }
    Ok(document)
}

/// Makes ready what the runs of an experiment need; its settings were tried before.
pub(crate) fn ready<'a>(
    document: &Document,
    setter: Option<Setter>,
    inspection: Inspection,
    host: Host<'a>,
    watcher: &impl Watcher,
    accepted: &[Fingerprint],
) -> Result<ThisMachine<'a>, RunError> {
    let (a, b) = (&document.a.job, &document.b.job);
    let wants = |engine| a.engine == engine || b.engine == engine;
    if wants(Engine::IoUring) || wants(Engine::IoUringCmd) {
        pick(Engine::IoUring, |text| watcher.note(text))?;
    }
    let engine = if wants(Engine::Auto) {
        pick(Engine::Auto, |text| watcher.note(text))?.0
    } else {
        Engine::Threads
    };
    let wanted = Wanted {
        set: &[],
        inspection: &inspection,
        offset_bytes: a.offset_bytes.max(b.offset_bytes),
        size_bytes: document.size_bytes,
        default_bytes: FILE_BYTES,
        blank: false,
        destroy: document.destroy.as_deref().map(|serial| Consent { serial, accepted }),
        writes: a.writes() || b.writes(),
    };
    let mut ready = prepare(&wanted, host, watcher)?;
    ready.source.open_commands(engine, &[a, b], host.view)?;
    let region = Region { bytes: ready.inputs.region_bytes, direct: ready.inputs.direct };
    for options in [a, b] {
        let room = region.bytes.saturating_sub(options.offset_bytes);
        options.workload(room, region.direct, 1).check()?;
    }
    Ok(ThisMachine {
        target: text_path(&document.target),
        host,
        executor: RealExecutor::new(ready.source, engine, None, Arc::clone(host.control)),
        engine,
        region,
        setter,
        baseline: document.a.command.clone(),
        seen: inspection,
    })
}

/// Longer than a run of this experiment takes, with the pause before it.
pub(crate) fn run_time(document: &Document) -> Duration {
    let longest = document.a.job.run_time().max(document.b.job.run_time());
    Duration::from(Nanos((longest + document.design.settle_ns).0.saturating_mul(2)))
}

/// What applies the arms' settings, after proving that each can be applied and put back. With
/// `resumed`, what a killed session left applied is put back too.
fn setter(document: &Document, resumed: bool) -> Result<Option<Setter>, RunError> {
    let arms: [&ArmSpec; 2] = [&document.a, &document.b];
    let mut keys: Vec<String> =
        arms.iter().flat_map(|arm| &arm.settings).map(|s| s.key.clone()).collect();
    keys.dedup();
    let Some(first) = keys.first().cloned() else { return Ok(None) };
    let target = text_path(&document.target);
    if is_modelled(&target) {
        // Its parameters are not settings of a disk: nothing has to be put back.
        for arm in arms {
            model(&target, &arm.pairs())?;
        }
        return Ok(None);
    }
    if document.target == "null" {
        let why = "the null target has no settings".to_owned();
        let target = document.target.clone();
        return Err(ArmError::NoDisk { key: first, target, why }.into());
    }
    let mut setter = Setter::new(&target, run_time(document), keys, resumed)?;
    setter.allow(document.a.allow_risk);
    for arm in arms {
        setter.restore();
        setter.apply(&arm.settings)?;
    }
    setter.restore();
    Ok(Some(setter))
}

/// The noise floors; none, with a note, where they cannot be read.
fn noise(watcher: &impl Watcher, place: &ExperimentStore) -> Noise {
    place.noise().unwrap_or_else(|error| {
        watcher.note(&format!("what is known of the machine's noise is not used: {error}"));
        Noise::default()
    })
}

/// Says how long it will take; on a model, in real time too.
fn announce(
    document: &Document,
    machine: &mut ThisMachine<'_>,
    watcher: &impl Watcher,
) -> Result<(), ExecuteError> {
    let design = &document.design;
    let [a, b] = [&document.a, &document.b].map(|arm| arm.job.run_time() + design.settle_ns);
    let each = f64::midpoint(a.as_secs_f64(), b.as_secs_f64());
    let pace = match is_modelled(&machine.target) {
        true => Some(machine.real_time(document)?.as_secs_f64() / each),
        false => None,
    };
    let about = |seconds: f64| {
        let time = |seconds| time_about(Nanos::from_secs_f64(seconds));
        let real =
            pace.map(|pace| format!(" of the model's time, {} in real time", time(pace * seconds)));
        format!("about {}{}", time(seconds), real.unwrap_or_default())
    };
    let Some(Forecast { blocks, seconds, beyond_cap, same_workload, from, .. }) =
        &document.forecast
    else {
        let runs = f64::from(design.expected_blocks() * design.shape.runs());
        let least = if design.blocks.is_some() { "" } else { "at least " };
        watcher.note(&format!(
            "{least}{} blocks, {}; how noisy this machine is is not known (--aa measures it)",
            design.expected_blocks(),
            about(runs * each)
        ));
        return Ok(());
    };
    let under = if *same_workload { "" } else { ", under another workload" };
    let settles = if *beyond_cap {
        "and that may not settle it: runs should be longer"
    } else {
        "to settle it"
    };
    watcher.note(&format!(
        "by this machine's noise ({from}{under}) an answer of {} takes {blocks} blocks, {} \
         {settles}",
        design.margin,
        about(*seconds)
    ));
    Ok(())
}

/// Progress for a watcher: never the verdict so far.
pub(crate) struct Shown<'a, W> {
    /// Who looks on.
    pub(crate) watcher: &'a W,
    /// What stands before it.
    pub(crate) lead: String,
}

impl<W: Watcher> Observer for Shown<'_, W> {
    fn run_begins(&mut self, at: &Standing) {
        let of = match at.planned {
            Some(planned) => planned.to_string(),
            None => format!("{} or more", at.expected),
        };
        let width = at.half_width_percent.map_or_else(String::new, |width| {
            format!(" · width ±{width:.1} %, wanted ±{:.1} %", at.goal_percent)
        });
        let text = format!(
            "{}block {} of {of}, run {}{width} · about {} left",
            self.lead,
            at.slot.block + 1,
            at.slot.position + 1,
            time_about(at.eta)
        );
        let blocks = u64::from(at.planned.unwrap_or(at.expected));
        self.watcher.part(&text, u64::from(at.slot.block), blocks);
    }
}

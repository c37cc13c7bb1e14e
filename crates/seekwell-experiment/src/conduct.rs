//! Carrying an experiment out, run by run.
//!
//! The state is the document: which run is next follows from the runs that are in it, so going on
//! after an interruption is the same code as going on after a run. The verdict is not looked at
//! here; the only thing that is computed meanwhile is the width, once after the pilot to fix the
//! number of blocks, and for the progress line.

use crate::conclude::{block_values, conclude};
use crate::condition::Condition;
use crate::design::{Design, Slot};
use crate::document::{Document, Run, Status};
use crate::error::ExperimentError;
use crate::rig::{PrepareError, Rig};
use crate::steady::course;
use crate::store::Keeper;
use seekwell_checkup::{ExecuteError, detail, metrics, summarize};
use seekwell_io::measurement::Stopped;
use seekwell_io::units::Nanos;
use seekwell_runs::RepeatDetail;
use seekwell_stats::{Arm, blocks_needed, interval};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where an experiment stands: all that may be shown while it is made. The verdict so far is not
/// in it, on purpose.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    pub slot: Slot,
    /// Blocks that will be made, where it is fixed.
    pub planned: Option<u32>,
    /// Blocks that are aimed at otherwise.
    pub expected: u32,
    /// Half-width of the 95 % interval so far, per cent; from six complete blocks on.
    pub half_width_percent: Option<f64>,
    /// Half-width wanted, per cent.
    pub goal_percent: f64,
    /// Time still needed for the blocks that are planned or expected.
    pub eta: Nanos,
}

/// Observes an experiment. The default does nothing.
pub trait Observer {
    /// A run is about to begin.
    fn run_begins(&mut self, _at: &Standing) {}
}

impl Observer for () {}

/// How the loop ended.
enum End {
    Finished,
    Waiting,
    Interrupted,
    Invalid(String),
}

/// Makes the runs that are missing, until all are made, `stop` is set, a run fails or another mode
/// is needed; then puts everything back, concludes and saves. [`fn@crate::begin`] comes before it.
///
/// # Errors
/// [`ExperimentError`] when the document cannot be saved; everything is put back then too.
pub fn conduct(
    document: &mut Document,
    rig: &mut dyn Rig,
    keeper: &mut dyn Keeper,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<(), ExperimentError> {
    document.status = Status::Running;
    let ended = all(document, rig, keeper, observer, stop);
    document.not_restored = rig.put_back();
    let ended = ended?;
    let after = rig.inspect();
    if let Some(session) = document.sessions.last_mut() {
        session.after = Some(after);
    }
    document.status = match ended {
        End::Finished => Status::Complete,
        End::Waiting => Status::Waiting,
        End::Interrupted => Status::Interrupted,
        End::Invalid(why) => {
            document.invalid = Some(why);
            Status::Invalid
        }
    };
    if matches!(document.status, Status::Complete | Status::Invalid) {
        document.ended_at = Some(rig.timestamp());
        document.conclusion = Some(conclude(document));
    }
    keeper.save(document)
}

fn all(
    document: &mut Document,
    rig: &mut dyn Rig,
    keeper: &mut dyn Keeper,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<End, ExperimentError> {
    keeper.save(document)?;
    let begun = rig.now();
    let made_before = document.runs.len();
    while let Some(slot) = document.next_slot() {
        if stop.load(Ordering::Relaxed) {
            return Ok(End::Interrupted);
        }
        let mode = document.sessions.last().and_then(|s| s.mode);
        if document.design.reboot_between && mode != Some(slot.arm) {
            return Ok(End::Waiting);
        }
        let made = document.runs.len() - made_before;
        observer.run_begins(&standing(document, slot, made, rig.now().since(begun)));
        let (run, detail) = match one(document, rig, slot, stop) {
            Made::Run(made) => *made,
            Made::Interrupted => return Ok(End::Interrupted),
            Made::Unready(why) => return Ok(End::Invalid(why)),
        };
        let trouble = trouble(document, &run, &slot);
        document.runs.push(run);
        if let Some(detail) = detail {
            keeper.save_detail(detail)?;
        }
        if let Some(why) = trouble {
            return Ok(End::Invalid(why));
        }
        plan(document);
        keeper.save(document)?;
    }
    Ok(End::Finished)
}

enum Made {
    Run(Box<(Run, Option<RepeatDetail>)>),
    Interrupted,
    /// The arm could not be made ready.
    Unready(String),
}

fn one(document: &Document, rig: &mut dyn Rig, slot: Slot, stop: &AtomicBool) -> Made {
    let arm = document.arm(slot.arm);
    let applied = match rig.prepare(slot.arm, arm) {
        Ok(applied) => applied,
        Err(PrepareError::Interrupted) => return Made::Interrupted,
        Err(_) if stop.load(Ordering::Relaxed) => return Made::Interrupted,
        Err(error) => {
            return Made::Unready(format!("before {}, {error}", Document::run_name(&slot)));
        }
    };
    rig.settle(document.design.settle_ns);
    if stop.load(Ordering::Relaxed) {
        return Made::Interrupted;
    }
    let region = rig.region();
    let room = region.bytes.saturating_sub(arm.job.offset_bytes);
    let workload = arm.job.workload(room, region.direct, slot.seed);
    let mut run = Run {
        index: slot.index,
        block: slot.block,
        position: slot.position,
        arm: slot.arm,
        seed: slot.seed,
        session: (document.sessions.len() as u32).saturating_sub(1),
        started_at: rig.timestamp(),
        elapsed_ns: Nanos::ZERO,
        applied,
        values: BTreeMap::new(),
        course: Vec::new(),
        condition: Condition::default(),
        limit: None,
        failed: 0,
        invalid: None,
    };
    let (mut kept, mut others) = (None, None);
    let before = rig.condition();
    match rig.run(arm, &workload) {
        Err(ExecuteError::Interrupted) => return Made::Interrupted,
        Err(error) => run.invalid = Some(error.to_string()),
        Ok(execution) => {
            let m = &execution.measurement;
            if m.stopped == Stopped::Interrupted {
                return Made::Interrupted;
            }
            let repeat = summarize(m, execution.device, workload.seed);
            let letter = if slot.arm == Arm::A { "a" } else { "b" };
            kept = Some(detail(letter, slot.index, m));
            others = execution.host.others;
            run.elapsed_ns = m.elapsed;
            run.failed = m.failed;
            run.course = course(&m.series, m.elapsed);
            run.invalid = repeat.invalid.as_ref().map(ToString::to_string);
            run.limit = rig.limit(arm, &workload, &repeat);
            run.values = metrics(&[repeat]).into_iter().map(|(n, s)| (n, s.median)).collect();
        }
    }
    if let Err(why) = rig.verify() {
        run.invalid.get_or_insert(why);
    }
    run.condition = rig.condition();
    run.condition.other_programs_percent = others.map(|share| 100.0 * share);
    run.condition.trouble = before.trouble(&run.condition);
    if let Some(why) = &run.condition.trouble {
        run.invalid.get_or_insert_with(|| why.clone());
    }
    Made::Run(Box::new((run, kept)))
}

/// Why a run ends the experiment, if it does.
fn trouble(document: &Document, run: &Run, slot: &Slot) -> Option<String> {
    let name = Document::run_name(slot);
    if let Some(why) = &run.invalid {
        return Some(format!("{name} is not valid: {why}"));
    }
    let metric = &document.design.metric;
    match run.values.get(metric) {
        Some(value) if *value > 0.0 => None,
        Some(_) => Some(format!("{metric} of {name} is zero")),
        None if metric.contains("_ns_p") => Some(format!(
            "{name} made too few requests for {metric}: make runs longer with --runtime"
        )),
        None => Some(format!("{name} gives no {metric}; it gives {}", offered(run))),
    }
}

fn offered(run: &Run) -> String {
    let rates: Vec<&str> =
        run.values.keys().map(String::as_str).filter(|k| k.ends_with("_per_s")).collect();
    if rates.is_empty() { "nothing".to_owned() } else { rates.join(", ") }
}

/// Fixes the number of blocks when the pilot is complete: from its width, not from its result.
fn plan(document: &mut Document) {
    if document.planned_blocks.is_none() && document.complete_blocks() == Design::PILOT {
        let d = block_values(document, &document.design.metric);
        document.planned_blocks = Some(blocks_needed(&d, document.design.margin));
    }
}

fn standing(document: &Document, slot: Slot, made: usize, elapsed: Nanos) -> Standing {
    let design = &document.design;
    let d = block_values(document, &design.metric);
    let expected = document.planned_blocks.unwrap_or(design.expected_blocks());
    let left = (expected * design.shape.runs()).saturating_sub(slot.index);
    let planned = |arm: &crate::ArmSpec| {
        (arm.job.runtime_ns + arm.job.ramp_ns + design.settle_ns).as_secs_f64()
    };
    let each = match made {
        0 => f64::midpoint(planned(&document.a), planned(&document.b)),
        made => elapsed.as_secs_f64() / made as f64,
    };
    Standing {
        slot,
        planned: document.planned_blocks,
        expected,
        half_width_percent: interval(&d, 0.95).map(|i| i.half_width().exp_m1() * 100.0),
        goal_percent: (design.margin.log() / 2.0).exp_m1() * 100.0,
        eta: Nanos::from_secs_f64(each * f64::from(left)),
    }
}

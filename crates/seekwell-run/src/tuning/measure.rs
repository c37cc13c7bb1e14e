//! `seekwell tune try --measure`: one run before, one under the setting.
//!
//! Two runs are no experiment, and nothing here says that they were: the numbers stand side by
//! side, with the command that gives a verdict. During the second run the guard's timer is
//! restarted again and again, so that a short trial does not cut off a long workload.

use crate::{Host, RealExecutor, RunError, Wanted, Watcher, look, pick, prepare};
use seekwell_access::Consent;
use seekwell_checkup::{ExecuteError, Executor, metrics, summarize};
use seekwell_io::measurement::Stopped;
use seekwell_io::target::TargetError;
use seekwell_io::workload::Workload;
use seekwell_job::PlainJob;
use seekwell_sys::thread::start_scoped;
use seekwell_tune::trial::{Begun, TrialRequest, Tuner, Undone};
use seekwell_tune::{Disk, TuneError};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Bytes of a temporary file if no size was asked for.
const FILE_BYTES: u64 = 1 << 30;

/// What two runs gave, one before the setting and one under it.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// The workload's options as typed.
    pub workload: BTreeMap<&'static str, String>,
    /// One number per metric, before.
    pub before: BTreeMap<String, f64>,
    /// The same under the setting.
    pub under: BTreeMap<String, f64>,
    /// What the numbers are worth, in words.
    pub worth: &'static str,
    /// The command that gives a verdict.
    pub verdict_command: Vec<String>,
}

/// What is measured around the beginning of a trial.
pub struct MeasuredTrial<'a> {
    /// The target.
    pub target: &'a Path,
    /// The workload.
    pub workload: &'a PlainJob,
    /// Size of the temporary file, or of the part of the target used.
    pub size_bytes: Option<u64>,
    /// The device that may be overwritten.
    pub destroy: Option<Consent<'a>>,
    /// The settings that are tried.
    pub request: &'a TrialRequest,
}

/// A trial that was measured and is still running.
#[derive(Debug, Serialize)]
pub struct Tried {
    /// The trial.
    #[serde(flatten)]
    pub begun: Begun,
    /// Both runs.
    pub measured: Measured,
}

/// What became of a trial that was to be measured.
#[derive(Debug)]
pub enum TrialEnd {
    /// It is still running.
    Measured(Box<Tried>),
    /// The second run gave nothing, and not everything could be put back.
    Left {
        /// Why it gave nothing.
        why: RunError,
        /// What could not be put back.
        undone: Box<Undone>,
    },
}

/// Measures, begins the trial, measures again. When the second run cannot be made, everything is
/// put back.
///
/// # Errors
/// [`RunError`] when either run or the trial is not possible; nothing is changed then.
pub fn measure(
    host: Host<'_>,
    watcher: &impl Watcher,
    tuner: &Tuner<'_>,
    disk: &Disk,
    trial: &MeasuredTrial<'_>,
) -> Result<TrialEnd, RunError> {
    let options = trial.workload;
    options.workload(u64::from(options.block_bytes), true, 1).check()?;
    let (mut executor, workload) = ready(host, watcher, trial)?;
    watcher.doing("measuring as it is");
    let before = one(&mut executor, &workload)?;
    let begun = tuner.begin(disk, trial.request)?;
    for blind in &begun.blind {
        watcher.note(blind);
    }
    watcher.doing("measuring under the setting");
    // Other places, for the drive's cache holds those of the first run.
    let again = Workload { seed: workload.seed + 1, ..workload };
    let under = alive(tuner, disk, trial.request.time / 4, || one(&mut executor, &again));
    watcher.clear();
    let under = match under.and_then(|under| Ok((under, tuner.heartbeat(disk)?))) {
        Ok((under, _)) => under,
        Err(error) => return put_back(tuner, disk, watcher, error),
    };
    let measured = Measured {
        workload: options.words().into_iter().collect(),
        before,
        under,
        worth: "one run each: no verdict",
        verdict_command: verdict_command(trial),
    };
    Ok(TrialEnd::Measured(Box::new(Tried { begun, measured })))
}

fn ready(
    host: Host<'_>,
    watcher: &impl Watcher,
    trial: &MeasuredTrial<'_>,
) -> Result<(RealExecutor, Workload), RunError> {
    let options = trial.workload;
    let inspection = look(host.view, trial.target)?;
    let (engine, _) = pick(options.engine, |text| watcher.note(text))?;
    let wanted = Wanted {
        set: &[],
        inspection: &inspection,
        offset_bytes: options.offset_bytes,
        size_bytes: trial.size_bytes,
        default_bytes: FILE_BYTES,
        blank: false,
        destroy: trial.destroy,
        writes: options.writes(),
    };
    let mut ready = prepare(&wanted, host, watcher)?;
    ready.source.open_commands(engine, &[options], host.view)?;
    let room = ready.inputs.region_bytes.saturating_sub(options.offset_bytes);
    let workload = options.workload(room, ready.inputs.direct, 1);
    workload.check()?;
    let control = Arc::clone(host.control);
    Ok((RealExecutor::new(ready.source, engine, options.tags(), control), workload))
}

/// One run's numbers.
fn one(
    executor: &mut RealExecutor,
    workload: &Workload,
) -> Result<BTreeMap<String, f64>, RunError> {
    let execution = executor.execute(workload)?;
    if execution.measurement.stopped == Stopped::Interrupted {
        return Err(ExecuteError::Interrupted.into());
    }
    let repeat = summarize(&execution.measurement, execution.device, workload.seed);
    if let Some(why) = repeat.invalid {
        return Err(RunError::NotMeasured { why: why.to_string() });
    }
    Ok(metrics(&[repeat]).into_iter().map(|(name, spread)| (name, spread.median)).collect())
}

/// Runs `act` while the guard's timer is restarted every `every`.
fn alive<T>(
    tuner: &Tuner<'_>,
    disk: &Disk,
    every: Duration,
    act: impl FnOnce() -> Result<T, RunError>,
) -> Result<T, RunError> {
    std::thread::scope(|scope| {
        let (done, ended) = channel::<()>();
        let beats = start_scoped(scope, "heartbeat", move || {
            // The last heartbeat, after the run, shows whether the guard is gone.
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(every) {
                let _ = tuner.heartbeat(disk);
            }
        });
        beats.map_err(TargetError::from)?;
        let result = act();
        drop(done);
        result
    })
}

/// A measurement that could not be made under the setting ends the trial.
fn put_back(
    tuner: &Tuner<'_>,
    disk: &Disk,
    watcher: &impl Watcher,
    why: RunError,
) -> Result<TrialEnd, RunError> {
    match tuner.undo(Some(disk)) {
        Ok(undone) if undone.outcome.complete() => Err(why),
        Ok(undone) => Ok(TrialEnd::Left { why, undone: Box::new(undone) }),
        // The guard had put everything back by itself, which is what the error says.
        Err(TuneError::NoTrial { .. }) => Err(why),
        Err(undo) => {
            watcher.note(&why.to_string());
            Err(undo.into())
        }
    }
}

fn verdict_command(trial: &MeasuredTrial<'_>) -> Vec<String> {
    let mut words: Vec<String> = ["seekwell", "experiment", "--on"].map(str::to_owned).to_vec();
    words.extend([trial.target.display().to_string(), "--b".to_owned()]);
    words.extend(trial.request.words.iter().cloned());
    let options = trial.workload.words().into_iter();
    words.extend(options.map(|(key, value)| format!("--{key}={value}")));
    words
}

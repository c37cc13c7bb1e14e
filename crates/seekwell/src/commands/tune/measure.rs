//! `seekwell tune try --measure`: one run before, one under the setting.
//!
//! Two runs are no experiment, and nothing here says that they were: the numbers stand side by
//! side, with the command that gives a verdict. While the second run is made the guard's time
//! begins anew again and again, so that a long workload is not cut off by a short trial.

use super::text::begun_text;
use super::{show, undone_text};
use crate::Ended;
use crate::cli::tune::Try;
use crate::commands::experiment::{arms, heed_signals};
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use seekwell_checkup::{ExecuteError, Executor, metrics, summarize};
use seekwell_experiment::{Options, text::command};
use seekwell_io::measurement::Stopped;
use seekwell_io::units::{Nanos, three_digits};
use seekwell_io::workload::Workload;
use seekwell_run::look;
use seekwell_run::{RealExecutor, pick};
use seekwell_run::{Wanted, prepare};
use seekwell_stats::signed;
use seekwell_tune::trial::{Begun, Tuner, Wish};
use seekwell_tune::{Disk, TuneError};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Bytes of a temporary file where no size was asked for.
const FILE_BYTES: u64 = 1 << 30;

/// What two runs gave, one before the setting and one under it.
#[derive(Debug, Serialize)]
struct Measured {
    /// The workload's options as typed.
    workload: BTreeMap<&'static str, String>,
    /// One number per metric, before.
    before: BTreeMap<String, f64>,
    /// The same under the setting.
    under: BTreeMap<String, f64>,
    /// What the numbers are worth, in words.
    worth: &'static str,
    /// The command that gives a verdict.
    verdict_command: Vec<String>,
}

/// A trial that was measured.
#[derive(Debug, Serialize)]
struct Tried<'a> {
    #[serde(flatten)]
    begun: &'a Begun,
    measured: &'a Measured,
}

/// Measures, begins the trial, measures again. When the second run cannot be made, everything is
/// put back.
pub fn run(
    args: &Try,
    word: &str,
    context: &Context,
    tuner: &Tuner<'_>,
    disk: &Disk,
    wish: &Wish,
) -> Ended {
    let mut options = arms::workload(word)?;
    options.runtime_ns = args.length.runtime.unwrap_or(options.runtime_ns);
    options.workload(u64::from(options.block_bytes), true, 1).check()?;
    heed_signals(context)?;
    let line = Line::new(context.progress, Arc::clone(&context.control));
    let (mut executor, workload) = ready(args, &options, context, &line)?;
    line.say("measuring as it is");
    let before = one(&mut executor, &workload)?;
    let begun = tuner.begin(disk, wish)?;
    for blind in &begun.blind {
        context.note(blind);
    }
    line.say("measuring under the setting");
    // Other places, for the drive's cache holds those of the first run.
    let again = Workload { seed: workload.seed + 1, ..workload };
    let under = alive(tuner, disk, wish.time / 4, || one(&mut executor, &again));
    line.clear();
    let under = match under.and_then(|under| Ok((under, tuner.heartbeat(disk)?))) {
        Ok((under, _)) => under,
        Err(error) => return put_back(tuner, disk, context, error),
    };
    let measured = Measured {
        workload: options.words().into_iter().collect(),
        before,
        under,
        worth: "one run each: no verdict",
        verdict_command: verdict_command(args, &options),
    };
    let tried = Tried { begun: &begun, measured: &measured };
    let text = || format!("{}\n{}", table(&measured), begun_text(&begun, &args.target));
    show(context, &tried, text, Exit::Done)
}

fn ready(
    args: &Try,
    options: &Options,
    context: &Context,
    line: &Line,
) -> Result<(RealExecutor, Workload), CommandError> {
    let inspection = look(&context.view, &args.target)?;
    let (engine, _) = pick(options.engine, |text| context.note(text))?;
    let wanted = Wanted {
        set: &[],
        inspection: &inspection,
        size_bytes: args.length.size,
        default_bytes: FILE_BYTES,
        destroy: args.length.destroy.consent(),
        writes: options.writes(),
    };
    let ready = prepare(&wanted, context.host(), line)?;
    let workload = options.workload(ready.inputs.region_bytes, ready.inputs.direct, 1);
    workload.check()?;
    let control = Arc::clone(&context.control);
    Ok((RealExecutor::new(ready.source, engine, options.tags(), control), workload))
}

/// One run's numbers.
fn one(
    executor: &mut RealExecutor,
    workload: &Workload,
) -> Result<BTreeMap<String, f64>, CommandError> {
    let execution = executor.execute(workload)?;
    if execution.measurement.stopped == Stopped::Interrupted {
        return Err(ExecuteError::Interrupted.into());
    }
    let repeat = summarize(&execution.measurement, execution.device, workload.seed);
    if let Some(why) = repeat.invalid {
        return Err(CommandError::NotMeasured { why: why.to_string() });
    }
    Ok(metrics(&[repeat]).into_iter().map(|(name, spread)| (name, spread.median)).collect())
}

/// Runs `act` while the guard is told every `every` that its time begins anew.
fn alive<T>(
    tuner: &Tuner<'_>,
    disk: &Disk,
    every: Duration,
    act: impl FnOnce() -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    std::thread::scope(|scope| {
        let (done, ended) = channel::<()>();
        scope.spawn(move || {
            // A guard that is gone is told of by the last heartbeat, after the run.
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(every) {
                let _ = tuner.heartbeat(disk);
            }
        });
        let result = act();
        drop(done);
        result
    })
}

/// A measurement that could not be made under the setting ends the trial.
fn put_back(tuner: &Tuner<'_>, disk: &Disk, context: &Context, error: CommandError) -> Ended {
    match tuner.undo(Some(disk)) {
        Ok(undone) if undone.outcome.complete() => Err(error),
        Ok(undone) => {
            context.complain(&error);
            show(context, &undone, || undone_text(&undone), Exit::Incomplete)
        }
        // The guard had put everything back by itself, which is what the error says.
        Err(TuneError::NoTrial { .. }) => Err(error),
        Err(undo) => {
            context.complain(&error);
            Err(undo.into())
        }
    }
}

fn verdict_command(args: &Try, options: &Options) -> Vec<String> {
    let mut words = vec!["seekwell".to_owned(), "experiment".to_owned(), "--on".to_owned()];
    words.push(args.target.display().to_string());
    words.push("--b".to_owned());
    words.extend(args.settings.iter().cloned());
    words.extend(options.words().into_iter().map(|(key, value)| format!("--{key}={value}")));
    words
}

fn table(measured: &Measured) -> String {
    let mut out = String::from("One run each, before and under the setting: no verdict\n");
    let shown = |name: &&String| {
        let ends = ["requests_per_s", "latency_ns_p50", "latency_ns_p99"];
        ends.iter().any(|end| name.ends_with(end))
    };
    for name in measured.before.keys().filter(shown) {
        let (before, under) = (measured.before[name], measured.under.get(name));
        let Some(under) = under else { continue };
        let value = |x: f64| match name.contains("_ns_") {
            true => Nanos(x.max(0.0) as u64).to_string(),
            false => three_digits(x),
        };
        let change = match before {
            b if b > 0.0 => format!("  ({} %)", signed((under / b - 1.0) * 100.0, 1)),
            _ => String::new(),
        };
        let _ = writeln!(out, "  {name}  {} → {}{change}", value(before), value(*under));
    }
    let _ = writeln!(out, "For a verdict:\n  {}", command(&measured.verdict_command));
    out
}

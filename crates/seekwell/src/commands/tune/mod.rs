//! `seekwell tune`: settings tried, kept and put back.

mod auto_text;
mod text;

use crate::Ended;
use crate::cli::tune::{Auto, Length, Plan, RiskClass, Try, TuneCommand, TuneGuard};
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use crate::session::{heed_signals, tool};
use seekwell_experiment::{Design, ExperimentStore};
use seekwell_job::PlainJob;
use seekwell_run::tuning::{
    self, AutoOptions, AutoOutcome, IOCOST_RUNTIME, IocostOptions, MeasuredTrial, TrialEnd,
};
use seekwell_sys::View;
use seekwell_tune::apply::Limits;
use seekwell_tune::persist::rules_in;
use seekwell_tune::setting::Risk;
use seekwell_tune::trial::{TrialRequest, Tuner};
use seekwell_tune::{Commanded, Disk, DiskError, TuneError, default_run_dir, plan};
use serde_json::json;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use text::{
    begun_text, iocost_text, kept_text, measured_text, plan_text, status_text, undone_text,
};

pub fn run(command: &TuneCommand, context: &Context) -> Ended {
    // What only a command reads is shown beside the kernel's files.
    let view = Commanded::new(&context.view);
    match command {
        TuneCommand::Plan(args) if args.iocost => iocost(args, context),
        TuneCommand::Plan(Plan { target, .. }) => {
            let disk = Disk::of(&view, target)?;
            let plan = plan(&view, &disk)?;
            show(context, &plan, || plan_text(&plan, target), Exit::Done)
        }
        TuneCommand::Try(args) => begin(args, context, &view),
        TuneCommand::Auto(args) => auto(args, context),
        TuneCommand::Keep { target, persist, rules } => {
            let disk = disk(&view, target.as_deref())?;
            let kept = tuner(&view, &rules.dir).keep(disk.as_ref(), *persist)?;
            if let Some(why) = &kept.not_verified {
                context.note(&format!("the rule was written, but not verified: {why}"));
            }
            show(context, &kept, || kept_text(&kept), Exit::Done)
        }
        TuneCommand::Undo { target, rules } => {
            let disk = disk(&view, target.as_deref())?;
            let undone = tuner(&view, &rules.dir).undo(disk.as_ref())?;
            let exit = if undone.outcome.complete() { Exit::Done } else { Exit::Incomplete };
            show(context, &undone, || undone_text(&undone), exit)
        }
        TuneCommand::Status { target, rules } => {
            let disk = disk(&view, target.as_deref())?;
            let all = tuner(&view, &rules.dir).status(disk.as_ref())?;
            let files = rules_in(&rules.dir);
            let document =
                json!({"schema": "seekwell/tune-status/1", "trials": all, "rules": files});
            show(context, &document, || status_text(&all, &files), Exit::Done)
        }
    }
}

/// Says on standard error that a trial was cut off and not put back, or may have been; for other
/// commands to call.
pub fn note_unfinished(context: &Context) {
    match seekwell_tune::unfinished(&run_dir()) {
        Ok(Some(found)) => context.note(&found.to_string()),
        Err(error) if error.incomplete() => context.note(&error.to_string()),
        // Who may not look has nothing to put back.
        Ok(None) | Err(_) => {}
    }
}

/// The guard's life: standard input is the disk's lock, standard output the one who began it.
pub fn guard(args: &TuneGuard) -> Ended {
    let own = |fd: std::os::fd::BorrowedFd<'_>| fd.try_clone_to_owned();
    let fds = own(std::io::stdin().as_fd()).and_then(|i| Ok((i, own(std::io::stdout().as_fd())?)));
    let (lock, report) = fds.map_err(TuneError::Guard)?;
    seekwell_tune::guard::main(&args.journal, lock, report).map_err(TuneError::from)?;
    Ok(Exit::Done)
}

fn run_dir() -> PathBuf {
    default_run_dir(std::env::var_os("SEEKWELL_RUN_DIR").as_deref())
}

fn tuner<'a>(view: &'a dyn View, rules_dir: &Path) -> Tuner<'a> {
    Tuner {
        view,
        run_dir: run_dir(),
        rules_dir: rules_dir.to_path_buf(),
        program: PathBuf::from("/proc/self/exe"),
    }
}

fn disk(view: &dyn View, target: Option<&Path>) -> Result<Option<Disk>, DiskError> {
    target.map(|target| Disk::of(view, target)).transpose()
}

fn show(
    context: &Context,
    document: &impl serde::Serialize,
    text: impl FnOnce() -> String,
    exit: Exit,
) -> Ended {
    if context.json {
        context.print_json(document)?;
    } else {
        context.print(&seekwell_report::prose(&text(), context.width))?;
    }
    Ok(exit)
}

fn iocost(args: &Plan, context: &Context) -> Ended {
    let options = IocostOptions {
        target: &args.target,
        runtime: args.length.runtime.unwrap_or(IOCOST_RUNTIME),
        size_bytes: args.length.size,
        destroy: args.length.destroy.consent(),
    };
    heed_signals(context)?;
    let line = Line::new(context.progress, Arc::clone(&context.control));
    let document = tuning::iocost(context.host(), &line, &options)?;
    show(context, &document, || iocost_text(&document), Exit::Done)
}

fn begin(args: &Try, context: &Context, view: &dyn View) -> Ended {
    let disk = Disk::of(view, &args.target)?;
    let request = TrialRequest {
        words: args.settings.clone(),
        time: Duration::from_nanos(args.time.0),
        allow: args.allow_risk.map_or(Risk::B, RiskClass::risk),
        limits: Limits::default(),
        canary: !args.no_canary,
        owned: false,
    };
    let tuner = tuner(view, Path::new(""));
    if let Some(word) = &args.measure {
        return measure(args, word, context, &tuner, &disk, &request);
    }
    let begun = tuner.begin(&disk, &request)?;
    for blind in &begun.blind {
        context.note(blind);
    }
    show(context, &begun, || begun_text(&begun, &args.target), Exit::Done)
}

/// A trial with one run before and one under it.
fn measure(
    args: &Try,
    word: &str,
    context: &Context,
    tuner: &Tuner<'_>,
    disk: &Disk,
    request: &TrialRequest,
) -> Ended {
    let workload = workload(word, &args.length)?;
    heed_signals(context)?;
    let line = Line::new(context.progress, Arc::clone(&context.control));
    let trial = MeasuredTrial {
        target: &args.target,
        workload: &workload,
        size_bytes: args.length.size,
        destroy: args.length.destroy.consent(),
        request,
    };
    match tuning::measure(context.host(), &line, tuner, disk, &trial)? {
        TrialEnd::Measured(tried) => {
            let begun = || begun_text(&tried.begun, &args.target);
            let text = || format!("{}\n{}", measured_text(&tried.measured), begun());
            show(context, &*tried, text, Exit::Done)
        }
        TrialEnd::Left { why, undone } => {
            context.complain(&why.into());
            show(context, &undone, || undone_text(&undone), Exit::Incomplete)
        }
    }
}

/// `randread,iodepth=32` and how long a run of it takes.
fn workload(word: &str, length: &Length) -> Result<PlainJob, CommandError> {
    let mut options = PlainJob::parse(word)?;
    options.runtime_ns = length.runtime.unwrap_or(options.runtime_ns);
    Ok(options)
}

/// A search for a setting that helps.
fn auto(args: &Auto, context: &Context) -> Ended {
    let options = AutoOptions {
        target: std::path::absolute(&args.target).unwrap_or_else(|_| args.target.clone()),
        workload: workload(&args.workload, &args.length)?,
        goal: args.goal,
        candidates: args.candidates.clone(),
        screening_pairs: args.screen,
        margin: args.margin,
        settle: args.settle,
        seed: args.seed.unwrap_or_else(Design::fresh_seed),
        size_bytes: args.length.size,
        destroy: args.length.destroy.destroy.clone(),
        accept_data: args.length.destroy.accept_data.into_iter().collect(),
    };
    heed_signals(context)?;
    let place = ExperimentStore::beside(context.store()?.dir());
    let line = Line::new(context.progress, Arc::clone(&context.control));
    let document = tuning::auto(context.host(), &line, tool(), &options, &place)?;
    line.clear();
    let exit = match document.outcome {
        AutoOutcome::Helps => Exit::Done,
        AutoOutcome::NothingToTry | AutoOutcome::NothingHelps | AutoOutcome::Undecided => {
            Exit::NotShown
        }
        AutoOutcome::Invalid | AutoOutcome::NotMeasured => Exit::Invalid,
        AutoOutcome::Interrupted => Exit::Interrupted,
    };
    show(context, &document, || auto_text::result(&document), exit)
}

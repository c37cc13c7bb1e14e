//! `seekwell bench FILE.fio`: fio's job files, run as they are.

use crate::Ended;
use crate::cli::Bench;
use crate::commands::format;
use crate::context::Context;
use crate::exit::Exit;
use crate::session::{RunOptions, begin_command};
use seekwell_run::jobs::{Jobs, Request};
use seekwell_runs::RunKind;

/// Runs job files, or shows what they would do.
///
/// # Errors
/// Whatever is wrong with them or refused, before anything is written.
pub fn run(args: &Bench, context: &Context) -> Ended {
    format::check(&args.results, None, context)?;
    let jobs = Jobs::read(Request {
        files: &args.jobs,
        on: args.on.as_deref(),
        set: &args.set,
        repeats: args.repeats,
        seed: args.seed,
        destroy: args.destroy.consent(),
        replace: args.results.replace.force,
    })?;
    let tell = |text: &str| context.note(text);
    if args.show {
        context.print(&jobs.show(tell))?;
        return Ok(Exit::Done);
    }
    let plan = jobs.plan(tell)?;
    let options =
        RunOptions { kind: RunKind::Bench, keep: &args.keep, engine: args.workload.engine };
    let (line, purpose) = begin_command(context, options)?;
    let ((document, detail, ending), logged) = plan.run(context.host(), line, purpose)?;
    let exit = format::finish(context, &(document, detail, ending.into()), &args.results)?;
    logged?;
    Ok(exit)
}

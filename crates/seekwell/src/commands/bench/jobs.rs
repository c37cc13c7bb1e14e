//! `seekwell bench FILE.fio` and `--zonemode=zbd`: fio's job files, run as they are, and the one
//! workload that is run as a job.

use crate::Ended;
use crate::cli::Bench;
use crate::cli::zones::ZoneMode;
use crate::commands::format;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::session::{RunOptions, begin_command};
use seekwell_job::Surroundings;
use seekwell_job::job::JobFile;
use seekwell_run::RunError;
use seekwell_run::jobs::{JobRunError, Jobs, Request};
use seekwell_runs::RunKind;

/// Runs job files, or shows what they would do.
///
/// # Errors
/// Whatever is wrong with them or refused, before anything is written.
pub fn run(args: &Bench, context: &Context) -> Ended {
    format::check(&args.results, None, context)?;
    let request = Request {
        files: &args.jobs,
        on: args.on.as_deref(),
        set: &args.set,
        repeats: args.repeats,
        seed: args.seed,
        destroy: args.destroy.consent(),
        replace: args.results.replace.force,
        ages: false,
    };
    let jobs = match args.zones.zonemode {
        None => Jobs::read(request)?,
        Some(ZoneMode::Zbd) => Jobs::of(request, on_zones(args)?)?,
    };
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

/// The workload as a job that follows zones.
fn on_zones(args: &Bench) -> Result<JobFile, CommandError> {
    let size = args.workload.size.map(|size| ("size", size.to_string()));
    let open = args.zones.max_open_zones.map(|most| ("max_open_zones", most.to_string()));
    let more: Vec<_> = size.into_iter().chain(open).collect();
    let job = args.workload.job().on_zones(&more, &Surroundings::here());
    Ok(job.map_err(|error| RunError::from(JobRunError::from(error)))?)
}

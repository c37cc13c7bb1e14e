//! `seekwell fit-for`: whether a target does what a program demands of its disk.

use super::{list, show};
use crate::Ended;
use crate::cli::fit_for::FitFor;
use crate::context::Context;
use crate::exit::Exit;
use crate::session::{RunOptions, begin_command};
use seekwell_io::target::Engine;
use seekwell_io::units::amount;
use seekwell_report::{of_job, wrap};
use seekwell_run::demand::{DemandFile, names};
use seekwell_run::jobs::Request;
use seekwell_runs::{Demand, DemandVerdict, RunDocument, RunKind, Side, Study};

/// Lists demands, shows one, or puts one to a target.
///
/// # Errors
/// Whatever is wrong with the demand or refused, before anything is written.
pub fn run(args: &FitFor, context: &Context) -> Ended {
    let Some(name) = &args.demand else { return list_all(context) };
    let file = DemandFile::read(name)?;
    let files = [name.clone()];
    let request = Request {
        files: &files,
        on: Some(&args.on),
        set: &args.set,
        repeats: args.repeats,
        seed: args.seed,
        destroy: args.destroy.consent(),
        replace: false,
        ages: false,
    };
    let jobs = file.jobs(request)?;
    if args.show {
        let text = described(file.demand(), context.width);
        context.print(&format!("{text}\n{}", jobs.show(|text| context.note(text))))?;
        return Ok(Exit::Done);
    }
    let options = RunOptions { kind: RunKind::Bench, keep: &args.keep, engine: Engine::Auto };
    let (line, purpose) = begin_command(context, options)?;
    let ((document, detail, ending), logged) = file.run(&jobs, context.host(), line, purpose)?;
    let exit = match Exit::from(ending) {
        Exit::Done if !fits(&document) => Exit::NotShown,
        exit => exit,
    };
    let exit = show(context, &(document, detail, exit), None)?;
    logged?;
    Ok(exit)
}

fn fits(document: &RunDocument) -> bool {
    matches!(&document.study, Some(Study::Demand(d)) if d.verdict == DemandVerdict::Fits)
}

fn list_all(context: &Context) -> Ended {
    let mut rows = Vec::new();
    for name in names() {
        rows.push((name, DemandFile::built_in(name)?.demand().title.clone()));
    }
    list(context, "demands", "demand", &rows)
}

/// A demand before it is put to a target.
fn described(demand: &Demand, width: usize) -> String {
    let mut lines = wrap(&demand.title, width, "", "");
    for bound in &demand.bounds {
        let side = match bound.side {
            Side::AtMost => "at most",
            Side::AtLeast => "at least",
        };
        let wanted = format!(
            "{}: {side} {}; otherwise {}",
            of_job(&bound.job, &bound.metric),
            amount(&bound.metric, bound.bound),
            bound.why
        );
        lines.extend(wrap(&wanted, width, "- ", "  "));
    }
    lines.push("Sources:".to_owned());
    lines.extend(demand.sources.iter().flat_map(|source| wrap(source, width, "- ", "  ")));
    lines.join("\n") + "\n"
}

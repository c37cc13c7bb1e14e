//! `seekwell fit-for`: whether a target does what a program demands of its disk.

use super::show;
use crate::Ended;
use crate::cli::fit_for::FitFor;
use crate::context::Context;
use crate::exit::Exit;
use crate::session::{RunOptions, begin_command};
use seekwell_io::target::Engine;
use seekwell_io::units::amount;
use seekwell_report::{bounded, wrap};
use seekwell_run::demand::{DEMANDS, DemandFile};
use seekwell_run::jobs::Request;
use seekwell_runs::{Demand, DemandVerdict, RunDocument, RunKind, Side, Study};
use serde_json::json;
use std::path::Path;

/// Lists demands, shows one, or puts one to a target.
///
/// # Errors
/// Whatever is wrong with the demand or refused, before anything is written.
pub fn run(args: &FitFor, context: &Context) -> Ended {
    let Some(name) = &args.demand else { return list(context) };
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

fn list(context: &Context) -> Ended {
    let mut demands = Vec::new();
    for (name, _) in DEMANDS {
        demands.push(DemandFile::read(Path::new(name))?);
    }
    let demands = demands.iter().map(DemandFile::demand);
    if context.json {
        let of = |demand: &Demand| json!({ "name": demand.name, "title": demand.title });
        let demands: Vec<_> = demands.map(of).collect();
        context.print_json(&json!({ "schema": "seekwell/demands/1", "demands": demands }))?;
        return Ok(Exit::Done);
    }
    let rows = demands.map(|demand| vec![demand.name.clone(), demand.title.clone()]);
    let table = seekwell_report::table(&["demand", "what it is"], rows, context.width);
    context.print(&table)?;
    Ok(Exit::Done)
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
            bounded(bound),
            amount(&bound.metric, bound.bound),
            bound.why
        );
        lines.extend(wrap(&wanted, width, "- ", "  "));
    }
    lines.push("Sources:".to_owned());
    lines.extend(demand.sources.iter().flat_map(|source| wrap(source, width, "- ", "  ")));
    lines.join("\n") + "\n"
}

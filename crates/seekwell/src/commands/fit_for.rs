//! `seekwell fit-for`: whether a target does what a program demands of its disk.

use super::{list, show};
use crate::Ended;
use crate::cli::fit_for::FitFor;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use crate::session::{RunOptions, heed_signals, purpose};
use seekwell_io::target::Engine;
use seekwell_io::units::{amount, three_digits};
use seekwell_report::{of_job, wrap};
use seekwell_run::RunError;
use seekwell_run::demand::{DEMANDS, DemandFile};
use seekwell_runs::{Demand, DemandVerdict, Detail, RunDocument, RunKind, Side, Study};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// Lists demands, shows one, or puts one to targets.
///
/// # Errors
/// Whatever is wrong with the demand or refused, before anything is written.
pub fn run(args: &FitFor, context: &Context) -> Ended {
    let Some(name) = &args.demand else { return list_all(context) };
    let file = DEMANDS.read(name)?;
    if args.show {
        let jobs = file.jobs(args.repeated.request(args.demand.as_slice(), &args.on[0]))?;
        let text = described(file.demand(), context.width);
        context.print(&format!("{text}\n{}", jobs.show(|text| context.note(text))))?;
        return Ok(Exit::Done);
    }
    heed_signals(context)?;
    if let [on] = &*args.on {
        let (ended, logged) = measure(&file, args, on, context)?;
        let exit = show(context, &ended, None)?;
        logged?;
        return Ok(exit);
    }
    let mut rows = Vec::new();
    for on in &args.on {
        let ((document, _, exit), logged) = measure(&file, args, on, context)?;
        logged?;
        if !matches!(exit, Exit::Done | Exit::NotShown) {
            return Ok(exit);
        }
        rows.push(Row { target: on.display().to_string(), document });
    }
    side_by_side(&file, &rows, context)?;
    let any = rows.iter().any(|row| fits(&row.document));
    Ok(if any { Exit::Done } else { Exit::NotShown })
}

/// A finished run, and whether its logs were written.
type Measured = ((RunDocument, Detail, Exit), Result<(), RunError>);

fn measure(
    file: &DemandFile,
    args: &FitFor,
    on: &Path,
    context: &Context,
) -> Result<Measured, CommandError> {
    let jobs = file.jobs(args.repeated.request(args.demand.as_slice(), on))?;
    let options =
        RunOptions { kind: RunKind::Bench, keep: &args.repeated.keep, engine: Engine::Auto };
    let line = Line::new(context.progress, Arc::clone(&context.control));
    let purpose = purpose(context, options)?;
    let ((document, detail, ending), logged) = file.run(&jobs, context.host(), line, purpose)?;
    let exit = match Exit::from(ending) {
        Exit::Done if !fits(&document) => Exit::NotShown,
        exit => exit,
    };
    Ok(((document, detail, exit), logged))
}

fn demand(document: &RunDocument) -> Option<&Demand> {
    match &document.study {
        Some(Study::Demand(demand)) => Some(demand),
        _ => None,
    }
}

fn fits(document: &RunDocument) -> bool {
    demand(document).is_some_and(|demand| demand.verdict == DemandVerdict::Fits)
}

/// One of several targets.
struct Row {
    target: String,
    document: RunDocument,
}

/// Which of several targets meet a demand.
fn side_by_side(file: &DemandFile, rows: &[Row], context: &Context) -> Result<(), CommandError> {
    let found = rows.iter().filter_map(|row| Some((row, demand(&row.document)?)));
    if context.json {
        let one = |(row, demand): (&Row, &Demand)| {
            json!({
                "target": row.target,
                "run": row.document.id,
                "modelled": row.document.modelled,
                "verdict": demand.verdict,
                "bounds": demand.bounds,
            })
        };
        let targets: Vec<_> = found.map(one).collect();
        let demand = &file.demand().name;
        let schema = "seekwell/fit/1";
        return context
            .print_json(&json!({ "schema": schema, "demand": demand, "targets": targets }));
    }
    let one = |(row, demand): (&Row, &Demand)| {
        let (room, bound) = demand.tightest().map_or_else(Default::default, |(bound, room)| {
            (format!("×{}", three_digits(room)), of_job(&bound.job, &bound.metric))
        });
        let kind = if row.document.modelled { " (modelled)" } else { "" };
        let target = format!("{}{kind}", row.target);
        vec![target, demand.verdict.words().to_owned(), room, bound]
    };
    let header = ["target", &file.demand().name, "least room", "in"];
    context.print(&seekwell_report::table(
        &header,
        found.map(one).collect::<Vec<_>>(),
        context.width,
    ))
}

fn list_all(context: &Context) -> Ended {
    let mut rows = Vec::new();
    for name in DEMANDS.names() {
        rows.push((name, DEMANDS.built_in(name)?.demand().title.clone()));
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

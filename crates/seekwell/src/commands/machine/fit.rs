//! `seekwell machine fit`: a description of the disk that was measured.

use crate::Ended;
use crate::cli::machine::Fit;
use crate::commands::{begin_output, write_output};
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::session::{RunOptions, begin_command};
use seekwell_experiment::{Grid, GridPoint};
use seekwell_io::target::Engine;
use seekwell_io::units::{Nanos, size_option};
use seekwell_io::workload::{Rw, Workload};
use seekwell_job::PlainJob;
use seekwell_machine::Model;
use seekwell_machine::fit::{Fitted, MOST_ERROR_PERCENT, Next, Row};
use seekwell_machine::library::Shelf;
use seekwell_report::units::{capacity, iops};
use seekwell_run::bench::{BenchOptions, Question, bench};
use seekwell_run::{fit, fit_next};
use seekwell_runs::{RunDocument, RunKind, Runs};
use seekwell_stats::signed;
use serde_json::{Value, json};
use std::path::Path;

/// Of one measurement.
const RUNTIME: Nanos = Nanos::from_millis(1800);
const RAMP: Nanos = Nanos::from_millis(200);
const REPEATS: u32 = 3;

pub fn run(args: &Fit, context: &Context) -> Ended {
    let output = begin_output(&args.output, args.replace, context)?;
    let store = context.store()?;
    let load = |run: &String| Ok(store.load(run)?.0);
    let mut runs = args.runs.iter().map(load).collect::<Result<Vec<_>, CommandError>>()?;
    let mut ending = Exit::Done;
    let next = match &args.measure {
        None => None,
        Some(None) => fit_next(&runs, threads())?,
        Some(Some(target)) => {
            ending = measure(args, target, &mut runs, context)?;
            None
        }
    };
    let fitted = fit(&runs, &args.on_depths)?;
    let file = args.output.display().to_string();
    // What cannot be read back must not be written.
    let model = Model::read(&file, &fitted.toml, &[], &Shelf::default())?;
    write_output(output, &fitted.toml)?;
    if context.json {
        context.print_json(&described(&runs, &file, &fitted, next.as_ref()))?;
    } else {
        context.print(&text(&file, &model, &fitted, context.width))?;
        if let Some(next) = &next {
            context.print(&suggestion(next))?;
        }
    }
    Ok(ending)
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Measures what is least certain, again and again, and adds each run.
fn measure(
    args: &Fit,
    target: &Path,
    runs: &mut Vec<RunDocument>,
    context: &Context,
) -> Result<Exit, CommandError> {
    for _ in 0..args.at_most {
        let Some(next) = fit_next(runs, threads())? else { break };
        if next.range_percent <= MOST_ERROR_PERCENT {
            break;
        }
        let title = job(&next.workload).title();
        context.note(&format!("{title}: ± {:.0} %; measuring it", next.range_percent));
        let options = BenchOptions {
            target,
            size_bytes: Some(next.workload.region_bytes),
            destroy: args.destroy.consent(),
            set: &[],
            precondition: false,
            repeats: REPEATS,
            seed: next.workload.seed,
        };
        let how = RunOptions { kind: RunKind::Bench, keep: &args.keep, engine: Engine::Auto };
        let (line, purpose) = begin_command(context, how)?;
        let asked = Question::Sweep(beside_anchor(&next));
        let (document, _, ending) = bench(context.host(), line, purpose, &options, &asked)?;
        runs.push(document);
        if Exit::from(ending) != Exit::Done {
            return Ok(ending.into());
        }
    }
    Ok(Exit::Done)
}

/// The job in turns with the one that shows how the disk has changed.
fn beside_anchor(next: &Next) -> Grid {
    let point = |workload: &Workload| {
        let job = job(workload);
        let (phase, title) = (job.name(), job.title());
        GridPoint { values: vec![title.clone()], job, set: Vec::new(), phase, title }
    };
    Grid { keys: vec!["job".to_owned()], points: [&next.anchor, &next.workload].map(point).into() }
}

/// The workload as `bench` takes it.
fn job(workload: &Workload) -> PlainJob {
    PlainJob {
        rw: match workload.read_percent {
            100 => Rw::RandRead,
            0 => Rw::RandWrite,
            _ => Rw::RandRw,
        },
        block_bytes: workload.max_bytes(),
        iodepth: workload.pace.depth(),
        mix_read_percent: workload.read_percent,
        offset_bytes: workload.offset_bytes,
        runtime_ns: RUNTIME,
        ramp_ns: RAMP,
        ..PlainJob::default()
    }
}

fn suggestion(next: &Next) -> String {
    let job = job(&next.workload);
    let words = job.words().into_iter().map(|(key, value)| format!(" --{key}={value}"));
    format!(
        "\nLeast certain: {}, ± {:.0} %. Measure it, and name that run after this one:\n  \
         seekwell bench --on TARGET --size={}{} --repeats={REPEATS}\n",
        job.title(),
        next.range_percent,
        size_option(next.workload.region_bytes),
        words.collect::<String>(),
    )
}

fn text(file: &str, model: &Model, fitted: &Fitted, width: usize) -> String {
    let rows = fitted.rows.iter().map(|row| {
        let kind = if row.fitted { "fitted" } else { "predicted" };
        vec![
            row.phase.clone(),
            iops(row.measured_per_s),
            iops(row.modelled_per_s),
            format!("{} %", signed(row.error_percent(), 1)),
            kind.to_owned(),
        ]
    });
    let header = ["phase", "measured/s", "modelled/s", "error", ""];
    let table = seekwell_report::table(&header, rows, width);
    let kind = match fitted.kind {
        "hdd" => "a hard drive",
        _ => "a flow-equivalent drive",
    };
    let said = format!(
        "{file}: {}, {}, {kind}. Off by {:.1} % in the mean of what it was fitted to; figures \
         modelled with it are shown with ± {:.1} %, high percentiles with ± {:.1} %.",
        model.title(),
        capacity(model.capacity()),
        fitted.mean_error_percent,
        fitted.error_percent,
        fitted.tail_error_percent,
    );
    let said = seekwell_report::wrap(&said, width, "", "").join("\n");
    format!("{table}\n{said}\n")
}

fn described(runs: &[RunDocument], file: &str, fitted: &Fitted, next: Option<&Next>) -> Value {
    let next = next.map(|next| {
        let job = job(&next.workload);
        let words: Vec<String> = job.words().iter().map(|(k, v)| format!("{k}={v}")).collect();
        json!({"job": words, "range_percent": next.range_percent})
    });
    let row = |row: &Row| {
        json!({
            "phase": row.phase,
            "measured_per_s": row.measured_per_s,
            "modelled_per_s": row.modelled_per_s,
            "error_percent": row.error_percent(),
            "p99_error_percent": row.p99_error_percent,
            "fitted": row.fitted,
        })
    };
    json!({
        "schema": "seekwell/machine-fit/2",
        "runs": runs.iter().map(|run| &run.id).collect::<Vec<_>>(),
        "file": file,
        "kind": fitted.kind,
        "mean_error_percent": fitted.mean_error_percent,
        "model_error_percent": fitted.error_percent,
        "model_tail_error_percent": fitted.tail_error_percent,
        "next": next,
        "rows": fitted.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

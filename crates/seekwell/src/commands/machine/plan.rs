//! `seekwell machine plan`: how much of a load machines bear within limits.

use crate::Ended;
use crate::cli::machine::Plan;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use seekwell_io::request::{Op, Request};
use seekwell_io::units::Nanos;
use seekwell_job::PlainJob;
use seekwell_machine::Model;
use seekwell_machine::plan::{Figure, Limit, Load, PlanError, Planned, Trial, plan};
use seekwell_report::units::{iops, time};
use seekwell_run::model;
use seekwell_trace::error::TraceError;
use seekwell_trace::formats::{self, Reading};
use seekwell_trace::record::Flags;
use seekwell_trace::shipped::Shipped;
use seekwell_trace::source::each_batch;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// One row: a machine with its parameters.
struct Candidate {
    /// The file, with what a sweep set.
    name: String,
    file: String,
    set: Vec<(String, String)>,
    model: Model,
    price: Option<f64>,
}

/// What a command line asks for, read.
enum Workload {
    Job(PlainJob),
    Trace(Vec<Request>),
}

pub fn run(args: &Plan, context: &Context) -> Ended {
    let mut candidates = Vec::new();
    for machine in &args.machines {
        let file = machine.display().to_string();
        for swept in combinations(&args.sweep) {
            let set = [args.set.as_slice(), swept.as_slice()].concat();
            let model = model(machine, &set)?;
            let words = swept.iter().map(|(key, value)| format!(" {key}={value}"));
            let name = format!("{file}{}", words.collect::<String>());
            let price = args.price.iter().find(|(of, _)| *of == file).map(|(_, price)| *price);
            candidates.push(Candidate { name, file: file.clone(), set, model, price });
        }
    }
    let workload = workload(&args.workload, &args.reading.how())?;
    let limits: Vec<Limit> = args.limit.iter().map(|(_, limit)| *limit).collect();
    let planned = planned(args, &candidates, &workload, &limits);
    let mut rows = Vec::new();
    for (candidate, found) in candidates.iter().zip(planned) {
        rows.push((candidate, found.map_err(|error| named(candidate, error))?));
    }
    if context.json {
        context.print_json(&document(args, &rows))?;
    } else {
        context.print(&text(args, &rows, context.width))?;
    }
    Ok(Exit::Done)
}

fn named(candidate: &Candidate, error: PlanError) -> CommandError {
    CommandError::NotPlanned { machine: candidate.name.clone(), error }
}

fn planned(
    args: &Plan,
    candidates: &[Candidate],
    workload: &Workload,
    limits: &[Limit],
) -> Vec<Result<Planned, PlanError>> {
    let machines: Vec<&Model> = candidates.iter().map(|c| &c.model).collect();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    match workload {
        Workload::Trace(requests) => {
            plan(&machines, Load::Trace(requests), limits, args.seed, threads)
        }
        Workload::Job(job) => {
            let workload = job.workload(u64::MAX, true, args.seed);
            let load = Load::Job { workload: &workload, requests: args.requests };
            plan(&machines, load, limits, args.seed, threads)
        }
    }
}

/// Every combination of the values of each key; one empty combination of no keys.
fn combinations(sweep: &[(String, String)]) -> Vec<Vec<(String, String)>> {
    sweep.iter().fold(vec![Vec::new()], |before, (key, values)| {
        let with = |value: &str| {
            let pair = (key.clone(), value.trim().to_owned());
            before
                .iter()
                .map(move |set| [set.as_slice(), std::slice::from_ref(&pair)].concat())
                .collect::<Vec<_>>()
        };
        values.split(',').flat_map(with).collect()
    })
}

/// A file or a trace that ships, else a job.
fn workload(word: &str, how: &Reading) -> Result<Workload, CommandError> {
    let path = Path::new(word);
    if !path.exists() && Shipped::at(path).is_none() {
        return Ok(Workload::Job(PlainJob::parse(word)?));
    }
    let requests = requests(path, how)?;
    match requests.is_empty() {
        true => Err(CommandError::NoArrivals { path: path.to_owned() }),
        false => Ok(Workload::Trace(requests)),
    }
}

/// What of a trace came to a device, by the time at which it came.
fn requests(path: &Path, how: &Reading) -> Result<Vec<Request>, TraceError> {
    let mut source = formats::open(path, how, &Arc::default())?;
    let mut requests: Vec<Request> = Vec::new();
    each_batch(&mut *source, |batch| {
        requests.extend(batch.iter().filter(|r| r.reached_device()).filter_map(|record| {
            Some(Request {
                op: record.op,
                offset: record.offset,
                len: record.len,
                wanted: Some(record.arrival().get()?),
                id: 0,
                durable: record.flags.has(Flags::FUA) && record.op == Op::Write,
                queue: 0,
            })
        }));
        true
    })?;
    requests.sort_by_key(|request| request.wanted.unwrap_or(Nanos::ZERO));
    Ok(requests)
}

fn shown(limit: &Limit, figure: f64) -> String {
    match limit.figure {
        Figure::PerSecond => iops(figure),
        Figure::Mean | Figure::Quantile(_) => time(figure),
    }
}

/// `× 3.2`, or the depth of a closed loop.
fn load(trial: &Trial) -> String {
    match trial.depth {
        Some(depth) => format!("depth {depth}"),
        None => format!("× {:.3}", trial.factor),
    }
}

/// Price of 1,000 requests a second at the highest load borne.
fn price_per_1000(candidate: &Candidate, planned: &Planned) -> Option<f64> {
    Some(1000.0 * candidate.price? / planned.most.as_ref()?.per_s)
}

fn text(args: &Plan, rows: &[(&Candidate, Planned)], width: usize) -> String {
    let figures = args.limit.iter().map(|(name, _)| name.as_str());
    let mut header = vec!["machine", "bears it"];
    header.extend(figures);
    header.extend(["bears at most", "requests/s there", "breaks at"]);
    let priced = rows.iter().any(|(candidate, _)| candidate.price.is_some());
    header.extend(priced.then_some("price of 1,000/s"));
    let fitted = rows.iter().any(|(candidate, _)| candidate.model.fit().is_some());
    header.extend(fitted.then_some("error of rates, tails"));
    let cells = rows.iter().map(|(candidate, planned)| {
        let Planned { given, most, breaks } = planned;
        let mut cells =
            vec![candidate.name.clone(), if given.holds { "yes" } else { "no" }.to_owned()];
        let limits = args.limit.iter().zip(&given.figures);
        cells.extend(limits.map(|((_, limit), figure)| shown(limit, *figure)));
        cells.push(most.as_ref().map_or_else(|| "nothing tried".to_owned(), load));
        cells.push(most.as_ref().map_or_else(|| "–".to_owned(), |trial| iops(trial.per_s)));
        cells.push(breaks.as_ref().map_or_else(|| "nothing tried".to_owned(), load));
        if priced {
            let price = price_per_1000(candidate, planned);
            cells.push(price.map_or_else(|| "–".to_owned(), |price| format!("{price:.2}")));
        }
        if fitted {
            cells.push(candidate.model.fit().map_or_else(
                || "–".to_owned(),
                |fit| format!("± {:.0} %, ± {:.0} %", fit.error_percent, fit.tail_error_percent),
            ));
        }
        cells
    });
    let table = seekwell_report::table(&header, cells, width);
    format!("{} (modelled)\n\n{table}\n", args.workload)
}

fn document(args: &Plan, rows: &[(&Candidate, Planned)]) -> Value {
    let trial = |trial: &Trial| {
        let figures = args.limit.iter().zip(&trial.figures);
        let figures = figures.map(|((name, _), figure)| json!({"figure": name, "value": figure}));
        json!({
            "factor": trial.factor,
            "depth": trial.depth,
            "requests_per_s": trial.per_s,
            "figures": figures.collect::<Vec<_>>(),
            "holds": trial.holds,
        })
    };
    let row = |(candidate, planned): &(&Candidate, Planned)| {
        let set = candidate.set.iter().map(|(key, value)| format!("{key}={value}"));
        let fit = candidate.model.fit();
        json!({
            "machine": candidate.file,
            "title": candidate.model.title(),
            "set": set.collect::<Vec<_>>(),
            "given": trial(&planned.given),
            "most": planned.most.as_ref().map(trial),
            "breaks": planned.breaks.as_ref().map(trial),
            "price": candidate.price,
            "price_per_1000_per_s": price_per_1000(candidate, planned),
            "model_error_percent": fit.map(|fit| fit.error_percent),
            "model_tail_error_percent": fit.map(|fit| fit.tail_error_percent),
        })
    };
    let limits =
        args.limit.iter().map(|(name, limit)| json!({"figure": name, "bound": limit.bound}));
    json!({
        "schema": "seekwell/plan/1",
        "modelled": true,
        "workload": args.workload,
        "limits": limits.collect::<Vec<_>>(),
        "seed": args.seed,
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
    })
}

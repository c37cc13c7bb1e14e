//! `seekwell machine plan`: how much of a load machines bear within limits.

use crate::Ended;
use crate::cli::machine::Plan;
use crate::commands::{begin_asked, write_page};
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use seekwell_experiment::combinations;
use seekwell_io::units::iops;
use seekwell_job::PlainJob;
use seekwell_machine::plan::{Figure, Limit, Reached, Trial};
use seekwell_report::units::time;
use seekwell_report::{Curve, PlanPage, PlanPlot};
use seekwell_run::{Asked, Burden, PlanRow, arrivals, model, plan_rows};
use seekwell_trace::shipped::Shipped;
use serde_json::{Value, json};
use std::path::Path;

pub fn run(args: &Plan, context: &Context) -> Ended {
    let page = begin_asked(args.output.as_deref(), args.replace, context)?;
    let mut asked = Vec::new();
    for file in &args.machines {
        let machine = file.display().to_string();
        let price = args.price.iter().find(|(of, _)| *of == machine).map(|(_, price)| *price);
        for swept in combinations(&args.sweep)? {
            let set = [args.set.as_slice(), swept.as_slice()].concat();
            let model = model(file, &set)?;
            asked.push(Asked { machine: machine.clone(), set, model, price });
        }
    }
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let found = plan_rows(&asked, &burden(args)?, &args.limit, args.seed, threads);
    let named = |(asked, found): (&Asked, Result<_, _>)| {
        found.map_err(|error| CommandError::NotPlanned { machine: asked.name(), error })
    };
    let rows = asked.iter().zip(found).map(named).collect::<Result<Vec<PlanRow>, _>>()?;
    let names: Vec<String> = asked.iter().map(Asked::name).collect();
    let (header, cells) = table(args, &names, &rows);
    let document = document(args, &rows);
    if let Some(page) = page {
        let shown = PlanPage {
            heading: args.workload.replace(',', ", "),
            plots: (0..args.limit.len()).map(|n| plot(args.limit[n], n, &names, &rows)).collect(),
            header: header.iter().map(|head| (*head).to_owned()).collect(),
            rows: cells.clone(),
        };
        write_page(page, &seekwell_report::html_plan(&shown, &document)?, context)?;
    }
    if context.json {
        context.print_json(&document)?;
    } else {
        let table = seekwell_report::table(&header, cells, context.width);
        context.print(&format!("{} (modelled)\n\n{table}\n", args.workload))?;
    }
    Ok(Exit::Done)
}

/// A file or a trace that ships, else a job.
fn burden(args: &Plan) -> Result<Burden, CommandError> {
    let path = Path::new(&args.workload);
    if !path.exists() && Shipped::at(path).is_none() {
        return Ok(Burden::Job(Box::new(PlainJob::parse(&args.workload)?), args.requests));
    }
    let requests = arrivals(path, &args.reading.how())?;
    match requests.is_empty() {
        true => Err(CommandError::NoArrivals { path: path.to_owned() }),
        false => Ok(Burden::Trace(requests)),
    }
}

fn shown(reached: &Reached) -> String {
    match reached.figure {
        Figure::PerSecond => iops(reached.value),
        Figure::Mean | Figure::Quantile(_) => time(reached.value),
    }
}

/// `× 3.2`, or the depth of a closed loop.
fn load(trial: &Trial) -> String {
    match trial.depth {
        Some(depth) => format!("depth {depth}"),
        None => format!("× {:.3}", trial.factor),
    }
}

fn table(args: &Plan, names: &[String], rows: &[PlanRow]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let none = || "–".to_owned();
    let mut header = vec!["machine", "holds"];
    header.extend(args.limit.iter().map(|limit| limit.figure.name()));
    header.extend(["highest load", "requests/s there", "breaks at", "limited by"]);
    let priced = rows.iter().any(|row| row.price.is_some());
    header.extend(priced.then_some("price of 1,000/s"));
    let fitted = rows.iter().any(|row| row.model_error_percent.is_some());
    header.extend(fitted.then_some("error of rates, tails"));
    let cells = names.iter().zip(rows).map(|(name, row)| {
        let planned = &row.planned;
        let (most, breaks) = (planned.most.as_ref(), planned.breaks.as_ref());
        let holds = if planned.given.holds { "yes" } else { "no" };
        let mut cells = vec![name.clone(), holds.to_owned()];
        cells.extend(planned.given.figures.iter().map(shown));
        cells.push(most.map_or_else(|| "none tried".to_owned(), load));
        cells.push(most.map_or_else(none, |trial| iops(trial.requests_per_s)));
        cells.push(breaks.map_or_else(|| "none tried".to_owned(), load));
        let by = planned.limited_by.map(|relief| relief.station.name().replace('_', " "));
        cells.push(by.unwrap_or_else(none));
        if priced {
            cells.push(row.price_per_1000_per_s.map_or_else(none, |p| format!("{p:.2}")));
        }
        if fitted {
            let errors = row.model_error_percent.zip(row.model_tail_error_percent);
            cells.push(errors.map_or_else(none, |(r, t)| format!("± {r:.0} %, ± {t:.0} %")));
        }
        cells
    });
    (header, cells.collect())
}

/// The load against the figure of one limit.
fn plot(limit: Limit, number: usize, names: &[String], rows: &[PlanRow]) -> PlanPlot {
    let curve = |(name, row): (&String, &PlanRow)| {
        let at = |trial: &Trial| trial.depth.map_or(trial.factor, f64::from);
        let point = |trial: &Trial| (at(trial), trial.figures[number].value);
        Curve { name: name.clone(), points: row.planned.trials.iter().map(point).collect() }
    };
    PlanPlot {
        figure: limit.figure.name(),
        bound: limit.bound,
        by_depth: rows.iter().any(|row| row.planned.given.depth.is_some()),
        curves: names.iter().zip(rows).map(curve).collect(),
    }
}

fn document(args: &Plan, rows: &[PlanRow]) -> Value {
    json!({
        "schema": "seekwell/plan/1",
        "modelled": true,
        "workload": args.workload,
        "limits": args.limit,
        "seed": args.seed,
        "rows": rows,
    })
}

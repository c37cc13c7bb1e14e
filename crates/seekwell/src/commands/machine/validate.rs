//! `seekwell machine validate`: a machine held against measured service times, or a system of
//! DiskSim under its own workload.

use super::system::QUANTILES;
use crate::Ended;
use crate::cli::machine::Validate;
use crate::commands::{begin_asked, write_output};
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use seekwell_machine::validate::{Measured, Played, Times, Validation, validate};
use seekwell_report::units::time;
use seekwell_run::model;
use seekwell_stats::signed;
use seekwell_trace::error::TraceError;
use seekwell_trace::formats::{self, Reading};
use seekwell_trace::record::Record;
use seekwell_trace::source::each_batch;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

pub fn run(args: &Validate, context: &Context) -> Ended {
    let Some(trace) = &args.trace else {
        return if args.machine.extension().is_some_and(|extension| extension == "parv") {
            super::system::run(args, context)
        } else {
            Err(CommandError::NoTrace { path: args.machine.clone() })
        };
    };
    let output = begin_asked(args.per_request.as_deref(), args.replace, context)?;
    let model = model(&args.machine, &args.set)?;
    let requests = requests(trace, &args.reading.how())?;
    if requests.is_empty() {
        return Err(CommandError::NoServiceTimes { path: trace.clone() });
    }
    let mut part = model.part(args.seed.unwrap_or(1).into());
    let done = validate(&mut part, requests);
    if let Some(output) = output {
        write_output(output, &per_request(&done.played))?;
    }
    if context.json {
        context.print_json(&document(model.title(), &done))?;
        return Ok(Exit::Done);
    }
    context.print(&text(model.title(), &done, context.width))?;
    Ok(Exit::Done)
}

/// The trace's requests with what each took and how long the host thought after it.
fn requests(trace: &Path, how: &Reading) -> Result<Vec<Measured>, TraceError> {
    let mut source = formats::open(trace, how, &Arc::default())?;
    let mut records: Vec<Record> = Vec::new();
    each_batch(&mut *source, |batch| {
        records.extend(batch.iter().filter(|record| record.reached_device()));
        true
    })?;
    let times = |record: &Record| Some((record.issued.get()?, record.completed.get()?));
    let requests = records.iter().enumerate().filter_map(|(index, record)| {
        let (issued, completed) = times(record)?;
        let next = records.get(index + 1).and_then(times);
        Some(Measured {
            op: record.op,
            offset: record.offset,
            len: record.len,
            service_ns: completed.since(issued).0,
            think_ns: next.map_or(0, |(next, _)| next.since(completed).0),
        })
    });
    Ok(requests.collect())
}

/// A line for each request, after one that names the columns.
fn per_request(played: &[Played]) -> String {
    let mut text = "op,offset_bytes,bytes,measured_ns,modelled_ns\n".to_owned();
    for Played { request, modelled_ns } in played {
        let Measured { op, offset, len, service_ns, .. } = request;
        let _ = writeln!(text, "{},{offset},{len},{service_ns},{modelled_ns}", op.name());
    }
    text
}

fn text(title: &str, done: &Validation, width: usize) -> String {
    let row = |name: &str, of: &dyn Fn(&Times) -> f64| {
        let (measured, modelled) = (of(&done.measured), of(&done.modelled));
        let apart = (modelled / measured - 1.0) * 100.0;
        vec![name.to_owned(), time(measured), time(modelled), format!("{} %", signed(apart, 1))]
    };
    let mut rows = vec![row("mean", &Times::mean_ns)];
    rows.extend(QUANTILES.map(|(name, q)| row(name, &|times| times.quantile_ns(q))));
    let table = seekwell_report::table(&["service time", "measured", "modelled", ""], rows, width);
    let beyond = match done.beyond {
        0 => String::new(),
        n => format!("{n} requests lie beyond the drive's end and were left out.\n"),
    };
    format!(
        "{title} (modelled), {} requests\n\n{table}\ndemerit {:.3} ms, {:.1} % of the measured \
         mean\n{beyond}",
        done.measured.count(),
        done.demerit_ms(),
        100.0 * done.demerit_ms() * 1e6 / done.measured.mean_ns()
    )
}

fn document(title: &str, done: &Validation) -> Value {
    let times = |times: &Times| {
        let mut shown = serde_json::Map::new();
        shown.insert("service_ns_mean".into(), json!(times.mean_ns()));
        for (name, q) in QUANTILES {
            shown.insert(format!("service_ns_{name}"), json!(times.quantile_ns(q)));
        }
        Value::Object(shown)
    };
    json!({
        "schema": "seekwell/machine-validation/1",
        "modelled": true,
        "title": title,
        "requests": done.measured.count(),
        "beyond": done.beyond,
        "demerit_ms": done.demerit_ms(),
        "measured": times(&done.measured),
        "modelled_times": times(&done.modelled),
    })
}

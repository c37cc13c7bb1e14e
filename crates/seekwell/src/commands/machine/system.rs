//! `seekwell machine validate FILE.parv`: a system of DiskSim under its own workload.

use crate::Ended;
use crate::cli::machine::Validate;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use seekwell_machine::ImportError;
use seekwell_machine::disksim::{self, DisksimError, System, SystemTimes};
use seekwell_machine::validate::Times;
use seekwell_report::units::time;
use seekwell_sys::{MAX_TEXT, read_text};
use serde_json::{Value, json};
use std::path::Path;

/// Quantiles that are shown.
pub(super) const QUANTILES: [(&str, f64); 5] =
    [("p10", 0.1), ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

pub fn run(args: &Validate, context: &Context) -> Ended {
    let system = read(&args.machine).map_err(ImportError::from)?;
    let system = match args.seed {
        Some(seed) => system.with_seed(seed),
        None => system,
    };
    let outcome = system.run().map_err(ImportError::from)?;
    let title = args.machine.file_name().unwrap_or_default().to_string_lossy();
    if context.json {
        context.print_json(&document(&title, &system, &outcome))?;
        return Ok(Exit::Done);
    }
    for key in system.not_modelled() {
        context.note(&format!("not modelled: {key}"));
    }
    context.print(&text(&title, &outcome, context.width))?;
    Ok::<_, CommandError>(Exit::Done)
}

/// The system of a parameter file, with the files it names beside it.
fn read(parv: &Path) -> Result<System, DisksimError> {
    let folder = parv.parent().unwrap_or(Path::new(""));
    let name = parv.file_name().unwrap_or_default().to_string_lossy();
    let mut open = |name: &str| read_text(&folder.join(name), MAX_TEXT);
    let document = disksim::read(&name, &mut open)?;
    disksim::system(&document, &mut open)
}

fn text(title: &str, outcome: &SystemTimes, width: usize) -> String {
    let row = |name: &str, times: &Times| {
        let mut row = vec![name.to_owned(), times.count().to_string()];
        if times.count() > 0 {
            row.push(time(times.mean_ns()));
            row.extend(QUANTILES.map(|(_, q)| time(times.quantile_ns(q))));
        } else {
            row.extend(std::iter::repeat_n(String::new(), QUANTILES.len() + 1));
        }
        row
    };
    let mut rows = vec![row("requests", &outcome.requests), row("accesses", &outcome.accesses)];
    rows.extend(outcome.devices.iter().map(|(name, times)| row(name, times)));
    let mut head = vec!["response time", "count", "mean"];
    head.extend(QUANTILES.map(|(name, _)| name));
    let table = seekwell_report::table(&head, rows, width);
    let span = time(outcome.span.0 as f64);
    format!("{title} (modelled), {} requests in {span}\n\n{table}", outcome.requests.count())
}

fn document(title: &str, system: &System, outcome: &SystemTimes) -> Value {
    let times = |times: &Times| {
        let mut shown = serde_json::Map::new();
        shown.insert("count".into(), json!(times.count()));
        if times.count() > 0 {
            shown.insert("response_ns_mean".into(), json!(times.mean_ns()));
            for (name, q) in QUANTILES {
                shown.insert(format!("response_ns_{name}"), json!(times.quantile_ns(q)));
            }
        }
        shown
    };
    let device = |(name, of): &(String, Times)| {
        let mut shown = times(of);
        shown.insert("device".into(), json!(name));
        Value::Object(shown)
    };
    json!({
        "schema": "seekwell/machine-system/1",
        "modelled": true,
        "title": title,
        "seed": system.workload().seed,
        "span_ns": outcome.span.0,
        "requests": times(&outcome.requests),
        "accesses": times(&outcome.accesses),
        "devices": outcome.devices.iter().map(device).collect::<Vec<_>>(),
        "not_modelled": system.not_modelled(),
    })
}

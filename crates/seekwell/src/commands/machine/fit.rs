//! `seekwell machine fit`: a description of the disk that was measured.

use crate::Ended;
use crate::cli::machine::Fit;
use crate::commands::{begin_output, write_output};
use crate::context::Context;
use crate::exit::Exit;
use seekwell_machine::Model;
use seekwell_machine::fit::{Fitted, Row};
use seekwell_machine::library::Shelf;
use seekwell_report::units::{capacity, iops};
use seekwell_run::fit;
use seekwell_runs::{RunDocument, Runs};
use seekwell_stats::signed;
use serde_json::{Value, json};

pub fn run(args: &Fit, context: &Context) -> Ended {
    let output = begin_output(&args.output, args.replace, context)?;
    let (document, _) = context.store()?.load(&args.run)?;
    let fitted = fit(&document, &args.on_depths)?;
    let file = args.output.display().to_string();
    // What cannot be read back must not be written.
    let model = Model::read(&file, &fitted.toml, &[], &Shelf::default())?;
    write_output(output, &fitted.toml)?;
    if context.json {
        context.print_json(&described(&document, &file, &fitted))?;
    } else {
        context.print(&text(&file, &model, &fitted, context.width))?;
    }
    Ok(Exit::Done)
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

fn described(document: &RunDocument, file: &str, fitted: &Fitted) -> Value {
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
        "schema": "seekwell/machine-fit/1",
        "run": document.id,
        "file": file,
        "kind": fitted.kind,
        "mean_error_percent": fitted.mean_error_percent,
        "model_error_percent": fitted.error_percent,
        "model_tail_error_percent": fitted.tail_error_percent,
        "rows": fitted.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

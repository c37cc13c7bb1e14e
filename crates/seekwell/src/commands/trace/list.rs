//! `seekwell trace list`: the formats, and the traces that ship.

use crate::Ended;
use crate::context::Context;
use crate::exit::Exit;
use seekwell_io::units::round_time;
use seekwell_trace::formats::{Detail, Format};
use seekwell_trace::shipped::TRACES;
use serde_json::json;

pub fn run(context: &Context) -> Ended {
    if context.json {
        let formats: Vec<_> = Format::ALL.into_iter().map(document).collect();
        let traces = TRACES.iter().map(|trace| json!({"name": trace.name, "title": trace.title}));
        context.print_json(&json!({
            "schema": "seekwell/trace-formats/1",
            "formats": formats,
            "traces": traces.collect::<Vec<_>>(),
        }))?;
        return Ok(Exit::Done);
    }
    let rows = Format::ALL.into_iter().map(|format| {
        let holds = format.holds;
        vec![
            format.name.to_owned(),
            if format.is_written() { "in, out" } else { "in" }.to_owned(),
            holds.letters(),
            round_time(holds.step_ns),
            holds.op_names(),
            format.description.to_owned(),
        ]
    });
    let header = ["format", "", "times", "step", "operations", "what it is"];
    let table = seekwell_report::table(&header, rows, context.width);
    let rows = TRACES.iter().map(|trace| vec![trace.name.to_owned(), trace.title.to_owned()]);
    let traces =
        seekwell_report::table(&["built-in trace", "what was recorded"], rows, context.width);
    context.print(&format!("{table}\nTimes: queued Q, issued D, completed C.\n\n{traces}"))?;
    Ok(Exit::Done)
}

fn document(format: &Format) -> serde_json::Value {
    let holds = format.holds;
    json!({
        "name": format.name,
        "description": format.description,
        "is_written": format.is_written(),
        "times": holds.letters(),
        "time_step_ns": holds.step_ns,
        "operations": holds.op_names(),
        "has_devices": holds.has(Detail::Device),
        "has_process": holds.has(Detail::Process),
    })
}

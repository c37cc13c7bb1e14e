//! `seekwell machine list`: what ships.

use crate::Ended;
use crate::context::Context;
use crate::exit::Exit;
use seekwell_machine::library::{MACHINES, PARTS};
use seekwell_run::model;
use serde_json::json;
use std::path::Path;

pub fn run(context: &Context) -> Ended {
    let mut machines = Vec::new();
    for (name, _) in MACHINES {
        machines.push((*name, model(Path::new(&format!("{name}.toml")), &[])?));
    }
    let parts: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
    if context.json {
        let machines: Vec<_> = machines
            .iter()
            .map(|(name, model)| {
                json!({
                    "name": name,
                    "title": model.title(),
                    "capacity_bytes": model.capacity(),
                })
            })
            .collect();
        context.print_json(&json!({
            "schema": "seekwell/machines/1", "machines": machines, "parts": parts,
        }))?;
        return Ok(Exit::Done);
    }
    let rows = machines.iter().map(|(name, model)| {
        let capacity = seekwell_report::units::capacity(model.capacity());
        vec![(*name).to_owned(), capacity, model.title().to_owned()]
    });
    let table = seekwell_report::table(&["machine", "capacity", "what it is"], rows, context.width);
    let parts = format!("Parts: {}.", parts.join(", "));
    let parts = seekwell_report::wrap(&parts, context.width, "", "  ").join("\n");
    context.print(&format!("{table}\n{parts}\n"))?;
    Ok(Exit::Done)
}

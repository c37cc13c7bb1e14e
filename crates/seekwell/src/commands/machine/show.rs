//! `seekwell machine show`: a machine's layers and parameters.

use crate::Ended;
use crate::cli::machine::Described;
use crate::context::Context;
use crate::exit::Exit;
use crate::target::model;
use seekwell_machine::Model;
use seekwell_machine::describe::Parameter;
use serde_json::{Value, json};

/// Characters of a value that are shown; a measured seek curve has hundreds.
const LONGEST: usize = 32;

pub fn run(args: &Described, context: &Context) -> Ended {
    let model = model(&args.machine, &args.set)?;
    if context.json {
        context.print_json(&document(&model))?;
        return Ok(Exit::Done);
    }
    let mut out = format!("{} (modelled)\n\n", model.title());
    for (depth, link) in model.chain().iter().enumerate() {
        let lead = match depth {
            0 => String::new(),
            _ => format!("{}└─ ", "   ".repeat(depth - 1)),
        };
        out += &format!("{lead}{:<11}{}\n", link.layer, link.text);
    }
    let rows = model.parameters().iter().map(|p| {
        vec![p.key.clone(), shortened(&p.value), p.origin.source.name().to_owned(), remark(p)]
    });
    let header = ["parameter", "value", "from", "remark"];
    out += &format!("\n{}", seekwell_report::table(&header, rows, context.width));
    context.print(&out)?;
    Ok(Exit::Done)
}

fn document(model: &Model) -> Value {
    let chain: Vec<Value> =
        model.chain().iter().map(|l| json!({"layer": l.layer, "text": l.text})).collect();
    let parameters: Vec<Value> = model
        .parameters()
        .iter()
        .map(|p| {
            json!({
                "key": p.key,
                "value": p.value,
                "source": p.origin.source.name(),
                "fitted_on": p.origin.on,
                "note": p.note,
                "place": p.place.to_string(),
            })
        })
        .collect();
    json!({
        "schema": "seekwell/machine/1",
        "title": model.title(),
        "capacity_bytes": model.capacity(),
        "chain": chain,
        "parameters": parameters,
    })
}

fn shortened(value: &str) -> String {
    match value.char_indices().nth(LONGEST) {
        None => value.to_owned(),
        Some((end, _)) => format!("{}…", &value[..end]),
    }
}

/// What it was fitted on, and the author's note.
fn remark(parameter: &Parameter) -> String {
    let mut said = parameter.origin.on.clone();
    said.extend(parameter.note.clone());
    said.join("; ")
}

//! `seekwell machine show`: a machine's layers and parameters.

use crate::Ended;
use crate::cli::machine::Described;
use crate::context::Context;
use crate::exit::Exit;
use seekwell_machine::Model;
use seekwell_machine::describe::Parameter;
use seekwell_report::wrap;
use seekwell_run::model;

/// Characters of a value that are shown; a measured seek curve has hundreds.
const LONGEST: usize = 18;

pub fn run(args: &Described, context: &Context) -> Ended {
    let model = model(&args.machine, &args.set)?;
    if context.json {
        context.print_json(&model.described())?;
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
    out += &parameters(&model, context.width);
    context.print(&out)?;
    Ok(Exit::Done)
}

/// Parameters under the section they stand in, each with where it is from and a remark.
fn parameters(model: &Model, width: usize) -> String {
    const REMARK: usize = 56;
    let mut out = String::new();
    let mut section = "";
    for parameter in model.parameters() {
        let (within, name) = parameter.key.rsplit_once('.').unwrap_or(("", &parameter.key));
        if within != section {
            section = within;
            out += &format!("\n[{section}]\n");
        }
        let (value, source) = (shortened(&parameter.value), parameter.origin.source.name());
        let known = format!("  {name:<22} {value:<19} {source:<10} ");
        let lines = wrap(&remark(parameter), width.max(REMARK + 12), &known, &" ".repeat(REMARK));
        lines.iter().for_each(|line| out += &format!("{}\n", line.trim_end()));
    }
    out
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

//! `seekwell machine check`: whether descriptions can be used.

use crate::Ended;
use crate::cli::machine::Check;
use crate::context::Context;
use crate::exit::CommandError;
use crate::exit::Exit;
use seekwell_machine::Model;
use seekwell_machine::describe::Provenance;
use seekwell_run::model;
use serde_json::json;
use std::path::Path;

pub fn run(args: &Check, context: &Context) -> Ended {
    let mut checked = Vec::new();
    for machine in &args.machines {
        checked.push((machine, model(machine, &args.set).map_err(CommandError::from)));
    }
    let wrong = checked.iter().find_map(|(_, model)| model.as_ref().err().map(|e| e.exit()));
    if context.json {
        let machines: Vec<_> = checked
            .iter()
            .map(|(file, model)| {
                json!({
                    "file": file.display().to_string(),
                    "error": model.as_ref().err().map(ToString::to_string),
                    "parameters": model.as_ref().ok().map(|m| m.parameters().len()),
                })
            })
            .collect();
        context.print_json(&json!({"schema": "seekwell/machine-check/1", "machines": machines}))?;
    } else {
        for (file, model) in &checked {
            match model {
                Ok(model) => context.print(&sentence(file, model))?,
                Err(error) => context.print(&format!("{error}\n"))?,
            }
        }
    }
    Ok(wrong.unwrap_or(Exit::Done))
}

fn sentence(file: &Path, model: &Model) -> String {
    let sources = Provenance::WRITTEN.into_iter().chain([Provenance::Asked]).filter_map(|source| {
        let count = model.parameters().iter().filter(|p| p.origin.source == source).count();
        (count > 0).then(|| format!("{count} {}", source.name()))
    });
    let (file, all) = (file.display(), model.parameters().len());
    let sources: Vec<String> = sources.collect();
    format!("{file}: usable, {all} parameters: {}\n", sources.join(", "))
}

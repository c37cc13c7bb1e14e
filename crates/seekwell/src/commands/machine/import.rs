//! `seekwell machine import`: DiskSim's parameter files as a description.

use crate::Ended;
use crate::cli::machine::Import;
use crate::commands::{begin_output, write_output};
use crate::context::Context;
use crate::exit::Exit;
use seekwell_machine::library::Shelf;
use seekwell_machine::{Model, import};
use seekwell_sys::{MAX_TEXT, read_text};
use std::path::Path;

pub fn run(args: &Import, context: &Context) -> Ended {
    let output = begin_output(&args.output, args.replace, context)?;
    let folder = args.parv.parent().unwrap_or(Path::new(""));
    let name = args.parv.file_name().unwrap_or_default().to_string_lossy();
    let mut open = |name: &str| read_text(&folder.join(name), MAX_TEXT);
    let imported = import(&name, &mut open)?;
    let file = args.output.display().to_string();
    // What cannot be read back must not be written.
    let model = Model::read(&file, &imported.toml, &[], &Shelf::default())?;
    write_output(output, &imported.toml)?;
    for key in &imported.not_modelled {
        context.note(&format!("not modelled: {key}"));
    }
    if context.json {
        context.print_json(&serde_json::json!({
            "schema": "seekwell/machine-import/1",
            "file": file,
            "title": model.title(),
            "capacity_bytes": model.capacity(),
            "not_modelled": imported.not_modelled,
        }))?;
    } else {
        let capacity = seekwell_report::units::capacity(model.capacity());
        context.print(&format!("{file}: {}, {capacity}\n", model.title()))?;
    }
    Ok(Exit::Done)
}

//! `seekwell inspect`: how targets are attached.

use crate::Ended;
use crate::cli::Inspect;
use crate::context::Context;
use crate::exit::Exit;
use seekwell_inspect::{Inspection, Target, all_disks, inspect};
use serde::Serialize;

/// Several inspections as one document.
#[derive(Serialize)]
struct Inspections<'a> {
    schema: &'static str,
    inspections: &'a [Inspection],
}

pub fn run(args: &Inspect, context: &Context) -> Ended {
    let view = &context.view;
    let targets = if args.targets.is_empty() {
        all_disks(view)
    } else {
        args.targets.iter().map(|p| Target::resolve(view, p)).collect::<Result<_, _>>()?
    };
    let found: Vec<Inspection> = targets.iter().map(|target| inspect(view, target)).collect();
    if context.json {
        match &found[..] {
            [only] => context.print_json(only)?,
            several => context.print_json(&Inspections {
                schema: "seekwell/inspect-list/1",
                inspections: several,
            })?,
        }
        return Ok(Exit::Done);
    }
    if found.is_empty() {
        context.note("there is no disk to be seen in /sys/block");
    }
    for (i, inspection) in found.iter().enumerate() {
        let gap = if i > 0 { "\n" } else { "" };
        let text = seekwell_report::inspect(inspection, context.width, context.style);
        context.print(&format!("{gap}{text}"))?;
        if args.verbose {
            let facts = seekwell_report::facts(inspection, context.width, context.style);
            context.print(&format!("\n{facts}"))?;
        }
    }
    Ok(Exit::Done)
}

//! `seekwell report`: kept runs as one page, as Markdown or in forms that other programs read.

use super::{begin_output, format, write_output};
use crate::Ended;
use crate::cli::Report;
use crate::context::Context;
use crate::exit::Exit;
use seekwell_runs::Runs;
use std::path::PathBuf;

pub fn run(args: &Report, context: &Context) -> Ended {
    let store = context.store()?;
    let loaded: Vec<_> = args.runs.iter().map(|r| store.load(r)).collect::<Result<_, _>>()?;
    if args.results.any() {
        return format::kept(context, &loaded, &args.results);
    }
    if args.markdown {
        for (document, _) in &loaded {
            context.print(&seekwell_report::markdown(document))?;
        }
        return Ok(Exit::Done);
    }
    let path = args
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("seekwell-{}.html", loaded[0].0.id)));
    let page = begin_output(&path, args.results.replace, context)?;
    write_output(page, &seekwell_report::html(&loaded)?)?;
    if context.json {
        let ids: Vec<_> = loaded.iter().map(|(d, _)| d.id.as_str()).collect();
        let page = path.display().to_string();
        context.print_json(
            &serde_json::json!({"schema": "seekwell/report/1", "page": page, "runs": ids}),
        )?;
    } else {
        context.print(&format!("{}\n", path.display()))?;
    }
    Ok(Exit::Done)
}

//! `seekwell compare`: configurations side by side.

use super::{begin_asked, write_output, write_page};
use crate::Ended;
use crate::cli::Compare;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use seekwell_compare::{
    About, Comparison, Options, Side, compare, phoronix_xml, side, sides_of_file,
};
use seekwell_report::SideRuns;
use seekwell_runs::{Runs, Store, is_id};

/// Runs of a side whose latencies are drawn on the page.
const SHOWN_RUNS: usize = 8;

pub fn run(args: &Compare, context: &Context) -> Ended {
    let page = begin_asked(args.output.as_deref(), args.replace, context)?;
    let phoronix = begin_asked(args.phoronix.as_deref(), args.replace, context)?;
    let store = match args.from.store.as_deref() {
        // Files can be compared by somebody who keeps no runs.
        None => context.runs(None).unwrap_or_else(|_| Box::new(Store::open("/nonexistent"))),
        database => context.runs(database)?,
    };
    let sides = sides(args, &*store)?;
    let options = Options {
        metric: args.metric.clone(),
        margin: args.expect.and_then(|e| e.margin).or(args.margin),
        expect: args.expect.map(|e| e.claim),
        different_workloads: args.different_workloads,
    };
    let found = compare(&sides, &options)?;
    if let Some(file) = phoronix {
        let about = About {
            version: env!("CARGO_PKG_VERSION").into(),
            now: jiff::Timestamp::now().to_string(),
        };
        write_output(file, &phoronix_xml(&sides, &about)?)?;
    }
    if let Some(page) = page {
        let html = seekwell_report::html_comparison(&found, &kept(&found, &*store))?;
        write_page(page, &html, context)?;
    }
    if context.json {
        context.print_json(&found)?;
    } else if args.markdown {
        context.print(&seekwell_report::comparison_markdown(&found, args.all))?;
    } else {
        let text = seekwell_report::comparison(&found, args.all, context.width, context.style);
        context.print(&text)?;
    }
    Ok(exit(&found))
}

fn sides(args: &Compare, store: &dyn Runs) -> Result<Vec<Side>, CommandError> {
    if let [only] = args.sides.as_slice()
        && let Some(sides) = sides_of_file(only)?
    {
        return Ok(sides);
    }
    Ok(args.sides.iter().map(|arg| side(arg, store)).collect::<Result<_, _>>()?)
}

/// The newest kept runs of each side, for the page draws their latencies. What is not in the store,
/// a file say, has none.
fn kept(comparison: &Comparison, store: &dyn Runs) -> Vec<SideRuns> {
    let sides = comparison.sides.iter();
    sides
        .map(|side| {
            let newest = side.runs.iter().rev().take(SHOWN_RUNS).rev();
            let ids = newest.map(|run| run.name.as_str()).filter(|name| is_id(name));
            let runs = ids.filter_map(|id| store.load(id).ok()).collect();
            SideRuns { name: side.name.clone(), runs }
        })
        .collect()
}

/// Whether every claim that was to be checked holds.
fn exit(comparison: &Comparison) -> Exit {
    let mut claims = comparison.against.iter().filter_map(|a| a.expectation.as_ref());
    if claims.all(|c| c.holds) { Exit::Done } else { Exit::NotShown }
}

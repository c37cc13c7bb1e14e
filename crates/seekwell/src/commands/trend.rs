//! `seekwell runs trend`: the history of a metric over the kept runs of one configuration.

use crate::Ended;
use crate::cli::Trend;
use crate::context::Context;
use crate::exit::Exit;
use seekwell_compare::{TrendOptions, trend};

pub fn run(args: &Trend, context: &Context) -> Ended {
    let options = TrendOptions {
        metric: args.metric.clone(),
        phase: args.phase.clone(),
        label: args.label.clone(),
        host: args.host.clone(),
        target: None,
    };
    let found = trend(&*context.runs(args.from.store.as_deref())?, &options)?;
    if context.json {
        context.print_json(&found)?;
    } else if args.markdown {
        context.print(&seekwell_report::trend_markdown(&found))?;
    } else {
        context.print(&seekwell_report::trend(&found, context.width, context.style))?;
    }
    Ok(Exit::Done)
}

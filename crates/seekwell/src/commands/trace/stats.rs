//! `seekwell trace stats`: what kind of load a trace is.

use crate::Ended;
use crate::cli::trace::Stats;
use crate::commands::{begin_asked, write_page};
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use crate::signals;
use seekwell_trace::formats;
use seekwell_trace::stats::{self, Options};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The line is redrawn after this many requests.
const DRAW: u64 = 1 << 20;

pub fn run(args: &Stats, context: &Context) -> Ended {
    let page = begin_asked(args.output.as_deref(), args.replace, context)?;
    signals::watch(Arc::clone(&context.control)).map_err(CommandError::Signals)?;
    let mut source = formats::open(&args.file, &args.reading.how(), &context.control)?;
    let options = Options { reuse: !args.no_reuse, ..Options::default() };
    let name = args.file.display().to_string();
    let line = Line::plain(context.progress);
    let mut next = DRAW;
    let told = stats::of(source.as_mut(), &name, options, |requests| {
        if requests >= next {
            line.say(&format!("{requests} requests read"));
            next = requests + DRAW;
        }
        !context.control.stop.load(Relaxed)
    });
    drop(line);
    let Some((stats, drawing)) = told? else { return Ok(Exit::Interrupted) };
    if let Some(page) = page {
        write_page(page, &seekwell_report::html_trace_stats(&stats, &drawing)?, context)?;
    }
    if context.json {
        context.print_json(&stats)?;
    } else if args.markdown {
        context.print(&seekwell_report::trace_stats_markdown(&stats))?;
    } else {
        context.print(&seekwell_report::trace_stats(
            &stats,
            args.verbose,
            context.width,
            context.style,
        ))?;
    }
    Ok(Exit::Done)
}

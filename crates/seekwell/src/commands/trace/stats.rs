//! `seekwell trace stats`: what kind of load a trace is.

use crate::Ended;
use crate::cli::trace::{Figures, Stats as Args};
use crate::commands::{begin_asked, write_page};
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use crate::signals;
use seekwell_access::OutputFile;
use seekwell_trace::formats;
use seekwell_trace::stats::{self, Asked, Figure, Options, Shard, Stats, usual_rate_log2};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::available_parallelism;

/// The line is redrawn after this many requests.
const DRAW: u64 = 1 << 20;

pub fn run(args: &Args, context: &Context) -> Ended {
    let output = begin_asked(args.shown.output.as_deref(), args.shown.replace, context)?;
    signals::watch(Arc::clone(&context.control)).map_err(CommandError::Signals)?;
    let page = output.as_ref().is_some_and(|output| !is_part(output));
    let options = options(args, page);
    let source = formats::open(&args.file, &args.reading.how(), &context.control)?;
    let name = args.file.display().to_string();
    let threads = args.threads.map(usize::from);
    let threads = threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
    let line = Line::plain(context.progress);
    let mut next = DRAW;
    let gathered = stats::of(source, &name, &options, threads, |requests| {
        if requests >= next {
            line.say(&format!("{requests} requests read"));
            next = requests + DRAW;
        }
        !context.control.stop.load(Relaxed)
    });
    drop(line);
    let Some(stats) = gathered? else { return Ok(Exit::Interrupted) };
    show(stats, &name, &args.shown, output, context)
}

fn options(args: &Args, page: bool) -> Options {
    let asked = match args.only.as_slice() {
        [] if args.no_reuse => Asked::ALL.without(Figure::Reuse),
        [] => Asked::ALL,
        only => Asked::of(only),
    };
    Options {
        asked,
        maps: page,
        rate_log2: if args.exact {
            0
        } else {
            args.rate_log2.unwrap_or_else(|| usual_rate_log2(&args.file))
        },
        most_blocks: if args.exact { usize::MAX } else { Options::default().most_blocks },
        policies: args.policy.clone(),
        shard: args.shard.unwrap_or(Shard::ALL),
    }
}

/// Whether a part is written and not a page.
pub fn is_part(output: &OutputFile) -> bool {
    Path::extension(output.path()).is_some_and(|ending| ending == "stats")
}

/// Shows figures as they were asked for, and writes the page or the part.
pub fn show(
    mut stats: Stats,
    name: &str,
    how: &Figures,
    output: Option<OutputFile>,
    context: &Context,
) -> Ended {
    let (part, page) = match output {
        Some(output) if is_part(&output) => (Some(output), None),
        output => (None, output),
    };
    if let Some(part) = part {
        let path = part.path().to_owned();
        part.filled(|out| out.write_all(&stats.to_bytes()))?.finish()?;
        context.note(&format!("the part is {}, digest {}", path.display(), stats.digest()));
    }
    let (stats, drawing) = stats.finish(name);
    if let Some(page) = page {
        write_page(page, &seekwell_report::html_trace_stats(&stats, &drawing)?, context)?;
    }
    if context.json {
        context.print_json(&stats)?;
    } else if how.markdown {
        context.print(&seekwell_report::trace_stats_markdown(&stats))?;
    } else {
        context.print(&seekwell_report::trace_stats(
            &stats,
            how.verbose,
            context.width,
            context.style,
        ))?;
    }
    Ok(Exit::Done)
}

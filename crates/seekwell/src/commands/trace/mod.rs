//! `seekwell trace`: what recorded requests are, in which form they lie, and parts of them.

mod convert;
mod info;
mod list;
mod merge;
mod split;
mod stats;

use crate::Ended;
use crate::cli::trace::TraceCommand;
use crate::context::Context;

pub fn run(command: &TraceCommand, context: &Context) -> Ended {
    match command {
        TraceCommand::List => list::run(context),
        TraceCommand::Info(args) => info::run(args, context),
        TraceCommand::Stats(args) => stats::run(args, context),
        TraceCommand::Merge(args) => merge::run(args, context),
        TraceCommand::Split(args) => split::run(args, context),
        TraceCommand::Convert(args) => convert::run(&args.files, None, context),
        TraceCommand::Cut(args) => convert::run(&args.files, Some(args), context),
    }
}

//! `seekwell reproduce`: published figures beside what modelled machines give.

use super::{begin_asked, write_page};
use crate::Ended;
use crate::cli::reproduce::Reproduce;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use crate::signals;
use seekwell_report::reproduced;
use seekwell_reproduce::{Effort, ON_REQUEST, ReproduceError, reproduce, rows};
use std::sync::Arc;

pub fn run(args: &Reproduce, context: &Context) -> Ended {
    let page = begin_asked(args.output.as_deref(), args.replace, context)?;
    signals::watch(Arc::clone(&context.control)).map_err(CommandError::Signals)?;
    let mut rows = rows();
    rows.retain(|row| {
        let asked = args.documents.iter().any(|document| document == row.document);
        asked || (args.documents.is_empty() && !ON_REQUEST.contains(&row.document))
    });
    let line = Line::plain(context.progress);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let effort = Effort { threads, samples: args.samples, limits: args.limits };
    let done = reproduce(rows, effort, &context.control.stop, &|done, all| {
        line.part("running modelled machines", done as u64, all as u64);
    });
    line.clear();
    let done = match done {
        Err(ReproduceError::Interrupted) => return Ok(Exit::Interrupted),
        done => done?,
    };
    if let Some(page) = page {
        write_page(page, &reproduced::html(&done)?, context)?;
    }
    if context.json {
        context.print_json(&reproduced::document(&done))?;
    } else if args.markdown {
        context.print(&reproduced::markdown(&done))?;
    } else {
        context.print(&reproduced::terminal(&done, context.width))?;
    }
    Ok(Exit::Done)
}

//! `seekwell trace split`: traces by device.

use crate::Ended;
use crate::cli::trace::Split;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use crate::signals;
use seekwell_trace::split::{Options, split};
use serde_json::json;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

pub fn run(args: &Split, context: &Context) -> Ended {
    fs::create_dir_all(&args.into)
        .map_err(|source| CommandError::Folder { path: args.into.clone(), source })?;
    signals::watch(Arc::clone(&context.control)).map_err(CommandError::Signals)?;
    let options = Options { format: args.format, parts: args.parts, replace: args.replace.force };
    let line = Line::plain(context.progress);
    let mut go_on = |read: u64| {
        line.say(&format!("{read} requests read"));
        !context.control.stop.load(Relaxed)
    };
    let (how, control) = (args.reading.how(), &context.control);
    let done = split(&args.inputs, &how, &args.into, &options, control, &mut go_on);
    line.clear();
    let Some(files) = done? else { return Ok(Exit::Interrupted) };
    if context.json {
        let file = |piece: &seekwell_trace::split::Piece| {
            json!({
                "file": piece.path.display().to_string(),
                "devices": piece.devices,
                "requests_written": piece.records,
                "requests_left_out": piece.left_out,
            })
        };
        context.print_json(&json!({
            "schema": "seekwell/trace-split/1",
            "to": args.format.name,
            "files": files.iter().map(file).collect::<Vec<_>>(),
        }))?;
        return Ok(Exit::Done);
    }
    let devices: usize = files.iter().map(|file| file.devices.len()).sum();
    let records: u64 = files.iter().map(|file| file.records).sum();
    let left_out: u64 = files.iter().map(|file| file.left_out).sum();
    let into = seekwell_report::clean(&args.into.display().to_string());
    context.print(&format!(
        "{records} requests to {devices} devices written to {} files in {into}\n",
        files.len()
    ))?;
    if left_out > 0 {
        context.note(&format!("{left_out} left out: {} has no place for them", args.format.name));
    }
    Ok(Exit::Done)
}

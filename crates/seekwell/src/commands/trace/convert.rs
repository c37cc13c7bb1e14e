//! `seekwell trace convert` and `seekwell trace cut`: a trace, or a part of it, in another form.

use crate::Ended;
use crate::cli::trace::{Cut, Files};
use crate::commands::check_output;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use crate::signals;
use seekwell_trace::copy::{Copied, Selection, copy};
use seekwell_trace::formats::{self, Detail, Doubt, Format};
use seekwell_trace::source::{TraceSource, Written};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

pub fn run(files: &Files, cut: Option<&Cut>, context: &Context) -> Ended {
    let to = output_format(files)?;
    check_output(&files.output, files.replace, context)?;
    signals::watch(Arc::clone(&context.control)).map_err(CommandError::Signals)?;
    let mut source = formats::open(&files.input, &files.reading.how(), &context.control)?;
    let selection = cut.map_or_else(Selection::default, Cut::selection);
    let line = Line::plain(context.progress);
    let mut go_on = |read: u64| {
        line.say(&format!("{read} requests read"));
        !context.control.stop.load(Relaxed)
    };
    let force = files.replace.force;
    let copied = copy(source.as_mut(), &files.output, to, force, &selection, &mut go_on);
    line.clear();
    let Some(copied) = copied? else { return Ok(Exit::Interrupted) };
    // A name that the trace does not have is more likely a typo than a wish.
    let (devices, processes) = selection.unknown(source.tables());
    for name in devices {
        context.note(&format!("no request goes to a device named {name:?}"));
    }
    for name in processes {
        context.note(&format!("no request comes from a process named {name:?}"));
    }
    if let Some(doubt) = Doubt::of(source.about(), copied.read, copied.span_ns) {
        context.note(&doubt.to_string());
    }
    report(files, to, source.as_ref(), &copied, context)
}

fn output_format(files: &Files) -> Result<&'static Format, CommandError> {
    files.to.or_else(|| Format::of_output(&files.output)).ok_or_else(|| {
        let known = Format::written().map(|f| f.name).collect::<Vec<_>>().join(", ");
        CommandError::NoTraceFormat { path: files.output.clone(), known }
    })
}

fn report(
    files: &Files,
    to: &'static Format,
    source: &dyn TraceSource,
    copied: &Copied,
    context: &Context,
) -> Ended {
    let devices = source.tables().devices.len();
    let Written { records, left_out, renamed } = &copied.written;
    if context.json {
        context.print_json(&json!({
            "schema": "seekwell/trace-convert/1",
            "input": files.input.display().to_string(),
            "output": files.output.display().to_string(),
            "from": source.about().format,
            "to": to.name,
            "requests_read": copied.read,
            "requests_written": records,
            "requests_left_out": left_out,
            "devices_renamed": renamed.iter().cloned().collect::<BTreeMap<_, _>>(),
        }))?;
        return Ok(Exit::Done);
    }
    let output = seekwell_report::clean(&files.output.display().to_string());
    context.print(&format!("{records} requests written to {output} ({})\n", to.name))?;
    if !renamed.is_empty() {
        let new = renamed.iter().map(|(name, new)| format!("{name} is {new}"));
        let new = seekwell_report::clean(&new.collect::<Vec<_>>().join(", "));
        context.note(&format!("{} knows devices by number: {new}", to.name));
    }
    if devices > 1 && !to.holds.has(Detail::Device) {
        context.note(&format!("{} keeps no devices: requests to all {devices} are one", to.name));
    }
    if *left_out > 0 {
        let ops = to.leaves_out().iter().map(|op| op.name()).collect::<Vec<_>>().join(", ");
        let why = if ops.is_empty() { "requests that are only counted" } else { &ops };
        context.note(&format!("{left_out} left out: {} has no place for {why}", to.name));
    }
    Ok(Exit::Done)
}

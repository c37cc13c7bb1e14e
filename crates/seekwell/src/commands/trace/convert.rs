//! `seekwell trace convert` and `seekwell trace cut`: a trace, or a part of it, in another form.

use crate::Ended;
use crate::cli::trace::{Cut, Files};
use crate::commands::check_output;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use crate::signals;
use seekwell_io::units::Nanos;
use seekwell_trace::error::TraceError;
use seekwell_trace::formats::{self, Format};
use seekwell_trace::record::Record;
use seekwell_trace::source::{Sink, Tables, TraceSource, Written};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

pub fn run(files: &Files, cut: Option<&Cut>, context: &Context) -> Ended {
    let to = output_format(files)?;
    check_output(&files.output, files.replace, context)?;
    signals::watch(Arc::clone(&context.control)).map_err(CommandError::Signals)?;
    let mut source = formats::open(&files.input, files.from, &context.control)?;
    let mut sieve = cut.map(Sieve::new);
    let line = Line::plain(context.progress);
    let copied = copy(source.as_mut(), files, to, sieve.as_mut(), context, &line);
    line.clear();
    let Some(copied) = copied? else { return Ok(Exit::Interrupted) };
    if let Some(sieve) = &sieve {
        sieve.warn_of_unknown(source.tables(), context);
    }
    report(files, to, source.about().format.as_str(), &copied, context)
}

fn output_format(files: &Files) -> Result<&'static Format, CommandError> {
    files.to.or_else(|| Format::of_output(&files.output)).ok_or_else(|| {
        let known = Format::written().map(|f| f.name).collect::<Vec<_>>().join(", ");
        CommandError::NoTraceFormat { path: files.output.clone(), known }
    })
}

struct Copied {
    read: u64,
    written: Written,
}

/// None where it was interrupted. Nothing is left behind then, nor after an error.
fn copy(
    source: &mut dyn TraceSource,
    files: &Files,
    to: &'static Format,
    sieve: Option<&mut Sieve<'_>>,
    context: &Context,
    line: &Line,
) -> Result<Option<Copied>, TraceError> {
    let mut first = Vec::new();
    source.read(&mut first)?;
    // Opened after the first batch, when a format knows what its times count from.
    let mut sink = formats::create(&files.output, to, source.about(), files.replace.force)?;
    match pour(source, first, sink.as_mut(), sieve, context, line) {
        Ok(Some(read)) => {
            let written = sink.finish(source.about(), source.tables())?;
            Ok(Some(Copied { read, written }))
        }
        ended => {
            sink.discard();
            ended.map(|_| None)
        }
    }
}

/// How many requests were read, or none where it was interrupted.
fn pour(
    source: &mut dyn TraceSource,
    mut batch: Vec<Record>,
    sink: &mut dyn Sink,
    mut sieve: Option<&mut Sieve<'_>>,
    context: &Context,
    line: &Line,
) -> Result<Option<u64>, TraceError> {
    let mut read = 0;
    while !batch.is_empty() {
        if context.control.stop.load(Relaxed) {
            return Ok(None);
        }
        read += batch.len() as u64;
        let ended = match &mut sieve {
            Some(sieve) => sieve.keep(&mut batch, source.tables()),
            None => false,
        };
        sink.write(&batch, source.tables())?;
        if ended {
            break;
        }
        line.say(&format!("{read} requests read"));
        batch.clear();
        source.read(&mut batch)?;
    }
    Ok(Some(read))
}

/// What of a trace is kept.
struct Sieve<'a> {
    cut: &'a Cut,
    first: Option<Nanos>,
    /// Whether a device or process is wanted, by number, as far as the tables are known.
    devices: Vec<bool>,
    processes: Vec<bool>,
}

impl<'a> Sieve<'a> {
    fn new(cut: &'a Cut) -> Self {
        Self { cut, first: None, devices: Vec::new(), processes: Vec::new() }
    }

    /// Keeps what is wanted; true when nothing later can be.
    fn keep(&mut self, batch: &mut Vec<Record>, tables: &Tables) -> bool {
        let wanted =
            |list: &[String], name: &str| list.is_empty() || list.iter().any(|n| n == name);
        for device in tables.devices.iter().skip(self.devices.len()) {
            self.devices.push(wanted(&self.cut.device, &device.name));
        }
        for process in tables.processes.iter().skip(self.processes.len()) {
            self.processes.push(wanted(&self.cut.process, process));
        }
        let mut ended = false;
        batch.retain(|r| {
            let since = r.arrival().get().map(|at| {
                let first = *self.first.get_or_insert(at);
                Nanos(at.0.saturating_sub(first.0))
            });
            let cut = self.cut;
            let in_time = match since {
                Some(since) => {
                    let is_over = cut.end.is_some_and(|end| since >= end);
                    ended |= is_over;
                    !is_over && cut.start.is_none_or(|start| since >= start)
                }
                None => cut.start.is_none() && cut.end.is_none(),
            };
            in_time
                && (cut.op.is_empty() || cut.op.contains(&r.op))
                && (cut.pid.is_empty() || cut.pid.contains(&r.pid))
                && self.devices.get(r.device as usize).copied().unwrap_or(false)
                && self.processes.get(r.process as usize).copied().unwrap_or(false)
        });
        ended
    }

    /// A name that the trace does not have is more likely a slip than a wish.
    fn warn_of_unknown(&self, tables: &Tables, context: &Context) {
        for name in &self.cut.device {
            if !tables.devices.iter().any(|d| d.name == *name) {
                context.note(&format!("no request goes to a device called {name:?}"));
            }
        }
        for name in &self.cut.process {
            if !tables.processes.contains(name) {
                context.note(&format!("no request comes from a process called {name:?}"));
            }
        }
    }
}

fn report(
    files: &Files,
    to: &'static Format,
    from: &str,
    copied: &Copied,
    context: &Context,
) -> Ended {
    let Written { records, left_out } = copied.written;
    if context.json {
        context.print_json(&json!({
            "schema": "seekwell/trace-convert/1",
            "input": files.input.display().to_string(),
            "output": files.output.display().to_string(),
            "from": from,
            "to": to.name,
            "requests_read": copied.read,
            "requests_written": records,
            "requests_left_out": left_out,
        }))?;
        return Ok(Exit::Done);
    }
    let output = seekwell_report::clean(&files.output.display().to_string());
    context.print(&format!("{records} requests written to {output} ({})\n", to.name))?;
    if left_out > 0 {
        let ops = to.leaves_out().iter().map(|op| op.name()).collect::<Vec<_>>().join(", ");
        let why = if ops.is_empty() { "requests that are only counted" } else { &ops };
        context.note(&format!("{left_out} left out: {} has no place for {why}", to.name));
    }
    Ok(Exit::Done)
}

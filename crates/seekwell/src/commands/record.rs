//! `seekwell record`: the requests that reach a disk, into a file.

use super::check_output;
use crate::Ended;
use crate::cli::record::{Record, Traced, Via};
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use crate::signals;
use seekwell_inspect::Target;
use seekwell_io::units::Nanos;
use seekwell_report::clean;
use seekwell_run::record::{
    self, Document, Onlooker, RecordError, Recorded, Slow, Standing, Wanted,
};
use seekwell_trace::capture::{self, Plan, Processes, Recording};
use seekwell_trace::error::TraceError;
use seekwell_trace::formats::Format;
use seekwell_trace::store;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Records until the command, the time or a signal ends it.
pub fn run(args: &Record, context: &Context) -> Ended {
    let target = Target::resolve(&context.view, &args.device)?;
    check_output(&args.output, args.replace, context)?;
    let disks = record::disks(&context.view, &target, args.stack)?;
    let on_itself = record::holds(&context.view, &disks, &args.output);
    let plan = plan(disks, &args.traced);
    signals::watch(Arc::clone(&context.control)).map_err(CommandError::Signals)?;
    let recording = Recording::start(plan).map_err(TraceError::from)?;
    if on_itself {
        context.note(&format!(
            "{} lies on a disk that is recorded: writing it is in the trace too",
            args.output.display()
        ));
    }
    let wanted = Wanted {
        output: &args.output,
        format: Format::of_output(&args.output).unwrap_or(&store::FORMAT),
        force: args.replace.force,
        command: &args.command,
        quiet: context.json,
        time: args.duration.map(Duration::from),
        min_latency: args.traced.min_latency,
    };
    let shown = Shown { context, line: context.progress.then(|| Line::plain(true)) };
    let recorded = record::record(recording, &wanted, &context.control, &shown);
    let recorded = recorded.map_err(|error| match error {
        RecordError::NotStarted { program, source } => CommandError::NotStarted { program, source },
        error => error.into(),
    })?;
    tell(context, args, &recorded.document)?;
    Ok(exit(args, context, &recorded))
}

/// What a recording takes.
pub fn plan(disks: Vec<capture::Recorded>, traced: &Traced) -> Plan {
    Plan {
        disks,
        processes: Processes { pids: traced.pid.clone(), names: traced.process.clone() },
        buffer_bytes_per_cpu: traced.buffer.unwrap_or_else(record::default_buffer),
        via: match traced.via {
            Via::Auto => capture::Via::Auto,
            Via::Bpf => capture::Via::Bpf,
            Via::Tracefs => capture::Via::Tracefs,
        },
        ..Plan::default()
    }
}

/// A slow request in a line.
pub fn line(slow: &Slow) -> String {
    let Slow { time, process, pid, device, op, offset_bytes, length_bytes, .. } = slow;
    let process = if process.is_empty() { "?" } else { process };
    let part = |name: &str, ns: Option<u64>| {
        ns.map_or_else(String::new, |ns| format!("{name} {}, ", Nanos(ns)))
    };
    let failed = if slow.errno == 0 { String::new() } else { format!(", errno {}", slow.errno) };
    format!(
        "{time} {}({pid}) {device} {} {offset_bytes}+{length_bytes}: {}{}total {}{failed}",
        clean(process),
        op.name(),
        part("queue", slow.queue_ns),
        part("device", slow.device_ns),
        Nanos(slow.total_ns),
    )
}

/// The line on the terminal.
struct Shown<'a> {
    context: &'a Context,
    line: Option<Line>,
}

impl Onlooker for Shown<'_> {
    fn note(&self, text: &str) {
        self.context.note(text);
    }

    fn stands(&self, standing: &Standing) {
        let Some(line) = &self.line else { return };
        let Standing { requests, per_s, depth, lost_events, left } = standing;
        let mut text = format!(
            "{requests} requests · {per_s:.0}/s · {depth} under way · {lost_events} events lost"
        );
        if let Some(left) = left {
            text += &format!(" · {} s left", left.as_secs_f64().ceil());
        }
        line.say(&text);
    }

    fn slow(&self, slow: &Slow) {
        // If standard error is closed, there is no way to report it.
        let print = || _ = writeln!(std::io::stderr(), "{}", line(slow));
        match &self.line {
            Some(shown) => shown.beside(print),
            None => print(),
        }
    }

    fn over(&self) {
        self.line.iter().for_each(Line::clear);
    }
}

/// How it ended. A command's own failure says more than what became of its trace.
fn exit(args: &Record, context: &Context, recorded: &Recorded) -> Exit {
    let wanted = !args.command.is_empty() || args.duration.is_some();
    if wanted && context.control.stop.load(Relaxed) {
        return Exit::Interrupted;
    }
    match recorded.status {
        Some(code) if code != 0 && args.duration.is_none() => Exit::Command(code),
        _ if !recorded.document.complete => Exit::Invalid,
        _ => Exit::Done,
    }
}

fn tell(context: &Context, args: &Record, document: &Document) -> Result<(), CommandError> {
    if let Some(losses) = document.losses() {
        context.note(&losses);
    }
    if context.json {
        return context.print_json(document);
    }
    // The command's output is on standard output.
    if args.command.is_empty() {
        context.print(&format!("{}\n", document.text()))
    } else {
        document.text().lines().for_each(|line| context.note(line));
        Ok(())
    }
}

//! `seekwell inspect --watch`: what happens, in one line each.

use crate::Ended;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::signals;
use jiff::{Timestamp, Unit};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use seekwell_inspect::Severity;
use seekwell_inspect::watch::{Able, Event, EventKind, HotPlug, Watch, hot_plug};
use seekwell_report::units::capacity;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The schema of every line with --json.
const SCHEMA: &str = "seekwell/watch/1";
/// How long is waited before signals and the reader of the output are looked after.
const TURN: Duration = Duration::from_millis(200);

pub fn run(context: &Context) -> Ended {
    signals::watch(Arc::clone(&context.control)).map_err(CommandError::Output)?;
    let mut watch = Watch::new(&context.view)?;
    begin(&watch, context)?;
    loop {
        for event in watch.wait(TURN)? {
            let now = now();
            if context.json {
                let mut line = serde_json::to_value(&event)?;
                line["schema"] = Value::from(SCHEMA);
                line["time"] = Value::from(now);
                context.print(&format!("{line}\n"))?;
            } else {
                context.print(&format!("{now}  {}\n", sentence(&event)))?;
            }
        }
        if context.control.stop.load(Relaxed) {
            return Ok(Exit::Interrupted);
        }
        if reader_left() {
            return Ok(Exit::Done);
        }
    }
}

/// Says what is watched and where a disk can be plugged in.
fn begin(watch: &Watch<'_>, context: &Context) -> Result<(), CommandError> {
    let controllers = hot_plug(&context.view);
    let log = watch.log_error().map(ToString::to_string);
    if context.json {
        let line = json!({
            "schema": SCHEMA,
            "time": now(),
            "event": "start",
            "hot_plug": controllers,
            "log": log.is_none(),
            "log_error": log,
        });
        return context.print(&format!("{line}\n"));
    }
    if let Some(error) = log {
        context.note(&format!("the kernel log is not followed: {error}"));
    }
    for controller in &controllers {
        context.print(&format!("{}\n", ability(controller)))?;
    }
    context.note("watching; Ctrl-C ends it");
    Ok(())
}

fn ability(controller: &HotPlug) -> String {
    let able = match controller.able {
        Able::Yes => "yes",
        Able::Maybe => "not always",
        Able::No => "no",
        Able::Unknown => "not known",
    };
    let HotPlug { controller, what, why, .. } = controller;
    format!("{controller}, {what}: hot plug {able}: {why}")
}

fn sentence(event: &Event) -> String {
    let mut about: Vec<String> = event.model.iter().cloned().collect();
    about.extend(event.size_bytes.filter(|b| *b > 0).map(capacity));
    about.extend(event.transport.clone());
    let device = event.device.iter().map(|d| format!("{d}: "));
    let mut text: String = device.collect();
    text += &event.what;
    if event.event == EventKind::Incident {
        let level = match event.severity {
            Some(Severity::Error) => "error",
            Some(Severity::Warning) => "warning",
            _ => "note",
        };
        text = format!("{level}: {text}");
        about.extend(event.id.clone());
        about.extend(event.count.map(|n| format!("{n} more of it")));
    }
    if about.is_empty() { text } else { format!("{text} ({})", about.join(", ")) }
}

fn now() -> String {
    let now = Timestamp::now();
    now.round(Unit::Millisecond).unwrap_or(now).to_string()
}

/// Whether nobody reads standard output any more; nothing would tell before the next event.
fn reader_left() -> bool {
    let out = io::stdout();
    let mut fds = [PollFd::new(&out, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&at_once)).is_ok() && fds[0].revents().contains(PollFlags::ERR)
}

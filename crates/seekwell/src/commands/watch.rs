//! `seekwell inspect --watch`: what happens, in one line each.

use crate::Ended;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::signals;
use jiff::{Timestamp, Unit};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use seekwell_inspect::Severity;
use seekwell_inspect::watch::{Able, Event, EventKind, HotPlug, HotPlugPort, Watch, hot_plug};
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
                let mut line = serde_json::to_value(&event).map_err(CommandError::Json)?;
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
    let HotPlug { controller, what, able, why, ports, .. } = controller;
    let line = format!("{controller}, {what}: hot plug {}: {why}", word(*able));
    let [first, rest @ ..] = ports.as_slice() else { return line };
    let same = |a: &HotPlugPort, b: &HotPlugPort| (a.able, &a.why) == (b.able, &b.why);
    if rest.iter().all(|port| same(port, first)) && first.why == *why {
        return format!("{line} ({})", named(ports.iter()));
    }
    // Ports of which the same is to be said share a line, at the place of the first.
    let firsts = ports.iter().enumerate().filter(|(i, p)| !ports[..*i].iter().any(|o| same(o, p)));
    let lines = firsts.map(|(_, port)| {
        let all = named(ports.iter().filter(|other| same(other, port)));
        format!("\n  {all}: {}: {}", word(port.able), port.why)
    });
    line + &lines.collect::<String>()
}

fn word(able: Able) -> &'static str {
    match able {
        Able::Yes => "yes",
        Able::Maybe => "not always",
        Able::No => "no",
        Able::Unknown => "not known",
    }
}

/// `ata1 (sda), ata2, ata3`.
fn named<'p>(ports: impl Iterator<Item = &'p HotPlugPort>) -> String {
    let name = |port: &HotPlugPort| match port.disks.as_slice() {
        [] => port.port.clone(),
        disks => format!("{} ({})", port.port, disks.join(", ")),
    };
    ports.map(name).collect::<Vec<_>>().join(", ")
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
        about.extend(event.id.map(|id| id.to_string()));
        about.extend(event.count.map(|n| format!("{n} more of it")));
    }
    if about.is_empty() { text } else { format!("{text} ({})", about.join(", ")) }
}

fn now() -> String {
    let now = Timestamp::now();
    now.round(Unit::Millisecond).unwrap_or(now).to_string()
}

/// Whether standard output has no reader any more; only the next event would show it otherwise.
pub(super) fn reader_left() -> bool {
    let out = io::stdout();
    let mut fds = [PollFd::new(&out, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&at_once)).is_ok() && fds[0].revents().contains(PollFlags::ERR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: &str, disks: &[&str], able: Able, why: &str) -> HotPlugPort {
        let disks = disks.iter().map(|d| (*d).to_owned()).collect();
        let (port, why, from) = (name.to_owned(), why.to_owned(), String::new());
        HotPlugPort { port, disks, able, why, from }
    }

    fn controller(able: Able, why: &str, ports: Vec<HotPlugPort>) -> HotPlug {
        let (controller, what) = ("0000:00:1f.2".to_owned(), "AHCI".to_owned());
        HotPlug { controller, what, able, why: why.to_owned(), from: String::new(), ports }
    }

    #[test]
    fn ports_of_which_the_same_is_true_share_a_line() {
        let alone = controller(Able::Yes, "USB is made for it", Vec::new());
        let line = "0000:00:1f.2, AHCI: hot plug yes: USB is made for it";
        assert_eq!(ability(&alone), line);
        let like = |name| port(name, &[], Able::Yes, "it tells");
        let all = controller(Able::Yes, "it tells", vec![like("ata1"), like("ata2")]);
        assert_eq!(ability(&all), "0000:00:1f.2, AHCI: hot plug yes: it tells (ata1, ata2)");
        let mixed = vec![
            port("ata1", &["sda"], Able::Maybe, "asleep"),
            port("ata2", &[], Able::No, "off"),
            port("ata3", &["sdb"], Able::Maybe, "asleep"),
        ];
        assert_eq!(
            ability(&controller(Able::Maybe, "it depends on the port", mixed)),
            "0000:00:1f.2, AHCI: hot plug not always: it depends on the port\n  \
             ata1 (sda), ata3 (sdb): not always: asleep\n  ata2: no: off"
        );
    }
}

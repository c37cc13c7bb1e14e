//! `seekwell top`: what disks do now.

mod table;

use super::record::{line, plan};
use super::watch::reader_left;
use crate::Ended;
use crate::cli::top::Top as Args;
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::screen::{Key, Screen};
use crate::signals;
use seekwell_inspect::Target;
use seekwell_job::output::Metrics;
use seekwell_run::record::{RecordError, Slow, disks, hanging};
use seekwell_run::top::{Interval, Top, Wanted, add_up};
use seekwell_serve::ServeError;
use seekwell_sys::thread::start_scoped;
use seekwell_trace::capture::{Order, Plan, Recorded, Recording};
use seekwell_trace::error::TraceError;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Processes shown for each disk, by bytes and by time waited.
const PROCESSES: usize = 5;

/// Looks until the time is over or somebody ends it.
pub fn run(args: &Args, context: &Context) -> Ended {
    let others = args.devices.is_empty();
    let disks = if others { hanging(&context.view) } else { named(args, context)? };
    signals::watch(Arc::clone(&context.control)).map_err(CommandError::Signals)?;
    let wanted = Wanted {
        interval: args.interval,
        time: args.duration,
        min_latency: args.traced.min_latency,
        processes: PROCESSES,
    };
    let text = Arc::new(Mutex::new(Metrics::default().openmetrics()));
    let server = args.metrics.map(|address| {
        let source = seekwell_serve::Source::Metrics(Arc::clone(&text));
        seekwell_serve::Server::open(source, address, None)
    });
    let server = server.transpose()?;
    let top = begin(args, &wanted, disks, context)?;
    let Some(server) = server else { return look(top, args, None, context) };
    context.note(&format!("metrics are at {}", server.url()));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        start_scoped(scope, "metrics", || server.run(&stop))
            .map_err(|e| ServeError::System(e.into()))?;
        let ended = look(top, args, Some(&text), context);
        stop.store(true, Relaxed);
        ended
    })
}

/// Shows the view until its time is over or it is interrupted.
fn look(mut top: Top<'_>, args: &Args, text: Option<&Mutex<String>>, context: &Context) -> Ended {
    let mut shown = Shown::new(args, context)?;
    let mut metrics = Metrics::default();
    while let Some(turn) = top.turn()? {
        if context.control.stop.load(Relaxed) {
            return Ok(if args.duration.is_some() { Exit::Interrupted } else { Exit::Done });
        }
        turn.slow.iter().try_for_each(|slow| shown.slow(slow))?;
        if let Some(interval) = turn.interval {
            if let Some(text) = text {
                add_up(&mut metrics, &interval);
                *text.lock().unwrap_or_else(PoisonError::into_inner) = metrics.openmetrics();
            }
            shown.interval(interval)?;
        }
        if shown.is_over()? {
            break;
        }
    }
    Ok(Exit::Done)
}

/// Counts if counts are enough and the kernel allows it; otherwise reads events.
fn begin<'c>(
    args: &Args,
    wanted: &Wanted,
    disks: Vec<Recorded>,
    context: &'c Context,
) -> Result<Top<'c>, CommandError> {
    let others = args.devices.is_empty();
    let counted = (!args.traced.needs_events())
        .then(|| Top::of_counts(disks.clone(), others, wanted, &context.view));
    let why = match counted {
        Some(Ok(top)) => return Ok(top),
        Some(Err(why)) => Some(why),
        None => None,
    };
    let plan = Plan { others, order: Order::Completion, ..plan(disks, &args.traced) };
    let recording = Recording::start(plan).map_err(TraceError::from)?;
    if let Some(why) = why {
        context.note(&format!("{why}: every event is read instead, which costs more"));
    }
    Ok(Top::of_events(recording, wanted, &context.view))
}

/// The disks that were named.
fn named(args: &Args, context: &Context) -> Result<Vec<Recorded>, CommandError> {
    let mut found: Vec<Recorded> = Vec::new();
    for path in &args.devices {
        let target = Target::resolve(&context.view, path)?;
        for disk in disks(&context.view, &target, false)? {
            let same = |other: &&Recorded| (other.major, other.minor) == (disk.major, disk.minor);
            match found.iter().find(same) {
                Some(other) if *other == disk => {}
                Some(other) => {
                    let (first, second) = (other.device.name.clone(), disk.device.name);
                    return Err(RecordError::OneDisk { first, second }.into());
                }
                None => found.push(disk),
            }
        }
    }
    Ok(found)
}

/// Where it is shown.
struct Shown<'a> {
    context: &'a Context,
    /// Requests are shown one by one.
    one_by_one: bool,
    screen: Option<Screen>,
    /// What the screen shows.
    last: Option<Interval>,
}

impl<'a> Shown<'a> {
    fn new(args: &Args, context: &'a Context) -> Result<Self, CommandError> {
        let one_by_one = args.traced.min_latency.is_some();
        let drawn = !(one_by_one || args.plain || context.json) && Screen::is_possible();
        let screen =
            if drawn { Some(Screen::enter().map_err(CommandError::Output)?) } else { None };
        let mut shown = Self { context, one_by_one, screen, last: None };
        shown.draw()?;
        Ok(shown)
    }

    fn slow(&self, slow: &Slow) -> Result<(), CommandError> {
        if self.context.json {
            return self.json(slow);
        }
        self.context.print(&format!("{}\n", line(slow)))
    }

    fn interval(&mut self, interval: Interval) -> Result<(), CommandError> {
        if self.one_by_one {
            let lost = interval.lost_events;
            if lost > 0 {
                self.context.note(&format!("{lost} events were lost: requests may be missing"));
            }
            return Ok(());
        }
        if self.context.json {
            return self.json(&interval);
        }
        if self.screen.is_some() {
            self.last = Some(interval);
            return self.draw();
        }
        let lines = table::lines(&interval, self.context.width, None);
        self.context.print(&format!("{}\n\n", lines.join("\n")))
    }

    fn json(&self, document: &impl Serialize) -> Result<(), CommandError> {
        let line = serde_json::to_string(document).map_err(CommandError::Json)?;
        self.context.print(&(line + "\n"))
    }

    fn draw(&mut self) -> Result<(), CommandError> {
        let Some(screen) = &mut self.screen else { return Ok(()) };
        let (width, height) = screen.size();
        let lines = match &self.last {
            Some(interval) => table::lines(interval, width, Some(height)),
            None => vec!["seekwell top: waiting for the first interval; q quits".to_owned()],
        };
        screen.draw(&lines, self.context.style.color).map_err(CommandError::Output)
    }

    /// Looks after keys, the size of the terminal and the reader of the output.
    fn is_over(&mut self) -> Result<bool, CommandError> {
        let Some(screen) = &mut self.screen else { return Ok(reader_left()) };
        match screen.key() {
            Some(Key::Quit) => return Ok(true),
            Some(Key::Suspend) => {
                screen.suspend().map_err(CommandError::Output)?;
                self.draw()?;
            }
            None if screen.was_resized() => self.draw()?,
            None => {}
        }
        Ok(false)
    }
}

//! `seekwell record`: the requests that reach a disk, into a file.
//!
//! The thread of the program reads records and writes them; a second one watches the clock, the
//! command and the signals, draws the line, and says when it is enough.

mod child;
mod devices;
mod document;

use super::check_output;
use crate::Ended;
use crate::cli::record::{Record, Via};
use crate::context::Context;
use crate::exit::{CommandError, Exit};
use crate::progress::Line;
use crate::signals;
use child::Running;
use document::{Document, Totals};
use seekwell_access::folder_of;
use seekwell_inspect::{Target, inspect};
use seekwell_io::engine::Control;
use seekwell_sys::View;
use seekwell_trace::capture::{self, Plan, Processes, Recorded, Recording, Watch};
use seekwell_trace::error::TraceError;
use seekwell_trace::formats::{self, Format};
use seekwell_trace::source::{BATCH, Sink, TraceSource, Written};
use seekwell_trace::store;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// How often the watching thread looks.
const TICK: Duration = Duration::from_millis(20);
/// How often the line is drawn.
const DRAW: Duration = Duration::from_millis(500);
/// The kernel's buffer for each CPU: a second and more of a million requests, but never more than
/// this part of what memory is free.
const BUFFER: u64 = 64 << 20;
const SMALLEST_BUFFER: u64 = 1 << 20;
const SHARE_OF_MEMORY: u64 = 16;

/// Records until the command, the time or a signal ends it.
pub fn run(args: &Record, context: &Context) -> Ended {
    let target = Target::resolve(&context.view, &args.device)?;
    check_output(&args.output, args.replace, context)?;
    let disks = devices::of(&context.view, &target, args.stack)?;
    let on_itself = writes_to(&context.view, &args.output, &disks);
    let plan = Plan {
        disks,
        processes: Processes { pids: args.pid.clone(), names: args.process.clone() },
        buffer_bytes_per_cpu: args.buffer.unwrap_or_else(default_buffer),
        via: match args.via {
            Via::Auto => capture::Via::Auto,
            Via::Tracefs => capture::Via::Tracefs,
            Via::Perf => capture::Via::Perf,
        },
    };
    signals::watch(Arc::clone(&context.control)).map_err(CommandError::Signals)?;
    let format = Format::of_output(&args.output).unwrap_or(&store::FORMAT);
    let recording = Recording::start(plan).map_err(TraceError::from)?;
    if on_itself {
        context.note(&format!(
            "{} lies on a disk that is recorded: writing it is in the trace too",
            args.output.display()
        ));
    }
    let mut about = recording.about().clone();
    about.command = command_line(args);
    let sink = formats::create(&args.output, format, &about, args.replace.force)?;
    let running = Running::start(&args.command, context.json)?;
    let mut job =
        Job { recording, command: about.command, begun: Instant::now(), totals: Totals::default() };
    let keeper = Keeper::start(&job.recording, running, args, context)?;
    let written = job.write(sink);
    let status = keeper.end(written.is_err(), context, &written)?;
    if let Some(part) = store::part_of(&args.output).filter(|_| no_space(&written)) {
        context.note(&format!(
            "what was recorded until then is kept in {}; free some space, or name a file on \
             another file system with -o",
            part.display()
        ));
    }
    let document = job.document(args, format, &written?, status);
    tell(context, args, &document)?;
    Ok(exit(args, context, &document, status))
}

fn no_space(written: &Result<Written, TraceError>) -> bool {
    matches!(written, Err(TraceError::Io { source, .. })
        if source.kind() == io::ErrorKind::StorageFull)
}

/// A recording and what came of it.
struct Job {
    recording: Recording,
    command: Option<String>,
    begun: Instant,
    totals: Totals,
}

impl Job {
    fn write(&mut self, mut sink: Box<dyn Sink + Send>) -> Result<Written, TraceError> {
        let mut records = Vec::with_capacity(BATCH);
        loop {
            records.clear();
            self.recording.read(&mut records)?;
            if records.is_empty() {
                break;
            }
            self.totals.add(&records);
            sink.write(&records, self.recording.tables())?;
        }
        self.totals.took = self.begun.elapsed();
        let mut about = self.recording.about().clone();
        about.command = self.command.clone();
        sink.finish(&about, self.recording.tables())
    }

    fn document(
        &self,
        args: &Record,
        format: &'static Format,
        written: &Written,
        status: Option<ExitStatus>,
    ) -> Document {
        Document::new(
            args,
            format,
            &self.recording,
            &self.totals,
            written,
            self.command.clone().zip(status.map(child::status)),
        )
    }
}

/// The thread that says when it is enough.
struct Keeper {
    thread: std::thread::JoinHandle<io::Result<Option<ExitStatus>>>,
    broken: Arc<AtomicBool>,
}

impl Keeper {
    fn start(
        recording: &Recording,
        running: Option<Running>,
        args: &Record,
        context: &Context,
    ) -> Result<Self, CommandError> {
        let broken = Arc::new(AtomicBool::new(false));
        let mut watcher = Watcher {
            watch: recording.watch(),
            running,
            until: args.duration.map(|time| Instant::now() + Duration::from(time)),
            control: Arc::clone(&context.control),
            broken: Arc::clone(&broken),
            line: context.progress.then(|| Line::plain(true)),
            drawn: (Instant::now(), 0),
        };
        let thread = std::thread::Builder::new().name("watch".into());
        let thread = thread.spawn(move || watcher.run()).map_err(CommandError::Signals)?;
        Ok(Self { thread, broken })
    }

    /// Waits for the command. A recording that failed says so first: the command goes on.
    fn end(
        self,
        failed: bool,
        context: &Context,
        written: &Result<Written, TraceError>,
    ) -> Result<Option<ExitStatus>, CommandError> {
        if failed && !self.thread.is_finished() {
            if let Err(error) = written {
                context.note(&format!("nothing is recorded any more: {error}"));
            }
            self.broken.store(true, Relaxed);
        }
        let ended = self.thread.join().unwrap_or(Ok(None));
        ended.map_err(CommandError::Signals)
    }
}

struct Watcher {
    watch: Watch,
    running: Option<Running>,
    until: Option<Instant>,
    control: Arc<Control>,
    broken: Arc<AtomicBool>,
    line: Option<Line>,
    drawn: (Instant, u64),
}

impl Watcher {
    fn run(&mut self) -> io::Result<Option<ExitStatus>> {
        loop {
            let interrupted = self.control.stop.load(Relaxed);
            let over = self.until.is_some_and(|until| Instant::now() >= until);
            if let Some(running) = &mut self.running {
                if let Some(status) = running.ended()? {
                    self.finish();
                    return Ok(Some(status));
                }
                if interrupted || over {
                    self.watch.stop();
                    running.end(self.control.abandon.load(Relaxed));
                }
            } else if interrupted || over || self.broken.load(Relaxed) {
                self.finish();
                return Ok(None);
            }
            self.draw();
            std::thread::sleep(TICK);
        }
    }

    fn finish(&mut self) {
        self.watch.stop();
        if let Some(line) = self.line.take() {
            line.clear();
        }
    }

    fn draw(&mut self) {
        let Some(line) = &self.line else { return };
        let (then, before) = self.drawn;
        if then.elapsed() < DRAW {
            return;
        }
        let requests = self.watch.requests();
        let rate = requests.saturating_sub(before) as f64 / then.elapsed().as_secs_f64();
        self.drawn = (Instant::now(), requests);
        let mut text = format!(
            "{requests} requests · {rate:.0}/s · {} under way · {} events lost",
            self.watch.depth(),
            self.watch.lost_events()
        );
        if let Some(until) = self.until {
            let left = until.saturating_duration_since(Instant::now()).as_secs_f64().ceil();
            text += &format!(" · {left} s left");
        }
        line.say(&text);
    }
}

/// How it ended. A command's own failure says more than what became of its trace.
fn exit(args: &Record, context: &Context, ended: &Document, status: Option<ExitStatus>) -> Exit {
    let wanted = !args.command.is_empty() || args.duration.is_some();
    if wanted && context.control.stop.load(Relaxed) {
        return Exit::Interrupted;
    }
    match status.map(child::status) {
        Some(code) if code != 0 && args.duration.is_none() => Exit::Command(code),
        _ if !ended.complete => Exit::Invalid,
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

fn command_line(args: &Record) -> Option<String> {
    let words: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Whether a file to be written lies on one of the disks.
fn writes_to(view: &dyn View, output: &Path, disks: &[Recorded]) -> bool {
    let Ok(folder) = Target::resolve(view, folder_of(output)) else { return false };
    let Some(device) = inspect(view, &folder).device else { return false };
    let under = devices::numbers(&device);
    disks.iter().any(|disk| under.iter().any(|n| (n.major, n.minor) == (disk.major, disk.minor)))
}

fn default_buffer() -> u64 {
    let free = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    });
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let share = free.unwrap_or(0).saturating_mul(1024) / SHARE_OF_MEMORY / cpus;
    share.clamp(SMALLEST_BUFFER, BUFFER)
}

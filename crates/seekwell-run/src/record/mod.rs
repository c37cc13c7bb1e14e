//! Recording: the requests that reach disks, into a file, while a command runs or time passes.
//!
//! The caller's thread reads records and writes them; a second one watches the clock, the command
//! and the signals, informs the onlooker, and says when it is enough.

mod child;
mod devices;
mod document;
mod slow;

pub use devices::{disks, hanging, holds};
pub(crate) use devices::{in_flight, numbers, under, whole};
pub use document::Document;
pub(crate) use slow::span;
pub use slow::{Slow, Slowest, response};

use child::Running;
use document::Totals;
use seekwell_io::engine::Control;
use seekwell_io::units::Nanos;
use seekwell_sys::classify;
use seekwell_sys::thread::start_scoped;
use seekwell_trace::bpf::BpfError;
use seekwell_trace::capture::{Recording, Watch};
use seekwell_trace::error::TraceError;
use seekwell_trace::formats::{self, Format};
use seekwell_trace::record::Record;
use seekwell_trace::source::{BATCH, Sink, Tables, TraceSource, Written};
use seekwell_trace::store;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// How often the watching thread looks.
const TICK: Duration = Duration::from_millis(20);
/// How often the onlooker is informed.
const TELL: Duration = Duration::from_millis(500);
/// The kernel's buffer for each CPU: a second and more of a million requests, but never more than
/// this part of the memory that is free.
const BUFFER: u64 = 64 << 20;
const SMALLEST_BUFFER: u64 = 1 << 20;
const SHARE_OF_MEMORY: u64 = 16;

/// Why nothing was recorded, or not to the end.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum RecordError {
    #[error("{} is on no block device, so no request of it can be recorded", path.display())]
    NothingToRecord { path: PathBuf },
    #[error(
        "{first} and {second} are parts of one disk, whose requests are counted once: name the disk"
    )]
    OneDisk { first: String, second: String },
    #[error("cannot run {program}: {source}")]
    NotStarted { program: String, source: io::Error },
    #[error("cannot watch over the recording: {0}")]
    Watch(io::Error),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Count(#[from] BpfError),
}

classify!(RecordError {
    Usage: NothingToRecord, OneDisk;
    Refused: NotStarted, Watch;
    | Self::Trace(error) => error.class(),
    | Self::Count(error) => error.class(),
});

/// What is to be recorded, and until when.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The file that is written.
    pub output: &'a Path,
    /// Its format.
    pub format: &'static Format,
    /// Replace a file that is there.
    pub force: bool,
    /// The command during which it is recorded; empty for none.
    pub command: &'a [OsString],
    /// Send what the command prints to standard error.
    pub quiet: bool,
    /// How long it is recorded at most.
    pub time: Option<Duration>,
    /// The onlooker is informed of each request that takes at least this long.
    pub min_latency: Option<Nanos>,
}

/// How a recording stands.
#[derive(Debug, Clone, Copy)]
pub struct Standing {
    /// Requests so far.
    pub requests: u64,
    /// Requests a second since the last time.
    pub per_s: f64,
    /// Requests under way.
    pub depth: u64,
    /// Events that the kernel had no room for.
    pub lost_events: u64,
    /// What is left of the time.
    pub left: Option<Duration>,
}

/// Who looks on.
pub trait Onlooker: Sync {
    /// Something to know beside the result.
    fn note(&self, text: &str);
    /// How it stands, twice a second.
    fn stands(&self, standing: &Standing);
    /// A request that took long.
    fn slow(&self, slow: &Slow);
    /// It is over.
    fn over(&self);
}

/// What came of it.
#[derive(Debug)]
pub struct Recorded {
    /// What it says of itself.
    pub document: Document,
    /// How the command ended, as a shell gives it.
    pub status: Option<u8>,
}

/// Writes what `recording` gives until the command, the time or `control` ends it.
///
/// # Errors
/// [`RecordError`]; the onlooker is informed where what was recorded until then is kept.
pub fn record(
    mut recording: Recording,
    wanted: &Wanted<'_>,
    control: &Control,
    onlooker: &impl Onlooker,
) -> Result<Recorded, RecordError> {
    let words: Vec<_> = wanted.command.iter().map(|word| word.to_string_lossy()).collect();
    let command = (!words.is_empty()).then(|| words.join(" "));
    let mut about = recording.about().clone();
    about.command.clone_from(&command);
    let sink = formats::create(wanted.output, wanted.format, &about, wanted.force)?;
    let running = Running::start(wanted.command, wanted.quiet)?;
    let broken = AtomicBool::new(false);
    let mut keeper = Keeper {
        watch: recording.watch(),
        running,
        until: wanted.time.map(|time| Instant::now() + time),
        control,
        broken: &broken,
        onlooker,
        told: (Instant::now(), 0),
    };
    let mut totals = Totals::default();
    let (written, status) = thread::scope(|scope| {
        let keeper = start_scoped(scope, "watch", move || keeper.run())?;
        let slowest = wanted.min_latency.map(|least| Slowest::of(&recording, least));
        let look = |records: &[_], tables: &_| {
            let slow = slowest.iter().flat_map(|slowest| slowest.among(records, tables));
            slow.for_each(|slow| onlooker.slow(&slow));
        };
        let written = write(&mut recording, sink, command.as_deref(), &mut totals, look);
        // The command goes on, so this is said before it is waited for.
        if let Err(error) = &written
            && !keeper.is_finished()
        {
            onlooker.note(&format!("nothing is recorded any more: {error}"));
            broken.store(true, Relaxed);
        }
        let status = keeper.join().unwrap_or(Ok(None))?;
        Ok((written, status.map(child::status)))
    })
    .map_err(RecordError::Watch)?;
    if let Some(part) = store::part_of(wanted.output).filter(|_| no_space(&written)) {
        onlooker.note(&format!(
            "what was recorded until then is kept in {}; free some space, or name a file on \
             another file system with -o",
            part.display()
        ));
    }
    let ran = command.zip(status);
    let document = Document::new(wanted, &recording, &totals, &written?, ran);
    Ok(Recorded { document, status })
}

fn no_space(written: &Result<Written, TraceError>) -> bool {
    matches!(written, Err(TraceError::Io { source, .. })
        if source.kind() == io::ErrorKind::StorageFull)
}

fn write(
    recording: &mut Recording,
    mut sink: Box<dyn Sink + Send>,
    command: Option<&str>,
    totals: &mut Totals,
    look: impl Fn(&[Record], &Tables),
) -> Result<Written, TraceError> {
    let begun = Instant::now();
    let mut records = Vec::with_capacity(BATCH);
    loop {
        records.clear();
        recording.read(&mut records)?;
        if records.is_empty() {
            break;
        }
        totals.add(&records);
        look(&records, recording.tables());
        sink.write(&records, recording.tables())?;
    }
    totals.took = begun.elapsed();
    let mut about = recording.about().clone();
    about.command = command.map(str::to_owned);
    sink.finish(&about, recording.tables())
}

/// Says when it is enough, in a thread of its own.
struct Keeper<'a, O> {
    watch: Watch,
    running: Option<Running>,
    until: Option<Instant>,
    control: &'a Control,
    /// Set when nothing is written any more.
    broken: &'a AtomicBool,
    onlooker: &'a O,
    told: (Instant, u64),
}

impl<O: Onlooker> Keeper<'_, O> {
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
            self.tell();
            thread::sleep(TICK);
        }
    }

    fn finish(&self) {
        self.watch.stop();
        self.onlooker.over();
    }

    fn tell(&mut self) {
        let (then, before) = self.told;
        if then.elapsed() < TELL {
            return;
        }
        let requests = self.watch.requests();
        self.told = (Instant::now(), requests);
        self.onlooker.stands(&Standing {
            requests,
            per_s: requests.saturating_sub(before) as f64 / then.elapsed().as_secs_f64(),
            depth: self.watch.depth(),
            lost_events: self.watch.lost_events(),
            left: self.until.map(|until| until.saturating_duration_since(Instant::now())),
        });
    }
}

/// The kernel's buffer for each CPU if none is asked for, in bytes.
pub fn default_buffer() -> u64 {
    let free = seekwell_sys::memory_bytes("MemAvailable").unwrap_or(0);
    let cpus = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    (free / SHARE_OF_MEMORY / cpus).clamp(SMALLEST_BUFFER, BUFFER)
}

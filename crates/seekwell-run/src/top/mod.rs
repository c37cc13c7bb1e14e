//! The live view: what reaches disks, interval by interval. Rates, latencies and processes are
//! counted by the kernel; where single requests matter, every event is read as a recording does.

mod counter;
mod document;
mod ended;
mod meter;
mod metrics;

pub use counter::Counter;
pub use document::{Bins, Disk, Flow, Interval, Process, Seen, Source};
pub use meter::Meter;
pub use metrics::add_up;
pub use seekwell_limits::Now;
pub use seekwell_trace::bpf::BpfError;

use crate::record::{RecordError, Slow, Slowest};
use jiff::Timestamp;
use seekwell_inspect::{Inspection, Target, inspect};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_limits::{Activity, Rates, now};
use seekwell_sys::View;
use seekwell_trace::capture::{Recorded, Recording, Watch};
use seekwell_trace::count;
use seekwell_trace::record::Record;
use seekwell_trace::source::TraceSource;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

/// The longest wait for something new.
const TURN: Nanos = Nanos(100_000_000);

/// What is to be seen.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Length of an interval.
    pub interval: Nanos,
    /// How long to look; `None` without an end.
    pub time: Option<Nanos>,
    /// Also the requests that took at least this long.
    pub min_latency: Option<Nanos>,
    /// Processes shown of each disk, by bytes and by time waited.
    pub processes: usize,
}

/// What is new.
#[derive(Debug)]
pub struct Turn {
    /// Requests that took long.
    pub slow: Vec<Slow>,
    /// The interval that ended.
    pub interval: Option<Interval>,
}

/// Where the figures come from.
enum Looked {
    Counts(Box<Counter>),
    Events(Box<Events>),
}

/// A recording. Its plan asks for records in the order of completion.
struct Events {
    recording: Recording,
    watch: Watch,
    meter: Meter,
    slowest: Option<Slowest>,
    records: Vec<Record>,
}

/// The live view of some disks.
pub struct Top<'v> {
    looked: Looked,
    view: &'v dyn View,
    /// How each disk with requests is attached.
    inspected: HashMap<String, Option<Inspection>>,
    begun: Nanos,
    interval: Nanos,
    due: Nanos,
    until: Nanos,
}

impl<'v> Top<'v> {
    /// Begins to look at a recording that has begun.
    pub fn of_events(recording: Recording, wanted: &Wanted, view: &'v dyn View) -> Self {
        let begun = recording.begun();
        let events = Events {
            watch: recording.watch(),
            meter: Meter::new(begun, wanted.processes),
            slowest: wanted.min_latency.map(|least| Slowest::of(&recording, least)),
            records: Vec::new(),
            recording,
        };
        Self::new(Looked::Events(Box::new(events)), begun, wanted, view)
    }

    /// Starts a view of what the kernel counts on these disks, and on all others if `others` is
    /// set. It has no slow requests.
    ///
    /// # Errors
    /// [`BpfError`] if the kernel cannot count.
    pub fn of_counts(
        disks: Vec<Recorded>,
        others: bool,
        wanted: &Wanted,
        view: &'v dyn View,
    ) -> Result<Self, BpfError> {
        let counter = Counter::start(disks, others, wanted.processes, view)?;
        let begun = counter.begun();
        Ok(Self::new(Looked::Counts(Box::new(counter)), begun, wanted, view))
    }

    fn new(looked: Looked, begun: Nanos, wanted: &Wanted, view: &'v dyn View) -> Self {
        let interval = wanted.interval.max(Nanos(1));
        let time = wanted.time.map_or(u64::MAX, |time| time.0);
        let until = Nanos(begun.0.saturating_add(time));
        let (due, inspected) = (begun + interval, HashMap::new());
        Self { looked, view, inspected, begun, interval, due, until }
    }

    /// Waits for something new, a tenth of a second at most; `None` at the end.
    ///
    /// # Errors
    /// If the recording fails, or the kernel refuses its counts.
    pub fn turn(&mut self) -> Result<Option<Turn>, RecordError> {
        if self.begun >= self.until {
            return Ok(None);
        }
        let next = self.due.min(self.until);
        let Some((known, slow)) = self.looked.wait(next)? else { return Ok(None) };
        let interval = if known >= next { Some(self.end(known)?) } else { None };
        Ok(Some(Turn { slow, interval }))
    }

    /// Ends an interval. The next ones stay on the grid that the first began.
    fn end(&mut self, known: Nanos) -> Result<Interval, RecordError> {
        let passed = known.since(self.due).0 / self.interval.0 + 1;
        self.due = Nanos(self.due.0.saturating_add(passed.saturating_mul(self.interval.0)));
        let (source, until, lost_events, mut devices) = self.looked.end(known, self.view)?;
        let interval_s = until.since(self.begun).as_secs_f64();
        self.begun = until;
        for disk in &mut devices {
            disk.limit = self.limit(disk);
        }
        let time = format!("{:.3}", Timestamp::now());
        Ok(Interval { schema: "seekwell/top/1", time, interval_s, source, lost_events, devices })
    }

    /// What limits a disk. One that completes nothing may be hung, and is not inspected.
    fn limit(&mut self, disk: &Disk) -> Option<Now> {
        if disk.requests == 0 {
            return None;
        }
        let inspected = self.inspected.entry(disk.device.clone()).or_insert_with(|| {
            let target = Target::resolve(self.view, Path::new("/dev").join(&disk.device)).ok()?;
            Some(inspect(self.view, &target))
        });
        let rates = |op| {
            let flow = disk.flow(op).map(|flow| (flow.requests_per_s, flow.bytes_per_s));
            let (requests_per_s, bytes_per_s) = flow.unwrap_or_default();
            Rates { requests_per_s, bytes_per_s }
        };
        let (depth, busy) = (disk.depth_mean, disk.busy_share);
        let activity = Activity { read: rates(Op::Read), write: rates(Op::Write), depth, busy };
        now(inspected.as_ref()?, &activity)
    }
}

impl Looked {
    /// Waits until `next`, a tenth of a second at most. Returns the time up to which everything is
    /// known, and the slow requests; `None` at the end.
    fn wait(&mut self, next: Nanos) -> Result<Option<(Nanos, Vec<Slow>)>, RecordError> {
        let events = match self {
            Self::Counts(_) => {
                let left = next.since(count::now()).min(TURN);
                std::thread::sleep(Duration::from(left));
                return Ok(Some((count::now(), Vec::new())));
            }
            Self::Events(events) => events,
        };
        let Events { recording, meter, slowest, records, .. } = &mut **events;
        records.clear();
        let Some(known) = recording.advance(records)? else { return Ok(None) };
        meter.add(records);
        let tables = recording.tables();
        let slow = slowest.iter().flat_map(|slowest| slowest.among(records, tables));
        Ok(Some((known, slow.collect())))
    }

    /// Ends an interval: returns when it ended, how much was lost in it, and the disks.
    fn end(
        &mut self,
        known: Nanos,
        view: &dyn View,
    ) -> Result<(Source, Nanos, u64, Vec<Disk>), RecordError> {
        match self {
            Self::Counts(counter) => {
                let (missed, disks) = counter.end(view)?;
                Ok((Source::Counts, counter.begun(), missed, disks))
            }
            Self::Events(events) => {
                let Events { recording, watch, meter, .. } = &mut **events;
                let outstanding = recording.outstanding();
                let (lost, tables) = (watch.lost_events(), recording.tables());
                let (lost, disks) = meter.end(known, outstanding, lost, tables, view);
                Ok((Source::Events, known, lost, disks))
            }
        }
    }
}

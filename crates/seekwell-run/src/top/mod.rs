//! The live view: what reaches disks, interval by interval, from the events that a recording reads.

mod document;
mod meter;

pub use document::{Bins, Disk, Flow, Interval, Process, Seen};
pub use meter::Meter;
pub use seekwell_limits::Now;

use crate::record::{RecordError, Slow, Slowest, wall};
use seekwell_inspect::{Inspection, Target, inspect};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_limits::{Activity, Rates, now};
use seekwell_sys::View;
use seekwell_trace::capture::{Recording, Watch};
use seekwell_trace::record::Record;
use seekwell_trace::source::TraceSource;
use std::collections::HashMap;
use std::path::Path;

/// What is to be seen.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Length of an interval.
    pub interval: Nanos,
    /// How long to look; `None` without an end.
    pub time: Option<Nanos>,
    /// Also the requests that took at least this long.
    pub min_latency: Option<Nanos>,
    /// Processes of each disk that are told of, by bytes and by time waited.
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

/// A recording that is looked at. Its plan asks for records in the order of completion.
pub struct Top<'v> {
    recording: Recording,
    watch: Watch,
    view: &'v dyn View,
    meter: Meter,
    slowest: Option<Slowest>,
    /// How each disk with requests is attached.
    inspected: HashMap<String, Option<Inspection>>,
    interval: Nanos,
    due: Nanos,
    until: Nanos,
    records: Vec<Record>,
}

impl<'v> Top<'v> {
    /// Begins to look at a recording that has begun.
    pub fn new(recording: Recording, wanted: &Wanted, view: &'v dyn View) -> Self {
        let begun = recording.begun();
        let interval = wanted.interval.max(Nanos(1));
        Self {
            watch: recording.watch(),
            view,
            meter: Meter::new(begun, wanted.processes),
            slowest: wanted.min_latency.map(|least| Slowest::of(&recording, least)),
            interval,
            due: begun + interval,
            until: wanted
                .time
                .map_or(Nanos(u64::MAX), |time| Nanos(begun.0.saturating_add(time.0))),
            records: Vec::new(),
            inspected: HashMap::new(),
            recording,
        }
    }

    /// Waits for something new, a tenth of a second at most; `None` at the end.
    ///
    /// # Errors
    /// When the recording fails.
    pub fn turn(&mut self) -> Result<Option<Turn>, RecordError> {
        if self.meter.begun() >= self.until {
            return Ok(None);
        }
        self.records.clear();
        let Some(known) = self.recording.advance(&mut self.records)? else { return Ok(None) };
        self.meter.add(&self.records);
        let tables = self.recording.tables();
        let slow = self.slowest.iter().flat_map(|slowest| slowest.among(&self.records, tables));
        let slow = slow.collect();
        let interval = (known >= self.due.min(self.until)).then(|| self.end(known));
        Ok(Some(Turn { slow, interval }))
    }

    /// Ends an interval. The next ones stay on the grid that the first began.
    fn end(&mut self, known: Nanos) -> Interval {
        let passed = known.since(self.due).0 / self.interval.0 + 1;
        self.due = Nanos(self.due.0.saturating_add(passed.saturating_mul(self.interval.0)));
        let interval_s = known.since(self.meter.begun()).as_secs_f64();
        let (lost_events, mut devices) = self.meter.end(
            known,
            self.recording.outstanding(),
            self.watch.lost_events(),
            self.recording.tables(),
            self.view,
        );
        for disk in &mut devices {
            disk.limit = self.limit(disk);
        }
        let zero = self.recording.about().unix_ns_at_zero.unwrap_or(0);
        let time = format!("{:.3}", wall(zero, known));
        Interval { schema: "seekwell/top/1", time, interval_s, lost_events, devices }
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

//! From records in the order of their completion to what each interval showed. No clock and no
//! kernel but for a [`View`].

use super::document::{Disk, Process, Seen};
use super::ended::{Depth, Ended, Held, Usage, busiest_first, leading};
use crate::record::{in_flight, response, span};
use seekwell_io::histogram::Histogram;
use seekwell_io::units::Nanos;
use seekwell_sys::View;
use seekwell_trace::record::Record;
use seekwell_trace::source::Tables;
use std::collections::HashMap;
use std::path::Path;

/// Tasks whose process is remembered.
const REMEMBERED: usize = 1 << 14;

/// Sums of the interval that goes on.
#[derive(Debug)]
pub struct Meter {
    begun: Nanos,
    /// Processes shown for each disk, by bytes and by time waited.
    most: usize,
    disks: Vec<Sums>,
    /// Events lost so far.
    lost_events: u64,
    /// The process of a task, by its number and the number of its name.
    owners: HashMap<(u32, u32), (u32, String)>,
}

/// What completed on one disk.
#[derive(Debug, Default)]
struct Sums {
    ended: Ended,
    /// When requests came and ended.
    arrivals: Vec<u64>,
    ends: Vec<u64>,
    /// By task and name.
    tasks: HashMap<(u32, u32), Usage>,
    /// Requests from before this may have ended unseen: events were lost since.
    doubted: Nanos,
    /// Requests from before this did.
    forgotten: Nanos,
    held: Held,
}

impl Meter {
    /// Begins its first interval.
    pub fn new(begun: Nanos, most: usize) -> Self {
        Self { begun, most, disks: Vec::new(), lost_events: 0, owners: HashMap::new() }
    }

    /// Counts what has completed.
    pub fn add(&mut self, records: &[Record]) {
        for record in records {
            self.disk(record.device).add(record);
        }
    }

    fn disk(&mut self, device: u32) -> &mut Sums {
        let index = device as usize;
        if index >= self.disks.len() {
            self.disks.resize_with(index + 1, Sums::default);
        }
        &mut self.disks[index]
    }

    /// Ends the interval and begins the next. `outstanding` are the requests that have not ended,
    /// the oldest first; `lost_events` counts from the beginning. Gives the events lost in it and
    /// the disks: those that are there or had requests, the busiest first.
    pub fn end(
        &mut self,
        until: Nanos,
        outstanding: impl Iterator<Item = Record>,
        lost_events: u64,
        tables: &Tables,
        view: &dyn View,
    ) -> (u64, Vec<Disk>) {
        let lost = lost_events.saturating_sub(self.lost_events);
        self.lost_events = lost_events;
        let known = self.disks.len().max(tables.devices.len());
        self.disks.resize_with(known, Sums::default);
        let mut waiting: Vec<Vec<u64>> = vec![Vec::new(); self.disks.len()];
        for record in outstanding {
            let Some(at) = record.arrival().get() else { continue };
            self.disk(record.device).see(&record);
            if let Some(waiting) = waiting.get_mut(record.device as usize) {
                waiting.push(at.0);
            }
        }
        let mut disks = Vec::new();
        for (index, (device, mut waiting)) in tables.devices.iter().zip(waiting).enumerate() {
            let folder = Path::new("/sys/class/block").join(&device.name);
            let sums = &mut self.disks[index];
            if lost > 0 {
                sums.doubted = until;
            }
            sums.forget(&mut waiting, &folder, view);
            let mut disk = sums.tell(&device.name, self.begun, until, waiting);
            sums.held.add_to(&mut disk, until, &folder, view);
            let tasks = std::mem::take(&mut sums.tasks);
            disk.processes = self.processes(tasks, tables, view);
            if disk.requests + disk.outstanding > 0 || view.exists(&folder) {
                disks.push(disk);
            }
            self.disks[index].reset();
        }
        self.begun = until;
        busiest_first(&mut disks);
        (lost, disks)
    }

    /// Those that moved most bytes and those that waited longest.
    fn processes(
        &mut self,
        tasks: HashMap<(u32, u32), Usage>,
        tables: &Tables,
        view: &dyn View,
    ) -> Vec<Process> {
        if self.owners.len() > REMEMBERED {
            self.owners.clear();
        }
        let mut sums: HashMap<(u32, String), Usage> = HashMap::new();
        for (task, usage) in tasks {
            let owner = self.owners.entry(task).or_insert_with(|| owner(task, tables, view));
            sums.entry(owner.clone()).or_default().add(usage);
        }
        leading(sums, self.most)
    }
}

impl Sums {
    fn see(&mut self, record: &Record) {
        if record.issued.get().is_some() {
            self.ended.seen = Some(Seen::Requests);
        } else if self.ended.seen.is_none() && record.completed.get().is_some() {
            self.ended.seen = Some(Seen::Bios);
        }
    }

    fn add(&mut self, record: &Record) {
        self.see(record);
        let Some(end) = record.completed.get() else { return };
        let time = |histogram: &mut Histogram, from| {
            if let Some(took) = span(from, record.completed) {
                histogram.record(took);
            }
        };
        // A bio that was merged or split has no time at the device; its carrier has.
        if record.reached_device() {
            time(&mut self.ended.device, record.issued);
        }
        if !record.was_asked_for() {
            return;
        }
        if let Some(took) = span(record.queued, record.issued) {
            self.ended.queue.record(took);
        }
        let moved = &mut self.ended.moved[record.op as usize];
        time(&mut moved.response, record.queued);
        moved.requests += 1;
        moved.bytes += u64::from(record.len);
        self.ended.failed += u64::from(record.error != 0);
        let took = response(record).unwrap_or(Nanos::ZERO);
        self.arrivals.push(end.since(took).0);
        self.ends.push(end.0);
        let (bytes, waited_ns) = (u64::from(record.len), took.0);
        let usage = self.tasks.entry((record.pid, record.process)).or_default();
        usage.add(Usage { requests: 1, bytes, waited_ns });
    }

    /// Leaves out requests whose end was lost: what the kernel no longer has under way.
    fn forget(&mut self, waiting: &mut Vec<u64>, folder: &Path, view: &dyn View) {
        let doubted = waiting.iter().any(|at| *at < self.doubted.0);
        if doubted && in_flight(view, folder) == 0 {
            self.forgotten = self.doubted;
        }
        waiting.retain(|at| *at >= self.forgotten.0);
    }

    fn tell(&mut self, name: &str, begun: Nanos, until: Nanos, waiting: Vec<u64>) -> Disk {
        let oldest_ns = waiting.iter().min().map(|at| until.0.saturating_sub(*at));
        let outstanding = waiting.len() as u64;
        self.arrivals.extend(waiting);
        let (area, busy, deepest) = sweep(&mut self.arrivals, &mut self.ends, begun.0, until.0);
        let length = until.since(begun).0.max(1) as f64;
        let depth = Depth {
            mean: area as f64 / length,
            max: Some(deepest),
            busy_share: busy as f64 / length,
            outstanding,
            oldest_ns,
        };
        self.ended.figures(name, until.since(begun).as_secs_f64(), depth)
    }

    /// Clears what is of one interval, and keeps its memory.
    fn reset(&mut self) {
        let Self { doubted, forgotten, held, .. } = *self;
        let ended = Ended { seen: self.ended.seen, ..Ended::default() };
        let (mut arrivals, mut ends) =
            (std::mem::take(&mut self.arrivals), std::mem::take(&mut self.ends));
        arrivals.clear();
        ends.clear();
        *self = Self { ended, doubted, forgotten, held, arrivals, ends, ..Self::default() };
    }
}

/// Time with requests outstanding, summed over the requests and once, and the most at one moment.
/// An arrival without an end is still outstanding.
fn sweep(arrivals: &mut [u64], ends: &mut [u64], begun: u64, until: u64) -> (u128, u64, u64) {
    // Both are nearly in order.
    arrivals.sort_unstable();
    ends.sort_unstable();
    let within = |at: u64| at.clamp(begun, until.max(begun));
    let (mut area, mut busy, mut deepest) = (0_u128, 0, 0_u64);
    let (mut depth, mut since, mut ended) = (0_u64, begun, 0);
    for &arrival in arrivals.iter() {
        while let Some(end) = ends.get(ended).filter(|end| **end <= arrival && depth > 0) {
            let passed = within(*end) - since;
            area += u128::from(depth) * u128::from(passed);
            busy += passed;
            (depth, since, ended) = (depth - 1, within(*end), ended + 1);
        }
        let passed = within(arrival) - since;
        area += u128::from(depth) * u128::from(passed);
        busy += if depth > 0 { passed } else { 0 };
        (depth, since) = (depth + 1, within(arrival));
        deepest = deepest.max(depth);
    }
    for end in ends[ended..].iter().copied().chain([until]) {
        let passed = within(end) - since;
        area += u128::from(depth) * u128::from(passed);
        busy += if depth > 0 { passed } else { 0 };
        (depth, since) = (depth.saturating_sub(1), within(end));
    }
    (area, busy, deepest)
}

/// The process that a task belongs to; the task itself if that is known no more.
fn owner((task, name): (u32, u32), tables: &Tables, view: &dyn View) -> (u32, String) {
    let own = || (task, tables.processes.get(name as usize).cloned().unwrap_or_default());
    let of_process = || {
        let status = view.text(Path::new(&format!("/proc/{task}/status"))).ok()?;
        let pid = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
        let pid: u32 = pid.trim().parse().ok().filter(|pid| *pid != task)?;
        let name = view.text(Path::new(&format!("/proc/{pid}/comm"))).ok()?;
        Some((pid, name.trim().to_owned()))
    };
    of_process().unwrap_or_else(own)
}

#[cfg(test)]
mod tests;

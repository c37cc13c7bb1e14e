//! What a trace tells, in one pass over any [`TraceSource`] and in bounded memory.
//!
//! Each figure has a small accumulator of its own with `add` and `finish`; a batch of records goes
//! through one accumulator after the other, so that the tables of each stay in the cache. What
//! grows with the number of blocks or requests is bounded: beyond a limit blocks are sampled by a
//! hash of their address, and the document says `estimated`.
//!
//! Definitions that differ between tools, as they are used here:
//! - *Arrival* is when a request was queued, or else issued. Requests that arrive before one before
//!   them are counted and treated as arriving with it.
//! - *Sequential* in the strict sense: begins where the request before it on its device ended.
//! - Where the block layer merged or split requests, sizes, addresses and arrivals are those of
//!   the bios it was asked for; the device's queue and the time from issue to completion are of the
//!   requests that the device got.
//! - A *block* is 4 KiB; a request touches every block it overlaps.
//! - Flushes and discards count as requests and arrivals, and under way; sizes, addresses and
//!   blocks are those of reads and writes.

mod arrivals;
mod blocks;
mod counts;
mod describe;
pub mod document;
mod entry;
mod grid;
mod idle;
mod latency;
mod limits;
mod log_bins;
mod lru;
mod order;
mod parties;
mod queue;
mod ratio;

#[cfg(test)]
mod tests;

pub use document::{Drawing, SCHEMA, TraceStats};
pub use limits::Limits;

use crate::error::TraceError;
use crate::record::{Flags, Record};
use crate::source::{About, BATCH, Tables, TraceSource, each_batch};
use blocks::Blocks;
use ratio::{rate, share};
use seekwell_io::request::Op;

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Reuse distances and the miss-ratio curve too.
    pub reuse: bool,
    /// How much is remembered.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self { reuse: true, limits: Limits::default() }
    }
}

/// All accumulators.
#[derive(Debug)]
pub struct Stats {
    other_commands: u64,
    out_of_order: u64,
    first: Option<u64>,
    now: u64,
    completions: bool,
    /// Arrivals of the batch at hand; `u64::MAX` for an unknown one.
    clock: Vec<u64>,
    operations: counts::Operations,
    sizes: counts::SizeCounts,
    alignment: counts::Alignments,
    arrivals: arrivals::Arrivals,
    idle: idle::Idle,
    queues: queue::Sweep,
    latencies: latency::Latencies,
    sequence: order::Sequence,
    blocks: Blocks,
    devices: parties::Parties,
    processes: parties::Parties,
    times: grid::Times,
    maps: grid::Maps,
}

impl Stats {
    /// Nothing seen yet.
    pub fn new(options: Options) -> Self {
        Self {
            other_commands: 0,
            out_of_order: 0,
            first: None,
            now: 0,
            completions: false,
            clock: Vec::with_capacity(BATCH),
            operations: counts::Operations::default(),
            sizes: counts::SizeCounts::default(),
            alignment: counts::Alignments::default(),
            arrivals: arrivals::Arrivals::default(),
            idle: idle::Idle::default(),
            queues: queue::Sweep::default(),
            latencies: latency::Latencies::default(),
            sequence: order::Sequence::default(),
            blocks: Blocks::new(options.limits, options.reuse),
            devices: parties::Parties::default(),
            processes: parties::Parties::default(),
            times: grid::Times::default(),
            maps: grid::Maps::default(),
        }
    }

    /// Records that follow those before, in the order of arrival.
    pub fn add(&mut self, records: &[Record]) {
        let plain = |r: &Record| !r.flags.has(Flags::OTHER) && r.was_asked_for();
        for run in records.chunk_by(|a, b| plain(a) && plain(b)) {
            match &run[0] {
                first if first.flags.has(Flags::OTHER) => self.other_commands += 1,
                first if !first.was_asked_for() => self.add_at_device(first),
                _ => run.chunks(BATCH).for_each(|part| self.add_requests(part)),
            }
        }
    }

    /// What the device made of requests that are counted by themselves.
    fn add_at_device(&mut self, record: &Record) {
        self.latencies.add(record);
        let (Some(at), Some(end)) = (record.issued.get(), record.completed.get()) else { return };
        self.now = self.now.max(at.0);
        let first = *self.first.get_or_insert(self.now);
        let times = &mut self.times;
        let mut passed = |from, to, depth| times.under_way(from - first, to - first, depth);
        self.queues.add_at_device(self.now, end.0.max(self.now), &mut passed);
    }

    fn add_requests(&mut self, records: &[Record]) {
        each(&mut self.operations, records, |all, r| all.add(r));
        each(&mut self.sizes, records, |all, r| all.add(r));
        each(&mut self.alignment, records, |all, r| all.add(r));
        each(&mut self.latencies, records, |all, r| all.add(r));
        each(&mut self.sequence, records, |all, r| all.add(r));
        each(&mut self.devices, records, |all, r| all.add(r.device, r));
        each(&mut self.processes, records, |all, r| all.add(r.process, r));
        each(&mut self.blocks, records, |all, r| all.add(r));
        self.tell_clock(records);
        let clock = std::mem::take(&mut self.clock);
        self.add_times(records, &clock);
        self.clock = clock;
    }

    fn tell_clock(&mut self, records: &[Record]) {
        self.clock.clear();
        for record in records {
            let Some(at) = record.arrival().get() else {
                self.clock.push(u64::MAX);
                continue;
            };
            self.out_of_order += u64::from(at.0 < self.now);
            self.now = self.now.max(at.0);
            self.first.get_or_insert(self.now);
            self.clock.push(self.now);
        }
    }

    fn add_times(&mut self, records: &[Record], clock: &[u64]) {
        let Some(first) = self.first else { return };
        let timed = (records, clock);
        each_at(&mut self.arrivals, timed, |all, _, at| all.add(at));
        each_at(&mut self.times, timed, |all, r, at| all.arrival(at - first, r));
        each_at(&mut self.maps, timed, |all, r, at| all.add(at - first, r));
        each_at(&mut self.idle, timed, |all, r, at| {
            all.add(at, r.completed.get().map(|end| end.0.max(at)));
        });
        let (times, completions) = (&mut self.times, &mut self.completions);
        each_at(&mut self.queues, timed, |all, r, at| {
            let Some(end) = r.completed.get() else { return };
            *completions = true;
            let issued = r.queued.get().and(r.issued.get()).filter(|_| r.reached_device());
            let issued = issued.map(|issued| issued.0);
            let mut passed = |from, to, depth| times.under_way(from - first, to - first, depth);
            all.add(at, issued, end.0.max(at), &mut passed);
        });
    }

    /// What all of them tell; `file` is what the trace is called.
    pub fn finish(mut self, file: &str, about: &About, tables: &Tables) -> (TraceStats, Drawing) {
        self.blocks.work_off();
        let duration_ns = self.first.map(|first| self.now - first);
        let device = |at: usize| {
            let known = tables.devices.get(at).map(|device| device.name.clone());
            known.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("device {at}"))
        };
        let process = |at: usize| {
            let known = tables.processes.get(at).cloned();
            known.filter(|name| !name.is_empty()).unwrap_or_else(|| "unknown".to_owned())
        };
        let first = self.first.unwrap_or(0);
        let mut times = std::mem::take(&mut self.times);
        let mut passed = |from: u64, to: u64, depth| {
            times.under_way(from - first, to - first, depth);
        };
        let [queue, device_queue] = self.queues.finish(&mut passed);
        let (latencies, bins) = self.latencies.finish();
        let operations = &self.operations;
        let (reads, writes) = (operations.of(Op::Read), operations.of(Op::Write));
        let moved = |op| operations.bytes_of(op);
        let both = moved(Op::Read) + moved(Op::Write);
        let named = self.processes.used().any(|at| at > 0);
        let mut told = TraceStats {
            schema: SCHEMA.to_owned(),
            file: file.to_owned(),
            about: about.clone(),
            sentences: Vec::new(),
            requests: operations.requests(),
            other_commands: self.other_commands,
            failed: operations.failed(),
            duration_ns,
            out_of_order: self.out_of_order,
            operations: operations.finish(),
            read_share: share(reads, reads + writes),
            read_bytes_share: share(moved(Op::Read), both),
            requests_per_s: rate(operations.requests(), duration_ns),
            bytes_per_s: rate(both, duration_ns),
            sizes: self.sizes.finish(),
            arrivals: self.arrivals.finish(),
            queue,
            device_queue,
            latencies,
            order: self.sequence.finish(),
            space: self.blocks.space(),
            succession: self.blocks.succession(),
            reuse: self.blocks.reuse(),
            alignment: self.alignment.finish(),
            durability: operations.durability(duration_ns),
            idle: self.idle.finish(duration_ns),
            devices: self.devices.finish(device),
            processes: if named { self.processes.finish(process) } else { Vec::new() },
        };
        told.sentences = describe::sentences(&told);
        let drawing = Drawing {
            course: times.finish(self.completions),
            maps: self.maps.finish(device),
            latencies: bins,
        };
        (told, drawing)
    }
}

/// Reads a source to its end. `proceed` is asked after every batch with the requests so far.
///
/// # Errors
/// What the source answers. `None` where `proceed` said no.
pub fn of(
    source: &mut dyn TraceSource,
    file: &str,
    options: Options,
    mut proceed: impl FnMut(u64) -> bool,
) -> Result<Option<(TraceStats, Drawing)>, TraceError> {
    let mut stats = Stats::new(options);
    let mut read = 0;
    let whole = each_batch(source, |batch| {
        stats.add(batch);
        read += batch.len() as u64;
        proceed(read)
    })?;
    Ok(whole.then(|| stats.finish(file, source.about(), source.tables())))
}

/// A loop of its own for each accumulator: small ones keep what they need in registers.
#[inline(never)]
fn each<A>(all: &mut A, records: &[Record], add: impl Fn(&mut A, &Record)) {
    for record in records {
        add(all, record);
    }
}

/// The same over those that have a time of arrival.
#[inline(never)]
fn each_at<A>(
    all: &mut A,
    (records, clock): (&[Record], &[u64]),
    mut add: impl FnMut(&mut A, &Record, u64),
) {
    for (record, at) in records.iter().zip(clock).filter(|(_, at)| **at != u64::MAX) {
        add(all, record, *at);
    }
}

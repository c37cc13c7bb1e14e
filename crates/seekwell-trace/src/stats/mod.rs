//! The statistics of a trace, in one pass over any [`TraceSource`](crate::source::TraceSource).
//!
//! Each figure has a small accumulator of its own with `add` and `finish`. Everything is defined on
//! each device, and what is shown of all of them is integer sums (`sum.rs`) of that: so parts merge
//! exactly, whichever process gathered which devices. A device is known by its name ([`identity`]),
//! never by its number in a file. What grows with the number of blocks is bounded by following one
//! block in 2^k, chosen by a hash of device and block; the document then says `estimated`.
//!
//! Definitions that differ between tools, as they are used here:
//! - *Arrival* is when a request was queued, or else issued. Requests that arrive before one before
//!   them on their device are counted and treated as arriving with it.
//! - Gaps, queues, idle periods, the order of addresses and reuse are those of each device; the
//!   device of a trace of one is the trace. Only arrivals in a second or minute, and the load over
//!   time, are of all devices together: those windows lie on one epoch, 1970 if the trace has
//!   the time of day and else its own zero.
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
mod device;
pub mod document;
mod entry;
mod error;
mod figure;
mod gather;
mod grid;
mod held;
mod idle;
mod latency;
mod log_bins;
mod lru;
mod miss;
mod needs;
mod order;
mod part;
mod parties;
mod policy;
mod pool;
mod queue;
mod ratio;
mod seen;
mod shared;
mod sum;
mod which;

#[cfg(test)]
mod tests;

pub use document::{Drawing, SCHEMA, TraceStats};
pub use error::StatsError;
pub use figure::{Asked, Figure};
pub use gather::{of, usual_rate_log2};
pub use policy::Policy;
pub use which::{Options, Shard, identity};

use crate::record::{Flags, Record, Stamp};
use crate::source::{About, Capture, Clock, Tables};
use blocks::{How, Sample};
use device::Device;
pub(crate) use entry::seed_of;
use held::Held;
use parties::Counted;
use ratio::{rate, share};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seen::Seen;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use sum::{Max, Min, Sum, sums};

sums! {
    /// All sums. They are of devices that have ended.
    struct Fleet {
        other_commands: u64,
        out_of_order: u64,
        first: Min,
        last: Max,
        /// Times count from 1970; or from zero of the trace, which is another clock.
        clocks: [bool; 2],
        /// From first to last arrival of each device, together.
        devices_ns: u128,
        completions: bool,
        operations: counts::Operations,
        sizes: counts::SizeCounts,
        alignment: counts::Alignments,
        arrivals: arrivals::Arrivals,
        idle: idle::Idle,
        queues: queue::Queues,
        latencies: latency::Latencies,
        order: order::Sequence,
        touched: blocks::Touched,
        devices: BTreeMap<String, Counted>,
        processes: BTreeMap<String, Counted>,
        course: grid::Times,
    }
}

/// No number yet, and the number of a device that is not counted.
const UNSEEN: u32 = u32::MAX;
const LEFT_OUT: u32 = u32::MAX - 1;
/// Statistics of any number of devices. They merge: whichever process gathers which devices, and in
/// whatever order the parts are put together, the bytes are the same.
///
/// Requests of a device come in order and all to one of these. Whatever looks at all of it
/// ([`Self::merge`], [`Self::to_bytes`], [`Self::digest`], [`Self::finish`]) ends the devices.
#[derive(Debug)]
pub struct Stats {
    options: Options,
    fleet: Fleet,
    /// Of all files before, and of the one at hand.
    before: Option<About>,
    here: Option<About>,
    /// Devices that have not ended.
    open: Vec<Device>,
    held: Held,
    processes: Vec<(String, Counted)>,
    numbers: HashMap<String, u32>,
    process_numbers: HashMap<String, u32>,
    /// The file at hand, and what its devices and processes are numbered here.
    file: String,
    devices_here: Vec<u32>,
    processes_here: Vec<u32>,
    samples: Vec<Sample>,
    maps: grid::Maps,
    drawn: Vec<document::Map>,
    /// What was merged without all others of its kind.
    shards: Vec<Shard>,
    /// Blocks of devices that have ended.
    blocks_ended: u64,
    room: Room,
}

/// Blocks that are followed, by all who share a bound and by one of them.
#[derive(Debug, Default)]
struct Room {
    all: Arc<AtomicU64>,
    here: u64,
}

impl Room {
    /// So many are followed here now; how many that makes of all.
    fn take(&mut self, here: u64) -> u64 {
        let more = here.wrapping_sub(self.here);
        self.here = here;
        self.all.fetch_add(more, Relaxed).wrapping_add(more)
    }
}

impl Stats {
    /// Nothing seen yet.
    pub fn new(options: Options) -> Self {
        Self {
            shards: Some(options.shard).filter(|shard| *shard != Shard::ALL).into_iter().collect(),
            options,
            fleet: Fleet::default(),
            before: None,
            here: None,
            open: Vec::new(),
            held: Held::default(),
            processes: Vec::new(),
            numbers: HashMap::new(),
            process_numbers: HashMap::new(),
            file: String::new(),
            devices_here: Vec::new(),
            processes_here: Vec::new(),
            samples: Vec::new(),
            maps: grid::Maps::default(),
            drawn: Vec::new(),
            blocks_ended: 0,
            room: Room::default(),
        }
    }

    /// What follows is from this file, whose device and process numbers are its own.
    pub fn begin(&mut self, file: &str) {
        self.leave_file();
        file.clone_into(&mut self.file);
        self.devices_here.clear();
        self.processes_here.clear();
    }

    fn leave_file(&mut self) {
        let both = self.before.take().into_iter().chain(self.here.take());
        self.before = both.reduce(About::and);
    }

    /// Records that follow those before, in the order of arrival. `about` and `tables` are what is
    /// known of the file at hand; the last call says what holds of it, with or without records.
    ///
    /// # Errors
    /// [`StatsError::SameDevice`] of a device that has ended, [`StatsError::TooMany`].
    pub fn update(
        &mut self,
        records: &[Record],
        about: &About,
        tables: &Tables,
    ) -> Result<(), StatsError> {
        if self.here.as_ref() != Some(about) {
            self.here = Some(about.clone());
        }
        self.take(records, about, tables)?;
        self.check_room()
    }

    fn check_room(&mut self) -> Result<(), StatsError> {
        let Options { most_blocks: most, rate_log2, .. } = self.options;
        let too_many = |most, what| Err(StatsError::TooMany { what, most, rate_log2 });
        let followed = self.room.take(self.fleet.touched.blocks - self.blocks_ended);
        if followed > most as u64 {
            return too_many(most, "blocks to remember");
        }
        if self.samples.len() > most.saturating_mul(4) {
            return too_many(most * 4, "accesses to remember");
        }
        Ok(())
    }

    /// Takes over the records of devices that are counted, with the numbers that devices and
    /// processes have here and times on the epoch.
    fn take(
        &mut self,
        records: &[Record],
        about: &About,
        tables: &Tables,
    ) -> Result<(), StatsError> {
        let zero_ns = about.unix_ns_at_zero.unwrap_or(0);
        for record in records {
            let (device, process) = (record.device as usize, record.process as usize);
            let mut number = self.devices_here.get(device).copied().unwrap_or(UNSEEN);
            if number == UNSEEN {
                number = self.number_device(device, about, tables)?;
            }
            if number == LEFT_OUT {
                continue;
            }
            let mut kept = Record { device: number, ..*record };
            kept.process = match self.processes_here.get(process) {
                Some(number) if *number != UNSEEN => *number,
                _ => self.number_process(process, tables),
            };
            if zero_ns != 0 {
                for stamp in [&mut kept.queued, &mut kept.issued, &mut kept.completed] {
                    let at = stamp.get().map(|at| at.0.saturating_add_signed(zero_ns));
                    *stamp = Stamp::from(at.map(|at| Nanos(at.min(u64::MAX - 1))));
                }
            }
            if let Some(full) = self.held.push(kept) {
                self.count_held(full);
            }
            self.fleet.clocks[usize::from(about.unix_ns_at_zero.is_none())] = true;
        }
        Ok(())
    }

    #[cold]
    fn number_device(
        &mut self,
        device: usize,
        about: &About,
        tables: &Tables,
    ) -> Result<u32, StatsError> {
        let name = which::name_of(device, about, tables, &self.file);
        let number = match self.numbers.get(&*name) {
            Some(number) => *number,
            None if !self.options.shard.holds(&name) => LEFT_OUT,
            None if self.fleet.devices.contains_key(&*name) => {
                return Err(StatsError::SameDevice { name: name.into_owned() });
            }
            None => {
                self.numbers.insert(name.to_string(), self.open.len() as u32);
                self.open.push(Device::new(name.into_owned()));
                self.held.make_room(self.open.len());
                self.open.len() as u32 - 1
            }
        };
        put(&mut self.devices_here, device, number);
        Ok(number)
    }

    #[cold]
    fn number_process(&mut self, process: usize, tables: &Tables) -> u32 {
        let name = tables.processes.get(process).map_or("", String::as_str);
        let next = self.processes.len() as u32;
        let number = *self.process_numbers.entry(name.to_owned()).or_insert(next);
        if number == next {
            self.processes.push((name.to_owned(), Counted::default()));
        }
        put(&mut self.processes_here, process, number);
        number
    }

    /// Counts what is held of a group of devices.
    fn count_held(&mut self, group: usize) {
        let sorted = self.held.take(group);
        sorted.chunk_by(|a, b| a.device == b.device).for_each(|of_one| self.add(of_one));
        self.held.give_back(sorted);
    }

    /// Records of one device.
    fn add(&mut self, records: &[Record]) {
        let asked = self.options.asked;
        let plain = |r: &Record| !r.flags.has(Flags::OTHER) && r.was_asked_for();
        for run in records.chunk_by(|a, b| plain(a) && plain(b)) {
            let first = &run[0];
            if plain(first) {
                self.add_requests(run);
            } else if first.flags.has(Flags::OTHER) {
                self.fleet.other_commands += 1;
            } else {
                if asked.has(Figure::Latencies) {
                    self.fleet.latencies.add(&Seen::of(first));
                }
                self.open[first.device as usize].add_at_device(&mut self.fleet, asked, first);
            }
        }
    }

    fn add_requests(&mut self, records: &[Record]) {
        let Self { fleet, open, processes, samples, maps, options, .. } = self;
        let (asked, device) = (options.asked, &mut open[records[0].device as usize]);
        if asked.has(Figure::Counts) {
            each(&mut fleet.operations, records, |all, r| all.add(&Seen::of(r)));
        }
        if asked.has(Figure::Sizes) {
            each(&mut fleet.sizes, records, |all, r| all.add(&Seen::of(r)));
        }
        if asked.has(Figure::Alignment) {
            each(&mut fleet.alignment, records, |all, r| all.add(&Seen::of(r)));
        }
        if asked.has(Figure::Latencies) {
            each(&mut fleet.latencies, records, |all, r| all.add(&Seen::of(r)));
        }
        if options.draws_maps() {
            each(maps, records, |all, r| all.add(&Seen::of(r)));
        }
        if asked.has_any(Asked::PLACED) {
            each(
                &mut (&mut *fleet, &mut *device, processes),
                records,
                |(fleet, device, all), r| {
                    let (_, process) = &mut all[r.process as usize];
                    device.place(fleet, asked, process, r);
                },
            );
        }
        if asked.has_any(Asked::TIMED) {
            each(&mut (&mut *fleet, &mut *device), records, |(fleet, device), r| {
                device.time(fleet, asked, r);
            });
        }
        if options.follows_blocks() {
            let reuse = asked.has(Figure::Reuse);
            let how = How { rate_log2: options.rate_log2, reuse };
            let mut wanted = (!options.policies.is_empty()).then_some(samples);
            each(&mut (&mut fleet.touched, &mut device.blocks), records, |(touched, blocks), r| {
                blocks.add(touched, how, &Seen::of(r), wanted.as_deref_mut());
            });
        }
    }

    /// Ends all devices.
    fn end(&mut self) {
        (0..self.held.groups()).for_each(|group| self.count_held(group));
        self.held.make_room(0);
        self.leave_file();
        let first =
            self.fleet.first.0.into_iter().chain(self.open.iter().filter_map(|d| d.first()));
        let first = first.min().unwrap_or(0);
        let names: Vec<String> = self.open.iter().map(|device| device.name.clone()).collect();
        self.drawn.extend(std::mem::take(&mut self.maps).finish(first, |i| names[i].clone()));
        for device in self.open.drain(..) {
            device.end(&mut self.fleet, self.options.asked);
        }
        for (name, counted) in self.processes.drain(..) {
            if counted.requests != [0; 4] {
                self.fleet.processes.entry(name).or_default().merge(counted);
            }
        }
        self.numbers.clear();
        self.process_numbers.clear();
        self.devices_here.clear();
        self.processes_here.clear();
        self.samples.sort_unstable();
        self.blocks_ended = self.fleet.touched.blocks;
        self.room.take(0);
    }

    /// Ends all devices and adds those of another.
    ///
    /// # Errors
    /// [`StatsError::SameDevice`], [`StatsError::Rates`], [`StatsError::Figures`] and
    /// [`StatsError::Options`]; nothing is added then.
    pub fn merge(&mut self, mut other: Self) -> Result<(), StatsError> {
        self.end();
        other.end();
        let (one, theirs) = (self.options.rate_log2, other.options.rate_log2);
        if one != theirs {
            return Err(StatsError::Rates { one, other: theirs });
        }
        let (one, theirs) = (self.options.asked, other.options.asked);
        if one != theirs {
            return Err(StatsError::Figures { one, other: theirs });
        }
        if self.options.policies != other.options.policies {
            return Err(StatsError::Options { what: "curves of the same policies" });
        }
        let [mine, theirs] = [&self.fleet, &other.fleet];
        if (0..2).all(|clock| mine.clocks[clock] || theirs.clocks[clock]) {
            return Err(StatsError::Options { what: "the time of day" });
        }
        if let Some(name) = theirs.devices.keys().find(|name| mine.devices.contains_key(*name)) {
            return Err(match self.shards.iter().find(|shard| other.shards.contains(shard)) {
                Some(shard) => StatsError::SameShard { shard: *shard },
                None => StatsError::SameDevice { name: name.clone() },
            });
        }
        self.before = self.before.take().into_iter().chain(other.before).reduce(About::and);
        self.fleet.merge(other.fleet);
        self.samples.append(&mut other.samples);
        self.samples.sort_unstable();
        self.drawn.append(&mut other.drawn);
        self.blocks_ended = self.fleet.touched.blocks;
        self.shards.append(&mut other.shards);
        which::complete(&mut self.shards);
        Ok(())
    }

    /// Whether all parts of a trace are here of which one is.
    ///
    /// # Errors
    /// [`StatsError::Missing`].
    pub fn check_whole(&self) -> Result<(), StatsError> {
        match which::missing(&self.shards) {
            Some(shards) => Err(StatsError::Missing { shards }),
            None => Ok(()),
        }
    }

    /// The document of all of it; `file` is what the trace is called.
    pub fn finish(mut self, file: &str) -> (TraceStats, Drawing) {
        let digest = self.digest();
        let Self { fleet, options, .. } = &self;
        let rate_log2 = options.rate_log2;
        let first = fleet.first.0;
        let duration_ns = first.map(|first| fleet.last.0.saturating_sub(first));
        let [queue, device_queue] = fleet.queues.finish();
        let (latencies, bins) = fleet.latencies.finish();
        let operations = &fleet.operations;
        let (reads, writes) = (operations.of(Op::Read), operations.of(Op::Write));
        let moved = |op| operations.bytes_of(op);
        let both = moved(Op::Read) + moved(Op::Write);
        let asked = options.asked;
        let named = fleet.processes.keys().any(|name| !name.is_empty());
        let unknown = About::new("none", Clock::Start, Capture::Queue);
        let in_order = asked.has(Figure::Order);
        let mut told = TraceStats {
            asked,
            schema: SCHEMA.to_owned(),
            file: file.to_owned(),
            about: self.before.clone().unwrap_or(unknown),
            digest,
            rate_log2,
            sentences: Vec::new(),
            requests: operations.requests(),
            other_commands: fleet.other_commands,
            failed: operations.failed,
            duration_ns,
            out_of_order: fleet.out_of_order,
            operations: operations.finish(),
            read_share: share(reads, reads + writes),
            read_bytes_share: share(moved(Op::Read), both),
            requests_per_s: rate(operations.requests(), duration_ns),
            bytes_per_s: rate(both, duration_ns),
            sizes: fleet.sizes.finish(),
            arrivals: fleet.arrivals.finish(first.unwrap_or(0), fleet.last.0),
            queue,
            device_queue,
            latencies,
            order: fleet.order.finish(),
            space: fleet.touched.space(rate_log2),
            succession: fleet.touched.succession(rate_log2),
            reuse: asked.has(Figure::Reuse).then(|| fleet.touched.reuse(rate_log2)).flatten(),
            policies: shared::curves(&options.policies, &self.samples, rate_log2, fleet),
            alignment: fleet.alignment.finish(),
            durability: operations.durability(duration_ns),
            idle: asked.has(Figure::Idle).then(|| fleet.idle.finish(fleet.devices_ns)).flatten(),
            devices: parties::parties(&fleet.devices, in_order),
            processes: if named { processes(&fleet.processes, in_order) } else { Vec::new() },
        };
        told.sentences = describe::sentences(&told);
        let drawing = Drawing {
            course: fleet.course.finish(first.unwrap_or(0), fleet.completions),
            maps: grid::busiest(std::mem::take(&mut self.drawn)),
            latencies: bins,
        };
        (told, drawing)
    }
}

/// Numbers for the names that need one.
fn put(numbers: &mut Vec<u32>, at: usize, number: u32) {
    if at >= numbers.len() {
        numbers.resize(at + 1, UNSEEN);
    }
    numbers[at] = number;
}

/// Those without a name are unknown.
fn processes(all: &BTreeMap<String, Counted>, in_order: bool) -> Vec<document::Party> {
    let mut parties = parties::parties(all, in_order);
    for party in parties.iter_mut().filter(|party| party.name.is_empty()) {
        "unknown".clone_into(&mut party.name);
    }
    parties
}

/// A loop of its own for each accumulator: small ones keep what they need in registers.
#[inline(never)]
fn each<A>(all: &mut A, records: &[Record], mut add: impl FnMut(&mut A, &Record)) {
    for record in records {
        add(all, record);
    }
}

//! Counting in the kernel what completes on disks, by four small programs (BPF).
//!
//! ```text
//! tracepoints ─► table of requests in flight ─► shares of each disk ─► Totals
//!                    └─► Outstanding              └─► users, emptied at each look ─► Usage
//! ```
//!
//! No data is passed to user space for each request, so it costs the load little and this process
//! next to nothing. Whoever needs single requests needs a [`crate::capture::Recording`].

mod layout;
mod program;
mod steps;
#[cfg(test)]
mod tests;

use crate::bpf::kernel::{Attached, Kind, Map, Mapped, Plain, attach};
use crate::bpf::{BpfError, Btf, BtfError, cpus, refused, types};
use crate::capture::monotonic;
use layout::{Entry, ISSUE_TO_COMPLETE, Places, QUEUE_TO_ISSUE, Share, TIMES, Table, Used, User};
use program::{Maps, Programs};
use seekwell_io::histogram::{BINS, Histogram};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use std::collections::HashMap;

/// Pairs of disk and process between two reads; beyond that, the least recent are dropped.
const USERS: u32 = 1 << 10;
/// The most shares of a disk, as a power of two; a share takes 45 kB.
const SHARE_BITS: u32 = 3;
/// Room for disks that are attached later.
const SPARE: usize = 8;

/// Whether the programs can be assembled for a kernel with this description of its types (BTF).
///
/// # Errors
/// [`BtfError`] for what is wrong with them or missing.
pub fn check_types(types: &[u8]) -> Result<(), BtfError> {
    Places::of(&Btf::read(types)?).map(drop)
}

/// A disk that is counted, or a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Major and minor number of the whole disk.
    pub disk: (u32, u32),
    /// First byte and bytes of the part that counts; `None`: all of it.
    pub part: Option<(u64, u64)>,
}

impl Place {
    const fn number(self) -> u32 {
        self.disk.0 << 20 | self.disk.1
    }

    /// Its first sector and how many it has.
    fn sectors(self) -> (u64, u64) {
        self.part.map_or((0, u64::MAX), |(first, bytes)| (first / 512, bytes / 512))
    }
}

/// A disk, by the order in which disks were added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(u32);

/// Everything that completed on a disk since it was added. The numbers wrap.
#[derive(Debug, Clone)]
pub struct Totals {
    failed: u64,
    times: Vec<Counted>,
}

#[derive(Debug, Clone)]
struct Counted {
    sum_ns: u64,
    bytes: u64,
    bins: Vec<u32>,
}

impl Default for Totals {
    fn default() -> Self {
        let nothing = Counted { sum_ns: 0, bytes: 0, bins: vec![0; BINS] };
        Self { failed: 0, times: vec![nothing; TIMES] }
    }
}

impl Totals {
    /// The difference from earlier totals.
    pub fn since(&self, earlier: &Self) -> Self {
        let pairs = self.times.iter().zip(&earlier.times);
        let since = |(now, then): (&Counted, &Counted)| Counted {
            sum_ns: now.sum_ns.wrapping_sub(then.sum_ns),
            bytes: now.bytes.wrapping_sub(then.bytes),
            bins: now.bins.iter().zip(&then.bins).map(|(n, then)| n.wrapping_sub(*then)).collect(),
        };
        let failed = self.failed.wrapping_sub(earlier.failed);
        Self { failed, times: pairs.map(since).collect() }
    }

    /// Requests that ended with an error.
    pub const fn failed(&self) -> u64 {
        self.failed
    }

    /// Bytes of one operation.
    pub fn bytes(&self, op: Op) -> u64 {
        self.times[op as usize].bytes
    }

    /// From the queue to the completion, for all requests of one operation.
    pub fn response(&self, op: Op) -> Histogram {
        self.times[op as usize].histogram()
    }

    /// From the queue to the driver.
    pub fn queue(&self) -> Histogram {
        self.times[QUEUE_TO_ISSUE].histogram()
    }

    /// From the driver to the completion, for all requests that the device completed.
    pub fn device(&self) -> Histogram {
        self.times[ISSUE_TO_COMPLETE].histogram()
    }

    fn add(&mut self, share: *const Share) {
        // SAFETY: the share lies in a mapping of the array, whose values are this structure;
        // programs add to it meanwhile, so each number is read once, as volatile.
        unsafe {
            self.failed = self.failed.wrapping_add((&raw const (*share).failed).read_volatile());
            for (number, sum) in self.times.iter_mut().enumerate() {
                let times = &raw const (*share).times[number];
                sum.sum_ns = sum.sum_ns.wrapping_add((&raw const (*times).sum_ns).read_volatile());
                sum.bytes = sum.bytes.wrapping_add((&raw const (*times).bytes).read_volatile());
                let bins = (&raw const (*times).bins).cast::<u32>();
                for (bin, n) in sum.bins.iter_mut().enumerate() {
                    *n = n.wrapping_add(bins.add(bin).read_volatile());
                }
            }
        }
    }
}

impl Counted {
    /// Its smallest and largest value are known as the middle of a bin.
    fn histogram(&self) -> Histogram {
        let used = self.bins.iter().enumerate().filter(|(_, n)| **n > 0);
        let bins: Vec<(u32, u64)> = used.map(|(bin, n)| (bin as u32, u64::from(*n))).collect();
        let middle = |bin: Option<&(u32, u64)>| {
            Nanos(bin.map_or(0, |(bin, _)| Histogram::middle_of(*bin as usize)))
        };
        let (min, max) = (middle(bins.first()), middle(bins.last()));
        let made = Histogram::from_parts(&bins, u128::from(self.sum_ns), min, max);
        made.expect("these are bins of a histogram, in order")
    }
}

/// A request in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outstanding {
    /// Its disk.
    pub slot: Slot,
    /// When it was queued.
    pub since: Nanos,
    /// Whether it was issued to the driver.
    pub issued: bool,
    /// Where it is in the table.
    index: usize,
}

/// What a process did to a disk between two reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// The disk.
    pub slot: Slot,
    /// The process.
    pub pid: u32,
    /// The name of its thread that queued the first of the requests.
    pub name: String,
    /// Requests.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The sum of their response times.
    pub waited_ns: u64,
}

// SAFETY: numbers and bytes without gaps.
unsafe impl Plain for Used {}
// SAFETY: as above.
unsafe impl Plain for User {}

/// The programs that count. Dropping it removes them.
#[derive(Debug)]
pub struct Counting {
    table: Mapped<Table>,
    slots: Map<u32, u32>,
    users: Map<User, Used>,
    shares: Mapped<Share>,
    missed: Mapped<u64>,
    /// Shares of each disk.
    width: usize,
    places: Vec<Place>,
    /// How many disks there is room for.
    room: usize,
    by_number: HashMap<u32, Slot>,
    attached: Vec<Attached>,
    /// Requests passed to [`Counting::forget`].
    forgotten: u64,
}

impl Counting {
    /// Starts counting on these disks; [`Slot`]s follow their order.
    ///
    /// # Errors
    /// [`BpfError`] if this kernel cannot count or does not permit it.
    pub fn start(disks: &[Place]) -> Result<Self, BpfError> {
        let types = types()?;
        let places = Places::of(&Btf::read(&types)?)?;
        let cpus = cpus("possible").len();
        let share_bits = cpus.next_power_of_two().ilog2().min(SHARE_BITS);
        let (width, room) = (1 << share_bits, disks.len() + SPARE);
        let map = refused("a map");
        // The first shares are for disks that are not counted.
        let most = ((room + 1) * width) as u32;
        let shares: Map<u32, Share> = Map::new(Kind::Array, most, cpus).map_err(&map)?;
        let missed: Map<u32, u64> = Map::new(Kind::Array, 1, cpus).map_err(&map)?;
        let table: Map<u32, Table> = Map::new(Kind::Array, 1, cpus).map_err(&map)?;
        let mut counting = Self {
            table: Mapped::of(&table).map_err(&map)?,
            slots: Map::new(Kind::Hash, most, cpus).map_err(&map)?,
            users: Map::new(Kind::LruPerCpu, USERS, cpus).map_err(&map)?,
            shares: Mapped::of(&shares).map_err(&map)?,
            missed: Mapped::of(&missed).map_err(&map)?,
            width,
            places: Vec::new(),
            room,
            by_number: HashMap::new(),
            attached: Vec::new(),
            forgotten: 0,
        };
        disks.iter().try_for_each(|disk| counting.add(*disk).map(|_| ()))?;
        let maps = Maps {
            table: table.fd(),
            slots: counting.slots.fd(),
            shares: shares.fd(),
            users: counting.users.fd(),
            missed: missed.fd(),
        };
        let programs = Programs { places: &places, maps, share_bits: share_bits as i32 };
        // Completions are attached first, so that no request is seen whose completion is not.
        for (code, point) in [
            (programs.bio_complete(), places.bio_complete),
            (programs.complete(), places.complete),
            (programs.issue(), places.issue),
            (programs.queue(), places.queue),
        ] {
            let attached = attach(&code, point.id).map_err(refused("a program"))?;
            counting.attached.push(attached);
        }
        Ok(counting)
    }

    /// Counts on one more disk from now on; `None` if there is no room for it.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn add(&mut self, disk: Place) -> Result<Option<Slot>, BpfError> {
        if self.places.len() >= self.room {
            return Ok(None);
        }
        let slot = Slot(self.places.len() as u32);
        let (first, sectors) = disk.sectors();
        for share in self.shares(slot) {
            // SAFETY: the share lies in the mapping, and no program uses it before it has a slot.
            unsafe {
                (&raw mut (*share).first).write_volatile(first);
                (&raw mut (*share).sectors).write_volatile(sectors);
            }
        }
        self.slots.put(disk.number(), slot.0 + 1).map_err(refused("a disk"))?;
        self.places.push(disk);
        self.by_number.insert(disk.number(), slot);
        Ok(Some(slot))
    }

    /// The disks, in the order in which they were added.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + use<> {
        (0..self.places.len() as u32).map(Slot)
    }

    /// Whether a whole disk or a part of it is counted, by its numbers.
    pub fn counts(&self, disk: (u32, u32)) -> bool {
        self.places.iter().any(|place| place.disk == disk)
    }

    fn shares(&self, slot: Slot) -> impl Iterator<Item = *mut Share> {
        let first = (slot.0 as usize + 1) * self.width;
        (first..first + self.width).map(|index| self.shares.at(index))
    }

    /// Everything that completed on a disk so far.
    pub fn totals(&self, slot: Slot) -> Totals {
        let mut totals = Totals::default();
        self.shares(slot).for_each(|share| totals.add(share));
        totals
    }

    /// What is missing from the totals: events that the kernel reports as missed, requests that
    /// did not fit into the table, and requests whose completion was not seen. Some kernels skip
    /// programs at times without counting it; such a completion is noticed when its bio is queued
    /// again or its request is forgotten.
    pub fn missed(&self) -> u64 {
        // SAFETY: the number lies in the mapping; programs add to it meanwhile.
        let crowded = unsafe { self.missed.at(0).read_volatile() };
        let of = |share: *mut Share| {
            // SAFETY: as above.
            unsafe { (&raw const (*share).missed).read_volatile() }
        };
        let unseen: u64 = self.slots().flat_map(|slot| self.shares(slot)).map(of).sum();
        let skipped: u64 = self.attached.iter().map(Attached::misses).sum();
        crowded + unseen + skipped + self.forgotten
    }

    /// The requests in flight, in no order.
    pub fn outstanding(&self) -> Vec<Outstanding> {
        let one = |index| {
            // SAFETY: the entry lies in the mapping; programs change it meanwhile, and fill
            // `queued` last.
            let Entry { queued, issued, sector, dev, op, .. } =
                unsafe { self.entry(index).read_volatile() };
            let slot = *self.by_number.get(&dev)?;
            let (first, sectors) = self.places[slot.0 as usize].sectors();
            let inside = op == Op::Flush as u32 || sector.wrapping_sub(first) < sectors;
            let since = Nanos(queued);
            let request = Outstanding { slot, since, issued: issued > 0, index };
            (queued > 0 && inside).then_some(request)
        };
        (0..1 << layout::TABLE_BITS).filter_map(one).collect()
    }

    fn entry(&self, index: usize) -> *mut Entry {
        let table = self.table.at(0);
        // SAFETY: the mapping holds the whole table, and indexing it checks the bounds.
        unsafe { &raw mut (*table).entries[index] }
    }

    /// Forgets a request whose completion was missed.
    pub fn forget(&mut self, request: &Outstanding) {
        let entry = self.entry(request.index);
        // SAFETY: the entry lies in the mapping. Its disk has nothing in flight, so no program is
        // about to use it.
        unsafe {
            if (&raw const (*entry).queued).read_volatile() == request.since.0 {
                (&raw mut (*entry).queued).write_volatile(0);
                (&raw mut (*entry).key).write_volatile(0);
                self.forgotten += 1;
            }
        }
    }

    /// What processes did since the last call.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn take_usage(&self) -> Result<Vec<Usage>, BpfError> {
        let all = self.users.take().map_err(refused("reading processes"))?;
        let one = |(user, shares): (User, Vec<Used>)| {
            let slot = *self.by_number.get(&user.dev)?;
            let name = shares.iter().map(|used| used.name).find(|name| name[0] != 0);
            let name = name.unwrap_or_default();
            let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
            Some(Usage {
                slot,
                pid: user.pid,
                name: String::from_utf8_lossy(&name[..end]).into_owned(),
                requests: shares.iter().map(|used| used.requests).sum(),
                bytes: shares.iter().map(|used| used.bytes).sum(),
                waited_ns: shares.iter().map(|used| used.waited_ns).sum(),
            })
        };
        Ok(all.into_iter().filter_map(one).collect())
    }
}

/// Now, on the clock of [`Outstanding::since`].
pub fn now() -> Nanos {
    Nanos(monotonic())
}

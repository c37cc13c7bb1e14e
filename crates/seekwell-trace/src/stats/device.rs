//! What is remembered of a device while its requests go by, in bounded memory but for its blocks.

use super::Fleet;
use super::arrivals;
use super::blocks::Blocks;
use super::entry::seed_of;
use super::figure::{Asked, Figure};
use super::latency::{Latencies, between};
use super::order::Recent;
use super::parties::{Counted, Ends};
use super::queue::Sweep;
use super::seen::{Reads, Seen};
use super::sum::{Max, Min, Sum};
use crate::record::{Fields, Record};

/// What is read to know when a request arrived.
pub(super) struct Clocked;

impl Reads for Clocked {
    const FIELDS: Fields = Fields::ARRIVAL;
}

/// What is read to know when it completed.
pub(super) struct Served;

impl Reads for Served {
    const FIELDS: Fields = Fields::COMPLETED;
}

/// What is read to separate the two queues.
pub(super) struct Swept;

impl Reads for Swept {
    const FIELDS: Fields = Fields::QUEUED.and(Fields::ISSUED);
}

/// One device.
#[derive(Debug)]
pub(super) struct Device {
    pub name: String,
    first: Option<u64>,
    now: u64,
    busy_until: Option<u64>,
    coming: arrivals::Coming,
    sweep: Sweep,
    recent: Recent,
    ends: Ends,
    party: Counted,
    pub blocks: Blocks,
}

impl Device {
    pub fn new(name: String) -> Self {
        Self {
            first: None,
            now: 0,
            busy_until: None,
            coming: arrivals::Coming::default(),
            sweep: Sweep::default(),
            recent: Recent::default(),
            ends: Ends::default(),
            party: Counted::default(),
            blocks: Blocks::new(seed_of(&name)),
            name,
        }
    }

    /// The time of a moment on a clock that never goes back.
    #[inline]
    pub fn tell(&mut self, at: u64) -> u64 {
        self.now = self.now.max(at);
        self.first.get_or_insert(self.now);
        self.now
    }

    /// The place of a request among those before it on this device, and of its process here.
    #[inline]
    pub fn place(
        &mut self,
        fleet: &mut Fleet,
        asked: Asked,
        process: &mut Counted,
        record: &Record,
    ) {
        let in_order = asked.has(Figure::Order);
        let took_ns = asked.has(Figure::Latencies).then(|| took_ns(&Seen::of(record))).flatten();
        let follows = in_order && fleet.order.add(&mut self.recent, &Seen::of(record));
        if asked.has(Figure::Devices) {
            self.party.add(&Seen::of(record), follows, took_ns);
        }
        if asked.has(Figure::Processes) {
            let follows = in_order && self.ends.follows(&Seen::of(record));
            process.add(&Seen::of(record), follows, took_ns);
        }
    }

    /// When a request came and ended.
    #[inline]
    pub fn time(&mut self, fleet: &mut Fleet, asked: Asked, record: &Record) {
        let Some(at) = Seen::<Clocked>::of(record).arrival().get() else { return };
        fleet.out_of_order += u64::from(at.0 < self.now);
        let at = self.tell(at.0);
        if asked.has(Figure::Arrivals) {
            fleet.arrivals.add(&mut self.coming, at);
        }
        let is_drawn = asked.has_all(Asked::COURSE);
        if is_drawn {
            fleet.course.arrival(at, &Seen::of(record));
        }
        if !asked.has_any(Asked::ENDED) {
            return;
        }
        let end = Seen::<Served>::of(record).completed().get().map(|end| end.0.max(at));
        if asked.has(Figure::Idle) {
            self.busy_until = Some(fleet.idle.add(self.busy_until, at, end));
        }
        let Some(end) = end else { return };
        fleet.completions = true;
        if asked.has(Figure::Queue) {
            let seen = Seen::<Swept>::of(record);
            let issued = seen.queued().get().and(seen.issued().get());
            let issued = issued.filter(|_| seen.reached_device()).map(|issued| issued.0);
            let Fleet { queues, course, .. } = fleet;
            let mut passed = |from, to, depth| {
                if is_drawn {
                    course.under_way(from, to, depth);
                }
            };
            self.sweep.add(queues, at, issued, end, &mut passed);
        }
    }

    /// What the device made of requests that are counted by themselves.
    pub fn add_at_device(&mut self, fleet: &mut Fleet, asked: Asked, record: &Record) {
        let Some(at) = Seen::<Clocked>::of(record).arrival().get() else { return };
        let at = self.tell(at.0);
        if !asked.has(Figure::Queue) {
            return;
        }
        let Some(end) = Seen::<Served>::of(record).completed().get() else { return };
        let Fleet { queues, course, .. } = fleet;
        let mut passed = |from, to, depth| {
            if asked.has_all(Asked::COURSE) {
                course.under_way(from, to, depth);
            }
        };
        self.sweep.add_at_device(queues, at, end.0.max(at), &mut passed);
    }

    /// When its first request came.
    pub const fn first(&self) -> Option<u64> {
        self.first
    }

    /// Nothing more happens on it.
    pub fn end(mut self, fleet: &mut Fleet, asked: Asked) {
        fleet.arrivals.end(&mut self.coming);
        let Fleet { queues, course, .. } = fleet;
        self.sweep.end(queues, &mut |from, to, depth| {
            if asked.has_all(Asked::COURSE) {
                course.under_way(from, to, depth);
            }
        });
        self.blocks.end(&mut fleet.touched);
        fleet.devices.insert(self.name, self.party);
        if let Some(first) = self.first {
            fleet.first.merge(Min(Some(first)));
            fleet.last.merge(Max(self.now));
            fleet.devices_ns.merge(u128::from(self.now - first));
        }
    }
}

/// From arrival to completion, where known.
fn took_ns(record: &Seen<Latencies>) -> Option<u64> {
    between(record.queued().or(record.issued()), record.completed())
}

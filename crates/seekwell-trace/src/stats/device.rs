//! What is remembered of a device while its requests go by, in bounded memory but for its blocks.

use super::Fleet;
use super::arrivals;
use super::blocks::Blocks;
use super::entry::seed_of;
use super::order::Recent;
use super::parties::{Counted, Ends};
use super::queue::Sweep;
use super::sum::{Max, Min, Sum};
use crate::record::Record;

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
    pub fn place(&mut self, fleet: &mut Fleet, process: &mut Counted, record: &Record) {
        let follows = fleet.order.add(&mut self.recent, record);
        self.party.add(record, follows);
        process.add(record, self.ends.follows(record.process, record));
    }

    /// When a request came and ended.
    #[inline]
    pub fn time(&mut self, fleet: &mut Fleet, record: &Record) {
        let Some(at) = record.arrival().get() else { return };
        fleet.out_of_order += u64::from(at.0 < self.now);
        let at = self.tell(at.0);
        fleet.arrivals.add(&mut self.coming, at);
        fleet.course.arrival(at, record);
        let end = record.completed.get().map(|end| end.0.max(at));
        self.busy_until = Some(fleet.idle.add(self.busy_until, at, end));
        let Some(end) = end else { return };
        fleet.completions = true;
        let issued = record.queued.get().and(record.issued.get());
        let issued = issued.filter(|_| record.reached_device()).map(|issued| issued.0);
        let Fleet { queues, course, .. } = fleet;
        let mut passed = |from, to, depth| course.under_way(from, to, depth);
        self.sweep.add(queues, at, issued, end, &mut passed);
    }

    /// What the device made of requests that are counted by themselves.
    pub fn add_at_device(&mut self, fleet: &mut Fleet, record: &Record) {
        let (Some(at), Some(end)) = (record.issued.get(), record.completed.get()) else { return };
        let at = self.tell(at.0);
        let Fleet { queues, course, .. } = fleet;
        let mut passed = |from, to, depth| course.under_way(from, to, depth);
        self.sweep.add_at_device(queues, at, end.0.max(at), &mut passed);
    }

    /// When its first request came.
    pub const fn first(&self) -> Option<u64> {
        self.first
    }

    /// Nothing more happens on it.
    pub fn end(mut self, fleet: &mut Fleet) {
        fleet.arrivals.end(&mut self.coming);
        let Fleet { queues, course, .. } = fleet;
        self.sweep.end(queues, &mut |from, to, depth| course.under_way(from, to, depth));
        self.blocks.end(&mut fleet.touched);
        fleet.devices.insert(self.name, self.party);
        if let Some(first) = self.first {
            fleet.first.merge(Min(Some(first)));
            fleet.last.merge(Max(self.now));
            fleet.devices_ns.merge(u128::from(self.now - first));
        }
    }
}

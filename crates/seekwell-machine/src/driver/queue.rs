//! The queue of one device: what waits for it, and which is next.

use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use serde::{Deserialize, Serialize};

/// The order in which a queue is emptied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// First come, first served.
    Fcfs,
    /// Up and down by address (LOOK).
    Look,
    /// Upwards by address and then again from the lowest (C-LOOK).
    #[serde(rename = "c-look")]
    CLook,
    /// The nearest by address (SSTF).
    Sstf,
}

/// How a queue is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueParams {
    /// The order of what is neither urgent nor late.
    pub policy: Policy,
    /// The order of what a process waits for, where that goes first.
    pub urgent: Option<Policy>,
    /// Waiting time after which something goes before what is not urgent, and the order of such.
    pub late: Option<(Nanos, Policy)>,
    /// Whether reads that continue each other become one.
    pub joins_reads: bool,
    /// Whether writes that continue each other become one.
    pub joins_writes: bool,
    /// The most sectors of what was joined.
    pub most_joined: u64,
}

impl QueueParams {
    /// First come, first served, and nothing else.
    pub const PLAIN: Self = Self {
        policy: Policy::Fcfs,
        urgent: None,
        late: None,
        joins_reads: false,
        joins_writes: false,
        most_joined: 0,
    };
}

/// Something that waits for a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedAccess {
    /// Read or write.
    pub op: Op,
    /// First sector.
    pub start: u64,
    /// Sectors.
    pub sectors: u64,
    /// Whether a process waits for it.
    pub urgent: bool,
    /// A write that is durable when it is done (FUA).
    pub durable: bool,
    /// Whose it is and since when they wait; more than one where entries were joined.
    pub owners: Vec<(u32, Nanos)>,
}

impl QueuedAccess {
    /// One access of one owner.
    pub fn new(owner: u32, op: Op, start: u64, sectors: u64, now: Nanos) -> Self {
        Self { op, start, sectors, urgent: false, durable: false, owners: vec![(owner, now)] }
    }

    const fn end(&self) -> u64 {
        self.start + self.sectors
    }

    fn since(&self) -> Nanos {
        self.owners.iter().map(|(_, since)| *since).min().unwrap_or(Nanos::MAX)
    }
}

/// Entries of the same rank are ordered among themselves, each rank by the place of its own last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rank {
    Urgent = 0,
    Late = 1,
    Base = 2,
}

/// Where the last entry taken of a rank was, and which way the next is sought first.
#[derive(Debug, Clone, Copy)]
struct Place {
    sector: u64,
    upwards: bool,
}

/// A queue.
#[derive(Debug, Clone)]
pub struct Queue {
    params: QueueParams,
    /// In order of arrival.
    waiting: Vec<QueuedAccess>,
    places: [Place; 3],
}

impl Queue {
    /// An empty queue.
    pub const fn new(params: QueueParams) -> Self {
        let place = Place { sector: 0, upwards: true };
        Self { params, waiting: Vec::new(), places: [place; 3] }
    }

    /// How many entries wait.
    pub const fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nothing waits.
    pub const fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Adds an entry, or joins it to one that it continues or that continues it.
    pub fn add(&mut self, entry: QueuedAccess) {
        self.waiting.push(entry);
        let mut last = self.waiting.len() - 1;
        let joins = match self.waiting[last].op {
            Op::Read => self.params.joins_reads,
            Op::Write => self.params.joins_writes,
            Op::Flush | Op::Discard => false,
        };
        if !joins {
            return;
        }
        if let Some(before) = self.neighbour(last, |other, new| other.end() == new.start) {
            last = self.join(before, last);
        }
        if let Some(after) = self.neighbour(last, |other, new| new.end() == other.start) {
            self.join(last, after);
        }
    }

    fn neighbour(
        &self,
        index: usize,
        adjoins: impl Fn(&QueuedAccess, &QueuedAccess) -> bool,
    ) -> Option<usize> {
        let new = &self.waiting[index];
        self.waiting.iter().position(|other| {
            other.op == new.op
                && other.durable == new.durable
                && (other.urgent && self.params.urgent.is_some())
                    == (new.urgent && self.params.urgent.is_some())
                && other.sectors + new.sectors <= self.params.most_joined
                && adjoins(other, new)
        })
    }

    /// Appends one entry to another that it continues, and says where that is then.
    fn join(&mut self, first: usize, second: usize) -> usize {
        let QueuedAccess { sectors, owners, .. } = self.waiting[second].clone();
        self.waiting[first].sectors += sectors;
        self.waiting[first].owners.extend(owners);
        self.waiting.remove(second);
        first - usize::from(second < first)
    }

    /// Makes what that owner waits for urgent.
    pub fn raise(&mut self, owner: u32) {
        let owns = |entry: &&mut QueuedAccess| entry.owners.iter().any(|(id, _)| *id == owner);
        for entry in self.waiting.iter_mut().filter(owns) {
            entry.urgent = true;
        }
    }

    /// What is late counts as urgent if there is such a thing.
    fn rank(&self, entry: &QueuedAccess, now: Nanos) -> Rank {
        let late = self.params.late.is_some_and(|(after, _)| now.since(entry.since()) >= after);
        match self.params.urgent {
            Some(_) if entry.urgent || late => Rank::Urgent,
            None if late => Rank::Late,
            _ => Rank::Base,
        }
    }

    /// Takes the next entry.
    pub fn take(&mut self, now: Nanos) -> Option<QueuedAccess> {
        let ranks = [
            (Rank::Urgent, self.params.urgent),
            (Rank::Late, self.params.late.map(|(_, policy)| policy)),
            (Rank::Base, Some(self.params.policy)),
        ];
        let (rank, policy, index) = ranks.into_iter().find_map(|(rank, policy)| {
            let policy = policy?;
            let of = |(_, entry): &(usize, &QueuedAccess)| self.rank(entry, now) == rank;
            let place = self.places[rank as usize];
            let index = next(policy, place, self.waiting.iter().enumerate().filter(of))?;
            Some((rank, policy, index))
        })?;
        let entry = self.waiting.remove(index);
        let place = &mut self.places[rank as usize];
        if entry.start != place.sector {
            place.upwards = entry.start > place.sector;
        }
        place.sector = if policy == Policy::Sstf { entry.end() } else { entry.start };
        Some(entry)
    }
}

/// Which of the entries comes next.
fn next<'e>(
    policy: Policy,
    place: Place,
    entries: impl Iterator<Item = (usize, &'e QueuedAccess)>,
) -> Option<usize> {
    let key = |entry: &QueuedAccess| {
        let below = entry.start < place.sector;
        let distance = entry.start.abs_diff(place.sector);
        match policy {
            Policy::Fcfs => (false, 0),
            Policy::CLook => (below, entry.start),
            Policy::Look => (distance > 0 && below == place.upwards, distance),
            Policy::Sstf => (false, distance),
        }
    };
    entries.min_by_key(|(_, entry)| key(entry)).map(|(index, _)| index)
}

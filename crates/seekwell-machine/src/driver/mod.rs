//! The driver of a host with several devices: volumes, and a queue for each device.
//!
//! A request to a volume becomes accesses to devices; some wait for others, as new parity waits for
//! what it is made of. An access waits in its device's queue until the device takes one more.

mod elevator;
mod organisation;
mod queue;
mod station;
mod tagged;

#[cfg(test)]
mod tests;

pub use elevator::{Elevator, ElevatorParams};
pub use organisation::{Access, Organisation};
pub use queue::{Policy, Queue, QueueParams, QueuedAccess};
pub use station::Station;
pub use tagged::Tagged;

use crate::part::Part;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// A request to a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Its number, unlike that of any other not done.
    pub id: u32,
    /// The volume.
    pub volume: usize,
    /// Read or write.
    pub op: Op,
    /// First sector.
    pub start: u64,
    /// Sectors.
    pub sectors: u64,
    /// Whether a process waits for it.
    pub urgent: bool,
}

/// Something that is done and how long it took since it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// An access, by its device.
    Access(usize, Nanos),
    /// A request, by its number.
    Request(u32, Nanos),
}

#[derive(Debug)]
struct Job {
    request: Request,
    since: Nanos,
    accesses: Vec<Access>,
    /// Of each access, how many of those before it are not done.
    blocked: Vec<usize>,
    /// Accesses that are not done.
    left: usize,
}

/// A driver with its devices.
#[derive(Debug)]
pub struct Driver<P> {
    volumes: Vec<Organisation>,
    devices: Vec<Station<P>>,
    jobs: Vec<Option<Job>>,
    /// Whose accesses are which: job and access, by the owner of an entry.
    owners: Vec<(usize, usize)>,
    free_owners: Vec<u32>,
}

impl<P: Part> Driver<P> {
    /// A driver that has nothing to do. Each device comes with the most it is to have at once.
    pub fn new(volumes: Vec<Organisation>, devices: Vec<(P, u32)>, params: QueueParams) -> Self {
        let device = |(part, most)| Station::new(part, most, params);
        Self {
            volumes,
            devices: devices.into_iter().map(device).collect(),
            jobs: Vec::new(),
            owners: Vec::new(),
            free_owners: Vec::new(),
        }
    }

    /// When something happens by itself.
    pub fn next(&self) -> Nanos {
        self.devices.iter().map(|device| device.next()).min().unwrap_or(Nanos::MAX)
    }

    /// Takes a request, which lies within its volume.
    pub fn submit(&mut self, request: Request, now: Nanos) {
        let Request { volume, op, start, sectors, .. } = request;
        let accesses = self.volumes[volume].accesses(op, start, sectors);
        let blocked = accesses.iter().map(|access| access.after.len()).collect();
        let left = accesses.len();
        let job = Job { request, since: now, accesses, blocked, left };
        let index = self.jobs.iter().position(Option::is_none).unwrap_or(self.jobs.len());
        if index == self.jobs.len() {
            self.jobs.push(None);
        }
        let ready: Vec<usize> = (0..left).filter(|&at| job.accesses[at].after.is_empty()).collect();
        self.jobs[index] = Some(job);
        for access in ready {
            self.queue(index, access, now);
        }
    }

    /// Notes that a process now waits for a request.
    pub fn raise(&mut self, id: u32) {
        let of = |job: &&mut Job| job.request.id == id;
        let Some(job) = self.jobs.iter_mut().flatten().find(of) else { return };
        job.request.urgent = true;
        for (owner, &(index, _)) in self.owners.iter().enumerate() {
            if self.jobs[index].as_ref().is_some_and(|job| job.request.id == id) {
                for device in &mut self.devices {
                    device.raise(owner as u32);
                }
            }
        }
    }

    /// Lets time pass and appends what is done.
    pub fn advance(&mut self, now: Nanos, ended: &mut Vec<Ended>) {
        for index in 0..self.devices.len() {
            if self.devices[index].next() > now {
                continue;
            }
            let mut entries = Vec::new();
            self.devices[index].advance(now, &mut entries);
            for (owner, since) in entries.into_iter().flat_map(|entry| entry.owners) {
                ended.push(Ended::Access(index, now.since(since)));
                self.end(owner, now, ended);
            }
            self.devices[index].issue(now);
        }
    }

    fn queue(&mut self, job: usize, access: usize, now: Nanos) {
        let Some(Job { request, accesses, .. }) = &self.jobs[job] else { return };
        let Access { device, op, start, sectors, .. } = accesses[access];
        let urgent = request.urgent;
        let owner = self.free_owners.pop().unwrap_or(self.owners.len() as u32);
        match self.owners.get_mut(owner as usize) {
            Some(place) => *place = (job, access),
            None => self.owners.push((job, access)),
        }
        let entry = QueuedAccess { urgent, ..QueuedAccess::new(owner, op, start, sectors, now) };
        self.devices[device].add(entry, now);
    }

    /// An access is done: those that waited for it may go, or the request is done.
    fn end(&mut self, owner: u32, now: Nanos, ended: &mut Vec<Ended>) {
        let (index, access) = self.owners[owner as usize];
        self.free_owners.push(owner);
        let Some(job) = &mut self.jobs[index] else { return };
        job.left -= 1;
        if job.left == 0 {
            ended.push(Ended::Request(job.request.id, now.since(job.since)));
            self.jobs[index] = None;
            return;
        }
        let mut ready = Vec::new();
        for (other, blocked) in job.accesses.iter().zip(&mut job.blocked).enumerate() {
            let (waiting, blocked) = blocked;
            if waiting.after.contains(&access) {
                *blocked -= 1;
                if *blocked == 0 {
                    ready.push(other);
                }
            }
        }
        for access in ready {
            self.queue(index, access, now);
        }
    }
}

//! A device and what waits for it.

use super::queue::{Queue, QueueParams, QueuedAccess};
use crate::part::{Command, Done, Part};
use seekwell_io::units::Nanos;

const SECTOR: u64 = 512;

/// A device, its queue, and what it has been given.
#[derive(Debug)]
pub struct Station<P> {
    part: P,
    queue: Queue,
    /// What is at the device, by tag.
    inside: Vec<Option<QueuedAccess>>,
    finished: Vec<Done>,
}

impl<P: Part> Station<P> {
    /// A device that is to have no more than `most` at once.
    pub fn new(part: P, most: u32, params: QueueParams) -> Self {
        let most = most.min(part.depth()).max(1);
        let inside = (0..most).map(|_| None).collect();
        Self { part, queue: Queue::new(params), inside, finished: Vec::new() }
    }

    /// The device.
    pub const fn part(&self) -> &P {
        &self.part
    }

    /// When something happens there.
    pub fn next(&self) -> Nanos {
        self.part.next()
    }

    /// Whether nothing waits and nothing is at the device.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.inside.iter().all(Option::is_none)
    }

    /// Makes what that owner waits for urgent.
    pub fn raise(&mut self, owner: u32) {
        self.queue.raise(owner);
    }

    /// Puts an entry in the queue, and gives the device as much as it is to have.
    pub fn add(&mut self, entry: QueuedAccess, now: Nanos) {
        self.queue(entry);
        self.issue(now);
    }

    /// Puts an entry in the queue.
    pub fn queue(&mut self, entry: QueuedAccess) {
        self.queue.add(entry);
    }

    /// Entries in the queue.
    pub const fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Gives the device as much as it is to have.
    pub fn issue(&mut self, now: Nanos) {
        while let Some(tag) = self.inside.iter().position(Option::is_none)
            && let Some(entry) = self.queue.take(now)
        {
            let (offset, len) = (entry.start * SECTOR, (entry.sectors * SECTOR) as u32);
            let QueuedAccess { op, durable, .. } = entry;
            let command = Command { tag: tag as u32, op, offset, len, durable };
            self.inside[tag] = Some(entry);
            self.part.submit(command, now);
        }
    }

    /// Lets time pass and appends what is done. Nothing new is given to the device before
    /// [`Station::issue`], so that what follows from the ends can stand in the queue first.
    pub fn advance(&mut self, now: Nanos, ended: &mut Vec<QueuedAccess>) {
        self.part.advance(now, &mut self.finished);
        for done in self.finished.drain(..) {
            let entry = self.inside[done.tag as usize].take();
            debug_assert!(entry.is_some(), "the device ended a command that it was not given");
            ended.extend(entry);
        }
    }
}

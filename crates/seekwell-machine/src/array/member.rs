//! A member of an array and what waits for it.

use crate::part::{Command, Done, Part};
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The order in which a member gets what waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As it came (FCFS).
    Arrival,
    /// Upwards by offset from the last one on, and then again from the lowest (C-LOOK).
    Upwards,
}

/// One access to a member on behalf of a job.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// For whom.
    pub job: u32,
    /// What to do.
    pub op: Op,
    /// First byte on the member.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// Whether a write is to be durable when it is done.
    pub durable: bool,
}

/// A member and its queue.
#[derive(Debug)]
pub struct Member<P> {
    part: P,
    order: Order,
    waiting: VecDeque<Access>,
    /// Tags that are not at the part.
    free: Vec<u32>,
    /// The job of each tag that is.
    jobs: Vec<u32>,
    /// Where the last access given ends.
    position: u64,
}

impl<P: Part> Member<P> {
    /// A member with nothing to do.
    pub fn new(part: P, order: Order) -> Self {
        // More at once would only lengthen the drive's own search for the next.
        let depth = part.depth().min(256);
        Self {
            part,
            order,
            waiting: VecDeque::new(),
            free: (0..depth).rev().collect(),
            jobs: vec![0; depth as usize],
            position: 0,
        }
    }

    /// The drive, or what is in its place.
    pub const fn part(&self) -> &P {
        &self.part
    }

    /// When something happens there.
    pub fn next(&self) -> Nanos {
        self.part.next()
    }

    /// Accesses that are waiting or at work.
    pub fn load(&self) -> usize {
        self.waiting.len() + self.jobs.len() - self.free.len()
    }

    /// How far a byte is from where the last access given ends.
    pub const fn distance(&self, offset: u64) -> u64 {
        self.position.abs_diff(offset)
    }

    /// Puts an access in the queue.
    pub fn queue(&mut self, access: Access) {
        self.waiting.push_back(access);
    }

    /// Gives the part as much as it takes.
    pub fn issue(&mut self, now: Nanos) {
        while let (false, Some(tag)) = (self.waiting.is_empty(), self.free.last().copied()) {
            let Some(access) = self.waiting.remove(self.first()) else { return };
            self.free.pop();
            self.jobs[tag as usize] = access.job;
            self.position = access.offset + u64::from(access.len);
            let Access { op, offset, len, durable, .. } = access;
            self.part.submit(Command { tag, op, offset, len, durable }, now);
        }
    }

    /// Which of those that wait is next.
    fn first(&self) -> usize {
        match self.order {
            Order::Arrival => 0,
            Order::Upwards => {
                let key = |access: &Access| (access.offset < self.position, access.offset);
                let best = self.waiting.iter().enumerate().min_by_key(|(_, access)| key(access));
                best.map_or(0, |(index, _)| index)
            }
        }
    }

    /// Lets time pass and appends what is done, each with its job in place of its tag.
    pub fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        let before = done.len();
        self.part.advance(now, done);
        for end in &mut done[before..] {
            self.free.push(end.tag);
            end.tag = self.jobs[end.tag as usize];
        }
    }
}

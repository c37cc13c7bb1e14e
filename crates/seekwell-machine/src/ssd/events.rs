//! What happens when.

use seekwell_io::units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    Sensed(u32),
    Sent(u32),
    Worked(u32),
    /// Writes may go into the buffer again.
    Open,
    /// The host has given nothing for a while.
    Idle,
    /// A command, by its place in the table, is done.
    Done(u32),
}

/// What will happen, in order of time and, at the same time, in the order it was arranged.
#[derive(Debug, Default)]
pub struct Events {
    heap: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    last: u64,
}

impl Events {
    /// Arranges an event; returns its number, which is never 0.
    pub fn arrange(&mut self, at: Nanos, event: Event) -> u64 {
        self.last += 1;
        self.heap.push(Reverse((at, self.last, event)));
        self.last
    }

    /// When the first is.
    pub fn next(&self) -> Nanos {
        self.heap.peek().map_or(Nanos::MAX, |Reverse((at, ..))| *at)
    }

    /// The first, with its number.
    pub fn pop(&mut self) -> Option<(Nanos, u64, Event)> {
        self.heap.pop().map(|Reverse(first)| first)
    }
}

//! What each device has under way besides requests with a place.

use std::collections::VecDeque;

/// Most that a device's lists keep; what is older ended unseen.
pub(super) const MOST_PENDING: usize = 4096;

/// What a device has under way besides requests with a place.
#[derive(Debug, Default)]
pub(super) struct DeviceState {
    /// The disk it is a part of.
    pub disk: Option<u32>,
    /// Whether requests were ever queued on it.
    pub queues: bool,
    /// Whether any were issued.
    pub issues: bool,
    /// Flushes queued, not issued.
    pub waiting: VecDeque<u64>,
    /// Flushes issued.
    pub flying: VecDeque<Flight>,
    /// Flushes done whose own completion has not come yet.
    pub ending: VecDeque<u64>,
    /// Data done whose flush is not, by first byte.
    pub held: VecDeque<(u64, u64)>,
    /// Commands that are not reads or writes, issued.
    pub passed_through: VecDeque<u64>,
    /// First bytes of discards merged into others.
    pub merged_discards: VecDeque<u64>,
}

#[derive(Debug)]
pub(super) struct Flight {
    /// Its own record, if it is not that of the one request it serves.
    pub own: Option<u64>,
    /// The records of the requests it serves.
    pub serves: Vec<u64>,
}

impl DeviceState {
    /// Lets go of what the window no longer holds.
    pub fn sweep(&mut self, live: impl Fn(u64) -> bool) {
        for list in [&mut self.waiting, &mut self.ending, &mut self.passed_through] {
            list.retain(|&owner| live(owner));
        }
        self.held.retain(|&(_, owner)| live(owner));
        self.flying.retain(|flight| {
            flight.own.into_iter().chain(flight.serves.last().copied()).any(&live)
        });
        self.merged_discards.clear();
    }

    pub fn hold(&mut self, offset: u64, owner: u64) {
        if self.held.len() >= MOST_PENDING {
            self.held.pop_front();
        }
        self.held.push_back((offset, owner));
    }
}

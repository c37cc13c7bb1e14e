//! Commands that wait for the arm, and which is next.

use super::Hdd;
use super::mechanics::Position;

/// What a waiting command waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitsFor {
    /// The arm, to read.
    Read,
    /// The arm, to write before it is done.
    Through,
    /// Room in the buffer.
    Buffered,
    /// The buffer to be written.
    Flush,
}

/// A command that could not be done at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub tag: u32,
    pub kind: WaitsFor,
    /// First sector.
    pub start: u64,
    /// The sector after the last.
    pub end: u64,
    pub arrived: u64,
    /// Where the first sector is.
    pub position: Position,
    /// When in a revolution the first sector begins to pass.
    pub phase: u64,
}

impl Waiting {
    pub const fn flush(tag: u32, arrived: u64) -> Self {
        let position = Position { cylinder: 0, head: 0 };
        Self { tag, kind: WaitsFor::Flush, start: 0, end: 0, arrived, position, phase: 0 }
    }

    /// Sectors.
    pub const fn sectors(&self) -> u64 {
        self.end - self.start
    }
}

/// A command that needs the buffer written goes first when it has waited this many times as long as
/// the oldest of the others. Without that, reads that are near each other keep writes out.
const LATE: u64 = 2;

impl Hdd {
    /// Which of the waiting commands the arm does next: of the oldest within the window the one
    /// with the shortest access time, less what its waiting counts. `None` when a range of the
    /// buffer is to be written first: for a flush, or because nothing else is left; for a write
    /// without room, or a read of part of the buffer, where that range is nearer or where they have
    /// waited [`LATE`] times as long as anything else.
    pub(super) fn choose(&self, now: u64) -> Option<usize> {
        if self.flushes > 0 && !self.dirty.waiting.is_empty() {
            return None;
        }
        let queue = &self.params.queue;
        let mut best = (i64::MAX, None);
        // Since when commands wait for the buffer to be written, and others for the arm.
        let mut blocked = None;
        let mut oldest = None;
        for (index, waiting) in self.waiting.iter().enumerate().take(queue.window as usize) {
            let write = match waiting.kind {
                WaitsFor::Read => false,
                WaitsFor::Through => true,
                WaitsFor::Buffered | WaitsFor::Flush => {
                    blocked = blocked.or(Some(waiting.arrived));
                    continue;
                }
            };
            if !self.dirty.waiting.is_empty() && self.dirty.overlaps(waiting.start, waiting.end) {
                blocked = blocked.or(Some(waiting.arrived));
                continue;
            }
            oldest = oldest.or(Some(waiting.arrived));
            let cost = self.cost(waiting, write, now);
            if cost < best.0 {
                best = (cost, Some(index));
            }
        }
        if let Some(since) = blocked
            && !self.dirty.waiting.is_empty()
        {
            let (_, access) = self.next_extent(now);
            let is_late = oldest.is_some_and(|oldest| now - since > LATE * (now - oldest));
            if best.1.is_none() || (access as i64) < best.0 || is_late {
                return None;
            }
        }
        best.1
    }

    /// How long the arm takes to a waiting command, less what its waiting counts.
    pub(super) fn cost(&self, waiting: &Waiting, write: bool, now: u64) -> i64 {
        let seek = self.mechanics.seek(self.arm.position, waiting.position, write);
        let current = now % self.mechanics.period;
        let access = self.mechanics.reach(current, seek, waiting.phase) as i64;
        let ageing = i64::from(self.params.queue.ageing_permille);
        access - (now - waiting.arrived) as i64 * ageing / 1000
    }

    /// The range of the buffer that can be written soonest, and how long it takes to get there.
    pub(super) fn next_extent(&self, now: u64) -> (usize, u64) {
        let current = now % self.mechanics.period;
        let access = |start: u64| {
            let spot = self.mechanics.geometry.locate(start);
            let to = Position { cylinder: spot.cylinder, head: spot.head };
            let seek = self.mechanics.seek(self.arm.position, to, true);
            self.mechanics.reach(current, seek, self.mechanics.phase(&spot))
        };
        let eligible = |at: u64| at.saturating_sub(now);
        let times = self.dirty.waiting.iter().enumerate();
        times
            .map(|(index, extent)| (index, access(extent.start) + eligible(extent.eligible)))
            .min_by_key(|&(_, time)| time)
            .unwrap_or((0, u64::MAX))
    }
}

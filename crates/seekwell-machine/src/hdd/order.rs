//! Commands that wait for the arm, and which is next.

use super::Hdd;
use super::mechanics::Position;

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

impl WaitsFor {
    const fn needs_arm(self) -> bool {
        matches!(self, Self::Read | Self::Through)
    }
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

/// What the arm can work for while commands wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// The next of a sequential stream.
    Run = 0,
    /// Other commands that need the arm.
    Queue = 1,
    /// Writing the buffer, for which a command waits.
    Buffer = 2,
}

/// A sequential stream: what has been read or written last, and what goes on from there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    writes: bool,
    /// The sector where it goes on.
    end: u64,
    /// Sectors after that in which a full queue of it lies.
    reach: u64,
}

impl Run {
    /// No stream yet.
    pub const NONE: Self = Self { writes: false, end: 0, reach: 0 };

    /// A stream that a command begins or continues.
    pub fn after(done: &Waiting, window: u32) -> Self {
        let reach = done.sectors() * u64::from(window);
        Self { writes: done.kind == WaitsFor::Through, end: done.end, reach }
    }

    /// Whether a command that needs the arm belongs to it.
    fn holds(&self, next: &Waiting) -> bool {
        next.start.wrapping_sub(self.end) < self.reach
            && self.writes == (next.kind == WaitsFor::Through)
    }

    /// Whether a command is the next of it.
    pub fn continues_with(&self, next: &Waiting) -> bool {
        next.start == self.end && next.kind.needs_arm() && self.holds(next)
    }
}

/// What the arm works for, and since when others have waited for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    work: Work,
    since: u64,
}

impl Turn {
    /// Before any command.
    pub const FIRST: Self = Self { work: Work::Queue, since: 0 };

    /// The same work until its turn is over, then the next that there is; `None` if there is
    /// none.
    fn next(&self, exists: [bool; 3], mean_access: u64, now: u64) -> Option<Work> {
        let ring = [Work::Run, Work::Queue, Work::Buffer];
        let is_over = now - self.since >= TURNS[self.work as usize] * mean_access;
        let from = self.work as usize + usize::from(is_over);
        (from..from + 3).map(|at| ring[at % 3]).find(|work| exists[*work as usize])
    }
}

/// Mean access times of a turn, by [`Work`]. Leaving a stream and coming back takes two. Somebody
/// waits for every read, and for a write only when the buffer is full: the queue has half as much
/// again as the buffer.
const TURNS: [u64; 3] = [2, 3, 2];

impl Hdd {
    /// Which of the waiting commands the arm does next. `None` when a range of the buffer is to be
    /// written first.
    ///
    /// A flush writes the whole buffer before anything else is done. Otherwise the arm takes turns
    /// between a sequential stream, in its order; the other commands of the window, the one with
    /// the shortest access time less what its waiting counts first; and the buffer, where a command
    /// waits for room in it. So none of the three keeps another out, however many of its commands
    /// wait and however near they are. How a firmware balances them is not published; shares of its
    /// time are the simplest rule by which reads and writes both go on.
    pub(super) fn choose(&mut self, now: u64) -> Option<usize> {
        let dirty = !self.dirty.waiting.is_empty();
        if self.flushes > 0 && dirty {
            return None;
        }
        let mut run = None;
        // Of the stream but not its next, and of all others.
        let (mut later, mut best) = ((i64::MAX, None), (i64::MAX, None));
        let mut blocked = false;
        let window = self.params.queue.window as usize;
        let phase = now % self.mechanics.period;
        for (index, waiting) in self.waiting.iter().enumerate().take(window) {
            let overlaps = || dirty && self.dirty.overlaps(waiting.start, waiting.end);
            if !waiting.kind.needs_arm() || overlaps() {
                blocked = dirty;
                continue;
            }
            let least = match self.run.holds(waiting) {
                false => &mut best,
                true if waiting.start != self.run.end => &mut later,
                true => {
                    run = run.or(Some(index));
                    continue;
                }
            };
            let cost = self.cost(waiting, now, phase);
            if cost < least.0 {
                *least = (cost, Some(index));
            }
        }
        if run.is_none() && later.0 < best.0 {
            best = later;
        }
        let exists = [run.is_some(), best.1.is_some(), blocked];
        let work = self.turn.next(exists, self.mechanics.mean_access, now)?;
        let is_contested = exists.into_iter().filter(|exists| *exists).count() > 1;
        if work != self.turn.work || !is_contested {
            self.turn = Turn { work, since: now };
        }
        let index = match work {
            Work::Run => run,
            Work::Queue => best.1,
            Work::Buffer => return None,
        };
        // A stream that waits for its turn is kept.
        if let Some(index) = index.filter(|_| work == Work::Run || run.is_none()) {
            self.run = Run::after(&self.waiting[index], self.params.queue.window);
        }
        index
    }

    /// How long the arm takes to a waiting command from now, at that phase of the revolution, less
    /// what its waiting counts.
    #[inline]
    pub(super) fn cost(&self, waiting: &Waiting, now: u64, phase: u64) -> i64 {
        let write = waiting.kind != WaitsFor::Read;
        let seek = self.mechanics.seek(self.arm.position, waiting.position, write);
        let access = self.mechanics.reach(phase, seek, waiting.phase) as i64;
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

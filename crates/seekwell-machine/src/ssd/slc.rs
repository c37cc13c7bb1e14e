//! Flash that is programmed one bit a cell: a cache of writes.
//!
//! A piece of log goes to it while it has room, which is fast; once it is full, pieces go to the
//! dense flash. When no command has come for a while, the dies fold it: they read its pieces and
//! program them again in the dense flash, until the next command comes. The log (see `ftl`) counts
//! addresses and knows nothing of this; what is overwritten or discarded meanwhile is folded all
//! the same.

use super::params::SsdParams;
use seekwell_io::units::Nanos;

/// The cache. Without capacity it takes nothing.
#[derive(Debug)]
pub struct Slc {
    /// Pieces that fit, that it holds, and, of those, that are being folded.
    capacity: u64,
    held: u64,
    folding: u64,
    /// Pieces folded so far.
    folded: u64,
    /// How long no command must come before anything is folded.
    idle: Nanos,
    /// When the last command was done; [`Nanos::MAX`] while there are any.
    resting_since: Nanos,
    /// An event will look whether that time has passed.
    watched: bool,
    /// It has passed, and no command came since.
    folds: bool,
}

impl Slc {
    /// An empty cache.
    pub fn new(params: &SsdParams) -> Self {
        let capacity = params.slc.map_or(0, |slc| slc.bytes / params.piece_bytes());
        Self {
            capacity,
            held: 0,
            folding: 0,
            folded: 0,
            idle: Nanos(params.slc.map_or(0, |slc| slc.idle_ns)),
            resting_since: Nanos::ZERO,
            watched: false,
            folds: false,
        }
    }

    /// Whether there is room for a piece, which it then holds.
    pub const fn take(&mut self) -> bool {
        let room = self.held < self.capacity;
        self.held += room as u64;
        room
    }

    /// A command came.
    pub const fn wake(&mut self) {
        self.resting_since = Nanos::MAX;
        self.folds = false;
    }

    /// The last command is done. Returns when to call [`Self::look`], unless that is arranged.
    pub fn rest(&mut self, now: Nanos) -> Option<Nanos> {
        self.resting_since = now;
        let arranges = self.held > self.folding && !self.watched;
        self.watched |= arranges;
        arranges.then(|| now + self.idle)
    }

    /// Begins to fold if no command came for long enough. Returns when to look again, where that is
    /// still to come.
    pub fn look(&mut self, now: Nanos) -> Option<Nanos> {
        let resting = self.resting_since != Nanos::MAX;
        let due = if resting { self.resting_since + self.idle } else { Nanos::MAX };
        self.folds = due <= now;
        self.watched = resting && !self.folds;
        self.watched.then_some(due)
    }

    /// Whether a piece is to be folded now, which it then is.
    pub const fn fold(&mut self) -> bool {
        let folds = self.folds && self.held > self.folding;
        self.folding += folds as u64;
        folds
    }

    /// A piece is folded.
    pub const fn folded_one(&mut self) {
        self.folding -= 1;
        self.held -= 1;
        self.folded += 1;
    }

    /// Pieces folded so far.
    pub const fn folded(&self) -> u64 {
        self.folded
    }
}

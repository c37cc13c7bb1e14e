//! Recorded times, and when requests are due on the clock of a replay.

use crate::record::{Record, Stamp};
use seekwell_io::units::Nanos;

/// Which recorded time counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// When requests were made (Q); the target's own scheduler does its work again.
    Queue,
    /// When the device got them (D).
    Issue,
}

impl Moment {
    /// Its word in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Issue => "issue",
        }
    }

    /// The time of a record: this moment's, or the other where this one was not recorded.
    pub fn of(self, record: &Record) -> Stamp {
        match self {
            Self::Queue => record.queued.or(record.issued),
            Self::Issue => record.issued.or(record.queued),
        }
    }
}

/// Measuring begins this much before the first request is due.
const EARLY: Nanos = Nanos::from_millis(1);

/// Whether a replay whose first request is due at `base` is not measured yet. A program that is
/// held up meanwhile begins later, and still before its first request.
pub(super) fn is_early(base: Nanos, now: Nanos) -> bool {
    now + EARLY < base
}

/// When a request that was wanted `at` after the start is due, at `speed` times the recorded one.
pub(super) fn due(base: Nanos, at: Nanos, speed: f64) -> Nanos {
    if speed == 1.0 {
        return base + at;
    }
    base + Nanos((at.0 as f64 / speed).round() as u64)
}

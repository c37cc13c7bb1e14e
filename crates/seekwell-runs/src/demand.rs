//! What a program demands of its disk, as bounds on metrics, and whether a target keeps them.

use crate::spread::Spread;
use serde::{Deserialize, Serialize};

/// What a program demands of its disk, and whether the target meets it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// The demand's name: `etcd`.
    pub name: String,
    /// Whose demand it is, in a line.
    pub title: String,
    /// Where its load and its bounds come from.
    pub sources: Vec<String>,
    pub bounds: Vec<Bound>,
    pub verdict: DemandVerdict,
}

/// A bound on a metric of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    pub job: String,
    /// The metric's name: `flush.latency_ns_p99`.
    pub metric: String,
    pub side: Side,
    /// In the metric's unit.
    pub bound: f64,
    /// What happens otherwise.
    pub why: String,
    /// The metric of each valid run, in order; empty if one of them lacks it.
    pub values: Vec<f64>,
    /// Whether most runs keep it; `None` if that is undecided.
    pub holds: Option<bool>,
}

/// On which side of a bound values should lie; the bound itself is on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    AtMost,
    AtLeast,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DemandVerdict {
    /// All bounds are kept.
    Fits,
    /// At least one bound is not kept.
    DoesNotFit,
    Undecided,
}

impl Demand {
    /// The bound with the least room, and how much that is; `None` if no bound has a value.
    pub fn tightest(&self) -> Option<(&Bound, f64)> {
        let rooms = self.bounds.iter().filter_map(|bound| Some((bound, bound.room()?)));
        rooms.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

impl Bound {
    /// Whether a value keeps it.
    pub fn keeps(&self, value: f64) -> bool {
        match self.side {
            Side::AtMost => value <= self.bound,
            Side::AtLeast => value >= self.bound,
        }
    }

    /// The median value; `None` if nothing has been measured.
    pub fn median(&self) -> Option<f64> {
        Some(Spread::of(&self.values)?.median)
    }

    /// How many times better than the bound the median value is; less than 1 is worse. `None` if
    /// there is no value, or it is zero.
    pub fn room(&self) -> Option<f64> {
        let room = match self.side {
            Side::AtMost => self.bound / self.median()?,
            Side::AtLeast => self.median()? / self.bound,
        };
        (room.is_finite() && room > 0.0).then_some(room)
    }
}

impl DemandVerdict {
    /// In words: `fits`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::DoesNotFit => "does not fit",
            Self::Undecided => "undecided",
        }
    }

    /// The verdict that follows from the bounds.
    pub fn of(bounds: &[Bound]) -> Self {
        if bounds.iter().any(|bound| bound.holds == Some(false)) {
            Self::DoesNotFit
        } else if bounds.iter().all(|bound| bound.holds == Some(true)) {
            Self::Fits
        } else {
            Self::Undecided
        }
    }
}

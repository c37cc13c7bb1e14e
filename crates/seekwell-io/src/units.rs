//! Units as types, so that bytes, nanoseconds and counts cannot be mixed up.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

/// Nanoseconds: a point on a target's own clock or a span of it. Integer, so models stay exact.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The beginning of a clock, or an empty span.
    pub const ZERO: Self = Self(0);
    /// Later than any time that occurs.
    pub const MAX: Self = Self(u64::MAX);

    /// Whole milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }

    /// Whole microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Self(us * 1_000)
    }

    /// Seconds, rounded to the nanosecond; negative and absurd values become the nearest legal one.
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * 1e9).round() as u64)
    }

    /// The span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span from `earlier` to `self`, zero when it is not earlier.
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl From<Duration> for Nanos {
    fn from(d: Duration) -> Self {
        Self(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(n: Nanos) -> Self {
        Self::from_nanos(n.0)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 as f64;
        match self.0 {
            0..1_000 => write!(f, "{} ns", self.0),
            1_000..1_000_000 => write!(f, "{} µs", three_digits(ns / 1e3)),
            1_000_000..1_000_000_000 => write!(f, "{} ms", three_digits(ns / 1e6)),
            _ => write!(f, "{} s", three_digits(ns / 1e9)),
        }
    }
}

/// A number with three significant digits, no exponent and no trailing zeros lost: `1.25`, `87.3`,
/// `950`.
pub fn three_digits(x: f64) -> String {
    match x.abs() {
        a if a >= 99.95 => format!("{x:.0}"),
        a if a >= 9.995 => format!("{x:.1}"),
        _ => format!("{x:.2}"),
    }
}

/// Time left, rounded up to whole seconds or minutes.
pub fn seconds(left: Nanos) -> String {
    match left.as_secs_f64().ceil() as u64 {
        s @ 0..120 => format!("{s} s"),
        s => format!("{} min", s.div_ceil(60)),
    }
}

//! The numbers that a program needs: by its own method, and of a device that has settled.

use crate::slowdown::{FastCause, Slowdown};
use seekwell_io::units::Nanos;
use serde::{Deserialize, Serialize};

/// The numbers that a program needs, measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The calibration's name: `scylla`.
    pub name: String,
    /// Which program reads what, in a line.
    pub title: String,
    /// Where the program's own method and the form of the text come from.
    pub sources: Vec<String>,
    pub quantities: Vec<Quantity>,
    /// The target is a cloud volume and no rate has fallen: burst credits may outlast the
    /// measurement.
    pub credits_may_last: bool,
    /// What the program reads, with the steady numbers; `None` unless all of them are known.
    pub text: Option<String>,
}

/// One of the numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// What it is called in the text: `read_iops`.
    pub name: String,
    pub job: String,
    /// The metric's name: `read.requests_per_s`.
    pub metric: String,
    /// The part of a run that the program itself measures; `None` if it does not measure this.
    pub own_part: Option<Beginning>,
    /// The mean over that part of each valid run.
    pub own: Vec<f64>,
    /// The metric of each valid run once the device has settled: of rates, that of the second half.
    pub settled: Vec<f64>,
    /// Runs before the first of those that agree; they do not count.
    pub skipped_runs: u32,
    pub state: QuantityState,
    /// The mean of the runs that count.
    pub steady: Option<SteadyValue>,
    /// Where a rate first fell and stayed low within a run.
    pub fall: Option<Fall>,
}

/// The part of a run from its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Beginning {
    /// A time in nanoseconds.
    Ns(Nanos),
    /// A number of requests.
    Requests(u64),
}

/// How well a quantity is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuantityState {
    /// The device has settled, and the interval is narrow.
    Known,
    /// Too few runs gave it.
    Missing,
    /// The runs do not agree, or the rate still changes within them.
    Unsettled,
    /// The interval is wide.
    Vague,
}

/// A mean with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SteadyValue {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

/// A fall of the rate within a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fall {
    /// The run's number, from 0.
    pub run: u32,
    pub slowdown: Slowdown,
    /// Bytes that the run had moved by then.
    pub moved_bytes: u64,
    pub cause: FastCause,
}

impl Quantity {
    /// The steady value, if it is known.
    pub fn known(&self) -> Option<SteadyValue> {
        self.steady.filter(|_| self.state == QuantityState::Known)
    }

    /// The program's own number of the first run over the steady one; `None` if the steady interval
    /// includes it.
    pub fn own_differs(&self) -> Option<f64> {
        let (own, steady) = (*self.own.first()?, self.steady?);
        let is_inside = (steady.low..=steady.high).contains(&own);
        (!is_inside).then(|| own / steady.mean)
    }
}

impl SteadyValue {
    /// Half the interval over the mean.
    pub fn reach(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.mean
    }
}

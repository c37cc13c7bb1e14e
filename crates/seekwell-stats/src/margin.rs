//! What difference would matter, declared before the first run, and which direction is good.

use serde::{Deserialize, Serialize};

/// Which direction of a metric is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Rates.
    Higher,
    /// Latencies, time, CPU.
    Lower,
}

/// A value that is not a margin.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a margin has to be above 0 and below 1, not {fraction}")]
pub struct MarginError {
    /// What was given.
    pub fraction: f64,
}

/// The smallest difference that matters, as a fraction: 0.02 is ±2 %. On the log scale it is
/// symmetric, ±ln(1 + m), so that it does not matter which setting is called A.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Margin(f64);

impl Margin {
    /// Default for rates: ±2 %.
    pub const THROUGHPUT: Self = Self(0.02);
    /// Default for the 99th percentile of latency: ±5 %.
    pub const P99: Self = Self(0.05);

    /// A margin of `fraction`, strictly between 0 and 1.
    ///
    /// # Errors
    /// [`MarginError`] when it is not.
    pub fn new(fraction: f64) -> Result<Self, MarginError> {
        if fraction > 0.0 && fraction < 1.0 {
            Ok(Self(fraction))
        } else {
            Err(MarginError { fraction })
        }
    }

    /// As a fraction.
    pub fn fraction(self) -> f64 {
        self.0
    }

    /// In per cent.
    pub fn percent(self) -> f64 {
        self.0 * 100.0
    }

    /// As the bound of a log ratio, ln(1 + m).
    pub fn log(self) -> f64 {
        self.0.ln_1p()
    }
}

impl TryFrom<f64> for Margin {
    type Error = MarginError;

    fn try_from(fraction: f64) -> Result<Self, MarginError> {
        Self::new(fraction)
    }
}

impl From<Margin> for f64 {
    fn from(margin: Margin) -> Self {
        margin.0
    }
}

impl std::fmt::Display for Margin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Rounded to a thousandth of a per cent, so that 0.07 is not 7.000000000000001.
        write!(f, "±{} %", (self.percent() * 1000.0).round() / 1000.0)
    }
}

//! What a description says of its own error.

use serde::{Deserialize, Serialize};

/// How far a machine is from the measurements it was fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Misfit {
    /// By how much rates and mean times may be wrong, in percent.
    pub error_percent: f64,
    /// By how much the high percentiles of times may be wrong, in percent.
    pub tail_error_percent: f64,
    /// The most requests outstanding in any of them: of deeper queues the error says nothing.
    pub depth: u32,
    /// The same of those that wrote; 0 if none did.
    pub write_depth: u32,
}

impl Misfit {
    /// Whether such an error can be; else the key of the one that cannot.
    ///
    /// # Errors
    /// The key.
    pub fn check(&self) -> Result<(), &'static str> {
        let legal = |percent: f64| (0.0..=1000.0).contains(&percent);
        match (legal(self.error_percent), legal(self.tail_error_percent)) {
            (false, _) => Err("error_percent"),
            (_, false) => Err("tail_error_percent"),
            _ => Ok(()),
        }
    }
}

//! What the host does with requests before the first part sees them, and what its processor takes.

use crate::limits::{OutOfRange, within};
use seekwell_io::dispatch::TagPolicy;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A host: its driver's queue and its own speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostParams {
    /// The rule by which waiting requests get tags; none leaves that to the controller.
    #[serde(default)]
    pub tags: Option<TagPolicy>,
    /// Tags that the driver hands out: those of the device, less what it keeps back.
    #[serde(default = "openings")]
    pub openings: u32,
    /// Processor time of things that a workload does beside its requests, in nanoseconds each.
    #[serde(default)]
    pub work_ns: BTreeMap<String, f64>,
}

/// Commands a SATA drive takes.
const fn openings() -> u32 {
    32
}

impl HostParams {
    /// No rule of its own.
    pub const PLAIN: Self = Self { tags: None, openings: openings(), work_ns: BTreeMap::new() };

    /// Whether such a host can be.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        within("openings", self.openings, 1..=65_535)
    }
}

impl Default for HostParams {
    fn default() -> Self {
        Self::PLAIN
    }
}

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
    /// Bytes of the requests that the kernel makes of a stream through the page cache.
    #[serde(default = "request_bytes")]
    pub request_bytes: u32,
    /// Of those, how many it keeps outstanding for a reader.
    #[serde(default = "read_ahead")]
    pub read_ahead: u32,
    /// Processor time of things that a workload does beside its requests, in nanoseconds each.
    #[serde(default)]
    pub work_ns: BTreeMap<String, f64>,
}

/// Commands a SATA drive takes.
const fn openings() -> u32 {
    32
}

/// Linux's default, `queue/read_ahead_kb`.
const fn request_bytes() -> u32 {
    128 << 10
}

/// What a reader waits for, and the window ahead of it.
const fn read_ahead() -> u32 {
    2
}

impl HostParams {
    /// No rule of its own.
    pub const PLAIN: Self = Self {
        tags: None,
        openings: openings(),
        request_bytes: request_bytes(),
        read_ahead: read_ahead(),
        work_ns: BTreeMap::new(),
    };

    /// Whether such a host can be.
    ///
    /// # Errors
    /// [`OutOfRange`] with the first field that is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        within("openings", self.openings, 1..=65_535)?;
        within("request_bytes", self.request_bytes, 512..=(64 << 20))?;
        within("read_ahead", self.read_ahead, 1..=1024)
    }
}

impl Default for HostParams {
    fn default() -> Self {
        Self::PLAIN
    }
}

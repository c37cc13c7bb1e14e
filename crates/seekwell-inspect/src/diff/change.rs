//! One difference.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// What it is, for people: `driver`, `queue depth`, `SATA link speed`.
    pub what: String,
    /// Where it stands in the document of a device, a file system or the host:
    /// `device.queue.queue_depth`.
    pub key: String,
    /// The device, by its name before, else after; `None` for the machine and its file systems.
    pub device: Option<String>,
    /// As it was; `None` if it was not there or not known.
    pub before: Option<String>,
    pub after: Option<String>,
    pub from_before: Option<String>,
    pub from_after: Option<String>,
    /// Whether it may change how fast a disk is or what it risks; names and places do not.
    pub matters: bool,
}

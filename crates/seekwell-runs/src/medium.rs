//! What was measured on.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Medium {
    /// A temporary file of the program's own.
    TemporaryFile {
        directory: String,
        size_bytes: u64,
        /// Whether the file system let it past the page cache.
        direct: bool,
    },
    /// A device or file of the user's, read only.
    ReadOnly {
        /// Bytes that were in reach.
        size_bytes: u64,
        /// Whether it could be read past the page cache.
        direct: bool,
        /// The device below, where the target is a directory that has no place for a temporary
        /// file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
    },
    /// A device that was given to be destroyed.
    Destroyed {
        /// Its identity, as the user named it.
        serial: String,
        size_bytes: u64,
        /// Whether it was driven past the page cache.
        direct: bool,
        /// How much of it was looked at for data of others before it was overwritten: all of that
        /// was zero, written by seekwell, or accepted. Unknown in runs of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        looked_at_bytes: Option<u64>,
    },
    Null,
    Machine {
        title: String,
        /// Bytes that can be addressed.
        size_bytes: u64,
        /// What was made different from its description: `controller.kind=ide`.
        set: Vec<String>,
        /// By how much rates, means and medians may be wrong, in percent, where the machine was
        /// fitted to a disk.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model_error_percent: Option<f64>,
        /// The same of higher percentiles.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model_tail_error_percent: Option<f64>,
        /// The most requests outstanding in what it was fitted to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model_depth: Option<u32>,
        /// The most requests outstanding in what of that wrote; 0 where nothing did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model_write_depth: Option<u32>,
    },
}

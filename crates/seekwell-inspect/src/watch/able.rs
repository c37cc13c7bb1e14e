//! Whether a disk can be plugged in, and why.

use serde::Serialize;
use std::path::PathBuf;

/// Whether a disk that is plugged in is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Able {
    Yes,
    Maybe,
    No,
    /// It is unknown.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HotPlug {
    /// Its address or name: `0000:00:1f.2`, `mmc0`, `slot 3`.
    pub controller: String,
    pub what: String,
    /// The answer; where its ports differ it is [`Able::Maybe`].
    pub able: Able,
    /// Why, in words, and what helps.
    pub why: String,
    pub from: String,
    /// The same of each of its ports, where the kernel shows them.
    pub ports: Vec<HotPlugPort>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HotPlugPort {
    /// The kernel's name: `ata2`, `usb1-port3`.
    pub port: String,
    pub disks: Vec<String>,
    pub able: Able,
    /// Why, in words, and what helps.
    pub why: String,
    pub from: String,
}

/// An answer with its reason, and with the file that decided it, if there is one.
pub(super) type Judgement = (Able, String, Option<PathBuf>);

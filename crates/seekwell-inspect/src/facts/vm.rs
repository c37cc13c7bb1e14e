//! How the kernel writes back dirty memory, and its command line.

use crate::model::Fact;
use crate::reader::Reader;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Settings of the whole machine that reach every disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct VmFacts {
    pub command_line: Option<Fact<String>>,
    /// Dirty memory at which writers have to wait, in percent; 0 when bytes are set.
    pub dirty_ratio: Option<Fact<u64>>,
    /// The same in bytes; 0 when the percentage counts.
    pub dirty_bytes: Option<Fact<u64>>,
    /// Dirty memory at which writing back starts, in percent; 0 when bytes are set.
    pub dirty_background_ratio: Option<Fact<u64>>,
    /// The same in bytes; 0 when the percentage counts.
    pub dirty_background_bytes: Option<Fact<u64>>,
    /// The age at which dirty data is written, in hundredths of a second.
    pub dirty_expire_centisecs: Option<Fact<u64>>,
    /// How often the writers wake, in hundredths of a second; 0 is never.
    pub dirty_writeback_centisecs: Option<Fact<u64>>,
    /// 0 or the seconds by which writing back is held together for a sleeping disk.
    pub laptop_mode: Option<Fact<u64>>,
}

impl VmFacts {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

pub(crate) fn read(r: &mut Reader<'_>) -> VmFacts {
    let at = |name: &str| Path::new("/proc/sys/vm").join(name);
    VmFacts {
        command_line: r.optional(Path::new("/proc/cmdline"), "kernel command line"),
        dirty_ratio: r.count(&at("dirty_ratio"), "dirty memory"),
        dirty_bytes: r.count(&at("dirty_bytes"), "dirty memory"),
        dirty_background_ratio: r.count(&at("dirty_background_ratio"), "dirty memory"),
        dirty_background_bytes: r.count(&at("dirty_background_bytes"), "dirty memory"),
        dirty_expire_centisecs: r.count(&at("dirty_expire_centisecs"), "age of dirty memory"),
        dirty_writeback_centisecs: r.count(&at("dirty_writeback_centisecs"), "write-back interval"),
        laptop_mode: r.count(&at("laptop_mode"), "laptop mode"),
    }
}

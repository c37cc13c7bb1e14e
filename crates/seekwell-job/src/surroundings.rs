//! What a job file may ask of the machine and the user's shell.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind};
use std::path::Path;

/// The longest file that is read, in bytes.
pub(crate) const MOST_BYTES: u64 = 1 << 20;

/// What a job file may ask of the machine and the user's shell.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// `$ncpus`.
    pub cpus: u64,
    /// `$mb_memory`: memory in MiB.
    pub memory_mib: u64,
    /// `$pagesize` in bytes.
    pub page_bytes: u64,
    /// For `${NAME}`.
    pub variables: BTreeMap<String, String>,
    /// Reads an included file or a pattern whole.
    pub read: fn(&Path) -> Result<Vec<u8>, Error>,
}

impl Surroundings {
    /// Those of this process. What cannot be found out is 1 CPU, 0 MiB, 4096 bytes.
    pub fn here() -> Self {
        Self {
            cpus: std::thread::available_parallelism().map_or(1, |n| n.get() as u64),
            memory_mib: seekwell_sys::memory_bytes("MemTotal").unwrap_or(0) >> 20,
            page_bytes: rustix::param::page_size() as u64,
            variables: std::env::vars_os()
                .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
                .collect(),
            read: |path| seekwell_sys::read_file(path, MOST_BYTES),
        }
    }

    /// A fixed machine that has no files: 4 CPUs, 8 GiB, pages of 4096 bytes, no variables.
    pub fn fixed() -> Self {
        Self {
            cpus: 4,
            memory_mib: 8192,
            page_bytes: 4096,
            variables: BTreeMap::new(),
            read: |_| Err(ErrorKind::NotFound.into()),
        }
    }
}

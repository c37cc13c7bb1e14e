//! The traces that ship with the program: real servers' requests, recorded for the published
//! results that rest on such traces. `traces/README.md` and the pages it names tell how.

use crate::error::TraceError;
use crate::source::TraceSource;
use crate::store;
use rustix::fs::{MemfdFlags, memfd_create};
use seekwell_access::by_descriptor;
use std::fs::File;
use std::io::Write as _;

/// A trace that ships.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shipped {
    /// Its name: `web-light`.
    pub name: &'static str,
    /// The store's file.
    pub parquet: &'static [u8],
}

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(Shipped {
            name: $name,
            parquet: include_bytes!(concat!("../../../traces/", $name, ".parquet")),
        }),*]
    };
}

/// All of them, in alphabetical order.
pub const TRACES: &[Shipped] = shipped!(
    "blog",
    "bonnie-create-random",
    "bonnie-create-seq",
    "bonnie-delete-random",
    "bonnie-delete-seq",
    "db-heavy",
    "db-light",
    "fsmark-1m",
    "sqlite-insert",
    "threaded-randwrite",
    "web-heavy",
    "web-light",
);

impl Shipped {
    /// The trace of this name.
    pub fn named(name: &str) -> Option<Self> {
        TRACES.iter().find(|trace| trace.name == name).copied()
    }

    /// Its requests.
    ///
    /// # Errors
    /// [`TraceError::Io`] where the kernel gives no memory for it.
    pub fn open(self) -> Result<Box<dyn TraceSource + Send>, TraceError> {
        let failed = |source| TraceError::Io {
            what: "unpacking",
            path: format!("{}.parquet", self.name).into(),
            source,
        };
        // A reader of stores wants a file; this one is in memory alone.
        let memory = memfd_create(self.name, MemfdFlags::CLOEXEC).map_err(|e| failed(e.into()))?;
        let mut file = File::from(memory);
        file.write_all(self.parquet).map_err(failed)?;
        store::open(&by_descriptor(&file))
    }
}

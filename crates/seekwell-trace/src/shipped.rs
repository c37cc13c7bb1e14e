//! The traces that ship with the program: real servers' requests, recorded for the published
//! results that rest on such traces. `traces/README.md` and the pages it names say how.

use crate::error::TraceError;
use crate::source::TraceSource;
use crate::store::{self, Contents};
use std::path::Path;

/// A trace that ships.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shipped {
    /// Its name: `web-light`.
    pub name: &'static str,
    /// What was recorded, in a line.
    pub title: &'static str,
    /// The store's file.
    #[cfg(not(traces_beside))]
    parquet: &'static [u8],
}

macro_rules! shipped {
    ($($name:literal: $title:literal),* $(,)?) => {
        &[$(Shipped {
            name: $name,
            title: $title,
            #[cfg(not(traces_beside))]
            parquet: include_bytes!(concat!("../../../traces/", $name, ".parquet")),
        }),*]
    };
}

/// All of them, in alphabetical order.
pub static TRACES: &[Shipped] = shipped!(
    "blog": "blogs with comments and pictures, written and read (blogbench)",
    "bonnie-create-random": "98,304 small files created in random order (bonnie++)",
    "bonnie-create-seq": "98,304 small files created one after the other (bonnie++)",
    "bonnie-delete-random": "the same files deleted in random order",
    "bonnie-delete-seq": "the same files deleted one after the other",
    "db-heavy": "a database server under heavy load (StorageMark)",
    "db-light": "a database server under light load (StorageMark)",
    "fsmark-1m": "200 files of 1 MiB, each synced (FS-Mark)",
    "sqlite-insert": "2,500 insertions, each a transaction (SQLite)",
    "threaded-randwrite": "32 threads writing 4 KiB at random (Threaded I/O)",
    "web-heavy": "a picture server under heavy load (StorageMark)",
    "web-light": "a picture server under light load (StorageMark)",
);

impl Shipped {
    /// The trace of this name.
    pub fn named(name: &str) -> Option<Self> {
        TRACES.iter().find(|trace| trace.name == name).copied()
    }

    /// The trace that a path names, `db-heavy` or `db-heavy.parquet`, if there is no such file.
    pub fn at(path: &Path) -> Option<Self> {
        let name = path.to_str()?;
        let shipped = Self::named(name.strip_suffix(".parquet").unwrap_or(name))?;
        (!path.exists()).then_some(shipped)
    }

    /// Its requests.
    ///
    /// # Errors
    /// [`TraceError::Io`] where the kernel gives no memory for it, or where the program's package
    /// keeps it beside the program and it is not there.
    pub fn open(self) -> Result<Box<dyn TraceSource + Send>, TraceError> {
        self.read(store::open)
    }

    /// What it says of itself.
    ///
    /// # Errors
    /// As for [`Shipped::open`].
    pub fn contents(self) -> Result<Option<Contents>, TraceError> {
        self.read(store::contents)
    }

    /// A reader of stores wants a file; this one is in memory alone.
    #[cfg(not(traces_beside))]
    fn read<T>(self, read: impl Fn(&Path) -> Result<T, TraceError>) -> Result<T, TraceError> {
        use rustix::fs::{MemfdFlags, memfd_create};
        use std::io::Write as _;
        let memory = memfd_create(self.name, MemfdFlags::CLOEXEC).map_err(std::io::Error::from);
        let file = memory.map(std::fs::File::from).and_then(|mut file| {
            file.write_all(self.parquet)?;
            Ok(file)
        });
        let path = format!("{}.parquet", self.name).into();
        let failed = |source| TraceError::Io { what: "unpacking", path, source };
        read(&seekwell_access::by_descriptor(&file.map_err(failed)?))
    }

    /// Packages install the traces in `share/seekwell/traces` of the prefix whose `bin` has the
    /// program.
    #[cfg(traces_beside)]
    fn read<T>(self, read: impl Fn(&Path) -> Result<T, TraceError>) -> Result<T, TraceError> {
        let failed = |source| {
            let (what, path) = ("finding the program of the built-in trace", self.name.into());
            TraceError::Io { what, path, source }
        };
        let program = std::env::current_exe().map_err(failed)?;
        let prefix = program.ancestors().nth(2).unwrap_or(Path::new("/"));
        read(&prefix.join(format!("share/seekwell/traces/{}.parquet", self.name)))
    }
}

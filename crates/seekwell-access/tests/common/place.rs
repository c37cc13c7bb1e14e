//! A directory to measure in, however full this machine's disk is.
//!
//! A temporary file is refused where it would not leave a tenth of the file system and 1 GiB free.
//! That is tested with file systems made for it; every other test needs a place with room.

use super::{Mounted, skip};
use seekwell_access::{FsSpace, GIB};
use std::path::Path;
use tempfile::TempDir;

/// What ext4 keeps for itself of a file system this small, generously.
const OVERHEAD: u64 = 128 << 20;

/// An empty directory on a disk. It is gone when this is dropped, its file system with it.
pub struct Place {
    dir: TempDir,
    _own: Option<Mounted>,
}

impl Place {
    /// With room for temporary files of `bytes` in all: where the build keeps the temporary files
    /// of tests (unlike /tmp that is never memory), or else on a file system of its own, of which
    /// only what is written takes room. None, and said, if there is no room for that either.
    pub fn with_room(bytes: u64) -> Option<Self> {
        let usual = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let space = FsSpace::of(usual).unwrap();
        if space.available_bytes >= space.reserved_bytes() + GIB + bytes {
            return Some(Self { dir: TempDir::new_in(usual).unwrap(), _own: None });
        }
        if FsSpace::of(&std::env::temp_dir()).unwrap().available_bytes < bytes + OVERHEAD {
            skip("the disk is full");
            return None;
        }
        // What one run frees may come back only after the next has asked: as much again to spare.
        let own = Mounted::ext4(2 * GIB + OVERHEAD + 2 * bytes, "rw")?;
        Some(Self { dir: TempDir::new_in(&own.point).unwrap(), _own: Some(own) })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

//! Where suites and rivals are measured: a directory of the user's, or a file system in memory.

use crate::Failure;
use crate::devices::{Ext4, Loop};
use std::path::{Path, PathBuf};

/// Size of the file system: what the largest suite writes, and what has to stay free.
const BYTES: u64 = 8 << 30;

pub enum SuiteDir {
    User(PathBuf),
    Memory(Ext4),
}

impl SuiteDir {
    /// A directory, or a file system of its own if none is named; that takes root.
    pub fn new(dir: Option<&Path>) -> Result<Self, Failure> {
        match dir {
            Some(dir) => Ok(Self::User(dir.canonicalize()?)),
            None => Ok(Self::Memory(Ext4::on(Loop::in_memory(BYTES)?)?)),
        }
    }

    pub fn dir(&self) -> &Path {
        match self {
            Self::User(dir) => dir,
            Self::Memory(ext4) => ext4.dir(),
        }
    }

    /// The directory, where it is the user's and lies on a disk.
    pub fn on_disk(&self) -> Option<&Path> {
        match self {
            Self::User(dir) => Some(dir),
            Self::Memory(_) => None,
        }
    }

    /// What it is, for the page; a path of this machine is not in it.
    pub const fn words(&self) -> &'static str {
        match self {
            Self::Memory(_) => {
                "an ext4 on a loop device over a file in memory (`hdparm`: a loop device)"
            }
            Self::User(_) => {
                "a directory of this machine's disk (`hdparm`, `fs`: on a loop device over a file)"
            }
        }
    }
}

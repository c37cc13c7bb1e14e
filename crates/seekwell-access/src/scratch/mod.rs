//! A temporary file of our own, to measure a file system with.
//!
//! It is best a file without a name (`O_TMPFILE`): then no way out, not even `kill -9`, leaves
//! anything behind. Where the file system has no such thing the name is removed at once, and where
//! that would only rename the file (NFS) or is not to be trusted (FUSE, overlay, SMB) the name
//! stays until the value is dropped, and says which process it belongs to, so that the next start
//! can distinguish a leftover from a file in use.
//!
//! It is filled with real, incompressible data. A file of holes or of preallocated extents is
//! answered from the file system's own tables, and its reads measure memory.

mod dir;
mod fill;
pub(crate) mod name;
#[cfg(test)]
mod tests;

pub use dir::ScratchDir;

use crate::error::uid;
use crate::read_only::make_direct;
use crate::space::{FsSpace, is_memory, plan_size};
use crate::{AccessError, drop_cache};
use rustix::fs::{AtFlags, FallocateFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::Resource;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// How a temporary file is to be made.
pub struct Fill<'a> {
    /// The size to try for, in bytes.
    pub wanted_bytes: u64,
    /// The smallest size that is of any use, in bytes.
    pub minimum_bytes: u64,
    /// Seed of the data. The same seed gives the same bytes.
    pub seed: u64,
    /// Looked at before every megabyte; when true the file is given up.
    pub stop: &'a AtomicBool,
    /// Called with the bytes written and the bytes in all, once a megabyte.
    pub progress: &'a mut dyn FnMut(u64, u64),
}

/// A temporary file. It is gone when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    fd: OwnedFd,
    named: Option<Named>,
    dir: PathBuf,
    size_bytes: u64,
    logical_block_bytes: u32,
    direct: bool,
    in_memory: bool,
}

impl Scratch {
    /// Makes a file in `dir`, as large as [`plan_size`] allows, writes it once from start to end,
    /// flushes it and drops it from the page cache. Direct requests are used where they work.
    ///
    /// # Errors
    /// [`AccessError`]; nothing is left in the directory then.
    pub fn create(dir: &Path, fill: Fill<'_>) -> Result<Self, AccessError> {
        Self::create_as(dir, fill, None)
    }

    /// Makes a file of exactly `size_bytes` in `dir` that holds nothing yet, for what is written
    /// before it is read. `allocate` asks the file system to set blocks aside for all of it; where
    /// it cannot, the file is one hole, as without. Direct requests are used where they work.
    ///
    /// # Errors
    /// As for [`Scratch::create`].
    pub fn reserve(dir: &Path, size_bytes: u64, allocate: bool) -> Result<Self, AccessError> {
        let mut scratch = Self::empty(dir, size_bytes, size_bytes, None)?;
        rustix::fs::ftruncate(&scratch.fd, size_bytes)
            .map_err(|e| io("sizing a temporary file in", dir, e))?;
        if allocate {
            match rustix::fs::fallocate(&scratch.fd, FallocateFlags::empty(), 0, size_bytes) {
                Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
                Err(Errno::NOSPC) => {
                    let (dir, wanted_bytes) = (dir.to_path_buf(), size_bytes);
                    return Err(AccessError::NoSpace { dir, written_bytes: 0, wanted_bytes });
                }
                Err(errno) => return Err(io("making room for a file in", dir, errno)),
            }
        }
        scratch.size_bytes = size_bytes;
        scratch.go_direct()?;
        Ok(scratch)
    }

    /// `way` is given to make a file with a name although one without would be possible.
    fn create_as(dir: &Path, fill: Fill<'_>, way: Option<Way>) -> Result<Self, AccessError> {
        let mut scratch = Self::empty(dir, fill.wanted_bytes, fill.minimum_bytes, way)?;
        let direct = fill::fill(&scratch.fd, dir, scratch.size_bytes, fill)?;
        drop_cache(&scratch.fd).map_err(|source| AccessError::Io {
            what: "dropping the page cache",
            path: dir.to_path_buf(),
            source,
        })?;
        if direct {
            scratch.go_direct()?;
        }
        Ok(scratch)
    }

    /// A file without data, planned to be as large as there is room for.
    fn empty(
        dir: &Path,
        wanted_bytes: u64,
        minimum_bytes: u64,
        way: Option<Way>,
    ) -> Result<Self, AccessError> {
        let handle = open_dir(dir)?;
        let space = FsSpace::of(dir)?;
        if space.read_only {
            return Err(AccessError::ReadOnlyFileSystem { dir: dir.to_path_buf() });
        }
        let kind = rustix::fs::fstatfs(&handle).map_err(|e| io("statfs", dir, e))?.f_type as u32;
        let (fd, named) = make(dir, handle, kind, way)?;
        let size_bytes = plan_size(wanted_bytes, minimum_bytes, &space)?;
        within_file_size_limit(size_bytes)?;
        Ok(Self {
            fd,
            named,
            dir: dir.to_path_buf(),
            size_bytes,
            logical_block_bytes: 1,
            direct: false,
            in_memory: is_memory(kind),
        })
    }

    /// Sends requests past the page cache from here on, where that works.
    fn go_direct(&mut self) -> Result<(), AccessError> {
        let block = make_direct(&self.fd, 512).map_err(|e| io("reading", &self.dir, e))?;
        self.direct = block.is_some();
        self.logical_block_bytes = block.unwrap_or(1);
        Ok(())
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Its path while it has a name, which is only where names cannot be removed early.
    pub fn path(&self) -> Option<PathBuf> {
        self.named.as_ref().map(|named| self.dir.join(&named.name))
    }

    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Offsets and lengths must be multiples of this; 1 when the page cache is in between.
    pub fn logical_block_bytes(&self) -> u32 {
        self.logical_block_bytes
    }

    /// Whether requests go past the page cache. On tmpfs this is true from Linux 6.6 on, and means
    /// nothing: see [`Scratch::in_memory`].
    pub fn direct(&self) -> bool {
        self.direct
    }

    /// Whether the file system is tmpfs or ramfs, so that no disk is measured.
    pub fn in_memory(&self) -> bool {
        self.in_memory
    }
}

impl AsFd for Scratch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// How a file with a name is kept from being left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Its name is removed at once.
    Unlinked,
    /// Its name is removed on drop.
    Named,
}

/// NFS, FUSE, overlay, SMB in three generations, 9P, AFS, by their numbers in linux/magic.h.
pub(crate) const KEEPS_NAMES: [u32; 8] =
    [0x6969, 0x6573_5546, 0x794c_7630, 0xff53_4d42, 0xfe53_4d42, 0x517b, 0x0102_1997, 0x5346_414f];

/// A name that is removed when this is dropped, as long as it is still that of our file.
#[derive(Debug)]
pub(crate) struct Named {
    dir: OwnedFd,
    name: OsString,
    inode: (u64, u64),
    is_kept: bool,
}

impl Named {
    /// The name in `dir` of a file that was just made there.
    pub(crate) fn new(dir: OwnedFd, name: OsString, file: impl AsFd) -> rustix::io::Result<Self> {
        let stat = rustix::fs::fstat(file)?;
        Ok(Self { dir, name, inode: (stat.st_dev, stat.st_ino), is_kept: false })
    }

    pub(crate) const fn dir(&self) -> &OwnedFd {
        &self.dir
    }

    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Whether the name stays when this is dropped.
    pub(crate) const fn keep(&mut self, keep: bool) {
        self.is_kept = keep;
    }

    /// Whether the name is still that of our file.
    pub(crate) fn is_same(&self) -> bool {
        let now = rustix::fs::statat(&self.dir, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        now.is_ok_and(|stat| (stat.st_dev, stat.st_ino) == self.inode)
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        if !self.is_kept && self.is_same() {
            // Nothing can be done here when it fails; the next sweep removes it.
            let _ = rustix::fs::unlinkat(&self.dir, &self.name, AtFlags::empty());
        }
    }
}

pub(crate) fn io(what: &'static str, path: &Path, errno: Errno) -> AccessError {
    AccessError::Io { what, path: path.to_path_buf(), source: errno.into() }
}

fn open_dir(dir: &Path) -> Result<OwnedFd, AccessError> {
    let path = || dir.to_path_buf();
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(dir, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::NOENT => AccessError::Missing { path: path() },
        Errno::NOTDIR => AccessError::NotADirectory { path: path() },
        Errno::ACCESS | Errno::PERM => AccessError::WriteDenied { dir: path(), uid: uid() },
        _ => io("opening", dir, errno),
    })
}

fn make(
    dir: &Path,
    handle: OwnedFd,
    kind: u32,
    way: Option<Way>,
) -> Result<(OwnedFd, Option<Named>), AccessError> {
    let fail = |errno| match errno {
        Errno::ROFS => AccessError::ReadOnlyFileSystem { dir: dir.to_path_buf() },
        Errno::ACCESS | Errno::PERM => {
            AccessError::WriteDenied { dir: dir.to_path_buf(), uid: uid() }
        }
        Errno::NOSPC => {
            AccessError::NoSpace { dir: dir.to_path_buf(), written_bytes: 0, wanted_bytes: 0 }
        }
        _ => io("making a temporary file in", dir, errno),
    };
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::EXCL;
    let mode = Mode::RUSR | Mode::WUSR;
    let try_anonymous = way.is_none();
    let way = way.unwrap_or(if KEEPS_NAMES.contains(&kind) { Way::Named } else { Way::Unlinked });
    if try_anonymous {
        // Nobody gives it a name later.
        if let Some(fd) = nameless(&handle, OFlags::EXCL).map_err(fail)? {
            return Ok((fd, None));
        }
    }
    let name = name::fresh(name::TempKind::File)?;
    let flags = flags | OFlags::CREATE | OFlags::NOFOLLOW;
    let fd = rustix::fs::openat(&handle, &name, flags, mode).map_err(fail)?;
    let named = Named::new(handle, name.into(), &fd).map_err(fail)?;
    if way == Way::Named {
        // Locked for as long as it is open: a sweep on another machine of the same NFS sees that.
        // Where locks do not exist the process in the name has to do.
        let _ = rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive);
        Ok((fd, Some(named)))
    } else {
        drop(named);
        Ok((fd, None))
    }
}

/// A file without a name, where the file system has such.
pub(crate) fn nameless(dir: &OwnedFd, flags: OFlags) -> rustix::io::Result<Option<OwnedFd>> {
    let flags = flags | OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::openat(dir, ".", flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => Ok(Some(file)),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL | Errno::NOSYS) => {
            Ok(None)
        }
        Err(errno) => Err(errno),
    }
}

/// Past the limit the kernel kills the process with SIGXFSZ instead of refusing the write.
fn within_file_size_limit(needed_bytes: u64) -> Result<(), AccessError> {
    match rustix::process::getrlimit(Resource::Fsize).current {
        Some(limit_bytes) if limit_bytes < needed_bytes => {
            Err(AccessError::FileSizeLimit { limit_bytes, needed_bytes })
        }
        _ => Ok(()),
    }
}

pub(crate) fn is_regular(mode: rustix::fs::RawMode) -> bool {
    FileType::from_raw_mode(mode) == FileType::RegularFile
}

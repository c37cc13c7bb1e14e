//! A directory of our own, for what needs many files: a suite's trees, databases, blogs.
//!
//! It has a name for as long as it is used, so the name says whose it is, it is locked, and the
//! next start removes what a killed process left, contents and all.

use super::name::{self, TempKind};
use super::{Named, io, open_dir};
use crate::AccessError;
use crate::error::uid;
use crate::space::{FsSpace, plan_size};
use crate::sweep::remove_tree;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// A new directory of this process. It and all that is in it are gone when this is dropped.
#[derive(Debug)]
pub struct ScratchDir {
    path: PathBuf,
    named: Named,
    /// Holds the lock that shows other machines that the directory is in use.
    _handle: OwnedFd,
}

impl ScratchDir {
    /// Makes one in `parent` for `needed_bytes` of data in `needed_files` files and directories.
    ///
    /// # Errors
    /// [`AccessError`], also when that much would not leave a tenth of the file system and 1 GiB
    /// free, or there are fewer inodes. Nothing is left in `parent` then.
    pub fn create(
        parent: &Path,
        needed_bytes: u64,
        needed_files: u64,
    ) -> Result<Self, AccessError> {
        let parent_fd = open_dir(parent)?;
        let space = FsSpace::of(parent)?;
        if space.read_only {
            return Err(AccessError::ReadOnlyFileSystem { dir: parent.to_path_buf() });
        }
        plan_size(needed_bytes, needed_bytes, &space)?;
        enough_inodes(parent, needed_files)?;
        let name = name::fresh(TempKind::Dir)?;
        let fail = |errno| match errno {
            Errno::ROFS => AccessError::ReadOnlyFileSystem { dir: parent.to_path_buf() },
            Errno::ACCESS | Errno::PERM => {
                AccessError::WriteDenied { dir: parent.to_path_buf(), uid: uid() }
            }
            Errno::NOSPC => AccessError::NoSpace {
                dir: parent.to_path_buf(),
                written_bytes: 0,
                wanted_bytes: needed_bytes,
            },
            _ => io("making a directory in", parent, errno),
        };
        rustix::fs::mkdirat(&parent_fd, &name, Mode::RWXU).map_err(fail)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let handle = rustix::fs::openat(&parent_fd, &name, flags, Mode::empty()).map_err(fail);
        let handle = handle.inspect_err(|_| {
            // It is empty and ours; the next sweep removes it when this fails.
            let _ = rustix::fs::unlinkat(&parent_fd, &name, AtFlags::REMOVEDIR);
        })?;
        // Only other machines on a shared file system look at the lock, and some have none.
        let _ = rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive);
        let path = parent.join(&name);
        let mut named = Named::new(parent_fd, name.into(), &handle).map_err(fail)?;
        named.keep(true);
        Ok(Self { path, named, _handle: handle })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        // Nothing can be done here when it fails; the next sweep removes it.
        if self.named.is_same() {
            let _ = remove_tree(self.named.dir(), self.named.name(), &self.path);
        }
    }
}

/// A file system without a fixed number of inodes says that it has none at all.
fn enough_inodes(parent: &Path, needed: u64) -> Result<(), AccessError> {
    let stat = rustix::fs::statvfs(parent).map_err(|e| io("statvfs", parent, e))?;
    if stat.f_files > 0 && stat.f_favail < needed {
        return Err(AccessError::TooFewInodes {
            dir: parent.to_path_buf(),
            available: stat.f_favail,
            needed,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn place() -> Option<tempfile::TempDir> {
        let place = tempfile::tempdir().unwrap();
        match ScratchDir::create(place.path(), 1, 1) {
            Ok(_) => Some(place),
            Err(error) => {
                eprintln!("skipped: {error}");
                None
            }
        }
    }

    #[test]
    fn a_directory_is_spared_by_the_sweep_and_removed_with_all_in_it() {
        let Some(place) = place() else { return };
        let dir = ScratchDir::create(place.path(), 1 << 20, 100).unwrap();
        fs::create_dir(dir.path().join("deep")).unwrap();
        fs::write(dir.path().join("deep/file"), "x").unwrap();
        assert_eq!(crate::sweep(place.path()).unwrap(), []);
        assert!(dir.path().join("deep/file").exists());
        drop(dir);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_somebody_put_in_place_of_ours_is_not_removed() {
        let Some(place) = place() else { return };
        let dir = ScratchDir::create(place.path(), 1, 1).unwrap();
        let path = dir.path().to_path_buf();
        fs::remove_dir(&path).unwrap();
        // Made while the handle keeps the old inode number from being used again.
        fs::create_dir(&path).unwrap();
        drop(dir);
        assert!(path.exists());
    }

    #[test]
    fn more_files_than_there_are_inodes_are_refused_before_anything_is_made() {
        let Some(place) = place() else { return };
        match ScratchDir::create(place.path(), 1, u64::MAX) {
            Err(AccessError::TooFewInodes { needed: u64::MAX, .. }) => {
                assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
            }
            Ok(_) => eprintln!("skipped: this file system has no fixed number of inodes"),
            Err(other) => panic!("{other}"),
        }
    }
}

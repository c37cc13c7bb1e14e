//! A directory of our own, for what needs many files: a suite's trees, databases, blogs.
//!
//! It has a name for as long as it is used, so the name says whose it is, it is locked, and the
//! next start removes what a killed process left, contents and all.

use super::name::{fresh_dir, is_gone, parse_dir};
use super::{io, open_dir};
use crate::AccessError;
use crate::error::uid;
use crate::space::{FsSpace, plan_size};
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use seekwell_sys::{Live, View};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// A new directory of this process. It and all that is in it are gone when this is dropped.
#[derive(Debug)]
pub struct ScratchDir {
    path: PathBuf,
    /// Holds the lock that tells other machines that the directory is in use.
    handle: OwnedFd,
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
        let name = fresh_dir(&Live::system())?;
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
            // It is empty and ours; the next start sweeps it up when this fails.
            let _ = rustix::fs::unlinkat(&parent_fd, &name, AtFlags::REMOVEDIR);
        })?;
        // Only other machines on a shared file system look at the lock, and some have none.
        let _ = rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive);
        Ok(Self { path: parent.join(name), handle })
    }

    /// Removes what earlier processes left in `parent` when they were killed: directories whose
    /// name is exactly ours, that belong to this user, that nobody has locked, and whose process
    /// is gone. Returns what was removed.
    ///
    /// # Errors
    /// When `parent` cannot be listed or a leftover cannot be removed.
    pub fn sweep(parent: &Path) -> Result<Vec<PathBuf>, AccessError> {
        sweep(&Live::system(), parent)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        // Nothing can be done here when it fails; the next start sweeps it up.
        if is_same(&self.handle, &self.path) {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Whether the name is still that of the directory that is open.
fn is_same(handle: &OwnedFd, path: &Path) -> bool {
    let (open, named) = (rustix::fs::fstat(handle), rustix::fs::lstat(path));
    open.ok().zip(named.ok()).is_some_and(|(a, b)| (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino))
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

fn sweep(view: &dyn View, parent: &Path) -> Result<Vec<PathBuf>, AccessError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let handle = rustix::fs::open(parent, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::NOENT => AccessError::Missing { path: parent.to_path_buf() },
        Errno::NOTDIR => AccessError::NotADirectory { path: parent.to_path_buf() },
        Errno::ACCESS | Errno::PERM => {
            AccessError::ReadDenied { path: parent.to_path_buf(), uid: uid() }
        }
        _ => io("opening", parent, errno),
    })?;
    let fail = |errno| io("sweeping", parent, errno);
    let mut removed = Vec::new();
    for entry in Dir::read_from(&handle).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        let Some(owner) = parse_dir(name) else { continue };
        let flags = flags | OFlags::NOFOLLOW;
        let Ok(dir) = rustix::fs::openat(&handle, name, flags, Mode::empty()) else { continue };
        let ours = rustix::fs::fstat(&dir).is_ok_and(|stat| {
            FileType::from_raw_mode(stat.st_mode) == FileType::Directory && stat.st_uid == uid()
        });
        let lock = rustix::fs::flock(&dir, FlockOperation::NonBlockingLockExclusive);
        if !ours || !is_gone(view, owner) || lock == Err(Errno::WOULDBLOCK) {
            continue;
        }
        let path = parent.join(name);
        match std::fs::remove_dir_all(&path) {
            Ok(()) => removed.push(path),
            // Another sweep was faster.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => {
                return Err(AccessError::Io { what: "removing a leftover", path, source });
            }
        }
    }
    removed.sort_unstable();
    Ok(removed)
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
        assert_eq!(ScratchDir::sweep(place.path()).unwrap(), Vec::<PathBuf>::new());
        assert!(dir.path().join("deep/file").exists());
        drop(dir);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_that_only_looks_alike() {
        let place = tempfile::tempdir().unwrap();
        let gone = place.path().join(".seekwell-suite-4194304-1-0123456789abcdef");
        fs::create_dir_all(gone.join("tree")).unwrap();
        fs::write(gone.join("tree/file"), "x").unwrap();
        let others = [
            ".seekwell-suite-4194304-1-0123456789abcdef.bak",
            ".seekwell-suite-4194304-0123456789abcdef",
            ".seekwell-4194304-1-0123456789abcdef",
        ];
        others.iter().for_each(|name| fs::create_dir(place.path().join(name)).unwrap());
        let file = place.path().join(".seekwell-suite-4194304-1-0123456789abcdee");
        fs::write(&file, "a file").unwrap();
        let link = place.path().join(".seekwell-suite-4194304-1-0123456789abcded");
        std::os::unix::fs::symlink(place.path(), link).unwrap();
        assert_eq!(ScratchDir::sweep(place.path()).unwrap(), [gone]);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), others.len() + 2);
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

//! Removing what killed processes left in a directory, and removing our own directories.
//!
//! A leftover may have become something else: somebody may have mounted a file system in it. So
//! nothing here follows a symlink, and no mount is entered. A bind mount of the same file system
//! has the same device number, so mounts are distinguished by their id (statx(2), Linux 5.8).

use crate::AccessError;
use crate::error::uid;
use crate::scratch::name::{self, TempKind};
use crate::scratch::{io, is_regular};
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use seekwell_sys::{Live, View};
use std::ffi::OsStr;
use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Something that a killed process left behind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leftover {
    Removed(PathBuf),
    /// All of it is gone but the way to a mount.
    HoldsMount {
        path: PathBuf,
        /// What is mounted in it, or is the directory itself.
        mount: PathBuf,
    },
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed(path) => write!(f, "removed {}, left by a killed run", path.display()),
            Self::HoldsMount { path, mount } => write!(
                f,
                "{} was left by a killed run and stays, because something is mounted on {}; \
                 unmount that, and the next run removes it",
                path.display(),
                mount.display()
            ),
        }
    }
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

/// Removes what earlier processes left in `dir` when they were killed: temporary files, unfinished
/// outputs and directories of suites whose name is exactly ours, that belong to this user, that
/// nobody has locked, and whose process (by id and start time) is gone. Nothing else is touched,
/// and no mount is entered. A directory that does not exist holds no leftovers.
///
/// # Errors
/// When the directory cannot be listed or a leftover cannot be removed.
pub fn sweep(dir: &Path) -> Result<Vec<Leftover>, AccessError> {
    sweep_as_seen(&Live::system(), dir)
}

fn sweep_as_seen(view: &dyn View, dir: &Path) -> Result<Vec<Leftover>, AccessError> {
    // The directory itself may be named through a symlink.
    let handle = match rustix::fs::open(dir, DIRECTORY - OFlags::NOFOLLOW, Mode::empty()) {
        Ok(handle) => handle,
        Err(Errno::NOENT) => return Ok(Vec::new()),
        Err(Errno::NOTDIR) => return Err(AccessError::NotADirectory { path: dir.to_path_buf() }),
        Err(Errno::ACCESS | Errno::PERM) => {
            return Err(AccessError::ReadDenied { path: dir.to_path_buf(), uid: uid() });
        }
        Err(errno) => return Err(io("opening", dir, errno)),
    };
    let fail = |errno| io("sweeping", dir, errno);
    let mut found = Vec::new();
    for entry in Dir::read_from(&handle).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        let Some((kind, owner)) = name::parse(name) else { continue };
        if !name::is_gone(view, owner) || !is_ours(&handle, name, kind) {
            continue;
        }
        let path = dir.join(name);
        let removed = match kind {
            TempKind::File => unlink(&handle, name, AtFlags::empty(), &path),
            TempKind::Dir => remove_tree(&handle, OsStr::new(name), &path),
        };
        found.push(match removed.map_err(|errno| io("removing", &path, errno))? {
            None => Leftover::Removed(path),
            Some(mount) => Leftover::HoldsMount { path, mount },
        });
    }
    found.sort_unstable();
    Ok(found)
}

/// Whether an entry is of the right kind, belongs to this user, and is not locked by a process of
/// another machine or container.
fn is_ours(dir: &OwnedFd, name: &str, kind: TempKind) -> bool {
    let ours = |stat: rustix::fs::Stat| {
        let right = match kind {
            TempKind::File => is_regular(stat.st_mode),
            TempKind::Dir => FileType::from_raw_mode(stat.st_mode) == FileType::Directory,
        };
        right && stat.st_uid == uid()
    };
    // Asked before it is opened: opening a device or FIFO may have an effect.
    if !rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(ours) {
        return false;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(open) = rustix::fs::openat(dir, name, flags, Mode::empty()) else { return false };
    let lock = rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive);
    lock != Err(Errno::WOULDBLOCK) && rustix::fs::fstat(&open).is_ok_and(ours)
}

/// Removes a directory with all in it but mounts, and the directories that lead to them; gives the
/// first mount that it came upon.
pub(crate) fn remove_tree(
    parent: impl AsFd,
    name: &OsStr,
    path: &Path,
) -> rustix::io::Result<Option<PathBuf>> {
    let home = MountId::of(&parent)?;
    remove(parent, name, path, home)
}

fn remove(
    parent: impl AsFd,
    name: &OsStr,
    path: &Path,
    home: MountId,
) -> rustix::io::Result<Option<PathBuf>> {
    let dir = match rustix::fs::openat(&parent, name, DIRECTORY, Mode::empty()) {
        Ok(dir) => dir,
        Err(Errno::NOTDIR | Errno::LOOP) => return unlink(parent, name, AtFlags::empty(), path),
        // Somebody else was faster.
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(errno),
    };
    if MountId::of(&dir)? != home {
        return Ok(Some(path.to_path_buf()));
    }
    let mut mount = None;
    for entry in Dir::read_from(&dir)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            mount = mount.or(remove(&dir, name, &path.join(name), home)?);
        }
    }
    drop(dir);
    match mount {
        Some(mount) => Ok(Some(mount)),
        None => unlink(parent, name, AtFlags::REMOVEDIR, path),
    }
}

/// Removes one name. It cannot be removed while something is mounted on it.
fn unlink(
    dir: impl AsFd,
    name: impl rustix::path::Arg,
    flags: AtFlags,
    path: &Path,
) -> rustix::io::Result<Option<PathBuf>> {
    match rustix::fs::unlinkat(dir, name, flags) {
        Ok(()) | Err(Errno::NOENT) => Ok(None),
        Err(Errno::BUSY) => Ok(Some(path.to_path_buf())),
        Err(errno) => Err(errno),
    }
}

/// What distinguishes mounts: the id, if the kernel shows it, and the device number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MountId {
    id: Option<u64>,
    device: u64,
}

impl MountId {
    fn of(file: impl AsFd) -> rustix::io::Result<Self> {
        let device = rustix::fs::fstat(&file)?.st_dev;
        let asked = rustix::fs::statx(&file, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID);
        let told = asked.ok().filter(|stat| stat.stx_mask & StatxFlags::MNT_ID.bits() != 0);
        Ok(Self { id: told.map(|stat| stat.stx_mnt_id), device })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const GONE: &str = "4194304-1-0123456789abcde";

    #[test]
    fn what_killed_processes_left_is_removed_and_nothing_that_only_looks_alike() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: String| place.path().join(name);
        let file = at(format!(".seekwell-{GONE}f.tmp"));
        let dir = at(format!(".seekwell-suite-{GONE}f"));
        fs::write(&file, "x").unwrap();
        fs::create_dir_all(dir.join("tree")).unwrap();
        fs::write(dir.join("tree/file"), "x").unwrap();
        std::os::unix::fs::symlink(place.path(), dir.join("tree/link")).unwrap();
        let others = [
            format!(".seekwell-suite-{GONE}f.bak"),
            ".seekwell-suite-4194304-0123456789abcdef".to_owned(),
            format!(".seekwell-{GONE}f"),
            format!(".seekwell-{GONE}e.tmp"),
        ];
        others.iter().for_each(|name| fs::create_dir(at(name.clone())).unwrap());
        fs::write(at(format!(".seekwell-suite-{GONE}e")), "a file").unwrap();
        for name in [format!(".seekwell-suite-{GONE}d"), format!(".seekwell-{GONE}d.tmp")] {
            std::os::unix::fs::symlink(place.path(), at(name)).unwrap();
        }
        let removed = [Leftover::Removed(file), Leftover::Removed(dir)];
        assert_eq!(sweep(place.path()).unwrap(), removed);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), others.len() + 3);
    }

    #[test]
    fn a_leftover_that_somebody_has_locked_is_not_swept() {
        // A machine that shares the directory over NFS has its own process ids; its lock is all
        // that shows that the file is in use.
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(format!(".seekwell-{GONE}f.tmp"));
        let file = fs::File::create(&path).unwrap();
        rustix::fs::flock(&file, FlockOperation::LockExclusive).unwrap();
        assert_eq!(sweep(dir.path()).unwrap(), []);
        drop(file);
        assert_eq!(sweep(dir.path()).unwrap(), [Leftover::Removed(path)]);
    }

    #[test]
    fn where_there_is_no_directory_there_are_no_leftovers() {
        assert_eq!(sweep(Path::new("/nonexistent/folder")).unwrap(), []);
    }
}

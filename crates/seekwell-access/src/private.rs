//! Folders and files of this user alone: kept runs hold serial numbers and mounts.

use crate::by_descriptor;
use crate::error::uid;
use crate::scratch::is_regular;
use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno;
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

const OTHERS: Mode = Mode::RWXG.union(Mode::RWXO);

/// Makes a folder, and those above it that are missing, that only this user may enter.
///
/// # Errors
/// What the kernel answers; a folder that exists is no error.
pub fn create_private_dir_all(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// The same for one folder that must not exist.
///
/// # Errors
/// As the kernel answers.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Opens a file for reading and writing, made if it is missing, that only this user may read. A
/// symlink is not followed.
///
/// # Errors
/// As the kernel answers, and [`ErrorKind::InvalidInput`] for what is not a regular file.
pub fn open_private(path: &Path) -> io::Result<File> {
    let new = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, new, Mode::RUSR | Mode::WUSR) {
        Err(Errno::EXIST) => open_regular(path, OFlags::RDWR)?,
        made => made?.into(),
    };
    close_to_others(&file)?;
    Ok(file)
}

/// Whether a path names a regular file that begins with these bytes.
pub fn begins_with(path: &Path, head: &[u8]) -> bool {
    let mut found = vec![0; head.len()];
    let read = open_regular(path, OFlags::RDONLY).and_then(|mut file| file.read_exact(&mut found));
    read.is_ok() && found == head
}

/// Opens nothing but a regular file, and that without following a symlink: a FIFO would wait for
/// its other end, and opening a device may act, as the kernel makes a loop device of its node.
fn open_regular(path: &Path, access: OFlags) -> io::Result<File> {
    let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = rustix::fs::open(path, look, Mode::empty())?;
    if !is_regular(rustix::fs::fstat(&found)?.st_mode) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(by_descriptor(&found), flags, Mode::empty())?.into())
}

/// Takes away what others may do with a folder of this user and the files in it, where that is
/// anything. Folders in it are left alone.
///
/// # Errors
/// As the kernel answers.
pub fn make_private(dir: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = rustix::fs::open(dir, flags, Mode::empty())?;
    // Closed last: a folder that is closed needs no other look.
    if !is_open_to_others(&dir)? {
        return Ok(());
    }
    for entry in Dir::read_from(&dir)? {
        let entry = entry?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(file) = rustix::fs::openat(&dir, entry.file_name(), flags, Mode::empty()) else {
            continue;
        };
        if is_regular(rustix::fs::fstat(&file)?.st_mode) {
            close_to_others(&file)?;
        }
    }
    close_to_others(&dir)
}

fn is_open_to_others(file: impl std::os::fd::AsFd) -> io::Result<bool> {
    let stat = rustix::fs::fstat(file)?;
    Ok(stat.st_uid == uid() && Mode::from_raw_mode(stat.st_mode).intersects(OTHERS))
}

fn close_to_others(file: impl std::os::fd::AsFd) -> io::Result<()> {
    if is_open_to_others(&file)? {
        let mode = Mode::from_raw_mode(rustix::fs::fstat(&file)?.st_mode);
        rustix::fs::fchmod(&file, mode & Mode::RWXU)?;
    }
    Ok(())
}

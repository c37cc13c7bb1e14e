//! Files that commands write where the user says.
//!
//! An output grows without a name (`O_TMPFILE`), so that no way out leaves a part of it behind, and
//! gets one when it is whole. Where there are no such files it grows under another name in the same
//! folder, `.seekwell-PID-START-RANDOM.tmp`, which cannot be guessed and the next sweep finds. It
//! replaces nothing but a regular file, and that only on request: as root, an output that simply
//! renamed would replace `/dev/null` for the whole system.

use crate::reopen::by_descriptor;
use crate::scratch::name::{self, TempKind};
use crate::scratch::{KEEPS_NAMES, Named, is_regular, nameless};
use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Gid, Mode, OFlags, RenameFlags, Stat, Uid,
};
use rustix::io::Errno;
use seekwell_sys::{Live, View, ViewError, classify};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IntoInnerError, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("{} is a {kind}, and only a regular file is ever replaced; name another file",
        path.display())]
    NotAFile { path: PathBuf, kind: &'static str },
    #[error("{} exists; replace it with --force, or name another file", path.display())]
    Exists { path: PathBuf },
    /// Something took the name while the output was being written.
    #[error("{} was created by something else meanwhile; the finished data is in {}",
        path.display(), kept.display())]
    Overtaken { path: PathBuf, kept: PathBuf },
    #[error("cannot write {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(transparent)]
    View(#[from] ViewError),
}

classify!(OutputError {
    Refused: NotAFile, Exists, Overtaken, Io, View;
});

/// A file being written. Dropped unfinished, it leaves nothing.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    file: File,
    /// Only a replacement has this name, for a moment, when the file is nameless.
    temporary: Named,
    is_nameless: bool,
    old: Option<Stat>,
    force: bool,
}

impl OutputFile {
    /// Begins a file. Only its owner may read it until it is finished. `force` allows replacing a
    /// regular file.
    ///
    /// # Errors
    /// [`OutputError`].
    pub fn create(path: &Path, force: bool) -> Result<Self, OutputError> {
        Self::create_as(path, name::fresh(TempKind::File)?.as_ref(), force, true)
    }

    /// The same under a name that no sweep removes, `NAME.RANDOM.part`, for data that is worth
    /// something before it is whole: see [`OutputFile::keep_unfinished`].
    ///
    /// # Errors
    /// [`OutputError`].
    pub fn create_part(path: &Path, force: bool) -> Result<Self, OutputError> {
        let part = with_suffix(path.file_name().unwrap_or_default(), "part");
        Self::create_as(path, &part, force, false)
    }

    /// Whether a file's name is one that [`OutputFile::create_part`] gives a part of `path`.
    pub fn is_part_of(path: &Path, name: &OsStr) -> bool {
        let whole = path.file_name().unwrap_or_default().as_encoded_bytes();
        let rest = name.as_encoded_bytes().strip_prefix(whole);
        let random = rest.and_then(|rest| rest.strip_prefix(b".")?.strip_suffix(b".part"));
        random.is_some_and(name::is_random)
    }

    /// Whether a file could be written, without leaving one.
    ///
    /// # Errors
    /// [`OutputError`], as for [`OutputFile::create`].
    pub fn check(path: &Path, force: bool) -> Result<(), OutputError> {
        Self::create(path, force).map(drop)
    }

    /// A `hidden` one has no name until it is finished, if that is possible.
    fn create_as(
        path: &Path,
        temporary: &OsStr,
        force: bool,
        hidden: bool,
    ) -> Result<Self, OutputError> {
        let fail = |errno: Errno| OutputError::Io { path: path.to_owned(), source: errno.into() };
        // A path such as `dir/..` or `dir/` names a directory.
        let is_named = path.file_name().is_some() && !ends_with_slash(path);
        let name = path.file_name().filter(|_| is_named).ok_or_else(|| fail(Errno::ISDIR))?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::open(folder_of(path), flags, Mode::empty()).map_err(fail)?;
        let old = there(&dir, name, path)?;
        if old.is_some() && !force {
            return Err(OutputError::Exists { path: path.to_owned() });
        }
        let unnamed = match hidden && gives_names(&dir) {
            true => nameless(&dir, OFlags::empty()).map_err(fail)?,
            false => None,
        };
        let is_nameless = unnamed.is_some();
        let file = unnamed.map_or_else(|| named(&dir, temporary), Ok).map_err(fail)?;
        // For sweeps of other machines and containers, to whom our process id says nothing.
        let _ = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
        let temporary = Named::new(dir, temporary.to_owned(), &file).map_err(fail)?;
        Ok(Self { path: path.to_owned(), file: file.into(), temporary, is_nameless, old, force })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name that a part has until then.
    pub fn temporary(&self) -> PathBuf {
        folder_of(&self.path).join(self.temporary.name())
    }

    /// What is written so far, to be read and changed.
    pub const fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Writes through a buffer.
    ///
    /// # Errors
    /// [`OutputError::Io`]; nothing is left behind then.
    pub fn filled(
        self,
        fill: impl FnOnce(&mut BufWriter<Self>) -> io::Result<()>,
    ) -> Result<Self, OutputError> {
        let path = self.path.clone();
        let mut out = BufWriter::with_capacity(1 << 16, self);
        let written = fill(&mut out);
        let output = written.and_then(|()| out.into_inner().map_err(IntoInnerError::into_error));
        output.map_err(|source| OutputError::Io { path, source })
    }

    /// From here on, dropping it unfinished leaves what was written, or not.
    pub const fn keep_unfinished(&mut self, keep: bool) {
        self.temporary.keep(keep);
    }

    /// Makes it durable and gives it its name, with the mode and, if that is permitted, the
    /// owner of the file that it replaces; a new one gets the mode that the umask allows.
    ///
    /// # Errors
    /// [`OutputError`]; where the name was taken meanwhile it says where the data is.
    pub fn finish(self) -> Result<(), OutputError> {
        let mode = match &self.old {
            Some(old) => self.take_over(old),
            None => Mode::from_raw_mode(0o666) - umask(),
        };
        rustix::fs::fchmod(&self.file, mode).map_err(|e| self.failed(e.into()))?;
        self.finish_private()
    }

    /// The same, but only its owner may read it.
    ///
    /// # Errors
    /// As for [`OutputFile::finish`].
    pub fn finish_private(self) -> Result<(), OutputError> {
        self.file.sync_all().map_err(|e| self.failed(e))?;
        let (path, folder) = (self.path.clone(), folder_of(&self.path).to_owned());
        self.finish_unsynced()?;
        match File::open(folder).and_then(|dir| dir.sync_all()) {
            // Not every file system syncs folders, and not every folder may be read.
            Err(e) if matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::PermissionDenied) => {
                Ok(())
            }
            synced => synced.map_err(|source| OutputError::Io { path, source }),
        }
    }

    /// The same without waiting for the disk, for what only matters if this process is killed.
    ///
    /// # Errors
    /// As for [`OutputFile::finish`].
    pub fn finish_unsynced(mut self) -> Result<(), OutputError> {
        let to = self.path.file_name().unwrap_or_default();
        // What was put there meanwhile is replaced only if it could have been replaced then.
        let replace = self.force && there(self.temporary.dir(), to, &self.path).is_ok();
        match self.place(to, replace) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => {
                let aside = with_suffix(to, "seekwell");
                let kept = match self.place(&aside, false) {
                    Ok(()) => folder_of(&self.path).join(aside),
                    Err(errno) if self.is_nameless => return Err(self.failed(errno.into())),
                    Err(_) => self.temporary(),
                };
                self.temporary.keep(true);
                Err(OutputError::Overtaken { path: self.path, kept })
            }
            Err(errno) => Err(self.failed(errno.into())),
        }
    }

    /// Gives it a name. While a replacement has its temporary one nothing is allocated, which could
    /// end the process.
    fn place(&self, to: &OsStr, replace: bool) -> rustix::io::Result<()> {
        let (dir, from) = (self.temporary.dir(), self.temporary.name());
        if self.is_nameless {
            // AT_EMPTY_PATH would take a capability before Linux 6.10.
            let own = by_descriptor(&self.file);
            let link = |to| rustix::fs::linkat(CWD, &own, dir, to, AtFlags::SYMLINK_FOLLOW);
            match link(to) {
                // A link replaces nothing.
                Err(Errno::EXIST) if replace => link(from)?,
                done => return done,
            }
        }
        match replace {
            true => rustix::fs::renameat(dir, from, dir, to),
            false => rename_to_new(dir, from, to),
        }
    }

    /// Makes the owner that of the file to be replaced, and gives the mode.
    fn take_over(&self, old: &Stat) -> Mode {
        let mode = Mode::from_raw_mode(old.st_mode) & (Mode::RWXU | Mode::RWXG | Mode::RWXO);
        let (user, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
        let chown = |user| rustix::fs::fchown(&self.file, user, Some(group));
        // What was granted to a group is not granted to another.
        if chown(Some(user)).or_else(|_| chown(None)).is_ok() { mode } else { mode - Mode::RWXG }
    }

    fn failed(&self, source: io::Error) -> OutputError {
        OutputError::Io { path: self.path.clone(), source }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Whether files without a name can be trusted to get one here.
fn gives_names(dir: &OwnedFd) -> bool {
    rustix::fs::fstatfs(dir).is_ok_and(|stat| !KEEPS_NAMES.contains(&(stat.f_type as u32)))
}

fn named(dir: &OwnedFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::RUSR | Mode::WUSR)
}

/// The regular file of this name, if there is one.
fn there(dir: &OwnedFd, name: &OsStr, path: &Path) -> Result<Option<Stat>, OutputError> {
    let stat = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if is_regular(stat.st_mode) => return Ok(Some(stat)),
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => {
            return Err(OutputError::Io { path: path.to_owned(), source: errno.into() });
        }
    };
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => "symbolic link",
        FileType::Directory => "directory",
        FileType::BlockDevice => "block device",
        FileType::CharacterDevice => "character device",
        FileType::Fifo => "FIFO",
        FileType::Socket => "socket",
        FileType::RegularFile | FileType::Unknown => "file of an unknown kind",
    };
    Err(OutputError::NotAFile { path: path.to_owned(), kind })
}

fn rename_to_new(dir: &OwnedFd, from: &OsStr, to: &OsStr) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(dir, from, dir, to, RenameFlags::NOREPLACE) {
        // NFS and some FUSE file systems know no flags.
        Err(Errno::INVAL | Errno::NOSYS) => {
            rustix::fs::linkat(dir, from, dir, to, AtFlags::empty())?;
            rustix::fs::unlinkat(dir, from, AtFlags::empty())
        }
        done => done,
    }
}

/// `NAME.RANDOM.SUFFIX`.
fn with_suffix(name: &OsStr, suffix: &str) -> OsString {
    let mut name = name.to_owned();
    name.push(format!(".{}.{suffix}", name::random()));
    name
}

/// The folder a file is or will be in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn ends_with_slash(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// umask(2) can only be read by changing it, which other threads would notice (proc(5), `Umask`).
fn umask() -> Mode {
    let text = Live::system().text(Path::new("/proc/self/status")).unwrap_or_default();
    let told = text.lines().find_map(|line| line.strip_prefix("Umask:"));
    let mask = told.and_then(|octal| u32::from_str_radix(octal.trim(), 8).ok());
    Mode::from_raw_mode(mask.unwrap_or(0o077))
}

#[cfg(test)]
mod tests;

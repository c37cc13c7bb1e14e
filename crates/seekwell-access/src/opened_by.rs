//! Which other processes have a device open or mapped, or the file that a loop device shows.
//!
//! What a descriptor is open on is decided by its device number or inode: the text of the link in
//! `/proc/PID/fd` names a node that may be gone or be called something else. A mapping lasts after
//! its descriptor was closed. Any counts, also one for reading only: udev, blkid and monitors read
//! a device in passing, but none maps it in passing.

use crate::Refusal;
use crate::backing::look;
use crate::device::Family;
use rustix::fs::FileType;
use rustix::io::Errno;
use seekwell_sys::{DevId, View, ViewError};
use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// A process that has the device open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedBy {
    pub pid: u32,
    pub command: String,
}

impl fmt::Display for OpenedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.command, self.pid)
    }
}

/// Which descriptors count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Any,
    Write,
}

/// Processes other than this one with a descriptor on a member of the family or its file, or with a
/// part of it mapped.
///
/// # Errors
/// [`Refusal::Denied`] when this user may not see what others have open.
pub(crate) fn opened_by(
    view: &dyn View,
    target: &Path,
    family: &Family,
    access: Access,
) -> Result<Vec<OpenedBy>, Refusal> {
    let unsure = |source| Refusal::Unsure { target: target.to_path_buf(), source };
    let names = view.list(Path::new("/proc")).map_err(unsure)?;
    let pids: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
    // The first process is always there: where it is hidden, so are others.
    let hidden = ViewError::Denied { path: PathBuf::from("/proc/1") };
    let mut answers = vec![if pids.contains(&1) { Ok(false) } else { Err(hidden) }];
    let mut found = Vec::new();
    let mut others = HashSet::new();
    for pid in pids.into_iter().filter(|pid| *pid != std::process::id()) {
        let process = PathBuf::from(format!("/proc/{pid}"));
        let answer = has_open(view, pid, family, access)
            .and_then(|open| Ok(open || maps(view, pid, family, &mut others)?))
            // A process that ended meanwhile has nothing open any more.
            .or_else(|error| if view.exists(&process) { Err(error) } else { Ok(false) });
        if answer == Ok(true) {
            let command = view.text(format!("/proc/{pid}/comm").as_ref()).unwrap_or_default();
            found.push(OpenedBy { pid, command });
        }
        answers.push(answer);
    }
    match answers.into_iter().find_map(Result::err) {
        None => Ok(found),
        Some(ViewError::Denied { .. }) => Err(Refusal::Denied {
            target: target.to_path_buf(),
            step: "checked for other processes that write to it",
            uid: crate::error::uid(),
        }),
        Some(source) => Err(unsure(source)),
    }
}

fn has_open(view: &dyn View, pid: u32, family: &Family, access: Access) -> Result<bool, ViewError> {
    let process = PathBuf::from(format!("/proc/{pid}"));
    for number in view.list(&process.join("fd"))? {
        let path = process.join("fd").join(&number);
        let info = process.join("fdinfo").join(number);
        let counts = match shares(view, pid, family, &path)? {
            Some(Shared::Data) => access == Access::Any || writes(view, &info)?,
            Some(Shared::Commands) => true,
            Some(Shared::Nothing) | None => false,
        };
        if counts {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What an open file allows a process to do to the family.
enum Shared {
    Nothing,
    /// Reads, and writes if the descriptor allows them.
    Data,
    /// Any command: from root, the kernel accepts writes through any descriptor.
    Commands,
}

/// What a process can do to the family through a path it has open: to a member, the backing file or
/// a namespace's character device; `None` if the path no longer leads anywhere.
fn shares(
    view: &dyn View,
    pid: u32,
    family: &Family,
    path: &Path,
) -> Result<Option<Shared>, ViewError> {
    let stat = match look(path) {
        // Closed meanwhile; or the process is exiting, and its maps are gone already.
        Err(Errno::NOENT | Errno::SRCH) => return Ok(None),
        // The init of a sandbox may shield itself from root; it measures no disks.
        Err(Errno::ACCESS) if pid == 1 => return Ok(None),
        other => other.map_err(|e| ViewError::from_io(path, &io::Error::from(e)))?,
    };
    let rdev = DevId { major: stat.stx_rdev_major, minor: stat.stx_rdev_minor };
    let file = family.file.as_ref().map(|below| &below.file);
    let is_file = || file.is_some_and(|it| it.may_be_at(view, path, Some(pid), &stat));
    Ok(Some(match FileType::from_raw_mode(stat.stx_mode.into()) {
        FileType::BlockDevice if family.member(rdev).is_some() => Shared::Data,
        FileType::RegularFile if is_file() => Shared::Data,
        FileType::CharacterDevice if family.generics.contains(&rdev) => Shared::Commands,
        _ => Shared::Nothing,
    }))
}

/// Whether a process has a part of it mapped. What `others` names by device and inode, as the
/// kernel writes them, was looked at before and is something else.
fn maps(
    view: &dyn View,
    pid: u32,
    family: &Family,
    others: &mut HashSet<(String, String)>,
) -> Result<bool, ViewError> {
    let process = PathBuf::from(format!("/proc/{pid}"));
    let table = process.join("maps");
    let failed = |error: io::Error| ViewError::from_io(&table, &error);
    let table = match File::open(&table) {
        Err(error) if pid == 1 && error.kind() == io::ErrorKind::PermissionDenied => {
            return Ok(false);
        }
        other => BufReader::new(other.map_err(failed)?),
    };
    for line in table.split(b'\n') {
        // 7f00-7f10 rw-s 00000000 00:05 131 /dev/sdb
        let line = line.map_err(failed)?;
        let line = String::from_utf8_lossy(&line);
        let mut words = line.split_ascii_whitespace();
        let (range, mut words) = (words.next().unwrap_or_default(), words.skip(2));
        let (Some(dev), Some(inode)) = (words.next(), words.next()) else { continue };
        let named = (dev.to_owned(), inode.to_owned());
        if inode == "0" || others.contains(&named) {
            continue;
        }
        let by_range = process.join("map_files").join(range);
        let shared = match shares(view, pid, family, &by_range) {
            // To follow these links takes more than to read what is mapped by name.
            Err(ViewError::Denied { .. }) => {
                let name = words.next().unwrap_or_default().trim_start_matches('/');
                shares(view, pid, family, &process.join("root").join(name))
            }
            other => other,
        };
        match shared? {
            Some(Shared::Data | Shared::Commands) => return Ok(true),
            Some(Shared::Nothing) => drop(others.insert(named)),
            None => {}
        }
    }
    Ok(false)
}

/// Whether the flags of a descriptor, in octal, allow writing.
fn writes(view: &dyn View, info: &Path) -> Result<bool, ViewError> {
    let text = match view.text(info) {
        Err(ViewError::Absent { .. }) => return Ok(false),
        other => other?,
    };
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|octal| i32::from_str_radix(octal.trim(), 8).ok());
    let malformed = || ViewError::Malformed {
        path: info.to_path_buf(),
        expected: "the flags of a descriptor",
        found: text.chars().take(40).collect(),
    };
    Ok(flags.ok_or_else(malformed)? & libc::O_ACCMODE != libc::O_RDONLY)
}

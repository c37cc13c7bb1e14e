//! Which other processes have a device open, or the file that a loop device shows.
//!
//! What a descriptor is open on is told by its device number or inode: the text of the link in
//! `/proc/PID/fd` names a node that may be gone or be called something else.

use crate::Refusal;
use crate::device::Family;
use crate::loops::FileId;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};
use rustix::io::Errno;
use seekwell_sys::{DevId, View, ViewError};
use std::fmt;
use std::io;
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

/// Processes other than this one with a descriptor on a member of the family or its file.
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
    for pid in pids.into_iter().filter(|pid| *pid != std::process::id()) {
        let answer = has_open(view, pid, family, access);
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
    let looked = || {
        for number in view.list(&process.join("fd"))? {
            let path = process.join("fd").join(&number);
            // Without asking a server, which may be gone, about a file in a network.
            let stat = match statx(
                CWD,
                &path,
                AtFlags::STATX_DONT_SYNC,
                StatxFlags::TYPE | StatxFlags::INO,
            ) {
                Err(Errno::NOENT) => continue,
                // The init of a sandbox may shield itself from root; it measures no disks.
                Err(Errno::ACCESS) if pid == 1 => continue,
                other => other.map_err(|e| ViewError::from_io(&path, &io::Error::from(e)))?,
            };
            let dev = DevId { major: stat.stx_dev_major, minor: stat.stx_dev_minor };
            let rdev = DevId { major: stat.stx_rdev_major, minor: stat.stx_rdev_minor };
            let shared = match FileType::from_raw_mode(stat.stx_mode.into()) {
                FileType::BlockDevice => family.member(rdev).is_some(),
                FileType::RegularFile => family.file == Some(FileId { dev, inode: stat.stx_ino }),
                _ => false,
            };
            let info = process.join("fdinfo").join(number);
            if shared && (access == Access::Any || writes(view, &info)?) {
                return Ok(true);
            }
        }
        Ok(false)
    };
    // A process that ended meanwhile has nothing open any more.
    looked().or_else(|error| if view.exists(&process) { Err(error) } else { Ok(false) })
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

//! Names that say whose a temporary file is, and the sweep that reads them.
//!
//! A process id alone is not enough: ids are used again. With the start time of the process
//! (proc(5), field 22 of `stat`) the pair is unique until the machine is restarted.

use super::{io, is_regular};
use crate::AccessError;
use crate::error::uid;
use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use seekwell_sys::{View, ViewError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

/// What a name says: `.seekwell-PID-START-RANDOM.tmp`, the last as 16 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    pub pid: u32,
    /// In clock ticks after the machine started.
    pub start_ticks: u64,
}

/// A name for a file of this process that no other file has.
pub(super) fn fresh(view: &dyn View) -> Result<String, AccessError> {
    let start = start_ticks(view, "self")?;
    let random = RandomState::new().build_hasher().finish();
    Ok(format!(".seekwell-{}-{start}-{random:016x}.tmp", std::process::id()))
}

/// The same for a directory: `.seekwell-suite-PID-START-RANDOM`.
pub(super) fn fresh_dir(view: &dyn View) -> Result<String, AccessError> {
    let name = fresh(view)?;
    let middle = middle(&name).expect("a name made here");
    Ok(format!(".seekwell-suite-{middle}"))
}

fn middle(name: &str) -> Option<&str> {
    name.strip_prefix(".seekwell-")?.strip_suffix(".tmp")
}

/// Reads a name back. Only what [`fresh`] can have made is one of ours.
pub(super) fn parse(name: &str) -> Option<Owner> {
    owner(middle(name)?)
}

/// The same of a name of [`fresh_dir`].
pub(super) fn parse_dir(name: &str) -> Option<Owner> {
    owner(name.strip_prefix(".seekwell-suite-")?)
}

fn owner(middle: &str) -> Option<Owner> {
    let mut parts = middle.split('-');
    let (pid, start, random) = (parts.next()?, parts.next()?, parts.next()?);
    let hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    if parts.next().is_some() || random.len() != 16 || !random.bytes().all(hex) {
        return None;
    }
    Some(Owner { pid: u32::try_from(decimal(pid)?).ok()?, start_ticks: decimal(start)? })
}

/// A decimal number as the formatter writes it: no sign, no leading zero.
fn decimal(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|c| c.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

fn start_ticks(view: &dyn View, pid: &str) -> Result<u64, ViewError> {
    let path = PathBuf::from(format!("/proc/{pid}/stat"));
    let text = view.text(&path)?;
    // The command name, in parentheses, may hold anything; the last one closes it.
    let fields = text.rsplit_once(')').map(|(_, rest)| rest.split_whitespace());
    fields.and_then(|mut fields| fields.nth(19)?.parse().ok()).ok_or_else(|| ViewError::Malformed {
        path,
        expected: "a stat line of a process",
        found: text.chars().take(80).collect(),
    })
}

/// Whether the process is certainly gone. When in doubt it is not.
pub(super) fn is_gone(view: &dyn View, owner: Owner) -> bool {
    match start_ticks(view, &owner.pid.to_string()) {
        Ok(start) => start != owner.start_ticks,
        // Without our own entry this is not a proc that shows processes.
        Err(ViewError::Absent { .. }) => start_ticks(view, "self").is_ok(),
        Err(_) => false,
    }
}

pub(super) fn sweep(view: &dyn View, dir: &Path) -> Result<Vec<PathBuf>, AccessError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let handle = rustix::fs::open(dir, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::NOENT => AccessError::Missing { path: dir.to_path_buf() },
        Errno::NOTDIR => AccessError::NotADirectory { path: dir.to_path_buf() },
        Errno::ACCESS | Errno::PERM => {
            AccessError::ReadDenied { path: dir.to_path_buf(), uid: uid() }
        }
        _ => io("opening", dir, errno),
    })?;
    let fail = |errno| io("sweeping", dir, errno);
    let mut removed = Vec::new();
    for entry in Dir::read_from(&handle).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        let Some(owner) = parse(name) else { continue };
        let ours = |stat: rustix::fs::Stat| is_regular(stat.st_mode) && stat.st_uid == uid();
        let stat = rustix::fs::statat(&handle, name, AtFlags::SYMLINK_NOFOLLOW);
        if !stat.is_ok_and(ours) || !is_gone(view, owner) {
            continue;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = rustix::fs::openat(&handle, name, flags, Mode::empty()) else { continue };
        let lock = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
        if lock == Err(Errno::WOULDBLOCK) || !rustix::fs::fstat(&file).is_ok_and(ours) {
            continue;
        }
        match rustix::fs::unlinkat(&handle, name, AtFlags::empty()) {
            Ok(()) => removed.push(dir.join(name)),
            // Another sweep was faster.
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(io("removing a leftover in", dir, errno)),
        }
    }
    removed.sort_unstable();
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::Live;

    #[test]
    fn a_fresh_name_is_read_back_as_this_process() {
        let view = Live::system();
        let name = fresh(&view).unwrap();
        let owner = parse(&name).unwrap();
        assert_eq!(owner.pid, std::process::id());
        assert!(!is_gone(&view, owner));
        assert!(is_gone(&view, Owner { start_ticks: owner.start_ticks + 1, ..owner }));
        assert_ne!(fresh(&view).unwrap(), name);
    }

    #[test]
    fn names_that_only_look_alike_are_not_ours() {
        assert!(parse(".seekwell-12-345-0123456789abcdef.tmp").is_some());
        for other in [
            "seekwell-12-345-0123456789abcdef.tmp",
            ".seekwell-12-345-0123456789abcdef.tmp.bak",
            ".seekwell-12-345-0123456789ABCDEF.tmp",
            ".seekwell-12-345-0123456789abcde.tmp",
            ".seekwell-+12-345-0123456789abcdef.tmp",
            ".seekwell-012-345-0123456789abcdef.tmp",
            ".seekwell-12-345-6-0123456789abcdef.tmp",
            ".seekwell--345-0123456789abcdef.tmp",
            ".seekwell-99999999999-345-0123456789abcdef.tmp",
            ".seekwell-12-0123456789abcdef.tmp",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn without_a_view_of_processes_nobody_is_gone() {
        let nothing = tempfile::tempdir().unwrap();
        let view = Live::rooted(nothing.path());
        assert!(!is_gone(&view, Owner { pid: 1, start_ticks: 0 }));
    }
}

//! The questions every member of the family is asked before anything is overwritten.
//!
//! Whatever cannot be answered counts as in use: a guard that fails open is not one. What cannot be
//! seen is a descriptor on its way through a socket, a file registered with io_uring, and users on
//! other hosts or in other PID namespaces.

use crate::Refusal;
use crate::backing::look;
use crate::device::{Family, block_device_at};
use crate::exported;
use crate::holders::holders_of;
use crate::loops::{Shown, shown_by};
use crate::member::{Member, backing_file};
use crate::mounted::mounts_of;
use crate::opened_by::{Access, opened_by};
use rustix::io::Errno;
use seekwell_sys::{DevId, View, ViewError, unescape};
use std::path::{Path, PathBuf};

/// Refuses when any member is mounted, swapped to, held, shown by another loop device, exported by
/// the kernel, or open for writing in another process.
pub(crate) fn check(view: &dyn View, target: &Path, family: &Family) -> Result<(), Refusal> {
    let unsure = |source| Refusal::Unsure { target: target.to_path_buf(), source };
    let at = mounts_of(view, family).map_err(unsure)?;
    if !at.is_empty() {
        return Err(Refusal::Mounted { target: target.to_path_buf(), at });
    }
    file_system_member(view, target, family)?;
    swap(view, target, family)?;
    for member in &family.members {
        let holders = holders_of(view, member).map_err(unsure)?;
        if !holders.is_empty() {
            let (target, device) = (target.to_path_buf(), member.node());
            return Err(Refusal::Held { target, device, holders });
        }
    }
    loops(view, target, family)?;
    exported::check(view, target, family)?;
    let by = opened_by(view, target, family, Access::Write)?;
    if by.is_empty() {
        return Ok(());
    }
    let (target, device) = (target.to_path_buf(), family.target.node());
    Err(Refusal::OpenForWriting { target, device, by })
}

/// What uses other partitions of the target's disk: no reason to refuse, but its requests are in
/// the figures.
pub(crate) fn beside(view: &dyn View, family: &Family) -> Vec<String> {
    let others = family.beside(view).unwrap_or_default();
    let used = others.iter().filter_map(|part| {
        check(view, Path::new(&part.target.node()), part).err().map(|refusal| {
            format!("another partition of the same disk may disturb the measurement: {refusal}")
        })
    });
    used.collect()
}

/// A btrfs or bcachefs of several devices names only one of them as the source of its mount; its
/// folder in sysfs, which exists while it is mounted, names them all.
fn file_system_member(view: &dyn View, target: &Path, family: &Family) -> Result<(), Refusal> {
    for (kind, below) in [("btrfs", "devices"), ("bcachefs", "")] {
        let root = PathBuf::from("/sys/fs").join(kind);
        for uuid in view.list(&root).unwrap_or_default() {
            let folder = root.join(&uuid).join(below);
            for name in view.list(&folder).unwrap_or_default() {
                let path = folder.join(name);
                let candidates = [path.join("dev"), path.join("block/dev")];
                let numbers = candidates.iter().filter_map(|p| view.text(p).ok()?.parse().ok());
                if let Some(member) = numbers.into_iter().find_map(|dev: DevId| family.member(dev))
                {
                    return Err(Refusal::FileSystemMember {
                        target: target.to_path_buf(),
                        device: member.node(),
                        kind,
                        uuid,
                    });
                }
            }
        }
    }
    Ok(())
}

fn swap(view: &dyn View, target: &Path, family: &Family) -> Result<(), Refusal> {
    let path = Path::new("/proc/swaps");
    let text = match view.text(path) {
        Ok(text) => text,
        // A kernel without swap has no such file.
        Err(ViewError::Absent { .. }) => return Ok(()),
        Err(source) => return Err(Refusal::Unsure { target: target.to_path_buf(), source }),
    };
    for line in text.lines().skip(1) {
        let mut words = line.split_whitespace();
        let (Some(name), Some(kind)) = (words.next(), words.next()) else { continue };
        // A removed node or file is marked; its name still says which it was.
        let name = PathBuf::from(unescape(name).trim_end_matches(" (deleted)"));
        let (target, swap) = (target.to_path_buf(), name.clone());
        if kind == "partition" {
            let dev = block_device_at(view, &name);
            if let Some(member) = dev.and_then(|dev| family.member(dev)) {
                return Err(Refusal::Swap { target, device: member.node(), swap });
            }
        } else if let Some(below) = &family.file {
            let failed = |errno: Errno| Refusal::Failed {
                target: target.clone(),
                step: "compared with an active swap file",
                source: errno.into(),
            };
            let stat = look(&name).map_err(failed)?;
            if below.file.may_be_at(view, &name, None, &stat) {
                return Err(Refusal::Swap { target, device: family.target.node(), swap });
            }
        }
    }
    Ok(())
}

/// A loop device claims nothing of what it shows, so its user is invisible below: look for loop
/// devices over a member, and for a second one over the same file as a member.
fn loops(view: &dyn View, target: &Path, family: &Family) -> Result<(), Refusal> {
    let unsure = |source| Refusal::Unsure { target: target.to_path_buf(), source };
    let unclear = |by: &Member, fstype: &str| Refusal::UnclearFile {
        target: target.to_path_buf(),
        loop_device: by.node(),
        file: backing_file(view, by).unwrap_or_default(),
        fstype: fstype.to_owned(),
    };
    if let Some(below) = family.file.as_ref().filter(|below| below.file.is_unclear()) {
        return Err(unclear(&below.by, &below.file.fstype));
    }
    let listed = view.list(Path::new("/sys/block")).map_err(unsure)?;
    for name in listed.into_iter().filter(|name| name.starts_with("loop")) {
        let other = view.canonical(&Path::new("/sys/block").join(name));
        let other = match other.and_then(|sysfs| Member::at(view, sysfs)) {
            Err(ViewError::Absent { .. }) => continue,
            other => other.map_err(unsure)?,
        };
        if family.member(other.dev).is_some() {
            continue;
        }
        let same = match shown_by(view, target, &other)? {
            None => false,
            Some(Shown::Device(dev)) => family.member(dev).is_some(),
            Some(Shown::File(file, _)) => match &family.file {
                Some(below) if below.file.may_be(&file) && file.is_unclear() => {
                    return Err(unclear(&other, &file.fstype));
                }
                below => below.as_ref().is_some_and(|below| below.file.may_be(&file)),
            },
        };
        if same {
            return Err(Refusal::ShownByLoop {
                target: target.to_path_buf(),
                loop_device: other.node(),
                backing: backing_file(view, &other).unwrap_or_default(),
            });
        }
    }
    Ok(())
}

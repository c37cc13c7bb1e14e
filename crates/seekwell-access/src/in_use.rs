//! The questions every member of the family is asked before anything is overwritten.
//!
//! Whatever cannot be answered counts as in use: a guard that fails open is not one.

use crate::Refusal;
use crate::device::{Family, backing_file, block_device_at};
use crate::holders::holders_of;
use crate::mounted::mounts_of;
use rustix::fs::FileType;
use seekwell_sys::{DevId, View, ViewError};
use std::path::{Path, PathBuf};

/// Refuses when any member is mounted, swapped to, held, or shown by another loop device.
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
    loops(view, target, family)
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
        if kind != "partition" {
            continue;
        }
        // A removed node is marked; its name still says which device it was.
        let name = name.strip_suffix("\\040(deleted)").unwrap_or(name);
        let dev = block_device_at(view, Path::new(name));
        if let Some(member) = dev.and_then(|dev| family.member(dev)) {
            return Err(Refusal::Swap {
                target: target.to_path_buf(),
                device: member.node(),
                swap: PathBuf::from(name),
            });
        }
    }
    Ok(())
}

/// A loop device claims nothing of what it shows, so its user is invisible below: look for loop
/// devices over a member, and for a second one over the same file as a member.
fn loops(view: &dyn View, target: &Path, family: &Family) -> Result<(), Refusal> {
    let own: Vec<Backing> =
        family.members.iter().filter_map(|m| Backing::of(backing_file(view, m)?)).collect();
    let listed = match view.list(Path::new("/sys/block")) {
        Ok(names) => names,
        Err(source) => return Err(Refusal::Unsure { target: target.to_path_buf(), source }),
    };
    for name in listed.into_iter().filter(|name| name.starts_with("loop")) {
        if family.members.iter().any(|m| m.name == name) {
            continue;
        }
        let attribute = Path::new("/sys/block").join(&name).join("loop/backing_file");
        let Ok(file) = view.text(&attribute) else { continue };
        let over = block_device_at(view, Path::new(&file)).and_then(|dev| family.member(dev));
        let shared = Backing::of(file.clone()).is_some_and(|it| own.iter().any(|o| o.same(&it)));
        if over.is_some() || shared {
            return Err(Refusal::ShownByLoop {
                target: target.to_path_buf(),
                loop_device: format!("/dev/{name}"),
                backing: file,
            });
        }
    }
    Ok(())
}

/// A backing file by its text and, where it can be seen, by its inode.
struct Backing {
    text: String,
    inode: Option<(u64, u64)>,
}

impl Backing {
    fn of(text: String) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let stat = rustix::fs::stat(text.as_str()).ok();
        let regular = stat
            .filter(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
            .map(|stat| (stat.st_dev, stat.st_ino));
        Some(Self { text, inode: regular })
    }

    fn same(&self, other: &Self) -> bool {
        match (self.inode, other.inode) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => self.text == other.text,
        }
    }
}

//! Which devices share their bytes with the target, found by device number in sysfs.
//!
//! Overwriting a whole disk overwrites its partitions; overwriting a partition overwrites what
//! uses the whole disk; overwriting a loop device whose backing is a block device overwrites that
//! one. All of them together are the family, and each member is asked the same questions.

use crate::Refusal;
use crate::backing::Backing;
use crate::loops::{Shown, shown_by};
use crate::member::Member;
use rustix::fs::FileType;
use seekwell_sys::{DevId, View, ViewError, nvme};
use std::path::Path;

/// The target with every device that shares bytes with it.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    /// What is to be destroyed.
    pub target: Member,
    /// The whole disk: the target itself, or the disk it is a partition of.
    pub disk: Member,
    /// All that must be unused, the target first.
    pub members: Vec<Member>,
    /// Character devices of the members that are NVMe namespaces.
    pub generics: Vec<DevId>,
    /// The file at the bottom, if a member is a loop device over one.
    pub file: Option<BelowLoop>,
}

/// The file that a loop device shows.
#[derive(Debug, Clone)]
pub(crate) struct BelowLoop {
    pub by: Member,
    pub file: Backing,
    /// Where the loop device begins in it.
    pub offset_bytes: u64,
}

impl Family {
    /// # Errors
    /// [`Refusal`] if sysfs or a loop device does not say.
    pub(crate) fn of(view: &dyn View, path: &Path, dev: DevId) -> Result<Self, Refusal> {
        let unsure = |source| Refusal::Unsure { target: path.to_path_buf(), source };
        let (target, disk, mut members) = sharing(view, dev).map_err(unsure)?;
        let mut lowest = disk.clone();
        let file = loop {
            match shown_by(view, path, &lowest)? {
                None => break None,
                Some(Shown::File(file, offset_bytes)) => {
                    break Some(BelowLoop { by: lowest, file, offset_bytes });
                }
                Some(Shown::Device(below)) if members.iter().any(|m| m.dev == below) => break None,
                Some(Shown::Device(below)) => {
                    let (_, disk, more) = sharing(view, below).map_err(unsure)?;
                    members.extend(more);
                    lowest = disk;
                }
            }
        };
        let generic = |member: &Member| {
            let found = nvme::generic_of(view, &member.sysfs)?;
            found.map(|folder| Ok(Member::at(view, folder)?.dev)).transpose()
        };
        let generics = members.iter().filter_map(|member| generic(member).transpose());
        let generics = generics.collect::<Result<_, _>>().map_err(unsure)?;
        Ok(Self { target, disk, members, generics, file })
    }

    /// The target and, below a whole disk, each partition that the kernel knows.
    pub(crate) fn overwritten(&self) -> impl Iterator<Item = &Member> {
        let parts = |m: &&Member| m.sysfs.parent() == Some(&self.target.sysfs);
        std::iter::once(&self.target).chain(self.members.iter().filter(parts))
    }

    /// The other partitions of a partition's disk, each for itself: they share no bytes with it.
    pub(crate) fn beside(&self, view: &dyn View) -> Result<Vec<Self>, ViewError> {
        let (.., members) = sharing(view, self.disk.dev)?;
        let alone = |part: Member| Self {
            target: part.clone(),
            disk: self.disk.clone(),
            members: vec![part],
            generics: Vec::new(),
            file: None,
        };
        let whole = self.target.dev == self.disk.dev;
        let others = members.into_iter().filter(|it| !whole && self.member(it.dev).is_none());
        Ok(others.map(alone).collect())
    }

    pub(crate) fn member(&self, dev: DevId) -> Option<&Member> {
        self.members.iter().find(|m| m.dev == dev)
    }
}

/// A device, its disk, and all that shares bytes with it, itself first.
fn sharing(view: &dyn View, dev: DevId) -> Result<(Member, Member, Vec<Member>), ViewError> {
    let target = Member::at(view, view.canonical(&dev.sysfs())?)?;
    if view.exists(&target.sysfs.join("partition")) {
        let parent = target.sysfs.parent().unwrap_or(Path::new("/")).to_path_buf();
        let disk = Member::at(view, parent)?;
        return Ok((target.clone(), disk.clone(), vec![target, disk]));
    }
    let mut members = vec![target.clone()];
    for name in view.list(&target.sysfs)? {
        let folder = target.sysfs.join(name);
        if view.exists(&folder.join("partition")) {
            members.push(Member::at(view, folder)?);
        }
    }
    Ok((target.clone(), target, members))
}

/// The number of the block device a path leads to, through any links. Where the node itself
/// cannot be seen (another mount namespace, a removed node) its name is looked up in sysfs.
pub(crate) fn block_device_at(view: &dyn View, path: &Path) -> Option<DevId> {
    if let Ok(stat) = rustix::fs::stat(path) {
        let block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
        return block.then(|| DevId::from_raw(stat.st_rdev));
    }
    let resolved = view.canonical(path).unwrap_or_else(|_| path.to_path_buf());
    let name = resolved.strip_prefix("/dev").ok()?.to_str()?.replace('/', "!");
    let dev = Path::new("/sys/class/block").join(name).join("dev");
    view.text(&dev).ok()?.parse().ok()
}

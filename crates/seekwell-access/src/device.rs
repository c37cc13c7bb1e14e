//! Which devices share their bytes with the target, found by device number in sysfs.
//!
//! Overwriting a whole disk overwrites its partitions; overwriting a partition overwrites what
//! uses the whole disk; overwriting a loop device whose backing is a block device overwrites that
//! one. All of them together are the family, and each member is asked the same questions.

use rustix::fs::FileType;
use seekwell_sys::{DevId, View, ViewError};
use std::path::{Path, PathBuf};

/// Loop on loop on loop: deeper than this is not believed.
const MAX_DEPTH: u32 = 8;

/// One block device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub dev: DevId,
    /// The kernel's name, `sda1`.
    pub name: String,
    /// Its folder in sysfs with all links resolved.
    pub sysfs: PathBuf,
}

impl Member {
    fn at(view: &dyn View, sysfs: PathBuf) -> Result<Self, ViewError> {
        let name = sysfs.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = sysfs.join("dev");
        let text = view.text(&path)?;
        let dev = text.parse().map_err(|()| ViewError::Malformed {
            path,
            expected: "a device number",
            found: text.chars().take(40).collect(),
        })?;
        Ok(Self { dev, name, sysfs })
    }

    /// Its usual node, `/dev/sda1`. For sentences, never for opening.
    pub(crate) fn node(&self) -> String {
        // The kernel writes the slash of names such as cciss/c0d0 as an exclamation mark.
        format!("/dev/{}", self.name.replace('!', "/"))
    }
}

/// The target with every device that shares bytes with it.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    /// What is to be destroyed.
    pub target: Member,
    /// The whole disk: the target itself, or the disk it is a partition of.
    pub disk: Member,
    /// All that must be unused, the target first.
    pub members: Vec<Member>,
}

impl Family {
    pub(crate) fn of(view: &dyn View, dev: DevId) -> Result<Self, ViewError> {
        Self::below(view, dev, 0)
    }

    fn below(view: &dyn View, dev: DevId, depth: u32) -> Result<Self, ViewError> {
        let target = Member::at(view, view.canonical(&dev.sysfs())?)?;
        let mut members = vec![target.clone()];
        let disk = if view.exists(&target.sysfs.join("partition")) {
            let parent = target.sysfs.parent().unwrap_or(Path::new("/")).to_path_buf();
            let disk = Member::at(view, parent)?;
            members.push(disk.clone());
            disk
        } else {
            for name in view.list(&target.sysfs)? {
                let folder = target.sysfs.join(name);
                if view.exists(&folder.join("partition")) {
                    members.push(Member::at(view, folder)?);
                }
            }
            target.clone()
        };
        if let Some(backing) = backing_file(view, &disk)
            && let Some(below) = block_device_at(view, Path::new(&backing))
            && depth < MAX_DEPTH
        {
            members.extend(Self::below(view, below, depth + 1)?.members);
        }
        Ok(Self { target, disk, members })
    }

    pub(crate) fn is_partition(&self) -> bool {
        self.target.dev != self.disk.dev
    }

    pub(crate) fn member(&self, dev: DevId) -> Option<&Member> {
        self.members.iter().find(|m| m.dev == dev)
    }
}

/// The file or device a loop device shows, as the kernel writes it.
pub(crate) fn backing_file(view: &dyn View, disk: &Member) -> Option<String> {
    view.text(&disk.sysfs.join("loop/backing_file")).ok().filter(|text| !text.is_empty())
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

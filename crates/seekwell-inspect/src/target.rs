//! What is to be inspected, and finding it on the live system.

use crate::find;
use crate::model::TargetKind;
use crate::reader::Reader;
use rustix::fs::FileType;
use seekwell_sys::{DevId, View, classify, did_you_mean, nearest, nvme, path_text, sudo_if_denied};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Space of a file system, from `statvfs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FsSpace {
    pub size_bytes: u64,
    /// Bytes a user without privileges can still write.
    pub available_bytes: u64,
    /// Inodes left; `None` if the file system has no fixed number of them.
    pub inodes_available: Option<u64>,
}

/// Something to inspect: a path that has been looked at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub given: String,
    /// Absolute, with symbolic links resolved.
    pub path: PathBuf,
    pub kind: TargetKind,
    /// The device's own number for a block device, the number of the file system for a file or
    /// directory, `None` for the null target and for models.
    pub dev: Option<DevId>,
    /// Space of the file system a file or directory is on.
    pub space: Option<FsSpace>,
}

/// What a path is when it is nothing that can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotATarget {
    /// A character device, such as an NVMe controller or `/dev/sg0`.
    CharacterDevice,
    Socket,
    Fifo,
    /// Something this program does not know.
    Unknown,
}

impl fmt::Display for NotATarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CharacterDevice => "a character device",
            Self::Socket => "a socket",
            Self::Fifo => "a named pipe",
            Self::Unknown => "of no kind this program knows",
        })
    }
}

#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    #[error("{given} does not exist{}", did_you_mean(near.first()))]
    NotFound {
        given: String,
        /// Existing paths with a similar name, the most similar first; often empty.
        near: Vec<String>,
    },
    /// It is still open, as the current directory or below /proc, and has no name any more.
    #[error("{given} was deleted: name a target that exists, or change to another directory")]
    Deleted { given: String },
    #[error("{given} is a link to {}, which does not exist", to.display())]
    DanglingLink { given: String, to: PathBuf },
    #[error(
        "{given} is {is}, not a file, a directory or a block device{}",
        did_you_mean(near.first())
    )]
    Unsupported { given: String, is: NotATarget, near: Vec<String> },
    #[error("{given} could not be looked at: {source}{}", sudo_if_denied(source))]
    Unreadable { given: String, source: io::Error },
}

classify!(InspectError {
    Usage: NotFound, Deleted, DanglingLink, Unsupported;
    Refused: Unreadable;
});

impl Target {
    /// The engine's null target: nothing below it.
    pub fn null() -> Self {
        let given = "null".to_owned();
        Self { path: PathBuf::from(&given), given, kind: TargetKind::Null, dev: None, space: None }
    }

    /// The description of a modelled machine, by its file or its name.
    pub fn machine(given: &str) -> Self {
        Self {
            kind: TargetKind::Machine,
            path: PathBuf::from(given),
            given: given.into(),
            ..Self::null()
        }
    }

    /// A block device by kernel name and number, for views that are not the live system.
    pub fn block_device(name: &str, dev: DevId) -> Self {
        Self::disk(name, Some(dev))
    }

    fn disk(name: &str, dev: Option<DevId>) -> Self {
        let path = Path::new("/dev").join(name);
        let given = path.display().to_string();
        Self { given, path, kind: TargetKind::BlockDevice, dev, space: None }
    }

    /// Looks at a path of the live system; the character device of an NVMe namespace stands for its
    /// disk. `view` is asked for names to suggest when it is not
    /// there.
    ///
    /// # Errors
    /// [`InspectError`] says what is wrong with the path and what may have been meant.
    pub fn resolve(view: &dyn View, path: impl AsRef<Path>) -> Result<Self, InspectError> {
        let given = &*path_text(path.as_ref());
        let asked = &*nvme::disk_node(view, path.as_ref());
        let unreadable =
            |source: io::Error| InspectError::Unreadable { given: given.to_owned(), source };
        let stat = match rustix::fs::stat(asked) {
            Ok(stat) => stat,
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {
                return Err(not_found(view, asked, given));
            }
            Err(errno) => return Err(unreadable(errno.into())),
        };
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::BlockDevice => TargetKind::BlockDevice,
            FileType::Directory => TargetKind::Directory,
            FileType::RegularFile => TargetKind::File,
            other => return Err(unsupported(view, given, other)),
        };
        if stat.st_nlink == 0 {
            return Err(InspectError::Deleted { given: given.to_owned() });
        }
        let path = std::fs::canonicalize(asked).map_err(unreadable)?;
        let (number, space) = match kind {
            TargetKind::BlockDevice => (stat.st_rdev, None),
            _ => (stat.st_dev, space(&path)),
        };
        let dev = Some(DevId::from_raw(number));
        Ok(Self { given: given.to_owned(), path, kind, dev, space })
    }
}

fn space(path: &Path) -> Option<FsSpace> {
    let found = rustix::fs::statvfs(path).ok()?;
    Some(FsSpace {
        size_bytes: found.f_blocks.saturating_mul(found.f_frsize),
        available_bytes: found.f_bavail.saturating_mul(found.f_frsize),
        // btrfs and others make inodes as they need them and answer 0 of 0.
        inodes_available: (found.f_files > 0).then_some(found.f_favail),
    })
}

fn not_found(view: &dyn View, asked: &Path, given: &str) -> InspectError {
    if let Ok(to) = std::fs::read_link(asked) {
        return InspectError::DanglingLink { given: given.to_owned(), to };
    }
    InspectError::NotFound { given: given.to_owned(), near: near(view, given) }
}

fn unsupported(view: &dyn View, given: &str, found: FileType) -> InspectError {
    let is = match found {
        FileType::CharacterDevice => NotATarget::CharacterDevice,
        FileType::Socket => NotATarget::Socket,
        FileType::Fifo => NotATarget::Fifo,
        _ => NotATarget::Unknown,
    };
    // An NVMe controller is a character device, and its namespaces begin with its name.
    let name = given.strip_prefix("/dev/").filter(|n| !n.is_empty());
    let blocks = view.list(Path::new("/sys/class/block")).unwrap_or_default();
    let near = name.map_or_else(Vec::new, |name| {
        let begins = blocks.iter().filter(|block| block.starts_with(name));
        begins.map(|block| format!("/dev/{block}")).take(MAX_NEAR).collect()
    });
    InspectError::Unsupported { given: given.to_owned(), is, near }
}

const MAX_NEAR: usize = 5;

/// Existing paths a mistyped one may have meant, the most similar first. For a name in `/dev` only
/// block devices are suggested.
pub(crate) fn near(view: &dyn View, given: &str) -> Vec<String> {
    let path = Path::new(given);
    let Some(wanted) = path.file_name().and_then(|n| n.to_str()) else { return Vec::new() };
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let source = match folder {
        f if f == Path::new("/dev") => PathBuf::from("/sys/class/block"),
        f => std::path::absolute(f).unwrap_or_else(|_| f.to_path_buf()),
    };
    let names = view.list(&source).unwrap_or_default();
    let full = |name: String| match folder {
        f if f == Path::new(".") => name,
        f => f.join(name).display().to_string(),
    };
    nearest(wanted, names).into_iter().map(full).take(MAX_NEAR).collect()
}

/// Every whole disk the kernel shows, in the order of their names: not partitions (those eMMCs have
/// in hardware included), not the hidden paths behind an NVMe multipath head, not CD-ROM and floppy
/// drives, and not loop, ram, zram and nbd devices that hold nothing.
pub fn all_disks(view: &dyn View) -> Vec<Target> {
    let r = Reader::new(view);
    let mut disks: Vec<Target> = r
        .names(Path::new("/sys/block"))
        .iter()
        .filter_map(|name| {
            let dir = find::by_name(&r, name)?;
            let number = dir.join("dev");
            let dev: Option<DevId> = r.hint(&number).and_then(|d| d.parse().ok());
            // Copies of some attributes alone have no number, and a path of NVMe an empty one.
            let numbered = dev.is_some() || !r.view.exists(&number);
            let holds = r.hint(&dir.join("size")).is_some_and(|s| s != "0");
            let made = ["loop", "ram", "zram", "nbd"].iter().any(|p| name.starts_with(p));
            let drive = ["sr", "fd"].iter().any(|p| name.starts_with(p));
            let hidden = r.hint(&dir.join("hidden")).is_some_and(|h| h == "1");
            // A hardware partition of an eMMC, which the kernel shows as a disk.
            let boot = name.starts_with("mmcblk") && name.contains("boot");
            let shown = numbered && !hidden && !drive && !boot && (holds || !made);
            shown.then(|| Target::disk(&name.replace('!', "/"), dev))
        })
        .collect();
    disks.sort_by(|a, b| (a.given.len(), &a.given).cmp(&(b.given.len(), &b.given)));
    disks
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekwell_sys::fake::Fake;

    #[test]
    fn a_mistyped_device_is_answered_with_its_neighbours() {
        let fake = Fake::new()
            .dir("/sys/class/block/nvme0n1")
            .dir("/sys/class/block/nvme0n1p1")
            .dir("/sys/class/block/sda")
            .dir("/sys/class/block/sdb")
            .dir("/dev/disk/by-id/ata-X_1234")
            .dir("/dev/null");
        assert_eq!(near(&fake, "/dev/nvm0n1")[0], "/dev/nvme0n1");
        assert_eq!(near(&fake, "/dev/sdq"), ["/dev/sda", "/dev/sdb"]);
        assert_eq!(near(&fake, "/dev/disk/by-id/ata-X_1243"), ["/dev/disk/by-id/ata-X_1234"]);
        assert_eq!(near(&fake, "/dev/something-else"), Vec::<String>::new());
        assert_eq!(near(&fake, "/"), Vec::<String>::new());
    }

    #[test]
    fn every_disk_is_listed_but_not_empty_made_ones() {
        let disk = |fake: Fake, name: &str, dev: &str, size: &str| {
            let dir = format!("/sys/devices/x/{name}");
            fake.symlink(format!("/sys/block/{name}"), &dir)
                .file(format!("{dir}/dev"), dev)
                .file(format!("{dir}/size"), size)
        };
        let mut fake = Fake::new();
        for (name, dev, size) in [
            ("sda", "8:0", "100"),
            ("sdaa", "65:160", "100"),
            ("sdb", "8:16", "0"),
            ("loop0", "7:0", "0"),
            ("loop1", "7:1", "8"),
            ("zram0", "253:0", "0"),
            ("sr0", "11:0", "100"),
            ("mmcblk0boot0", "179:8", "100"),
            ("nvme0c0n1", "", "100"),
            ("cciss!c0d0", "104:0", "100"),
        ] {
            fake = disk(fake, name, dev, size);
        }
        let given: Vec<String> = all_disks(&fake).into_iter().map(|t| t.given).collect();
        assert_eq!(given, ["/dev/sda", "/dev/sdb", "/dev/sdaa", "/dev/loop1", "/dev/cciss/c0d0"]);
    }
}

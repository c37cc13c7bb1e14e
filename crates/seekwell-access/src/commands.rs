//! The character device of an NVMe namespace (`/dev/ng0n1`), opened in addition to its block device
//! for an engine that bypasses the block layer.
//!
//! The kernel does not check the range of a passthrough command, accepts writes from root through
//! any descriptor, and grants no exclusive claim on this device. So the block device is inspected,
//! guarded and held, and the character device of the same namespace is opened last.

use crate::member::Member;
use crate::read_only::failure;
use crate::{AccessError, NoCommands, Opened, by_descriptor};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use seekwell_sys::nvme::{Namespace, generic_of};
use seekwell_sys::{DevId, View};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

impl Opened {
    /// Opens the character device of this block device's namespace with the same access mode. The
    /// descriptor must not outlive this handle, which holds the claim on the device.
    ///
    /// # Errors
    /// [`AccessError::NoCommands`] if it has no usable character device; otherwise, the kernel's
    /// error.
    pub fn commands(&self, view: &dyn View) -> Result<OwnedFd, AccessError> {
        let own = self.as_fd();
        let path = &*std::fs::read_link(by_descriptor(own)).unwrap_or_default();
        let fail = |what, errno| failure(path, what, errno);
        let no = |why| AccessError::NoCommands { path: path.to_path_buf(), why };
        let stat = rustix::fs::fstat(own).map_err(|e| fail("stat", e))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
            return Err(no(NoCommands::NotNvme));
        }
        let disk = Member::at(view, view.canonical(&DevId::from_raw(stat.st_rdev).sysfs())?)?;
        let generic = generic(view, path, &disk)?;
        let access = rustix::fs::fcntl_getfl(own).map_err(|e| fail("looking at", e))?;
        assert_eq!(
            access & OFlags::RWMODE == OFlags::RDWR,
            self.writable(),
            "a handle's access mode matches its type"
        );
        let commands = open(&generic, access & OFlags::RWMODE)?;
        let ask = |device| {
            Namespace::of(device).map_err(|source| match Errno::from_io_error(&source) {
                Some(errno @ (Errno::ACCESS | Errno::PERM)) => fail("identifying", errno),
                _ => {
                    let what = "identifying the namespace";
                    AccessError::Io { what, path: path.to_path_buf(), source }
                }
            })
        };
        let (namespace, other) = (ask(own)?, ask(commands.as_fd())?);
        if namespace != other || namespace.size_bytes != self.size_bytes() {
            return Err(no(NoCommands::OtherNamespace { generic: generic.node() }));
        }
        match namespace.metadata_bytes {
            0 => Ok(commands),
            bytes => Err(no(NoCommands::Metadata { bytes })),
        }
    }
}

/// The character device of a disk, found through sysfs; `path` is for error messages.
fn generic(view: &dyn View, path: &Path, disk: &Member) -> Result<Member, AccessError> {
    let no = |why| Err(AccessError::NoCommands { path: path.to_path_buf(), why });
    if view.exists(&disk.sysfs.join("partition")) {
        let parent = disk.sysfs.parent().unwrap_or(Path::new("/")).to_path_buf();
        return no(NoCommands::Partition { disk: Member::at(view, parent)?.node() });
    }
    match generic_of(view, &disk.sysfs)? {
        Some(folder) => Ok(Member::at(view, folder)?),
        None => no(NoCommands::NotNvme),
    }
}

/// Opens a character device by its node and verifies that the node has its device number.
fn open(generic: &Member, access: OFlags) -> Result<OwnedFd, AccessError> {
    let node = generic.node();
    let path = Path::new(&node);
    let flags = access | OFlags::CLOEXEC | OFlags::NOCTTY;
    let fd = rustix::io::retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))
        .map_err(|e| failure(path, "opening", e))?;
    let stat = rustix::fs::fstat(&fd).map_err(|e| failure(path, "stat", e))?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind != FileType::CharacterDevice || DevId::from_raw(stat.st_rdev) != generic.dev {
        let source = io::Error::from(Errno::STALE);
        return Err(AccessError::Io { what: "opening", path: path.to_path_buf(), source });
    }
    Ok(fd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Family;
    use crate::open_read_only;
    use seekwell_sys::Live;
    use std::os::unix::fs::symlink;

    fn disk(root: &Path, folder: &str, dev: &str) -> Member {
        let folder = Path::new("/sys/devices").join(folder);
        let real = root.join(folder.strip_prefix("/").unwrap());
        std::fs::create_dir_all(&real).unwrap();
        std::fs::write(real.join("dev"), dev).unwrap();
        Member::at(&Live::rooted(root), folder).unwrap()
    }

    #[test]
    fn a_partition_names_its_namespace_and_a_disk_of_another_kind_says_what_is_needed() {
        let root = tempfile::tempdir().unwrap();
        let view = Live::rooted(root.path());
        let whole = disk(root.path(), "nvme0/nvme0n1", "259:0");
        let part = disk(root.path(), "nvme0/nvme0n1/nvme0n1p1", "259:1");
        std::fs::write(root.path().join("sys/devices/nvme0/nvme0n1/nvme0n1p1/partition"), "1")
            .unwrap();
        let why = |disk| match generic(&view, Path::new("/dev/x"), disk) {
            Err(AccessError::NoCommands { why, .. }) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why(&part), NoCommands::Partition { disk: "/dev/nvme0n1".into() });
        assert_eq!(why(&whole), NoCommands::NotNvme);
    }

    #[test]
    fn the_character_device_is_of_the_family_of_its_disk_and_of_each_partition() {
        let root = tempfile::tempdir().unwrap();
        let view = Live::rooted(root.path());
        let sys = root.path().join("sys");
        disk(root.path(), "nvme0/nvme0n1", "259:0");
        disk(root.path(), "nvme0/nvme0n1/nvme0n1p1", "259:1");
        std::fs::write(sys.join("devices/nvme0/nvme0n1/nvme0n1p1/partition"), "1").unwrap();
        let generic = disk(root.path(), "nvme0/ng0n1", "240:0");
        let class = sys.join("class/nvme-generic");
        std::fs::create_dir_all(&class).unwrap();
        symlink(class, sys.join("devices/nvme0/ng0n1/subsystem")).unwrap();
        std::fs::create_dir_all(sys.join("dev/block")).unwrap();
        for (number, folder) in [("259:0", "nvme0n1"), ("259:1", "nvme0n1/nvme0n1p1")] {
            let to = format!("../../devices/nvme0/{folder}");
            symlink(to, sys.join("dev/block").join(number)).unwrap();
            let family = Family::of(&view, root.path(), number.parse().unwrap()).unwrap();
            assert_eq!(family.generics, [generic.dev], "{number}");
        }
    }

    #[test]
    fn a_file_takes_no_commands() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(4096).unwrap();
        let opened = Opened::ReadOnly(open_read_only(file.path()).unwrap());
        let error = opened.commands(&Live::system()).unwrap_err().to_string();
        assert!(error.contains(&file.path().display().to_string()), "{error}");
        assert!(error.contains("/dev/ng0n1"), "{error}");
    }
}

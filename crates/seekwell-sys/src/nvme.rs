//! NVMe namespaces: identifying them (`linux/nvme_ioctl.h`), and pairing the two devices that the
//! kernel creates for each, a disk (`/dev/nvme0n1`) and a character device (`/dev/ng0n1`).

use crate::{DevId, View, ViewError};
use rustix::fs::FileType;
use std::borrow::Cow;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

/// `_IO('N', 0x40)`: the identifier of an open namespace.
const ID: libc::Ioctl = 0x4e40;
/// `_IOWR('N', 0x41, struct nvme_passthru_cmd)`.
const ADMIN_CMD: libc::Ioctl = 0xc048_4e41_u32 as libc::Ioctl;
const TIMEOUT_MS: u32 = 5_000;
/// Length of Identify data.
const IDENTIFY_BYTES: usize = 4096;

/// An admin command; other fields are 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct AdminCommand {
    pub opcode: u8,
    pub nsid: u32,
    pub cdw10: u32,
    pub cdw11: u32,
    pub cdw14: u32,
}

/// `struct nvme_passthru_cmd`, and `struct nvme_uring_cmd`, which differs in the last word alone.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the kernel's header")]
pub struct Passthru {
    pub opcode: u8,
    pub flags: u8,
    pub rsvd1: u16,
    pub nsid: u32,
    pub cdw2: u32,
    pub cdw3: u32,
    pub metadata: u64,
    pub addr: u64,
    pub metadata_len: u32,
    pub data_len: u32,
    pub cdw10: u32,
    pub cdw11: u32,
    pub cdw12: u32,
    pub cdw13: u32,
    pub cdw14: u32,
    pub cdw15: u32,
    pub timeout_ms: u32,
    /// The first double word of the completion; reserved in `nvme_uring_cmd`.
    pub result: u32,
}

const _: () = assert!(size_of::<Passthru>() == 0x48, "the command codes contain this size");

/// Sends a command that reads into or writes from `data`, and returns the first double word of its
/// completion.
///
/// # Errors
/// The kernel's error, or the controller's status in words; [`io::ErrorKind::NotFound`] if the
/// device does not support the command.
pub fn admin(device: impl AsFd, command: AdminCommand, data: &mut [u8]) -> io::Result<u32> {
    let AdminCommand { opcode, nsid, cdw10, cdw11, cdw14 } = command;
    let mut command = Passthru {
        opcode,
        nsid,
        addr: if data.is_empty() { 0 } else { data.as_mut_ptr() as u64 },
        data_len: data.len() as u32,
        cdw10,
        cdw11,
        cdw14,
        timeout_ms: TIMEOUT_MS,
        ..Passthru::default()
    };
    let fd = device.as_fd().as_raw_fd();
    // SAFETY: the command is laid out as in linux/nvme_ioctl.h; its only pointer is to a buffer
    // that lives until the call returns, and its length is given with it.
    let status = unsafe { libc::ioctl(fd, ADMIN_CMD, &raw mut command) };
    match status {
        0 => Ok(command.result),
        ..0 => {
            let error = io::Error::last_os_error();
            Err(match error.raw_os_error() {
                Some(libc::ENOTTY) => io::ErrorKind::NotFound.into(),
                _ => error,
            })
        }
        status => Err(refused(status as u32)),
    }
}

/// The error for a status: code in bits 7:0, type in bits 10:8.
fn refused(status: u32) -> io::Error {
    match status & 0x7ff {
        // Invalid opcode, invalid log page, invalid field, feature not changeable.
        0x001 | 0x109 => io::ErrorKind::NotFound.into(),
        0x002 => io::Error::new(io::ErrorKind::InvalidInput, "the controller knows no such value"),
        0x10e => io::Error::new(io::ErrorKind::Unsupported, "the controller refuses a change"),
        status => io::Error::other(format!("the controller answers with status {status:#05x}")),
    }
}

/// A namespace, as its drive identifies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Namespace {
    /// Its identifier, as in commands.
    pub id: u32,
    /// Bytes of data in a logical block.
    pub block_bytes: u32,
    /// Bytes of metadata per block; 0 in most formats.
    pub metadata_bytes: u16,
    /// Its capacity in bytes.
    pub size_bytes: u64,
}

impl Namespace {
    /// Identifies the namespace of an open block or character device.
    ///
    /// # Errors
    /// As for [`admin`]; `ENOTTY` if it is not a namespace, `EACCES` without root before Linux 6.2.
    pub fn of(device: impl AsFd) -> io::Result<Self> {
        // SAFETY: the request takes no argument and returns a number.
        let id = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), ID) };
        let id = u32::try_from(id).map_err(|_| io::Error::last_os_error())?;
        let mut page = [0; IDENTIFY_BYTES];
        admin(device, AdminCommand { opcode: 0x06, nsid: id, ..Default::default() }, &mut page)?;
        let unknown = || {
            io::Error::new(io::ErrorKind::InvalidData, "the drive does not describe a namespace")
        };
        Self::decode(id, &page).ok_or_else(unknown)
    }

    /// Decodes Identify Namespace (NVM Command Set 1.0, 4.1.5.1): NSZE in bytes 7:0, the index of
    /// the format in bits 6:5 and 3:0 of byte 26, formats of four bytes from 128 on.
    fn decode(id: u32, page: &[u8; IDENTIFY_BYTES]) -> Option<Self> {
        let blocks = u64::from_le_bytes(*page.first_chunk()?);
        let format = usize::from((page[26] & 0xf) | (page[26] >> 1 & 0x30));
        let [low, high, shift, _] = *page[128 + 4 * format..].first_chunk()?;
        let block_bytes = 1_u32.checked_shl(shift.into()).filter(|bytes| *bytes >= 512)?;
        let size_bytes = blocks.checked_mul(block_bytes.into())?;
        let metadata_bytes = u16::from_le_bytes([low, high]);
        Some(Self { id, block_bytes, metadata_bytes, size_bytes })
    }
}

/// The disk's path if `path` leads to a namespace's character device; otherwise `path`.
pub fn disk_node<'p>(view: &dyn View, path: &'p Path) -> Cow<'p, Path> {
    let number = rustix::fs::stat(path).ok().and_then(|stat| {
        let kind = FileType::from_raw_mode(stat.st_mode);
        (kind == FileType::CharacterDevice).then(|| DevId::from_raw(stat.st_rdev))
    });
    let disk = number.and_then(|number| disk_of(view, number).ok().flatten());
    match disk.as_deref().and_then(Path::file_name) {
        Some(name) => Cow::Owned(Path::new("/dev").join(name)),
        None => Cow::Borrowed(path),
    }
}

/// The sysfs folder of the disk of the same namespace as a character device; `None` if that is not
/// a namespace.
///
/// # Errors
/// If sysfs cannot be read.
pub fn disk_of(view: &dyn View, generic: DevId) -> Result<Option<PathBuf>, ViewError> {
    match view.canonical(format!("/sys/dev/char/{generic}").as_ref()) {
        Err(ViewError::Absent { .. }) => Ok(None),
        Ok(folder) if is_of(view, &folder, "nvme-generic") => twin(view, &folder, "block"),
        other => other.map(|_| None),
    }
}

/// The sysfs folder of the character device of the same namespace as a disk, given the disk's own;
/// `None` if it is not NVMe, or before Linux 5.13.
///
/// # Errors
/// If sysfs cannot be read.
pub fn generic_of(view: &dyn View, disk: &Path) -> Result<Option<PathBuf>, ViewError> {
    twin(view, disk, "nvme-generic")
}

/// The device of `class` of the same namespace: both are below the same controller or subsystem and
/// have the namespace's number there. The number before it may differ: a disk is numbered by its
/// subsystem, a character device by its controller.
fn twin(view: &dyn View, folder: &Path, class: &str) -> Result<Option<PathBuf>, ViewError> {
    let (Some(number), Some(parent)) = (number(folder), folder.parent()) else { return Ok(None) };
    let others = view.list(parent)?.into_iter().map(|name| parent.join(name));
    let is_same = |other: &PathBuf| self::number(other) == Some(number);
    Ok(others.filter(is_same).find(|other| is_of(view, other, class)))
}

/// The 2 of `nvme0n2` and `ng1n2`. The hidden paths of a multipath head have none.
fn number(folder: &Path) -> Option<u32> {
    let name = folder.file_name()?.to_str()?;
    let numbers = name.strip_prefix("nvme").or_else(|| name.strip_prefix("ng"))?;
    let (owner, number) = numbers.split_once('n')?;
    owner.parse::<u32>().ok().and(number.parse().ok())
}

fn is_of(view: &dyn View, folder: &Path, class: &str) -> bool {
    view.canonical(&folder.join("subsystem")).is_ok_and(|it| it.ends_with(class))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Live;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A tree of sysfs with these devices: folder, class, number.
    fn tree(devices: &[(&str, &str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| {
            let path = root.path().join("sys").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            path
        };
        for (folder, class, number) in devices {
            fs::write(at(&format!("devices/{folder}/dev")), number).unwrap();
            fs::create_dir_all(at(&format!("class/{class}/x"))).unwrap();
            let up = "../".repeat(folder.split('/').count() + 1);
            let subsystem = at(&format!("devices/{folder}/subsystem"));
            symlink(format!("{up}class/{class}"), subsystem).unwrap();
            let kind = if *class == "block" { "block" } else { "char" };
            let to = format!("../../devices/{folder}");
            symlink(to, at(&format!("dev/{kind}/{number}"))).unwrap();
        }
        root
    }

    const GENERIC: &str = "nvme-generic";

    #[test]
    fn both_devices_of_a_namespace_are_found_from_each_other() {
        let root = tree(&[
            // The second controller of a subsystem: its disks are counted by the subsystem.
            ("pci/nvme/nvme1/nvme0n2", "block", "259:3"),
            ("pci/nvme/nvme1/nvme0n1", "block", "259:1"),
            ("pci/nvme/nvme1/ng1n1", GENERIC, "240:1"),
            ("pci/nvme/nvme1/ng1n2", GENERIC, "240:2"),
            ("pci/nvme/nvme1/hwmon2", "hwmon", "1:1"),
            // Another controller's.
            ("pci/nvme/nvme0/nvme7n1", "block", "259:0"),
            ("pci/nvme/nvme0/ng0n1", GENERIC, "240:0"),
            // A head, of which the controllers below have only hidden paths.
            ("virtual/nvme-subsys4/nvme4n1", "block", "259:9"),
            ("virtual/nvme-subsys4/ng4n1", GENERIC, "240:9"),
        ]);
        let view = Live::rooted(root.path());
        let char = |major, minor| disk_of(&view, DevId { major, minor }).unwrap();
        let name = |path: Option<PathBuf>| path.map(|p| p.file_name().unwrap().to_owned());
        for (minor, disk) in [(1, "nvme0n1"), (2, "nvme0n2"), (0, "nvme7n1"), (9, "nvme4n1")] {
            let folder = char(240, minor).unwrap();
            assert_eq!(folder.file_name().unwrap(), disk);
            let generic = generic_of(&view, &folder).unwrap().unwrap();
            let dev: DevId = view.text(&generic.join("dev")).unwrap().parse().unwrap();
            assert_eq!(dev, DevId { major: 240, minor });
        }
        assert_eq!(name(char(1, 1)), None, "what is no namespace has no disk");
        assert_eq!(char(5, 5), None);
    }

    #[test]
    fn a_disk_without_a_character_device_has_none_and_a_partition_neither() {
        let root = tree(&[
            ("pci/nvme/nvme0/nvme0n1", "block", "259:0"),
            ("pci/nvme/nvme0/nvme0c1n2", "block", "259:2"),
            ("pci/nvme/nvme0/ng0n2", GENERIC, "240:2"),
            ("pci/nvme/nvme0/nvme0n1/nvme0n1p2", "block", "259:1"),
        ]);
        let view = Live::rooted(root.path());
        for dev in ["259:0", "259:1", "259:2"] {
            let folder = view.canonical(format!("/sys/dev/block/{dev}").as_ref()).unwrap();
            assert_eq!(generic_of(&view, &folder), Ok(None), "{dev}");
        }
        assert_eq!(disk_of(&view, DevId { major: 240, minor: 2 }), Ok(None));
    }

    #[test]
    fn a_namespace_is_decoded_with_the_format_in_use() {
        let mut page = [0; IDENTIFY_BYTES];
        page[..8].copy_from_slice(&1000_u64.to_le_bytes());
        page[128..132].copy_from_slice(&[0, 0, 9, 0]);
        let plain = Namespace { id: 3, block_bytes: 512, metadata_bytes: 0, size_bytes: 512_000 };
        assert_eq!(Namespace::decode(3, &page), Some(plain));
        // Format 17, whose index is in two parts.
        page[26] = 0x21;
        page[128 + 17 * 4..][..4].copy_from_slice(&[8, 0, 12, 0]);
        let found = Namespace::decode(3, &page).unwrap();
        assert_eq!((found.block_bytes, found.metadata_bytes), (4096, 8));
        assert_eq!(found.size_bytes, 4_096_000);
        page[26] = 1;
        assert_eq!(Namespace::decode(3, &page), None, "blocks of one byte");
    }
}

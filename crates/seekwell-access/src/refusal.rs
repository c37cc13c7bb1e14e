//! Why a device is not opened for destruction, in sentences that name what holds it and how to
//! let it go.

use crate::holders::Holder;
use crate::labels::{Fingerprint, UnknownData};
use crate::mounted::MountedAt;
use crate::opened_by::OpenedBy;
use crate::signature::Signature;
use crate::zones::ZonesError;
use seekwell_sys::{DevId, ViewError, classify, sudo};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The guard said no. Nothing was written and nothing is held open. `target` is always the path
/// as it was given, or the disk if that was the character device of an NVMe namespace.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(
        "{} does not exist, and a device is never created; \
         list the disks with `seekwell inspect`", target.display()
    )]
    Missing { target: PathBuf },
    #[error(
        "{} is a regular file, and files of users are never overwritten; to measure its file \
         system give its directory, where a temporary file is made", target.display()
    )]
    RegularFile { target: PathBuf },
    #[error("{} is a {kind}, not a block device", target.display())]
    NotBlockDevice { target: PathBuf, kind: &'static str },
    #[error(
        "{} is read-only (`ro` is 1 in sysfs, 0 is needed); \
         if the medium itself allows it: `blockdev --setrw {device}`", target.display()
    )]
    ReadOnlyDevice { target: PathBuf, device: String },
    /// The serial that was given is not the device's. The right one is not shown on purpose: it is
    /// to be looked up and compared with the label, not copied from an error message.
    #[error(
        "the serial given, {given:?}, is not that of {}: {wanted} is needed; \
         read it with `seekwell inspect {}` and compare it with the disk you mean",
        target.display(), target.display()
    )]
    WrongSerial { target: PathBuf, given: String, wanted: &'static str },
    /// The device has neither serial nor WWN, so it cannot be confirmed by name.
    #[error(
        "{} shows neither a serial number nor a WWN, and one is needed to name what is destroyed; \
         a virtual disk gets one in its configuration (QEMU: `serial=NAME`)", target.display()
    )]
    NoSerial { target: PathBuf },
    /// A member of the device's family is mounted.
    #[error("{} is in use, mounted: {}; first `{}`", target.display(), join(at),
        at.iter().map(MountedAt::umount_command).collect::<Vec<_>>().join("` and `"))]
    Mounted { target: PathBuf, at: Vec<MountedAt> },
    #[error(
        "{} is in use: {device} is a member of the mounted {kind} {uuid}; \
         first unmount it, see `findmnt -t {kind}`", target.display()
    )]
    FileSystemMember { target: PathBuf, device: String, kind: &'static str, uuid: String },
    #[error("{} is in use: {device} is active swap; first `swapoff {}`",
        target.display(), swap.display())]
    Swap {
        target: PathBuf,
        device: String,
        /// Its name in `/proc/swaps`.
        swap: PathBuf,
    },
    #[error("{} is in use: {device} is held by {}; first `{}`", target.display(), join(holders),
        holders.iter().map(Holder::release_command).collect::<Vec<_>>().join("` and `"))]
    Held { target: PathBuf, device: String, holders: Vec<Holder> },
    #[error(
        "{} is in use: {loop_device} shows the same data ({backing}); \
         first `losetup --detach {loop_device}`", target.display()
    )]
    ShownByLoop { target: PathBuf, loop_device: String, backing: String },
    /// The kernel exports it to other hosts.
    #[error(
        "{} is in use: the kernel exports {device} ({}); first remove that export \
         (`nvmetcli`, `targetcli`, or in configfs)", target.display(), entry.display()
    )]
    Exported {
        target: PathBuf,
        device: String,
        /// Its folder in configfs.
        entry: PathBuf,
    },
    #[error(
        "cannot tell whether the kernel exports {}: {module} is loaded, but configfs, which lists \
         its exports, is not mounted; `mount -t configfs none /sys/kernel/config`",
        target.display()
    )]
    UnseenExports { target: PathBuf, module: &'static str },
    /// What a loop device shows cannot be asked, so it may be the target.
    #[error(
        "whether {loop_device} shows the data of {} cannot be determined: {source}; \
         see `losetup --list`; if its node is missing, `mknod {loop_device} b {} {}`",
        target.display(), dev.major, dev.minor
    )]
    UnknownLoop { target: PathBuf, loop_device: String, dev: DevId, source: io::Error },
    /// A file that has other numbers than the same file below.
    #[error(
        "{} may be in use: the file of {loop_device}, {}, lies on {}, which shows files that \
         have other names elsewhere; attach the file that lies below, or a copy on a local file \
         system, and detach {loop_device}", target.display(),
        if file.is_empty() { "whose name is unknown" } else { file },
        if fstype.is_empty() { "an unknown file system" } else { fstype }
    )]
    UnclearFile { target: PathBuf, loop_device: String, file: String, fstype: String },
    #[error(
        "{} is in use: open for writing or mapped in {}; stop that first, see `fuser -v {device}`",
        target.display(), join(by)
    )]
    OpenForWriting { target: PathBuf, device: String, by: Vec<OpenedBy> },
    #[error(
        "{} holds data: {}; if it is really to go, look at it with `wipefs {device}` \
         and then remove the mark with `{}`", target.display(), join(found), clear(found, device)
    )]
    Signature { target: PathBuf, device: String, found: Vec<Signature> },
    /// There is data that is neither known nor seekwell's own.
    #[error(
        "{} holds unknown data {seen}{}; look at it with `wipefs {}` or \
         `hexdump -C -n 4096 -s {} {}`, and if it may go, add `--accept-data {}`", target.display(),
        other_data(accepted), seen.device, seen.offset_bytes, seen.device, seen.fingerprint
    )]
    UnknownData {
        target: PathBuf,
        seen: Box<UnknownData>,
        /// The data that was accepted: this is other data.
        accepted: Vec<Fingerprint>,
    },
    #[error(
        "{} holds data: the udev database says {key}={value}; if it is really to go, \
         `wipefs --all {device}`; if it is already gone, `udevadm trigger --settle {device}`",
        target.display()
    )]
    UdevSignature { target: PathBuf, device: String, key: String, value: String },
    /// The exclusive open was refused: something has claimed the device.
    #[error(
        "{} is claimed by something else (opening it exclusively gave EBUSY){}; \
         see `lsblk {device}` and `fuser -v {device}`", target.display(), opened(by)
    )]
    Busy {
        target: PathBuf,
        device: String,
        /// Processes that have it open; empty when the kernel itself holds it or none may be seen.
        by: Vec<OpenedBy>,
    },
    /// Its zones only accept writes at their write pointers.
    #[error(
        "{} is a host-managed zoned device and only accepts writes at its zones' write pointers: \
         use `seekwell bench --zonemode=zbd`, or zonemode=zbd in a job file",
        target.display()
    )]
    HostManaged { target: PathBuf },
    #[error("cannot tell which zones of {} hold data: {source}", target.display())]
    Zones { target: PathBuf, source: ZonesError },
    /// The path led to another device the second time.
    #[error(
        "{} was device {checked} when it was checked and {opened} when it was opened; \
         something exchanged it, nothing was written", target.display()
    )]
    Exchanged { target: PathBuf, checked: DevId, opened: DevId },
    #[error("{} may not be {step} by user {uid}{}", target.display(), sudo())]
    Denied { target: PathBuf, step: &'static str, uid: u32 },
    #[error("whether {} is in use cannot be determined: {source}", target.display())]
    Unsure { target: PathBuf, source: ViewError },
    #[error("{} could not be {step}: {source}", target.display())]
    Failed { target: PathBuf, step: &'static str, source: io::Error },
}

classify!(Refusal {
    Refused: Missing, RegularFile, NotBlockDevice, ReadOnlyDevice, WrongSerial, NoSerial, Mounted,
        FileSystemMember, Swap, Held, ShownByLoop, UnknownLoop, UnclearFile, Exported,
        UnseenExports, OpenForWriting, Signature,
        UnknownData, UdevSignature, Busy, HostManaged, Zones, Exchanged, Denied, Unsure, Failed;
});

impl Refusal {
    /// The path that was refused, as it was given.
    pub fn target(&self) -> &Path {
        match self {
            Self::Missing { target }
            | Self::RegularFile { target }
            | Self::NotBlockDevice { target, .. }
            | Self::ReadOnlyDevice { target, .. }
            | Self::WrongSerial { target, .. }
            | Self::NoSerial { target }
            | Self::Mounted { target, .. }
            | Self::FileSystemMember { target, .. }
            | Self::Swap { target, .. }
            | Self::Held { target, .. }
            | Self::ShownByLoop { target, .. }
            | Self::Exported { target, .. }
            | Self::UnseenExports { target, .. }
            | Self::UnknownLoop { target, .. }
            | Self::UnclearFile { target, .. }
            | Self::OpenForWriting { target, .. }
            | Self::Signature { target, .. }
            | Self::UnknownData { target, .. }
            | Self::UdevSignature { target, .. }
            | Self::Busy { target, .. }
            | Self::HostManaged { target }
            | Self::Zones { target, .. }
            | Self::Exchanged { target, .. }
            | Self::Denied { target, .. }
            | Self::Unsure { target, .. }
            | Self::Failed { target, .. } => target,
        }
    }

    pub(crate) fn io(target: &Path, step: &'static str, errno: rustix::io::Errno) -> Self {
        use rustix::io::Errno;
        let target = target.to_path_buf();
        match errno {
            Errno::NOENT | Errno::NOTDIR => Self::Missing { target },
            Errno::ACCESS | Errno::PERM => Self::Denied { target, step, uid: crate::error::uid() },
            _ => Self::Failed { target, step, source: errno.into() },
        }
    }
}

fn join<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

fn clear(found: &[Signature], device: &str) -> String {
    let mut commands: Vec<String> = found.iter().map(|s| s.clear_command(device)).collect();
    commands.dedup();
    commands.join("` and `")
}

fn opened(by: &[OpenedBy]) -> String {
    if by.is_empty() { String::new() } else { format!(", open in {}", join(by)) }
}

fn other_data(accepted: &[Fingerprint]) -> String {
    if accepted.is_empty() {
        return String::new();
    }
    format!("; `--accept-data {}` is for other data", join(accepted))
}

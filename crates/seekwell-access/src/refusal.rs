//! Why a device is not opened for destruction, in sentences that name what holds it and how to
//! let it go.

use crate::holders::Holder;
use crate::labels::{Fingerprint, UnknownData};
use crate::mounted::MountedAt;
use crate::opened_by::OpenedBy;
use crate::signature::Signature;
use seekwell_sys::{DevId, ViewError, classify, sudo};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The guard said no. Nothing was written and nothing is held open. `target` is always the path
/// as it was given.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Nothing is at the path.
    #[error(
        "{} does not exist, and a device is never created; \
         list the disks with `seekwell inspect`", target.display()
    )]
    Missing {
        /// What was to be destroyed.
        target: PathBuf,
    },
    /// A file of the user's is never overwritten.
    #[error(
        "{} is a regular file, and files of users are never overwritten; to measure its file \
         system give its directory, where a temporary file is made", target.display()
    )]
    RegularFile {
        /// What was to be destroyed.
        target: PathBuf,
    },
    /// The path is neither a block device nor a regular file.
    #[error("{} is a {kind}, not a block device", target.display())]
    NotBlockDevice {
        /// What was to be destroyed.
        target: PathBuf,
        /// What it is, in words.
        kind: &'static str,
    },
    /// The kernel has the device marked read-only.
    #[error(
        "{} is read-only (`ro` is 1 in sysfs, 0 is needed); \
         if the medium itself allows it: `blockdev --setrw {device}`", target.display()
    )]
    ReadOnlyDevice {
        /// What was to be destroyed.
        target: PathBuf,
        /// Its usual node.
        device: String,
    },
    /// The serial that was given is not the device's. The right one is not told on purpose: it is
    /// to be looked up and compared with the label, not copied from an error message.
    #[error(
        "the serial given, {given:?}, is not that of {}: {wanted} is needed; \
         read it with `seekwell inspect {}` and compare it with the disk you mean",
        target.display(), target.display()
    )]
    WrongSerial {
        /// What was to be destroyed.
        target: PathBuf,
        /// What was given.
        given: String,
        /// Which kind of value is needed.
        wanted: &'static str,
    },
    /// The device has neither serial nor WWN, so nobody can say that they mean it.
    #[error(
        "{} shows neither a serial number nor a WWN, and one is needed to name what is destroyed; \
         a virtual disk gets one in its configuration (QEMU: `serial=NAME`)", target.display()
    )]
    NoSerial {
        /// What was to be destroyed.
        target: PathBuf,
    },
    /// A member of the device's family is mounted.
    #[error("{} is in use, mounted: {}; first `{}`", target.display(), join(at),
        at.iter().map(MountedAt::umount_command).collect::<Vec<_>>().join("` and `"))]
    Mounted {
        /// What was to be destroyed.
        target: PathBuf,
        /// Which devices, where.
        at: Vec<MountedAt>,
    },
    /// A mounted file system of several devices has it as a member.
    #[error(
        "{} is in use: {device} is a member of the mounted {kind} {uuid}; \
         first unmount it, see `findmnt -t {kind}`", target.display()
    )]
    FileSystemMember {
        /// What was to be destroyed.
        target: PathBuf,
        /// Which device.
        device: String,
        /// The kind of file system.
        kind: &'static str,
        /// Which one.
        uuid: String,
    },
    /// The kernel swaps to it.
    #[error("{} is in use: {device} is active swap; first `swapoff {}`",
        target.display(), swap.display())]
    Swap {
        /// What was to be destroyed.
        target: PathBuf,
        /// Which device.
        device: String,
        /// Its name in `/proc/swaps`.
        swap: PathBuf,
    },
    /// Something is stacked on it.
    #[error("{} is in use: {device} is held by {}; first `{}`", target.display(), join(holders),
        holders.iter().map(Holder::release_command).collect::<Vec<_>>().join("` and `"))]
    Held {
        /// What was to be destroyed.
        target: PathBuf,
        /// Which device is held.
        device: String,
        /// By what.
        holders: Vec<Holder>,
    },
    /// A loop device shows the same bytes.
    #[error(
        "{} is in use: {loop_device} shows the same data ({backing}); \
         first `losetup --detach {loop_device}`", target.display()
    )]
    ShownByLoop {
        /// What was to be destroyed.
        target: PathBuf,
        /// The loop device.
        loop_device: String,
        /// What it shows.
        backing: String,
    },
    /// What a loop device shows cannot be asked, so it may be the target.
    #[error(
        "whether {loop_device} shows the data of {} cannot be told: {source}; \
         see `losetup --list`; if its node is missing, `mknod {loop_device} b {} {}`",
        target.display(), dev.major, dev.minor
    )]
    UnknownLoop {
        /// What was to be destroyed.
        target: PathBuf,
        /// The loop device.
        loop_device: String,
        /// Its number.
        dev: DevId,
        /// What the kernel said.
        source: io::Error,
    },
    /// Another process can write to it.
    #[error(
        "{} is in use: open for writing in {}; stop that first, see `fuser -v {device}`",
        target.display(), join(by)
    )]
    OpenForWriting {
        /// What was to be destroyed.
        target: PathBuf,
        /// Its usual node.
        device: String,
        /// The processes.
        by: Vec<OpenedBy>,
    },
    /// There is something on the device.
    #[error(
        "{} holds data: {}; if it is really to go, look at it with `wipefs {device}` \
         and then remove the mark with `{}`", target.display(), join(found), clear(found, device)
    )]
    Signature {
        /// What was to be destroyed.
        target: PathBuf,
        /// Its usual node.
        device: String,
        /// What was found, the first of each kind.
        found: Vec<Signature>,
    },
    /// There is data in places where labels lie that is neither known nor seekwell's own.
    #[error(
        "{} holds unknown data: {seen}{}; look at it with `wipefs {}`, and if it may go, add \
         `--accept-data {}`", target.display(), other_data(accepted), seen.device, seen.fingerprint
    )]
    UnknownData {
        /// What was to be destroyed.
        target: PathBuf,
        /// What is there.
        seen: UnknownData,
        /// The data that was accepted: this is other data.
        accepted: Vec<Fingerprint>,
    },
    /// udev found something on the device that is not in the signature table.
    #[error(
        "{} holds data: the udev database says {key}={value}; if it is really to go, \
         `wipefs --all {device}`; if it is already gone, `udevadm trigger --settle {device}`",
        target.display()
    )]
    UdevSignature {
        /// What was to be destroyed.
        target: PathBuf,
        /// Its usual node.
        device: String,
        /// The property.
        key: String,
        /// What it says.
        value: String,
    },
    /// The exclusive open was refused: something has claimed the device.
    #[error(
        "{} is claimed by something else (opening it exclusively gave EBUSY){}; \
         see `lsblk {device}` and `fuser -v {device}`", target.display(), opened(by)
    )]
    Busy {
        /// What was to be destroyed.
        target: PathBuf,
        /// Its usual node.
        device: String,
        /// Processes that have it open; empty when the kernel itself holds it or none may be seen.
        by: Vec<OpenedBy>,
    },
    /// The path led to another device the second time.
    #[error(
        "{} was device {checked} when it was checked and {opened} when it was opened; \
         something exchanged it, nothing was written", target.display()
    )]
    Exchanged {
        /// What was to be destroyed.
        target: PathBuf,
        /// The number that passed the checks.
        checked: DevId,
        /// The number that was opened.
        opened: DevId,
    },
    /// This user may not open it.
    #[error("{} may not be {step} by user {uid}{}", target.display(), sudo())]
    Denied {
        /// What was to be destroyed.
        target: PathBuf,
        /// What was tried.
        step: &'static str,
        /// The effective user.
        uid: u32,
    },
    /// A question could not be answered, so the answer is no.
    #[error("whether {} is in use cannot be told: {source}", target.display())]
    Unsure {
        /// What was to be destroyed.
        target: PathBuf,
        /// What could not be read.
        source: ViewError,
    },
    /// A system call failed.
    #[error("{} could not be {step}: {source}", target.display())]
    Failed {
        /// What was to be destroyed.
        target: PathBuf,
        /// What was tried.
        step: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

classify!(Refusal {
    Refused: Missing, RegularFile, NotBlockDevice, ReadOnlyDevice, WrongSerial, NoSerial, Mounted,
        FileSystemMember, Swap, Held, ShownByLoop, UnknownLoop, OpenForWriting, Signature,
        UnknownData, UdevSignature, Busy, Exchanged, Denied, Unsure, Failed;
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
            | Self::UnknownLoop { target, .. }
            | Self::OpenForWriting { target, .. }
            | Self::Signature { target, .. }
            | Self::UnknownData { target, .. }
            | Self::UdevSignature { target, .. }
            | Self::Busy { target, .. }
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

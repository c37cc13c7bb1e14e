//! Whether a device is mounted anywhere, not only where we can see it.
//!
//! A container or a `systemd` unit with its own mount namespace can have a disk mounted that our
//! own mountinfo does not show. Every process shows the mounts of its namespace, so one process of
//! each is read. A namespace kept alive without any process is not found here; the exclusive open
//! that follows is refused by the kernel in that case.

use crate::device::{Family, block_device_at};
use crate::namespaces::tables;
use seekwell_sys::{DevId, Mount, View, ViewError};
use std::fmt;
use std::path::PathBuf;

/// One place where a device of the target's family is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountedAt {
    /// The node of the mounted device, `/dev/sdb1`.
    pub device: String,
    /// Where, as seen in its namespace.
    pub mount_point: PathBuf,
    /// A process of the mount namespace; none when it is our own.
    pub namespace_of_pid: Option<u32>,
}

impl MountedAt {
    pub fn umount_command(&self) -> String {
        let point = self.mount_point.display();
        match self.namespace_of_pid {
            None => format!("umount {point}"),
            Some(pid) => format!("nsenter --mount=/proc/{pid}/ns/mnt umount {point}"),
        }
    }
}

impl fmt::Display for MountedAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.device, self.mount_point.display())?;
        match self.namespace_of_pid {
            None => Ok(()),
            Some(pid) => write!(f, " in the mount namespace of process {pid}"),
        }
    }
}

/// Every mount of a member of the family in every mount namespace that can be read.
///
/// # Errors
/// When our own mounts, or any table that was readable, cannot be understood.
pub(crate) fn mounts_of(view: &dyn View, family: &Family) -> Result<Vec<MountedAt>, ViewError> {
    let mut found: Vec<MountedAt> = Vec::new();
    for (namespace_of_pid, mounts) in tables(view)? {
        for mount in mounts {
            let devs = device_of(view, &mount, namespace_of_pid);
            let Some(member) = devs.iter().find_map(|dev| family.member(*dev)) else { continue };
            let device = member.node();
            // Namespaces share most of their mounts; one command unmounts them all.
            let again = |at: &MountedAt| at.device == device && at.mount_point == mount.mount_point;
            if !found.iter().any(again) {
                let mount_point = mount.mount_point;
                found.push(MountedAt { device, mount_point, namespace_of_pid });
            }
        }
    }
    Ok(found)
}

/// The numbers a mount may stand for: its own, and for an anonymous one (btrfs, FUSE) that of the
/// source, looked at from our namespace and from its own.
fn device_of(view: &dyn View, mount: &Mount, pid: Option<u32>) -> Vec<DevId> {
    if mount.dev.major != 0 || !mount.source.starts_with('/') {
        return vec![mount.dev];
    }
    let inside = pid.map(|pid| PathBuf::from(format!("/proc/{pid}/root{}", mount.source)));
    let paths = [Some(PathBuf::from(&mount.source)), inside];
    paths.into_iter().flatten().filter_map(|path| block_device_at(view, &path)).collect()
}

//! Plain words for a target that is not an ordinary disk. What to do about it is for findings.

use crate::inspection::Device;
use crate::model::{DeviceKind, Filesystem};

/// What has to be known of a file system before its numbers mean anything.
pub(crate) fn of_filesystem(filesystem: &Filesystem) -> Option<String> {
    let fstype = filesystem.fstype.value.as_str();
    let source = &filesystem.source.value;
    Some(match fstype {
        "overlay" => {
            "overlayfs, a layered file system as containers have it: a file is copied up when it \
             is first written"
                .to_owned()
        }
        "aufs" => "aufs, a layered file system as containers have it".to_owned(),
        "tmpfs" | "ramfs" | "devtmpfs" => format!("{fstype} is memory, not a disk"),
        "nfs" | "nfs4" => format!("NFS, over the network from {source}"),
        "cifs" | "smb3" => format!("SMB, over the network from {source}"),
        "ceph" => format!("CephFS, over the network from {source}"),
        "9p" => "9p, a folder of the host or another machine".to_owned(),
        "virtiofs" => "virtiofs, a folder of the host".to_owned(),
        "fuseblk" => format!("FUSE: a user-space program serves the file system on {source}"),
        fuse if fuse == "fuse" || fuse.starts_with("fuse.") => {
            format!("FUSE: a user-space program serves this file system ({fstype}, {source})")
        }
        _ => return None,
    })
}

/// What has to be known of a device and everything below it.
pub(crate) fn of_device(device: &Device, virtual_machine: bool, notes: &mut Vec<String>) {
    let note = match device.kind {
        DeviceKind::Loop => device
            .role
            .as_ref()
            .map(|file| format!("{} is a loop device over {}", device.name, file.value)),
        DeviceKind::Zram => Some(format!("{} is compressed memory, not a disk", device.name)),
        DeviceKind::Network if device.detail.drbd.is_some() => {
            Some(format!("{} is mirrored over the network", device.name))
        }
        DeviceKind::Network => Some(format!("{} is a disk over the network", device.name)),
        DeviceKind::Disk if is_virtual(device, virtual_machine) => Some(format!(
            "{} is a virtual machine's disk: its timings include the host's storage and load",
            device.name
        )),
        _ => None,
    };
    if let Some(note) = note.filter(|n| !notes.contains(n)) {
        notes.push(note);
    }
    device.below.iter().for_each(|d| of_device(d, virtual_machine, notes));
}

fn is_virtual(device: &Device, virtual_machine: bool) -> bool {
    let transport = device.transport.as_ref().map_or("", |t| t.value.as_str());
    if ["virtio-blk", "virtio-scsi", "xen"].contains(&transport) {
        return true;
    }
    let makers = ["QEMU", "VMware", "VBOX", "Virtual Disk", "Virtual disk", "Amazon Elastic Block"];
    let model = device.model.as_ref().map_or("", |m| m.value.as_str());
    makers.iter().any(|maker| model.contains(maker))
        // Google's and Microsoft's NVMe and SCSI disks say whose they are, but hardware may too.
        || (virtual_machine && ["Google", "Msft", "nvme_card"].iter().any(|m| model.contains(m)))
}

//! Putting the facts of one target together.

use crate::facts::{fuse, network_path};
use crate::find;
use crate::host;
use crate::inspection::{Device, Inspection};
use crate::model::{Filesystem, TargetKind};
use crate::mount;
use crate::notes;
use crate::reader::{Need, Reader, show};
use crate::stack::Stack;
use crate::target::Target;
use seekwell_sys::{DevId, Live, Mount, View, path_text};

/// Reads everything known of a target through `view` alone: nothing is written, and what cannot be
/// read is listed in [`Inspection::missing`]. It works without root. A device is opened only by a
/// view that asks for pages, [`crate::Pages`].
pub fn inspect(view: &dyn View, target: &Target) -> Inspection {
    let mut r = Reader::new(view);
    let mut inspection = Inspection {
        target: target.given.clone(),
        host: host::read(&mut r),
        ..Inspection::new(&path_text(&target.path), target.kind)
    };
    match target.kind {
        TargetKind::Null | TargetKind::Machine => {}
        TargetKind::BlockDevice => {
            // Only a loop device's file needs them.
            let mounts = mount::read(&mut r, Need::Optional);
            inspection.device = block_device(&mut r, target, &mounts);
        }
        TargetKind::File | TargetKind::Directory => {
            let mounts = mount::read(&mut r, Need::Always);
            on_filesystem(&mut r, target, &mounts, &mut inspection);
        }
    }
    if let Some(device) = &inspection.device {
        let virtual_machine = inspection.host.virtualization.is_some();
        notes::of_device(device, virtual_machine, &mut inspection.notes);
    }
    let filesystem = inspection.filesystem.as_ref();
    inspection.network = network_path(&r, filesystem, inspection.disk());
    inspection.missing = r.into_missing();
    inspection
}

impl Inspection {
    /// The engine's null target on the live system: the machine, and nothing below.
    pub fn null() -> Self {
        inspect(&Live::system(), &Target::null())
    }

    /// A modelled machine, by the file or name of its description: the machine that computes it,
    /// and nothing below.
    pub fn modelled(given: &str) -> Self {
        inspect(&Live::system(), &Target::machine(given))
    }
}

fn block_device(r: &mut Reader<'_>, target: &Target, mounts: &[Mount]) -> Option<Device> {
    let by_number = target.dev.and_then(|dev| find::by_number(r, dev));
    let dir = by_number.or_else(|| find::by_node(r, target.path.to_str()?));
    let Some(dir) = dir else {
        let from = target.dev.map_or_else(|| show(&target.path), |dev| show(&dev.sysfs()));
        r.miss("the device", from, "sysfs shows no such device here");
        return None;
    };
    Stack::new(mounts).device(r, &dir)
}

fn on_filesystem(
    r: &mut Reader<'_>,
    target: &Target,
    mounts: &[Mount],
    inspection: &mut Inspection,
) {
    let Some(mount) = mount::holding(mounts, &target.path, target.dev) else {
        r.miss("the mount that holds the path", mount::MOUNTINFO, "no mount is above it");
        let dir = target.dev.filter(|d| d.major != 0).and_then(|d| find::by_number(r, d));
        inspection.device = dir.and_then(|dir| Stack::new(mounts).device(r, &dir));
        return;
    };
    let mut filesystem = mount::filesystem(mount, target.space);
    filesystem.fuse = fuse(r, mount);
    inspection.notes.extend(notes::of_filesystem(&filesystem));
    inspection.device = match mount.fstype.as_str() {
        "overlay" => below_overlay(r, mounts, mount, &mut filesystem, &mut inspection.notes),
        _ => below_mount(r, mounts, mount, target.dev, &mut inspection.notes),
    };
    inspection.filesystem = Some(filesystem);
}

/// The device below the upper layer of an overlay, which takes all writes.
fn below_overlay(
    r: &mut Reader<'_>,
    mounts: &[Mount],
    overlay: &Mount,
    filesystem: &mut Filesystem,
    notes: &mut Vec<String>,
) -> Option<Device> {
    let Some((below, told_by)) = mount::below_overlay(mounts, overlay) else {
        let reason = "its layers are outside this mount namespace";
        r.miss("the disk below the overlay", mount::MOUNTINFO, reason);
        return None;
    };
    filesystem.below = Some(Box::new(mount::filesystem(below, None)));
    let device = below_mount(r, mounts, below, None, notes)?;
    notes.push(format!("the disk below the overlay is known from {told_by}"));
    Some(device)
}

/// The device below a mount; what keeps it from being found is noted. `dev` is the number of the
/// path on it, if it is known.
fn below_mount(
    r: &mut Reader<'_>,
    mounts: &[Mount],
    mount: &Mount,
    dev: Option<DevId>,
    notes: &mut Vec<String>,
) -> Option<Device> {
    if mount.fstype == "zfs" {
        let pool = mount.source.split(['/', '@']).next().unwrap_or_default();
        let reason = format!(
            "only ZFS's own commands show it: zfs get recordsize,compression,sync {}; \
             zpool get ashift {pool}",
            mount.source
        );
        r.miss("record size, compression, sync and ashift of the dataset", "/dev/zfs", reason);
        return Some(Stack::new(mounts).pool(r, pool));
    }
    let dev = dev.filter(|_| mount.dev.major != 0);
    let dir = mount::device_dir(r, mount, dev);
    match &dir {
        Some(dir) if mount.fstype == "btrfs" => {
            if let Some(members) = mount::btrfs_members(r, dir) {
                let all = members.value.join(", ");
                notes.push(format!("this btrfs file system is on several devices: {all}"));
            }
        }
        None if mount.source.starts_with("/dev/") => {
            let from =
                if mount.dev.major == 0 { mount.source.clone() } else { show(&mount.dev.sysfs()) };
            r.miss("the device below the file system", from, "sysfs shows no such device here");
        }
        _ => {}
    }
    Stack::new(mounts).device(r, &dir?)
}

//! Putting the facts of one target together.

use crate::facts::network_path;
use crate::find;
use crate::host;
use crate::inspection::{Device, Inspection};
use crate::model::TargetKind;
use crate::mount;
use crate::notes;
use crate::reader::{Need, Reader, show};
use crate::stack::Stack;
use crate::target::Target;
use seekwell_sys::{Live, Mount, View, path_text};
use std::path::PathBuf;

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
    let held = mount::holding(mounts, &target.path, target.dev);
    let dir = match held {
        Some(mount) => {
            let filesystem = mount::filesystem(mount, target.space);
            inspection.notes.extend(notes::of_filesystem(&filesystem));
            inspection.filesystem = Some(filesystem);
            below_mount(r, target, mounts, mount, &mut inspection.notes)
        }
        None => {
            r.miss("the mount that holds the path", mount::MOUNTINFO, "no mount is above it");
            target.dev.filter(|d| d.major != 0).and_then(|d| find::by_number(r, d))
        }
    };
    inspection.device = dir.and_then(|dir| Stack::new(mounts).device(r, &dir));
}

/// The sysfs folder of the device below a mount; what keeps it from being found is noted.
fn below_mount(
    r: &mut Reader<'_>,
    target: &Target,
    mounts: &[Mount],
    mount: &Mount,
    notes: &mut Vec<String>,
) -> Option<PathBuf> {
    match mount.fstype.as_str() {
        "overlay" => {
            let Some((below, told_by)) = mount::below_overlay(mounts, mount) else {
                let reason = "its layers are outside this mount namespace";
                r.miss("the disk below the overlay", mount::MOUNTINFO, reason);
                return None;
            };
            let dir = mount::device_dir(r, below, None);
            if dir.is_some() {
                notes.push(format!("the disk below the overlay is known from {told_by}"));
            }
            return dir;
        }
        "zfs" => {
            let pool = mount.source.split('/').next().unwrap_or_default();
            let what = format!("the disks of the ZFS pool {pool}");
            r.miss(&what, mount::MOUNTINFO, "ZFS does not list a pool's disks in sysfs");
            return None;
        }
        _ => {}
    }
    let dev = target.dev.filter(|_| mount.dev.major != 0);
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
    dir
}

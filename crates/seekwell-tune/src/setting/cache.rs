//! Write caching and discarding: where data can be lost.

use super::definition::{Risk, Setting, Udev, always_d, one};
use super::values::Values;
use crate::disk::Disk;
use seekwell_sys::View;
use std::path::{Path, PathBuf};

const NO_RULE: &str = "it may lose data, and no rule is written for that";

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "cache_type",
        what: "the drive's own write cache, switched by a command to it; `temporary …` changes \
               only what the kernel believes",
        resets: &["write_cache", "read_ahead_kb"],
        risk: cache_risk,
        find: cache_type,
        values: cache_types,
        udev: |_| Udev::Not(NO_RULE),
        ..Setting::PLAIN
    },
    Setting {
        key: "provisioning_mode",
        what: "how blocks are discarded; a bridge that lies about it loses data",
        resets: &["read_ahead_kb"],
        risk: always_d,
        find: scsi_disk,
        values: |_, _, _| {
            Values::words(&[
                "full",
                "unmap",
                "writesame_16",
                "writesame_10",
                "writesame_zero",
                "disabled",
            ])
        },
        udev: |_| Udev::Not(NO_RULE),
        ..Setting::PLAIN
    },
];

/// Taking the cache away costs speed; trusting one loses what is in it when power fails; changing
/// the belief alone loses it either way.
fn cache_risk(value: &str) -> Risk {
    if value == "write through" { Risk::B } else { Risk::D }
}

fn scsi_disk(view: &dyn View, disk: &Disk, key: &str) -> Vec<(String, PathBuf)> {
    let Some(dir) = &disk.scsi_disk else { return Vec::new() };
    one(view, key, dir.join(key))
}

fn cache_type(view: &dyn View, disk: &Disk, key: &str) -> Vec<(String, PathBuf)> {
    let found = scsi_disk(view, disk, key);
    if !found.is_empty() {
        return found;
    }
    // Of virtio-blk it is the disk's own, and asks the host.
    one(view, key, disk.at(key))
}

fn cache_types(_: &dyn View, disk: &Disk, _: &Path) -> Values {
    let real = ["write through", "write back"];
    let belief = ["temporary write through", "temporary write back"];
    match disk.scsi_disk {
        Some(_) => Values::words(&[&real[..], &belief[..]].concat()),
        None => Values::words(&real),
    }
}

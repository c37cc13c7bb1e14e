//! The SCSI and ATA device: how deep it is asked, and how long it is waited for.

use super::definition::{Setting, Udev, always_c, one};
use super::values::Values;
use crate::disk::Disk;
use seekwell_sys::View;
use std::path::Path;

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "queue_depth",
        what: "commands the device is given at once; a new depth above 1 re-arms NCQ that the \
               kernel switched off",
        find: |view, disk, key| one(view, key, disk.at("device").join(key)),
        values: depth,
        udev: |_| Udev::Disk("device/queue_depth".to_owned()),
        ..Setting::PLAIN
    },
    Setting {
        key: "timeout",
        what: "time a command may take before error handling begins, in s",
        resets: &["io_timeout"],
        risk: always_c,
        find: |view, disk, key| one(view, key, disk.at("device").join(key)),
        // The kernel takes 0 too, and then every command is lost at once.
        values: |_, _, _| Values::number(1, 86_400),
        udev: |_| Udev::Disk("device/timeout".to_owned()),
        ..Setting::PLAIN
    },
];

/// What the host can queue bounds it; of ATA so do the 32 tags.
fn depth(view: &dyn View, disk: &Disk, _: &Path) -> Values {
    let can = disk.host.as_ref().and_then(|h| view.number(&h.join("can_queue")).ok());
    let can = can.and_then(|n| i64::try_from(n).ok()).filter(|n| *n > 0);
    let ata = disk.ata_port.is_some().then_some(32);
    match can.into_iter().chain(ata).min() {
        Some(most) => Values::number(1, most),
        None => Values::at_least(1),
    }
}

//! The drive's own settings that only a command reaches, and two flags of the kernel's.

use super::definition::{Risk, Setting, Udev, always_a, one};
use super::values::Values;
use crate::disk::Disk;
use seekwell_sys::View;
use std::path::PathBuf;

const BY_COMMAND: &str =
    "it is a command to the drive and no attribute; hdparm.conf or a service at boot can send it";

const PLAIN: Setting = Setting { find: ata, udev: |_| Udev::Not(BY_COMMAND), ..Setting::PLAIN };

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "look_ahead",
        what: "whether the drive reads on into its cache after a read (hdparm -A)",
        risk: always_a,
        ..PLAIN
    },
    Setting {
        key: "apm",
        what: "advanced power management: 1 saves most, 254 nothing, up to 127 the drive may spin \
               down, 255 is off (hdparm -B)",
        values: |_, _, _| Values::number(1, 255),
        ..PLAIN
    },
    Setting {
        key: "acoustic",
        what: "how seeks are made: 128 quietly, 254 fast, 0 is off (hdparm -M)",
        values: |_, _, _| Values::Number { least: 128, most: Some(254), step: 1, also: Some(0) },
        ..PLAIN
    },
    Setting {
        key: "io_32bit",
        what: "whether PIO moves 32 bits at a time (hdparm -c)",
        risk: always_a,
        find: |view, disk, key| match disk.has_pio() {
            true => one(view, key, at(disk, "block/io_32bit")),
            false => Vec::new(),
        },
        udev: |_| Udev::Not("it is an ioctl and no attribute"),
        ..PLAIN
    },
    Setting {
        key: "read_only",
        what: "whether the kernel refuses to write to it (hdparm -r, blockdev --setro)",
        risk: |value| if value == "0" { Risk::B } else { Risk::D },
        find: |view, disk, key| one(view, key, at(disk, "block/read_only")),
        udev: |_| Udev::Not("it is an ioctl and no attribute"),
        ..PLAIN
    },
];

/// Below the node, where [`crate::commands`] finds it.
pub(super) fn at(disk: &Disk, below: &str) -> PathBuf {
    disk.node().join(below)
}

fn ata(view: &dyn View, disk: &Disk, key: &str) -> Vec<(String, PathBuf)> {
    match disk.ata_port {
        Some(_) => one(view, key, at(disk, "ata").join(key)),
        None => Vec::new(),
    }
}

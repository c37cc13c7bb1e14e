//! How much dirty memory may wait: of the disk (`bdi/`) and of the machine (`vm.*`).

use super::definition::{Scope, Setting, Udev, one};
use super::values::Values;
use crate::disk::Disk;
use seekwell_sys::View;
use std::path::{Path, PathBuf};

const SYSCTL: &str = "it is the machine's, not the disk's: put it in /etc/sysctl.d instead";

const MACHINE: Setting = Setting {
    scope: Scope::Machine,
    find: sysctl,
    values: |_, _, _| Values::number(0, 100),
    udev: |_| Udev::Not(SYSCTL),
    ..Setting::PLAIN
};

/// Each of a pair sets the other to 0.
const DIRTY: &[&str] = &["vm.dirty_ratio", "vm.dirty_bytes"];
const BACKGROUND: &[&str] = &["vm.dirty_background_ratio", "vm.dirty_background_bytes"];

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "bdi.min_ratio",
        what: "share of dirty memory kept for this disk, in percent",
        scope: Scope::Disk,
        find: bdi,
        udev: |_| Udev::Disk("bdi/min_ratio".to_owned()),
        ..MACHINE
    },
    Setting {
        key: "bdi.max_ratio",
        what: "share of dirty memory this disk may take, in percent",
        scope: Scope::Disk,
        find: bdi,
        values: |_, _, _| Values::number(1, 100),
        udev: |_| Udev::Disk("bdi/max_ratio".to_owned()),
        ..MACHINE
    },
    Setting {
        key: "vm.dirty_ratio",
        what: "share of memory that may be dirty before writers wait, in percent",
        resets: DIRTY,
        ..MACHINE
    },
    Setting {
        key: "vm.dirty_bytes",
        what: "the same in bytes",
        resets: DIRTY,
        // Two pages; 0 means that the ratio counts and cannot be written.
        values: |_, _, _| Values::at_least(8192),
        ..MACHINE
    },
    Setting {
        key: "vm.dirty_background_ratio",
        what: "share of memory that may be dirty before writing begins, in percent",
        resets: BACKGROUND,
        ..MACHINE
    },
    Setting {
        key: "vm.dirty_background_bytes",
        what: "the same in bytes",
        resets: BACKGROUND,
        values: |_, _, _| Values::at_least(1),
        ..MACHINE
    },
    Setting {
        key: "vm.dirty_expire_centisecs",
        what: "age at which dirty memory is written, in 1/100 s",
        values: |_, _, _| Values::at_least(0),
        ..MACHINE
    },
    Setting {
        key: "vm.dirty_writeback_centisecs",
        what: "how often it is looked for, in 1/100 s; 0 is never",
        values: |_, _, _| Values::at_least(0),
        ..MACHINE
    },
    Setting {
        key: "vm.swappiness",
        what: "how readily memory is swapped out",
        values: |_, _, _| Values::number(0, 200),
        ..MACHINE
    },
    Setting {
        key: "vm.laptop_mode",
        what: "whether writing waits until the disk spins anyway",
        values: |_, _, _| Values::at_least(0),
        ..MACHINE
    },
];

fn bdi(view: &dyn View, disk: &Disk, key: &str) -> Vec<(String, PathBuf)> {
    one(view, key, disk.at("bdi").join(key.trim_start_matches("bdi.")))
}

fn sysctl(view: &dyn View, _: &Disk, key: &str) -> Vec<(String, PathBuf)> {
    one(view, key, Path::new("/proc/sys/vm").join(key.trim_start_matches("vm.")))
}

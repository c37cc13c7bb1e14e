//! The calibrations that ship with the program.

use crate::shipped::{Shipped, shipped};

pub(super) const CALIBRATIONS: Shipped = Shipped {
    kind: "calibration",
    command: "calibrate",
    files: shipped!(
        "calibrations":
        "blk-iocost",
        "ceph",
        "elevator",
        "fio-latency-target",
        "scylla",
        "systemd-iocost",
    ),
};

/// Their names, in alphabetical order.
pub fn names() -> impl Iterator<Item = &'static str> {
    CALIBRATIONS.files.iter().map(|(name, _)| *name)
}

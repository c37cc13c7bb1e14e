//! The demands that ship with the program.

use crate::shipped::{Shipped, shipped};

pub(super) const DEMANDS: Shipped = Shipped {
    kind: "demand",
    command: "fit-for",
    files: shipped!(
        "demands":
        "backup",
        "ceph-db",
        "elasticsearch",
        "etcd",
        "etcd-heavy",
        "kafka",
        "mysql",
        "postgresql",
        "prometheus",
        "sd-a1",
        "sd-a2",
        "sd-v30",
        "sqlite",
        "video-4k",
        "vm-host",
        "zfs-slog",
        "zookeeper",
    ),
};

/// Their names, in alphabetical order.
pub fn names() -> impl Iterator<Item = &'static str> {
    DEMANDS.files.iter().map(|(name, _)| *name)
}

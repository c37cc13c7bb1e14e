//! The scheduler's own parameters: `queue/iosched/*`, which come and go with it.

use super::definition::{Attribute, Setting, Stage, Udev};
use super::error::SettingError;
use super::nearest::nearest;
use super::values::Values;
use crate::disk::Disk;
use seekwell_sys::View;
use std::path::PathBuf;

pub(super) const SETTINGS: &[Setting] = &[Setting {
    key: "iosched.*",
    what: "a parameter of the scheduler in use",
    stage: Stage::Iosched,
    resets: &["iosched.*"],
    find,
    // slice_idle and its namesake in microseconds are one value in two files, so each may change
    // the other; what a parameter takes its scheduler alone knows.
    values: |_, _, _| Values::at_least(0),
    udev: |key| Udev::Disk(format!("queue/iosched/{}", key.trim_start_matches("iosched."))),
    ..Setting::PLAIN
}];

/// Schedulers of mainline Linux with their parameters.
const SCHEDULERS: [(&str, &[&str]); 4] = [
    ("none", &[]),
    (
        "mq-deadline",
        &[
            "async_depth",
            "fifo_batch",
            "front_merges",
            "prio_aging_expire",
            "read_expire",
            "write_expire",
            "writes_starved",
        ],
    ),
    ("kyber", &["read_lat_nsec", "write_lat_nsec"]),
    (
        "bfq",
        &[
            "back_seek_max",
            "back_seek_penalty",
            "fifo_expire_async",
            "fifo_expire_sync",
            "low_latency",
            "max_budget",
            "slice_idle",
            "slice_idle_us",
            "strict_guarantees",
            "timeout_sync",
        ],
    ),
];

fn find(view: &dyn View, disk: &Disk, _: &str) -> Vec<(String, PathBuf)> {
    let dir = disk.at("queue/iosched");
    let names = view.list(&dir).unwrap_or_default();
    names.into_iter().map(|n| (format!("iosched.{n}"), dir.join(n))).collect()
}

/// A parameter of a scheduler that is not in use yet.
pub(super) fn later(disk: &Disk, name: &str, scheduler: &str) -> Result<Attribute, SettingError> {
    let has = SCHEDULERS.iter().find(|(s, _)| *s == scheduler).map(|(_, names)| *names);
    if let Some(names) = has
        && !names.contains(&name)
    {
        let near = nearest(name, names.iter().copied()).map(|n| format!("iosched.{n}"));
        return Err(SettingError::Unknown { key: format!("iosched.{name}"), near });
    }
    if name.contains('/') || name.starts_with('.') || name.is_empty() {
        return Err(SettingError::Unknown { key: format!("iosched.{name}"), near: None });
    }
    Ok(Attribute {
        key: format!("iosched.{name}"),
        path: disk.at("queue/iosched").join(name),
        setting: &SETTINGS[0],
    })
}

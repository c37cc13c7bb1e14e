//! Features of an NVMe controller: every namespace of it has them together.

use super::definition::{Risk, Scope, Setting, Udev, one};
use super::drive::at;
use super::values::Values;
use crate::disk::Disk;
use seekwell_sys::View;
use std::path::{Path, PathBuf};

const BY_COMMAND: &str =
    "it is a command to the controller and no attribute; `nvme set-feature` in a service sends it";

const PLAIN: Setting = Setting {
    scope: Scope::Controller,
    find: feature,
    udev: |_| Udev::Not(BY_COMMAND),
    ..Setting::PLAIN
};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "nvme.write_cache",
        what: "the controller's volatile write cache (feature 06h)",
        // As of any cache: taking it away costs speed, trusting one loses what is in it.
        risk: |value| if value == "0" { Risk::B } else { Risk::D },
        udev: |_| Udev::Not("it may lose data, and no rule is written for that"),
        ..PLAIN
    },
    Setting {
        key: "nvme.apst",
        what: "whether the controller goes into deeper power states by itself (feature 0Ch)",
        // Some controllers do not come back from the deepest state.
        risk: |value| if value == "0" { Risk::B } else { Risk::C },
        ..PLAIN
    },
    Setting {
        key: "nvme.latency_tolerance",
        what: "the longest wake-up latency of power states that the controller may enter by \
               itself, in µs; 0 allows none of them, auto and any allow all",
        // Some controllers do not come back from the deepest state.
        risk: |value| if value == "0" { Risk::B } else { Risk::C },
        find: |view, disk, key| one(view, key, disk.at("device/power/pm_qos_latency_tolerance_us")),
        values: |_, _, _| Values::at_least(0).or_words(["auto", "any"]),
        udev: |_| Udev::Disk("device/power/pm_qos_latency_tolerance_us".to_owned()),
        ..PLAIN
    },
    Setting {
        key: "nvme.power_state",
        what: "the power state it is in while it works; 0 is the fastest (feature 02h)",
        risk: |value| if value == "0" { Risk::B } else { Risk::C },
        values: power_states,
        ..PLAIN
    },
    Setting {
        key: "nvme.coalesce_threshold",
        what: "completions collected before an interrupt, less one (feature 08h)",
        values: |_, _, _| Values::number(0, 255),
        ..PLAIN
    },
    Setting {
        key: "nvme.coalesce_time",
        what: "longest time completions are collected for an interrupt, in 100 µs; 0 is no delay \
               (feature 08h)",
        values: |_, _, _| Values::number(0, 255),
        ..PLAIN
    },
    Setting {
        key: "nvme.arbitration_burst",
        what: "commands fetched from one queue at a time, as a power of two; 7 is no limit \
               (feature 01h)",
        values: |_, _, _| Values::number(0, 7),
        ..PLAIN
    },
];

fn feature(view: &dyn View, disk: &Disk, key: &str) -> Vec<(String, PathBuf)> {
    let transport = disk.device.transport.as_ref().map(|t| t.value.as_str());
    if !transport.is_some_and(|t| t.starts_with("nvme")) {
        return Vec::new();
    }
    one(view, key, at(disk, "nvme").join(key.trim_start_matches("nvme.")))
}

fn power_states(view: &dyn View, _: &Disk, path: &Path) -> Values {
    let highest = view.number(&path.with_file_name("highest_power_state")).unwrap_or(31);
    Values::number(0, highest.min(31).try_into().unwrap_or(31))
}

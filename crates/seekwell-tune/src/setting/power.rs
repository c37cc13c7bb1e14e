//! Sleeping links, sleeping controllers: latency and, on some hardware, lost devices.

use super::definition::{Risk, Scope, Setting, Udev, one};
use super::values::Values;
use crate::disk::Disk;
use seekwell_sys::View;
use std::path::PathBuf;

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "link_power",
        what: "how deeply an idle SATA link sleeps",
        scope: Scope::Port,
        risk: link_risk,
        find: |view, disk, key| {
            let Some(host) = &disk.host else { return Vec::new() };
            one(view, key, host.join("link_power_management_policy"))
        },
        values: |_, _, _| {
            Values::words(&[
                "max_performance",
                "medium_power",
                "med_power_with_dipm",
                "min_power_with_partial",
                "min_power",
            ])
        },
        // The host's number changes between boots; the star stands for it.
        udev: |_| Udev::Disk("device/../../scsi_host/*/link_power_management_policy".to_owned()),
        ..Setting::PLAIN
    },
    Setting {
        key: "pm",
        what: "whether the controller may be suspended while idle",
        scope: Scope::Controller,
        risk: |value| if value == "on" { Risk::A } else { Risk::C },
        find: |view, disk, key| {
            let Some(pci) = &disk.pci else { return Vec::new() };
            one(view, key, pci.join("power/control"))
        },
        values: |_, _, _| Values::words(&["on", "auto"]),
        udev: |_| Udev::Pci("power/control".to_owned()),
        ..Setting::PLAIN
    },
    Setting {
        key: "aspm.*",
        what: "whether the PCI Express link may enter this sleep state",
        resets: &["aspm.*"],
        scope: Scope::Controller,
        risk: |value| if value == "0" { Risk::A } else { Risk::C },
        find: aspm,
        udev: |key| Udev::Pci(format!("link/{}", key.trim_start_matches("aspm."))),
        ..Setting::PLAIN
    },
];

/// The deepest states lose devices on some drives, data on a few.
fn link_risk(value: &str) -> Risk {
    match value {
        "max_performance" => Risk::A,
        "medium_power" | "med_power_with_dipm" => Risk::B,
        _ => Risk::C,
    }
}

fn aspm(view: &dyn View, disk: &Disk, _: &str) -> Vec<(String, PathBuf)> {
    let Some(pci) = &disk.pci else { return Vec::new() };
    let dir = pci.join("link");
    let names = view.list(&dir).unwrap_or_default();
    let states = names.into_iter().filter(|n| n.ends_with("_aspm") || n == "clkpm");
    states.map(|n| (format!("aspm.{n}"), dir.join(n))).collect()
}

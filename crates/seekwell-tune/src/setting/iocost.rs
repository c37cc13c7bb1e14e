//! The kernel's io.cost controller: what requests cost a disk (`io.cost.model`), and whether and
//! how far groups are held to their share of it (`io.cost.qos`). Both are one line of a file of the
//! root control group, which [`crate::commands`] shows as a file of the disk's.

use super::definition::{Risk, Setting, Udev};
use super::values::{Values, pairs};
use crate::disk::Disk;
use seekwell_sys::{Mount, View, parse_mountinfo};
use std::path::{Path, PathBuf};

const PLAIN: Setting = Setting {
    freezes: true,
    residue: Some("the kernel goes on listing the disk there until it is detached"),
    find,
    udev: |key| Udev::Line(key.to_owned()),
    ..Setting::PLAIN
};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "io.cost.model",
        what: "what requests cost, from sustained rates in bytes/s and 4 KiB requests/s \
               (`tune plan --iocost` measures them)",
        risk: starves,
        values: |_, _, _| cost_model(),
        ..PLAIN
    },
    Setting {
        key: "io.cost.qos",
        what: "whether groups get the disk by io.weight, the latencies in µs above which it counts \
               as overloaded, and how far the model's rates may be scaled, in percent",
        // Enabled, it switches writeback throttling off where that was on by default.
        resets: &["wbt_lat_usec"],
        values: |_, _, _| cost_qos(),
        ..PLAIN
    },
];

/// The numbers of the linear model, reads first.
pub const COEFFICIENTS: [&str; 6] =
    ["rbps", "rseqiops", "rrandiops", "wbps", "wseqiops", "wrandiops"];

/// What a line of `io.cost.model` takes.
pub fn cost_model() -> Values {
    let ctrl = ("ctrl", Values::words(&["auto", "user"]));
    let model = ("model", Values::words(&["linear"]));
    let numbers = COEFFICIENTS.map(|name| (name, Values::at_least(0)));
    Values::Line([ctrl, model].into_iter().chain(numbers).collect())
}

/// What a line of `io.cost.qos` takes.
pub fn cost_qos() -> Values {
    let us = || Values::number(0, i64::from(u32::MAX));
    Values::Line(vec![
        ("enable", Values::number(0, 1)),
        ("ctrl", Values::words(&["auto", "user"])),
        ("rpct", Values::Percent { least: 0, most: 100 }),
        ("rlat", us()),
        ("wpct", Values::Percent { least: 0, most: 100 }),
        ("wlat", us()),
        ("min", Values::Percent { least: 1, most: 10_000 }),
        ("max", Values::Percent { least: 1, most: 10_000 }),
    ])
}

/// The file is written only once all requests that wait for their share are through, so a model
/// that makes one request last seconds could not be taken back.
fn starves(line: &str) -> Risk {
    let slow = pairs(line).is_some_and(|pairs| {
        pairs.iter().any(|(name, value)| match value.parse::<u64>() {
            Ok(bytes) if name.ends_with("bps") => (1..100_000).contains(&bytes),
            Ok(requests) if name.ends_with("iops") => (1..5).contains(&requests),
            _ => false,
        })
    });
    if slow { Risk::C } else { Risk::B }
}

/// Where a control group file system of version 2 is mounted, its root first.
fn hierarchies(view: &dyn View) -> Vec<Mount> {
    let table = Path::new("/proc/self/mountinfo");
    let text = view.text(table).unwrap_or_default();
    let mut all = parse_mountinfo(&text, table).unwrap_or_default();
    all.retain(|m| m.fstype == "cgroup2");
    all.sort_by_key(|m| m.root != "/");
    all
}

/// Whether it is driven through a queue of the kernel's own (blk-mq).
fn has_queue(view: &dyn View, disk: &Disk) -> bool {
    view.exists(&disk.at("mq"))
}

fn find(view: &dyn View, disk: &Disk, key: &str) -> Vec<(String, PathBuf)> {
    let files = hierarchies(view).into_iter().map(|m| m.mount_point.join(key));
    let file = files.into_iter().find(|f| has_queue(view, disk) && view.exists(f));
    file.map(|f| (key.to_owned(), f.join(&disk.identity.dev))).into_iter().collect()
}

pub(super) fn why_absent(view: &dyn View, disk: &Disk) -> String {
    if !has_queue(view, disk) {
        return "it has no request queue of its own, and io.cost works on those alone".to_owned();
    }
    let Some(mount) = hierarchies(view).into_iter().next() else {
        return "no control groups of version 2 are mounted: mount -t cgroup2 none /sys/fs/cgroup"
            .to_owned();
    };
    let at = mount.mount_point.display();
    let controllers = view.text(&mount.mount_point.join("cgroup.controllers")).unwrap_or_default();
    if controllers.split_whitespace().any(|c| c == "io") {
        return format!(
            "there is no io.cost.model in {at}: the kernel was built without \
             CONFIG_BLK_CGROUP_IOCOST, or this is not the host's root group"
        );
    }
    format!(
        "{at} is a cgroup v2 hierarchy without the io controller (it has: {}), and io.cost needs \
         that: version 1 holds it as blkio; boot with cgroup_no_v1=blkio or without version 1",
        if controllers.is_empty() { "none" } else { &controllers }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::Commanded;
    use crate::setting::tests::{ahci, disk};
    use crate::setting::{SettingError, attributes, find};
    use seekwell_sys::fake::Fake;

    fn mounted(at: &str, controllers: &str) -> Fake {
        let line = format!("30 1 0:27 / {at} rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
        ahci()
            .file("/proc/self/mountinfo", line)
            .file(format!("{at}/cgroup.controllers"), format!("{controllers}\n"))
    }

    fn with_files() -> Fake {
        mounted("/sys/fs/cgroup", "cpu io memory")
            .file("/sys/fs/cgroup/io.cost.model", "259:0 ctrl=user model=linear rbps=5\n")
            .file("/sys/fs/cgroup/io.cost.qos", "")
    }

    fn takes(key: &str, value: &str) -> Result<String, String> {
        let takes = if key == "io.cost.model" { cost_model() } else { cost_qos() };
        takes.check(value).map_err(|e| e.to_string())
    }

    #[test]
    fn a_disk_has_its_lines_as_settings_where_the_controller_is() {
        let view = Commanded::new(with_files());
        let disk = disk(&view);
        let all = attributes(&view, &disk);
        let shown = |key: &str| {
            let found = all.iter().find(|a| a.key == key).unwrap();
            (found.path.display().to_string(), view.text(&found.path).unwrap())
        };
        let model = ("/sys/fs/cgroup/io.cost.model/8:0".into(), "ctrl=auto".into());
        assert_eq!(shown("io.cost.model"), model);
        assert_eq!(shown("io.cost.qos").1, "enable=0 ctrl=auto");
        assert!(view.exists(Path::new("/sys/fs/cgroup/io.cost.qos/8:0")));
    }

    #[test]
    fn what_is_missing_is_said() {
        let said = |view: &Fake| match find(view, &disk(view), "io.cost.model", None) {
            Err(error @ SettingError::Absent { .. }) => error.to_string(),
            other => panic!("{other:?}"),
        };
        assert!(said(&ahci()).contains("mount -t cgroup2"), "{}", said(&ahci()));
        let v1 = said(&mounted("/sys/fs/cgroup/unified", "")).clone();
        assert!(v1.contains("/sys/fs/cgroup/unified is a cgroup v2"), "{v1}");
        assert!(v1.contains("(it has: none)") && v1.contains("cgroup_no_v1=blkio"), "{v1}");
        let old = said(&mounted("/sys/fs/cgroup", "cpu io"));
        assert!(old.contains("CONFIG_BLK_CGROUP_IOCOST"), "{old}");
        let bio = with_files().without(disk(&ahci()).at("mq"));
        assert!(said(&bio).contains("no request queue of its own"), "{}", said(&bio));
    }

    #[test]
    fn a_line_is_put_in_order_and_every_part_of_it_checked() {
        let ok = |key, value| takes(key, value).unwrap();
        assert_eq!(ok("io.cost.model", "wbps=7,rbps=5"), "rbps=5 wbps=7");
        assert_eq!(
            ok("io.cost.qos", "max=150  rpct=95.5 rlat=75000 enable=1 min=50.00"),
            "enable=1 rpct=95.50 rlat=75000 min=50.00 max=150.00"
        );
        for (key, value, said) in [
            ("io.cost.model", "rbps", "not made of name=value words"),
            ("io.cost.model", "=", "not one of ctrl, model"),
            ("io.cost.model", "rbs=5", "rbs: not one of"),
            ("io.cost.model", "rbs=5", "did you mean rbps?"),
            ("io.cost.model", "rbps=5 rbps=6", "rbps: given twice"),
            ("io.cost.model", "rbps=-5", "rbps: out of range: 0 or more"),
            ("io.cost.model", "rbps=1e9", "rbps: not a whole number"),
            ("io.cost.model", "rbps=99999999999999999999", "rbps: not a whole number"),
            ("io.cost.model", "ctrl=auto rbps=5", "rbps: the kernel chooses it under ctrl=auto"),
            ("io.cost.model", "model=square", "model: not one of linear"),
            ("io.cost.qos", "rpct=101", "rpct: out of range: 0 to 100 %"),
            ("io.cost.qos", "rpct=95.123", "rpct: not a percentage with at most two decimals"),
            ("io.cost.qos", "rpct=9_5", "rpct: not a percentage"),
            ("io.cost.qos", "rlat=4294967296", "rlat: out of range"),
            ("io.cost.qos", "min=150 max=100", "min: out of range: at most max"),
        ] {
            let error = takes(key, value).unwrap_err();
            assert!(error.contains(said), "{key}={value}: {error}");
        }
    }

    #[test]
    fn a_model_that_would_stop_the_disk_is_risky() {
        assert_eq!(starves("rbps=1000000 rrandiops=80"), Risk::B);
        assert_eq!(starves("rbps=1000000 rrandiops=0"), Risk::B, "0 is free");
        assert_eq!(starves("rbps=1000 rrandiops=80"), Risk::C);
        assert_eq!(starves("rrandiops=1"), Risk::C);
        assert_eq!(starves("ctrl=auto"), Risk::B);
    }
}

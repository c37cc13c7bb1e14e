//! The request queue: `queue/*` of the disk.

use super::definition::{Setting, Stage, Udev, always_a, always_b, always_c, always_d, one};
use super::values::Values;
use crate::disk::Disk;
use seekwell_sys::View;
use std::path::{Path, PathBuf};

/// A commit of queue limits recomputes read-ahead on some kernels.
const LIMITS: &[&str] = &["read_ahead_kb"];

const PLAIN: Setting = Setting {
    risk: always_a,
    find: file,
    udev: |key| Udev::Disk(format!("queue/{key}")),
    ..Setting::PLAIN
};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "scheduler",
        what: "which requests go first",
        stage: Stage::Scheduler,
        freezes: true,
        resets: &["nr_requests", "iosched.*", "wbt_lat_usec"],
        risk: always_b,
        values: schedulers,
        ..PLAIN
    },
    Setting {
        key: "nr_requests",
        what: "requests the queue holds",
        stage: Stage::Requests,
        freezes: true,
        resets: &["iosched.async_depth"],
        risk: always_b,
        values: nr_requests,
        ..PLAIN
    },
    Setting {
        key: "read_ahead_kb",
        what: "how far a sequential reader is read ahead of, in KiB",
        stage: Stage::Last,
        values: |_, _, _| Values::Number {
            least: 0,
            most: Some(4_294_967_292),
            step: 4,
            also: None,
        },
        ..PLAIN
    },
    Setting {
        key: "max_sectors_kb",
        what: "the largest request, in KiB",
        freezes: true,
        resets: LIMITS,
        risk: always_b,
        values: max_sectors,
        ..PLAIN
    },
    Setting {
        key: "rq_affinity",
        what: "which CPU completes a request: any, its group, its own",
        values: |_, _, _| Values::number(0, 2),
        ..PLAIN
    },
    Setting {
        key: "nomerges",
        what: "merging of adjacent requests: all, simple, none",
        values: |_, _, _| Values::number(0, 2),
        ..PLAIN
    },
    Setting {
        key: "add_random",
        what: "whether its timing feeds the random number generator",
        resets: LIMITS,
        ..PLAIN
    },
    Setting {
        key: "iostats",
        what: "whether its requests are counted; without, every monitor shows nothing",
        resets: LIMITS,
        ..PLAIN
    },
    Setting {
        key: "rotational",
        what: "whether the kernel believes it rotates",
        resets: LIMITS,
        risk: always_b,
        ..PLAIN
    },
    Setting {
        key: "wbt_lat_usec",
        what: "read latency above which background writing is held back, in µs; 0 is off",
        stage: Stage::Last,
        freezes: true,
        residue: Some(
            "a value written by hand counts as such from then on: bfq no longer switches it off",
        ),
        risk: always_b,
        values: |_, _, _| Values::at_least(0),
        ..PLAIN
    },
    Setting {
        key: "io_timeout",
        what: "time a request may take before it counts as lost, in ms",
        risk: always_c,
        values: |_, _, _| Values::number(1, i64::from(u32::MAX)),
        ..PLAIN
    },
    Setting {
        key: "write_cache",
        what: "whether the kernel believes it caches writes: `write through` stops flushes while \
               the drive goes on caching",
        resets: LIMITS,
        risk: always_d,
        values: |_, _, _| Values::words(&["write back", "write through"]),
        udev: |_| Udev::Not("it may lose data, and no rule is written for that"),
        ..PLAIN
    },
];

fn file(view: &dyn View, disk: &Disk, key: &str) -> Vec<(String, PathBuf)> {
    one(view, key, disk.at("queue").join(key))
}

fn schedulers(view: &dyn View, _: &Disk, path: &Path) -> Values {
    let text = view.text(path).unwrap_or_default();
    let bare = |w: &str| w.trim_matches(['[', ']']).to_owned();
    Values::Words(text.split_whitespace().map(bare).collect())
}

fn number(view: &dyn View, path: &Path) -> Option<i64> {
    view.text(path).ok()?.parse().ok()
}

/// Four at least (`BLKDEV_MIN_RQ`); without a scheduler no more than the hardware has tags, with
/// one as many as the kernel allows.
fn nr_requests(view: &dyn View, disk: &Disk, _: &Path) -> Values {
    let scheduler = view.text(&disk.at("queue/scheduler")).unwrap_or_default();
    let tags = number(view, &disk.at("mq/0/nr_tags"));
    match tags {
        Some(tags) if scheduler.contains("[none]") => Values::number(4, tags),
        _ => Values::at_least(4),
    }
}

/// A page at least.
fn max_sectors(view: &dyn View, disk: &Disk, _: &Path) -> Values {
    let most = number(view, &disk.at("queue/max_hw_sectors_kb"));
    most.map_or_else(|| Values::at_least(4), |most| Values::number(4, most))
}

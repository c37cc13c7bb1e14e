//! How fast the CPUs run and how deeply they sleep: each request waits for one to wake, and each
//! completion again.
//!
//! Sources: Documentation/admin-guide/pm/cpufreq.rst and cpuidle.rst;
//! Documentation/ABI/testing/sysfs-devices-power.

use super::definition::{Scope, Setting, Udev, one};
use super::values::Values;
use crate::commands::EVERY_CPU;
use seekwell_sys::View;
use std::path::{Path, PathBuf};

const TMPFILES: &str =
    "it is the CPUs', not the disk's: a w line for its file in /etc/tmpfiles.d writes it at boot";

const EVERY: Setting =
    Setting { scope: Scope::Machine, udev: |_| Udev::Not(TMPFILES), ..Setting::PLAIN };

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "cpu.idle_latency",
        what: "how long a CPU may take to wake from idle, in µs; 0 is no limit, n/a not at all: \
               idle CPUs then run in a loop",
        find: |view, _, key| every(view, key, "power/pm_qos_resume_latency_us"),
        values: |_, _, _| Values::at_least(0).or_words(["n/a"]),
        ..EVERY
    },
    Setting {
        key: "cpu.governor",
        what: "what chooses the CPUs' frequency",
        find: |view, _, key| every(view, key, "cpufreq/scaling_governor"),
        values: |view, _, path| listed(view, path, "scaling_available_governors"),
        ..EVERY
    },
    Setting {
        key: "cpu.energy_preference",
        what: "whether CPUs that choose their own frequency favour speed or power",
        find: |view, _, key| every(view, key, "cpufreq/energy_performance_preference"),
        values: |view, _, path| listed(view, path, "energy_performance_available_preferences"),
        ..EVERY
    },
];

fn every(view: &dyn View, key: &str, file: &str) -> Vec<(String, PathBuf)> {
    one(view, key, Path::new(EVERY_CPU).join(file))
}

/// The words of the file beside; CPUs of several kinds may have other words, which the kernel then
/// refuses.
fn listed(view: &dyn View, path: &Path, file: &str) -> Values {
    let text = view.text(&path.with_file_name(file)).unwrap_or_default();
    Values::words(&text.split_whitespace().collect::<Vec<_>>())
}

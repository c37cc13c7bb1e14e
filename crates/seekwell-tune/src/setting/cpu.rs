//! How fast the CPUs run and how deeply they sleep: submitting a request and completing it may each
//! have to wake one.
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
        what: "the longest a CPU may take to wake from idle, in µs; 0 is no limit, n/a makes idle \
               CPUs poll instead of sleeping",
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

/// The words in the file next to it, of the first CPU; the kernel refuses a word that another kind
/// of CPU lacks.
fn listed(view: &dyn View, path: &Path, file: &str) -> Values {
    let text = view.text(&path.with_file_name(file)).unwrap_or_default();
    Values::words(&text.split_whitespace().collect::<Vec<_>>())
}

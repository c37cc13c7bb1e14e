//! Which CPUs answer the controller's interrupts. A vector the driver manages refuses the write.

use super::definition::{Scope, Setting, Udev};
use super::values::Values;
use crate::disk::Disk;
use seekwell_sys::View;
use std::path::{Path, PathBuf};

pub(super) const SETTINGS: &[Setting] = &[Setting {
    key: "irq_affinity.*",
    what: "the CPUs that answer this interrupt of the controller",
    scope: Scope::Controller,
    find,
    values: |view, _, _| Values::Cpus { highest: highest_cpu(view) },
    udev: |_| Udev::Not("the number of an interrupt changes between boots"),
    ..Setting::PLAIN
}];

fn find(view: &dyn View, disk: &Disk, _: &str) -> Vec<(String, PathBuf)> {
    let Some(pci) = &disk.pci else { return Vec::new() };
    let irqs = view.list(&pci.join("msi_irqs")).unwrap_or_default();
    let place = |irq: &String| PathBuf::from(format!("/proc/irq/{irq}/smp_affinity_list"));
    let numbers = irqs.into_iter().filter(|i| i.bytes().all(|b| b.is_ascii_digit()));
    let placed = numbers.map(|irq| (format!("irq_affinity.{irq}"), place(&irq)));
    placed.filter(|(_, path)| view.exists(path)).collect()
}

fn highest_cpu(view: &dyn View) -> u32 {
    let text = view.text(Path::new("/sys/devices/system/cpu/present")).unwrap_or_default();
    text.rsplit([',', '-']).next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

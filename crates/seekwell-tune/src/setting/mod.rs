//! What there is to set, where it lives, what it takes, and what can go wrong with it.
//!
//! One file per family. A setting is data: the machinery that reads, writes and puts back knows
//! none of them by name.

mod cache;
mod cpu;
mod definition;
mod device;
mod drive;
mod error;
pub mod hdparm;
mod iocost;
mod iosched;
mod irq;
mod nearest;
mod nvme;
mod power;
mod queue;
mod request;
mod values;
mod vm;

pub use definition::{Attribute, Risk, Scope, Setting, Stage, Udev};
pub use error::SettingError;
pub use iocost::{COEFFICIENTS, cost_model, cost_qos};
pub use request::{Request, RequestError, Switch, parse};
pub use values::{ValueProblem, Values};

use crate::disk::Disk;
use nearest::nearest;
use seekwell_sys::View;

/// Whether a key is a setting's, or one of a family such as `iosched.*`. Whether a disk has it is
/// known when the disk is looked at.
pub fn is_key(key: &str) -> bool {
    registry().any(|s| match s.key.strip_suffix('*') {
        Some(stem) => key.starts_with(stem) || key == stem.trim_end_matches('.'),
        None => s.key == key,
    })
}

pub fn registry() -> impl Iterator<Item = &'static Setting> {
    let families = [
        queue::SETTINGS,
        iosched::SETTINGS,
        device::SETTINGS,
        cache::SETTINGS,
        drive::SETTINGS,
        nvme::SETTINGS,
        power::SETTINGS,
        cpu::SETTINGS,
        irq::SETTINGS,
        iocost::SETTINGS,
        vm::SETTINGS,
    ];
    families.into_iter().flatten()
}

pub fn attributes(view: &dyn View, disk: &Disk) -> Vec<Attribute> {
    registry()
        .flat_map(|setting| {
            let found = (setting.find)(view, disk, setting.key);
            found.into_iter().map(move |(key, path)| Attribute { key, path, setting })
        })
        .collect()
}

/// The attribute with this key. `scheduler` is the one that will be in use when the attribute is
/// written, if that is not the present one: its files are not there yet.
///
/// # Errors
/// [`SettingError::Unknown`] with the nearest key, or [`SettingError::Absent`].
pub fn find(
    view: &dyn View,
    disk: &Disk,
    key: &str,
    scheduler: Option<&str>,
) -> Result<Attribute, SettingError> {
    let present = attributes(view, disk);
    if let Some(name) = key.strip_prefix("iosched.")
        && let Some(scheduler) = scheduler
    {
        return iosched::later(disk, name, scheduler);
    }
    if let Some(found) = present.iter().find(|a| a.key == key) {
        return Ok(found.clone());
    }
    let family = |s: &&Setting| {
        s.key == key || s.key.strip_suffix('*').is_some_and(|stem| key.starts_with(stem))
    };
    // A key with a number in it, given without: clear when there is only one.
    let stem = format!("{key}.");
    let mut numbered = present.iter().filter(|a| a.key.starts_with(&stem));
    if let (Some(only), None) = (numbered.next(), numbered.next()) {
        return Ok(only.clone());
    }
    let known = registry().find(family);
    match known {
        Some(setting) if !setting.key.ends_with('*') || !has_family(&present, setting) => {
            let (key, name) = (key.to_owned(), disk.identity.name.clone());
            Err(SettingError::Absent { key, disk: name, why: why_absent(view, disk, setting.key) })
        }
        _ => {
            let keys = present.iter().map(|a| a.key.as_str()).chain(registry().map(|s| s.key));
            Err(SettingError::Unknown { key: key.to_owned(), near: nearest(key, keys) })
        }
    }
}

fn has_family(present: &[Attribute], setting: &Setting) -> bool {
    present.iter().any(|a| std::ptr::eq(a.setting, setting))
}

fn why_absent(view: &dyn View, disk: &Disk, key: &str) -> String {
    let why = match key {
        "queue_depth" | "timeout" => "only SCSI and ATA disks have it",
        "link_power" => "its port's driver offers no link power management",
        "cache_type" | "provisioning_mode" => "it is no SCSI or ATA disk",
        "look_ahead" | "apm" | "acoustic" => "it is no ATA disk, or the drive does not offer it",
        "io_32bit" => "its controller moves the data itself, so there is no width to choose",
        key if key.starts_with("nvme.") => {
            "it is no NVMe disk, or its controller does not offer it"
        }
        "cpu.idle_latency" | "cpu.governor" | "cpu.energy_preference" => {
            "this kernel or machine, perhaps a virtual one, does not offer it"
        }
        "pm" | "aspm.*" => "its controller is no PCI device with this attribute",
        "iosched.*" => "the scheduler in use has no parameters",
        "irq_affinity.*" => "its controller shows no interrupts of its own",
        "wbt_lat_usec" => "the kernel is built without writeback throttling, or it is off for it",
        "io.cost.model" | "io.cost.qos" => return iocost::why_absent(view, disk),
        _ => "its driver or this kernel does not offer it",
    };
    why.to_owned()
}

#[cfg(test)]
pub(crate) mod tests;

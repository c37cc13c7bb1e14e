//! Looking at facts, and wording what was seen.

use super::{Found, RuleInput};
use crate::facts::{AtaFacts, Detail, IdentifyData, ScsiFacts};
use crate::finding::{Evidence, Severity};
use crate::model::{Device, DeviceKind, Fact, Inspection};
use std::fmt::Display;

impl Found {
    pub(super) fn new(severity: Severity, title: impl Into<String>) -> Self {
        Self { severity, title: title.into(), evidence: Vec::new(), remedy: None }
    }

    pub(super) fn seen(mut self, seen: impl Into<String>, from: impl Into<String>) -> Self {
        self.evidence.push(Evidence { seen: seen.into(), from: from.into() });
        self
    }

    /// A fact under its name.
    pub(super) fn fact<T: Display>(self, what: &str, fact: &Fact<T>) -> Self {
        self.seen(format!("{what}: {}", fact.value), &fact.from)
    }

    pub(super) fn facts<T: Display>(self, what: &str, fact: Option<&Fact<T>>) -> Self {
        match fact {
            Some(fact) => self.fact(what, fact),
            None => self,
        }
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl<'a> RuleInput<'a> {
    /// The target's device and everything below it, each name once.
    pub(super) fn devices(&self) -> Vec<&'a Device> {
        let mut out = Vec::new();
        self.inspection.device.iter().for_each(|d| walk(d, &mut out));
        out
    }

    /// A finding of each device.
    pub(super) fn each(&self, rule: impl Fn(&'a Device) -> Option<Found>) -> Vec<Found> {
        self.devices().into_iter().filter_map(rule).collect()
    }

    /// A finding of each ATA disk on a libata port.
    pub(super) fn each_ata(
        &self,
        rule: impl Fn(&'a Device, &'a AtaFacts) -> Option<Found>,
    ) -> Vec<Found> {
        self.each(|d| rule(d, d.detail.ata.as_ref().filter(|a| !is_atapi(a))?))
    }

    /// A finding of each drive with IDENTIFY data, wherever it is attached.
    pub(super) fn each_drive(
        &self,
        rule: impl Fn(&'a Device, &'a Fact<IdentifyData>) -> Option<Found>,
    ) -> Vec<Found> {
        self.each(|d| rule(d, d.detail.identify.as_ref()?))
    }

    /// A finding of each SCSI disk.
    pub(super) fn each_scsi(
        &self,
        rule: impl Fn(&'a Device, &'a ScsiFacts) -> Option<Found>,
    ) -> Vec<Found> {
        self.each(|d| rule(d, d.detail.scsi.as_ref()?))
    }

    /// The same device in the earlier inspection: same serial number, or same name where neither
    /// gives one.
    pub(super) fn before(&self, device: &Device) -> Option<&'a Device> {
        let serial = |d: &Device| d.serial.as_ref().map(|s| s.value.clone());
        let mut all = Vec::new();
        self.earlier?.device.iter().for_each(|d| walk(d, &mut all));
        all.into_iter().find(|d| serial(d) == serial(device) && d.name == device.name).or_else(
            || {
                let mut all = Vec::new();
                self.earlier?.device.iter().for_each(|d| walk(d, &mut all));
                all.into_iter().find(|d| serial(d).is_some() && serial(d) == serial(device))
            },
        )
    }

    /// Whether a device is a virtual machine's, whose figures are what the host pretends.
    pub(super) fn is_virtual(&self, device: &Device) -> bool {
        let model = text(&device.model);
        self.inspection.host.virtualization.is_some()
            || ["QEMU", "VMware", "VBOX", "Virtual"].iter().any(|m| model.contains(m))
            || device.detail.pci.iter().any(|f| {
                let board = text(&f.subsystem);
                ["1af4:", "15ad:", "80ee:", "1b36:"].iter().any(|v| board.starts_with(v))
            })
    }

    /// A word of the kernel's command line that starts with `prefix`.
    pub(super) fn boot_option(&self, prefix: &str) -> Option<Fact<String>> {
        let line = self.inspection.host.vm.command_line.as_ref()?;
        let word = line.value.split_whitespace().find(|w| w.starts_with(prefix))?;
        Some(Fact::new(word.to_owned(), line.from.clone()))
    }
}

fn walk<'a>(device: &'a Device, out: &mut Vec<&'a Device>) {
    if out.iter().all(|d| d.name != device.name) {
        out.push(device);
    }
    device.below.iter().for_each(|d| walk(d, out));
}

fn is_atapi(ata: &AtaFacts) -> bool {
    ata.class.as_ref().is_some_and(|c| c.value != "ata")
}

/// The text of a fact; empty where there is none.
pub(super) fn text(fact: &Option<Fact<String>>) -> &str {
    fact.as_ref().map_or("", |f| f.value.as_str())
}

/// Whether a fact is there and is this.
pub(super) fn is(fact: &Option<Fact<String>>, word: &str) -> bool {
    text(fact) == word
}

/// Whether a flag is there and set as asked.
pub(super) fn flag(fact: &Option<Fact<bool>>, wanted: bool) -> bool {
    fact.as_ref().is_some_and(|f| f.value == wanted)
}

/// A link speed in tenths of a gigabit a second: `6.0 Gbps` is 60.
pub(super) fn gbps(words: &str) -> Option<u64> {
    let number: f64 = words.strip_suffix(" Gbps")?.trim().parse().ok()?;
    (number > 0.0 && number < 1000.0).then_some((number * 10.0).round() as u64)
}

/// The speed of a SATA generation in tenths of a gigabit a second.
pub(super) fn generation(number: u8) -> u64 {
    15 << (u64::from(number.clamp(1, 3)) - 1)
}

/// Tenths of a gigabit a second as people write it.
pub(super) fn in_gbps(tenths: u64) -> String {
    format!("{}.{} Gbps", tenths / 10, tenths % 10)
}

/// What the drive says of its medium: `Some(true)` for solid state.
pub(super) fn solid_state(detail: &Detail) -> Option<bool> {
    let identify = detail.identify.as_ref().and_then(|i| i.value.rotation_rpm).map(u64::from);
    let scsi = detail.scsi.as_ref().and_then(|s| s.rotation_rpm.as_ref()).map(|r| r.value);
    identify.or(scsi).map(|rpm| rpm == 1)
}

/// Bytes with a binary unit.
pub(super) fn bytes(n: u64) -> String {
    let units = [(1u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(size, _)| n >= *size) {
        Some((size, unit)) if n.is_multiple_of(*size) => format!("{} {unit}", n / size),
        Some((size, unit)) => format!("{:.1} {unit}", n as f64 / *size as f64),
        None => format!("{n} B"),
    }
}

/// The whole disk's name of a device: settings of a queue are the disk's.
pub(super) fn disk_name(device: &Device) -> &str {
    match device.kind {
        DeviceKind::Partition => device.below.first().map_or(&device.name, |d| &d.name),
        _ => &device.name,
    }
}

/// The command that writes a setting of a disk's queue.
pub(super) fn set_queue(device: &Device, setting: &str, value: &str) -> String {
    format!("echo {value} | sudo tee /sys/block/{}/queue/{setting}", disk_name(device))
}

/// The commands that have the kernel forget a disk and find it again, which clears what error
/// handling left behind.
pub(super) fn replug(device: &Device) -> String {
    let host = device.detail.scsi.as_ref().and_then(|s| s.address.split(':').next());
    match host.filter(|h| !h.is_empty()) {
        Some(host) => format!(
            "with the disk unmounted and out of every array: \
             echo 1 | sudo tee /sys/block/{}/device/delete; \
             echo '- - -' | sudo tee /sys/class/scsi_host/host{host}/scan",
            device.name
        ),
        None => "restart the machine".to_owned(),
    }
}

/// The inspection's file system and all that stand on its disks, each mount point once.
pub(super) fn filesystems(inspection: &Inspection) -> Vec<&crate::model::Filesystem> {
    let mut all = Vec::new();
    inspection.device.iter().for_each(|d| walk(d, &mut all));
    let mounts = all.iter().flat_map(|d| &d.detail.mounts);
    let mut out: Vec<&crate::model::Filesystem> = Vec::new();
    for fs in inspection.filesystem.iter().chain(mounts) {
        if out.iter().all(|o| o.mount_point.value != fs.mount_point.value) {
            out.push(fs);
        }
    }
    out
}

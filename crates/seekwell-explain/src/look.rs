//! Reading facts, and wording what was seen.

use crate::observed::walk;
use seekwell_inspect::facts::Detail;
use seekwell_inspect::{Device, DeviceKind, Fact, Filesystem, Inspection};

/// The text of a fact; empty where there is none.
pub(crate) fn text(fact: &Option<Fact<String>>) -> &str {
    fact.as_ref().map_or("", |f| f.value.as_str())
}

/// Whether a fact is there and is this.
pub(crate) fn is(fact: &Option<Fact<String>>, word: &str) -> bool {
    text(fact) == word
}

/// Whether a flag is there and set as asked.
pub(crate) fn flag(fact: &Option<Fact<bool>>, wanted: bool) -> bool {
    fact.as_ref().is_some_and(|f| f.value == wanted)
}

/// A link speed in tenths of a gigabit a second: `6.0 Gbps` is 60.
pub(crate) fn gbps(words: &str) -> Option<u64> {
    let number: f64 = words.strip_suffix(" Gbps")?.trim().parse().ok()?;
    (number > 0.0 && number < 1000.0).then_some((number * 10.0).round() as u64)
}

/// The speed of a SATA generation in tenths of a gigabit a second.
pub(crate) fn generation(number: u8) -> u64 {
    15 << (u64::from(number.clamp(1, 3)) - 1)
}

/// Tenths of a gigabit a second as people write it.
pub(crate) fn in_gbps(tenths: u64) -> String {
    format!("{}.{} Gbps", tenths / 10, tenths % 10)
}

/// What the drive says of its medium: `Some(true)` for solid state.
pub(crate) fn solid_state(detail: &Detail) -> Option<bool> {
    let identify = detail.identify.as_ref().and_then(|i| i.value.rotation_rpm).map(u64::from);
    let scsi = detail.scsi.as_ref().and_then(|s| s.rotation_rpm.as_ref()).map(|r| r.value);
    identify.or(scsi).map(|rpm| rpm == 1)
}

/// Bytes with a binary unit.
pub(crate) fn bytes(n: u64) -> String {
    let units = [(1u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(size, _)| n >= *size) {
        Some((size, unit)) if n.is_multiple_of(*size) => format!("{} {unit}", n / size),
        Some((size, unit)) => format!("{:.1} {unit}", n as f64 / *size as f64),
        None => format!("{n} B"),
    }
}

/// The whole disk's name of a device: settings of a queue are the disk's.
pub(crate) fn disk_name(device: &Device) -> &str {
    match device.kind {
        DeviceKind::Partition => device.below.first().map_or(&device.name, |d| &d.name),
        _ => &device.name,
    }
}

/// The command that writes a setting of a disk's queue.
pub(crate) fn set_queue(device: &Device, setting: &str, value: &str) -> String {
    format!("echo {value} | sudo tee /sys/block/{}/queue/{setting}", disk_name(device))
}

/// The commands that have the kernel forget a disk and find it again, which clears what error
/// handling left behind.
pub(crate) fn replug(device: &Device) -> String {
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
pub(crate) fn filesystems(inspection: &Inspection) -> Vec<&Filesystem> {
    let mut all = Vec::new();
    inspection.device.iter().for_each(|d| walk(d, &mut all));
    let mounts = all.iter().flat_map(|d| &d.detail.mounts);
    let mut out: Vec<&Filesystem> = Vec::new();
    for fs in inspection.filesystem.iter().chain(mounts) {
        if out.iter().all(|o| o.mount_point.value != fs.mount_point.value) {
            out.push(fs);
        }
    }
    out
}

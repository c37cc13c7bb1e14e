//! Reading facts and phases.

use crate::Observed;
use seekwell_inspect::facts::Detail;
use seekwell_inspect::{Device, DeviceKind, Fact, Filesystem, Inspection};
use seekwell_runs::{Medium, Phase, PhaseId, Spread};

/// Under this share of the bytes reaching the device, a number is a cache's.
pub(crate) const HONEST_SHARE: f64 = 0.9;
/// No rotating disk answers a random read of a large region in less: half a turn at 15,000 rpm
/// alone is 2 ms.
pub(crate) const FASTEST_ROTATING_NS: f64 = 1e6;
/// No healthy flash needs longer for a random read of 4 KiB at depth 1; the slowest cards and
/// sticks need about 2 ms.
pub(crate) const SLOWEST_FLASH_NS: f64 = 3e6;
pub(crate) const ONE_READ: PhaseId = PhaseId::RandomRead(1);

/// The text of a fact; empty if it is unknown.
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

/// What the drive says of its medium: `Some(true)` for solid state.
pub(crate) fn solid_state(detail: &Detail) -> Option<bool> {
    let identify = detail.identify.as_ref().and_then(|i| i.value.rotation_rpm).map(u64::from);
    let scsi = detail.scsi.as_ref().and_then(|s| s.rotation_rpm.as_ref()).map(|r| r.value);
    identify.or(scsi).map(|rpm| rpm == 1)
}

/// The whole disk's name of a device: settings of a queue are the disk's.
pub(crate) fn disk_name(device: &Device) -> &str {
    match device.kind {
        DeviceKind::Partition => device.below.first().map_or(&device.name, |d| &d.name),
        _ => &device.name,
    }
}

/// The inspection's file system and all that stand on its disks, each mount point once.
pub(crate) fn filesystems(inspection: &Inspection) -> Vec<&Filesystem> {
    let mut all = Vec::new();
    inspection.device.iter().for_each(|d| walk(d, &mut all));
    let mounts = all.iter().flat_map(|d| &d.detail.mounts);
    let mut out: Vec<&Filesystem> = Vec::new();
    let own = inspection.filesystem.as_ref();
    let own = std::iter::successors(own, |fs| fs.below.as_deref());
    for fs in own.chain(mounts) {
        if out.iter().all(|o| o.mount_point.value != fs.mount_point.value) {
            out.push(fs);
        }
    }
    out
}

/// Whether a phase went past the page cache and its bytes came from the device, as far as is known.
pub(crate) fn is_honest(phase: &Phase) -> bool {
    phase.workload.drawn().is_some_and(|w| w.direct)
        && phase.median("device_share").is_none_or(|s| s >= HONEST_SHARE)
}

/// Requests a second of a phase, of whatever operation it is about: reads where it reads, else
/// writes.
pub(crate) fn main_rate(phase: &Phase) -> Option<(&'static str, Spread)> {
    let of = |name| Some((name, phase.metrics.get(name).copied()?));
    of("read.requests_per_s").or_else(|| of("write.requests_per_s"))
}

/// Size of the medium and whether it could be driven past the page cache.
pub(crate) fn medium_size(medium: &Medium) -> Option<(u64, bool)> {
    match medium {
        Medium::TemporaryFile { size_bytes, direct, .. }
        | Medium::ReadOnly { size_bytes, direct, .. }
        | Medium::Destroyed { size_bytes, direct, .. } => Some((*size_bytes, *direct)),
        Medium::Null | Medium::Machine { .. } => None,
    }
}

/// What a commit takes, from the write to the end of its flush.
pub(crate) fn commit_ns(input: &Observed<'_>) -> Option<f64> {
    let phase = input.phase(PhaseId::Commit)?;
    let of = |metric| phase.median(metric);
    of("flush.response_ns_p50").or_else(|| of("flush.response_ns_mean"))
}

/// A device and everything below it, each name once.
pub(crate) fn walk<'a>(device: &'a Device, out: &mut Vec<&'a Device>) {
    if out.iter().all(|d| d.name != device.name) {
        out.push(device);
    }
    device.below.iter().for_each(|d| walk(d, out));
}

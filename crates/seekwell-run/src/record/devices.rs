//! Which disks a recording is of, from the device that was named.

use super::RecordError;
use seekwell_access::folder_of;
use seekwell_inspect::{Device, DeviceKind, Target, inspect};
use seekwell_sys::{DevId, View};
use seekwell_trace::capture::Recorded;
use seekwell_trace::source;
use std::path::Path;

/// The unit of sysfs, whatever the disk's own.
const SECTOR: u64 = 512;

/// The disk or partition of a target; with `stack` every whole disk below and above it.
///
/// # Errors
/// When no block device is under the target.
pub fn disks(view: &dyn View, target: &Target, stack: bool) -> Result<Vec<Recorded>, RecordError> {
    let nothing = || RecordError::NothingToRecord { path: target.path.clone() };
    let device = inspect(view, target).device.ok_or_else(nothing)?;
    if !stack {
        return Ok(vec![recorded(view, &device).ok_or_else(nothing)?]);
    }
    let mut found = Vec::new();
    down(&device, &mut found);
    for index in 0.. {
        let Some(next) = found.get(index).and_then(number) else { break };
        above(view, next, &mut found);
    }
    let disks: Vec<Recorded> = found.iter().filter_map(|device| recorded(view, device)).collect();
    if disks.is_empty() { Err(nothing()) } else { Ok(disks) }
}

/// Disks that have requests under way now, which no recording that begins now will see queued.
pub fn hanging(view: &dyn View) -> Vec<Recorded> {
    let names = view.list(Path::new("/sys/block")).unwrap_or_default();
    let hangs = |name: &&String| in_flight(view, &Path::new("/sys/class/block").join(name)) > 0;
    names.iter().filter(hangs).filter_map(|name| whole(view, name)).collect()
}

/// A whole disk by its name.
pub(crate) fn whole(view: &dyn View, name: &str) -> Option<Recorded> {
    let number = view.text(&Path::new("/sys/class/block").join(name).join("dev")).ok()?;
    let DevId { major, minor } = number.parse().ok()?;
    let device = source::Device { name: name.to_owned(), ..source::Device::default() };
    Some(Recorded { major, minor, part: None, device })
}

/// Requests that the driver of a disk has, as the kernel counts them.
pub(crate) fn in_flight(view: &dyn View, folder: &Path) -> u64 {
    let text = view.text(&folder.join("inflight")).unwrap_or_default();
    text.split_whitespace().filter_map(|number| number.parse::<u64>().ok()).sum()
}

/// Whether a file to be written lies on one of the disks.
pub fn holds(view: &dyn View, disks: &[Recorded], output: &Path) -> bool {
    let under = under(view, folder_of(output));
    disks.iter().any(|disk| under.iter().any(|n| (n.major, n.minor) == (disk.major, disk.minor)))
}

/// Numbers of the devices that a file lies on; empty if that is unknown.
pub(crate) fn under(view: &dyn View, file: &Path) -> Vec<DevId> {
    let target = Target::resolve(view, file).ok();
    target.and_then(|target| inspect(view, &target).device).map_or_else(Vec::new, |d| numbers(&d))
}

/// Numbers of a device and of all it stands on.
pub(crate) fn numbers(device: &Device) -> Vec<DevId> {
    let below = device.below.iter().flat_map(numbers);
    number(device).into_iter().chain(below).collect()
}

fn number(device: &Device) -> Option<DevId> {
    device.dev.parse().ok()
}

/// The whole disks of a device and of all it stands on.
fn down(device: &Device, found: &mut Vec<Device>) {
    let known = found.iter().any(|other| other.dev == device.dev);
    if !known && device.kind != DeviceKind::Partition && number(device).is_some() {
        found.push(device.clone());
    }
    device.below.iter().for_each(|below| down(below, found));
}

/// What stands on a disk or on one of its partitions, directly; what stands on that comes with the
/// next disk of the list.
fn above(view: &dyn View, disk: DevId, found: &mut Vec<Device>) {
    let folder = disk.sysfs();
    let names = view.list(&folder).unwrap_or_default();
    let parts = names.iter().filter(|name| view.exists(&folder.join(name).join("partition")));
    let holders = parts.map(|name| folder.join(name)).chain([folder.clone()]);
    for folder in holders.map(|place| place.join("holders")) {
        for name in view.list(&folder).unwrap_or_default() {
            let number = view.text(&Path::new("/sys/class/block").join(&name).join("dev"));
            let Some(number) = number.ok().and_then(|text| text.parse::<DevId>().ok()) else {
                continue;
            };
            let holder = inspect(view, &Target::block_device(&name, number)).device;
            if let Some(holder) = holder {
                down(&holder, found);
            }
        }
    }
}

/// What the recording needs to know of a device: events name the whole disk.
fn recorded(view: &dyn View, device: &Device) -> Option<Recorded> {
    let own = number(device)?;
    let (disk, part) = if device.kind == DeviceKind::Partition {
        let value = |name: &str| view.number(&own.sysfs().join(name)).ok();
        let part = (value("start")?.checked_mul(SECTOR)?, value("size")?.checked_mul(SECTOR)?);
        (device.below.first()?, Some(part))
    } else {
        (device, None)
    };
    let DevId { major, minor } = number(disk)?;
    let said = source::Device {
        name: device.name.clone(),
        size_bytes: device.size_bytes.as_ref().map(|fact| fact.value),
        model: disk.model.as_ref().map(|fact| fact.value.clone()),
        serial: disk.serial.as_ref().map(|fact| fact.value.clone()),
    };
    Some(Recorded { major, minor, part, device: said })
}

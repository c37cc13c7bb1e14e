//! A block device and everything it stands on.
//!
//! The kernel shows what a device is built of in three ways: a partition lies inside its disk's
//! folder, device-mapper and MD list their `slaves`, a loop device names its file. Followed down,
//! they end at disks. A view that lies can make this a circle or a bush, so both the path and the
//! number of devices are bounded.

use crate::attach::{self, AtaPort};
use crate::facts::{self, Detail};
use crate::find;
use crate::health;
use crate::identity::{self, Identify};
use crate::inspection::Device;
use crate::model::{DeviceKind, Fact, Hop, Identity};
use crate::mount;
use crate::queue;
use crate::reader::{Need, Reader, choice, show};
use seekwell_sys::{DevId, Mount, View};
use std::path::{Path, PathBuf};

/// The deepest stack followed: real ones (file, loop, LVM, crypt, MD, partition, disk) have seven.
const MAX_DEPTH: usize = 16;
/// The most devices shown of one stack.
const MAX_DEVICES: usize = 512;

/// Follows stacks of devices on one machine.
pub(crate) struct Stack<'m> {
    mounts: &'m [Mount],
    trail: Vec<PathBuf>,
    seen: usize,
}

impl<'m> Stack<'m> {
    /// `mounts` say which device a loop device's file is on.
    pub fn new(mounts: &'m [Mount]) -> Self {
        Self { mounts, trail: Vec::new(), seen: 0 }
    }

    /// The device whose real sysfs folder is `dir`. `None` when it is above itself, or too much.
    pub fn device(&mut self, r: &mut Reader<'_>, dir: &Path) -> Option<Device> {
        if self.trail.iter().any(|d| d == dir) {
            r.miss("what a device stands on", show(dir), "the device is listed below itself");
            return None;
        }
        if self.trail.len() >= MAX_DEPTH || self.seen >= MAX_DEVICES {
            r.miss("what a device stands on", show(dir), "there are too many devices to follow");
            return None;
        }
        self.seen += 1;
        self.trail.push(dir.to_path_buf());
        let device = self.read(r, dir);
        self.trail.pop();
        Some(device)
    }

    /// The ZFS pool of this name on its members.
    pub fn pool(&mut self, r: &mut Reader<'_>, name: &str) -> Device {
        let members = facts::pool_members(r, name);
        if members.is_empty() {
            let what = format!("the disks of the ZFS pool {name}");
            let reason =
                format!("udev knows no device with its label; zpool status {name} lists them");
            r.miss(&what, "/run/udev/data", reason);
        }
        Device {
            role: Some(Fact::new("zfs".to_owned(), mount::MOUNTINFO)),
            detail: Box::new(Detail { zfs: Some(facts::zfs(r, name)), ..Detail::default() }),
            below: members.iter().filter_map(|dir| self.device(r, dir)).collect(),
            ..Device::new(name, "", DeviceKind::Pool)
        }
    }

    fn read(&mut self, r: &mut Reader<'_>, dir: &Path) -> Device {
        let name = dir.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let kind = kind(r, dir, &name);
        let disk = if kind == DeviceKind::Partition { dir.parent().unwrap_or(dir) } else { dir };
        let hidden = r.hint(&dir.join("hidden")).is_some_and(|h| h == "1");
        let need = if hidden { Need::Optional } else { Need::Always };
        let dev = r.text(&dir.join("dev"), "device number", need);
        let dev = dev.map(|d| d.value).unwrap_or_default();
        let mut device = Device {
            role: role(r, dir, kind),
            size_bytes: r.scaled(&dir.join("size"), "size", 512, Need::Always),
            queue: queue::read(r, disk, dir),
            detail: Box::new(facts::read(r, dir, disk, kind)),
            ..Device::new(&name, &dev, kind)
        };
        match kind {
            DeviceKind::Disk => describe(r, dir, &mut device),
            DeviceKind::MultipathHead => {
                let (who, _) = identify(r, dir, device.dev.parse().ok(), None);
                take(&mut device, who);
                device.below = self.nvme_paths(r, dir);
            }
            DeviceKind::Loop => self.loop_device(r, dir, &mut device),
            DeviceKind::Partition => device.below.extend(self.device(r, disk)),
            DeviceKind::Zram => device.transport = Some(Fact::new("memory".into(), show(dir))),
            DeviceKind::Network => device.transport = Some(Fact::new("network".into(), show(dir))),
            DeviceKind::Other if device.name.starts_with("ram") => {
                device.transport = Some(Fact::new("memory".into(), show(dir)));
            }
            DeviceKind::DeviceMapper | DeviceKind::Md | DeviceKind::Pool | DeviceKind::Other => {}
        }
        if self.trail.len() == 1 || kind == DeviceKind::Disk {
            let above = match self.mounts {
                [] => Vec::new(),
                _ => facts::stands_above(r, dir),
            };
            device.detail.mounts = facts::mounted(r, &above, self.mounts);
            device.detail.swaps = facts::swaps(r, &above, self.mounts);
            device.detail.ext4 = facts::ext4(r, &above, self.mounts);
            device.detail.btrfs = facts::btrfs(r, &above);
        }
        if device.below.is_empty() && kind != DeviceKind::Disk {
            device.below = self.slaves(r, dir);
        }
        device
    }

    fn slaves(&mut self, r: &mut Reader<'_>, dir: &Path) -> Vec<Device> {
        let folder = dir.join("slaves");
        let mut below = Vec::new();
        for name in r.names(&folder) {
            match r.view.canonical(&folder.join(&name)) {
                Ok(slave) => below.extend(self.device(r, &slave)),
                Err(error) => r.miss_error("a device below", &error, Need::Always),
            }
        }
        below
    }

    fn loop_device(&mut self, r: &mut Reader<'_>, dir: &Path, device: &mut Device) {
        device.transport = Some(Fact::new("file".into(), show(dir)));
        let Some(file) = device.role.as_ref().map(|role| role.value.clone()) else { return };
        let below = if file.starts_with("/dev/") && !file.starts_with("/dev/shm/") {
            find::by_node(r, &file)
        } else {
            // The kernel adds this when the file's last name is gone.
            let file = file.strip_suffix(" (deleted)").unwrap_or(&file);
            let mount = mount::holding(self.mounts, Path::new(file), None);
            mount.and_then(|m| mount::device_dir(r, m, None))
        };
        if let Some(dir) = below {
            device.below.extend(self.device(r, &dir));
        }
    }

    /// The hidden namespaces behind a multipath head: `nvme0c1n1` is path 1 of `nvme0n1`.
    fn nvme_paths(&mut self, r: &mut Reader<'_>, dir: &Path) -> Vec<Device> {
        let Some(subsystem) = dir.parent() else { return Vec::new() };
        let head = dir.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let mut below = Vec::new();
        for controller in r.names(subsystem) {
            let Ok(real) = r.view.canonical(&subsystem.join(&controller)) else { continue };
            if !controller.starts_with("nvme") || real.starts_with(subsystem) {
                continue;
            }
            for name in r.names(&real) {
                if head_of_path(&name).as_ref() == Some(&head) {
                    below.extend(self.device(r, &real.join(&name)));
                }
            }
        }
        if below.is_empty() {
            r.miss("the paths to this NVMe device", show(subsystem), "none is listed");
        }
        below
    }
}

/// `nvme0c1n2` is a path to `nvme0n2`.
fn head_of_path(name: &str) -> Option<String> {
    let (subsystem, rest) = name.strip_prefix("nvme")?.split_once('c')?;
    let (controller, namespace) = rest.split_once('n')?;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let all = number(subsystem) && number(controller) && number(namespace);
    all.then(|| format!("nvme{subsystem}n{namespace}"))
}

fn kind(r: &Reader<'_>, dir: &Path, name: &str) -> DeviceKind {
    let has = |file: &str| r.view.exists(&dir.join(file));
    if has("partition") {
        DeviceKind::Partition
    } else if has("dm") || name.starts_with("dm-") {
        DeviceKind::DeviceMapper
    } else if has("md") {
        DeviceKind::Md
    } else if has("loop") || name.starts_with("loop") {
        DeviceKind::Loop
    } else if name.starts_with("zram") {
        DeviceKind::Zram
    } else if ["nbd", "rbd", "drbd"].iter().any(|p| name.starts_with(p)) {
        DeviceKind::Network
    } else if dir.starts_with("/sys/devices/virtual/nvme-subsystem") {
        DeviceKind::MultipathHead
    } else if dir.starts_with("/sys/devices/virtual/block") {
        DeviceKind::Other
    } else {
        DeviceKind::Disk
    }
}

fn role(r: &mut Reader<'_>, dir: &Path, kind: DeviceKind) -> Option<Fact<String>> {
    match kind {
        DeviceKind::Partition => r.text(&dir.join("partition"), "partition number", Need::Always),
        DeviceKind::DeviceMapper => {
            let uuid = r.text(&dir.join("dm/uuid"), "device-mapper UUID", Need::Optional);
            let role =
                uuid.and_then(|u| Some(Fact::new(mapper_role(&u.value)?.to_owned(), u.from)));
            role.or_else(|| r.text(&dir.join("dm/name"), "device-mapper name", Need::Always))
        }
        DeviceKind::Md => r.text(&dir.join("md/level"), "RAID level", Need::Always),
        DeviceKind::Loop => r.text(&dir.join("loop/backing_file"), "backing file", Need::Optional),
        DeviceKind::Zram => {
            let path = dir.join("comp_algorithm");
            let algorithm = r.text(&path, "compression algorithm", Need::Optional)?;
            choice(&algorithm.value).0.map(|name| Fact::new(name, algorithm.from))
        }
        DeviceKind::Network => r.optional(&dir.join("backend"), "what nbd calls its server"),
        DeviceKind::Other if r.view.exists(&dir.join("bcache")) => {
            Some(Fact::new("bcache".to_owned(), show(&dir.join("bcache"))))
        }
        _ => None,
    }
}

/// Who made a device-mapper device, from the prefix its maker puts in front of the UUID.
fn mapper_role(uuid: &str) -> Option<&'static str> {
    let prefixes = [
        ("LVM-", "lvm"),
        ("CRYPT-VERITY", "verity"),
        ("CRYPT-INTEGRITY", "integrity"),
        ("CRYPT-", "crypt"),
        ("mpath-", "multipath"),
        ("DMRAID-", "raid"),
        ("stratis-", "stratis"),
        ("VDO-", "vdo"),
        ("part", "partition"),
    ];
    prefixes.iter().find(|(prefix, _)| uuid.starts_with(prefix)).map(|(_, role)| *role)
}

/// Fills in what only a disk has: who it is and how it is attached.
fn describe(r: &mut Reader<'_>, dir: &Path, device: &mut Device) {
    let ata = AtaPort::find(r, dir);
    let (who, behind_hba) = identify(r, dir, device.dev.parse().ok(), ata.as_ref());
    take(device, who);
    let data = ata.as_ref().map_or(behind_hba.as_ref(), |port| port.identify.as_ref());
    facts::of_disk(r, dir, ata.as_ref(), data, &mut device.detail);
    let attachment = attach::follow(r, dir, ata.as_ref());
    device.transport = attachment.transport;
    device.driver = attachment.driver;
    device.pci = attachment.pci;
    device.attachment = attachment.hops;
    let raid = device.detail.raid_controller().map(|class| class.from.clone());
    if let Some(from) = &raid {
        device.role = Some(Fact::new("virtual drive of a hardware RAID".to_owned(), from.clone()));
    }
    device.attachment.push(last_hop(device, dir));
    device.detail.health = health::read(r, device);
    if device.transport.is_none() {
        r.miss("how the disk is attached", show(dir), "its path names no bus this program knows");
    }
    let speaks = device.transport.as_ref().map_or("", |t| t.value.as_str());
    if device.serial.is_none() && raid.is_some() {
        let reason = "the controller's firmware gives its virtual drive none; the maker's tool \
                      shows those of the disks behind it";
        r.miss("serial number", show(&dir.join("device/vpd_pg80")), reason);
    } else if device.serial.is_none() && ["sata", "pata", "ata", "sas", "nvme"].contains(&speaks) {
        r.miss("serial number", show(&dir.join("device")), "the device gives none");
    }
}

/// Who it is; and IDENTIFY data that came from no ATA port.
fn identify(
    r: &mut Reader<'_>,
    dir: &Path,
    dev: Option<DevId>,
    ata: Option<&AtaPort>,
) -> (Identity, Option<Fact<Identify>>) {
    let behind_hba = match ata {
        Some(_) => None,
        None => identity::identify(r, dir, None),
    };
    let data = ata.map_or(behind_hba.as_ref(), |port| port.identify.as_ref());
    (identity::read(r, dir, dev, data), behind_hba)
}

fn take(device: &mut Device, who: Identity) {
    device.model = who.model;
    device.serial = who.serial;
    device.wwn = who.wwn;
    device.firmware = who.firmware;
}

/// Who the device whose real sysfs folder is `dir` is, as [`crate::inspect()`] says it, and nothing
/// else. No file of its queue is read: those wait for a change of the queue to end, and on a disk
/// that hangs such a change does not end.
pub fn identity(view: &dyn View, dir: &Path) -> Identity {
    let mut r = Reader::new(view);
    let name = dir.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let dev = r.hint(&dir.join("dev")).and_then(|d| d.parse().ok());
    let ata = match kind(&r, dir, &name) {
        DeviceKind::Disk => AtaPort::find(&mut r, dir),
        DeviceKind::MultipathHead => None,
        _ => return Identity::default(),
    };
    identify(&mut r, dir, dev, ata.as_ref()).0
}

fn last_hop(device: &Device, dir: &Path) -> Hop {
    let model = device.model.as_ref().map(|m| m.value.clone());
    let serial = device.serial.as_ref().map(|s| format!("serial {}", s.value));
    let words: Vec<String> = model.into_iter().chain(serial).collect();
    let detail = if words.is_empty() { "gives no name".to_owned() } else { words.join(", ") };
    Hop { kind: "device".to_owned(), name: device.name.clone(), detail, from: show(dir) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makers_of_device_mapper_devices_are_known_by_their_uuid() {
        assert_eq!(mapper_role("LVM-abc"), Some("lvm"));
        assert_eq!(mapper_role("CRYPT-LUKS2-x-y"), Some("crypt"));
        assert_eq!(mapper_role("CRYPT-VERITY-x"), Some("verity"));
        assert_eq!(mapper_role("part1-mpath-x"), Some("partition"));
        assert_eq!(mapper_role("something"), None);
    }

    #[test]
    fn an_nvme_path_belongs_to_the_head_of_its_subsystem_and_namespace() {
        assert_eq!(head_of_path("nvme0c1n2").as_deref(), Some("nvme0n2"));
        assert_eq!(head_of_path("nvme0n1"), None);
        assert_eq!(head_of_path("nvmecn"), None);
        assert_eq!(head_of_path("nvme0c1n2p1"), None);
    }
}

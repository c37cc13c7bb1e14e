//! What is kept beside that which inspection read.
//!
//! Rules that do not exist yet will ask for attributes that no rule reads today. Attributes that do
//! something when they are read are left alone: a PCI function's port ranges and ROM, a
//! temperature that wakes the drive, the pages of an enclosure.

use crate::find;
use crate::inspection::{Device, Inspection};
use crate::reader::Reader;
use crate::sysfs::{name, numbered};
use seekwell_sys::{DevId, LSPCI, View};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Tables every inspection may need.
const FILES: [&str; 19] = [
    LSPCI,
    "/proc/cmdline",
    "/proc/interrupts",
    "/proc/modules",
    "/proc/swaps",
    "/proc/mdstat",
    "/proc/drbd",
    "/proc/partitions",
    "/proc/diskstats",
    "/proc/version",
    "/proc/filesystems",
    "/proc/devices",
    "/proc/self/mountinfo",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/tainted",
    "/proc/sys/kernel/dmesg_restrict",
    "/sys/devices/system/cpu/online",
    "/etc/os-release",
];

/// Folders of which the names and links are kept.
const FOLDERS: [&str; 18] = [
    "/sys/block",
    "/sys/class/block",
    "/sys/dev/block",
    "/sys/class/ata_port",
    "/sys/class/ata_link",
    "/sys/class/ata_device",
    "/sys/class/scsi_host",
    "/sys/class/scsi_device",
    "/sys/class/nvme",
    "/sys/class/nvme-subsystem",
    "/sys/class/mmc_host",
    "/sys/class/sas_phy",
    "/sys/bus/pci/devices",
    "/sys/bus/pci/slots",
    "/sys/bus/usb/devices",
    "/sys/bus/virtio/devices",
    "/dev/disk/by-id",
    "/dev/disk/by-path",
];

/// Modules whose parameters decide how disks are driven.
const MODULES: [&str; 16] = [
    "libata",
    "ahci",
    "ata_piix",
    "nvme",
    "nvme_core",
    "scsi_mod",
    "sd_mod",
    "usb_storage",
    "uas",
    "mpt3sas",
    "megaraid_sas",
    "dm_mod",
    "md_mod",
    "drbd",
    "zfs",
    "pcie_aspm",
];

/// The deepest folder entered, and the most entries looked at.
const MAX_DEPTH: usize = 10;
const MAX_SEEN: usize = 300_000;

/// Reads it all, so that the view, which records, keeps it.
pub(super) fn sweep(view: &dyn View, found: &[Inspection]) {
    let mut sweep = Sweep { view, done: HashSet::new(), seen: 0 };
    for file in FILES {
        // What cannot be read is recorded as that.
        let _ = view.read(Path::new(file));
    }
    for folder in FOLDERS {
        let _ = view.list(Path::new(folder));
    }
    for module in MODULES {
        sweep.whole(&Path::new("/sys/module").join(module).join("parameters"), 1);
    }
    found.iter().filter_map(|i| i.device.as_ref()).for_each(|device| sweep.device(device));
}

struct Sweep<'v> {
    view: &'v dyn View,
    done: HashSet<PathBuf>,
    seen: usize,
}

impl Sweep<'_> {
    fn device(&mut self, device: &Device) {
        let r = Reader::new(self.view);
        let dev: Option<DevId> = device.dev.parse().ok();
        let dir = dev.and_then(|d| find::by_number(&r, d));
        if let Some(dir) = dir.or_else(|| find::by_name(&r, &device.name.replace('/', "!"))) {
            self.whole(&dir, MAX_DEPTH);
            if let Ok(below) = self.view.canonical(&dir.join("device")) {
                self.whole(&below, MAX_DEPTH);
            }
            self.way(&dir);
        }
        if let Some(dev) = dev {
            let _ = self.view.read(&PathBuf::from(format!("/run/udev/data/b{dev}")));
        }
        device.below.iter().for_each(|d| self.device(d));
    }

    /// The stations above a device: their own attributes, and ports whole.
    fn way(&mut self, dir: &Path) {
        let above = dir.ancestors().skip(1).take_while(|p| *p != Path::new("/sys/devices"));
        for station in above.filter(|p| p.starts_with("/sys/devices")) {
            let name = name(station);
            if ["ata", "nvme", "mmc"].iter().any(|p| numbered(name, p)) {
                self.whole(station, MAX_DEPTH);
            } else if name.contains([':', '.', '-']) || numbered(name, "host") {
                self.shallow(station);
            }
        }
    }

    /// A station's own files, those of its folders that are no devices, and its other ports.
    fn shallow(&mut self, dir: &Path) {
        self.whole(dir, 0);
        for name in self.view.list(dir).unwrap_or_default() {
            let at = dir.join(&name);
            if numbered(&name, "ata") {
                self.whole(&at, MAX_DEPTH);
            } else if ["msi_irqs", "link", "power", "scsi_host", "sas_phy"].contains(&name.as_str())
            {
                self.whole(&at, 2);
            }
        }
    }

    fn whole(&mut self, dir: &Path, depth: usize) {
        if self.seen > MAX_SEEN || (depth > 0 && !self.done.insert(dir.to_path_buf())) {
            return;
        }
        for name in self.view.list(dir).unwrap_or_default() {
            let at = dir.join(&name);
            self.seen += 1;
            if acts(&name) || self.view.link(&at).is_ok() {
                continue;
            }
            if self.view.list(&at).is_err() {
                let _ = self.view.read(&at);
            } else if depth > 0 {
                self.whole(&at, depth - 1);
            }
        }
    }
}

/// Whether reading this has side effects, or shows more than a disk.
fn acts(name: &str) -> bool {
    let begins = ["resource", "rom", "hwmon", "enclosure", "legacy_", "eeprom", "nvmem", "trace"];
    begins.iter().any(|p| name.starts_with(p)) || ["vpd", "sw_activity"].contains(&name)
}

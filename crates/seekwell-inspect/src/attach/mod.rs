//! The way from the CPU to a disk.
//!
//! A device's real path in sysfs *is* its attachment: every folder on it is a bus, a bridge, a
//! controller, a port or a device. This walks that path once, outermost first, and lets each kind
//! of station say what it is.

mod ata;
mod link;
mod pci;
mod usb;

pub(crate) use ata::{AtaPort, mode_in_words};
pub(crate) use pci::class_in_words;

use crate::model::{Fact, Hop};
use crate::reader::{Reader, show};
use crate::sysfs::{self, is_pci_function, is_usb_device, is_usb_interface, name, numbered};
use std::path::{Path, PathBuf};

/// The stations a disk's path passes, and what follows from them.
#[derive(Debug, Default)]
pub(crate) struct Attachment {
    /// From the CPU to the last station before the device.
    pub hops: Vec<Hop>,
    pub transport: Option<Fact<String>>,
    pub driver: Option<Fact<String>>,
    pub pci: Option<Fact<String>>,
}

/// Drivers of the thing at the end of the path, not of what it is plugged into.
const NOT_CONTROLLERS: [&str; 7] = ["sd", "sr", "st", "mmcblk", "usb", "hub", "pcieport"];

/// Follows the path of a disk whose sysfs folder is `dir`.
pub(crate) fn follow(r: &mut Reader<'_>, dir: &Path, ata: Option<&AtaPort>) -> Attachment {
    let stations = stations(dir);
    let functions: Vec<PathBuf> =
        stations.iter().filter(|s| is_pci_function(name(s))).cloned().collect();
    let controller = functions.last().cloned();

    let mut hops = vec![pci::cpu(r, controller.as_deref())];
    for station in &stations {
        if Some(station) == controller.as_ref() {
            hops.push(pci::controller(r, station));
            hops.extend(pci::link(r, station, functions.iter().rev().nth(1).map(PathBuf::as_path)));
        } else if is_pci_function(name(station)) {
            hops.push(pci::bridge(r, station));
        } else {
            hops.extend(station_hops(r, station, ata));
        }
    }
    // On a system-on-chip buses and host bridges have drivers too; the last with one is the disk's.
    let last = hops.iter().rposition(|hop| hop.kind == "controller").unwrap_or(0);
    let above = hops.iter_mut().take(last).filter(|hop| hop.kind == "controller");
    above.for_each(|hop| "bus".clone_into(&mut hop.kind));
    Attachment {
        hops,
        transport: transport(r, dir, &stations, ata),
        driver: driver(r, &stations),
        pci: controller.map(|c| Fact::new(name(&c).to_owned(), show(&c))),
    }
}

/// The folders between `/sys/devices` and the disk, outermost first.
fn stations(dir: &Path) -> Vec<PathBuf> {
    let above = dir.ancestors().skip(1);
    let mut stations: Vec<PathBuf> = above
        .take_while(|p| *p != Path::new("/sys/devices") && p.parent().is_some())
        .map(Path::to_path_buf)
        .collect();
    stations.reverse();
    stations
}

fn station_hops(r: &mut Reader<'_>, at: &Path, ata: Option<&AtaPort>) -> Vec<Hop> {
    let name = name(at);
    if numbered(name, "ata") {
        return ata.map(|port| ata::hops(r, port)).unwrap_or_default();
    }
    let hop = if numbered(name, "host") {
        link::scsi_host(r, at)
    } else if numbered(name, "nvme") {
        Some(link::nvme(r, at))
    } else if numbered(name, "virtio") {
        Some(link::virtio(r, at))
    } else if numbered(name, "mmc") {
        Some(link::mmc(r, at))
    } else if numbered(name, "usb") {
        Some(usb::root_hub(r, at))
    } else if is_usb_interface(name) {
        usb::interface(r, at)
    } else if is_usb_device(name) {
        Some(usb::device(r, at))
    } else if name.starts_with("expander-") || name.starts_with("end_device-") {
        link::sas(r, at)
    } else if name.starts_with("rport-") || numbered(name, "session") {
        Some(link::fabric(at))
    } else {
        link::platform(r, at)
    };
    hop.into_iter().collect()
}

fn driver(r: &Reader<'_>, stations: &[PathBuf]) -> Option<Fact<String>> {
    let bound = stations.iter().rev().filter_map(|s| r.driver(s));
    bound.into_iter().find(|d| !NOT_CONTROLLERS.contains(&d.value.as_str()))
}

fn transport(
    r: &mut Reader<'_>,
    dir: &Path,
    stations: &[PathBuf],
    ata: Option<&AtaPort>,
) -> Option<Fact<String>> {
    if let Some(port) = ata {
        return Some(port.transport(r));
    }
    let found = |at: &PathBuf, word: &str| Some(Fact::new(word.to_owned(), show(at)));
    for at in stations.iter().rev() {
        let name = name(at);
        if numbered(name, "nvme") {
            return Some(link::nvme_transport(r, at));
        } else if numbered(name, "virtio") {
            let scsi = r.view.exists(&dir.join("device/scsi_level"));
            return found(at, if scsi { "virtio-scsi" } else { "virtio-blk" });
        } else if numbered(name, "usb") {
            return found(at, "usb");
        } else if name == "mmc_host" {
            return found(at, "mmc");
        } else if name.starts_with("end_device-") {
            let vendor = dir.join("device/vendor");
            let sata = r.hint(&vendor).is_some_and(|v| v == "ATA");
            return if sata { found(&vendor, "sata") } else { found(at, "sas") };
        } else if name.starts_with("rport-") {
            return found(at, "fc");
        } else if numbered(name, "session") {
            return found(at, "iscsi");
        } else if name.starts_with("vbd-") {
            return found(at, "xen");
        }
    }
    let scsi = stations.iter().rev().find(|s| numbered(sysfs::name(s), "host"))?;
    found(scsi, "scsi")
}

//! Where a disk can be plugged in while the machine runs: by controller, and by port.

use super::able::{Able, HotPlug};
use super::ports;
use crate::attach;
use crate::find;
use crate::reader::{Reader, show};
use crate::sysfs::{self, is_pci_function, name};
use seekwell_sys::View;
use std::path::{Path, PathBuf};

/// Drivers of host adapters that announce every drive themselves.
const ADAPTERS: [&str; 9] = [
    "mpt3sas",
    "mpt2sas",
    "megaraid_sas",
    "smartpqi",
    "hpsa",
    "aacraid",
    "pm80xx",
    "isci",
    "mvsas",
];
/// SATA drivers other than ahci whose ports report a plugged drive.
const SATA: [&str; 5] = ["sata_sil24", "sata_sil", "sata_nv", "sata_mv", "sata_inic162x"];

/// Every storage and USB controller, in the order of their addresses, then ATA controllers on no
/// PCI bus, card slots and empty slots that are watched.
pub fn hot_plug(view: &dyn View) -> Vec<HotPlug> {
    let r = Reader::new(view);
    let disks = ports::disks(&r);
    let functions = find::pci_functions(&r);
    let mut found: Vec<HotPlug> = functions.iter().filter_map(|f| pci(&r, f, &disks)).collect();
    found.extend(ports::ata_elsewhere(&r).iter().map(|at| ata_elsewhere(&r, at, &disks)));
    for name in r.names(Path::new("/sys/bus/virtio/devices")) {
        found.extend(virtio_mmio(&r, &name));
    }
    for name in r.names(Path::new("/sys/class/mmc_host")) {
        found.extend(card_slot(&r, &name));
    }
    found.extend(empty_slots(&r, &functions));
    found
}

fn pci(r: &Reader<'_>, at: &Path, disks: &[PathBuf]) -> Option<HotPlug> {
    let path = at.join("class");
    let class = u32::from_str_radix(r.hint(&path)?.strip_prefix("0x")?, 16).ok()?;
    let driver = r.driver(at).map(|d| d.value);
    let driver = driver.as_deref().unwrap_or("");
    let vendor = r.hint(&at.join("vendor"));
    let virtio = vendor.as_deref() == Some("0x1af4");
    let mut found = HotPlug {
        controller: name(at).to_owned(),
        what: attach::class_in_words(class),
        able: Able::Unknown,
        why: String::new(),
        from: show(&path),
        ports: Vec::new(),
    };
    if class >> 16 == 1 && (driver == "ahci" || SATA.contains(&driver)) {
        found.ports = ports::ata(r, at, disks, |port| ports::sata_port(r, port));
        (found.able, found.why) = ports::together(&found.ports);
        return Some(found);
    }
    (found.able, found.why) = match class >> 8 {
        0x0101 => {
            found.ports = ports::ata(r, at, disks, |port| ports::ide_port(r, port));
            (Able::No, ports::IDE.to_owned())
        }
        // The drives behind it are functions of their own.
        _ if driver == "vmd" => return None,
        _ if virtio => match r.hint(&at.join("device")).as_deref() {
            Some("0x1004" | "0x1048") => {
                (Able::Yes, "the host announces the disks it adds".to_owned())
            }
            Some("0x1001" | "0x1042") => slot(r, at, "virtio"),
            _ => return None,
        },
        0x0c03 => {
            found.ports = ports::usb(r, at, disks);
            (Able::Yes, "USB supports it".to_owned())
        }
        0x0805 => return None,
        0x0108 => slot(r, at, "NVMe"),
        0x0100 | 0x0104 | 0x0107 if ADAPTERS.contains(&driver) => {
            (Able::Yes, format!("the adapter reports drives to its driver {driver}"))
        }
        class if class >> 8 == 1 => {
            let by = if driver.is_empty() { "it has no driver".to_owned() } else { driver.into() };
            (Able::Unknown, format!("nothing is known about this controller ({by})"))
        }
        _ => return None,
    };
    Some(found)
}

/// A controller of a system-on-chip.
fn ata_elsewhere(r: &Reader<'_>, at: &Path, disks: &[PathBuf]) -> HotPlug {
    let driver = r.driver(at).map_or_else(|| "no driver".to_owned(), |d| d.value);
    let ports = if driver.contains("ahci") || driver.starts_with("sata_") {
        ports::ata(r, at, disks, |port| ports::sata_port(r, port))
    } else {
        let why = format!("nothing is known about the ports of {driver}");
        ports::ata(r, at, disks, |_| (Able::Unknown, why.clone(), None))
    };
    let (able, why) = ports::together(&ports);
    let what = format!("ATA controller on no PCI bus ({driver})");
    HotPlug { controller: name(at).to_owned(), what, able, why, from: show(at), ports }
}

/// A function that is the disk itself: its slot has to take and give it back.
fn slot(r: &Reader<'_>, at: &Path, what: &str) -> (Able, String) {
    let port = at.parent();
    let service = port.and_then(|port| {
        let names = r.names(port).into_iter().filter(|n| n.contains(":pcie"));
        names.map(|n| port.join(n)).find(|s| r.driver(s).is_some_and(|d| d.value == "pciehp"))
    });
    if service.is_some() {
        return (Able::Yes, "its slot is watched by pciehp".to_owned());
    }
    let address = name(at).split('.').next().unwrap_or_default();
    match slots(r).into_iter().find(|slot| slot.address == address) {
        Some(slot) if slot.watched => (Able::Yes, format!("it is in hot-plug slot {}", slot.name)),
        Some(slot) => (
            Able::No,
            format!(
                "no hot-plug driver manages its slot {}: change {what} disks with the power off",
                slot.name
            ),
        ),
        None => (
            Able::No,
            format!("no hot-plug driver manages its slot: change {what} disks with the power off"),
        ),
    }
}

/// A slot of `/sys/bus/pci/slots`.
struct Slot {
    name: String,
    /// `0000:01:00`, or `0000:01` of a slot that takes any device number.
    address: String,
    /// A hot-plug driver has it; others are only named, by firmware.
    watched: bool,
    empty: bool,
}

fn slots(r: &Reader<'_>) -> Vec<Slot> {
    let folder = Path::new("/sys/bus/pci/slots");
    let slot = |name: String| {
        let at = folder.join(&name);
        let file = |file: &str| r.hint(&at.join(file));
        Some(Slot {
            address: file("address")?,
            watched: ["power", "adapter"].iter().any(|f| r.view.exists(&at.join(f))),
            empty: file("adapter").is_some_and(|a| a == "0"),
            name,
        })
    };
    r.names(folder).into_iter().filter_map(slot).collect()
}

/// Slots a drive could be put in.
fn empty_slots(r: &Reader<'_>, functions: &[PathBuf]) -> Vec<HotPlug> {
    let taken = |slot: &Slot| functions.iter().any(|f| name(f).starts_with(&slot.address));
    let free = slots(r).into_iter().filter(|s| s.watched && s.empty && !taken(s));
    free.map(|slot| HotPlug {
        controller: format!("slot {}", slot.name),
        what: "empty PCI slot".to_owned(),
        able: Able::Yes,
        why: "a hot-plug driver watches it".to_owned(),
        from: format!("/sys/bus/pci/slots/{}/adapter", slot.name),
        ports: Vec::new(),
    })
    .collect()
}

fn virtio_mmio(r: &Reader<'_>, name: &str) -> Option<HotPlug> {
    let at = r.view.canonical(&Path::new("/sys/bus/virtio/devices").join(name)).ok()?;
    let driver = r.driver(&at)?;
    let on_pci = at.ancestors().any(|p| is_pci_function(sysfs::name(p)));
    (!on_pci && driver.value == "virtio_blk").then(|| HotPlug {
        controller: name.to_owned(),
        what: "virtio block device on no PCI bus".to_owned(),
        able: Able::No,
        why: "the host describes it at boot and never again".to_owned(),
        from: show(&at),
        ports: Vec::new(),
    })
}

fn card_slot(r: &Reader<'_>, name: &str) -> Option<HotPlug> {
    let at = r.view.canonical(&Path::new("/sys/class/mmc_host").join(name)).ok()?;
    let cards = r.names(&at).into_iter().filter(|n| n.starts_with(name) && n.contains(':'));
    let kind = cards.into_iter().find_map(|card| r.hint(&at.join(card).join("type")));
    // What a device tree says of the host: Documentation/devicetree/bindings/mmc.
    let host = at.ancestors().find(|p| r.view.exists(&p.join("of_node")));
    let says = |word: &str| host.is_some_and(|h| r.view.exists(&h.join("of_node").join(word)));
    let (able, why) = match kind.as_deref() {
        Some("MMC") => (Able::No, "an eMMC is soldered in"),
        _ if says("non-removable") => (Able::No, "the board declares it non-removable"),
        _ if says("broken-cd") => (Able::Yes, "the kernel polls for a card every second"),
        _ if says("cd-gpios") => (Able::Yes, "the slot has a card-detect switch"),
        Some("SD" | "SDcombo") => (
            Able::Yes,
            "a slot detects cards, or the kernel polls every second; it does not say which",
        ),
        Some("SDIO") => (Able::Unknown, "what is on it is not a disk"),
        _ => (Able::Unknown, "without a card the kind of slot is not known"),
    };
    Some(HotPlug {
        controller: name.to_owned(),
        what: "memory card slot".to_owned(),
        able,
        why: why.to_owned(),
        from: show(&at),
        ports: Vec::new(),
    })
}

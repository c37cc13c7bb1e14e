//! At which controllers a disk can be plugged in while the machine runs.

use crate::attach;
use crate::reader::{Reader, show};
use seekwell_sys::View;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Whether a disk that is plugged in is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Able {
    /// It is.
    Yes,
    /// Not always.
    Maybe,
    /// It is not.
    No,
    /// Nothing tells.
    Unknown,
}

/// One controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HotPlug {
    /// Its address or name: `0000:00:1f.2`, `mmc0`.
    pub controller: String,
    /// What it is.
    pub what: String,
    /// The answer.
    pub able: Able,
    /// Why, in words, and what helps.
    pub why: String,
    /// Where it was read.
    pub from: String,
}

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
/// SATA drivers other than ahci whose ports tell of a plugged drive.
const SATA: [&str; 5] = ["sata_sil24", "sata_sil", "sata_nv", "sata_mv", "sata_inic162x"];

/// Every storage and USB controller, in the order of their addresses, and then card slots.
pub fn hot_plug(view: &dyn View) -> Vec<HotPlug> {
    let r = Reader::new(view);
    let mut found: Vec<HotPlug> =
        functions(&r).iter().filter_map(|function| pci(&r, function)).collect();
    for name in r.names(Path::new("/sys/bus/virtio/devices")) {
        found.extend(virtio_mmio(&r, &name));
    }
    for name in r.names(Path::new("/sys/class/mmc_host")) {
        found.extend(card_slot(&r, &name));
    }
    found
}

/// The folders of all PCI functions: from the bus, and above the disks where it is not shown.
fn functions(r: &Reader<'_>) -> Vec<PathBuf> {
    let listed = |folder: &str| -> Vec<PathBuf> {
        let folder = Path::new(folder);
        let real = |n: String| r.view.canonical(&folder.join(n)).ok();
        r.names(folder).into_iter().filter_map(real).collect()
    };
    let mut all = listed("/sys/bus/pci/devices");
    for device in listed("/sys/block").into_iter().chain(listed("/sys/class/ata_port")) {
        let is_function = |p: &&Path| attach::is_pci_function(name(p));
        all.extend(device.ancestors().find(is_function).map(Path::to_path_buf));
    }
    all.sort();
    all.dedup();
    all
}

fn pci(r: &Reader<'_>, at: &Path) -> Option<HotPlug> {
    let path = at.join("class");
    let class = u32::from_str_radix(r.hint(&path)?.strip_prefix("0x")?, 16).ok()?;
    let driver = r.driver(at).map(|d| d.value);
    let driver = driver.as_deref().unwrap_or("");
    let vendor = r.hint(&at.join("vendor"));
    let virtio = vendor.as_deref() == Some("0x1af4");
    let (able, why) = match class >> 8 {
        0x0101 if SATA.contains(&driver) => sata_port(r, at),
        0x0106 if driver == "ahci" || SATA.contains(&driver) => sata_port(r, at),
        0x0101 => (Able::No, ide(r, at)),
        _ if virtio => match r.hint(&at.join("device")).as_deref() {
            Some("0x1004" | "0x1048") => (Able::Yes, "the host tells of disks it adds".to_owned()),
            Some("0x1001" | "0x1042") => slot(r, at, "virtio"),
            _ => return None,
        },
        0x0c03 => (Able::Yes, "USB is made for it".to_owned()),
        0x0805 => return None,
        0x0108 => slot(r, at, "NVMe"),
        0x0100 | 0x0104 | 0x0107 if ADAPTERS.contains(&driver) => {
            (Able::Yes, format!("the adapter tells its driver {driver} of drives"))
        }
        class if class >> 8 == 1 => {
            let by = if driver.is_empty() { "it has no driver".to_owned() } else { driver.into() };
            (Able::Unknown, format!("nothing is known of this controller ({by})"))
        }
        _ => return None,
    };
    Some(HotPlug {
        controller: name(at).to_owned(),
        what: attach::class_in_words(class),
        able,
        why,
        from: show(&path),
    })
}

/// A port that tells of a change on its link, unless it sleeps.
fn sata_port(r: &Reader<'_>, at: &Path) -> (Able, String) {
    let asleep = hosts(r, at).into_iter().find_map(|host| {
        let name = name(&host).to_owned();
        let policy = host.join("scsi_host").join(&name).join("link_power_management_policy");
        let policy = r.hint(&policy)?;
        policy.starts_with("min_power").then_some((name, policy))
    });
    match asleep {
        Some((host, policy)) => (
            Able::Maybe,
            format!(
                "its ports sleep ({host} has {policy}) and may miss a drive; awake: echo \
                 max_performance > /sys/class/scsi_host/{host}/link_power_management_policy"
            ),
        ),
        None => (Able::Yes, "the port tells of a drive".to_owned()),
    }
}

/// What helps where the kernel is not told.
fn ide(r: &Reader<'_>, at: &Path) -> String {
    let mut text = "in IDE mode nothing tells the kernel of a drive".to_owned();
    if let Some(host) = hosts(r, at).first() {
        text += &format!(
            "; after plugging: echo '- - -' > /sys/class/scsi_host/{}/scan; better: the SATA mode \
             AHCI in the firmware setup",
            name(host)
        );
    }
    text
}

/// The SCSI hosts of an ATA controller.
fn hosts(r: &Reader<'_>, at: &Path) -> Vec<PathBuf> {
    let ports = r.names(at).into_iter().filter(|n| n.starts_with("ata")).map(|n| at.join(n));
    let hosts = |port: PathBuf| {
        let names = r.names(&port).into_iter().filter(|n| n.starts_with("host"));
        names.map(move |n| port.join(n)).collect::<Vec<_>>()
    };
    ports.flat_map(hosts).collect()
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
    let address = name(at).split('.').next().unwrap_or_default().to_owned();
    let slots = Path::new("/sys/bus/pci/slots");
    let own = |slot: &String| r.hint(&slots.join(slot).join("address")) == Some(address.clone());
    if let Some(slot) = r.names(slots).into_iter().find(own) {
        return (Able::Yes, format!("it is in hot-plug slot {slot}"));
    }
    (Able::No, format!("no hot-plug driver has its slot: {what} disks change with the power off"))
}

fn virtio_mmio(r: &Reader<'_>, name: &str) -> Option<HotPlug> {
    let at = r.view.canonical(&Path::new("/sys/bus/virtio/devices").join(name)).ok()?;
    let driver = r.driver(&at)?;
    let on_pci = at.ancestors().any(|p| attach::is_pci_function(self::name(p)));
    (!on_pci && driver.value == "virtio_blk").then(|| HotPlug {
        controller: name.to_owned(),
        what: "virtio block device on no PCI bus".to_owned(),
        able: Able::No,
        why: "the host describes it at start and never again".to_owned(),
        from: show(&at),
    })
}

fn card_slot(r: &Reader<'_>, name: &str) -> Option<HotPlug> {
    let at = r.view.canonical(&Path::new("/sys/class/mmc_host").join(name)).ok()?;
    let cards = r.names(&at).into_iter().filter(|n| n.starts_with(name) && n.contains(':'));
    let kind = cards.into_iter().find_map(|card| r.hint(&at.join(card).join("type")));
    let (able, why) = match kind.as_deref() {
        Some("MMC") => (Able::No, "an eMMC is soldered in"),
        Some("SD" | "SDcombo") => (Able::Yes, "a card slot tells of cards"),
        _ => (Able::Unknown, "there is no card to tell what kind of slot it is"),
    };
    let (what, why) = ("memory card slot".to_owned(), why.to_owned());
    Some(HotPlug { controller: name.to_owned(), what, able, why, from: show(&at) })
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|n| n.to_str()).unwrap_or("")
}

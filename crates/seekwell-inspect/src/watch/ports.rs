//! What the kernel shows of each port of a controller.
//!
//! On an AHCI port two things decide. The port has to be awake: with any power policy but
//! `max_performance` the driver ignores changes of the link (`ahci_set_lpm`), and with those that
//! use slumber it switches an empty port off (`sata_link_scr_lpm`). And firmware may have marked it
//! as reachable from outside, which the port's command register shows (AHCI 1.3.1, 3.3.7).

use super::able::{Able, HotPlugPort, Judgement};
use crate::reader::{Reader, show};
use crate::sysfs::{is_pci_function, name, numbered};
use std::path::{Path, PathBuf};

/// Why no port of an IDE interface can.
pub(super) const IDE: &str = "in IDE mode the kernel is not told of a plugged drive; better: the \
                              SATA mode AHCI in the firmware setup";

/// Policies that switch an empty port off.
const SLUMBER: [&str; 3] = ["med_power_with_dipm", "min_power_with_partial", "min_power"];

/// Bits of an AHCI port's command register: FIS receive enabled, hot-plug capable, mechanical
/// presence switch, external.
const FRE: u32 = 1 << 4;
const HPCP: u32 = 1 << 18;
const MPSP: u32 = 1 << 19;
const ESP: u32 = 1 << 21;
/// Of the controller's capabilities: it has external ports, so that [`ESP`] means something.
const SXS: u32 = 1 << 5;

/// The real folders of all disks.
pub(super) fn disks(r: &Reader<'_>) -> Vec<PathBuf> {
    let all = Path::new("/sys/block");
    r.names(all).into_iter().filter_map(|n| r.view.canonical(&all.join(n)).ok()).collect()
}

/// The answer for a controller with these ports.
pub(super) fn together(ports: &[HotPlugPort]) -> (Able, String) {
    match ports {
        [] => (Able::Unknown, "the kernel shows none of its ports".to_owned()),
        [first, rest @ ..] if rest.iter().all(|p| (p.able, &p.why) == (first.able, &first.why)) => {
            (first.able, first.why.clone())
        }
        [first, rest @ ..] if rest.iter().all(|p| p.able == first.able) => {
            (first.able, "each port for a different reason".to_owned())
        }
        _ => (Able::Maybe, "it depends on the port".to_owned()),
    }
}

/// The ATA ports of the controller at `at`, in the order of their numbers.
pub(super) fn ata(
    r: &Reader<'_>,
    at: &Path,
    disks: &[PathBuf],
    judge: impl Fn(&Path) -> Judgement,
) -> Vec<HotPlugPort> {
    let mut names: Vec<String> = r.names(at).into_iter().filter(|n| numbered(n, "ata")).collect();
    names.sort_by_key(|n| (n.len(), n.clone()));
    let port = |name: String| {
        let dir = at.join(&name);
        let (able, why, from) = judge(&dir);
        let from = show(from.as_deref().unwrap_or(&dir));
        HotPlugPort { port: name, disks: below(disks, &dir), able, why, from }
    };
    names.into_iter().map(port).collect()
}

/// The controllers of ATA ports that are no PCI functions.
pub(super) fn ata_elsewhere(r: &Reader<'_>) -> Vec<PathBuf> {
    let class = Path::new("/sys/class/ata_port");
    // …/controller/ata1/ata_port/ata1
    let controller =
        |n: String| Some(r.view.canonical(&class.join(n)).ok()?.ancestors().nth(3)?.to_path_buf());
    let on_pci = |at: &PathBuf| at.ancestors().any(|p| is_pci_function(name(p)));
    let mut all: Vec<PathBuf> = r.names(class).into_iter().filter_map(controller).collect();
    all.retain(|at| !on_pci(at));
    all.sort();
    all.dedup();
    all
}

/// A port that reports a change on its link, unless it sleeps.
pub(super) fn sata_port(r: &Reader<'_>, port: &Path) -> Judgement {
    let Some(host) = host(r, port) else {
        return (Able::Unknown, "the kernel shows no SCSI host on it".to_owned(), None);
    };
    let register = host.join("ahci_port_cmd");
    let command = hexadecimal(r, &register);
    match command {
        Some(u32::MAX) => {
            let why = "its registers cannot be read now: the controller sleeps".to_owned();
            return (Able::Unknown, why, Some(register));
        }
        Some(bits) if bits & FRE == 0 => {
            let why = "the driver does not run it: the controller has no such port".to_owned();
            return (Able::No, why, Some(register));
        }
        _ => {}
    }
    let path = host.join("link_power_management_policy");
    let policy = r.hint(&path).unwrap_or_default();
    let awake = format!(
        "awake: echo max_performance > /sys/class/scsi_host/{}/{}",
        name(&host),
        name(&path)
    );
    if SLUMBER.contains(&policy.as_str()) && !occupied(r, port) {
        let why = format!("its power policy {policy} switches an empty port off; {awake}");
        return (Able::No, why, Some(path));
    }
    // The word for a policy that was not set.
    if !["", "max_performance", "keep_firmware_settings"].contains(&policy.as_str()) {
        let why = format!("with its power policy {policy} it may miss a drive; {awake}");
        return (Able::Maybe, why, Some(path));
    }
    let mut why = "the port reports a plugged drive".to_owned();
    why += &match command {
        Some(bits) => marked(bits, hexadecimal(r, &host.join("ahci_host_caps")).unwrap_or(0)),
        None => "; whether it is meant to be reached from outside, this driver does not say".into(),
    };
    let multiplier = port.join("ata_port").join(name(port)).join("nr_pmp_links");
    if let Some(links) = r.view.number(&multiplier).ok().filter(|n| *n > 0) {
        why += &format!("; a port multiplier with {links} ports is on it");
    }
    (Able::Yes, why, command.map(|_| register))
}

/// What firmware says of how a port can be reached.
fn marked(command: u32, capabilities: u32) -> String {
    if command & ESP != 0 && capabilities & SXS != 0 {
        "; firmware marks it as external (eSATA)".to_owned()
    } else if command & (HPCP | MPSP) != 0 {
        "; firmware marks it as a bay for hot plug".to_owned()
    } else {
        "; firmware does not mark it as a bay for hot plug".to_owned()
    }
}

/// A channel of an IDE interface.
pub(super) fn ide_port(r: &Reader<'_>, port: &Path) -> Judgement {
    let mut why = "in IDE mode the kernel is not told of a plugged drive".to_owned();
    if let Some(host) = host(r, port) {
        let host = name(&host);
        why += &format!("; after plugging: echo '- - -' > /sys/class/scsi_host/{host}/scan");
    }
    (Able::No, why, None)
}

fn host(r: &Reader<'_>, port: &Path) -> Option<PathBuf> {
    let host = r.names(port).into_iter().find(|n| numbered(n, "host"))?;
    Some(port.join(&host).join("scsi_host").join(&host))
}

/// Whether a device, not only a disk, is on a port.
fn occupied(r: &Reader<'_>, port: &Path) -> bool {
    let hosts = r.names(port).into_iter().filter(|n| numbered(n, "host"));
    hosts.into_iter().any(|h| r.names(&port.join(h)).iter().any(|n| n.starts_with("target")))
}

fn hexadecimal(r: &Reader<'_>, path: &Path) -> Option<u32> {
    u32::from_str_radix(&r.hint(path)?, 16).ok()
}

/// The ports of the root hubs of the USB controller at `at`.
pub(super) fn usb(r: &Reader<'_>, at: &Path, disks: &[PathBuf]) -> Vec<HotPlugPort> {
    let mut found = Vec::new();
    for hub in r.names(at).into_iter().filter(|n| numbered(n, "usb")) {
        let Some(number) = hub.strip_prefix("usb") else { continue };
        let interface = at.join(&hub).join(format!("{number}-0:1.0"));
        let mut ports: Vec<String> = r
            .names(&interface)
            .into_iter()
            .filter(|n| n.starts_with(&format!("{hub}-port")))
            .collect();
        ports.sort_by_key(|n| (n.len(), n.clone()));
        for port in ports {
            let dir = interface.join(&port);
            let path = dir.join("connect_type");
            let (able, why) = match r.hint(&path).as_deref() {
                Some("hotplug") => (Able::Yes, "firmware says that it is a socket"),
                Some("hardwired") => (Able::No, "firmware says that its device is built in"),
                Some("not used") => (Able::No, "firmware says that nothing is connected to it"),
                _ => (Able::Yes, "USB supports it; firmware does not say whether it is a socket"),
            };
            let device = r.view.canonical(&dir.join("device")).ok();
            let disks = device.map(|d| below(disks, &d)).unwrap_or_default();
            found.push(HotPlugPort { port, disks, able, why: why.to_owned(), from: show(&path) });
        }
    }
    found
}

fn below(disks: &[PathBuf], folder: &Path) -> Vec<String> {
    disks.iter().filter(|d| d.starts_with(folder)).map(|d| name(d).to_owned()).collect()
}

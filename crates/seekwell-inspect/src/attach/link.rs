//! Stations other than PCI, ATA and USB: SCSI hosts, NVMe controllers, virtio, SAS, cards.

use crate::model::{Fact, Hop};
use crate::reader::{Need, Reader, show};
use crate::sysfs::{is_usb_interface, name, numbered};
use std::path::Path;

fn hop(kind: &str, at: &Path, detail: String, from: String) -> Hop {
    Hop { kind: kind.to_owned(), name: name(at).to_owned(), detail, from }
}

/// A SCSI host that is not an ATA port or a USB bridge, which show themselves.
pub(super) fn scsi_host(r: &mut Reader<'_>, at: &Path) -> Option<Hop> {
    let shown = |p: &Path| numbered(name(p), "ata") || is_usb_interface(name(p));
    if at.ancestors().any(shown) {
        return None;
    }
    let folder = at.join("scsi_host").join(name(at));
    let mut detail = "SCSI host".to_owned();
    if let Some(driver) = r.hint(&folder.join("proc_name")).filter(|d| d != "(null)") {
        detail += &format!(", driver {driver}");
    }
    let path = folder.join("can_queue");
    let commands = r.number(&path, "commands the SCSI host takes", Need::Always);
    if let Some(commands) = &commands {
        detail += &format!(", {} commands at once", commands.value);
    }
    Some(hop("port", at, detail, commands.map_or_else(|| show(at), |c| c.from)))
}

pub(super) fn nvme_transport(r: &mut Reader<'_>, at: &Path) -> Fact<String> {
    let path = at.join("transport");
    match r.hint(&path).as_deref() {
        // Kernels before 4.8 know no other transport and no attribute for it.
        Some("pcie") | None => Fact::new("nvme".to_owned(), show(&path)),
        Some(fabric) => Fact::new(format!("nvme-{fabric}"), show(&path)),
    }
}

pub(super) fn nvme(r: &mut Reader<'_>, at: &Path) -> Hop {
    let mut detail = "NVMe".to_owned();
    if let Some(transport) = r.hint(&at.join("transport")) {
        detail +=
            &format!(" over {}", if transport == "pcie" { "PCI Express" } else { &transport });
    }
    if let Some(state) = r.hint(&at.join("state")) {
        detail += &format!(", {state}");
    }
    // The count includes the admin queue.
    if let Some(queues) = r.hint(&at.join("queue_count")).and_then(|q| q.parse::<u64>().ok()) {
        detail += &format!(", {} I/O queues", queues.saturating_sub(1));
    }
    hop("port", at, detail, show(at))
}

pub(super) fn virtio(r: &mut Reader<'_>, at: &Path) -> Hop {
    let driver = r.driver(at);
    let words = driver.as_ref().map_or_else(String::new, |d| format!(", driver {}", d.value));
    let from = driver.map_or_else(|| show(at), |d| d.from);
    hop("port", at, format!("virtio device, served by the host{words}"), from)
}

pub(super) fn mmc(r: &mut Reader<'_>, at: &Path) -> Hop {
    let cards = r.names(at).into_iter().filter(|n| n.starts_with(name(at)) && n.contains(':'));
    let kind = cards.into_iter().find_map(|card| r.hint(&at.join(card).join("type")));
    let detail = match kind {
        Some(kind) => format!("memory card slot, {kind} card"),
        None => "memory card slot".to_owned(),
    };
    hop("port", at, detail, show(at))
}

/// A SAS expander or the end device, with its link rate if a PHY shows it.
pub(super) fn sas(r: &mut Reader<'_>, at: &Path) -> Option<Hop> {
    let port = at.parent()?;
    let phys: Vec<String> = r.names(port).into_iter().filter(|n| n.starts_with("phy-")).collect();
    let rate_of = |phy: &String| {
        let path = port.join(phy).join("sas_phy").join(phy).join("negotiated_linkrate");
        Some((r.hint(&path)?, show(&path)))
    };
    let rate = phys.iter().find_map(rate_of);
    let what = if name(at).starts_with("expander-") { "SAS expander" } else { "SAS end device" };
    let (kind, mut detail) = (if what == "SAS expander" { "hub" } else { "link" }, what.to_owned());
    if let Some((rate, _)) = &rate {
        detail += &format!(" at {rate}");
        if phys.len() > 1 {
            detail += &format!(", {} lanes", phys.len());
        }
    }
    Some(hop(kind, at, detail, rate.map_or_else(|| show(at), |(_, from)| from)))
}

/// A remote port (Fibre Channel) or a session (iSCSI).
pub(super) fn fabric(at: &Path) -> Hop {
    let what = if name(at).starts_with("rport-") {
        "Fibre Channel remote port"
    } else {
        "iSCSI session over the network"
    };
    hop("link", at, what.to_owned(), show(at))
}

/// A controller on no PCI bus: virtio over MMIO, a system-on-chip's own, Hyper-V, Xen.
pub(super) fn platform(r: &mut Reader<'_>, at: &Path) -> Option<Hop> {
    let bus = r.view.link(&at.join("subsystem")).ok()?;
    let bus = bus.file_name()?.to_str()?.to_owned();
    let words = match bus.as_str() {
        "platform" => "device on no PCI bus",
        "amba" => "AMBA device",
        "vmbus" => "Hyper-V device",
        "xen" => "Xen device",
        "pseudo" => "simulated adapter",
        _ => return None,
    };
    let driver = r.driver(at)?;
    Some(hop("controller", at, format!("{words}, driver {}", driver.value), driver.from))
}

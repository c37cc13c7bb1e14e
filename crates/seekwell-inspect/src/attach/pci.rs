//! PCI functions: what class they are, which driver has them, how wide their link is.

use crate::model::Hop;
use crate::reader::{Need, Reader, show};
use crate::sysfs::name;
use std::path::Path;

pub(super) fn cpu(r: &mut Reader<'_>, controller: Option<&Path>) -> Hop {
    let mut hop = Hop {
        kind: "cpu".to_owned(),
        name: "CPU".to_owned(),
        detail: "the controller reports no NUMA node".to_owned(),
        from: "/sys/devices/system/cpu".to_owned(),
    };
    let Some(controller) = controller else { return hop };
    let path = controller.join("numa_node");
    // -1 on a machine with one node, and where the firmware does not say.
    if let Some(node) = r.hint(&path).filter(|n| n.parse::<u32>().is_ok()) {
        hop.name = format!("NUMA node {node}");
        let cpus = r.hint(&controller.join("local_cpulist"));
        hop.detail = cpus.map_or_else(|| "its CPUs".to_owned(), |list| format!("CPUs {list}"));
        hop.from = show(&path);
    }
    hop
}

pub(super) fn bridge(r: &mut Reader<'_>, at: &Path) -> Hop {
    hop(r, at, "pci-bridge")
}

/// The controller: the last function on the way.
pub(super) fn controller(r: &mut Reader<'_>, at: &Path) -> Hop {
    hop(r, at, "controller")
}

fn hop(r: &mut Reader<'_>, at: &Path, kind: &str) -> Hop {
    let path = at.join("class");
    let class = r.text(&path, "PCI class", Need::Always);
    let code = class.and_then(|c| u32::from_str_radix(c.value.strip_prefix("0x")?, 16).ok());
    let mut detail = code.map_or_else(|| "PCI device".to_owned(), class_in_words);
    let id =
        |name: &str| r.hint(&at.join(name)).and_then(|v| Some(v.strip_prefix("0x")?.to_owned()));
    if let (Some(vendor), Some(device)) = (id("vendor"), id("device")) {
        if let Some(words) = virtio_in_words(&vendor, &device) {
            words.clone_into(&mut detail);
        }
        detail += &format!(" [{vendor}:{device}]");
    }
    match r.driver(at) {
        Some(driver) => detail += &format!(", driver {}", driver.value),
        None => detail += ", no driver",
    }
    detail += &interrupts(r, at);
    Hop { kind: kind.to_owned(), name: name(at).to_owned(), detail, from: show(&path) }
}

/// Message-signalled interrupts in words, with a leading comma; empty for a line interrupt.
fn interrupts(r: &Reader<'_>, at: &Path) -> String {
    let folder = at.join("msi_irqs");
    let vectors = r.names(&folder);
    let mode = match vectors.first().and_then(|n| r.hint(&folder.join(n))).as_deref() {
        Some("msi") => "MSI",
        Some("msix") => "MSI-X",
        _ => return String::new(),
    };
    let plural = if vectors.len() == 1 { "" } else { "s" };
    format!(", {} {mode} interrupt{plural}", vectors.len())
}

/// What a virtio function is: its class code follows what it imitates, not what it is.
fn virtio_in_words(vendor: &str, device: &str) -> Option<&'static str> {
    match (vendor, device) {
        ("1af4", "1001" | "1042") => Some("virtio block device"),
        ("1af4", "1004" | "1048") => Some("virtio SCSI controller"),
        _ => None,
    }
}

/// The PCI Express link into a controller; `None` for conventional PCI and built-in devices.
pub(super) fn link(r: &Reader<'_>, at: &Path, above: Option<&Path>) -> Option<Hop> {
    let now = speed(r, at, "current")?;
    let mut detail = format!("{now} now");
    if let Some(most) = speed(r, at, "max") {
        detail += &format!("; the device supports {most}");
    }
    if let Some(most) = above.and_then(|port| speed(r, port, "max")) {
        detail += &format!(", the port above {most}");
    }
    let from = show(&at.join("current_link_speed"));
    Some(Hop { kind: "link".to_owned(), name: "PCI Express".to_owned(), detail, from })
}

fn speed(r: &Reader<'_>, at: &Path, which: &str) -> Option<String> {
    let speed = r.hint(&at.join(format!("{which}_link_speed")))?;
    let width = r.hint(&at.join(format!("{which}_link_width")))?;
    // Unknown, x0 and x255 are what a function without a link answers.
    let speed = speed.split(" PCIe").next().filter(|s| s.contains("GT/s"))?.to_owned();
    let width: u32 = width.parse().ok().filter(|w| (1..=32).contains(w))?;
    Some(format!("{speed} x{width}"))
}

/// A class code (base class, subclass, programming interface) as a person would say it.
pub(crate) fn class_in_words(code: u32) -> String {
    let interface = code & 0xff;
    let words = match code >> 8 {
        0x0100 => "SCSI controller",
        0x0101 => return ide(interface),
        0x0104 => "RAID controller",
        0x0105 => "ATA controller",
        0x0106 if interface == 1 => "SATA controller, AHCI",
        0x0106 => "SATA controller, not AHCI",
        0x0107 => "SAS controller",
        0x0108 if interface == 2 => "NVMe controller",
        0x0108 => "non-volatile memory controller",
        0x0180 => "storage controller of no standard class",
        0x0200 => "Ethernet controller",
        0x0207 => "InfiniBand controller",
        0x0604 => "PCI bridge",
        0x0805 => "SD host controller",
        0x0c03 => match interface {
            0x00 => "USB controller, UHCI (USB 1.1)",
            0x10 => "USB controller, OHCI (USB 1.1)",
            0x20 => "USB controller, EHCI (USB 2)",
            0x30 => "USB controller, xHCI (USB 3)",
            0x40 => "USB4 host interface",
            _ => "USB controller",
        },
        0x0c04 => "Fibre Channel controller",
        _ => return format!("PCI device of class 0x{code:06x}"),
    };
    words.to_owned()
}

/// Bits 0 and 2: the two channels in native mode; bit 7: bus-master DMA.
fn ide(interface: u32) -> String {
    let mode = match (interface & 1 != 0, interface & 4 != 0) {
        (false, false) => "compatible mode",
        (true, true) => "native mode",
        _ => "one channel native, one compatible",
    };
    let dma = if interface & 0x80 == 0 { ", without bus-master DMA" } else { "" };
    format!("IDE interface, {mode}{dma}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ide_modes_are_read_from_the_programming_interface() {
        assert_eq!(class_in_words(0x010180), "IDE interface, compatible mode");
        assert_eq!(class_in_words(0x01018a), "IDE interface, compatible mode");
        assert_eq!(class_in_words(0x01018f), "IDE interface, native mode");
        assert_eq!(
            class_in_words(0x010101),
            "IDE interface, one channel native, one compatible, without bus-master DMA"
        );
        assert_eq!(class_in_words(0x010601), "SATA controller, AHCI");
        assert_eq!(class_in_words(0xffff_ffff), "PCI device of class 0xffffffff");
    }
}

//! A machine known from text that someone pasted: the output of `lspci -vvnn` and `lsmod`, a log.
//!
//! It becomes the same facts that the device tree gives, so that the same rules judge it. What the
//! text does not have stays unknown. Text of any origin is understood as far as it goes: lines that
//! mean nothing are passed over, and the sizes of everything kept are bounded.

mod lsmod;
mod lspci;

pub use lsmod::{Module, parse_lsmod};
pub use lspci::{PciRegion, PciText, parse_lspci};

use crate::facts::AtaFacts;
use crate::inspection::{Device, Inspection};
use crate::log::{AtaDevice, AtaPort, LogReport, port_of};
use crate::model::{DeviceKind, Fact, Hop, TargetKind};

/// One inspection of each storage controller in the text of `lspci -vvnn`, in its order. `lsmod`
/// names the driver if `lspci` does not. `name` is the name of the text in evidence.
pub fn inspections(name: &str, lspci: &str, lsmod: Option<&str>) -> Vec<Inspection> {
    let functions = parse_lspci(lspci);
    let modules = lsmod.map(parse_lsmod).unwrap_or_default();
    let storage = functions.iter().filter(|f| f.is_storage());
    storage.map(|f| inspection(name, f, &functions, &modules)).collect()
}

fn inspection(name: &str, function: &PciText, all: &[PciText], modules: &[Module]) -> Inspection {
    let mut way: Vec<&PciText> = all.iter().filter(|f| f.leads_to(&function.address)).collect();
    way.push(function);
    let mut pci: Vec<_> = way.iter().map(|f| f.facts(name)).collect();
    if let Some(controller) = pci.last_mut()
        && controller.driver.is_none()
    {
        let loaded = function.likely_driver(modules);
        controller.driver = loaded.map(|driver| Fact::new(driver.to_owned(), "lsmod"));
    }
    let controller = pci.last().cloned().unwrap_or_default();
    let from = format!("{name}, {}", function.address);
    let hop = Hop {
        kind: "controller".to_owned(),
        name: function.address.clone(),
        detail: function.words(),
        from: from.clone(),
    };
    let mut device = Device::new(&function.address, "", DeviceKind::Other);
    device.model = function.product.clone().map(|p| Fact::new(p, from.clone()));
    device.driver = controller.driver.clone();
    device.pci = Some(Fact::new(function.address.clone(), from));
    device.attachment = vec![hop];
    device.detail.pci = pci;
    Inspection {
        device: Some(device),
        notes: vec![
            "this is known from text alone: the disks behind it are not visible".to_owned(),
        ],
        ..Inspection::new(&function.address, TargetKind::BlockDevice)
    }
}

/// One inspection of each ATA disk that a kernel log names, in its order.
pub fn disks(log: &LogReport) -> Vec<Inspection> {
    let is_disk = |d: &&AtaDevice| d.standard.as_deref().is_some_and(|s| s != "ATAPI");
    log.facts.devices.iter().filter(is_disk).map(|found| disk(log, found)).collect()
}

fn disk(log: &LogReport, found: &AtaDevice) -> Inspection {
    let fact = |text: Option<&String>| text.map(|t| Fact::new(t.clone(), log.source.clone()));
    let name = found.disk.as_ref().unwrap_or(&found.name);
    let mut device = Device::new(name, "", DeviceKind::Disk);
    // As the line has it: the model, a comma, the firmware.
    let words = found.model.as_deref().map(|m| m.rsplit_once(", ").unwrap_or((m, "")));
    device.model = fact(words.map(|(model, _)| model.to_owned()).as_ref());
    device.firmware =
        fact(words.map(|(_, firmware)| firmware.to_owned()).filter(|f| !f.is_empty()).as_ref());
    let on = |port: &&AtaPort| port_of(&found.name) == port.name;
    if let Some(port) = log.facts.ports.iter().find(on) {
        let speed = port.link.as_ref().and_then(|link| link.speed.as_ref());
        let bus = port.kind.clone().unwrap_or_else(|| "ATA".to_owned());
        device.driver = fact(port.driver.as_ref());
        device.transport = fact(port.kind.as_ref().map(|kind| kind.to_lowercase()).as_ref());
        device.attachment = vec![Hop {
            kind: "port".to_owned(),
            name: found.name.clone(),
            detail: speed.map_or_else(|| bus.clone(), |speed| format!("{bus} link up {speed}")),
            from: log.source.clone(),
        }];
        let (port, link_speed) = (port.name.clone(), fact(speed));
        device.detail.ata = Some(AtaFacts { port, link_speed, ..AtaFacts::default() });
    }
    Inspection {
        device: Some(device),
        notes: vec!["this is known from the kernel log alone".to_owned()],
        ..Inspection::new(name, TargetKind::BlockDevice)
    }
}

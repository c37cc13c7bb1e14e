//! A machine known from text that someone pasted: the output of `lspci -vvnn` and `lsmod`.
//!
//! It becomes the same facts that the device tree gives, so that the same rules judge it. What the
//! text does not have stays unknown. Text of any origin is understood as far as it goes: lines that
//! mean nothing are passed over, and the sizes of everything kept are bounded.

mod lsmod;
mod lspci;

pub use lsmod::{Module, parse_lsmod};
pub use lspci::{PciRegion, PciText, parse_lspci};

use crate::inspection::{Device, Inspection};
use crate::model::{DeviceKind, Fact, Hop, TargetKind};

/// One inspection of each storage controller in the text of `lspci -vvnn`, in its order. `lsmod`
/// tells the driver where `lspci` does not. `name` is the name of the text in evidence.
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

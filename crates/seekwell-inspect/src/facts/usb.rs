//! The USB bridge of a disk.

use crate::model::Fact;
use crate::reader::{Reader, show};
use crate::sysfs::{is_usb_device, is_usb_interface, name, numbered};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A USB disk's bridge and how it is spoken to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsbFacts {
    /// The device's name, `2-1.4`.
    pub device: String,
    /// `vendor:product` in hexadecimal.
    pub id: Option<Fact<String>>,
    /// The speed it runs at, in megabits a second; 1.5 is counted as 1.
    pub speed_mbps: Option<Fact<u64>>,
    /// The USB version it says it has, `3.20`.
    pub version: Option<Fact<String>>,
    pub lanes: Option<(Fact<u64>, Fact<u64>)>,
    /// The current it asks for, in milliamperes; 0 means it has its own supply.
    pub max_power_ma: Option<Fact<u64>>,
    /// `uas` or `usb-storage`.
    pub driver: Option<Fact<String>>,
    pub offers_uas: Option<Fact<bool>>,
    /// `auto` lets the kernel suspend it when idle.
    pub power_control: Option<Fact<String>>,
    /// The hubs above it with their speeds in megabits a second, outermost first.
    pub hubs: Vec<(String, u64)>,
}

pub(super) fn read(r: &mut Reader<'_>, stations: &[PathBuf]) -> Option<UsbFacts> {
    let interface = stations.iter().find(|s| is_usb_interface(name(s)))?;
    let device = stations.iter().find(|s| is_usb_device(name(s)))?.clone();
    let ids = r.hint(&device.join("idVendor")).zip(r.hint(&device.join("idProduct")));
    let id_path = show(&device.join("idVendor"));
    let lanes = |r: &mut Reader<'_>, file: &str| r.count(&device.join(file), "USB lanes");
    let hubs = stations
        .iter()
        .rev()
        .filter(|s| **s != device && (is_usb_device(name(s)) || numbered(name(s), "usb")));
    let hubs = hubs.filter_map(|h| Some((name(h).to_owned(), speed(r, h)?.value))).collect();
    Some(UsbFacts {
        device: name(&device).to_owned(),
        id: ids.map(|(vendor, product)| Fact::new(format!("{vendor}:{product}"), id_path)),
        speed_mbps: speed(r, &device),
        version: r.optional(&device.join("version"), "USB version"),
        lanes: lanes(r, "rx_lanes").zip(lanes(r, "tx_lanes")),
        max_power_ma: power(r, &device.join("bMaxPower")),
        driver: r.driver(interface),
        offers_uas: offers_uas(r, &device.join("descriptors")),
        power_control: r.optional(&device.join("power/control"), "power control"),
        hubs,
    })
}

fn speed(r: &Reader<'_>, at: &Path) -> Option<Fact<u64>> {
    let path = at.join("speed");
    let speed: f64 = r.hint(&path)?.parse().ok()?;
    (1.0..1e9).contains(&speed).then(|| Fact::new(speed as u64, show(&path)))
}

fn power(r: &Reader<'_>, path: &Path) -> Option<Fact<u64>> {
    let value = r.hint(path)?.strip_suffix("mA")?.trim().parse().ok()?;
    Some(Fact::new(value, show(path)))
}

/// Walks the descriptors: an interface descriptor (type 4) of class 8, subclass 6, protocol 62h.
fn offers_uas(r: &Reader<'_>, path: &Path) -> Option<Fact<bool>> {
    let bytes = r.view.read(path).ok().filter(|b| !b.is_empty())?;
    Some(Fact::new(has_uas(&bytes), show(path)))
}

fn has_uas(mut bytes: &[u8]) -> bool {
    while let [length, kind, ..] = bytes {
        let length = usize::from(*length).max(2);
        if *kind == 4 && bytes.get(5..8) == Some(&[0x08, 0x06, 0x62]) {
            return true;
        }
        bytes = bytes.get(length..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alternate_setting_of_uas_is_found_behind_others() {
        let device = [18u8, 1, 0, 3, 0, 0, 0, 9, 0xf4, 0x46, 3, 0, 0, 0, 1, 2, 3, 1];
        let bulk = [9u8, 4, 0, 0, 2, 0x08, 0x06, 0x50, 0];
        let uas = [9u8, 4, 0, 1, 4, 0x08, 0x06, 0x62, 0];
        assert!(has_uas(&[&device[..], &bulk, &uas].concat()));
        assert!(!has_uas(&[&device[..], &bulk].concat()));
    }

    #[test]
    fn descriptors_cut_short_or_of_length_zero_end_the_walk() {
        for bytes in [&[][..], &[9], &[0, 0, 0, 0, 0], &[9, 4, 0, 0, 2, 8, 6], &[255, 4]] {
            assert!(!has_uas(bytes), "{bytes:?}");
        }
    }
}

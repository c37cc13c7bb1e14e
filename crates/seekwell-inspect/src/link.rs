//! The link next to a disk: how fast it runs, and how fast it could.

use crate::facts::{Detail, PcieLink};
use crate::{Device, Fact};

/// The last link on the way to a disk that the kernel shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// What it negotiated, as the kernel says it: `6.0 Gbps`, `8.0 GT/s x4`.
    pub words: String,
    /// What that carries after line coding, in bytes a second.
    pub bytes_per_s: f64,
    /// The most that both of its ends can do; `None` if it is not known.
    pub highest_bytes_per_s: Option<f64>,
}

impl Device {
    /// Its link, of a disk.
    pub fn link(&self) -> Option<Link> {
        let detail = &self.detail;
        sata(detail).or_else(|| sas(detail)).or_else(|| usb(detail)).or_else(|| pcie(detail))
    }
}

/// Eight bits are sent as ten.
fn gigabits(words: &str) -> Option<f64> {
    let (number, unit) = words.trim().split_once(' ')?;
    let number: f64 = number.parse().ok()?;
    (unit.starts_with("Gb") && number > 0.0).then_some(number * 1e8)
}

fn sata(detail: &Detail) -> Option<Link> {
    let ata = detail.ata.as_ref()?;
    let words = &ata.link_speed.as_ref()?.value;
    let drive = detail.identify.as_ref().and_then(|id| gigabits(id.value.link_max.as_ref()?));
    // Generation 1 is 1.5 Gbps, and each doubles it.
    let port = ata.ahci.as_ref().and_then(|ahci| ahci.generation());
    let port = port.map_or(f64::INFINITY, |port| 1.5e8 * f64::from(1 << (port - 1)));
    Some(Link {
        words: words.clone(),
        bytes_per_s: gigabits(words)?,
        highest_bytes_per_s: drive.map(|drive| drive.min(port)),
    })
}

/// The phy next to the disk is the last.
fn sas(detail: &Detail) -> Option<Link> {
    let phy = detail.sas.last()?;
    let words = &phy.negotiated.as_ref()?.value;
    let highest = phy.maximum_hardware.as_ref().and_then(|rate| gigabits(&rate.value));
    let bytes_per_s = gigabits(words)?;
    Some(Link { words: words.clone(), bytes_per_s, highest_bytes_per_s: highest })
}

fn usb(detail: &Detail) -> Option<Link> {
    let mbps = detail.usb.as_ref()?.speed_mbps.as_ref()?.value;
    let coding = match mbps {
        ..5000 => 1.0,
        5000 => 0.8,
        _ => 128.0 / 132.0,
    };
    Some(Link {
        words: format!("{mbps} Mbps"),
        bytes_per_s: mbps as f64 * 1e6 / 8.0 * coding,
        highest_bytes_per_s: None,
    })
}

fn pcie(detail: &Detail) -> Option<Link> {
    let (function, above) = detail.pci.split_last()?;
    let best = |max: &Option<Fact<PcieLink>>| max.as_ref().map(|max| max.value);
    let highest = best(&function.link_max).zip(above.last().and_then(|port| best(&port.link_max)));
    let now = function.link.as_ref()?.value;
    Some(Link {
        words: now.to_string(),
        bytes_per_s: now.gigabytes_per_s() * 1e9,
        highest_bytes_per_s: highest.map(|(own, port)| own.common(port).gigabytes_per_s() * 1e9),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceKind;
    use crate::facts::{AhciFacts, AtaFacts, IdentifyData, PciFunction, SasPhy, UsbFacts};

    fn disk(detail: Detail) -> Device {
        Device { detail: Box::new(detail), ..Device::new("sda", "8:0", DeviceKind::Disk) }
    }

    fn fact<T>(value: T) -> Option<Fact<T>> {
        Some(Fact::new(value, "test"))
    }

    #[test]
    fn a_sata_link_could_be_as_fast_as_the_slower_of_drive_and_port() {
        let link = |drive: Option<&str>, capabilities: Option<u64>| {
            let ahci = AhciFacts { capabilities: capabilities.and_then(fact), version: None };
            let link_max = drive.map(str::to_owned);
            let detail = Detail {
                ata: Some(AtaFacts {
                    link_speed: fact("1.5 Gbps".to_owned()),
                    ahci: Some(ahci),
                    ..AtaFacts::default()
                }),
                identify: fact(IdentifyData { link_max, ..IdentifyData::default() }),
                ..Detail::default()
            };
            let link = disk(detail).link().expect("a link");
            assert_eq!((link.words.as_str(), link.bytes_per_s), ("1.5 Gbps", 150e6));
            link.highest_bytes_per_s
        };
        let second = Some(2 << 20);
        assert_eq!(link(Some("6.0 Gbps"), second), Some(300e6));
        assert_eq!(link(Some("1.5 Gbps"), second), Some(150e6));
        assert_eq!(link(Some("6.0 Gbps"), None), Some(600e6));
        assert_eq!(link(None, second), None);
    }

    #[test]
    fn other_links_are_told_by_what_they_carry() {
        let phy = SasPhy {
            negotiated: fact("6.0 Gbit".to_owned()),
            maximum_hardware: fact("12.0 Gbit".to_owned()),
            ..SasPhy::default()
        };
        let sas = disk(Detail { sas: vec![phy.clone()], ..Detail::default() }).link().unwrap();
        assert_eq!((sas.bytes_per_s, sas.highest_bytes_per_s), (600e6, Some(1200e6)));
        let off = SasPhy { negotiated: fact("Unknown".to_owned()), ..phy };
        assert_eq!(disk(Detail { sas: vec![off], ..Detail::default() }).link(), None);
        let usb = UsbFacts { speed_mbps: fact(5000), ..UsbFacts::default() };
        let usb = disk(Detail { usb: Some(usb), ..Detail::default() }).link().unwrap();
        assert_eq!((usb.words.as_str(), usb.bytes_per_s), ("5000 Mbps", 500e6));
        let function = |now, most| PciFunction {
            link: fact(PcieLink { gts: 2.5, width: now }),
            link_max: fact(PcieLink { gts: 2.5, width: most }),
            ..PciFunction::default()
        };
        let pci = vec![function(1, 8), function(1, 4)];
        let pcie = disk(Detail { pci, ..Detail::default() }).link().unwrap();
        assert_eq!((pcie.bytes_per_s, pcie.highest_bytes_per_s), (250e6, Some(1e9)));
    }
}

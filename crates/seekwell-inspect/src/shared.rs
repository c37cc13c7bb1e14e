//! What several targets share on their way from the CPU: a device below them, a link, a bus, a
//! controller, a port, a hub.
//!
//! A pure function of inspections: the way of each disk is in its attachment, and what has the same
//! name on two ways is shared. Rates are what a part carries after line coding; what its protocol
//! takes of that is [`SharedKind::reachable`].

use crate::facts::{PciFunction, PcieLink};
use crate::inspection::{Device, Inspection};
use crate::model::{DeviceKind, Fact, Hop, TargetKind};
use serde::{Deserialize, Serialize};

/// What kind of part is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SharedKind {
    /// A block device that all of them stand on.
    Device,
    /// The PCI Express link of a bridge or controller.
    PcieLink,
    /// A conventional PCI bus.
    PciBus,
    /// A controller whose own limit is not known.
    Controller,
    /// A SATA port with a multiplier, or a parallel ATA cable.
    AtaPort,
    /// A USB hub, or a USB bridge with several disks.
    Usb,
    /// A port or an expander whose limit is not known.
    Port,
}

impl SharedKind {
    /// The share of its nominal rate from which on a part is as busy as it gets: the rest is its
    /// protocol's.
    pub const fn reachable(self) -> f64 {
        match self {
            Self::PciBus | Self::Usb => 0.6,
            _ => 0.8,
        }
    }
}

/// A part that several targets share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shared {
    pub kind: SharedKind,
    /// A short name: `0000:00:1c.0`, `ata3`, `usb 2-1`, `loop0`.
    pub name: String,
    /// What it is, in words: `PCI Express link of bridge 0000:00:1c.0, 8.0 GT/s x1`.
    pub about: String,
    /// The names of the targets that share it.
    pub targets: Vec<String>,
    /// The most it carries, in bytes a second, if that is known.
    pub bytes_per_s: Option<f64>,
    /// Where that was read.
    pub from: String,
}

/// How two targets are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// They are the same, perhaps by two names or two paths.
    Same,
    /// The first is a part of what the second stands on.
    FirstBelow,
    /// The second is a part of what the first stands on.
    SecondBelow,
}

/// Whether two targets are the same, or one stands on the other.
pub fn overlap(a: &Inspection, b: &Inspection) -> Option<Overlap> {
    let block = |i: &Inspection| i.kind == TargetKind::BlockDevice;
    let wwn = |i: &Inspection| {
        let device = i.device.as_ref().filter(|d| d.kind == DeviceKind::Disk)?;
        device.wwn.as_ref().map(|wwn| wwn.value.clone())
    };
    let below = |lower: &Inspection, upper: &Inspection| {
        let dev = lower.device.as_ref().map(|d| d.dev.as_str()).filter(|d| !d.is_empty());
        let on = upper.device.as_ref().map(|d| below(d, &[])).unwrap_or_default();
        block(lower) && dev.is_some_and(|dev| on.iter().any(|(d, _)| d.dev == dev))
    };
    let both = block(a) && block(b);
    let twice = both && wwn(a).is_some() && wwn(a) == wwn(b);
    match (below(a, b), below(b, a)) {
        _ if a.path == b.path || twice => Some(Overlap::Same),
        (true, true) => Some(Overlap::Same),
        (true, false) => Some(Overlap::FirstBelow),
        (false, true) => Some(Overlap::SecondBelow),
        (false, false) => None,
    }
}

/// What any two of some targets share, each with its name: devices first, then from the CPU
/// outwards. Of parts with the same link or without a known rate, one is named.
pub fn shared(targets: &[(&str, &Inspection)]) -> Vec<Shared> {
    let ways: Vec<Vec<Station>> = targets.iter().map(|(_, i)| stations(i)).collect();
    let mut found: Vec<(Shared, Vec<String>)> = Vec::new();
    for station in ways.iter().flatten() {
        let known =
            |(s, _): &(Shared, _)| s.kind == station.shared.kind && s.name == station.name();
        if found.iter().any(known) {
            continue;
        }
        let on = |way: &[Station]| way.iter().any(|s| s.same(station));
        let sharers = targets.iter().zip(&ways).filter(|(_, way)| on(way));
        let names: Vec<String> = sharers.map(|((name, _), _)| (*name).to_owned()).collect();
        if names.len() > 1 {
            let shared = Shared { targets: names, ..station.shared.clone() };
            found.push((shared, station.above.clone()));
        }
    }
    let devices: Vec<Shared> = found.iter().map(|(s, _)| s.clone()).collect();
    let stands_below = |(part, above): &(Shared, Vec<String>)| {
        let over = |s: &Shared| s.kind == SharedKind::Device && s.targets == part.targets;
        devices.iter().any(|s| over(s) && above.contains(&s.name))
    };
    found.retain(|part| !stands_below(part));
    let mut parts: Vec<Shared> = Vec::new();
    for (part, _) in found {
        let like = |s: &Shared| {
            s.kind != SharedKind::Device
                && part.kind != SharedKind::Device
                && s.targets == part.targets
                && (s.bytes_per_s == part.bytes_per_s)
        };
        match parts.last_mut() {
            // A bridge has the link of the bridge above it; the innermost of what has no rate tells
            // the most.
            Some(last) if like(last) && part.kind == SharedKind::PcieLink => {
                if part.about.contains("controller") {
                    *last = part;
                }
            }
            Some(last) if like(last) && part.bytes_per_s.is_none() => *last = part,
            _ => parts.push(part),
        }
    }
    parts
}

/// A station on the way of one target.
struct Station {
    shared: Shared,
    /// The devices above it.
    above: Vec<String>,
}

impl Station {
    fn name(&self) -> &str {
        &self.shared.name
    }

    fn same(&self, other: &Self) -> bool {
        self.shared.kind == other.shared.kind && self.name() == other.name()
    }
}

/// A device and all below it, with the names of those above each.
fn below<'a>(device: &'a Device, above: &[String]) -> Vec<(&'a Device, Vec<String>)> {
    let mut all = vec![(device, above.to_vec())];
    let above = [above, std::slice::from_ref(&device.name)].concat();
    all.extend(device.below.iter().flat_map(|d| below(d, &above)));
    all
}

fn stations(inspection: &Inspection) -> Vec<Station> {
    let Some(top) = &inspection.device else { return Vec::new() };
    let devices = below(top, &[]);
    let mut stations = Vec::new();
    for (device, above) in &devices {
        let shared = Shared {
            kind: SharedKind::Device,
            name: device.name.clone(),
            about: format!("device {}", device.name),
            targets: Vec::new(),
            bytes_per_s: None,
            from: format!("/sys/dev/block/{}", device.dev),
        };
        stations.push(Station { shared, above: above.clone() });
    }
    for (device, above) in &devices {
        let above = [above.as_slice(), std::slice::from_ref(&device.name)].concat();
        let parts = device.attachment.iter().filter_map(|hop| part(device, hop));
        stations.extend(parts.map(|shared| Station { shared, above: above.clone() }));
    }
    stations
}

/// What a station on the way of a disk carries; `None` of what every disk shares, and of links,
/// which are named by what they lead to.
fn part(device: &Device, hop: &Hop) -> Option<Shared> {
    let function = device.detail.pci.iter().find(|f| f.address == hop.name);
    let (kind, about, rate) = match hop.kind.as_str() {
        "pci-bridge" => bridge(device, function, &hop.name)?,
        "controller" => {
            let link = function.and_then(|f| f.link.as_ref());
            let class = function.map_or_else(|| hop.detail.clone(), PciFunction::words);
            let about = format!("controller {} ({class})", hop.name);
            match link {
                Some(link) => {
                    let about = format!("PCI Express link of {about}, {}", link.value);
                    (SharedKind::PcieLink, about, Some(carried(link)))
                }
                None => (SharedKind::Controller, about, None),
            }
        }
        "port" | "hub" => port(device, hop),
        _ => return None,
    };
    let (bytes_per_s, from) = match rate {
        Some(rate) => (Some(rate.value), rate.from),
        None => (None, hop.from.clone()),
    };
    let (name, targets) = (hop.name.clone(), Vec::new());
    Some(Shared { kind, name, about, targets, bytes_per_s, from })
}

type Part = (SharedKind, String, Option<Fact<f64>>);

fn carried(link: &Fact<PcieLink>) -> Fact<f64> {
    Fact::new(link.value.gigabytes_per_s() * 1e9, link.from.clone())
}

fn bridge(device: &Device, function: Option<&PciFunction>, name: &str) -> Option<Part> {
    let function = function?;
    if let Some(link) = &function.link {
        let about = format!("PCI Express link of bridge {name}, {}", link.value);
        return Some((SharedKind::PcieLink, about, Some(carried(link))));
    }
    // A bridge with a link that is down, or one to devices with links, is not of conventional PCI.
    let last = device.detail.controller()?;
    if function.link_max.is_some() || last.link.is_some() || last.link_max.is_some() {
        return Some((SharedKind::Port, format!("bridge {name}"), None));
    }
    let about =
        format!("PCI bus behind bridge {name}, 32 bits at 33 MHz if it is of the usual kind");
    let from = function.class.as_ref().map_or_else(|| name.to_owned(), |class| class.from.clone());
    Some((SharedKind::PciBus, about, Some(Fact::new(133e6, from))))
}

fn port(device: &Device, hop: &Hop) -> Part {
    if let Some(ata) = device.detail.ata.as_ref().filter(|ata| ata.port == hop.name) {
        let speed = ata.link_speed.as_ref().and_then(|speed| {
            let gbps: f64 = speed.value.split(' ').next()?.parse().ok()?;
            Some(Fact::new(gbps * 1e8, speed.from.clone()))
        });
        return match speed {
            Some(rate) => {
                let about = format!("SATA port {} with a port multiplier", hop.name);
                (SharedKind::AtaPort, about, Some(rate))
            }
            None => (SharedKind::AtaPort, format!("ATA cable at port {}", hop.name), cable(device)),
        };
    }
    let Some(usb) = &device.detail.usb else {
        return (SharedKind::Port, format!("{} {} ({})", hop.kind, hop.name, hop.detail), None);
    };
    let name = hop.name.trim_start_matches("usb ");
    let hub = usb.hubs.iter().find(|(hub, _)| hub == name).map(|(_, mbps)| *mbps);
    let own = usb.speed_mbps.as_ref().filter(|_| usb.device == name).map(|speed| speed.value);
    // Each port of a root hub of USB 3 has a link of its own.
    let is_root = name.starts_with("usb");
    let mbps = hub.or(own).filter(|mbps| !is_root || *mbps < 5_000);
    let rate = mbps.map(|mbps| Fact::new(usb_bytes_per_s(mbps), hop.from.clone()));
    (SharedKind::Usb, format!("USB {} {name} ({})", hop.kind, hop.detail), rate)
}

/// What a parallel cable carries, by the transfer mode of this disk.
fn cable(device: &Device) -> Option<Fact<f64>> {
    let mode = device.detail.ata.as_ref()?.transfer_mode.as_ref()?;
    let words = crate::attach::mode_in_words(&mode.value);
    let mb_per_s: f64 = words.strip_prefix("UDMA/")?.parse().ok()?;
    Some(Fact::new(mb_per_s * 1e6, mode.from.clone()))
}

/// 8 of 10 bits are data at 5 Gb/s, 128 of 132 above.
fn usb_bytes_per_s(mbps: u64) -> f64 {
    let coding = match mbps {
        0..5_000 => 1.0,
        5_000 => 0.8,
        _ => 128.0 / 132.0,
    };
    mbps as f64 * 1e6 * coding / 8.0
}

#[cfg(test)]
mod tests;

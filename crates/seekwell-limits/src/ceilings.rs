//! The ceilings that are known: what hardware and kernel declare, and what the run shows.

use crate::Run;
use seekwell_inspect::{Device, Inspection};
use seekwell_runs::limits::{Ceiling, Known, PhaseLimit, Station, Unit};

/// The ceilings that hardware and kernel declare on the path of a target, the lowest first.
pub fn declared(inspection: &Inspection) -> Vec<Ceiling> {
    let mut all = Vec::new();
    if let Some(disk) = inspection.disk() {
        all.extend(link(disk));
        all.extend(mode(disk));
    }
    all.extend(network(inspection));
    all.extend(shared(inspection));
    all.extend(groups(inspection));
    all.retain(|ceiling| ceiling.rate.is_finite() && ceiling.rate > 0.0);
    all.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    all
}

fn bytes(by: Station, name: String, rate: f64, from: &str) -> Ceiling {
    let (unit, known) = (Unit::BytesPerS, Known::Declared);
    Ceiling { by, name, rate, unit, op: None, known, from: from.to_owned() }
}

fn bus_name(name: &str) -> String {
    match name.strip_prefix("the ") {
        Some(name) => name.to_owned(),
        None => format!("{name} bus"),
    }
}

/// What all members of an array share: a parallel bus, the PCI Express link of one controller.
fn shared(inspection: &Inspection) -> Vec<Ceiling> {
    let members = inspection.disks();
    let Some(first) = members.first() else { return Vec::new() };
    if members.len() < 2 && first.detail.raid_controller().is_none() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for channel in &first.detail.channels {
        let rate = channel.value.bytes_per_s;
        all.push(bytes(Station::Bus, bus_name(&channel.value.name), rate, &channel.from));
    }
    for function in &first.detail.pci {
        let is_common =
            members.iter().all(|d| d.detail.pci.iter().any(|f| f.address == function.address));
        if let Some(link) = function.link.as_ref().filter(|_| is_common) {
            let name = format!("PCI Express link of {}", function.address);
            all.push(bytes(Station::Bus, name, link.value.gigabytes_per_s() * 1e9, &link.from));
        }
    }
    all
}

fn link(disk: &Device) -> Option<Ceiling> {
    let link = disk.link()?;
    let detail = &disk.detail;
    let sata = detail.ata.as_ref().and_then(|ata| ata.link_speed.as_ref());
    let sas = detail.sas.last().and_then(|phy| phy.negotiated.as_ref());
    let (kind, from) = match (sata, sas, &detail.usb) {
        (Some(fact), ..) => ("SATA", fact.from.as_str()),
        (_, Some(fact), _) => ("SAS", fact.from.as_str()),
        (.., Some(usb)) => ("USB", usb.speed_mbps.as_ref().map_or("sysfs", |f| f.from.as_str())),
        _ => {
            let of = detail.pci.last().and_then(|function| function.link.as_ref());
            ("PCIe", of.map_or("sysfs", |fact| fact.from.as_str()))
        }
    };
    Some(bytes(Station::Link, format!("{kind} link at {}", link.words), link.bytes_per_s, from))
}

/// The interface through which a server is reached. Other traffic shares it.
fn network(inspection: &Inspection) -> Option<Ceiling> {
    let path = inspection.network.as_ref()?;
    let (mbps, rate) = (path.value.megabits_per_s?, path.value.rate()?);
    let name = format!("network link {} at {rate}", path.value.interface);
    Some(bytes(Station::Link, name, mbps as f64 * 1e6 / 8.0, &path.from))
}

/// The transfer mode of a disk on a parallel cable; a SATA disk has one in name only.
fn mode(disk: &Device) -> Option<Ceiling> {
    let is_serial = disk.detail.identify.as_ref().is_some_and(|identify| identify.value.sata);
    let ata = disk.detail.ata.as_ref().filter(|ata| ata.link_speed.is_none() && !is_serial)?;
    let mode = ata.transfer_mode.as_ref()?;
    let (name, rate) = mode_rate(&mode.value)?;
    Some(bytes(Station::TransferMode, name, rate, &mode.from))
}

/// A mode as libata names it, and what it carries (ATA/ATAPI-7, tables of cycle times).
fn mode_rate(words: &str) -> Option<(String, f64)> {
    const PIO: [f64; 5] = [3.3, 5.2, 8.3, 11.1, 16.7];
    const MULTIWORD: [f64; 3] = [4.2, 13.3, 16.7];
    const ULTRA: [f64; 7] = [16.7, 25.0, 33.3, 44.4, 66.7, 100.0, 133.0];
    let (kind, number) = words.strip_prefix("XFER_")?.rsplit_once('_')?;
    let number: usize = number.parse().ok()?;
    let (name, rates): (_, &[f64]) = match kind {
        "PIO" => ("PIO", &PIO),
        "MW_DMA" => ("multiword DMA", &MULTIWORD),
        "UDMA" => ("Ultra DMA", &ULTRA),
        _ => return None,
    };
    Some((format!("{name} mode {number}"), rates.get(number)? * 1e6))
}

/// What control groups allow of the target's devices.
fn groups(inspection: &Inspection) -> Vec<Ceiling> {
    let mut numbers = Vec::new();
    let mut at = inspection.device.as_ref();
    while let Some(device) = at {
        numbers.push(device.dev.as_str());
        at = device.below.first();
    }
    let here = |l: &&seekwell_inspect::Fact<seekwell_inspect::IoLimit>| {
        !l.value.dev.is_empty() && numbers.contains(&l.value.dev.as_str())
    };
    let limits = inspection.host.io_limits.iter().filter(here);
    limits
        .map(|limit| Ceiling {
            by: Station::Throttle,
            name: "limit of a control group".into(),
            rate: limit.value.per_s as f64,
            unit: if limit.value.bytes { Unit::BytesPerS } else { Unit::RequestsPerS },
            op: Some(if limit.value.writes { "write" } else { "read" }.into()),
            known: Known::Declared,
            from: limit.from.clone(),
        })
        .collect()
}

/// Those that are declared, and those that phases were found to be at.
pub fn all(run: &Run<'_>, limits: &[PhaseLimit]) -> Vec<Ceiling> {
    let mut all = run.declared.clone();
    for limit in limits {
        let is_rate = !matches!(
            limit.by,
            Station::Latency | Station::Pace | Station::Memory | Station::Tags | Station::Unknown
        );
        let (Some(rate), Some(unit)) = (limit.measured, limit.unit) else { continue };
        let point = run.points.iter().find(|p| p.phase.name == limit.phase);
        let (Some(point), true, None) = (point, is_rate, limit.ceiling) else { continue };
        // What a commit waits for is no bound of other writes.
        if point.flushes {
            continue;
        }
        let op = point.op.name().map(str::to_owned);
        let same = |c: &&mut Ceiling| {
            (c.known, c.by, c.unit) == (Known::Inferred, limit.by, unit) && c.op == op
        };
        match all.iter_mut().find(same) {
            // Of several phases at it, the fastest is nearest.
            Some(known) if known.rate >= rate => {}
            Some(known) => (known.rate, known.from) = (rate, limit.phase.clone()),
            None => all.push(Ceiling {
                by: limit.by,
                name: limit.name.trim_start_matches("the ").to_owned(),
                rate,
                unit,
                op,
                known: Known::Inferred,
                from: limit.phase.clone(),
            }),
        }
    }
    all
}

/// The part of its raw rate that a full link or bus usually carries: below it, something else
/// limits.
pub fn usual(ceiling: &Ceiling) -> f64 {
    match ceiling.by {
        Station::Bus if ceiling.name.starts_with("PCI Express") => 0.75,
        Station::Bus => 0.6,
        // The processor's own copying costs as much as the cable.
        Station::TransferMode if ceiling.name.starts_with("PIO") => 0.15,
        Station::TransferMode => 0.75,
        Station::Throttle => 0.93,
        _ if ceiling.name.starts_with("USB link at 480 ") => 0.5,
        _ if ceiling.name.starts_with("USB") => 0.75,
        _ if ceiling.name.starts_with("PCIe") => 0.8,
        _ => 0.87,
    }
}

/// The share of its raw rate at which a link is certainly full. On PCI Express, payloads of 256
/// bytes reach 90 %; below 88 %, flash of nearly the same speed explains the rate as well.
pub fn certain(ceiling: &Ceiling) -> f64 {
    let is_pcie = ceiling.by == Station::Link && ceiling.name.starts_with("PCIe");
    if is_pcie { 0.88 } else { usual(ceiling) }
}

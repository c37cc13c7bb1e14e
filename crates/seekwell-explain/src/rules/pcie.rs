//! PCI Express: links below what both sides can do, slots below the drive, errors on the way.

use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::facts::{PciFunction, PcieLink};
use seekwell_inspect::{Device, Fact, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-PCIE-001",
        about: "a PCI Express link uses fewer lanes than both sides support",
        means: "Device and port support more lanes than the link uses.",
        known: "current_link_width is below the smaller of the two max_link_width. A port that is \
                wider than the device is not a fault. Each link on the way to the root is looked \
                at.",
        why: "Every lane carries a share: at 8 GT/s one lane is 985 MB/s, four are 3.9 GB/s.",
        fix: "reseat the card or drive, clean its contacts, try another slot; check the slot's \
              lane bifurcation in the firmware setup",
        tune: None,
        check: Check::Device(narrow),
    },
    Rule {
        id: "SW-PCIE-002",
        about: "a PCI Express link is slower than both sides support",
        means: "Device and port support a faster generation than the link uses.",
        known: "current_link_speed is below the lower of the two max_link_speed. Some platforms \
                lower the speed while the link is idle, so check again under load.",
        why: "Each generation doubles the rate: 2.5 GT/s x4 is 1 GB/s, 8 GT/s x4 3.9 GB/s.",
        fix: "look again while the disk is busy; then reseat it, update the board's firmware, \
              and look for a forced generation in the firmware setup; a riser or cable may not \
              carry it",
        tune: None,
        check: Check::Device(slow),
    },
    Rule {
        id: "SW-PCIE-003",
        about: "the slot has fewer lanes than the drive",
        means: "The drive sits in a slot, or behind a bridge, with at most half of its lanes.",
        known: "The port's max_link_width is at most half of the device's.",
        why: "One lane of 8 GT/s carries 985 MB/s of a drive that could deliver 3.5 GB/s.",
        fix: "move the drive to a slot with four lanes, preferably one attached to the CPU",
        tune: None,
        check: Check::Device(narrow_slot),
    },
    Rule {
        id: "SW-PCIE-004",
        about: "the slot is of an older generation than the drive",
        means: "The drive supports a faster generation than the port.",
        known: "The port's max_link_speed is below the device's.",
        why: "Each generation lost halves the drive's highest sequential rate. Small random \
              requests are hardly affected.",
        fix: "nothing, unless the board has a faster slot",
        tune: None,
        check: Check::Device(old_slot),
    },
    Rule {
        id: "SW-PCIE-005",
        about: "a bridge nearer to the CPU is slower than the drive's link",
        means: "A link further up is the bottleneck, and other devices may share it.",
        known: "The rate of each link on the way, by generation and lanes, against the device's \
                own.",
        why: "The drive never exceeds the slowest link on its way.",
        fix: "move the drive to a slot that is not behind this bridge",
        tune: None,
        check: Check::Device(bottleneck),
    },
    Rule {
        id: "SW-PCIE-006",
        about: "PCI Express errors that lost a transaction",
        means: "The function counted errors that the link could not correct.",
        known: "aer_dev_nonfatal and aer_dev_fatal are above 0; they count since boot.",
        why: "Each of them was a lost command, a reset or a stall, and can be lost data.",
        fix: "reseat the card, try another slot, force a lower generation in the firmware setup; \
              sudo dmesg | grep -i aer names the kind",
        tune: None,
        check: Check::Device(uncorrected),
    },
    Rule {
        id: "SW-PCIE-007",
        about: "PCI Express corrects many errors",
        means: "The link retransmits corrupt packets.",
        known: "aer_dev_correctable grew since the earlier inspection, or is above 1000 since \
                boot. A few are normal.",
        why: "Each correction costs little, but a marginal link soon has errors it cannot correct.",
        fix: "reseat the card, replace the riser or cable, or force a lower generation",
        tune: None,
        check: Check::Device(corrected),
    },
    Rule {
        id: "SW-PCIE-008",
        about: "the IOMMU undoes each mapping of a fast drive at once",
        means: "Every request of the drive waits until the IOMMU has forgotten its memory.",
        known: "iommu_group/type of an NVMe controller is DMA: strict mode.",
        why: "The invalidations are serialised over all processors, so at high rates they and not \
              the drive can be the limit.",
        fix: "iommu.strict=0 on the kernel's command line (mappings are undone together), or \
              iommu=pt (none, which gives up protection against the device)",
        tune: Some("Nothing by itself: the mode can only be changed while no driver is bound."),
        check: Check::Device(strict_iommu),
    },
];

struct Pair<'a> {
    below: &'a PciFunction,
    now: &'a Fact<PcieLink>,
    own: &'a Fact<PcieLink>,
    port: &'a Fact<PcieLink>,
}

/// The links on the way to the root, the device's own first. Two neighbouring functions have a
/// link between them only if both show the same one; two functions inside a switch do not.
fn links(device: &Device) -> Vec<Pair<'_>> {
    let functions = &device.detail.pci;
    let neighbours = functions.windows(2).rev();
    neighbours
        .filter_map(|pair| {
            let (above, below) = (&pair[0], &pair[1]);
            let now = below.link.as_ref()?;
            let same = above.link.as_ref()?.value == now.value;
            let (own, port) = (below.link_max.as_ref()?, above.link_max.as_ref()?);
            same.then_some(Pair { below, now, own, port })
        })
        .collect()
}

impl Pair<'_> {
    fn found(&self, severity: Severity, title: String) -> Found {
        Found::new(severity, title)
            .seen(format!("{}: {} now", self.below.address, self.now.value), &self.now.from)
            .seen(format!("the device supports {}", self.own.value), &self.own.from)
            .seen(format!("the port supports {}", self.port.value), &self.port.from)
    }
}

fn narrow(_: &Observed<'_>, d: &Device) -> Option<Found> {
    links(d).iter().find_map(|link| {
        let possible = link.own.value.common(link.port.value).width;
        let width = link.now.value.width;
        let title = format!("x{width} of x{possible} lanes are used");
        (width < possible).then(|| link.found(Severity::Warning, title))
    })
}

fn slow(_: &Observed<'_>, d: &Device) -> Option<Found> {
    links(d).iter().find_map(|link| {
        let possible = link.own.value.common(link.port.value).gts;
        let gts = link.now.value.gts;
        let title = format!("the link runs at {gts} of {possible} GT/s");
        (gts < possible).then(|| link.found(Severity::Warning, title))
    })
}

fn narrow_slot(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let all = links(d);
    let link = all.first()?;
    let (own, port) = (link.own.value, link.port.value);
    // A slot of a newer generation makes up for its lanes.
    let carries = PcieLink { gts: own.gts.min(port.gts), width: port.width };
    let less = carries.gigabytes_per_s() * 2.0 <= own.gigabytes_per_s();
    let title = format!("an x{} slot for an x{} drive", port.width, own.width);
    (port.width * 2 <= own.width && less).then(|| link.found(Severity::Warning, title))
}

fn old_slot(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let all = links(d);
    let link = all.first()?;
    let (own, port) = (link.own.value.gts, link.port.value.gts);
    let title = format!("a slot of {port} GT/s for a drive of {own}");
    (port < own).then(|| link.found(Severity::Info, title))
}

fn bottleneck(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let all = links(d);
    let own = all.first()?.now;
    let rate = |l: &Fact<PcieLink>| l.value.gigabytes_per_s();
    let slowest = all.iter().skip(1).min_by(|a, b| rate(a.now).total_cmp(&rate(b.now)))?;
    if rate(slowest.now) >= rate(own) * 0.99 {
        return None;
    }
    let title = format!(
        "the link at {} carries {:.1} GB/s of its {:.1}",
        slowest.below.address,
        rate(slowest.now),
        rate(own)
    );
    Some(
        Found::warning(title)
            .seen(format!("{}: {}", slowest.below.address, slowest.now.value), &slowest.now.from)
            .seen(format!("the disk's own link: {}", own.value), &own.from),
    )
}

fn uncorrected(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let counted = d.detail.pci.iter().filter_map(|f| Some((f, f.aer.as_ref()?)));
    let mut bad = counted.filter(|(_, aer)| aer.nonfatal.value + aer.fatal.value > 0);
    let (function, aer) = bad.next()?;
    Some(
        Found::error("PCI Express lost transactions on the way to it")
            .seen(
                format!("{}: {} non-fatal", function.address, aer.nonfatal.value),
                &aer.nonfatal.from,
            )
            .seen(format!("{} fatal", aer.fatal.value), &aer.fatal.from),
    )
}

/// Corrected errors since boot that are no longer chance.
const MANY: u64 = 1000;

fn corrected(input: &Observed<'_>, d: &Device) -> Option<Found> {
    let before = input.before(d);
    d.detail.pci.iter().find_map(|function| {
        let now = &function.aer.as_ref()?.correctable;
        let then = before
            .and_then(|b| b.detail.pci.iter().find(|f| f.address == function.address))
            .and_then(|f| Some(f.aer.as_ref()?.correctable.value));
        let grew = then.map(|then| now.value.saturating_sub(then));
        let seen = match grew {
            Some(grew) if grew > 0 => format!("{grew} more than before"),
            None if now.value >= MANY => format!("{} since boot", now.value),
            _ => return None,
        };
        Some(
            Found::warning("PCI Express corrects errors on the way to it")
                .seen(format!("{}: {seen}", function.address), &now.from),
        )
    })
}

fn strict_iommu(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let controller = d.detail.controller().filter(|c| c.class_code() == Some(0x01_0802))?;
    let mode = controller.iommu.as_ref().filter(|mode| mode.value == "DMA")?;
    Some(Found::info("the IOMMU is in strict mode").fact("mode", mode))
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, nvme, quiet, sata_ssd};
    use seekwell_inspect::facts::PcieLink;

    /// Sets the link of port and device, and what each can do.
    fn link(now: (f64, u32), own: (f64, u32), port: (f64, u32)) -> impl Fn(&mut Machine) {
        let of = |(gts, width): (f64, u32)| fact(PcieLink { gts, width }, "link");
        move |m| {
            let pci = &mut m.detail().pci;
            let last = pci.len() - 1;
            (pci[last].link, pci[last].link_max) = (of(now), of(own));
            (pci[last - 1].link, pci[last - 1].link_max) = (of(now), of(port));
        }
    }

    /// Puts a switch between: root port, upstream port, downstream port, device.
    fn behind_switch(uplink: (f64, u32)) -> impl Fn(&mut Machine) {
        move |m| {
            let (gts, width) = uplink;
            let of = |l: PcieLink| fact(l, "link");
            let pci = &mut m.detail().pci;
            let mut upstream = pci[0].clone();
            upstream.address = "0000:01:00.0".into();
            (upstream.link, upstream.link_max) =
                (of(PcieLink { gts, width }), of(PcieLink { gts, width }));
            let mut root = upstream.clone();
            root.address = "0000:00:01.0".into();
            pci.insert(0, upstream);
            pci.insert(0, root);
        }
    }

    fn corrected(n: u64) -> impl Fn(&mut Machine) {
        move |m| m.controller().aer.as_mut().unwrap().correctable.value = n
    }

    pub(crate) fn all() -> Vec<Case> {
        let iommu = |mode: &'static str| {
            move |m: &mut Machine| m.controller().iommu = fact(mode.to_owned(), "type")
        };
        vec![
            fires("SW-PCIE-008", nvme, iommu("DMA")).info(),
            quiet("SW-PCIE-008", nvme, iommu("DMA-FQ")),
            quiet("SW-PCIE-008", sata_ssd, iommu("DMA")),
            fires("SW-PCIE-001", nvme, link((8.0, 1), (8.0, 4), (16.0, 4))).warning(),
            quiet("SW-PCIE-001", nvme, link((2.5, 1), (2.5, 1), (8.0, 4))),
            fires("SW-PCIE-002", nvme, link((2.5, 4), (8.0, 4), (8.0, 4))).warning(),
            quiet("SW-PCIE-002", nvme, link((8.0, 4), (16.0, 4), (8.0, 4))),
            fires("SW-PCIE-003", nvme, link((8.0, 1), (8.0, 4), (8.0, 1))).warning(),
            quiet("SW-PCIE-003", nvme, link((8.0, 4), (8.0, 4), (8.0, 16))),
            fires("SW-PCIE-004", nvme, link((8.0, 4), (16.0, 4), (8.0, 4))).info(),
            quiet("SW-PCIE-004", nvme, link((8.0, 4), (8.0, 4), (16.0, 4))),
            fires("SW-PCIE-005", nvme, behind_switch((8.0, 1))).warning(),
            quiet("SW-PCIE-005", nvme, behind_switch((8.0, 8))),
            fires("SW-PCIE-006", nvme, |m| {
                m.controller().aer.as_mut().unwrap().nonfatal.value = 1;
            })
            .error(),
            quiet("SW-PCIE-006", nvme, corrected(3)),
            fires("SW-PCIE-007", nvme, corrected(1000)).warning(),
            fires("SW-PCIE-007", nvme, Machine::remember).and(corrected(2)).warning(),
            quiet("SW-PCIE-007", nvme, corrected(5000)).and(Machine::remember),
            quiet("SW-PCIE-007", nvme, corrected(999)),
        ]
    }
}

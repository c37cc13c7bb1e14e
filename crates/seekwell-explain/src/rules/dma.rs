//! The transfer mode of an ATA disk: DMA off, lowered, or never as good as it could be.

use crate::look::text;
use crate::words::{bytes_per_s, replug};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::Device;
use seekwell_inspect::facts::AtaFacts;
use seekwell_runs::limits::Station;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-DMA-001",
        about: "DMA is off: the CPU copies every word",
        means: "The disk runs in a programmed-I/O mode. The CPU copies all data itself, commands \
                are sent one at a time and native command queuing is off, whatever queue_depth \
                says.",
        known: "libata's xfer_mode is a PIO mode. The driver ata_generic shows PIO_0 as a \
                placeholder when the firmware left the DMA bits clear; it then drives the disk \
                without DMA, so this is reported for it too.",
        why: "PIO 4 moves at most 16.7 MB/s and takes a processor for it; the same disk under DMA \
              moves over 60 MB/s at 4 % of one processor (63.0 MB/s sequential input in the piix \
              and AHCI comparison of 2009).",
        fix: "find out who turned it off: libata.dma= or libata.force= on the kernel's command \
              line, a driver that is not the controller's own (ata_generic), errors in the kernel \
              log (journalctl -k | grep -i 'limiting speed'), or the mode in the firmware setup",
        tune: None,
        check: Check::Ata(pio),
    },
    Rule {
        id: "SW-DMA-002",
        about: "error handling lowered the transfer mode",
        means: "After repeated errors or time-outs the kernel lowered the transfer mode. It does \
                not go back by itself, even when the fault is long gone.",
        known: "libata's spdn_cnt is above 0. A value of 0 proves nothing: falling back to PIO \
                resets it, and switching queueing off does not count.",
        why: "The ladder is UDMA/133, /100, /66, /33 and, on parallel ATA, PIO: from 133 to 3 MB/s \
              without an error that a user would see. The fault that started it is still there.",
        fix: "replace the cable or move the disk to another port, then detach and rescan it or \
              reboot; only that clears it",
        tune: None,
        check: Check::Ata(slowed),
    },
    Rule {
        id: "SW-DMA-003",
        about: "the transfer mode is below the drive's best",
        means: "The drive could use a faster DMA mode than the one in use.",
        known: "The mode in use is below the best one in IDENTIFY words 63 and 88, on a parallel \
                link. On SATA the mode is only a label.",
        why: "The mode caps every transfer: MWDMA2 is 16.7 MB/s, UDMA/33 33 MB/s, UDMA/100 \
              100 MB/s. Often it is simply all the controller can do.",
        fix: "an 80-wire cable, or a controller with a faster mode; in a virtual machine attach \
              the disk as virtio or SATA instead of IDE",
        tune: None,
        check: Check::Ata(below_best),
    },
    Rule {
        id: "SW-DMA-004",
        about: "a driver of last resort has the controller",
        means: "ata_generic drives the controller with whatever mode the firmware left, because \
                the controller's own driver is missing, blacklisted or was loaded too late.",
        known: "The driver bound to the PCI function is ata_generic or pata_legacy.",
        why: "It sets no transfer modes and supports neither queueing nor hot plug nor link power \
              management.",
        fix: "load the controller's own driver first: add ata_piix or ahci to \
              /etc/initramfs-tools/modules and run sudo update-initramfs -u, or remove \
              all_generic_ide from the kernel's command line",
        tune: None,
        check: Check::Device(generic_driver),
    },
    Rule {
        id: "SW-DMA-005",
        about: "a 40-wire cable limits the drive",
        means: "The drive on a parallel cable did not see the 80-wire cable that modes above \
                UDMA/33 need.",
        known: "IDENTIFY word 93 is valid and its bit 13 is clear, and the drive supports more \
                than UDMA/33. Virtual machines are not judged.",
        why: "UDMA/33 carries 33 MB/s at most, less than any disk of this century delivers.",
        fix: "use an 80-wire cable with the disk at its end; if it is one, tell the kernel with \
              libata.force=80c",
        tune: None,
        check: Check::Ata(forty_wires),
    },
    Rule {
        id: LIMIT,
        about: "the transfer mode limits the sequential rate",
        means: "Sequential transfers run at the rate of the transfer mode, not of the disk.",
        known: "On a parallel link, the best sequential rate is at least 75 % of what a DMA mode \
                carries, or at least 15 % of what a PIO mode does: there the processor's own \
                copying costs as much as the cable.",
        why: "The mode caps every transfer: PIO 4 and MWDMA2 carry 16.7 MB/s, UDMA/33 33 MB/s, \
              UDMA/100 100 MB/s. A faster disk gains nothing behind it.",
        fix: "use a faster mode: DMA in place of PIO, an 80-wire cable, 32-bit transfers and \
              multiple-sector mode (hdparm -d1 -c3 -m16), or a controller that has one",
        tune: None,
        check: Check::Run(limits),
    },
];
const LIMIT: &str = "SW-DMA-007";

fn is_pio(ata: &AtaFacts) -> bool {
    text(&ata.transfer_mode).starts_with("XFER_PIO")
}

fn pio(input: &Observed<'_>, d: &Device, ata: &AtaFacts) -> Option<Found> {
    let mode = ata.transfer_mode.as_ref().filter(|_| is_pio(ata))?;
    let found = Found::error("DMA is off")
        .fact("transfer mode", mode)
        .facts("driver", d.driver.as_ref())
        .facts("asked for at boot", input.boot_option("libata.").as_ref());
    Some(found)
}

fn slowed(_: &Observed<'_>, d: &Device, ata: &AtaFacts) -> Option<Found> {
    let times = ata.speed_downs.as_ref().filter(|n| n.value > 0)?;
    Some(
        Found::error("the kernel lowered its transfer mode after errors")
            .fact("times it was lowered", times)
            .facts("transfer mode now", ata.transfer_mode.as_ref())
            .remedy(format!("replace the cable or use another port; then {}", replug(d))),
    )
}

/// UDMA modes count from 16 upwards, multiword ones from 0.
fn rank(mode: &str) -> Option<u8> {
    let number = |prefix: &str| mode.strip_prefix(prefix)?.parse::<u8>().ok();
    let ultra = number("XFER_UDMA_").and_then(|n| n.checked_add(16));
    ultra.or_else(|| number("XFER_MW_DMA_"))
}

fn below_best(_: &Observed<'_>, d: &Device, ata: &AtaFacts) -> Option<Found> {
    let id = d.detail.identify.as_ref()?;
    let mode = ata.transfer_mode.as_ref()?;
    let best = id.value.udma.0.map(|n| n + 16).or(id.value.mwdma.0)?;
    let serial = id.value.sata || ata.link_speed.is_some();
    let slowed = ata.speed_downs.as_ref().is_some_and(|n| n.value > 0);
    if serial || slowed || rank(&mode.value)? >= best {
        return None;
    }
    let best =
        id.value.udma.0.map_or_else(|| format!("MWDMA{best}"), |udma| format!("UDMA mode {udma}"));
    Some(
        Found::info("the drive could use a faster transfer mode")
            .fact("transfer mode", mode)
            .seen(format!("the drive supports {best}"), &id.from),
    )
}

fn generic_driver(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let driver = d.driver.as_ref()?;
    if !["ata_generic", "pata_legacy"].contains(&driver.value.as_str()) {
        return None;
    }
    let title = format!("{} drives its controller", driver.value);
    let mut found = Found::warning(title).fact("driver", driver);
    if let Some(class) = d.detail.controller().and_then(|c| Some((c, c.class.as_ref()?))) {
        found = found.seen(class.0.words(), &class.1.from);
    }
    Some(found)
}

fn forty_wires(input: &Observed<'_>, d: &Device, ata: &AtaFacts) -> Option<Found> {
    let id = d.detail.identify.as_ref()?;
    let faster = id.value.udma.0.is_some_and(|n| n > 2);
    if id.value.cable_80 != Some(false)
        || !faster
        || ata.link_speed.is_some()
        || input.is_virtual(d)
    {
        return None;
    }
    Some(
        Found::warning("the cable has 40 wires")
            .seen("the drive sees no 80-wire cable (word 93, bit 13)", &id.from)
            .facts("transfer mode", ata.transfer_mode.as_ref()),
    )
}

fn limits(input: &Observed<'_>) -> Option<Found> {
    let limit = input.limited_by(Station::TransferMode)?;
    let (rate, most) = (limit.measured?, limit.ceiling?);
    let disk = input.disk()?;
    let mode = disk.detail.ata.as_ref()?.transfer_mode.as_ref()?;
    Some(
        Found::warning(format!("{}: its transfer mode limits the sequential rate", disk.name))
            .seen(format!("the best sequential rate: {}", bytes_per_s(rate)), &limit.phase)
            .fact("transfer mode", mode)
            .seen(format!("the mode carries at most {}", bytes_per_s(most)), "ATA/ATAPI-6"),
    )
}

#[cfg(test)]
mod tests {
    use super::LIMIT;
    use crate::testing::checkup::Case;
    use crate::testing::machine::fact;
    use seekwell_inspect::facts::AtaFacts;

    fn parallel(mode: &str, bytes_per_s: f64) -> Case {
        Case::hdd()
            .with_disk(|d| {
                let ata = AtaFacts { transfer_mode: fact(mode.into(), "m"), ..AtaFacts::default() };
                d.detail.ata = Some(ata);
            })
            .with(|c| c.set("seq-read-1m", "read.rate_bytes_per_s", bytes_per_s))
    }

    #[test]
    fn a_mode_that_is_used_up_is_the_limit_and_one_the_disk_does_not_fill_is_not() {
        let f = parallel("XFER_UDMA_2", 30e6).finding(LIMIT);
        assert!(f.evidence[2].seen.contains("33.3 MB/s"), "{f:?}");
        parallel("XFER_PIO_4", 4e6).finding(LIMIT);
        parallel("XFER_UDMA_2", 22e6).quiet(LIMIT);
        let linked = |d: &mut seekwell_inspect::Device| {
            d.detail.ata.as_mut().expect("set above").link_speed = fact("1.5 Gbps".into(), "l");
        };
        parallel("XFER_UDMA_6", 120e6).with_disk(linked).quiet(LIMIT);
    }
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, fact, fires, quiet, sata_hdd};

    pub(crate) fn all() -> Vec<Case> {
        let mode = |word: &'static str| {
            move |c: &mut crate::testing::machine::Machine| {
                c.ata().transfer_mode = fact(word.into(), "dev1.0/xfer_mode");
            }
        };
        vec![
            fires("SW-DMA-001", sata_hdd, mode("XFER_PIO_4")).error(),
            quiet("SW-DMA-001", sata_hdd, mode("XFER_UDMA_2")),
            quiet("SW-DMA-001", sata_hdd, |c| c.ata().class = fact("atapi".into(), "c"))
                .and(mode("XFER_PIO_4")),
            fires("SW-DMA-002", sata_hdd, |c| c.ata().speed_downs = fact(2, "spdn_cnt")).error(),
            quiet("SW-DMA-002", sata_hdd, |c| c.ata().speed_downs = None),
            fires("SW-DMA-003", sata_hdd, |c| c.parallel(Some(5), true))
                .and(mode("XFER_MW_DMA_2"))
                .info(),
            quiet("SW-DMA-003", sata_hdd, mode("XFER_UDMA_2")),
            quiet("SW-DMA-003", sata_hdd, |c| c.parallel(Some(5), true)).and(mode("XFER_UDMA_5")),
            fires("SW-DMA-004", sata_hdd, |c| c.disk().driver = fact("ata_generic".into(), "d"))
                .warning(),
            quiet("SW-DMA-004", sata_hdd, |c| c.disk().driver = fact("sata_sil24".into(), "d")),
            fires("SW-DMA-005", sata_hdd, |c| c.parallel(Some(5), false)).warning(),
            quiet("SW-DMA-005", sata_hdd, |c| c.parallel(Some(2), false)),
            quiet("SW-DMA-005", sata_hdd, |c| c.parallel(Some(5), false)).and(|c| c.virtualise()),
        ]
    }
}

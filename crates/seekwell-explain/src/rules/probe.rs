//! What the pass-through probe proves: the kernel's own flags, which no file shows.

use crate::{Check, Found, Rule};
use seekwell_inspect::Device;
use seekwell_inspect::probe::{Answer, Probe};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-NCQ-006",
        about: "the kernel refuses queued commands although queue_depth says otherwise",
        means: "Queueing is off for this disk, whatever sysfs, hdparm and lsblk show.",
        known: "One sector was asked for with READ FPDMA QUEUED through ATA PASS-THROUGH(16); the \
                kernel refused it with ILLEGAL REQUEST while queue_depth is above 1. It does so \
                exactly when it would not send queued commands itself.",
        why: "With tags used, concurrent random reads rose from about 150 to 365 a second on a \
              hard disk and from 8000 to 37000 on a solid-state drive (DragonFly BSD's AHCI \
              driver, 2011).",
        fix: "look in the kernel log for NCQ disabled due to excessive errors and find their \
              cause; then detach and rescan the disk or reboot. Writing another queue_depth would \
              switch queueing on again without the cause being gone",
        tune: None,
        check: Check::Device(|_, d| {
            refused(d, |p| p.ncq, "READ FPDMA QUEUED", queues(d), "queueing")
        }),
    },
    Rule {
        id: "SW-DMA-006",
        about: "the kernel refuses DMA commands",
        means: "The disk is driven by PIO: the CPU copies every word.",
        known: "One sector was asked for with READ DMA EXT through ATA PASS-THROUGH(16) and \
                refused with ILLEGAL REQUEST.",
        why: "On a PII/350 with an IDE disk, reading rose from 3.58 to 20.13 MB/s with DMA on.",
        fix: "remove libata.dma=0 or libata.force=…pio… from the kernel's command line; else find \
              the errors that made the kernel give up DMA, then detach and rescan the disk",
        tune: None,
        check: Check::Device(|_, d| refused(d, |p| p.dma, "READ DMA EXT", true, "DMA")),
    },
];

fn queues(device: &Device) -> bool {
    device.queue.queue_depth.as_ref().is_some_and(|depth| depth.value > 1)
}

fn refused(
    device: &Device,
    which: impl Fn(&Probe) -> Option<Answer>,
    command: &str,
    matters: bool,
    what: &str,
) -> Option<Found> {
    let probe = device.detail.probe.as_ref()?;
    if which(&probe.value) != Some(Answer::Refused) || !matters {
        return None;
    }
    let title = format!("the kernel has {what} switched off");
    let seen = format!("{command}, one sector: refused by the kernel");
    let depth = device.queue.queue_depth.as_ref();
    Some(Found::error(title).seen(seen, &probe.from).facts("queue_depth", depth))
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, quiet, sata_hdd};
    use seekwell_inspect::probe::{Answer, Power, Probe};

    fn answers(ncq: Answer, dma: Answer) -> impl Fn(&mut Machine) {
        let probe = Probe { power: Power::Active, ncq: Some(ncq), dma: Some(dma) };
        move |m| m.detail().probe = fact(probe, "ATA PASS-THROUGH(16)")
    }

    pub(crate) fn all() -> Vec<Case> {
        use Answer::{Accepted, NotAta, Refused};
        let one_at_a_time = |m: &mut Machine| m.disk().queue.queue_depth = fact(1, "queue_depth");
        vec![
            fires("SW-NCQ-006", sata_hdd, answers(Refused, Accepted)).error(),
            quiet("SW-NCQ-006", sata_hdd, answers(Refused, Accepted)).and(one_at_a_time),
            quiet("SW-NCQ-006", sata_hdd, answers(NotAta, NotAta)),
            fires("SW-DMA-006", sata_hdd, answers(Refused, Refused)).error(),
            quiet("SW-DMA-006", sata_hdd, answers(Accepted, Accepted)),
        ]
    }
}

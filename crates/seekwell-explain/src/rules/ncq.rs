//! Native command queuing: offered, used, and whether `queue_depth` can be believed.

use super::log::says_ncq_off;
use crate::look::text;
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::facts::{AtaErrorClass, AtaFacts, IdentifyData};
use seekwell_inspect::{Device, Fact};

const PUBLISHED: &str = "With tags used, concurrent random reads rose from about 150 to 365 a \
                         second on a hard disk and from 8000 to 37000 on a solid-state drive \
                         (DragonFly BSD's AHCI driver, 2011).";

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-NCQ-001",
        about: "native command queuing is not used although both sides support it",
        means: "Drive and controller can queue 32 commands, but they are sent one at a time.",
        known: "IDENTIFY word 76 bit 8, the AHCI capabilities and a queue_depth of 1. The kernel's \
                line NCQ (not used) says the same.",
        why: PUBLISHED,
        fix: "if libata.force=noncq is on the kernel's command line, remove it; if queue_depth was \
              lowered by hand or by a rule, raise it again; a drive on the kernel's list of broken \
              firmware stays without NCQ",
        tune: Some(
            "Raise queue_depth on trial, unless the kernel switched queueing off after errors.",
        ),
        check: Check::Ata(unused),
    },
    Rule {
        id: "SW-NCQ-002",
        about: "queue_depth is above 1 while DMA is off",
        means: "queue_depth shows what was negotiated at first. Without DMA there is no queueing, \
                whatever it says.",
        known: "xfer_mode is a PIO mode and queue_depth is above 1. hdparm -Q and lsblk repeat the \
                same number.",
        why: "queue_depth suggests that the disk queues commands, but it takes one at a time.",
        fix: "fix the DMA mode (SW-DMA-001); do not write queue_depth: a value lowered now cannot \
              be raised again",
        tune: None,
        check: Check::Ata(lies_without_dma),
    },
    Rule {
        id: "SW-NCQ-003",
        about: "the kernel has probably switched queueing off after time-outs",
        means: "Four time-outs within ten minutes make the kernel stop queueing for good. \
                queue_depth still says 32.",
        known: "The error ring has more than three time-outs within ten minutes of a drive that \
                queues. Only the pass-through probe (--probe) or the kernel log can prove it.",
        why: PUBLISHED,
        fix: "find the cause of the time-outs (cable, power, link power management, firmware); \
              then detach and rescan the disk or reboot. Writing another queue_depth would switch \
              queueing on again without the cause being gone",
        tune: None,
        check: Check::Ata(probably_off),
    },
    Rule {
        id: "SW-NCQ-004",
        about: "the queue is shorter than drive and controller allow",
        means: "queue_depth was lowered.",
        known: "queue_depth is above 1 and below half of what both IDENTIFY word 75 and the port \
                allow.",
        why: "A hard disk reorders the commands in its queue; with four it gains about half of \
              what it gains with 32.",
        fix: "echo 32 into device/queue_depth of the disk",
        tune: Some("Raise queue_depth."),
        check: Check::Ata(shallow),
    },
    Rule {
        id: "SW-NCQ-005",
        about: "the drive has no native command queuing",
        means: "The drive itself takes one command at a time.",
        known: "IDENTIFY word 76 has SATA capabilities and bit 8 is clear.",
        why: PUBLISHED,
        fix: "nothing: this is how the drive is made",
        tune: None,
        check: Check::Drive(incapable),
    },
];

fn depth(device: &Device) -> Option<u64> {
    device.queue.queue_depth.as_ref().map(|d| d.value)
}

fn is_pio(device: &Device) -> bool {
    device.detail.ata.as_ref().is_some_and(|a| text(&a.transfer_mode).starts_with("XFER_PIO"))
}

fn unused(input: &Observed<'_>, d: &Device, ata: &AtaFacts) -> Option<Found> {
    let shown = d.queue.queue_depth.as_ref().filter(|q| q.value == 1)?;
    let id = d.detail.identify.as_ref().filter(|i| i.value.ncq)?;
    let register = ata.ahci.as_ref()?.capabilities.as_ref()?;
    if ata.ahci.as_ref()?.ncq() != Some(true) {
        return None;
    }
    Some(
        Found::warning("native command queuing is not used")
            .fact("queue depth", shown)
            .seen(format!("the drive queues {} commands", id.value.ncq_depth), &id.from)
            .seen("the controller has NCQ", &register.from)
            .facts("asked for at boot", input.boot_option("libata.force=").as_ref()),
    )
}

fn lies_without_dma(_: &Observed<'_>, d: &Device, ata: &AtaFacts) -> Option<Found> {
    let shown = d.queue.queue_depth.as_ref().filter(|q| q.value > 1 && is_pio(d))?;
    Some(
        Found::warning(format!("queue_depth says {}, but nothing is queued", shown.value))
            .fact("queue depth", shown)
            .facts("transfer mode", ata.transfer_mode.as_ref()),
    )
}

/// The window of libata's rule, in seconds.
const WINDOW_S: f64 = 600.0;

fn probably_off(input: &Observed<'_>, d: &Device, ata: &AtaFacts) -> Option<Found> {
    let shown = d.queue.queue_depth.as_ref().filter(|q| q.value > 1 && !is_pio(d))?;
    d.detail.identify.as_ref().filter(|i| i.value.ncq)?;
    // The log's word is better than this guess.
    let ring = ata.errors.as_ref().filter(|_| !says_ncq_off(input, &d.name))?;
    let timeouts = ring.value.iter().filter(|e| e.class == AtaErrorClass::Timeout);
    let mut times: Vec<f64> = timeouts.filter_map(|e| e.at_s).collect();
    times.sort_by(f64::total_cmp);
    let close = times.windows(4).any(|w| w[3] - w[0] <= WINDOW_S);
    close.then(|| {
        Found::error("queueing has probably been switched off")
            .seen(format!("{} time-outs, four of them in ten minutes", times.len()), &ring.from)
            .seen(format!("queue_depth still says {}", shown.value), &shown.from)
    })
}

fn shallow(_: &Observed<'_>, d: &Device, ata: &AtaFacts) -> Option<Found> {
    let shown = d.queue.queue_depth.as_ref().filter(|q| q.value > 1)?;
    let id = d.detail.identify.as_ref().filter(|i| i.value.ncq)?;
    let port = ata.can_queue.as_ref()?;
    let possible = port.value.min(u64::from(id.value.ncq_depth));
    (depth(d)? * 2 < possible).then(|| {
        Found::info("its queue depth is limited")
            .fact("queue depth", shown)
            .seen(format!("drive and port allow {possible}"), &port.from)
            .remedy(format!("echo {possible} | sudo tee /sys/block/{}/device/queue_depth", d.name))
    })
}

fn incapable(_: &Observed<'_>, _: &Device, id: &Fact<IdentifyData>) -> Option<Found> {
    (id.value.sata && !id.value.ncq).then(|| {
        let title = "the drive has no native command queuing";
        Found::info(title).seen("word 76, bit 8 is clear", &id.from)
    })
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, quiet, sata_hdd};
    use seekwell_inspect::facts::{AtaError, AtaErrorClass};

    fn depth(n: u64) -> impl Fn(&mut Machine) {
        move |m| m.disk().queue.queue_depth = fact(n, "queue_depth")
    }

    fn timeouts(apart: f64) -> impl Fn(&mut Machine) {
        move |m| {
            let error = |n: u8| AtaError {
                at_s: Some(f64::from(n) * apart),
                class: AtaErrorClass::Timeout,
            };
            m.ata().errors = fact((0..4).map(error).collect(), "ering");
        }
    }

    pub(crate) fn all() -> Vec<Case> {
        let pio = |m: &mut Machine| m.ata().transfer_mode = fact("XFER_PIO_4".into(), "xfer_mode");
        vec![
            fires("SW-NCQ-001", sata_hdd, depth(1)).warning(),
            quiet("SW-NCQ-001", sata_hdd, depth(1)).and(|m| m.id().ncq = false),
            quiet("SW-NCQ-001", sata_hdd, depth(1)).and(|m| m.ata().ahci = None),
            fires("SW-NCQ-002", sata_hdd, pio).warning(),
            quiet("SW-NCQ-002", sata_hdd, pio).and(depth(1)),
            fires("SW-NCQ-003", sata_hdd, timeouts(30.0)).error(),
            quiet("SW-NCQ-003", sata_hdd, timeouts(500.0)),
            quiet("SW-NCQ-003", sata_hdd, timeouts(30.0)).and(|m| m.id().ncq = false),
            fires("SW-NCQ-004", sata_hdd, depth(4)).info(),
            quiet("SW-NCQ-004", sata_hdd, depth(31)),
            quiet("SW-NCQ-004", sata_hdd, depth(16)),
            fires("SW-NCQ-005", sata_hdd, |m| m.id().ncq = false).info(),
            quiet("SW-NCQ-005", sata_hdd, |m| m.parallel(Some(5), true)),
        ]
    }
}

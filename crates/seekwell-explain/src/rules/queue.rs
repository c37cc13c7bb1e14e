//! Command queueing: is it offered, and does it do anything.

use crate::words::{evidence, fact, per_s, percent};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::{Device, Evidence, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: UNUSED,
        about: "more requests at once do not raise the rate",
        means: "The device claims to take many commands at once but serves them no faster than one \
                at a time: queueing is not in effect.",
        known: "The best rate of random 4 KiB reads at any depth is under 1.3 times that at depth \
                1 (1.1 on a rotating disk), with at least depth 8 measured and the CPU not the \
                limit. queue_depth in sysfs cannot show this: it keeps its value after the kernel \
                has given up on queueing. On a virtual disk, where a host limit has the same \
                effect, the finding is informational.",
        why: "a device that queues should serve several times as many small reads as with one \
              outstanding; programs that keep several requests outstanding wait in line instead",
        fix: "look in the kernel log for errors after which queueing was switched off, fix their \
              cause, and detach and rescan the disk or reboot",
        tune: None,
        check: Check::Run(unused),
    },
    Rule {
        id: NOT_OFFERED,
        about: "the driver sends one command at a time",
        means: "A SATA disk is driven at queue depth 1, without native command queueing.",
        known: "The transport is SATA and the queue depth is exactly 1. SATA disks since about \
                2005 take 32 commands, so the controller is in IDE mode (ata_piix), NCQ is \
                switched off, or the disk is very old. Virtual disks are not judged.",
        why: "a SATA disk can take 32 commands and serve them in the order that suits it; one at a \
              time, every other request waits and the link idles in between",
        fix: "set the SATA mode to AHCI in the firmware setup; under AHCI, look for the reason in \
              the kernel log and raise queue_depth to 31",
        tune: Some("Raise queue_depth on trial, where the driver allows it."),
        check: Check::Run(not_offered),
    },
];
const UNUSED: &str = "SW-QUEUE-001";
const NOT_OFFERED: &str = "SW-QUEUE-002";

/// Flash has several dies and a link that a single 4 KiB read leaves idle most of the time: 32 at
/// once give at least twice the rate on the worst SATA drive, usually eight times. 1.3 leaves room
/// for noise.
const GAIN_FLASH: f64 = 1.3;
/// A rotating disk that may reorder 32 reads gives 1.5 to 2 times the rate (1.62 on a measured
/// ST2000DM006, 1.36 at depth 8); one that may not gives 1.0.
const GAIN_ROTATING: f64 = 1.1;
/// A shallower curve cannot show it.
const DEEP_ENOUGH: u32 = 8;

fn unused(input: &Observed<'_>) -> Option<Found> {
    let disk = input.disk().filter(|d| speaks(d, &["sata", "sas", "scsi", "nvme", "virtio"]))?;
    let offered = offered(disk)?;
    let curve = input.curve();
    let (_, first, one) = *curve.first().filter(|(depth, ..)| *depth == 1)?;
    curve.last().filter(|(depth, ..)| *depth >= DEEP_ENOUGH)?;
    let (depth, best, rate) =
        *curve[1..].iter().max_by(|a, b| a.2.total_cmp(&b.2).then(b.0.cmp(&a.0)))?;
    let rotates = input.rotates(disk) == Some(true);
    let needed = if rotates { GAIN_ROTATING } else { GAIN_FLASH };
    if rate / one >= needed || input.is_cpu_bound(first) || input.is_cpu_bound(best) {
        return None;
    }
    let host = input.virtual_evidence(disk);
    let severity = if host.is_some() { Severity::Info } else { Severity::Warning };
    let mut proof = vec![
        evidence(format!("random read 4 KiB at depth 1: {}", per_s(one)), &first.name),
        evidence(
            format!(
                "the best of all depths, {depth}: {}, {:.2} times as many",
                per_s(rate),
                rate / one
            ),
            &best.name,
        ),
        offered,
    ];
    let remedy = remedy(disk, host.is_some());
    proof.extend(host);
    proof.extend(disk.driver.as_ref().map(|d| fact("driver", d)));
    Some(
        Found::new(severity, format!("{}: more requests at once do not make it faster", disk.name))
            .evidence(proof)
            .why(format!(
                "a device that takes many commands at once should serve at least {needed} times as \
             many small reads as with one; this one behaves as if its command tags were not used, \
             and every program that keeps several requests outstanding waits in line"
            ))
            .remedy(remedy),
    )
}

fn offered(disk: &Device) -> Option<Evidence> {
    let depth = disk.queue.queue_depth.as_ref();
    if let Some(depth) = depth {
        return (depth.value > 1).then(|| fact("commands it claims to take at once", depth));
    }
    let queues = disk.queue.hardware_queues.as_ref().filter(|q| q.value > 1)?;
    Some(fact("hardware queues", queues))
}

fn speaks(disk: &Device, names: &[&str]) -> bool {
    let transport = disk.transport.as_ref().map_or("", |t| t.value.as_str());
    names.iter().any(|n| transport.starts_with(n))
}

fn remedy(disk: &Device, is_virtual: bool) -> String {
    let name = &disk.name;
    if is_virtual {
        return format!(
            "ask for the host's settings of {name}: an IOPS limit, aio=native or io_uring with an \
             iothread, and more than one queue"
        );
    }
    match disk.transport.as_ref().map(|t| t.value.as_str()) {
        Some("nvme") => format!(
            "sudo dmesg | grep -i nvme (timeouts and resets); then compare the queues the drive \
             granted: sudo nvme get-feature -f 7 -H /dev/{name}"
        ),
        Some("sata") => format!(
            "sudo dmesg | grep -iE 'ncq|exception Emask|{name}': queueing that was given up after \
             errors stays off until the disk is attached again; check the cable, then reboot"
        ),
        _ => format!(
            "cat /sys/block/{name}/device/queue_type /sys/block/{name}/device/queue_depth, and \
             look for task aborts: sudo dmesg | grep -iE 'abort|reset|{name}'"
        ),
    }
}

fn not_offered(input: &Observed<'_>) -> Option<Found> {
    let disk = input.disk().filter(|d| speaks(d, &["sata"]))?;
    let depth = disk.queue.queue_depth.as_ref().filter(|d| d.value == 1)?;
    if input.virtual_evidence(disk).is_some() {
        return None;
    }
    let driver = disk.driver.as_ref();
    let mut proof = vec![fact("commands it may be given at once", depth)];
    proof.extend(driver.map(|d| fact("driver", d)));
    let drive = disk.detail.identify.as_ref().filter(|i| i.value.ncq);
    proof.extend(drive.map(|i| {
        evidence(format!("commands the drive can queue: {}", i.value.ncq_depth), &i.from)
    }));
    if let [(1, first, one), .., (_, last, many)] = input.curve()[..] {
        let gain = percent(many / one - 1.0);
        let seen = format!("{} at depth 1, {} deeper: {gain} more", per_s(one), per_s(many));
        proof.push(evidence(seen, format!("{}, {}", first.name, last.name)));
    }
    let name = &disk.name;
    let remedy = if driver.is_some_and(|d| d.value == "ahci") {
        format!(
            "first see whether the kernel had a reason: sudo dmesg | grep -i ncq; if not: \
             echo 31 | sudo tee /sys/block/{name}/device/queue_depth"
        )
    } else {
        "set the SATA mode to AHCI in the firmware setup; before that make sure that the boot \
         image holds the driver: lsinitramfs /boot/initrd.img-$(uname -r) | grep ahci"
            .into()
    };
    Some(
        Found::warning(format!("{name}: the driver gives the disk one command at a time"))
            .evidence(proof)
            .remedy(remedy),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::checkup::Case;
    use crate::testing::machine::fact;

    fn flat(c: &mut Case, gain: f64) {
        let one = c.phase_mut("rand-read-4k-d1").median("read.requests_per_s").expect("d1");
        for d in [2, 4, 8, 16, 32, 64, 128, 256] {
            let name = format!("rand-read-4k-d{d}");
            if c.phase_mut(&name).median("read.requests_per_s").is_some() {
                c.set(&name, "read.requests_per_s", one * gain);
            }
        }
    }

    #[test]
    fn a_flat_curve_on_a_device_that_queues_is_a_finding() {
        for (case, gain) in
            [(Case::sata_ssd(), 1.2), (Case::nvme(), 1.0), (Case::hdd(), 1.05), (Case::hdd(), 0.9)]
        {
            let f = case.with(|c| flat(c, gain)).finding(UNUSED);
            assert_eq!(f.severity, Severity::Warning);
            assert!(f.evidence.iter().any(|e| e.from.ends_with("device/queue_depth")), "{f:?}");
            assert!(f.evidence[1].seen.contains(&format!("{gain:.2} times")), "{f:?}");
        }
        let f = Case::virtio().with(|c| flat(c, 1.0)).finding(UNUSED);
        assert_eq!(f.severity, Severity::Info);
        assert!(f.remedy.contains("vda"));
    }

    #[test]
    fn a_rotating_disk_that_gains_a_little_is_in_order() {
        Case::hdd().with(|c| flat(c, 1.15)).quiet(UNUSED);
        Case::sata_ssd().with(|c| flat(c, 1.15)).finding(UNUSED);
    }

    #[test]
    fn a_flat_curve_proves_nothing_without_a_queue_with_a_busy_cpu_or_from_a_cache() {
        let case = Case::sata_ssd().with(|c| flat(c, 1.0));
        case.clone().with_disk(|d| d.queue.queue_depth = fact(1, "q")).quiet(UNUSED);
        case.clone().with_disk(|d| d.transport = fact("usb".into(), "p")).quiet(UNUSED);
        case.clone().with(|c| c.scale("rand-read", "cpu_percent", 3.3)).quiet(UNUSED);
        case.clone().with(|c| c.scale("rand-read", "device_share", 0.5)).quiet(UNUSED);
        let shallow = |c: &mut Case| {
            c.phases.retain(|p| p.workload.drawn().is_some_and(|w| w.pace.depth() < 8))
        };
        case.with(shallow).quiet(UNUSED);
    }

    #[test]
    fn one_command_at_a_time_on_sata_is_a_finding_with_a_remedy_for_its_driver() {
        let one =
            |d: &mut Device| d.queue.queue_depth = fact(1, "/sys/block/sda/device/queue_depth");
        let f = Case::hdd().with_disk(one).with_disk(|d| {
            d.driver = fact("ata_piix".into(), "/sys/bus/pci/drivers/ata_piix");
        });
        let f = f.finding(NOT_OFFERED);
        assert!(f.remedy.contains("AHCI in the firmware setup"), "{}", f.remedy);
        let f = Case::sata_ssd().with_disk(one).finding(NOT_OFFERED);
        assert!(f.remedy.contains("/sys/block/sda/device/queue_depth"), "{}", f.remedy);
    }

    #[test]
    fn one_command_at_a_time_is_no_finding_over_usb_or_in_a_virtual_machine() {
        let one = |d: &mut Device| d.queue.queue_depth = fact(1, "q");
        let usb = |d: &mut Device| d.transport = fact("usb".into(), "p");
        Case::hdd().with_disk(one).with_disk(usb).quiet(NOT_OFFERED);
        let emulated = |d: &mut Device| d.model = fact("QEMU HARDDISK".into(), "m");
        Case::hdd().with_disk(one).with_disk(emulated).quiet(NOT_OFFERED);
    }
}

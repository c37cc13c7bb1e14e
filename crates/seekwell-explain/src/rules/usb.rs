//! USB disks: the protocol, the port, the power.

use crate::look::is;
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::facts::UsbFacts;
use seekwell_inspect::{Device, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-USB-001",
        about: "USB Attached SCSI is offered and not used",
        means: "The bridge speaks UAS and the kernel drives it with the old bulk-only protocol: \
                one command at a time and often no TRIM.",
        known: "The driver is usb-storage and a setting of protocol 62 is among the descriptors. \
                The cause is the kernel's list of broken bridges, usb-storage.quirks, or a missing \
                uas module.",
        why: "Random reads of a solid-state drive over bulk-only stay at the rate of one request \
              at a time, a tenth of what it does with 30.",
        fix: "look for usb-storage.quirks with the flag u on the kernel's command line and in \
              /etc/modprobe.d, and for the module: sudo modprobe uas; then plug the disk in \
              again. A bridge on the kernel's own list is there for a reason",
        tune: None,
        check: Check::Usb(uas_unused),
    },
    Rule {
        id: "SW-USB-002",
        about: "a USB 3 disk runs at USB 2 speed",
        means: "The device reports USB 3 but is connected at 480 Mb/s.",
        known: "version 3 or later with a speed of 480 or less. A device of version 2.10 is \
                probably a USB 3 one on a USB 2 port, which is reported as information.",
        why: "480 Mb/s carry about 40 MB/s; USB 3 at 5 Gb/s carries 400.",
        fix: "use a blue or SS port and a cable with nine wires, without a USB 2 hub between",
        tune: None,
        check: Check::Usb(slow_port),
    },
    Rule {
        id: "SW-USB-003",
        about: "a USB disk runs at 12 Mb/s",
        means: "The disk is connected at full speed, the rate of USB 1.",
        known: "speed is 12 or less.",
        why: "12 Mb/s carry 1 MB/s.",
        fix: "use another cable or port; load the driver of the high-speed controller (ehci_pci, \
              xhci_pci)",
        tune: None,
        check: Check::Usb(crawling),
    },
    Rule {
        id: "SW-USB-004",
        about: "the USB disk takes one command at a time",
        means: "The bridge supports only the bulk-only protocol.",
        known: "The driver is usb-storage and no setting of protocol 62 is among the descriptors.",
        why: "There is no queue: random access runs at the rate of depth one at any depth.",
        fix: "for a solid-state drive, an enclosure with a UAS bridge; for sequential use, nothing",
        tune: Some("Raise device/max_sectors for sequential rate."),
        check: Check::Usb(bulk_only),
    },
    Rule {
        id: "SW-USB-005",
        about: "the USB disk may be suspended while idle",
        means: "Runtime power management is on for the device.",
        known: "power/control is auto.",
        why: "The first access after a pause waits for the bridge and often for the drive to spin \
              up; some bridges drop off the bus instead.",
        fix: "echo on into power/control of the USB device",
        tune: Some("Set power/control to on."),
        check: Check::Usb(suspends),
    },
    Rule {
        id: "SW-USB-006",
        about: "a USB hub in the path is slower than the disk",
        means: "The disk runs slower than it could because a hub above it does.",
        known: "A hub on the way has 480 Mb/s or less, and the disk says version 3.",
        why: "Everything behind that hub shares 40 MB/s.",
        fix: "plug the disk into the machine directly or into a USB 3 hub",
        tune: None,
        check: Check::Usb(slow_hub),
    },
    Rule {
        id: "SW-USB-007",
        about: "a boot option sets USB storage quirks",
        means: "usb-storage.quirks is set on the kernel's command line.",
        known: "The option is in /proc/cmdline, and a USB disk is inspected.",
        why: "Quirks switch off UAS, large requests, flushes or identification of the named \
              devices, also after the device was replaced by one of the same kind.",
        fix: "remove it unless its reason is known",
        tune: None,
        check: Check::Host(quirks),
    },
];

fn offers_uas(usb: &UsbFacts) -> Option<bool> {
    usb.offers_uas.as_ref().map(|o| o.value)
}

/// The version as a number of hundredths: 3.20 is 320.
fn version(usb: &UsbFacts) -> Option<u64> {
    let (major, minor) = usb.version.as_ref()?.value.trim().split_once('.')?;
    let (major, minor): (u64, u64) = (major.parse().ok()?, minor.parse().ok()?);
    major.checked_mul(100)?.checked_add(minor.min(99))
}

fn uas_unused(input: &Observed<'_>, _: &Device, usb: &UsbFacts) -> Option<Found> {
    let driver = usb.driver.as_ref().filter(|d| d.value == "usb-storage")?;
    let offer = usb.offers_uas.as_ref().filter(|o| o.value)?;
    Some(
        Found::warning("UAS is offered and not used")
            .fact("driver", driver)
            .seen("a setting with protocol 62 (UAS) is offered", &offer.from)
            .facts("bridge", usb.id.as_ref())
            .facts("asked for at boot", input.boot_option("usb-storage.quirks=").as_ref()),
    )
}

fn slow_port(_: &Observed<'_>, _: &Device, usb: &UsbFacts) -> Option<Found> {
    let speed = usb.speed_mbps.as_ref().filter(|s| s.value <= 480 && s.value > 12)?;
    let says = version(usb).filter(|v| *v >= 210)?;
    let slow_hub = usb.hubs.iter().skip(1).any(|(_, mbps)| *mbps <= 480);
    let (severity, title) = if says >= 300 {
        (Severity::Warning, "a USB 3 disk at USB 2 speed")
    } else {
        (Severity::Info, "probably a USB 3 disk on a USB 2 port")
    };
    (!slow_hub).then(|| {
        Found::new(severity, title)
            .seen(format!("{} Mb/s", speed.value), &speed.from)
            .facts("USB version", usb.version.as_ref())
    })
}

fn crawling(_: &Observed<'_>, _: &Device, usb: &UsbFacts) -> Option<Found> {
    let speed = usb.speed_mbps.as_ref().filter(|s| s.value <= 12)?;
    Some(Found::warning(format!("connected at {} Mb/s", speed.value)).fact("speed in Mb/s", speed))
}

fn bulk_only(_: &Observed<'_>, d: &Device, usb: &UsbFacts) -> Option<Found> {
    let driver = usb.driver.as_ref().filter(|d| d.value == "usb-storage")?;
    (offers_uas(usb) == Some(false)).then(|| {
        Found::info("one command at a time")
            .fact("driver", driver)
            .facts("queue depth", d.queue.queue_depth.as_ref())
    })
}

fn suspends(_: &Observed<'_>, _: &Device, usb: &UsbFacts) -> Option<Found> {
    let control = usb.power_control.as_ref().filter(|c| c.value == "auto")?;
    Some(
        Found::info("may be suspended while idle")
            .fact("power/control", control)
            .remedy(format!("echo on | sudo tee {}", control.from)),
    )
}

fn slow_hub(_: &Observed<'_>, _: &Device, usb: &UsbFacts) -> Option<Found> {
    let speed = usb.speed_mbps.as_ref()?;
    // The root hub is the port itself.
    let hub = usb.hubs.iter().skip(1).find(|(_, mbps)| *mbps <= 480)?;
    (version(usb)? >= 300).then(|| {
        Found::warning(format!("the hub {} slows it down", hub.0))
            .seen(format!("hub {} at {} Mb/s", hub.0, hub.1), &speed.from)
            .fact("speed in Mb/s", speed)
    })
}

fn quirks(input: &Observed<'_>) -> Option<Found> {
    let usb = input.devices().into_iter().any(|d| is(&d.transport, "usb"));
    let word = input.boot_option("usb-storage.quirks=").filter(|_| usb)?;
    Some(Found::info("a boot option sets USB storage quirks").fact("kernel command line", &word))
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, quiet, sata_hdd, usb};

    fn bulk(m: &mut Machine) {
        m.usb().driver = fact("usb-storage".into(), "driver");
    }

    fn speed(mbps: u64) -> impl Fn(&mut Machine) {
        move |m| m.usb().speed_mbps = fact(mbps, "speed")
    }

    fn version(word: &'static str) -> impl Fn(&mut Machine) {
        move |m| m.usb().version = fact(word.into(), "version")
    }

    pub(crate) fn all() -> Vec<Case> {
        let hub = |m: &mut Machine| m.usb().hubs.push(("2-1".into(), 480));
        vec![
            fires("SW-USB-001", usb, bulk).warning(),
            quiet("SW-USB-001", usb, bulk).and(|m| m.usb().offers_uas = fact(false, "d")),
            quiet("SW-USB-001", usb, bulk).and(|m| m.usb().offers_uas = None),
            fires("SW-USB-002", usb, speed(480)).warning(),
            fires("SW-USB-002", usb, speed(480)).and(version("2.10")).info(),
            quiet("SW-USB-002", usb, speed(480)).and(version("2.00")),
            quiet("SW-USB-002", usb, version("nonsense")).and(speed(480)),
            fires("SW-USB-003", usb, speed(12)).warning(),
            quiet("SW-USB-003", usb, speed(480)),
            fires("SW-USB-004", usb, bulk).and(|m| m.usb().offers_uas = fact(false, "d")).info(),
            quiet("SW-USB-004", usb, bulk),
            fires("SW-USB-005", usb, |m| m.usb().power_control = fact("auto".into(), "p")).info(),
            quiet("SW-USB-005", usb, |m| m.usb().power_control = None),
            fires("SW-USB-006", usb, hub).and(speed(480)).warning(),
            quiet("SW-USB-006", usb, |m| m.usb().hubs.push(("2-1".into(), 5000))),
            fires("SW-USB-007", usb, |m| m.command_line("usb-storage.quirks=152d:0578:u")).info(),
            quiet("SW-USB-007", sata_hdd, |m| m.command_line("usb-storage.quirks=152d:0578:u")),
        ]
    }
}

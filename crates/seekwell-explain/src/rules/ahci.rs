//! The mode of the SATA controller: IDE, AHCI or RAID, and what it can do.

use crate::look::is;
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::facts::{AtaFacts, PciFunction};
use seekwell_inspect::{Device, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-AHCI-001",
        about: "the disk controller is in IDE mode",
        means: "The controller presents itself as an IDE interface. Its driver sends one command \
                at a time: no native command queuing, no hot plug, no link power management, and \
                no message-signalled interrupts.",
        known: "The PCI class is 0101. Whether it can do AHCI is not visible in this mode; outside \
                virtual machines, a controller with only parallel ports or a drive on a parallel \
                cable is reported as information only.",
        why: "The same disk on the same board, switched from IDE to AHCI in the firmware: file \
              deletions went from 777 to 1645 a second, creations from 17299 to 28173 (bonnie++, \
              2009); timed SQLite insertions from 1708 to 795 s (Phoronix Test Suite on a \
              Supermicro X8). Sequential rates stay the same.",
        fix: "set the SATA mode to AHCI in the firmware setup (\"SATA Mode\", \"Configure SATA \
              as\", \"SATA#1 Configuration\"), but first make sure the driver is in the initial \
              RAM disk: echo ahci | sudo tee -a /etc/initramfs-tools/modules && sudo \
              update-initramfs -u",
        tune: None,
        check: Check::Device(ide_mode),
    },
    Rule {
        id: "SW-AHCI-002",
        about: "the AHCI controller cannot queue",
        means: "The controller's capability register says that it has no native command queuing.",
        known: "Bit 30 (SNCQ) of the AHCI capabilities is clear.",
        why: "One command at a time: a hard disk cannot order its seeks and a solid-state drive \
              works on one request where it could work on 32. Using tags raised concurrent random \
              reads from about 150 to 365 a second on a hard disk and from 8000 to 37000 on an SSD \
              (DragonFly BSD, 2011).",
        fix: "connect the disk to another controller; in a virtual machine choose another disk bus",
        tune: None,
        check: Check::Ata(no_sncq),
    },
    Rule {
        id: "SW-AHCI-003",
        about: "NVMe drives are hidden behind the SATA controller",
        means: "Intel's RAID mode (RST, \"Intel Optane\") remaps NVMe drives into the SATA \
                controller. Linux cannot drive them there, and the controller gets no MSI.",
        known: "remapped_nvme of the AHCI controller is above 0.",
        why: "The hidden drives are missing from the system altogether.",
        fix: "switch the SATA mode from RAID (RST) to AHCI in the firmware setup; a Windows \
              installation on the same disk needs its AHCI driver enabled first",
        tune: None,
        check: Check::Facts(remapped),
    },
    Rule {
        id: "SW-AHCI-004",
        about: "the SATA controller is in RAID mode",
        means: "The firmware presents the ports as a RAID controller, which the ahci driver runs \
                like any other.",
        known: "PCI class 0104 with the driver ahci.",
        why: "Disks work at full speed, but members of the firmware's arrays carry its metadata, \
              and NVMe drives may be hidden by this mode.",
        fix: "set the SATA mode to AHCI unless a firmware array is in use",
        tune: None,
        check: Check::Device(raid_mode),
    },
    Rule {
        id: "SW-AHCI-005",
        about: "the AHCI controller uses a line interrupt",
        means: "The controller interrupts over a shared line instead of a message.",
        known: "No vector in msi_irqs, and an interrupt line.",
        why: "On a shared line every driver has to check whether the interrupt is its own, and all \
              ports complete on one CPU.",
        fix: "look for pci=nomsi on the kernel's command line and for a firmware update",
        tune: None,
        check: Check::Device(line_interrupt),
    },
    Rule {
        id: "SW-AHCI-006",
        about: "the controller has fewer command slots than the drive's queue",
        means: "The drive takes more commands at once than the controller has slots.",
        known: "The slots in the AHCI capabilities are fewer than the depth in IDENTIFY word 75.",
        why: "The drive's queue is never full; beyond about 16 commands a hard disk gains little.",
        fix: "nothing, unless the disk has to serve many clients: then use another controller",
        tune: None,
        check: Check::Ata(few_slots),
    },
];

/// Functions with nothing but parallel ports, by what Intel and emulators of Intel call them.
const PARALLEL_ONLY: [&str; 9] = [
    "8086:7010",
    "8086:7111",
    "8086:2411",
    "8086:244b",
    "8086:248a",
    "8086:24cb",
    "8086:24db",
    "8086:1230",
    "8086:27df",
];

fn is_parallel(device: &Device, controller: &PciFunction) -> bool {
    let id = controller.id.as_ref().map_or("", |id| id.value.as_str());
    let drive = device.detail.identify.as_ref();
    drive.is_some_and(|i| i.value.parallel_reset_result && !i.value.sata)
        || PARALLEL_ONLY.contains(&id)
}

fn ide_mode(input: &Observed<'_>, d: &Device) -> Option<Found> {
    let controller = d.detail.controller().filter(|c| c.is_ide())?;
    let class = controller.class.as_ref()?;
    let machine = input.is_virtual(d);
    let parallel = is_parallel(d, controller);
    let severity = if parallel && !machine { Severity::Info } else { Severity::Warning };
    let driver = controller.driver.as_ref().or(d.driver.as_ref());
    let by = driver.map_or_else(String::new, |d| format!(", {}", d.value));
    let title = format!(
        "{}{by}: no NCQ, no hot plug, no LPM",
        if controller.words().starts_with("IDE, compatible") {
            "IDE interface, compatible mode"
        } else {
            "IDE interface"
        }
    );
    let mut found = Found::new(severity, title)
        .seen(format!("class 0x{:06x}: {}", class.value, controller.words()), &class.from)
        .facts("driver", driver)
        .facts("interrupt", controller.interrupt.as_ref());
    if machine {
        found = found.remedy(
            "attach the disk as virtio-scsi, virtio-blk or SATA (AHCI) instead of IDE in the \
             virtual machine's configuration",
        );
    } else if parallel {
        found = found
            .remedy("a parallel port has no better mode; move the data to a disk on SATA or NVMe");
    }
    Some(found)
}

fn no_sncq(_: &Observed<'_>, _: &Device, ata: &AtaFacts) -> Option<Found> {
    let ahci = ata.ahci.as_ref()?;
    let register = ahci.capabilities.as_ref()?;
    (ahci.ncq() == Some(false)).then(|| {
        Found::warning("its controller cannot queue")
            .seen(format!("AHCI capabilities 0x{:08x}: no NCQ", register.value), &register.from)
    })
}

fn remapped(input: &Observed<'_>) -> Vec<Found> {
    input.each(|d| {
        let hidden = d.detail.controller()?.remapped_nvme.as_ref().filter(|n| n.value > 0)?;
        let title = format!("{} NVMe drives are hidden by the SATA controller", hidden.value);
        Some(Found::warning(title).fact("remapped NVMe drives", hidden))
    })
}

fn raid_mode(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let controller = d.detail.controller()?;
    let class = controller.class.as_ref().filter(|c| c.value >> 8 == 0x0104)?;
    is(&controller.driver, "ahci").then(|| {
        Found::info("its SATA controller is in RAID mode")
            .seen(controller.words(), &class.from)
            .facts("driver", controller.driver.as_ref())
    })
}

fn line_interrupt(input: &Observed<'_>, d: &Device) -> Option<Found> {
    let controller = d.detail.controller().filter(|c| is(&c.driver, "ahci"))?;
    let interrupt = controller.interrupt.as_ref().filter(|i| i.value == "intx")?;
    Some(
        Found::info("its controller uses a line interrupt")
            .fact("interrupt", interrupt)
            .facts("asked for at boot", input.boot_option("pci=nomsi").as_ref()),
    )
}

fn few_slots(_: &Observed<'_>, d: &Device, ata: &AtaFacts) -> Option<Found> {
    let ahci = ata.ahci.as_ref()?;
    let (slots, register) = (ahci.slots()?, ahci.capabilities.as_ref()?);
    let id = d.detail.identify.as_ref()?;
    // 31 of 32 is what many controllers leave, and no loss.
    (slots + 1 < u64::from(id.value.ncq_depth) && ahci.ncq() == Some(true)).then(|| {
        Found::info(format!("its port has only {slots} slots"))
            .seen(format!("{slots} command slots"), &register.from)
            .seen(format!("the drive queues {} commands", id.value.ncq_depth), &id.from)
    })
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, nvme, quiet, sata_hdd};

    fn ide(m: &mut Machine) {
        m.ata().ahci = None;
        m.controller().class = fact(0x01018f, "class");
        m.controller().driver = fact("ata_piix".into(), "driver");
        m.controller().interrupt = fact("intx".into(), "irq");
    }

    fn capabilities(bits: u64) -> impl Fn(&mut Machine) {
        move |m| m.ata().ahci.as_mut().unwrap().capabilities = fact(bits, "ahci_host_caps")
    }

    pub(crate) fn all() -> Vec<Case> {
        vec![
            fires("SW-AHCI-001", sata_hdd, ide).warning(),
            fires("SW-AHCI-001", sata_hdd, ide).and(|m| m.parallel(Some(5), true)).info(),
            fires("SW-AHCI-001", sata_hdd, ide)
                .and(|m| m.parallel(Some(5), true))
                .and(Machine::virtualise)
                .warning(),
            quiet("SW-AHCI-001", nvme, |m| m.virtualise()),
            fires("SW-AHCI-002", sata_hdd, capabilities(0xa734_ff05)).warning(),
            quiet("SW-AHCI-002", sata_hdd, |m| m.ata().ahci = None),
            fires("SW-AHCI-003", sata_hdd, |m| m.controller().remapped_nvme = fact(1, "r"))
                .warning(),
            quiet("SW-AHCI-003", sata_hdd, |m| m.controller().remapped_nvme = None),
            fires("SW-AHCI-004", sata_hdd, |m| m.controller().class = fact(0x010400, "class"))
                .info(),
            quiet("SW-AHCI-004", sata_hdd, |m| {
                m.controller().class = fact(0x010400, "class");
                m.controller().driver = fact("megaraid_sas".into(), "driver");
            }),
            fires("SW-AHCI-005", sata_hdd, |m| m.controller().interrupt = fact("intx".into(), "i"))
                .info(),
            quiet("SW-AHCI-005", sata_hdd, |m| m.controller().interrupt = None),
            fires("SW-AHCI-006", sata_hdd, capabilities(0xe734_e705)).info(),
            quiet("SW-AHCI-006", sata_hdd, capabilities(0xe734_fe05)),
        ]
    }
}

//! The write cache by three views: what the block layer believes, what the disk driver believes
//! and what the drive does.

use crate::look::text;
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::facts::{IdentifyData, ScsiFacts};
use seekwell_inspect::{Device, Fact};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-WC-001",
        about: "the drive caches writes and the kernel sends no flushes",
        means: "The block layer believes that a finished write is on the medium; the drive keeps \
                it in its cache. fsync returns before the data is safe.",
        known: "queue/write_cache (or the SCSI disk driver's cache_type) says write through, and \
                IDENTIFY words 82 and 85, bit 5, say that the drive's cache is on.",
        why: "After a power loss everything in the drive's cache is gone, and databases and file \
              systems that did everything right are damaged.",
        fix: "echo 'write back' into queue/write_cache and scsi_disk/*/cache_type of the disk, or \
              switch the drive's cache off with sudo hdparm -W 0",
        tune: Some("Set write_cache back to write back: this only makes the disk safer."),
        check: Check::Drive(unsafe_belief),
    },
    Rule {
        id: "SW-WC-002",
        about: "the kernel sends flushes that the drive does not need",
        means: "The block layer assumes a volatile write cache that the drive has switched off.",
        known: "queue/write_cache says write back, IDENTIFY word 85 bit 5 is clear.",
        why: "Flushes to a drive without a cache each cost a command and add no safety; this is \
              harmless.",
        fix: "nothing has to be done; a rescan (echo 1 into device/rescan) updates the kernel's \
              view",
        tune: None,
        check: Check::Drive(needless_flushes),
    },
    Rule {
        id: "SW-WC-003",
        about: "the drive's write cache is off",
        means: "Every write waits for the medium.",
        known: "IDENTIFY word 82 bit 5 is set and word 85 bit 5 is clear.",
        why: "A hard disk at 7200 rpm then does one small sequential write per rotation, 120 a \
              second. It is the safe setting for software that never flushes.",
        fix: "sudo hdparm -W 1 on the disk, where file system and database flush (barriers on)",
        tune: Some("Switch the drive's write cache on and off on trial (volatile)."),
        check: Check::Drive(cache_off),
    },
    Rule {
        id: "SW-WC-004",
        about: "block layer and disk driver disagree about the write cache",
        means: "Two parts of the kernel hold different values, as after a write to only one of \
                them.",
        known: "queue/write_cache against scsi_disk/*/cache_type.",
        why: "One of them is wrong, and it decides whether flushes are sent.",
        fix: "write the true value into scsi_disk/*/cache_type; it sets both",
        tune: None,
        check: Check::Scsi(beliefs_differ),
    },
    Rule {
        id: "SW-WC-005",
        about: "a solid-state drive behind USB claims to have no write cache",
        means: "The bridge did not report a write cache, so no flushes are sent. Nearly every \
                solid-state drive has a volatile cache.",
        known: "cache_type is write through on a solid-state USB disk; the bridge passes on no \
                IDENTIFY data to check it.",
        why: "Data that was reported safe may be lost when the cable is pulled.",
        fix: "do not keep databases on it; eject before unplugging",
        tune: None,
        check: Check::Scsi(silent_bridge),
    },
    Rule {
        id: "SW-WC-006",
        about: "the array controller does not cache writes",
        means: "The controller passes every write on to the disks before it answers.",
        known: "The disk is made up by a RAID controller, and it says write through.",
        why: "Small writes on RAID 5 and 6 then cost two reads and two writes each, and every \
              commit waits for the disks. Controllers switch the cache off when their battery \
              fails.",
        fix: "look at the controller's battery or flash module (megacli -AdpBbuCmd -aALL, or the \
              maker's tool); with a healthy one, set the write policy to write back",
        tune: None,
        check: Check::Scsi(controller_cache_off),
    },
];

fn driver_belief(device: &Device) -> &str {
    device.detail.scsi.as_ref().map_or("", |s| text(&s.cache_type))
}

fn unsafe_belief(_: &Observed<'_>, d: &Device, id: &Fact<IdentifyData>) -> Option<Found> {
    let belief = d.queue.write_cache.as_ref()?;
    if belief.value != "write through" || id.value.write_cache != (true, true) {
        return None;
    }
    let driver = d.detail.scsi.as_ref().and_then(|s| s.cache_type.as_ref());
    let name = &d.name;
    Some(
        Found::error("the drive caches writes and is never sent a flush")
            .fact("the block layer says", belief)
            .facts("the disk driver says", driver)
            .seen("the drive says: write cache on (word 85)", &id.from)
            .remedy(format!("echo 'write back' | sudo tee /sys/block/{name}/queue/write_cache")),
    )
}

fn needless_flushes(_: &Observed<'_>, d: &Device, id: &Fact<IdentifyData>) -> Option<Found> {
    let belief = d.queue.write_cache.as_ref().filter(|b| b.value == "write back")?;
    (id.value.write_cache == (true, false)).then(|| {
        Found::info("flushes are sent to a drive without a cache")
            .fact("the block layer says", belief)
            .seen("the drive says: write cache off (word 85)", &id.from)
    })
}

fn cache_off(_: &Observed<'_>, d: &Device, id: &Fact<IdentifyData>) -> Option<Found> {
    (id.value.write_cache == (true, false)).then(|| {
        Found::info("the drive's write cache is off")
            .seen("write cache supported, not enabled (words 82 and 85)", &id.from)
            .remedy(format!("sudo hdparm -W 1 /dev/{}", d.name))
    })
}

fn controller_cache_off(_: &Observed<'_>, d: &Device, scsi: &ScsiFacts) -> Option<Found> {
    let class = d.detail.raid_controller()?;
    let cache = scsi.cache_type.as_ref().filter(|c| c.value.starts_with("write through"))?;
    Some(
        Found::warning("its controller does not cache writes")
            .fact("the controller's cache", cache)
            .seen("a RAID controller", &class.from),
    )
}

fn beliefs_differ(_: &Observed<'_>, d: &Device, scsi: &ScsiFacts) -> Option<Found> {
    let block = d.queue.write_cache.as_ref()?;
    let driver = scsi.cache_type.as_ref()?;
    let back = |words: &str| words.starts_with("write back");
    // Where the drive itself is cached and never flushed, that is said instead.
    let said = d
        .detail
        .identify
        .as_ref()
        .is_some_and(|i| i.value.write_cache == (true, true) && block.value == "write through");
    if said || back(&block.value) == back(driver_belief(d)) {
        return None;
    }
    Some(
        Found::warning("block layer and disk driver disagree about the write cache")
            .fact("the block layer says", block)
            .fact("the disk driver says", driver),
    )
}

fn silent_bridge(input: &Observed<'_>, d: &Device, scsi: &ScsiFacts) -> Option<Found> {
    d.detail.usb.as_ref()?;
    let cache = scsi.cache_type.as_ref().filter(|c| c.value == "write through")?;
    let flash = d.queue.rotational.as_ref().filter(|r| !r.value)?;
    if d.detail.identify.is_some() || input.is_virtual(d) {
        return None;
    }
    let title = "its USB bridge reports no write cache";
    Some(Found::info(title).fact("cache type", cache).fact("rotational", flash))
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, quiet, sas, sata_hdd, usb};

    fn array() -> Machine {
        let mut machine = sas();
        machine.controller().class = fact(0x0001_0400, "class");
        machine
    }

    pub(crate) fn all() -> Vec<Case> {
        let block = |word: &'static str| {
            move |m: &mut Machine| m.disk().queue.write_cache = fact(word.into(), "write_cache")
        };
        let driver = |word: &'static str| {
            move |m: &mut Machine| m.scsi().cache_type = fact(word.into(), "cache_type")
        };
        vec![
            fires("SW-WC-001", sata_hdd, block("write through")).error(),
            quiet("SW-WC-001", sata_hdd, block("write through"))
                .and(|m| m.id().write_cache = (true, false)),
            quiet("SW-WC-001", sata_hdd, block("write through"))
                .and(|m| m.id().write_cache = (false, false)),
            fires("SW-WC-002", sata_hdd, |m| m.id().write_cache = (true, false)).info(),
            quiet("SW-WC-002", sata_hdd, |m| m.id().write_cache = (true, false))
                .and(block("write through")),
            fires("SW-WC-003", sata_hdd, |m| m.id().write_cache = (true, false)).info(),
            quiet("SW-WC-003", sata_hdd, |m| m.id().write_cache = (false, false)),
            fires("SW-WC-004", sas, block("write through")).warning(),
            fires("SW-WC-004", sata_hdd, driver("write through")).warning(),
            quiet("SW-WC-004", sata_hdd, block("write through")).and(driver("write through")),
            quiet("SW-WC-004", sas, driver("write back, no read (daft)")),
            fires("SW-WC-005", usb, driver("write through")).and(block("write through")).info(),
            quiet("SW-WC-005", usb, driver("write through"))
                .and(|m| m.disk().queue.rotational = fact(true, "rotational")),
            fires("SW-WC-006", array, driver("write through")).warning(),
            quiet("SW-WC-006", array, driver("write back")),
            quiet("SW-WC-006", sas, driver("write through")).and(block("write through")),
        ]
    }
}

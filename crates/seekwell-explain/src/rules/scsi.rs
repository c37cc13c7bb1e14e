//! SCSI devices: their state, their counters, their timeouts, and virtual drives of RAID
//! controllers.

use crate::look::{solid_state, text};
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::facts::ScsiFacts;
use seekwell_inspect::{Device, Fact, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-SCSI-001",
        about: "the SCSI device is not running",
        means: "The kernel took the device out of service, or it is being removed.",
        known: "state is anything but running; quiesce and transport-offline are transient.",
        why: "Every request to it fails.",
        fix: "find the cause in the kernel log first; then echo running into device/state, or \
              detach and rescan the disk",
        tune: None,
        check: Check::Scsi(offline),
    },
    Rule {
        id: "SW-SCSI-002",
        about: "commands timed out since the earlier inspection",
        means: "The disk did not answer commands in time.",
        known: "iotmo_cnt grew between two inspections. Its value alone says nothing.",
        why: "Each one stalled the disk for its whole timeout, 30 seconds as a rule, and starts \
              error handling that may lower its speed for good.",
        fix: "look at the kernel log; check cable, power and firmware",
        tune: None,
        check: Check::Device(timeouts_grew),
    },
    Rule {
        id: "SW-SCSI-003",
        about: "commands failed since the earlier inspection",
        means: "The disk ended commands with an error.",
        known: "ioerr_cnt grew between two inspections. Probing leaves a few, and a refused \
                optional command counts too, so growth of a few is a warning only. What the \
                earlier inspection itself provoked by asking for health is left out.",
        why: "Failed reads and writes reach the programs above.",
        fix: "look at the kernel log for the commands; sudo smartctl -a on the disk",
        tune: None,
        check: Check::Device(errors_grew),
    },
    Rule {
        id: "SW-SCSI-004",
        about: "the command timeout is very short",
        means: "A command that takes longer counts as lost.",
        known: "device/timeout is below 10 seconds; 30 is the kernel's own.",
        why: "A disk that spins up or recovers a sector can take tens of seconds; the kernel then \
              resets it, lowers its speed and may drop it although nothing is broken.",
        fix: "echo 30 into device/timeout of the disk",
        tune: Some("Set device/timeout."),
        check: Check::Scsi(short_timeout),
    },
    Rule {
        id: "SW-SCSI-005",
        about: "a USB or SCSI solid-state drive is not trimmed",
        means: "The kernel does not pass discards on to the device.",
        known: "provisioning_mode is full or disabled, the drive says by VPD page B1h that it is \
                solid state, and its page B0h offers UNMAP.",
        why: "Without TRIM its writes slow down as it fills.",
        fix: "if the bridge is known to pass UNMAP through: echo unmap into \
              scsi_disk/*/provisioning_mode",
        tune: Some("Nothing by itself: a bridge that lies about UNMAP loses data."),
        check: Check::Scsi(not_trimmed),
    },
    Rule {
        id: "SW-RAID-001",
        about: "the disk is a RAID controller's virtual drive",
        means: "What the kernel sees is a volume that the controller's firmware builds from the \
                disks behind it.",
        known: "PCI class 0104 with a driver other than ahci; of megaraid_sas a SCSI channel from \
                2 up, for on channels 0 and 1 it passes single disks through.",
        why: "Model, rotation, cache and link of the real disks are hidden. The firmware's cache \
              answers writes, and falls back to write-through when its battery is flat, which \
              makes small writes ten times slower or worse.",
        fix: "check the cache policy, the battery and the disks with the vendor's tool (storcli, \
              perccli, ssacli); sudo smartctl -d megaraid,N on the disk",
        tune: None,
        check: Check::Device(virtual_drive),
    },
    Rule {
        id: "SW-RAID-002",
        about: "the RAID controller's virtual drive writes through",
        means: "The controller reports no volatile write cache. It may have a cache with a \
                battery, or have switched it off because the battery failed.",
        known: "PCI class 0104 and write_cache is write through.",
        why: "Without its cache every small write waits for the disks, and with parity for reads \
              as well.",
        fix: "check the current cache policy and the battery's state with the vendor's tool",
        tune: None,
        check: Check::Device(writes_through),
    },
];

fn offline(_: &Observed<'_>, _: &Device, scsi: &ScsiFacts) -> Option<Found> {
    let state = scsi.state.as_ref().filter(|s| s.value != "running")?;
    let passing = ["quiesce", "blocked", "created", "created-blocked"];
    let severity = match passing.contains(&state.value.as_str()) {
        true => Severity::Warning,
        false => Severity::Error,
    };
    Some(Found::new(severity, format!("the device is {}", state.value)).fact("state", state))
}

fn growth(
    input: &Observed<'_>,
    device: &Device,
    counter: impl Fn(&Device) -> Option<Fact<u64>>,
) -> Option<(u64, Fact<u64>)> {
    let now = counter(device)?;
    let then = counter(input.before(device)?)?;
    // A smaller number is a device that was found again and counts from the start.
    let grew = now.value.checked_sub(then.value).filter(|n| *n > 0)?;
    Some((grew, now))
}

fn timeouts_grew(input: &Observed<'_>, d: &Device) -> Option<Found> {
    let (grew, now) =
        growth(input, d, |d| d.detail.scsi.as_ref()?.counters.as_ref()?.timeouts.clone())?;
    let title = format!("{grew} commands timed out");
    Some(Found::error(title).seen(format!("{grew} more than before"), now.from))
}

fn errors_grew(input: &Observed<'_>, d: &Device) -> Option<Found> {
    let (grew, now) =
        growth(input, d, |d| Some(d.detail.scsi.as_ref()?.counters.as_ref()?.errors.clone()))?;
    // What the earlier inspection asked came after it had read the counters.
    let provoked = input.before(d)?.detail.health.as_ref().map_or(0, |h| h.provoked);
    let grew = grew.checked_sub(provoked).filter(|n| *n > 0)?;
    let title = format!("{grew} commands failed");
    Some(Found::warning(title).seen(format!("{grew} more than before"), now.from))
}

/// The kernel's own is 30; below this a disk at work is taken for a dead one.
const SHORTEST_S: u64 = 10;

fn short_timeout(_: &Observed<'_>, d: &Device, scsi: &ScsiFacts) -> Option<Found> {
    let timeout = scsi.timeout_s.as_ref().filter(|t| t.value < SHORTEST_S)?;
    Some(
        Found::warning(format!("commands time out after only {} s", timeout.value))
            .fact("timeout in seconds", timeout)
            .remedy(format!("echo 30 | sudo tee /sys/block/{}/device/timeout", d.name)),
    )
}

fn not_trimmed(_: &Observed<'_>, d: &Device, scsi: &ScsiFacts) -> Option<Found> {
    let mode = scsi.provisioning_mode.as_ref()?;
    let off = ["full", "disabled"].contains(&mode.value.as_str());
    let unmap = scsi.max_unmap_blocks.as_ref().filter(|n| n.value > 0)?;
    let flash = solid_state(&d.detail) == Some(true);
    (off && flash && text(&scsi.vendor) != "ATA").then(|| {
        Found::warning("the drive is not trimmed")
            .fact("provisioning mode", mode)
            .seen("the drive offers UNMAP", &unmap.from)
    })
}

fn virtual_drive(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let class = d.detail.raid_controller()?.clone();
    Some(
        Found::info("a RAID controller's virtual drive")
            .seen(format!("class 0x{:06x}: RAID controller", class.value), class.from)
            .facts("driver", d.driver.as_ref()),
    )
}

fn writes_through(_: &Observed<'_>, d: &Device) -> Option<Found> {
    let class = d.detail.raid_controller()?.clone();
    let cache = d.queue.write_cache.as_ref().filter(|c| c.value == "write through")?;
    Some(
        Found::info("the virtual drive reports no write cache")
            .fact("write cache", cache)
            .seen(format!("class 0x{:06x}: RAID controller", class.value), class.from),
    )
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, quiet, sas, sata_ssd, usb};

    fn raid(m: &mut Machine) {
        m.controller().class = fact(0x010400, "class");
        m.controller().driver = fact("megaraid_sas".into(), "driver");
        m.scsi().address = "0:2:0:0".into();
    }

    fn untrimmed(m: &mut Machine) {
        m.scsi().provisioning_mode = fact("full".into(), "provisioning_mode");
        m.scsi().rotation_rpm = fact(1, "vpd_pgb1");
        m.scsi().max_unmap_blocks = fact(4096, "vpd_pgb0");
    }

    fn counters(errors: u64, timeouts: u64) -> impl Fn(&mut Machine) {
        move |m| {
            let counters = m.scsi().counters.as_mut().unwrap();
            counters.errors.value = errors;
            counters.timeouts = fact(timeouts, "iotmo_cnt");
        }
    }

    pub(crate) fn all() -> Vec<Case> {
        let state =
            |word: &'static str| move |m: &mut Machine| m.scsi().state = fact(word.into(), "state");
        vec![
            fires("SW-SCSI-001", sas, state("offline")).error(),
            fires("SW-SCSI-001", sas, state("blocked")).warning(),
            quiet("SW-SCSI-001", sas, |m| m.scsi().state = None),
            fires("SW-SCSI-002", sas, Machine::remember).and(counters(1, 2)).error(),
            quiet("SW-SCSI-002", sas, counters(1, 2)),
            quiet("SW-SCSI-002", sas, counters(1, 9)).and(Machine::remember).and(counters(1, 0)),
            fires("SW-SCSI-003", sas, Machine::remember).and(counters(4, 0)).warning(),
            quiet("SW-SCSI-003", sas, counters(4, 0)).and(Machine::remember),
            quiet("SW-SCSI-003", sas, |m| m.health().provoked = 3)
                .and(Machine::remember)
                .and(counters(4, 0)),
            fires("SW-SCSI-003", sas, |m| m.health().provoked = 2)
                .and(Machine::remember)
                .and(counters(4, 0))
                .warning(),
            fires("SW-SCSI-004", sas, |m| m.scsi().timeout_s = fact(2, "timeout")).warning(),
            quiet("SW-SCSI-004", sas, |m| m.scsi().timeout_s = fact(60, "timeout")),
            fires("SW-SCSI-005", usb, untrimmed).warning(),
            quiet("SW-SCSI-005", usb, untrimmed)
                .and(|m| m.scsi().max_unmap_blocks = fact(0, "vpd_pgb0")),
            quiet("SW-SCSI-005", sata_ssd, untrimmed),
            fires("SW-RAID-001", sas, raid).info(),
            quiet("SW-RAID-001", sas, raid).and(|m| m.scsi().address = "0:0:5:0".into()),
            quiet("SW-RAID-001", sas, |m| m.controller().class = fact(0x010700, "class")),
            fires("SW-RAID-002", sas, raid)
                .and(|m| m.disk().queue.write_cache = fact("write through".into(), "wc"))
                .info(),
            quiet("SW-RAID-002", sas, raid),
        ]
    }
}

//! The drive on an ATA port: its error history, its own settings, its identity.

use crate::look::{flag, solid_state, text};
use crate::words::bytes;
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::facts::{AtaError, AtaErrorClass, AtaFacts, IdentifyData};
use seekwell_inspect::{Device, Fact, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "SW-ATA-001",
        about: "libata's error ring has time-outs or link errors",
        means: "The kernel had to recover this device from commands that went unanswered or were \
                corrupted in transit.",
        known: "/sys/class/ata_device/*/ering keeps the last 32 errors with their times; nothing \
                else shows them. The entry of class unknown that probing leaves is not counted.",
        why: "Each recovery stalls the disk for seconds (30 s until a time-out, up to a minute of \
              resets), and a handful of them makes the kernel switch off queueing and lower the \
              speed for good.",
        fix: "replace the cable and the power connector first, then try another port; if link \
              power management is on, set it to max_performance and see whether the errors stop",
        tune: Some("Set link_power_management_policy to max_performance on trial."),
        check: Check::Ata(ring),
    },
    Rule {
        id: "SW-ATA-002",
        about: "libata's error ring has media errors",
        means: "The drive reported sectors that it could not read.",
        known: "An entry of class MediaError in the error ring; a cable fault is never recorded \
                under it.",
        why: "The data in these sectors is lost unless there is another copy, and a drive that \
              starts to lose sectors usually loses more.",
        fix: "copy what matters now; sudo smartctl -a on the disk (attributes 5, 197, 198), then \
              replace the drive, or rewrite the sector if 197 stays at one",
        tune: None,
        check: Check::Ata(media),
    },
    Rule {
        id: "SW-ATA-003",
        about: "a boot option forces a libata mode",
        means: "libata.force or libata.dma is set on the kernel's command line. It applies at \
                every boot and often outlives its reason.",
        known: "The option is in /proc/cmdline.",
        why: "The parameter limits speed, queueing or DMA of a port whatever is attached to it; a \
              new disk inherits the workaround of the old one.",
        fix: "unless there is a known reason for it, remove the option from GRUB_CMDLINE_LINUX in \
              /etc/default/grub, run sudo update-grub and reboot",
        tune: None,
        check: Check::Host(forced),
    },
    Rule {
        id: "SW-ATA-004",
        about: "the drive is locked by a password",
        means: "The drive's security feature set is enabled and locked: it refuses to read or \
                write until it is given its password.",
        known: "IDENTIFY word 128, bits 1 and 2.",
        why: "Every read ends in an I/O error that looks like a broken disk.",
        fix: "unlock it with sudo hdparm --user-master u --security-unlock PASSWORD on the disk, \
              or in the firmware setup that set the password",
        tune: None,
        check: Check::Drive(locked),
    },
    Rule {
        id: "SW-ATA-005",
        about: "SMART is switched off in the drive",
        means: "The drive supports SMART health monitoring, but it is disabled.",
        known: "IDENTIFY word 82 bit 0 is set and word 85 bit 0 is clear.",
        why: "A failing drive gives no warning.",
        fix: "sudo smartctl -s on on the disk",
        tune: None,
        check: Check::Drive(smart_off),
    },
    Rule {
        id: "SW-ATA-006",
        about: "the drive may spin down or park its heads while idle",
        means: "Advanced power management is on at a level that permits standby.",
        known: "IDENTIFY word 86 bit 3 is set and the level in word 91 is below 128; rotating \
                drives only.",
        why: "The next access after a pause waits for the drive to spin up, seconds instead of \
              milliseconds, and every start wears the drive.",
        fix: "sudo hdparm -B 254 on the disk, and in /etc/hdparm.conf to keep it",
        tune: None,
        check: Check::Drive(parks),
    },
    Rule {
        id: "SW-ATA-007",
        about: "the drive's read look-ahead is off",
        means: "The drive does not read ahead into its own cache.",
        known: "IDENTIFY word 82 bit 6 is set and word 85 bit 6 is clear.",
        why: "Small sequential reads cost a rotation each.",
        fix: "sudo hdparm -A 1 on the disk",
        tune: None,
        check: Check::Drive(no_look_ahead),
    },
    Rule {
        id: "SW-ATA-008",
        about: "the drive supports TRIM, but the kernel does not use it",
        means: "The drive offers TRIM, but the device takes no discards: a bridge, a controller \
                or a quirk stands between.",
        known: "IDENTIFY word 169 bit 0 is set, discard_max_hw_bytes is 0.",
        why: "Without TRIM a solid-state drive keeps copying data that has been deleted; its \
              writes slow down as it fills, and it wears faster.",
        fix: "connect the drive to a SATA port of the board; behind a USB bridge that passes UNMAP \
              through, set provisioning_mode to unmap",
        tune: None,
        check: Check::Drive(no_trim),
    },
    Rule {
        id: "SW-ATA-009",
        about: "IDENTIFY data fails its checksum",
        means: "The drive's identification data is corrupt or was altered in transit.",
        known: "Word 255 claims a checksum and the bytes do not add up to 0.",
        why: "A bridge or link that corrupts 512 bytes of identification corrupts data as well, or \
              the drive's firmware is broken; nothing else in these words can be trusted.",
        fix: "change the cable or the bridge; look for a firmware update of the drive",
        tune: None,
        check: Check::Drive(checksum),
    },
    Rule {
        id: "SW-ATA-010",
        about: "the disk is behind a SATA port multiplier or one port is shared",
        means: "Several disks share one link.",
        known: "The link's name has a part after a dot in libata's numbering.",
        why: "Together they get one link's bandwidth, at most 600 MB/s; and without FIS-based \
              switching only one of them has commands outstanding at a time.",
        fix: "give disks that have to be fast their own port",
        tune: None,
        check: Check::Ata(shared_port),
    },
];

fn errors<'a>(ata: &'a AtaFacts, classes: &[AtaErrorClass]) -> Vec<&'a AtaError> {
    let all = ata.errors.iter().flat_map(|f| &f.value);
    all.filter(|e| classes.contains(&e.class)).collect()
}

fn when(errors: &[&AtaError]) -> String {
    let times: Vec<f64> = errors.iter().filter_map(|e| e.at_s).collect();
    let first = times.iter().copied().fold(f64::INFINITY, f64::min);
    let last = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match times.len() {
        0 => String::new(),
        1 => format!(", {last:.0} s after boot"),
        _ => format!(", {first:.0} s to {last:.0} s after boot"),
    }
}

fn ring(_: &Observed<'_>, _: &Device, ata: &AtaFacts) -> Option<Found> {
    use AtaErrorClass::{Bus, HostBus, HostStateMachine, NoDevice, Timeout};
    let found = errors(ata, &[Bus, HostBus, HostStateMachine, NoDevice, Timeout]);
    let from = &ata.errors.as_ref()?.from;
    if found.is_empty() {
        return None;
    }
    // From the fourth on the kernel takes its measures.
    let severity = if found.len() > 3 { Severity::Error } else { Severity::Warning };
    let timeouts = found.iter().filter(|e| e.class == Timeout).count();
    let seen = format!("{} errors, {timeouts} of them time-outs{}", found.len(), when(&found));
    Some(
        Found::new(severity, "commands were lost on the way to the drive")
            .seen(seen, from)
            .facts("link power management", ata.lpm_policy.as_ref()),
    )
}

fn media(_: &Observed<'_>, _: &Device, ata: &AtaFacts) -> Option<Found> {
    let found = errors(ata, &[AtaErrorClass::Media]);
    let from = &ata.errors.as_ref()?.from;
    let seen = format!("{} media errors{}", found.len(), when(&found));
    let title = "the drive could not read some sectors";
    (!found.is_empty()).then(|| Found::error(title).seen(seen, from))
}

fn forced(input: &Observed<'_>) -> Option<Found> {
    let any = input.devices().into_iter().any(|d| d.detail.ata.is_some());
    let words = ["libata.force=", "libata.dma=", "libata.noacpi=", "libata.ignore_hpa="];
    let word = words.iter().find_map(|w| input.boot_option(w)).filter(|_| any)?;
    Some(Found::info("a boot option forces a libata mode").fact("kernel command line", &word))
}

fn locked(_: &Observed<'_>, _: &Device, id: &Fact<IdentifyData>) -> Option<Found> {
    let security = id.value.security;
    (security.enabled && security.locked).then(|| {
        Found::error("locked by a password")
            .seen("security enabled and locked (word 128)", &id.from)
    })
}

fn smart_off(_: &Observed<'_>, d: &Device, id: &Fact<IdentifyData>) -> Option<Found> {
    (id.value.smart == (true, false)).then(|| {
        Found::info("SMART is switched off")
            .seen("supported (word 82), not enabled (word 85)", &id.from)
            .remedy(format!("sudo smartctl -s on /dev/{}", d.name))
    })
}

fn parks(_: &Observed<'_>, d: &Device, id: &Fact<IdentifyData>) -> Option<Found> {
    let level = id.value.apm_level.filter(|level| *level < 128)?;
    if solid_state(&d.detail) != Some(false) {
        return None;
    }
    Some(
        Found::info("power management may spin the drive down")
            .seen(format!("advanced power management level {level}"), &id.from)
            .remedy(format!("sudo hdparm -B 254 /dev/{}", d.name)),
    )
}

fn no_look_ahead(_: &Observed<'_>, d: &Device, id: &Fact<IdentifyData>) -> Option<Found> {
    (id.value.look_ahead == (true, false)).then(|| {
        Found::warning("the drive's look-ahead is off")
            .seen("look-ahead supported, not enabled (words 82 and 85)", &id.from)
            .remedy(format!("sudo hdparm -A 1 /dev/{}", d.name))
    })
}

fn no_trim(_: &Observed<'_>, d: &Device, id: &Fact<IdentifyData>) -> Option<Found> {
    let most = d.detail.queue.discard_max_hardware_bytes.as_ref()?;
    if !id.value.trim || most.value != 0 || flag(&d.detail.read_only, true) {
        return None;
    }
    let mode = d.detail.scsi.as_ref().and_then(|s| s.provisioning_mode.as_ref());
    Some(
        Found::warning("the drive supports TRIM, but the kernel does not use it")
            .seen("the drive offers TRIM (word 169)", &id.from)
            .seen(format!("largest discard: {}", bytes(most.value)), &most.from)
            .facts("provisioning mode", mode),
    )
}

fn checksum(_: &Observed<'_>, _: &Device, id: &Fact<IdentifyData>) -> Option<Found> {
    (id.value.checksum == Some(false)).then(|| {
        Found::warning("IDENTIFY data is corrupt")
            .seen("the checksum in word 255 is wrong", &id.from)
    })
}

fn shared_port(_: &Observed<'_>, d: &Device, ata: &AtaFacts) -> Option<Found> {
    let speed = ata.link_speed.as_ref()?;
    let folder = speed.from.rsplit('/').nth(1)?;
    let multiplied = folder.starts_with("link") && folder.contains('.');
    multiplied.then(|| {
        Found::info("shares its port with other disks")
            .seen(format!("link {folder} of {}: {}", ata.port, speed.value), &speed.from)
            .facts("driver", d.driver.as_ref().filter(|_| !text(&d.driver).is_empty()))
    })
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fact, fires, quiet, sata_hdd, sata_ssd, usb};
    use seekwell_inspect::facts::{AtaError, AtaErrorClass, Security};

    fn ring(classes: &'static [AtaErrorClass]) -> impl Fn(&mut Machine) {
        move |m| {
            let entry = |class: &AtaErrorClass| AtaError { at_s: Some(61.0), class: *class };
            m.ata().errors = fact(classes.iter().map(entry).collect(), "dev1.0/ering");
        }
    }

    pub(crate) fn all() -> Vec<Case> {
        use AtaErrorClass::{Bus, Device, Media, Timeout, Unknown};
        vec![
            fires("SW-ATA-001", sata_hdd, ring(&[Timeout])).warning(),
            fires("SW-ATA-001", sata_hdd, ring(&[Timeout, Bus, Timeout, Timeout])).error(),
            quiet("SW-ATA-001", sata_hdd, ring(&[Unknown])),
            quiet("SW-ATA-001", sata_hdd, ring(&[Device])),
            fires("SW-ATA-002", sata_hdd, ring(&[Media, Unknown])).error(),
            quiet("SW-ATA-002", sata_hdd, ring(&[Timeout, Unknown])),
            fires("SW-ATA-003", sata_hdd, |m| m.command_line("ro libata.force=1:1.5")).info(),
            quiet("SW-ATA-003", usb, |m| m.command_line("ro libata.force=1:1.5")),
            fires("SW-ATA-004", sata_hdd, |m| {
                m.id().security = Security { enabled: true, locked: true, frozen: false };
            })
            .error(),
            quiet("SW-ATA-004", sata_hdd, |m| {
                m.id().security = Security { enabled: false, locked: false, frozen: true };
            }),
            fires("SW-ATA-005", sata_hdd, |m| m.id().smart = (true, false)).info(),
            quiet("SW-ATA-005", sata_hdd, |m| m.id().smart = (false, false)),
            fires("SW-ATA-006", sata_hdd, |m| m.id().apm_level = Some(127)).info(),
            quiet("SW-ATA-006", sata_ssd, |m| m.id().apm_level = Some(1)),
            fires("SW-ATA-007", sata_hdd, |m| m.id().look_ahead = (true, false)).warning(),
            quiet("SW-ATA-007", sata_hdd, |m| m.id().look_ahead = (false, false)),
            fires("SW-ATA-008", sata_ssd, |m| {
                m.detail().queue.discard_max_hardware_bytes = fact(0, "discard_max_hw_bytes");
            })
            .warning(),
            quiet("SW-ATA-008", sata_ssd, |m| m.detail().queue.discard_max_hardware_bytes = None),
            fires("SW-ATA-009", sata_hdd, |m| m.id().checksum = Some(false)).warning(),
            quiet("SW-ATA-009", sata_hdd, |m| m.id().checksum = None),
            fires("SW-ATA-010", sata_hdd, |m| {
                m.ata().link_speed = fact("3.0 Gbps".into(), "/sys/ata_link/link1.2/sata_spd");
                m.id().link_max = Some("3.0 Gbps".into());
            })
            .info(),
            quiet("SW-ATA-010", sata_hdd, |m| {
                m.ata().link_speed = fact("6.0 Gbps".into(), "/sys/ata_link/link1/sata_spd");
            }),
        ]
    }
}

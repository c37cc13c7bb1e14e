//! What the kernel log says happened to the disk.
//!
//! The log's incidents are put together elsewhere; a rule here gives one kind of them its
//! identifier. The states an incident left behind have rules of their own, because they go on when
//! the incident is over. An incident is taken when it is this target's: by the disk it was tied to,
//! or by a name on this disk's way. Without a device (a log alone) all of them are.

use crate::look::text;
use crate::words::evidence;
use crate::{Check, Found, Observed, Rule};
use seekwell_inspect::log::catalogue::entry;
use seekwell_inspect::log::{DeviceState, Incident, KernelEvent as E, Stamp};
use seekwell_inspect::{Device, Severity};

/// The rules' fixed parts: what they are known by is always the kernel's own line.
macro_rules! rule {
    ($id:literal, $about:literal, $means:literal, $why:literal, $fix:literal, $apply:expr) => {
        Rule {
            id: $id,
            about: $about,
            means: $means,
            known: "The kernel's own log lines, matched to the disk by the device tree or by the \
                    lines from when it was detected; the evidence quotes the first of them.",
            why: $why,
            fix: $fix,
            tune: None,
            check: Check::Facts($apply),
        }
    };
}

pub(super) const RULES: &[Rule] = &[
    rule!(
        "SW-LOG-001",
        "the kernel switched native command queuing off",
        "After too many errors the kernel sends this disk one command at a time. queue_depth still \
         shows the old number.",
        "With tags used, concurrent random reads rose from about 150 to 365 a second on a hard \
         disk and from 8000 to 37000 on a solid-state drive (DragonFly BSD's AHCI driver, 2011).",
        "find the cause of the errors; then detach and rescan the disk or reboot. Writing another \
         queue_depth would switch it on again without the cause being gone",
        |i| states(i, |s| matches!(s, DeviceState::NcqOff).then(|| "queueing is off".into()))
    ),
    rule!(
        "SW-LOG-002",
        "the kernel lowered the speed of the SATA link",
        "After bus errors the kernel keeps the link at a lower speed until the disk is detected \
         again.",
        "1.5 Gbps carry at most 150 MB/s, 3 Gbps 300 and 6 Gbps 600. On one server timed SQLite \
         insertions took 1708 s with a link in this state and in IDE mode, and 795 s after it was \
         set right.",
        "replace the cable or use another port, then detach and rescan the disk or reboot",
        link_limited
    ),
    rule!(
        "SW-LOG-003",
        "the kernel lowered the transfer mode",
        "After errors the kernel uses a slower DMA mode until the disk is detected again.",
        "The ladder is UDMA/133, /100, /66, /33 and, on parallel ATA, PIO.",
        "replace the cable or use another port, then detach and rescan the disk or reboot",
        |i| states(i, |s| match s {
            DeviceState::DmaMode { mode } => Some(format!("the transfer mode is {mode}")),
            _ => None,
        })
    ),
    rule!(
        "SW-LOG-004",
        "the disk runs without DMA",
        "The CPU copies every word itself.",
        "PIO 4 moves at most 16.7 MB/s and takes a processor for it.",
        "find out what switched DMA off: errors before this line, libata.dma or libata.force, or a \
         driver that is not the controller's own",
        |i| states(i, |s| match s {
            DeviceState::Pio { mode } => Some(format!("transfers by {mode}")),
            _ => None,
        })
    ),
    rule!(
        "SW-LOG-005",
        "the disk could not read sectors",
        "The medium has bad sectors.",
        "Their data is lost unless there is another copy, and more sectors usually follow.",
        "copy what matters; look at SMART (pending and reallocated sectors); replace the disk",
        |i| entries(i, MEDIA)
    ),
    rule!(
        "SW-LOG-006",
        "written data was lost",
        "Data that programs had written did not reach the disk and was discarded.",
        "No program is told except those that call fsync afterwards.",
        "find the cause; restore the files from a backup or run the database's own integrity check",
        |i| entries(i, LOST)
    ),
    rule!(
        "SW-LOG-007",
        "the disk dropped out",
        "The kernel gave up on the device, or its controller is gone.",
        "Nothing on it can be reached until it is detected again.",
        "check power and connectors; the lines before it say why. NVMe drives that vanish while \
         idle: nvme_core.default_ps_max_latency_us=0 pcie_aspm=off on the kernel's command line",
        |i| states(i, |s| match s {
            DeviceState::Disabled | DeviceState::Offline =>
                Some("the kernel gave up on the disk".into()),
            DeviceState::ControllerGone => Some("its controller no longer responds".into()),
            _ => None,
        })
    ),
    rule!(
        "SW-LOG-008",
        "a file system stopped",
        "After an error the file system went read-only or shut down.",
        "Nothing can be written, and data that was only in memory is lost.",
        "find the cause, unmount, repair (fsck, xfs_repair) and mount again",
        |i| states(i, |s| match s {
            DeviceState::FilesystemStopped { device } =>
                Some(format!("the file system on {device} stopped")),
            _ => None,
        })
    ),
    rule!(
        "SW-LOG-009",
        "the link to the disk is noisy",
        "Data was corrupted in transit, or the link dropped and came back.",
        "Transfers are retried and stall, and after a few the kernel lowers the speed.",
        "replace the cable or slot; if link power management is on, set it to max_performance and \
         see whether it stops",
        |i| entries(i, NOISE)
    ),
    rule!(
        "SW-LOG-010",
        "commands failed or timed out",
        "The disk did not answer in time or refused commands, and had to be recovered.",
        "Every recovery stalls the disk, for seconds to a minute.",
        "read the incident's lines: a time-out points at power, link power management or firmware, \
         a bus error at the cable",
        |i| entries(i, FAILED)
    ),
    rule!(
        "SW-LOG-011",
        "a bridge limits the PCI Express rate",
        "The kernel compared the device's bandwidth with that of the slots above it.",
        "The drive never exceeds the slowest link on its way.",
        "move the card to another slot; the line names the bottleneck",
        |i| entries(i, &[E::PcieBandwidth])
    ),
    rule!(
        "SW-LOG-012",
        "PCI Express reported errors",
        "A function or port of PCI Express had errors.",
        "Corrected errors cost little but tend to precede worse ones; uncorrected ones are lost \
         commands.",
        "reseat the card, replace riser or cable, force a lower generation in the firmware setup",
        |i| entries(i, &[E::PcieCorrected, E::PcieUncorrected, E::PcieNotReady, E::IommuFault])
    ),
    rule!(
        "SW-LOG-013",
        "interrupts were lost",
        "The device completed commands but the kernel received no interrupt.",
        "Each command then waits for a timeout or a poll, up to 30 seconds.",
        "look at the interrupt's routing: MSI, firmware, IOMMU; in IDE mode switch to AHCI",
        |i| entries(i, &[E::AtaLostInterrupt, E::NvmePolled, E::InterruptDisabled])
    ),
    rule!(
        "SW-LOG-014",
        "the USB connection was reset or is too slow",
        "The bridge hung, lost power, or is on a slower port than it supports.",
        "Every reset stalls outstanding commands for seconds; often the power supply is too weak.",
        "check the power supply and cable first, then the case's firmware, then usb-storage.quirks",
        |i| entries(i, &[E::UsbReset, E::UsbSlow])
    ),
    rule!(
        "SW-LOG-015",
        "the file system does not flush the disk's cache",
        "It was mounted with barriers off.",
        "After a power loss even its journal can be corrupt.",
        "mount it with barrier",
        |i| states(i, |s| match s {
            DeviceState::FlushesOff { device } =>
                Some(format!("{device} is mounted without flushes")),
            _ => None,
        })
    ),
    rule!(
        "SW-LOG-016",
        "an array lost a member",
        "A disk of the array failed or was out of date and could not rejoin.",
        "The next failure may lose everything.",
        "cat /proc/mdstat; replace the disk and sudo mdadm --add it",
        |i| states(i, |s| match s {
            DeviceState::ArrayDegraded { array } => Some(format!("{array} is degraded")),
            _ => None,
        })
    ),
    rule!(
        "SW-LOG-017",
        "tasks hung waiting for the disk",
        "The kernel found tasks blocked for minutes.",
        "Programs hang; the cause is usually a disk in error handling, or too much dirty data \
         before a slow one.",
        "look at the incidents before it and at vm.dirty_bytes",
        |i| entries(i, &[E::TaskBlocked])
    ),
    rule!(
        "SW-LOG-018",
        "the kernel noted something about the disk",
        "A known kernel message that no other finding covers.",
        "The incident's own words say what it means.",
        "the incident's own remedy",
        other
    ),
    rule!(
        "SW-LOG-019",
        "the kernel log does not reach back to the start",
        "Its buffer is full and the oldest lines are gone.",
        "What went wrong before its first line is not known, so the absence of findings from the \
         log does not mean that nothing happened.",
        "journalctl -k -b has the whole log where the journal is persistent; log_buf_len=4M on the \
         kernel's command line keeps more",
        incomplete
    ),
];

const MEDIA: &[E] = &[E::AtaMediaError, E::ScsiMediaError, E::NvmeError];
const LOST: &[E] = &[E::BufferError];
const NOISE: &[E] = &[E::InterfaceCrc, E::LinkNoise, E::LinkLost, E::InterfaceFatal];
const FAILED: &[E] = &[
    E::AtaException,
    E::QueuedCommandFailed,
    E::CommandFailed,
    E::LinkReset,
    E::SlowToRespond,
    E::ResetFailed,
    E::AtaDisabled,
    E::IdentifyTimeout,
    E::ScsiCommandFailed,
    E::ScsiOffline,
    E::IoError,
    E::BlockError,
    E::NvmeTimeout,
    E::NvmeReset,
    E::NvmeDown,
    E::NvmeRemoved,
    E::NvmeNoQueues,
];
/// What other rules say from the device tree: said here of a log alone.
const KNOWN_BY_FACTS: &[E] = &[
    E::ConfiguredForPio,
    E::FortyWireCable,
    E::DmaBlocked,
    E::BridgeLimits,
    E::NcqNotUsed,
    E::ForcedSetting,
    E::RemappedNvme,
    E::ControllerQuirk,
    E::SataAsIde,
    E::WriteProtected,
    E::UasIgnored,
];
/// What has a rule of its own by an entry or by the state it leaves.
const TOLD: &[&[E]] = &[
    MEDIA,
    LOST,
    NOISE,
    FAILED,
    &[
        E::SataSpeedLimited,
        E::TransferModeLowered,
        E::NcqDisabled,
        E::PcieBandwidth,
        E::PcieCorrected,
        E::PcieUncorrected,
        E::PcieNotReady,
        E::IommuFault,
        E::AtaLostInterrupt,
        E::NvmePolled,
        E::InterruptDisabled,
        E::UsbReset,
        E::UsbSlow,
        E::BarriersDisabled,
        E::FilesystemStopped,
        E::ArrayMemberLost,
        E::TaskBlocked,
    ],
];
/// Ordinary at plug-in, whatever the word it is printed with.
const ORDINARY: &[E] = &[
    E::BridgeLimits,
    E::ForcedSetting,
    E::LpmBroken,
    E::WriteCacheReport,
    E::ScsiReset,
    E::NotReady,
    E::HostMemoryBuffer,
];

/// The incidents of this target; all of a log without one.
pub fn incidents<'a>(input: &Observed<'a>) -> Vec<&'a Incident> {
    let Some(log) = input.log else { return Vec::new() };
    let devices = input.devices();
    // A file system without a disk of its own (tmpfs, overlay, NFS) has none of another's errors.
    let alone = input.inspection.filesystem.is_none();
    let mine = |incident: &&Incident| {
        if devices.is_empty() {
            return alone;
        }
        if let Some(disk) = &incident.disk {
            return devices.iter().any(|d| &d.name == disk);
        }
        let Some(subject) = &incident.subject else { return false };
        devices.iter().any(|d| {
            let detail = &d.detail;
            let port = detail.ata.as_ref().map(|a| a.port.as_str());
            let controller = detail.nvme.as_ref().map(|n| n.controller.as_str());
            let usb = detail.usb.as_ref().map(|u| u.device.as_str());
            subject == &d.name
                || port.is_some_and(|p| subject.split('.').next() == Some(p))
                || controller == Some(subject.as_str())
                || usb == Some(subject.strip_prefix("usb ").unwrap_or(subject))
                || detail.pci.iter().any(|f| &f.address == subject)
        })
    };
    log.incidents.iter().filter(mine).collect()
}

fn when(stamp: &Stamp) -> Option<String> {
    Some(format!("{:.1} s after boot", stamp.boot_us? as f64 / 1e6))
}

fn found(input: &Observed<'_>, incident: &Incident, severity: Severity, words: &str) -> Found {
    let source = input.log.map_or("the kernel log", |log| log.source.as_str());
    let mut seen = match incident.count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    if let Some(first) = when(&incident.first) {
        seen += &format!(", first {first}");
    }
    if let Some(last) = when(&incident.last).filter(|_| incident.count > 1) {
        seen += &format!(", last {last}");
    }
    let mut found = Found::new(severity, words);
    found.subjects.extend(incident.disk.as_ref().or(incident.subject.as_ref()).cloned());
    if let Some(line) = incident.samples.first() {
        found = found.seen(line.clone(), source);
    }
    found.seen(seen, format!("{} ({source})", incident.id)).remedy(incident.remedy.clone())
}

/// Whether the device tree shows this state too, so that a rule over facts finds it.
fn shown(device: &Device, state: &DeviceState) -> bool {
    let ata = device.detail.ata.as_ref();
    match state {
        DeviceState::LinkLimited { .. } => ata.is_some_and(|a| a.link_limit.is_some()),
        DeviceState::DmaMode { .. } => {
            ata.and_then(|a| a.speed_downs.as_ref()).is_some_and(|n| n.value > 0)
        }
        DeviceState::Pio { .. } => {
            ata.is_some_and(|a| text(&a.transfer_mode).starts_with("XFER_PIO"))
        }
        DeviceState::ArrayDegraded { .. } => {
            let md = device.detail.md.as_ref();
            md.and_then(|m| m.degraded.as_ref()).is_some_and(|n| n.value > 0)
        }
        _ => false,
    }
}

/// One finding of each incident that left this state. Its remedy is the rule's.
fn states(input: &Observed<'_>, wanted: impl Fn(&DeviceState) -> Option<String>) -> Vec<Found> {
    let devices = input.devices();
    let of = |incident: &&Incident| {
        let on = |d: &&&Device| incident.disk.as_ref().is_none_or(|disk| disk == &d.name);
        let new = |s: &&DeviceState| !devices.iter().filter(on).any(|d| shown(d, s));
        let words = incident.states.iter().filter(new).find_map(&wanted)?;
        let found = found(input, incident, Severity::Error, &words);
        Some(Found { remedy: None, ..found })
    };
    incidents(input).iter().filter_map(of).collect()
}

/// Two devices on one SATA port are how a controller in IDE mode numbers its ports.
fn link_limited(input: &Observed<'_>) -> Vec<Found> {
    let mut found = states(input, |s| match s {
        DeviceState::LinkLimited { speed } => Some(format!("the link is limited to {speed}")),
        _ => None,
    });
    let subjects: Vec<&str> =
        incidents(input).iter().filter_map(|i| i.subject.as_deref()).collect();
    let second = subjects.iter().find_map(|subject| {
        let port = subject.strip_suffix(".01").filter(|port| port.starts_with("ata"))?;
        let first = format!("{port}.00");
        subjects.contains(&first.as_str()).then_some((port, *subject))
    });
    let Some((port, second)) = second.filter(|(port, _)| !has_own_links(input, port)) else {
        return found;
    };
    for one in &mut found {
        one.evidence.push(evidence(
            format!("{port} has two devices, {port}.00 and {second}, as in IDE mode"),
            input.log.map_or("the kernel log", |log| log.source.as_str()),
        ));
        one.remedy = Some(
            "set the SATA mode to AHCI in the firmware setup: two drives on one port are how \
             ata_piix shows a controller in IDE mode, where its ports share registers and a speed \
             limit is seldom the cable's fault; replace the cable if the line comes back"
                .into(),
        );
    }
    found
}

/// Whether the port is AHCI's: two devices there are behind a port multiplier.
fn has_own_links(input: &Observed<'_>, port: &str) -> bool {
    let told = input.log.is_some_and(|log| {
        let ports = log.facts.ports.iter();
        ports.filter(|p| p.name == port).any(|p| p.driver.as_deref() == Some("ahci"))
    });
    told || input.devices().iter().any(|d| text(&d.driver) == "ahci")
}

/// Whether the log says that queueing is off for this disk.
pub(super) fn says_ncq_off(input: &Observed<'_>, disk: &str) -> bool {
    let of = |i: &&Incident| i.disk.as_deref() == Some(disk);
    incidents(input).into_iter().filter(|i| of(i)).any(|i| i.states.contains(&DeviceState::NcqOff))
}

/// One finding of each incident that has one of these entries.
fn entries(input: &Observed<'_>, wanted: &[E]) -> Vec<Found> {
    let of = |incident: &&&Incident| wanted.iter().any(|w| incident.counts.contains_key(w));
    let mine = incidents(input);
    let found_of = |i: &&Incident| {
        // What the leading entry means describes the whole; of another entry its own words do.
        let leading = wanted.contains(&i.id);
        let other = wanted.iter().filter(|_| !leading).find(|w| i.counts.contains_key(w));
        let Some(other) = other.map(|event| entry(*event)) else {
            return found(input, i, i.severity, i.meaning.trim_end_matches('.'));
        };
        found(input, i, i.severity, other.meaning.trim_end_matches('.')).remedy(other.remedy)
    };
    mine.iter().filter(of).map(found_of).collect()
}

fn other(input: &Observed<'_>) -> Vec<Found> {
    // Printed text has no device tree.
    let alone = input.devices().is_empty() || input.inspection.is_from_text();
    let is_told = |id: &E| {
        TOLD.iter().any(|group| group.contains(id)) || (!alone && KNOWN_BY_FACTS.contains(id))
    };
    let mine = incidents(input);
    let rest = mine.iter().filter(|i| !i.counts.keys().any(&is_told));
    rest.map(|i| {
        let severity = if ORDINARY.contains(&i.id) { Severity::Info } else { i.severity };
        found(input, i, severity, i.meaning.trim_end_matches('.'))
    })
    .collect()
}

fn incomplete(input: &Observed<'_>) -> Vec<Found> {
    let since = input.log.and_then(|log| Some((log, log.incomplete_since?)));
    let found = since.map(|(log, since)| {
        let seen = when(&since).map_or_else(
            || format!("{} lines", log.lines),
            |at| format!("its first line is from {at}"),
        );
        Found::info("The kernel log does not reach back to the start").seen(seen, &log.source)
    });
    found.into_iter().collect()
}

#[cfg(test)]
pub(crate) mod cases {
    use crate::testing::machine::{Case, Machine, fires, mirror, nvme, quiet, sata_hdd, usb};
    use seekwell_inspect::log::{LogSource, Stamp, read};

    /// Gives the machine a kernel log of these lines, a second apart.
    fn log(lines: &'static [&'static str]) -> impl Fn(&mut Machine) {
        move |m| {
            let text: Vec<String> =
                (10..).zip(lines).map(|(at, line)| format!("[{at:5}.000000] {line}\n")).collect();
            let text = format!("[    0.000000] Linux version 6.1.0\n{}", text.concat());
            let mut bytes = text.as_bytes();
            m.log = Some(read(LogSource::Stream("a log", &mut bytes), None).unwrap());
        }
    }

    /// A row of lines that fire, and the same lines about another disk that do not.
    fn pair(
        id: &'static str,
        mine: &'static [&'static str],
        other: &'static [&'static str],
    ) -> Vec<Case> {
        vec![fires(id, sata_hdd, log(mine)).error(), quiet(id, sata_hdd, log(other))]
    }

    pub(crate) fn all() -> Vec<Case> {
        let mut all = Vec::new();
        for (id, mine, other) in [
            (
                "SW-LOG-001",
                &["ata1.00: NCQ disabled due to excessive errors"][..],
                &["ata2.00: NCQ disabled due to excessive errors"][..],
            ),
            (
                "SW-LOG-002",
                &["ata1: limiting SATA link speed to 1.5 Gbps"],
                &["ata1: SATA link up 3.0 Gbps (SStatus 123 SControl 300)"],
            ),
            (
                "SW-LOG-003",
                &["ata1.00: limiting speed to UDMA/33:PIO4"],
                &["ata1.00: configured for UDMA/133"],
            ),
            (
                "SW-LOG-004",
                &["ata1.00: limiting speed to PIO4"],
                &["ata2.00: limiting speed to PIO4"],
            ),
            (
                "SW-LOG-005",
                &[
                    "blk_update_request: critical medium error, dev sda, sector 8",
                    "sd 0:0:0:0: [sda] tag#1 Sense Key : Medium Error [current] ",
                ],
                &["sd 1:0:0:0: [sdb] tag#1 Sense Key : Medium Error [current] "],
            ),
            (
                "SW-LOG-006",
                &["Buffer I/O error on dev sda, logical block 5, lost async page write"],
                &["Buffer I/O error on dev sdb, logical block 5, lost async page write"],
            ),
            (
                "SW-LOG-007",
                &[
                    "sd 0:0:0:0: [sda] rejecting I/O to offline device",
                    "sd 0:0:0:0: Device offlined - not ready after error recovery",
                    "ata1.00: disable device",
                ],
                &["ata2.00: disable device"],
            ),
            (
                "SW-LOG-008",
                &["EXT4-fs (sda): Remounting filesystem read-only"],
                &["EXT4-fs (sdb): Remounting filesystem read-only"],
            ),
            (
                "SW-LOG-009",
                &["ata1: SError: { BadCRC Dispar }"],
                &["ata2: SError: { BadCRC Dispar }"],
            ),
            (
                "SW-LOG-010",
                &[
                    "ata1.00: exception Emask 0x0 SAct 0x1 SErr 0x0 action 0x6 frozen",
                    "ata1.00: failed command: READ FPDMA QUEUED",
                ],
                &["ata2.00: exception Emask 0x0 SAct 0x1 SErr 0x0 action 0x6 frozen"],
            ),
            (
                "SW-LOG-013",
                &["ata1: lost interrupt (Status 0x58)"],
                &["ata3: lost interrupt (Status 0x58)"],
            ),
        ] {
            all.extend(pair(id, mine, other));
        }
        all.extend(alone());
        all
    }

    fn alone() -> Vec<Case> {
        vec![
            fires("SW-LOG-011", nvme, log(&[
                "pci 0000:01:00.0: 7.876 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe \
                 x1 link at 0000:00:1b.0 (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)",
            ]))
            .warning(),
            quiet("SW-LOG-011", sata_hdd, log(&[
                "pci 0000:01:00.0: 7.876 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe \
                 x1 link at 0000:00:1b.0 (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)",
            ])),
            fires("SW-LOG-012", nvme, log(&[
                "nvme 0000:01:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), \
                 type=Transaction Layer, (Requester ID)",
            ]))
            .error(),
            quiet("SW-LOG-012", sata_hdd, log(&[
                "nvme 0000:01:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), \
                 type=Transaction Layer, (Requester ID)",
            ])),
            fires("SW-LOG-014", usb, log(&[
                "sd 0:0:0:0: [sda] tag#20 uas_eh_abort_handler 0 uas-tag 1 inflight: CMD IN",
            ]))
            .error(),
            quiet("SW-LOG-014", sata_hdd, log(&[
                "usb 2-1: reset SuperSpeed USB device number 2 using xhci_hcd",
            ])),
            fires("SW-LOG-015", sata_hdd, log(&["EXT4-fs (sda): barriers disabled"])).error(),
            quiet("SW-LOG-015", sata_hdd, log(&["EXT4-fs (sda): mounted filesystem"])),
            fires("SW-LOG-016", mirror, log(&[
                "md/raid1:md0: Disk failure on sdb, disabling device.",
            ]))
            .error(),
            quiet("SW-LOG-016", sata_hdd, log(&[
                "md/raid1:md0: Disk failure on sdb, disabling device.",
            ])),
            fires("SW-LOG-017", sata_hdd, log(&[
                "INFO: task dd:99 blocked for more than 120 seconds.",
            ]))
            .and(|m| m.inspection.device = None)
            .and(|m| m.inspection.filesystem = None)
            .error(),
            quiet("SW-LOG-017", sata_hdd, log(&["INFO: lockdep is turned off."])),
            fires("SW-LOG-018", sata_hdd, log(&[
                "ata1.00: WARNING: device requires firmware update",
            ]))
                .warning(),
            quiet("SW-LOG-018", sata_hdd, log(&["ata1.00: applying bridge limits"])),
            fires("SW-LOG-019", sata_hdd, log(&[])).and(|m| {
                m.log.as_mut().unwrap().incomplete_since =
                    Some(Stamp { boot_us: Some(5_000_000), wall_us: None });
            })
            .info(),
            quiet("SW-LOG-019", sata_hdd, log(&[])),
        ]
    }
}

//! The logs of real kernels: healthy machines give no alarm, faults give exactly what was done to
//! the disk.
#![allow(clippy::print_stderr)]

#[path = "../src/testing.rs"]
mod testing;

use seekwell_inspect::Severity;
use seekwell_inspect::log::{DeviceState, Incident, LogReport, LogSource, MappedBy, Ncq, read};
use seekwell_sys::{Snapshot, View};
use std::path::Path;
use testing::corpus;

fn report(folder: &Path, file: &str, view: Option<&dyn View>) -> LogReport {
    let path = folder.join(file);
    read(LogSource::File(path.clone()), view).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn serious(report: &LogReport) -> Vec<&Incident> {
    report.incidents.iter().filter(|i| i.severity >= Severity::Warning).collect()
}

/// What a fault must come to: the leading entry, the kernel's name, the disk, how often, the
/// times of the first and last line in microseconds, whether data is at risk, what is left.
struct Fault {
    folder: &'static str,
    id: &'static str,
    subject: &'static str,
    disk: Option<&'static str>,
    count: u64,
    first: u64,
    last: u64,
    critical: bool,
    recovered: bool,
    states: Vec<DeviceState>,
}

fn dma(mode: &str) -> DeviceState {
    DeviceState::DmaMode { mode: mode.to_owned() }
}

fn pio(mode: &str) -> DeviceState {
    DeviceState::Pio { mode: mode.to_owned() }
}

fn faults() -> Vec<Fault> {
    let fault = |folder, id, subject, count, (first, last), states: Vec<DeviceState>| Fault {
        folder,
        id,
        subject,
        disk: Some("sda"),
        count,
        first,
        last,
        critical: false,
        recovered: true,
        states,
    };
    let ata = "ata1.00";
    vec![
        // Times and counts are those of the logs; the numbers of errors also those of the error
        // ring and the time-out counters in sysfs-after.txt.
        fault(
            "ahci-readerror",
            "KL-003",
            ata,
            12,
            (8_307_210, 8_770_665),
            vec![DeviceState::NcqOff],
        ),
        fault(
            "ahci-timeout",
            "KL-003",
            ata,
            12,
            (10_628_275, 56_423_218),
            vec![DeviceState::NcqOff, dma("UDMA/33")],
        ),
        fault(
            "ahci-ncqoff",
            "KL-003",
            ata,
            6,
            (10_042_641, 31_981_034),
            vec![DeviceState::NcqOff, dma("UDMA/66")],
        ),
        fault("piix-readerror", "KL-002", ata, 12, (8_171_667, 8_767_633), vec![dma("MWDMA1")]),
        fault("piix-timeout", "KL-002", ata, 12, (9_703_488, 55_669_142), vec![pio("PIO0")]),
        Fault {
            critical: true,
            ..fault(
                "ext4-writeerror",
                "KL-042",
                ata,
                6,
                (7_156_904, 7_411_908),
                vec![DeviceState::NcqOff],
            )
        },
        Fault {
            critical: true,
            recovered: false,
            ..fault("ext4-writeerror", "KL-061", "sda", 1, (7_415_616, 7_415_616), vec![])
        },
        Fault {
            critical: true,
            recovered: false,
            disk: Some("nvme0n1"),
            ..fault("nvme-readerror", "KL-051", "nvme0n1", 2, (7_257_602, 7_264_993), vec![])
        },
        Fault {
            disk: None,
            ..fault("nvme-timeout", "KL-043", "nvme0", 2, (10_725_972, 13_800_547), vec![])
        },
        Fault {
            disk: Some("vda"),
            recovered: false,
            ..fault("virtio-blk-readerror", "KL-040", "vda", 2, (6_430_316, 6_442_753), vec![])
        },
        Fault {
            recovered: false,
            ..fault("usb-bot-timeout", "KL-056", "2-1", 2, (17_480_882, 21_473_408), vec![])
        },
        Fault {
            critical: true,
            recovered: false,
            ..fault("scsi_debug-medium", "KL-041", "sda", 2, (12_363_090, 12_390_620), vec![])
        },
        Fault {
            disk: None,
            ..fault("pcie-aer", "KL-054", "0000:00:01.0", 1, (11_165_312, 11_166_525), vec![])
        },
    ]
}

#[test]
fn every_fault_gives_its_incident_with_count_times_and_state_and_no_other() {
    let Some(root) = corpus() else { return };
    let all = faults();
    for fault in &all {
        let name = fault.folder;
        let report = report(&root.join("fault").join(name), "kmsg.txt", None);
        let found = serious(&report);
        let expected = all.iter().filter(|f| f.folder == name).count();
        assert_eq!(found.len(), expected, "{name}: {found:#?}");
        let incident = found.iter().find(|i| i.id.as_str() == fault.id);
        let incident = incident.unwrap_or_else(|| panic!("{name}: {found:#?}"));
        assert_eq!(incident.subject.as_deref(), Some(fault.subject), "{name}");
        assert_eq!(incident.disk.as_deref(), fault.disk, "{name}");
        assert_eq!(incident.disk.is_none(), incident.mapped_by == MappedBy::Unknown, "{name}");
        assert_eq!(incident.count, fault.count, "{name}: {:?}", incident.counts);
        assert_eq!(incident.first.boot_us, Some(fault.first), "{name}");
        assert_eq!(incident.last.boot_us, Some(fault.last), "{name}");
        assert_eq!(incident.critical, fault.critical, "{name}");
        assert_eq!(incident.recovered.is_some(), fault.recovered, "{name}");
        assert_eq!(incident.states, fault.states, "{name}");
        assert!(!incident.samples.is_empty() && !incident.remedy.is_empty(), "{name}");
    }
}

/// Warnings and errors a healthy fixture is allowed, because it was asked for on its command line
/// or by its device.
fn allowed(folder: &str) -> &'static [&'static str] {
    match folder {
        "ahci-nodma" | "piix-by-ata_generic" => &["KL-018"],
        "ahci-nolpm" => &["KL-025"],
        "noncq" => &["KL-022"],
        "scsi_debug-wp" => &["KL-032"],
        _ => &[],
    }
}

#[test]
fn healthy_machines_give_nothing_of_warning_or_above_but_what_they_were_asked_for() {
    let Some(root) = corpus() else { return };
    let mut seen = 0;
    for entry in std::fs::read_dir(&root).expect("the fixtures list").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        for file in ["kmsg.txt", "dmesg.txt"] {
            if !entry.path().join(file).is_file() {
                continue;
            }
            seen += 1;
            let report = report(&entry.path(), file, None);
            let ids: Vec<&str> = serious(&report).iter().map(|i| i.id.as_str()).collect();
            assert_eq!(ids, allowed(&name), "{name}/{file}");
            assert_eq!(report.boots, 1, "{name}/{file}");
            assert_eq!(report.incomplete_since, None, "{name}/{file}");
        }
    }
    assert!(seen >= 2, "no log was found");
}

#[test]
fn the_text_of_dmesg_says_the_same_as_the_records_of_the_ring_buffer() {
    let Some(root) = corpus() else { return };
    for fault in faults() {
        let folder = root.join("fault").join(fault.folder);
        let (a, b) = (report(&folder, "kmsg.txt", None), report(&folder, "dmesg.txt", None));
        let told = |r: &LogReport| {
            let of = |i: &Incident| (i.id, i.subject.clone(), i.disk.clone(), i.first);
            let more = |i: &Incident| (i.last, i.counts.clone(), i.states.clone(), i.recovered);
            r.incidents.iter().map(|i| (of(i), more(i))).collect::<Vec<_>>()
        };
        assert_eq!(told(&a), told(&b), "{}", fault.folder);
        assert_eq!(a.facts, b.facts, "{}", fault.folder);
    }
}

#[test]
fn the_device_tree_ties_what_the_log_alone_does_not() {
    let Some(root) = corpus() else { return };
    let machine = Snapshot::open(&root.join("nvme")).expect("the fixture loads");
    let view: Option<&dyn View> = Some(&machine);
    let timeout = report(&root.join("fault/nvme-timeout"), "kmsg.txt", view);
    let incident = serious(&timeout)[0];
    assert_eq!(incident.disk.as_deref(), Some("nvme0n1"));
    assert_eq!(incident.mapped_by, MappedBy::Present);
    let aer = report(&root.join("fault/pcie-aer"), "kmsg.txt", view);
    assert_eq!(serious(&aer)[0].disk.as_deref(), Some("nvme0n1"));
    let stick = Snapshot::open(&root.join("usb-uas")).expect("the fixture loads");
    let lines = "usb 2-1: reset SuperSpeed USB device number 2 using xhci_hcd\n\
                 usb 2-2: reset SuperSpeed USB device number 3 using xhci_hcd\n";
    let resets = read(LogSource::Stream("a test", &mut lines.as_bytes()), Some(&stick));
    let resets = resets.expect("read").incidents;
    assert_eq!((resets[0].disk.as_deref(), resets[0].severity), (Some("sda"), Severity::Warning));
    assert_eq!((resets[1].disk.as_deref(), resets[1].severity), (None, Severity::Info));
    let two = Snapshot::open(&root.join("ahci-2disks-hdd+ssd")).expect("the fixture loads");
    let lines = "ata2.00: NCQ disabled due to excessive errors\nata7.00: NCQ disabled due to \
                 excessive errors\n";
    let report =
        read(LogSource::Stream("a test", &mut lines.as_bytes()), Some(&two)).expect("read");
    let disks: Vec<Option<&str>> = report.incidents.iter().map(|i| i.disk.as_deref()).collect();
    assert_eq!(disks, [Some("sdb"), None]);
}

#[test]
fn facts_agree_with_what_the_fixture_is() {
    let Some(root) = corpus() else { return };
    let facts = report(&root.join("ahci-1.5Gbps"), "kmsg.txt", None).facts;
    assert_eq!(facts.kernel.as_deref(), Some("6.1.0-56-amd64"));
    assert_eq!((facts.cpus, facts.virtual_machine.as_deref()), (Some(2), Some("QEMU")));
    let ahci = &facts.ahci[0];
    assert_eq!((ahci.slots, ahci.ports, ahci.speed.as_str()), (32, 6, "1.5 Gbps"));
    assert_eq!((ahci.version.as_str(), ahci.mode.as_str()), ("0001.0000", "SATA"));
    assert_eq!(ahci.flags, ["64bit", "ncq", "only"]);
    assert_eq!(facts.forced.len(), 6);
    let port = facts.ports.iter().find(|p| p.name == "ata1").expect("a port");
    assert_eq!((port.host, port.driver.as_deref()), (Some(0), Some("ahci")));
    let link = port.link.as_ref().expect("a link");
    assert_eq!((link.speed.as_deref(), link.limit()), (Some("1.5 Gbps"), Some(1)));
    let device = &facts.devices[0];
    assert_eq!((device.name.as_str(), device.disk.as_deref()), ("ata1.00", Some("sda")));
    assert_eq!(device.model.as_deref(), Some("QEMU HARDDISK, 2.5+"));
    assert_eq!(device.ncq, Some(Ncq::Depth { host: None, device: 32 }));
    assert_eq!(device.configured.as_deref(), Some("UDMA/100"));
    let noncq = report(&root.join("noncq"), "kmsg.txt", None).facts;
    assert_eq!(noncq.devices[0].ncq, Some(Ncq::NotUsed));
    let nvme = report(&root.join("nvme"), "kmsg.txt", None).facts;
    let queues = &nvme.queues[0];
    assert_eq!((queues.device.as_str(), queues.default, queues.poll), ("nvme0", 2, 0));
    let piix = report(&root.join("piix"), "kmsg.txt", None).facts;
    let port = &piix.ports[0];
    assert_eq!((port.kind.as_deref(), port.irq), (Some("PATA"), Some(14)));
}

//! The rules on saved machines: what was wrong with each is found, and nothing else.
//!
//! The machines are emulated, but the kernel and its drivers are real. They lie beside the
//! repository; without them nothing is tested here and it is said so.
#![allow(clippy::print_stderr)]

#[path = "../../seekwell-inspect/src/testing.rs"]
mod testing;

use seekwell_explain::{Observed, findings};
use seekwell_inspect::log::{LogSource, read};
use seekwell_inspect::{Finding, Inspection, Severity, all_disks, inspect, saved};
use seekwell_sys::Snapshot;
use seekwell_sys::fake::Fake;
use std::path::{Path, PathBuf};
use testing::corpus;

fn open(folder: &Path) -> Snapshot {
    Snapshot::open(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
}

/// Findings of one disk, as `severity id`, worst first.
fn found(snapshot: &Snapshot, disk: &str) -> Vec<Finding> {
    let path = format!("/dev/{disk}");
    let target = all_disks(snapshot).into_iter().find(|t| t.given == path).unwrap();
    let inspection = inspect(snapshot, &target);
    findings(&Observed::new(&inspection))
}

fn short(found: &[Finding]) -> Vec<String> {
    found.iter().map(|f| format!("{:?} {}", f.severity, f.id)).collect()
}

/// fixture|disk|findings. The whole list, information included.
const TABLE: &str = "\
ahci|sda|Info SW-LINK-008
ahci-1.5Gbps|sda|Warning SW-LINK-002,Info SW-ATA-003,Info SW-LINK-008
ahci-2disks-hdd+ssd|sda|Info SW-LINK-008
ahci-2disks-hdd+ssd|sdb|Info SW-LINK-008
ahci-iommu|sda|Info SW-LINK-008
ahci-nodma|sda|Error SW-DMA-001,Warning SW-NCQ-002,Info SW-ATA-003,Info SW-LINK-008
ahci-nolpm|sda|Info SW-ATA-003,Info SW-LINK-008
megaraid|sda|Info SW-RAID-001
noncq|sda|Warning SW-NCQ-001,Info SW-ATA-003,Info SW-LINK-008
nvme|nvme0n1|
nvme-2ctrl|nvme0n1|
nvme-2ctrl|nvme1n1|
pc-piix+ahci|sda|Info SW-LINK-008
pc-piix+ahci|sdb|Warning SW-AHCI-001,Info SW-DMA-003
piix|sda|Warning SW-AHCI-001,Info SW-DMA-003
piix-2disks-cd|sda|Warning SW-AHCI-001,Info SW-DMA-003
piix-2disks-cd|sdb|Warning SW-AHCI-001,Info SW-DMA-003
piix-by-ata_generic|sda|Error SW-DMA-001,Warning SW-AHCI-001,Warning SW-DMA-004
piix-nodma|sda|Error SW-DMA-001,Warning SW-AHCI-001,Info SW-ATA-003
scsi_debug-wp|sda|Error SW-BLK-001
sdcard|mmcblk0|
stack-md-dm-loop|loop0|Info SW-BLK-008,Info SW-LINK-008
stack-md-dm-loop|sda|Info SW-LINK-008
usb-bot|sda|Info SW-USB-004
usb-uas|sda|
virtio-blk|vda|
virtio-scsi|sda|
";

#[test]
fn every_saved_machine_has_the_findings_it_promises_and_no_other() {
    let Some(corpus) = corpus() else { return };
    let mut wrong = Vec::new();
    for line in TABLE.lines() {
        let cells: Vec<&str> = line.split('|').collect();
        let wanted: Vec<&str> = cells[2].split(',').filter(|w| !w.is_empty()).collect();
        let all = found(&open(&corpus.join(cells[0])), cells[1]);
        if short(&all) != wanted {
            wrong.push(format!("{}|{}|{}", cells[0], cells[1], short(&all).join(",")));
        }
    }
    assert!(wrong.is_empty(), "other findings than expected:\n{}", wrong.join("\n"));
}

#[test]
fn every_saved_machine_is_in_the_table() {
    let Some(corpus) = corpus() else { return };
    for entry in std::fs::read_dir(corpus).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let saved = entry.path().join("sysfs.txt").exists();
        let known = TABLE.lines().any(|l| l.split('|').next() == Some(&name));
        assert!(!saved || known, "{name} is not in the table");
    }
}

#[test]
fn the_port_faster_than_the_drive_and_the_idle_counters_do_not_alarm() {
    // A root port of 8 GT/s x4 above a drive of 2.5 GT/s x1 was called a degraded link, and the one
    // error that probing leaves in ioerr_cnt a failing disk.
    let Some(corpus) = corpus() else { return };
    for (fixture, disk) in [("nvme-2ctrl", "nvme1n1"), ("ahci", "sda"), ("virtio-scsi", "sda")] {
        let all = found(&open(&corpus.join(fixture)), disk);
        assert!(all.iter().all(|f| f.severity == Severity::Info), "{fixture}: {all:#?}");
    }
}

/// The saved machine with what the kernel showed after a fault was played on it.
fn after(corpus: &Path, fixture: &str, fault: &str) -> Snapshot {
    let mut listing = std::fs::read_to_string(corpus.join(fixture).join("sysfs.txt")).unwrap();
    let after = std::fs::read_to_string(corpus.join("fault").join(fault).join("sysfs-after.txt"));
    for line in after.unwrap().lines() {
        // There a line end in a value is a bar, and the class's path is used.
        let Some((path, value)) = line.split_once(": ") else { continue };
        let Some(name) = path.strip_prefix("/sys/class/ata_device/") else { continue };
        let value = value.trim_end_matches('|').replace('|', "\\n");
        let end = format!("/ata_device/{name}: ");
        let lines: Vec<String> = listing
            .lines()
            .map(|l| match l.split_once(": ") {
                Some((p, _)) if format!("{p}: ").ends_with(&end) => format!("{p}: {value}"),
                _ => l.to_owned(),
            })
            .collect();
        listing = lines.join("\n");
    }
    let mut snapshot = Snapshot::new();
    snapshot.listing("sysfs.txt", &listing).unwrap();
    snapshot
}

#[test]
fn the_ladder_of_degradation_is_seen_without_the_log() {
    let Some(corpus) = corpus() else { return };
    for (fixture, fault, wanted) in [
        ("ahci", "ahci-timeout", &["SW-ATA-001", "SW-DMA-002", "SW-NCQ-003"][..]),
        ("piix", "piix-timeout", &["SW-ATA-001", "SW-DMA-001", "SW-DMA-002"]),
    ] {
        let all = found(&after(&corpus, fixture, fault), "sda");
        let errors: Vec<_> =
            all.iter().filter(|f| f.severity == Severity::Error).map(|f| f.id.as_str()).collect();
        assert_eq!(errors, wanted, "{fault}: {all:#?}");
    }
}

#[test]
fn facts_agree_with_what_hdparm_and_smartctl_printed() {
    let Some(corpus) = corpus() else { return };
    let snapshot = open(&corpus.join("ahci"));
    let target = all_disks(&snapshot).into_iter().find(|t| t.given == "/dev/sda").unwrap();
    let device = inspect(&snapshot, &target).device.unwrap();
    let printed = std::fs::read_to_string(corpus.join("ahci/tools.txt")).unwrap();
    let id = &device.detail.identify.as_ref().unwrap().value;
    for (fact, words) in [
        (format!("Queue depth: {}", id.ncq_depth), "queue depth"),
        (format!("*udma{}", id.udma.1.unwrap()), "selected mode"),
        (format!("Max = {}\tCurrent = {}", id.multiple.0, id.multiple.1), "multiple"),
        (format!("Logical  Sector size:                   {} bytes", id.logical_bytes), "sector"),
        (format!("Physical Sector size:                  {} bytes", id.physical_bytes), "sector"),
    ] {
        let plain = |t: &str| t.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(plain(&printed).contains(&plain(&fact)), "{words}: {fact}");
    }
    assert_eq!(id.write_cache.1, printed.contains("Write cache is:   Enabled"));
    assert_eq!(id.smart.1, printed.contains("SMART support is: Enabled"));
    assert_eq!(id.trim, printed.contains("TRIM Command:     Available"));
    let ata = device.detail.ata.as_ref().unwrap();
    assert_eq!(ata.ahci.as_ref().unwrap().slots(), Some(32));
    assert_eq!(ata.link_limit, None, "<unknown> is no limit");
    let ring = &ata.errors.as_ref().unwrap().value;
    assert!(ring.len() == 1 && (ring[0].at_s.unwrap() - 3.94).abs() < 0.01, "{ring:?}");
}

#[test]
fn nonsense_in_every_attribute_makes_no_findings_of_its_own() {
    let Some(corpus) = corpus() else { return };
    for (fixture, disk) in [("ahci", "sda"), ("nvme", "nvme0n1"), ("usb-uas", "sda")] {
        let text = std::fs::read_to_string(corpus.join(fixture).join("sysfs.txt")).unwrap();
        let keep = ["dev", "size", "partition", "scsi_level"];
        let mut fake = Fake::of(open(&corpus.join(fixture)));
        for line in text.lines() {
            let Some((path, _)) = line.split_once(": ") else { continue };
            let name = path.rsplit('/').next().unwrap_or("");
            if path.starts_with("/sys/devices/pci") && !keep.contains(&name) {
                fake = fake.garbage(path);
            }
        }
        let target = all_disks(&open(&corpus.join(fixture)))
            .into_iter()
            .find(|t| t.given == format!("/dev/{disk}"))
            .unwrap();
        let inspection = inspect(&fake, &target);
        assert!(inspection.device.is_some(), "{fixture}");
        // Only states that are no word of the kernel may be shown as they are.
        let all = findings(&Observed::new(&inspection));
        let beyond: Vec<_> =
            all.iter().filter(|f| !["SW-NVME-001", "SW-SCSI-001"].contains(&&*f.id)).collect();
        assert!(beyond.is_empty(), "{fixture}: {beyond:#?}");
    }
}

/// What the kernel log of a fault is to lead to, at severity warning or above.
const FAULTS: &str = "\
ahci-readerror|ahci|SW-LOG-001,SW-LOG-010
ahci-timeout|ahci|SW-LOG-001,SW-LOG-003,SW-LOG-010
piix-readerror|piix|SW-LOG-003,SW-LOG-010
piix-timeout|piix|SW-LOG-004,SW-LOG-010,SW-LOG-013
nvme-readerror|nvme|SW-LOG-005,SW-LOG-010
nvme-timeout|nvme|SW-LOG-010
virtio-blk-readerror|virtio-blk|SW-LOG-010
usb-bot-timeout|usb-bot|SW-LOG-014
scsi_debug-medium|scsi_debug-wp|SW-LOG-005,SW-LOG-010
ext4-writeerror|ahci|SW-LOG-001,SW-LOG-006,SW-LOG-010
pcie-aer|nvme|SW-LOG-012
";

/// The identifiers that the log of a folder leads to, on the disk of a saved machine.
fn from_log(corpus: &Path, log: &Path, fixture: &str) -> Vec<Finding> {
    let snapshot = open(&corpus.join(fixture));
    let target = all_disks(&snapshot).into_iter().next().unwrap();
    let inspection = inspect(&snapshot, &target);
    let report = read(LogSource::File(log.to_path_buf()), Some(&snapshot)).unwrap();
    let input = Observed { log: Some(&report), ..Observed::new(&inspection) };
    let all = findings(&input).into_iter();
    all.filter(|f| f.id.starts_with("SW-LOG") && f.severity >= Severity::Warning).collect()
}

#[test]
fn the_log_of_every_played_fault_leads_to_its_findings() {
    let Some(corpus) = corpus() else { return };
    let mut wrong = Vec::new();
    for line in FAULTS.lines() {
        let cells: Vec<&str> = line.split('|').collect();
        let wanted: Vec<&str> = cells[2].split(',').filter(|w| !w.is_empty()).collect();
        let log = corpus.join("fault").join(cells[0]).join("kmsg.txt");
        let all = from_log(&corpus, &log, cells[1]);
        let mut ids: Vec<&str> = all.iter().map(|f| f.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids != wanted {
            wrong.push(format!("{}|{}|{}", cells[0], cells[1], ids.join(",")));
        }
    }
    assert!(wrong.is_empty(), "other findings than expected:\n{}", wrong.join("\n"));
}

#[test]
fn the_log_of_a_healthy_machine_leads_to_no_warning() {
    let Some(corpus) = corpus() else { return };
    let mut wrong = Vec::new();
    for line in TABLE.lines() {
        let fixture = line.split('|').next().unwrap();
        let all = from_log(&corpus, &corpus.join(fixture).join("kmsg.txt"), fixture);
        if !all.is_empty() {
            wrong.push(format!("{fixture}: {all:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is found in a fault's own folder, of which nothing but a log and perhaps the attributes
/// afterwards were kept: folder|disk|findings, information left out. A folder without a disk is
/// judged by its log alone.
const FAULT_FOLDERS: &str = "\
ahci-ncqoff||SW-LOG-001,SW-LOG-003,SW-LOG-010
ahci-readerror|/dev/sda|SW-LOG-001,SW-LOG-010
ahci-timeout|/dev/sda|SW-ATA-001,SW-DMA-002,SW-LOG-001,SW-LOG-010,SW-SCSI-004
ext4-writeerror||SW-LOG-001,SW-LOG-006,SW-LOG-010
nvme-readerror|/dev/nvme0n1|SW-LOG-005,SW-LOG-010
nvme-timeout|/dev/nvme0n1|SW-LOG-010
pcie-aer||SW-LOG-012
piix-readerror|/dev/sda|SW-DMA-002,SW-LOG-010
piix-timeout|/dev/sda|SW-ATA-001,SW-DMA-001,SW-DMA-002,SW-LOG-010,SW-LOG-013,SW-SCSI-004
scsi_debug-medium|/dev/sda|SW-LOG-005,SW-LOG-010
usb-bot-timeout|/dev/sda|SW-LOG-014,SW-SCSI-004
virtio-blk-readerror|/dev/vda|SW-LOG-010
";

fn from_folder(folder: &Path) -> (String, Vec<Finding>) {
    let bundle = saved::open(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let log = saved::log(&bundle);
    let inspection = saved::inspections(&bundle).into_iter().next();
    let disk = inspection.as_ref().map(|i| i.target.clone()).unwrap_or_default();
    let inspection = inspection.unwrap_or_else(Inspection::null);
    let input = Observed { log: log.as_ref(), ..Observed::new(&inspection) };
    let all = findings(&input).into_iter().filter(|f| f.severity >= Severity::Warning);
    (disk, all.collect())
}

#[test]
fn every_fault_s_own_folder_gives_the_findings_it_promises() {
    let Some(corpus) = corpus() else { return };
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(corpus.join("fault")).unwrap().map(|e| e.unwrap().path()).collect();
    folders.sort();
    let mut seen = String::new();
    for folder in folders {
        let (disk, all) = from_folder(&folder);
        let mut ids: Vec<&str> = all.iter().map(|f| f.id.as_str()).collect();
        ids.dedup();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        seen += &format!("{name}|{disk}|{}\n", ids.join(","));
    }
    assert_eq!(seen, FAULT_FOLDERS, "found:\n{seen}");
}

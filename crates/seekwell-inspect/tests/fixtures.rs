//! Saved machines, one per way a disk can be attached, and what is known to be true of each.
//!
//! The machines are emulated, but the kernel and its drivers are real, and the expected values were
//! noted when they were saved. They lie beside the repository; without them nothing is tested here
//! and it is said so.
#![allow(clippy::print_stderr)]

#[path = "../src/testing.rs"]
mod testing;

use seekwell_inspect::{Device, DeviceKind, Fact, Inspection, all_disks, inspect};
use seekwell_sys::Snapshot;
use testing::corpus;

fn machine(name: &str) -> Option<Snapshot> {
    Some(Snapshot::open(&corpus()?.join(name)).unwrap_or_else(|e| panic!("{name}: {e}")))
}

fn inspected(name: &str, disk: &str) -> Option<Inspection> {
    let snapshot = machine(name)?;
    let path = format!("/dev/{disk}");
    let target = all_disks(&snapshot).into_iter().find(|t| t.given == path);
    Some(inspect(&snapshot, &target.unwrap_or_else(|| panic!("{name} has no {disk}"))))
}

fn value<T: Clone>(fact: &Option<Fact<T>>) -> Option<T> {
    fact.as_ref().map(|f| f.value.clone())
}

fn hop<'d>(device: &'d Device, kind: &str) -> Option<&'d str> {
    device.attachment.iter().find(|h| h.kind == kind).map(|h| h.detail.as_str())
}

struct Expected {
    fixture: &'static str,
    disk: &'static str,
    /// The start of the controller's description; empty for none.
    controller: &'static str,
    controller_driver: &'static str,
    transport: &'static str,
    /// 0 for none.
    queue_depth: u64,
    nr_requests: u64,
    scheduler: &'static str,
    max_request_kib: u64,
    rotational: bool,
    write_cache: &'static str,
    /// A part of the description of the link; empty for none.
    link: &'static str,
}

/// fixture|disk|controller|driver|transport|depth|nr_requests|scheduler|max
/// KiB|rotational|cache|link
const TABLE: &str = "\
ahci|sda|SATA controller, AHCI|ahci|sata|32|64|mq-deadline|128|1|write back|SATA at 1.5 Gbps, UDMA/100
ahci-1.5Gbps|sda|SATA controller, AHCI|ahci|sata|32|64|mq-deadline|128|1|write back|limited to 1.5 Gbps
ahci-2disks-hdd+ssd|sda|SATA controller, AHCI|ahci|sata|32|64|mq-deadline|128|1|write back|1.5 Gbps
ahci-2disks-hdd+ssd|sdb|SATA controller, AHCI|ahci|sata|32|64|mq-deadline|128|0|write back|1.5 Gbps
ahci-iommu|sda|SATA controller, AHCI|ahci|sata|32|64|mq-deadline|128|1|write back|1.5 Gbps
ahci-nodma|sda|SATA controller, AHCI|ahci|sata|32|64|mq-deadline|128|1|write back|PIO4, no DMA
ahci-nolpm|sda|SATA controller, AHCI|ahci|sata|32|64|mq-deadline|128|1|write back|UDMA/100
megaraid|sda|RAID controller|megaraid_sas|scsi|256|256|mq-deadline|128|1|write back|
noncq|sda|SATA controller, AHCI|ahci|sata|1|64|mq-deadline|128|1|write back|UDMA/100
nvme|nvme0n1|NVMe controller|nvme|nvme|1023|1023|none|512|0|write back|2.5 GT/s x1 now
nvme-2ctrl|nvme0n1|NVMe controller|nvme|nvme|1023|1023|none|512|0|write back|2.5 GT/s x1 now
nvme-2ctrl|nvme1n1|NVMe controller|nvme|nvme|1023|1023|none|512|0|write back|the port above 8.0 GT/s x4
pc-piix+ahci|sda|SATA controller, AHCI|ahci|sata|32|64|mq-deadline|128|1|write back|UDMA/100
pc-piix+ahci|sdb|IDE interface, compatible mode|ata_piix|pata|1|2|mq-deadline|1280|1|write back|MWDMA2
piix|sda|IDE interface, compatible mode|ata_piix|pata|1|2|mq-deadline|1280|1|write back|parallel ATA, MWDMA2
piix-2disks-cd|sda|IDE interface, compatible mode|ata_piix|pata|1|2|mq-deadline|1280|1|write back|MWDMA2
piix-2disks-cd|sdb|IDE interface, compatible mode|ata_piix|pata|1|2|mq-deadline|1280|1|write back|MWDMA2
piix-by-ata_generic|sda|IDE interface, compatible mode|ata_generic|pata|1|2|mq-deadline|1280|1|write back|PIO0
piix-nodma|sda|IDE interface, compatible mode|ata_piix|pata|1|2|mq-deadline|1280|1|write back|PIO4, no DMA
scsi_debug-wp|sda|simulated adapter|scsi_debug|scsi|192|256|mq-deadline|512|0|write through|
sdcard|mmcblk0|SD host controller|sdhci-pci|mmc|64|128|mq-deadline|512|0|write through|
stack-md-dm-loop|dm-0|||| |128|none|128|1|write back|
stack-md-dm-loop|loop0|||file|128|128|none|1280|0|write back|
stack-md-dm-loop|md0|||| |128|none|128|1|write back|
stack-md-dm-loop|sda|SATA controller, AHCI|ahci|sata|32|64|mq-deadline|128|1|write back|1.5 Gbps
stack-md-dm-loop|sdb|SATA controller, AHCI|ahci|sata|32|64|mq-deadline|128|0|write back|1.5 Gbps
usb-bot|sda|USB controller, xHCI (USB 3)|xhci_hcd|usb|1|2|mq-deadline|1024|1|write back|bulk-only transport
usb-uas|sda|USB controller, xHCI (USB 3)|xhci_hcd|usb|14|28|mq-deadline|512|1|write back|USB Attached SCSI
virtio-blk|vda|virtio block device|virtio-pci|virtio-blk|256|256|none|1280|1|write back|
virtio-scsi|sda|virtio SCSI controller|virtio-pci|virtio-scsi|128|256|none|1280|0|write back|
";

fn table() -> Vec<Expected> {
    let row = |line: &'static str| {
        let cells: Vec<&'static str> = line.split('|').collect();
        let number = |at: usize| cells[at].trim().parse().unwrap_or(0);
        Expected {
            fixture: cells[0],
            disk: cells[1],
            controller: cells[2],
            controller_driver: cells[3],
            transport: cells[4],
            queue_depth: number(5),
            nr_requests: number(6),
            scheduler: cells[7],
            max_request_kib: number(8),
            rotational: cells[9] == "1",
            write_cache: cells[10],
            link: cells[11],
        }
    };
    TABLE.lines().map(row).collect()
}

#[test]
fn every_saved_disk_is_described_as_it_was() {
    for e in table() {
        let Some(inspection) = inspected(e.fixture, e.disk) else { return };
        let name = format!("{} {}", e.fixture, e.disk);
        let device = inspection.device.as_ref().unwrap_or_else(|| panic!("{name}: no device"));
        let queue = &device.queue;
        assert_eq!(value(&queue.queue_depth).unwrap_or(0), e.queue_depth, "{name}");
        assert_eq!(value(&queue.nr_requests), Some(e.nr_requests), "{name}");
        assert_eq!(value(&queue.scheduler).as_deref(), Some(e.scheduler), "{name}");
        assert_eq!(value(&queue.max_request_bytes), Some(e.max_request_kib * 1024), "{name}");
        assert_eq!(value(&queue.rotational), Some(e.rotational), "{name}");
        assert_eq!(value(&queue.write_cache).as_deref(), Some(e.write_cache), "{name}");
        assert_eq!(value(&device.transport).unwrap_or_default(), e.transport, "{name}");
        let controller = hop(device, "controller").unwrap_or_default();
        assert!(controller.starts_with(e.controller), "{name}: {controller}");
        let driver = format!("driver {}", e.controller_driver);
        assert!(e.controller.is_empty() || controller.contains(&driver), "{name}: {controller}");
        let link = hop(device, "link").unwrap_or_default();
        assert!(link.contains(e.link), "{name}: {link}");
        assert!(!e.link.is_empty() || link.is_empty(), "{name}: unexpected link {link}");
        let size = value(&device.size_bytes).unwrap_or(0);
        assert!(size >= 64 << 20, "{name}: {size}");
    }
}

#[test]
fn every_saved_machine_is_in_the_table_with_all_its_disks() {
    let Some(folder) = corpus() else { return };
    let table = table();
    let mut machines = 0;
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if !entry.path().join("sysfs.txt").exists() {
            continue;
        }
        machines += 1;
        let name = entry.file_name().into_string().unwrap();
        for target in all_disks(&machine(&name).unwrap()) {
            let disk = target.given.strip_prefix("/dev/").unwrap();
            let known = table.iter().any(|e| e.fixture == name && e.disk == disk);
            assert!(known, "{name} has a disk {disk} of which nothing is expected");
        }
    }
    assert!(machines >= 22, "only {machines} saved machines were found");
}

#[test]
fn every_fact_names_a_path_that_is_there() {
    for e in table() {
        let Some(inspection) = inspected(e.fixture, e.disk) else { return };
        let snapshot = machine(e.fixture).unwrap();
        let json = serde_json::to_value(&inspection).unwrap();
        let mut paths = Vec::new();
        origins(&json["device"], &mut paths);
        assert!(paths.len() > 10, "{}: {paths:?}", e.fixture);
        for path in paths {
            let there = seekwell_sys::View::exists(&snapshot, std::path::Path::new(&path));
            let machine_wide = path == "/sys/devices/system/cpu";
            assert!(there || machine_wide, "{} {}: {path} is not there", e.fixture, e.disk);
        }
    }
}

fn origins(json: &serde_json::Value, out: &mut Vec<String>) {
    match json {
        serde_json::Value::Object(map) => {
            out.extend(map.get("from").and_then(|f| f.as_str()).map(str::to_owned));
            map.values().for_each(|v| origins(v, out));
        }
        serde_json::Value::Array(all) => all.iter().for_each(|v| origins(v, out)),
        _ => {}
    }
}

#[test]
fn nothing_a_healthy_disk_never_has_is_called_missing() {
    for e in table() {
        let Some(inspection) = inspected(e.fixture, e.disk) else { return };
        // The saved machines lack these two tables of /proc, which every machine has.
        let known = ["/proc/cpuinfo", "/proc/meminfo"];
        // A virtual drive is no disk, and the inspection says why it has no serial number.
        let told = |what: &str| e.fixture == "megaraid" && what == "serial number";
        let missing = inspection.missing.iter();
        let other: Vec<_> =
            missing.filter(|m| !known.contains(&m.from.as_str()) && !told(&m.what)).collect();
        assert!(other.is_empty(), "{} {}: {other:?}", e.fixture, e.disk);
    }
}

#[test]
fn drives_are_known_by_their_own_words() {
    for (fixture, disk, model, serial, wwn) in [
        ("ahci", "sda", "QEMU HARDDISK", "INSP0001", ""),
        ("piix-2disks-cd", "sda", "QEMU HARDDISK", "QM00002", ""),
        ("piix-2disks-cd", "sdb", "QEMU HARDDISK", "QM00001", ""),
        ("nvme-2ctrl", "nvme1n1", "QEMU NVMe Ctrl", "INSPNVME2", "nvme.1b36-"),
        ("virtio-blk", "vda", "", "INSPVBLK", ""),
        ("virtio-scsi", "sda", "QEMU HARDDISK", "INSPVSCSI", ""),
        ("sdcard", "mmcblk0", "QEMU!", "0xdeadbeef", ""),
        ("scsi_debug-wp", "sda", "Linux scsi_debug", "2000", "naa.33333330000007d0"),
        ("megaraid", "sda", "QEMU HARDDISK", "", ""),
    ] {
        let Some(inspection) = inspected(fixture, disk) else { return };
        let device = inspection.device.unwrap();
        assert_eq!(value(&device.model).unwrap_or_default(), model, "{fixture}");
        assert_eq!(value(&device.serial).unwrap_or_default(), serial, "{fixture}");
        let name = value(&device.wwn).unwrap_or_default();
        assert!(name.starts_with(wwn) && name.is_empty() == wwn.is_empty(), "{fixture}: {name}");
    }
}

#[test]
fn a_stack_is_followed_from_the_loop_device_to_both_disks() {
    let Some(inspection) = inspected("stack-md-dm-loop", "loop0") else { return };
    let device = inspection.device.as_ref().unwrap();
    assert_eq!(device.kind, DeviceKind::Loop);
    assert_eq!(value(&device.role).as_deref(), Some("/dev/mapper/lin0"));
    let mapper = &device.below[0];
    assert_eq!((mapper.name.as_str(), mapper.kind), ("dm-0", DeviceKind::DeviceMapper));
    let raid = &mapper.below[0];
    assert_eq!((raid.name.as_str(), raid.kind), ("md0", DeviceKind::Md));
    assert_eq!(value(&raid.role).as_deref(), Some("raid1"));
    let disks: Vec<&str> = inspection.disks().iter().map(|d| d.name.as_str()).collect();
    assert_eq!(disks, ["sda", "sdb"]);
    assert!(inspection.notes.iter().any(|n| n.contains("/dev/mapper/lin0")));
}

#[test]
fn the_way_to_a_disk_is_told_from_the_cpu_outwards() {
    for (fixture, disk, kinds) in [
        ("ahci", "sda", &["cpu", "controller", "port", "link", "device"][..]),
        ("nvme", "nvme0n1", &["cpu", "pci-bridge", "controller", "link", "port", "device"]),
        ("usb-uas", "sda", &["cpu", "controller", "hub", "port", "link", "device"]),
        ("virtio-scsi", "sda", &["cpu", "controller", "port", "port", "device"]),
        ("sdcard", "mmcblk0", &["cpu", "controller", "port", "device"]),
    ] {
        let Some(inspection) = inspected(fixture, disk) else { return };
        let device = inspection.device.unwrap();
        let seen: Vec<&str> = device.attachment.iter().map(|h| h.kind.as_str()).collect();
        assert_eq!(seen, kinds, "{fixture}");
    }
}

#[test]
fn the_driver_that_has_the_disk_is_told_from_the_bus_s() {
    for (fixture, disk, driver, pci) in [
        ("usb-uas", "sda", "uas", "0000:00:01.0"),
        ("usb-bot", "sda", "usb-storage", "0000:00:01.0"),
        ("virtio-blk", "vda", "virtio_blk", "0000:00:01.0"),
        ("virtio-scsi", "sda", "virtio_scsi", "0000:00:01.0"),
        ("sdcard", "mmcblk0", "sdhci-pci", "0000:00:01.0"),
        ("nvme", "nvme0n1", "nvme", "0000:01:00.0"),
        ("piix", "sda", "ata_piix", "0000:00:01.1"),
        ("scsi_debug-wp", "sda", "scsi_debug", ""),
    ] {
        let Some(inspection) = inspected(fixture, disk) else { return };
        let device = inspection.device.unwrap();
        assert_eq!(value(&device.driver).unwrap_or_default(), driver, "{fixture}");
        assert_eq!(value(&device.pci).unwrap_or_default(), pci, "{fixture}");
        assert_eq!(value(&inspection.host.kernel).as_deref(), Some("6.1.0-56-amd64"));
    }
}

#[test]
fn an_emulated_disk_is_noted_as_one_and_a_simulated_one_is_not() {
    for (fixture, disk, noted) in [
        ("virtio-blk", "vda", true),
        ("virtio-scsi", "sda", true),
        ("ahci", "sda", true),
        ("nvme", "nvme0n1", true),
        ("scsi_debug-wp", "sda", false),
    ] {
        let Some(inspection) = inspected(fixture, disk) else { return };
        let note = format!("{disk} is a virtual machine's disk");
        let found = inspection.notes.iter().any(|n| n.starts_with(&note));
        assert_eq!(found, noted, "{fixture}: {:?}", inspection.notes);
    }
}

#[test]
fn a_raid_controller_s_drive_is_called_virtual_and_its_missing_serial_is_explained() {
    let Some(found) = inspected("megaraid", "sda") else { return };
    let disk = found.device.as_ref().unwrap();
    assert_eq!(value(&disk.role).as_deref(), Some("virtual drive of a hardware RAID"));
    assert_eq!(disk.serial, None);
    let why = found.missing.iter().find(|m| m.what == "serial number").unwrap();
    assert!(why.from.ends_with("/vpd_pg80") && why.reason.contains("virtual drive"), "{why:?}");
    let plain = inspected("ahci", "sda").unwrap();
    assert_eq!(plain.device.unwrap().role, None);
}

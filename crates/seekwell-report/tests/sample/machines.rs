//! Inspections made by hand.

use super::HOSTILE_MODEL;
use seekwell_inspect::{
    Device, DeviceKind, Fact, Filesystem, Hop, Host, Inspection, Missing, Queue, TargetKind,
};

fn text(value: &str, from: &str) -> Option<Fact<String>> {
    Some(Fact::new(value.to_owned(), from))
}

fn number(value: u64, from: &str) -> Option<Fact<u64>> {
    Some(Fact::new(value, from))
}

fn hop(kind: &str, name: &str, detail: &str, from: &str) -> Hop {
    Hop { kind: kind.into(), name: name.into(), detail: detail.into(), from: from.into() }
}

fn device(name: &str, kind: DeviceKind, bytes: u64) -> Device {
    let sys = format!("/sys/block/{name}");
    Device { size_bytes: number(bytes, &format!("{sys}/size")), ..Device::new(name, "259:0", kind) }
}

fn host() -> Host {
    Host {
        kernel: text("6.18.2-amd64", "uname(2)"),
        cpu_model: text("AMD Ryzen 7 7700 8-Core Processor", "/proc/cpuinfo"),
        cpus: number(16, "/sys/devices/system/cpu/online"),
        memory_bytes: number(33_500_000_000, "/proc/meminfo"),
        memory_available_bytes: number(21_900_000_000, "/proc/meminfo"),
        virtualization: None,
        container: None,
        ..Host::default()
    }
}

fn filesystem(mount: &str, fstype: &str, source: &str) -> Filesystem {
    let from = "/proc/self/mountinfo";
    Filesystem {
        mount_point: Fact::new(mount.into(), from),
        fstype: Fact::new(fstype.into(), from),
        source: Fact::new(source.into(), from),
        options: Fact::new(vec!["rw".into(), "relatime".into()], from),
        read_only: false,
        size_bytes: number(980_000_000_000, "statfs(2)"),
        available_bytes: number(412_000_000_000, "statfs(2)"),
        inodes_available: number(58_000_000, "statfs(2)"),
        below: None,
        fuse: None,
    }
}

fn inspection(target: &str, filesystem: Filesystem, device: Device) -> Inspection {
    Inspection {
        host: host(),
        filesystem: Some(filesystem),
        device: Some(device),
        ..Inspection::new(target, TargetKind::Directory)
    }
}

/// A partition of an NVMe disk on a PCIe link of half width.
pub fn nvme() -> Inspection {
    let pci = "/sys/bus/pci/devices";
    let mut disk = device("nvme0n1", DeviceKind::Disk, 1_000_204_886_016);
    let sys = "/sys/block/nvme0n1";
    disk.model = text("Example NV-1000 Pro", &format!("{sys}/device/model"));
    disk.serial = text("EX0123456789", &format!("{sys}/device/serial"));
    disk.firmware = text("3B2Q", &format!("{sys}/device/firmware_rev"));
    disk.transport = text("nvme", &format!("{sys}/device/transport"));
    disk.driver = text("nvme", &format!("{pci}/0000:01:00.0/driver"));
    disk.pci = text("0000:01:00.0", &format!("{sys}/device"));
    disk.attachment = vec![
        hop("cpu", "node 0", "16 CPUs near the disk", &format!("{pci}/0000:01:00.0/numa_node")),
        hop(
            "pci-bridge",
            "0000:00:01.1",
            "root port, driver pcieport",
            &format!("{pci}/0000:00:01.1"),
        ),
        hop(
            "link",
            "PCIe",
            "16 GT/s on 2 lanes of 4",
            &format!("{pci}/0000:01:00.0/current_link_width"),
        ),
        hop(
            "controller",
            "0000:01:00.0",
            "NVMe controller, driver nvme",
            &format!("{pci}/0000:01:00.0/class"),
        ),
        hop("device", "nvme0n1", "Example NV-1000 Pro, serial EX0123456789", sys),
    ];
    disk.queue = Queue {
        scheduler: text("none", &format!("{sys}/queue/scheduler")),
        nr_requests: number(1023, &format!("{sys}/queue/nr_requests")),
        read_ahead_bytes: number(131_072, &format!("{sys}/queue/read_ahead_kb")),
        rotational: Some(Fact::new(false, format!("{sys}/queue/rotational"))),
        write_cache: text("write back", &format!("{sys}/queue/write_cache")),
        logical_block_bytes: number(512, &format!("{sys}/queue/logical_block_size")),
        physical_block_bytes: number(512, &format!("{sys}/queue/physical_block_size")),
        hardware_queues: number(16, &format!("{sys}/mq")),
        max_request_bytes: number(131_072, &format!("{sys}/queue/max_sectors_kb")),
        ..Queue::default()
    };
    let mut partition = device("nvme0n1p2", DeviceKind::Partition, 990_000_000_000);
    partition.role = text("partition 2", "/sys/class/block/nvme0n1p2/partition");
    partition.below = vec![disk];
    let mut all =
        inspection("/home/anna", filesystem("/home", "ext4", "/dev/nvme0n1p2"), partition);
    all.missing = vec![Missing {
        what: "temperature and media errors".into(),
        from: "/dev/nvme0".into(),
        reason: "permission denied; sudo seekwell inspect /home/anna reads it".into(),
    }];
    all
}

fn rotating(name: &str, port: &str, model: &str) -> Device {
    let mut disk = device(name, DeviceKind::Disk, 2_000_398_934_016);
    let sys = format!("/sys/block/{name}");
    disk.model = text(model, &format!("{sys}/device/model"));
    disk.transport = text("sata", &format!("{sys}/device"));
    disk.driver = text("ahci", "/sys/bus/pci/devices/0000:00:17.0/driver");
    disk.pci = text("0000:00:17.0", &sys);
    disk.queue.scheduler = text("mq-deadline", &format!("{sys}/queue/scheduler"));
    disk.queue.queue_depth = number(32, &format!("{sys}/device/queue_depth"));
    disk.queue.rotational = Some(Fact::new(true, format!("{sys}/queue/rotational")));
    let controller = "/sys/bus/pci/devices/0000:00:17.0";
    disk.attachment = vec![
        hop("cpu", "node 0", "4 CPUs near the disk", &format!("{controller}/numa_node")),
        hop(
            "controller",
            "0000:00:17.0",
            "SATA controller, driver ahci",
            &format!("{controller}/class"),
        ),
        hop("port", port, "6.0 Gbps of 6.0 Gbps", &format!("/sys/class/ata_link/{port}/sata_spd")),
    ];
    disk
}

/// Two SATA disks, a mirror, LVM, XFS.
pub fn mirror() -> Inspection {
    let mut md = device("md0", DeviceKind::Md, 2_000_000_000_000);
    md.role = text("raid1", "/sys/block/md0/md/level");
    md.below = vec![
        rotating("sda", "ata1", "EXAMPLE HD-2000 A"),
        rotating("sdb", "ata2", "EXAMPLE HD-2000 B"),
    ];
    let mut lvm = device("dm-0", DeviceKind::DeviceMapper, 1_000_000_000_000);
    lvm.role = text("lvm vg0-srv", "/sys/block/dm-0/dm/name");
    lvm.below = vec![md];
    let mut all = inspection("/srv", filesystem("/srv", "xfs", "/dev/mapper/vg0-srv"), lvm);
    all.notes = vec!["The target is a mirror: reads are shared between its members.".into()];
    all
}

/// Names from a disk that means ill.
pub fn hostile() -> Inspection {
    let mut disk = device("sdz", DeviceKind::Disk, 0);
    disk.model = text(HOSTILE_MODEL, "/sys/block/sdz/device/model");
    disk.serial = text("\u{202e}gpj.exe\u{0}", "/sys/block/sdz/device/serial");
    disk.size_bytes = None;
    disk.attachment = vec![hop("hub", "usb <2-1>", &"x".repeat(200), "/sys/bus/usb/devices/2-1")];
    let long = format!("/mnt/{}", "long-name-".repeat(20));
    let mut all = inspection(&long, filesystem(&long, "fuse.<b>", "a|b\u{1b}[0m"), disk);
    all.host = Host::default();
    all.notes = vec!["A note with <script>alert(4)</script>\nand a second line.".into()];
    all.missing = vec![Missing {
        what: "the kernel's name".into(),
        from: "uname(2)\u{1b}[1A".into(),
        reason: "<i>refused</i>".into(),
    }];
    all
}

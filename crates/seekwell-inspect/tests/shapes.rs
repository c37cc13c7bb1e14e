//! Shapes of machines that are not at hand, built by hand: each is a minimal copy of what such a
//! machine's kernel shows.

use seekwell_inspect::facts::{MapperTarget, Usage};
use seekwell_inspect::{
    Device, DeviceKind, Fact, FsSpace, Inspection, Target, TargetKind, all_disks, inspect,
};
use seekwell_sys::DevId;
use seekwell_sys::fake::Fake;
use std::path::PathBuf;

fn value<T: Clone>(fact: &Option<Fact<T>>) -> Option<T> {
    fact.as_ref().map(|f| f.value.clone())
}

/// Adds a block device at `dir` with number and size, reachable by name and number.
fn block(fake: Fake, dir: &str, dev: &str) -> Fake {
    let name = dir.rsplit('/').next().unwrap();
    fake.file(format!("{dir}/dev"), format!("{dev}\n"))
        .file(format!("{dir}/size"), "2048\n")
        .symlink(format!("/sys/dev/block/{dev}"), dir)
        .symlink(format!("/sys/class/block/{name}"), dir)
}

/// A whole disk, which also stands in `/sys/block`.
fn disk(fake: Fake, dir: &str, dev: &str) -> Fake {
    let name = dir.rsplit('/').next().unwrap();
    block(fake, dir, dev).symlink(format!("/sys/block/{name}"), dir)
}

const SDA: &str = "/sys/devices/pci0000:00/0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0/block/sda";

fn sda() -> Fake {
    disk(Fake::new(), SDA, "8:0")
}

fn of(fake: &Fake, name: &str, major: u32, minor: u32) -> Inspection {
    inspect(fake, &Target::block_device(name, DevId { major, minor }))
}

fn file_at(fake: &Fake, path: &str, major: u32, minor: u32) -> Inspection {
    let space = FsSpace { size_bytes: 1000, available_bytes: 500, inodes_available: None };
    let target = Target {
        given: path.to_owned(),
        path: PathBuf::from(path),
        kind: TargetKind::File,
        dev: Some(DevId { major, minor }),
        space: Some(space),
    };
    inspect(fake, &target)
}

fn names(device: &Device) -> Vec<&str> {
    let mut names = vec![device.name.as_str()];
    device.below.iter().for_each(|d| names.extend(self::names(d)));
    names
}

#[test]
fn virtio_over_mmio_needs_no_pci() {
    let dir = "/sys/devices/platform/LNRO0005:01/virtio1/block/vda";
    let fake = disk(Fake::new(), dir, "254:0")
        .symlink("/sys/devices/platform/LNRO0005:01/subsystem", "../../../bus/platform")
        .symlink("/sys/devices/platform/LNRO0005:01/driver", "../../../bus/drivers/virtio-mmio")
        .symlink("/sys/devices/platform/LNRO0005:01/virtio1/driver", "../../bus/virtio_blk");
    let device = of(&fake, "vda", 254, 0).device.unwrap();
    assert_eq!(value(&device.transport).as_deref(), Some("virtio-blk"));
    assert_eq!(value(&device.driver).as_deref(), Some("virtio_blk"));
    assert_eq!(device.pci, None);
    let hops: Vec<_> =
        device.attachment.iter().map(|h| (h.kind.as_str(), h.name.as_str())).collect();
    assert_eq!(
        hops,
        [("cpu", "CPU"), ("controller", "LNRO0005:01"), ("port", "virtio1"), ("device", "vda")]
    );
    assert_eq!(device.attachment[1].detail, "device on no PCI bus, driver virtio-mmio");
}

#[test]
fn an_nvme_multipath_head_has_its_hidden_paths_below_it() {
    let subsystem = "/sys/devices/virtual/nvme-subsystem/nvme-subsys0";
    let head = format!("{subsystem}/nvme0n1");
    let mut fake = disk(Fake::new(), &head, "259:0")
        .symlink(format!("{head}/device"), "../../nvme-subsys0")
        .file(format!("{subsystem}/model"), "TWO PORTS   \n")
        .file(format!("{subsystem}/serial"), "S1\n")
        .file(format!("{subsystem}/firmware_rev"), "F1\n");
    for (number, function) in [(0, "0000:01:00.0"), (1, "0000:02:00.0")] {
        let controller = format!("/sys/devices/pci0000:00/{function}/nvme/nvme{number}");
        let path = format!("{controller}/nvme0c{number}n1");
        fake = fake
            .symlink(format!("{subsystem}/nvme{number}"), &controller)
            .file(format!("{path}/hidden"), "1\n")
            .file(format!("{path}/size"), "2048\n")
            .file(format!("{path}/queue/scheduler"), "[none]\n")
            .symlink(format!("{path}/device"), "..")
            .symlink(format!("/sys/block/nvme0c{number}n1"), &path)
            .file(format!("{controller}/model"), "TWO PORTS\n")
            .file(format!("{controller}/serial"), "S1\n")
            .file(format!("{controller}/firmware_rev"), "F1\n")
            .file(format!("{controller}/transport"), "pcie\n");
    }
    let inspection = of(&fake, "nvme0n1", 259, 0);
    let device = inspection.device.as_ref().unwrap();
    assert_eq!(device.kind, DeviceKind::MultipathHead);
    assert_eq!(value(&device.model).as_deref(), Some("TWO PORTS"));
    let paths: Vec<_> =
        inspection.disks().iter().map(|d| (d.name.clone(), value(&d.pci))).collect();
    assert_eq!(
        paths,
        [
            ("nvme0c0n1".to_owned(), Some("0000:01:00.0".to_owned())),
            ("nvme0c1n1".to_owned(), Some("0000:02:00.0".to_owned())),
        ]
    );
    assert_eq!(value(&inspection.disks()[0].queue.scheduler).as_deref(), Some("none"));
    assert!(inspection.missing.iter().all(|m| m.what != "device number"), "hidden paths have none");
    assert_eq!(all_disks(&fake).len(), 1, "hidden paths are no disks of their own");
}

#[test]
fn a_partition_has_its_disk_s_queue_and_its_own_alignment() {
    let fake = block(sda(), &format!("{SDA}/sda2"), "8:2")
        .file(format!("{SDA}/sda2/partition"), "2\n")
        .file(format!("{SDA}/sda2/alignment_offset"), "3584\n")
        .file(format!("{SDA}/alignment_offset"), "0\n")
        .file(format!("{SDA}/queue/rotational"), "1\n");
    let device = of(&fake, "sda2", 8, 2).device.unwrap();
    assert_eq!(device.kind, DeviceKind::Partition);
    assert_eq!(value(&device.role).as_deref(), Some("2"));
    assert_eq!(value(&device.queue.rotational), Some(true));
    assert_eq!(value(&device.queue.alignment_offset_bytes), Some(3584));
    assert_eq!(value(&device.below[0].queue.alignment_offset_bytes), Some(0));
    assert_eq!(names(&device), ["sda2", "sda"]);
}

#[test]
fn a_volume_on_an_encrypted_partition_is_followed_to_the_disk() {
    let virtual_ = "/sys/devices/virtual/block";
    let mut fake =
        block(sda(), &format!("{SDA}/sda2"), "8:2").file(format!("{SDA}/sda2/partition"), "2\n");
    for (name, dev, uuid, label, below) in [
        ("dm-0", "253:0", "CRYPT-LUKS2-abc-root", "root_crypt", format!("{SDA}/sda2")),
        ("dm-1", "253:1", "LVM-abcdef", "vg-root", format!("{virtual_}/dm-0")),
    ] {
        let dir = format!("{virtual_}/{name}");
        fake = disk(fake, &dir, dev)
            .file(format!("{dir}/dm/uuid"), uuid)
            .file(format!("{dir}/dm/name"), label)
            .symlink(format!("{dir}/slaves/{}", below.rsplit('/').next().unwrap()), &below);
    }
    let device = of(&fake, "dm-1", 253, 1).device.unwrap();
    assert_eq!(names(&device), ["dm-1", "dm-0", "sda2", "sda"]);
    assert_eq!(value(&device.role).as_deref(), Some("lvm"));
    assert_eq!(value(&device.below[0].role).as_deref(), Some("crypt"));
}

#[test]
fn a_loop_device_stands_on_the_disk_its_file_is_on() {
    let dir = "/sys/devices/virtual/block/loop3";
    let mounts = "21 1 8:2 / / rw - ext4 /dev/sda2 rw\n22 21 0:30 / /tmp rw - tmpfs tmpfs rw\n";
    let fake = block(sda(), &format!("{SDA}/sda2"), "8:2")
        .file(format!("{SDA}/sda2/partition"), "2\n")
        .file("/proc/self/mountinfo", mounts);
    let with = |file: &str| {
        let fake = disk(fake.clone(), dir, "7:3").file(format!("{dir}/loop/backing_file"), file);
        of(&fake, "loop3", 7, 3)
    };
    let on_disk = with("/srv/image (deleted)\n");
    assert_eq!(names(on_disk.device.as_ref().unwrap()), ["loop3", "sda2", "sda"]);
    assert_eq!(on_disk.notes, ["loop3 is a loop device over /srv/image (deleted)"]);
    let in_memory = with("/tmp/image\n");
    assert_eq!(names(in_memory.device.as_ref().unwrap()), ["loop3"]);
}

#[test]
fn swap_areas_belong_to_the_disk_that_their_partition_or_file_is_on() {
    let mounts = "21 1 8:2 / / rw - ext4 /dev/sda2 rw\n22 21 0:30 / /tmp rw - tmpfs tmpfs rw\n";
    let swaps = "Filename Type Size Used Priority\n/dev/sda2 partition 9 0 -2\n\
                 /my\\040swap file 9 0 -3\n/tmp/swap file 9 0 -4\n/dev/zram0 partition 9 0 100\n";
    let fake = block(sda(), &format!("{SDA}/sda2"), "8:2")
        .file(format!("{SDA}/sda2/partition"), "2\n")
        .file("/proc/self/mountinfo", mounts)
        .file("/proc/swaps", swaps);
    let device = of(&disk(fake, "/sys/devices/virtual/block/zram0", "253:0"), "sda", 8, 0).device;
    let found: Vec<_> = device.unwrap().detail.swaps.into_iter().map(|area| area.value).collect();
    assert_eq!(found, ["/dev/sda2", "/my swap"]);
}

#[test]
fn file_systems_that_are_no_disk_are_named_in_plain_words() {
    let mounts = "\
21 1 8:2 / / rw - ext4 /dev/sda2 rw
22 21 0:30 / /tmp rw - tmpfs tmpfs rw
23 21 0:31 / /nfs ro - nfs4 server:/export rw,vers=4.2
24 21 0:32 / /smb rw - cifs //server/share rw
25 21 0:33 / /host rw - 9p share rw
26 21 0:34 / /vfs rw - virtiofs share rw
27 21 0:35 / /ssh rw - fuse.sshfs me@there:/ rw
";
    let fake = sda().file("/proc/self/mountinfo", mounts);
    for (path, minor, note) in [
        ("/tmp/x", 30, "tmpfs is memory, not a disk"),
        ("/nfs/x", 31, "NFS, over the network from server:/export"),
        ("/smb/x", 32, "SMB, over the network from //server/share"),
        ("/host/x", 33, "9p, a folder of the host or another machine"),
        ("/vfs/x", 34, "virtiofs, a folder of the host"),
        (
            "/ssh/x",
            35,
            "FUSE: a user-space program serves this file system (fuse.sshfs, me@there:/)",
        ),
    ] {
        let inspection = file_at(&fake, path, 0, minor);
        assert_eq!(inspection.notes, [note]);
        assert_eq!(inspection.device, None);
        let filesystem = inspection.filesystem.unwrap();
        assert_eq!(filesystem.read_only, path == "/nfs/x");
        assert_eq!(value(&filesystem.available_bytes), Some(500));
    }
}

#[test]
fn btrfs_is_on_the_device_it_was_mounted_from_and_says_when_there_are_more() {
    let mounts = "21 1 0:30 /@home /home rw - btrfs /dev/sda rw,subvol=/@home\n";
    let one = sda().file("/proc/self/mountinfo", mounts);
    let inspection = file_at(&one, "/home/x", 0, 44);
    assert_eq!(inspection.device.as_ref().unwrap().name, "sda");
    assert_eq!(value(&inspection.device.unwrap().transport).as_deref(), Some("ata"));
    assert_eq!(inspection.notes, Vec::<String>::new());
    let two = one.dir("/sys/fs/btrfs/uuid/devices/sda").dir("/sys/fs/btrfs/uuid/devices/sdb");
    let notes = file_at(&two, "/home/x", 0, 44).notes;
    assert_eq!(notes, ["this btrfs file system is on several devices: sda, sdb"]);
}

#[test]
fn a_container_s_overlay_leads_to_the_host_s_disk_where_something_tells_it() {
    let overlay = "30 1 0:50 / / rw - overlay overlay rw,lowerdir=/l,\
                   upperdir=/var/lib/docker/overlay2/abc/diff,workdir=/w\n";
    let hosts = "31 30 8:0 /var/lib/docker/containers/abc/hosts /etc/hosts rw - ext4 /dev/sda rw\n";
    let told = sda().file("/proc/self/mountinfo", format!("{overlay}{hosts}"));
    let inspection = file_at(&told, "/app", 0, 50);
    assert_eq!(inspection.device.unwrap().name, "sda");
    assert!(inspection.notes[0].starts_with("overlayfs"), "{:?}", inspection.notes);
    assert!(inspection.notes[1].contains("the container's runtime"), "{:?}", inspection.notes);

    let untold = sda().file("/proc/self/mountinfo", overlay);
    let inspection = file_at(&untold, "/app", 0, 50);
    assert_eq!(inspection.device, None);
    assert!(inspection.missing.iter().any(|m| m.what == "the disk below the overlay"));
}

#[test]
fn what_may_not_be_read_is_listed_with_the_reason() {
    let port = "/sys/devices/pci0000:00/0000:00:17.0/ata3/link3/dev3.0/ata_device/dev3.0";
    let fake = sda()
        .denied(format!("{port}/id"))
        .error(format!("{SDA}/queue/rotational"), std::io::ErrorKind::TimedOut)
        .file(format!("{SDA}/alignment_offset"), "-1\n")
        .file(format!("{SDA}/queue/read_ahead_kb"), u64::MAX.to_string())
        .garbage(format!("{SDA}/queue/logical_block_size"));
    let inspection = of(&fake, "sda", 8, 0);
    let reason = |what: &str| {
        let found = inspection.missing.iter().find(|m| m.what == what);
        found.map(|m| m.reason.clone()).unwrap_or_default()
    };
    assert_eq!(reason("IDENTIFY data"), "permission denied: it needs root");
    assert_eq!(reason("whether it rotates"), "the kernel answered: timed out");
    assert!(reason("alignment").contains("-1"));
    assert!(reason("read-ahead").contains("too large"));
    assert!(reason("logical block size").contains("not an unsigned number"));
    assert_eq!(reason("serial number"), "the device gives none");
    let queue = inspection.device.unwrap().queue;
    assert_eq!((queue.rotational, queue.read_ahead_bytes), (None, None));
}

#[test]
fn a_disk_behind_a_sas_expander_shows_the_way_and_the_rate() {
    let host = "/sys/devices/pci0000:00/0000:03:00.0/host4";
    let expander = format!("{host}/port-4:0/expander-4:0");
    let port = format!("{expander}/port-4:0:3");
    let dir = format!("{port}/end_device-4:0:3/target4:0:3/4:0:3:0/block/sdd");
    let device = format!("{port}/end_device-4:0:3/target4:0:3/4:0:3:0");
    let phy = |at: &str, name: &str| format!("{at}/{name}/sas_phy/{name}/negotiated_linkrate");
    let fake = disk(Fake::new(), &dir, "8:48")
        .symlink(format!("{dir}/device"), "../..")
        .file(format!("{device}/scsi_level"), "7\n")
        .file(format!("{device}/vendor"), "SEAGATE \n")
        .file(format!("{device}/model"), "ST4000NM0023    \n")
        .file(format!("{device}/wwid"), "naa.5000c50012345678\n")
        .symlink("/sys/devices/pci0000:00/0000:03:00.0/driver", "../mpt3sas")
        .file(phy(&format!("{host}/port-4:0"), "phy-4:0"), "12.0 Gbit\n")
        .file(phy(&format!("{host}/port-4:0"), "phy-4:1"), "12.0 Gbit\n")
        .file(phy(&port, "phy-4:0:3"), "6.0 Gbit\n");
    let device = of(&fake, "sdd", 8, 48).device.unwrap();
    assert_eq!(value(&device.transport).as_deref(), Some("sas"));
    assert_eq!(value(&device.driver).as_deref(), Some("mpt3sas"));
    assert_eq!(value(&device.model).as_deref(), Some("SEAGATE ST4000NM0023"));
    assert_eq!(value(&device.wwn).as_deref(), Some("naa.5000c50012345678"));
    let details: Vec<_> = device.attachment.iter().map(|h| h.detail.as_str()).collect();
    assert!(details.contains(&"SAS expander at 12.0 Gbit, 2 lanes"), "{details:?}");
    assert!(details.contains(&"SAS end device at 6.0 Gbit"), "{details:?}");
}

#[test]
fn a_drive_behind_a_port_multiplier_is_told_from_its_neighbours() {
    let port = "/sys/devices/pci0000:00/0000:00:17.0/ata3";
    let dir = format!("{port}/host2/target2:2:0/2:2:0:0/block/sdc");
    let words = |serial: &str| {
        let mut words = vec!["0040".to_owned(); 256];
        words[10] = serial.to_owned();
        (11..20).for_each(|at| words[at] = "2020".to_owned());
        words.join(" ")
    };
    let fake = disk(Fake::new(), &dir, "8:32")
        .file(format!("{port}/link3/dev3.0/ata_device/dev3.0/id"), words("4d4d"))
        .file(format!("{port}/link3.1/dev3.1.0/ata_device/dev3.1.0/id"), words("4141"))
        .file(format!("{port}/link3.2/dev3.2.0/ata_device/dev3.2.0/id"), words("4242"))
        .file(format!("{port}/link3.2/dev3.2.0/ata_device/dev3.2.0/xfer_mode"), "XFER_UDMA_6\n")
        .file(format!("{port}/link3.2/ata_link/link3.2/sata_spd"), "3.0 Gbps\n")
        .file(format!("{port}/link3.2/ata_link/link3.2/sata_spd_limit"), "3.0 Gbps\n");
    let device = of(&fake, "sdc", 8, 32).device.unwrap();
    assert_eq!(value(&device.serial).as_deref(), Some("BB"));
    let link = device.attachment.iter().find(|h| h.kind == "link").unwrap();
    assert_eq!(link.name, "link3.2");
    assert_eq!(link.detail, "SATA at 3.0 Gbps, limited to 3.0 Gbps, UDMA/133");
}

#[test]
fn a_sata_drive_behind_a_sas_controller_gives_its_identify_data() {
    let at =
        "/sys/devices/pci0000:00/0000:03:00.0/host4/port-4:0/end_device-4:0/target4:0:0/4:0:0:0";
    let dir = format!("{at}/block/sde");
    let mut page = vec![0u8; 60 + 512];
    page[1] = 0x89;
    // Serial "XY" in word 10, generation 3 capability in word 76; low byte first.
    page[60 + 20..60 + 22].copy_from_slice(b"YX");
    page[60 + 152..60 + 154].copy_from_slice(&0x850eu16.to_le_bytes());
    let fake = disk(Fake::new(), &dir, "8:64")
        .symlink(format!("{dir}/device"), "../..")
        .file(format!("{at}/scsi_level"), "7\n")
        .file(format!("{at}/vendor"), "ATA     \n")
        .file(format!("{at}/model"), "SAMSUNG MZ7LH960\n")
        .bytes(format!("{at}/vpd_pg89"), page);
    let device = of(&fake, "sde", 8, 64).device.unwrap();
    assert_eq!(value(&device.transport).as_deref(), Some("sata"));
    assert_eq!(value(&device.serial).as_deref(), Some("XY"));
    assert_eq!(value(&device.model).as_deref(), Some("SAMSUNG MZ7LH960"));
}

#[test]
fn the_udev_database_fills_in_what_sysfs_does_not_tell() {
    let dir =
        "/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdf";
    let fake = disk(Fake::new(), dir, "8:80")
        .file("/run/udev/data/b8:80", "E:ID_SERIAL_SHORT=0123456789\nE:ID_MODEL=Stick\n");
    let device = of(&fake, "sdf", 8, 80).device.unwrap();
    assert_eq!(value(&device.transport).as_deref(), Some("usb"));
    assert_eq!(value(&device.serial).as_deref(), Some("0123456789"));
    assert_eq!(device.serial.unwrap().from, "/run/udev/data/b8:80");
    assert_eq!(value(&device.model).as_deref(), Some("Stick"));
}

#[test]
fn zram_and_network_disks_are_named_for_what_they_are() {
    let fake = disk(Fake::new(), "/sys/devices/virtual/block/zram0", "252:0")
        .file("/sys/devices/virtual/block/zram0/comp_algorithm", "lzo [zstd]\n");
    let fake = disk(fake, "/sys/devices/virtual/block/nbd0", "43:0");
    let zram = of(&fake, "zram0", 252, 0);
    assert_eq!(zram.notes, ["zram0 is compressed memory, not a disk"]);
    let device = zram.device.unwrap();
    assert_eq!(value(&device.role).as_deref(), Some("zstd"));
    assert_eq!(value(&device.transport).as_deref(), Some("memory"));
    assert_eq!(of(&fake, "nbd0", 43, 0).notes, ["nbd0 is a disk over the network"]);
}

#[test]
fn a_device_sysfs_does_not_know_is_reported_as_missing() {
    let inspection = of(&Fake::new(), "sdz", 65, 144);
    assert_eq!(inspection.device, None);
    let missing = inspection.missing.iter().find(|m| m.what == "the device").unwrap();
    assert_eq!(missing.from, "/sys/dev/block/65:144");
}

#[test]
fn a_narrowed_pci_express_link_is_shown_beside_what_both_ends_can_do() {
    let port = "/sys/devices/pci0000:00/0000:00:1b.0";
    let function = format!("{port}/0000:02:00.0");
    let dir = format!("{function}/nvme/nvme0/nvme0n1");
    let link = |fake: Fake, at: &str, which: &str, speed: &str, width: &str| {
        fake.file(format!("{at}/{which}_link_speed"), speed)
            .file(format!("{at}/{which}_link_width"), width)
    };
    let fake = disk(Fake::new(), &dir, "259:0").file(format!("{function}/numa_node"), "1\n");
    let fake = fake.file(format!("{function}/local_cpulist"), "16-31\n");
    let fake = link(fake, &function, "current", "8.0 GT/s PCIe\n", "2\n");
    let fake = link(fake, &function, "max", "16.0 GT/s PCIe\n", "4\n");
    let device = of(&link(fake, port, "max", "8.0 GT/s PCIe\n", "4\n"), "nvme0n1", 259, 0).device;
    let hops = device.unwrap().attachment;
    let shown = hops.iter().find(|h| h.kind == "link").unwrap();
    assert_eq!(
        shown.detail,
        "8.0 GT/s x2 now; the device supports 16.0 GT/s x4, the port above 8.0 GT/s x4"
    );
    assert_eq!(shown.from, format!("{function}/current_link_speed"));
    assert_eq!((hops[0].name.as_str(), hops[0].detail.as_str()), ("NUMA node 1", "CPUs 16-31"));
}

#[test]
fn on_a_system_on_chip_the_last_driver_on_the_way_is_the_controller_s() {
    let soc = "/sys/devices/platform/soc";
    let slot = format!("{soc}/fe340000.mmc");
    let card = format!("{slot}/mmc_host/mmc0/mmc0:aaaa");
    let dir = format!("{card}/block/mmcblk0");
    let fake = disk(Fake::new(), &dir, "179:0")
        .symlink(format!("{dir}/device"), "../..")
        .file(format!("{card}/name"), "SC32G\n")
        .file(format!("{card}/serial"), "0x1\n")
        .file(format!("{card}/type"), "SD\n")
        .symlink(format!("{soc}/subsystem"), "../../../bus/platform")
        .symlink(format!("{soc}/driver"), "../../../bus/platform/drivers/simple-pm-bus")
        .symlink(format!("{slot}/subsystem"), "../../../../bus/platform")
        .symlink(format!("{slot}/driver"), "../../../../bus/platform/drivers/sdhci-iproc");
    let device = of(&fake, "mmcblk0", 179, 0).device.unwrap();
    assert_eq!(value(&device.driver).as_deref(), Some("sdhci-iproc"));
    let hops: Vec<_> =
        device.attachment.iter().map(|h| (h.kind.as_str(), h.name.as_str())).collect();
    assert_eq!(
        hops,
        [
            ("cpu", "CPU"),
            ("bus", "soc"),
            ("controller", "fe340000.mmc"),
            ("port", "mmc0"),
            ("device", "mmcblk0"),
        ]
    );
    assert_eq!(device.attachment[3].detail, "memory card slot, SD card");
}

#[test]
fn a_mapped_device_has_what_its_table_and_status_tell() {
    let pool = "/sys/devices/virtual/block/dm-0";
    let page = |what: &str| format!("/dev/mapper/control/page/{what}-253:0");
    let fake = disk(Fake::new(), pool, "253:0").file(format!("{pool}/dm/name"), "vg-pool-tpool");
    let told = fake
        .clone()
        .file(page("table"), "0 65536 thin-pool 254:0 254:16 128 0\n")
        .file(page("status"), "0 65536 thin-pool 1 9/4096 480/512 - rw - - - 1024\n");
    let targets = |fake| of(fake, "dm-0", 253, 0).device.unwrap().detail.mapper.unwrap().targets;
    let [target] = &targets(&told)[..] else { panic!("one target") };
    assert_eq!(target.from, page("status"));
    let MapperTarget::ThinPool(found) = &target.value else { panic!("{target:?}") };
    assert_eq!(found.data, Usage { used_bytes: 480 << 16, bytes: 512 << 16 });
    // Without root it says what is missing; if the device mapper is not asked, nothing.
    let refused = of(&fake.clone().denied(page("table")), "dm-0", 253, 0);
    assert!(refused.missing.iter().any(|m| m.what == "device-mapper table"), "{refused:?}");
    let missing = of(&fake, "dm-0", 253, 0).missing;
    assert!(missing.iter().all(|m| m.what != "device-mapper table"), "{missing:?}");
}

//! Layers between a file and its disks that sysfs does not link to them: ZFS, overlayfs, FUSE,
//! DRBD. Each machine is a minimal copy of what such a machine's kernel shows.

use seekwell_inspect::{Device, DeviceKind, Fact, Inspection, Target, TargetKind, inspect, saved};
use seekwell_sys::fake::Fake;
use seekwell_sys::{DevId, View};
use std::path::{Path, PathBuf};

fn value<T: Clone>(fact: &Option<Fact<T>>) -> Option<T> {
    fact.as_ref().map(|f| f.value.clone())
}

/// A block device at `dir`, and what udev found on it.
fn block(fake: Fake, dir: &str, dev: &str, found: &str) -> Fake {
    let name = dir.rsplit('/').next().unwrap();
    fake.file(format!("{dir}/dev"), format!("{dev}\n"))
        .file(format!("{dir}/size"), "2048\n")
        .symlink(format!("/sys/dev/block/{dev}"), dir)
        .symlink(format!("/sys/class/block/{name}"), dir)
        .file(format!("/run/udev/data/b{dev}"), found)
}

fn partition(fake: Fake, disk: &str, number: u32, dev: &str, found: &str) -> Fake {
    let name = disk.rsplit('/').next().unwrap();
    let dir = format!("{disk}/{name}{number}");
    block(fake, &dir, dev, found).file(format!("{dir}/partition"), format!("{number}\n"))
}

const SDA: &str = "/sys/devices/pci0000:00/0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0/block/sda";
const SDB: &str = "/sys/devices/pci0000:00/0000:00:17.0/ata4/host3/target3:0:0/3:0:0:0/block/sdb";

fn two_disks() -> Fake {
    block(block(Fake::new(), SDA, "8:0", ""), SDB, "8:16", "")
}

/// A path whose `st_dev` is `0:minor`.
fn directory(path: &str, minor: u32) -> Target {
    Target {
        given: path.to_owned(),
        path: PathBuf::from(path),
        kind: TargetKind::Directory,
        dev: Some(DevId { major: 0, minor }),
        space: None,
    }
}

fn at(fake: &Fake, path: &str, minor: u32) -> Inspection {
    inspect(fake, &directory(path, minor))
}

fn names(devices: &[Device]) -> Vec<&str> {
    devices.iter().map(|d| d.name.as_str()).collect()
}

/// A mirror of two partitions, as OpenZFS 2.2 on Debian 13 shows it.
fn mirror() -> Fake {
    let label = "E:ID_FS_LABEL=tank\nE:ID_FS_LABEL_ENC=tank\nE:ID_FS_TYPE=zfs_member\n";
    let fake = partition(two_disks(), SDA, 1, "8:1", label);
    let fake = partition(fake, SDB, 1, "8:17", label);
    let parameters = [
        ("zfs_arc_max", "2147483648"),
        ("zfs_nocacheflush", "0"),
        ("zfs_prefetch_disable", "0"),
        ("zfs_txg_timeout", "5"),
        ("zfs_dirty_data_max", "1677721600"),
        ("zfs_vdev_sync_read_max_active", "10"),
        ("zfs_vdev_sync_write_max_active", "10"),
        ("zfs_vdev_async_read_max_active", "3"),
        ("zfs_vdev_async_write_max_active", "10"),
    ];
    let set = |fake: Fake, (name, value): &(&str, &str)| {
        fake.file(format!("/sys/module/zfs/parameters/{name}"), format!("{value}\n"))
    };
    parameters
        .iter()
        .fold(fake, set)
        .file("/sys/module/zfs/version", "2.2.2-1\n")
        .file("/proc/spl/kstat/zfs/tank/state", "ONLINE\n")
        .file(
            "/proc/spl/kstat/zfs/arcstats",
            "10 1 0x01 147 39984 6245703251 88451043263425\n\
             name                            type data\n\
             hits                            4    900\n\
             misses                          4    100\n\
             demand_data_hits                4    500\n\
             demand_data_misses              4    40\n\
             size                            4    1073741824\n\
             c_max                           4    2147483648\n",
        )
        .file(
            "/proc/self/mountinfo",
            "28 21 0:36 / /tank/home rw,relatime - zfs tank/home rw,xattr,posixacl,casesensitive\n\
             29 21 0:50 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/tank/home/up\n",
        )
}

#[test]
fn a_zfs_pool_stands_on_the_partitions_with_its_label() {
    let found = at(&mirror(), "/tank/home/x", 36);
    let pool = found.device.as_ref().unwrap();
    assert_eq!((pool.name.as_str(), pool.dev.as_str(), pool.kind), ("tank", "", DeviceKind::Pool));
    assert_eq!(names(&pool.below), ["sda1", "sdb1"]);
    assert_eq!(found.disks().iter().map(|d| &d.name).collect::<Vec<_>>(), ["sda", "sdb"]);
    assert!(!found.is_from_text() && found.disk().is_none());
    let zfs = pool.detail.zfs.as_ref().unwrap();
    assert_eq!(value(&zfs.state).as_deref(), Some("ONLINE"));
    assert_eq!(value(&zfs.version).as_deref(), Some("2.2.2-1"));
    assert_eq!(value(&zfs.arc).unwrap().max_bytes, 2 << 30);
    assert_eq!((value(&zfs.arc_max_bytes), value(&zfs.txg_timeout_s)), (Some(2 << 30), Some(5)));
    assert_eq!((value(&zfs.flushes_off), value(&zfs.direct_io)), (Some(false), None));
    assert_eq!((value(&zfs.async_reads_max), value(&zfs.sync_reads_max)), (Some(3), Some(10)));
    let told = found.missing.iter().find(|m| m.what.contains("ashift")).unwrap();
    assert!(told.reason.ends_with("sync tank/home; zpool get ashift tank"), "{told:?}");
}

#[test]
fn a_snapshot_holds_the_pool_and_its_disks() {
    let target = directory("/tank/home/x", 36);
    let (bundle, found) = saved::capture(&mirror(), &[target], &saved::About::default());
    assert_eq!(saved::inspections(&bundle), found);
    assert_eq!(names(&found[0].device.as_ref().unwrap().below), ["sda1", "sdb1"]);
    let limit = Path::new("/sys/module/zfs/parameters/zfs_arc_max");
    assert_eq!(bundle.snapshot.number(limit), Ok(2 << 30));
}

#[test]
fn a_zfs_pool_of_which_no_disk_is_known_is_shown_all_the_same() {
    let fake = Fake::new().file("/proc/self/mountinfo", "28 21 0:36 / /tank rw - zfs tank rw\n");
    let found = at(&fake, "/tank/x", 36);
    assert_eq!(names(&found.device.unwrap().below), Vec::<&str>::new());
    for what in ["the disks of the ZFS pool tank", "state of the ZFS pool", "the ARC"] {
        assert!(found.missing.iter().any(|m| m.what == what), "{what}: {:?}", found.missing);
    }
}

#[test]
fn an_overlay_on_zfs_leads_to_the_pool_and_names_the_file_system_below() {
    let found = at(&mirror(), "/merged/x", 50);
    assert_eq!(names(&found.device.unwrap().below), ["sda1", "sdb1"]);
    let filesystem = found.filesystem.unwrap();
    assert_eq!(filesystem.fstype.value, "overlay");
    let below = filesystem.below.unwrap();
    assert_eq!((below.fstype.value.as_str(), below.source.value.as_str()), ("zfs", "tank/home"));
}

#[test]
fn fuse_says_how_much_it_hands_to_the_process_at_once() {
    let connection = "/sys/fs/fuse/connections";
    let fake = two_disks()
        .file(format!("{connection}/35/max_background"), "12\n")
        .file(format!("{connection}/35/congestion_threshold"), "9\n")
        .denied(format!("{connection}/8388608/max_background"))
        .file(
            "/proc/self/mountinfo",
            "27 21 0:35 / /ssh rw - fuse.sshfs me@there:/ rw\n\
             28 21 8:0 / /ntfs rw - fuseblk /dev/sda rw\n\
             29 21 0:36 / /tmp rw - tmpfs tmpfs rw\n",
        );
    let fuse = |path: &str, minor: u32| at(&fake, path, minor).filesystem.unwrap().fuse;
    let sshfs = fuse("/ssh", 35).unwrap();
    assert_eq!(value(&sshfs.max_background), Some(12));
    assert_eq!(value(&sshfs.congestion_threshold), Some(9));
    assert_eq!(fuse("/tmp", 36), None);
    let ntfs = at(&fake, "/ntfs", 99);
    assert!(ntfs.filesystem.unwrap().fuse.is_some());
    assert!(ntfs.missing.iter().any(|m| m.reason.contains("root")), "{:?}", ntfs.missing);
}

#[test]
fn a_mirror_over_the_network_stands_on_its_disk_here() {
    let dir = "/sys/devices/virtual/block/drbd0";
    let table = "version: 8.4.11 (api:1/proto:86-101)\n \
                 0: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----\n    \
                 ns:0 nr:0 dw:0 dr:0 al:0 bm:0 lo:0 pe:0 ua:0 ap:0 ep:1 wo:f oos:0\n";
    let fake = block(two_disks(), dir, "147:0", "").symlink(format!("{dir}/slaves/sdb"), SDB);
    let target = Target::block_device("drbd0", DevId { major: 147, minor: 0 });
    let found = inspect(&fake.file("/proc/drbd", table), &target);
    let drbd = found.device.as_ref().unwrap();
    assert_eq!((drbd.kind, names(&drbd.below)), (DeviceKind::Network, vec!["sdb"]));
    assert_eq!(value(&drbd.detail.drbd).unwrap().protocol, "C");
    assert_eq!(found.notes, ["drbd0 is mirrored over the network"]);
}

#[test]
fn nbd_has_the_name_its_client_gave_the_server() {
    let dir = "/sys/devices/virtual/block/nbd0";
    let fake = block(Fake::new(), dir, "43:0", "").file(format!("{dir}/backend"), "store/7\n");
    let found = inspect(&fake, &Target::block_device("nbd0", DevId { major: 43, minor: 0 }));
    assert_eq!(value(&found.device.unwrap().role).as_deref(), Some("store/7"));
}

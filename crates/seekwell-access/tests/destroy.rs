//! What may be destroyed, how it must be named, and what is on it. On real loop devices.

mod common;

use common::{
    Loop, MIB, Overlay, Undo, alone, destroy, opened, opened_although, patiently, run, skip,
};
use seekwell_access::{Consent, Fingerprint, Order, Refusal, Signature, open_for_destruction};
use seekwell_sys::Live;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

fn refusal(path: &Path, serial: &str) -> Refusal {
    destroy(&Live::system(), path, serial).map(drop).unwrap_err()
}

/// A page that starts at a multiple of its size, as direct requests need.
#[repr(align(4096))]
struct Page([u8; 4096]);

#[test]
fn an_empty_device_named_by_its_backing_file_opens_and_is_written() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let link = disk.dir.path().join("link");
    symlink(&*disk.node, &link).unwrap();
    let device = opened(&Live::system(), &link, disk.serial());
    assert_eq!(device.size_bytes(), 16 * MIB);
    assert_eq!(device.logical_block_bytes(), 512);
    assert_eq!(device.name(), disk.name());
    assert!(device.direct());
    let page = Page([0xa5; 4096]);
    assert_eq!(rustix::io::pwrite(&device, &page.0, MIB).unwrap(), 4096);
    rustix::fs::fsync(&device).unwrap();
    let content = disk.content();
    assert!(content[MIB as usize..][..4096].iter().all(|b| *b == 0xa5));
}

#[test]
fn a_wrong_serial_is_refused_without_telling_the_right_one() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    for wrong in ["", "WD-123", "yes", "/etc/passwd", disk.node.to_str().unwrap(), disk.name()] {
        let found = refusal(&disk.node, wrong);
        let text = found.to_string();
        assert!(matches!(found, Refusal::WrongSerial { .. }), "{wrong:?}: {text}");
        assert!(!text.contains(disk.serial()), "{text}");
        assert!(text.contains(&format!("seekwell inspect {}", disk.node.display())), "{text}");
        assert!(text.contains("backing file"), "{text}");
    }
}

#[test]
fn things_that_are_not_block_devices_are_refused_each_for_its_own_reason() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("data.db");
    fs::write(&file, "precious").unwrap();
    let found = refusal(&file, "x");
    assert!(matches!(found, Refusal::RegularFile { .. }), "{found}");
    assert_eq!(fs::read(&file).unwrap(), b"precious");
    let found = refusal(dir.path(), "x");
    assert!(matches!(found, Refusal::NotBlockDevice { kind: "directory", .. }), "{found}");
    let found = refusal(Path::new("/dev/null"), "x");
    assert!(matches!(found, Refusal::NotBlockDevice { kind: "character device", .. }), "{found}");
}

#[test]
fn a_mistyped_device_is_an_error_and_never_a_new_file() {
    let _alone = alone();
    // fio creates /dev/loopzz as a regular file in memory and reports how fast it is.
    let path = Path::new("/dev/seekwell-no-such-disk");
    let found = refusal(path, "x");
    assert!(matches!(found, Refusal::Missing { .. }), "{found}");
    assert!(!path.exists());
}

#[test]
fn a_read_only_device_is_refused_with_the_command_that_changes_it() {
    let _alone = alone();
    let Some(disk) = Loop::with(16 * MIB, &["--read-only"]) else { return };
    let found = refusal(&disk.node, disk.serial());
    assert!(matches!(found, Refusal::ReadOnlyDevice { .. }), "{found}");
    assert!(found.to_string().contains("blockdev --setrw"), "{found}");
}

#[test]
fn a_disk_without_any_serial_is_refused() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let number = fs::read_to_string(format!("/sys/block/{}/dev", disk.name())).unwrap();
    let view = Overlay::new()
        .link(&format!("/sys/dev/block/{}", number.trim()), "../../devices/x/vdz")
        .file("/sys/devices/x/vdz/dev", number.trim())
        .file("/sys/devices/x/vdz/ro", "0");
    let found = destroy(&view, &disk.node, "").map(drop).unwrap_err();
    assert!(matches!(found, Refusal::NoSerial { .. }), "{found}");
}

/// The device is refused for a signature with one of these names, and nothing of it is changed.
fn refused_for(disk: &Loop, names: &[&str], what: &str) -> Vec<Signature> {
    let before = disk.content();
    let refused = refusal(&disk.node, disk.serial());
    let text = refused.to_string();
    let Refusal::Signature { found, .. } = refused else { panic!("{what}: {text}") };
    assert!(found.iter().any(|s| names.contains(&s.name)), "{what}: {text}");
    assert!(text.contains(disk.node.to_str().unwrap()), "{what}: {text}");
    assert!(disk.content() == before, "{what}: something was written");
    found
}

/// What is unknown on a device that is refused for that.
fn unknown(disk: &Loop) -> Option<Fingerprint> {
    match destroy(&Live::system(), &disk.node, disk.serial()) {
        Ok(_) => None,
        Err(Refusal::UnknownData { seen, .. }) => Some(seen.fingerprint),
        Err(refused) => panic!("{refused}"),
    }
}

#[test]
fn whatever_a_tool_made_is_refused_until_the_command_that_is_named_has_cleared_it() {
    let _alone = alone();
    // A second superblock of f2fs stood in the table and was not cleared by wipefs, so that the
    // refusal named the same command forever.
    let makers: &[(u64, &str, &str, &[&str])] = &[
        (16, "ext", "mkfs.ext4", &["-q", "-F"]),
        (16, "ext", "mkfs.ext2", &["-q", "-F", "-b", "1024"]),
        (16, "jbd", "mke2fs", &["-q", "-F", "-O", "journal_dev"]),
        (320, "xfs", "mkfs.xfs", &["-q", "-f"]),
        (128, "btrfs", "mkfs.btrfs", &["-q", "-f"]),
        (16, "vfat", "mkfs.vfat", &[]),
        (48, "vfat", "mkfs.vfat", &["-F", "32"]),
        (16, "exfat", "mkfs.exfat", &[]),
        (16, "ntfs", "mkfs.ntfs", &["-Q", "-F"]),
        (64, "f2fs", "mkfs.f2fs", &["-q", "-f"]),
        (160, "nilfs2", "mkfs.nilfs2", &["-q", "-f"]),
        (32, "jfs", "mkfs.jfs", &["-q"]),
        (64, "reiserfs", "mkfs.reiserfs", &["-q", "-f"]),
        (16, "udf", "mkfs.udf", &[]),
        (16, "minix", "mkfs.minix", &["-1"]),
        (16, "minix", "mkfs.minix", &["-2"]),
        (16, "minix", "mkfs.minix", &["-3"]),
        (16, "bfs", "mkfs.bfs", &[]),
        (16, "swap", "mkswap", &[]),
        (16, "LVM2_member", "pvcreate", &["-ff", "--yes", "--config", "devices{scan=\"/dev\"}"]),
        (
            32,
            "crypto_LUKS",
            "cryptsetup",
            &["luksFormat", "--batch-mode", "--key-file=/etc/hostname"],
        ),
    ];
    let mut tried = 0;
    for (mib, name, program, args) in makers {
        let Some(disk) = Loop::new(mib * MIB) else { return };
        if let Err(why) = disk.mkfs(program, args) {
            skip(format!("{name}: {why}"));
            continue;
        }
        tried += 1;
        clear(refused_for(&disk, &[name], program), &disk);
        if let Some(fingerprint) = unknown(&disk) {
            opened_although(&Live::system(), &disk.node, disk.serial(), &[fingerprint]);
        }
        opened(&Live::system(), &disk.node, disk.serial());
    }
    assert!(tried >= 1, "no mkfs at all was there");
}

/// Runs the commands that a refusal names.
fn clear(found: Vec<Signature>, disk: &Loop) {
    let mut commands: Vec<String> =
        found.iter().map(|s| s.clear_command(disk.node.to_str().unwrap())).collect();
    commands.dedup();
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        run(words[0], &words[1..]).unwrap();
    }
}

#[test]
fn an_external_log_of_xfs_is_refused_wherever_its_head_is() {
    let _alone = alone();
    // The signature has no fixed place, and was not looked for: exit 0, and a file system without
    // its log.
    let (Some(data), Some(log)) = (Loop::new(320 * MIB), Loop::new(64 * MIB)) else { return };
    let logdev = format!("logdev={}", log.node.display());
    if let Err(why) = data.mkfs("mkfs.xfs", &["-q", "-f", "-l", &logdev]) {
        return skip(why);
    }
    clear(refused_for(&log, &["xfs_external_log"], "mkfs.xfs"), &log);
    unknown(&log);
}

#[test]
fn a_partition_table_is_refused_until_wipefs_has_removed_it() {
    let _alone = alone();
    let Some(disk) = Loop::new(32 * MIB) else { return };
    for (label, name) in [("gpt", "gpt"), ("dos", "dos"), ("sun", "sun"), ("sgi", "sgi")] {
        let node = disk.node.to_str().unwrap();
        let script = format!("echo 'label: {label}' | sfdisk --quiet {node}");
        if let Err(why) = run("sh", &["-c", &script]) {
            skip(format!("{label}: {why}"));
            continue;
        }
        clear(refused_for(&disk, &[name], label), &disk);
        if let Some(fingerprint) = unknown(&disk) {
            opened_although(&Live::system(), &disk.node, disk.serial(), &[fingerprint]);
        }
    }
}

/// A header in which one thing stands at one place.
type Header<'a> = (&'a str, &'a [(i64, &'a [u8])]);

#[test]
fn whatever_blkid_names_is_refused() {
    let _alone = alone();
    let headers: &[Header<'_>] = &[
        ("a damaged ext", &[(0x418, b"\xff\xff\xff\xff"), (0x438, b"\x53\xef")]),
        ("bfs", &[(0, b"\xce\xfa\xad\x1b")]),
        ("romfs", &[(0, b"-rom1fs-")]),
        ("ubi", &[(0, b"UBI#")]),
        ("ubifs", &[(0, b"\x31\x18\x10\x06")]),
        ("squashfs 4", &[(0, b"hsqs"), (28, b"\x04\0")]),
        ("squashfs 3", &[(0, b"hsqs"), (28, b"\x03\0")]),
        ("squashfs 3, big-endian", &[(0, b"sqsh"), (28, b"\0\x03")]),
        ("nss", &[(4096, b"SPB5")]),
        ("mpool", &[(0, b"mpoolDev")]),
        ("ocfs", &[(8192, b"OracleCFS")]),
        ("vxfs", &[(1024, b"\xf5\xfc\x01\xa5")]),
        ("hpfs", &[(8192, b"\x49\xe8\x95\xf9"), (8704, b"\x49\x18\x91\xf9")]),
        ("sysv", &[(0x3ff8, b"\xfd\x18\x7e\x20")]),
        ("xenix", &[(0x800, b"\x2b\x55\x44")]),
        ("cramfs, big-endian", &[(0, b"\x28\xcd\x3d\x45")]),
        ("High Sierra", &[(0x8009, b"CDROM")]),
        ("aix", &[(0, b"\xc9\xc2\xd4\xc1")]),
        ("ultrix", &[(16312, b"\x57\x29\x03\0\x01\0\0\0")]),
        ("mac", &[(0, b"ER\x02\0"), (512, b"PM\0\0\0\0\0\x01")]),
        ("a protective MBR alone", &[(450, b"\xee"), (510, b"\x55\xaa")]),
        ("via", &[(-512, b"\x55\xaa\x01"), (-462, b"\0")]),
        ("jmicron", &[(-512, b"JM\0\0\xb6\xb2")]),
        ("LUKS1", &[(0, b"LUKS\xba\xbe\0\x01")]),
        ("MD 0.90", &[(-65536, b"\xfc\x4e\x2b\xa9\0\0\0\0\x5a\0\0\0")]),
        ("MD 1.1", &[(0, b"\xfc\x4e\x2b\xa9\x01\0\0\0")]),
    ];
    let Some(disk) = Loop::new(8 * MIB) else { return };
    let mut named = 0;
    for (what, parts) in headers {
        let mut image = vec![0; disk.content().len()];
        for (at, bytes) in *parts {
            let at =
                usize::try_from(*at).unwrap_or_else(|_| image.len() - at.unsigned_abs() as usize);
            image[at..at + bytes.len()].copy_from_slice(bytes);
        }
        disk.hold(&image);
        let node = disk.node.to_str().unwrap();
        if run("blkid", &["--probe", node]).is_err() {
            skip(format!("{what}: blkid does not name it"));
            assert!(destroy(&Live::system(), &disk.node, disk.serial()).is_err(), "{what}");
            continue;
        }
        named += 1;
        let refused = refusal(&disk.node, disk.serial());
        assert!(matches!(refused, Refusal::Signature { .. }), "{what}: {refused}");
        assert!(disk.content() == image, "{what}: something was written");
    }
    assert!(named > 10 || run("blkid", &["--version"]).is_err(), "{named} were named");
}

#[test]
fn data_without_any_signature_is_refused_until_exactly_that_data_is_accepted() {
    let _alone = alone();
    // A raw volume of a database carries no signature, and was overwritten.
    let Some(disk) = Loop::new(16 * MIB) else { return };
    for (at, what) in [(0, "start"), (4096 + 512, "in"), (16 * MIB as usize - 512, "end")] {
        let mut image = vec![0; disk.content().len()];
        image[at..at + 512].fill(0xd7);
        disk.hold(&image);
        let refused = refusal(&disk.node, disk.serial());
        let text = refused.to_string();
        let Refusal::UnknownData { seen, .. } = refused else { panic!("{what}: {text}") };
        assert_eq!((seen.offset_bytes, seen.unknown_bytes), (at as u64, 512), "{text}");
        assert_eq!(seen.begins, [0xd7; 16]);
        assert!(text.contains(&format!("--accept-data {}", seen.fingerprint)), "{text}");
        assert!(text.contains(&format!("wipefs {}", disk.node.display())), "{text}");
        let accepted = [seen.fingerprint];
        // One byte more, and what was accepted is not what is there.
        image[at + 512 - 1] ^= 1;
        disk.hold(&image);
        let consent = Consent { serial: disk.serial(), accepted: &accepted };
        let refused =
            open_for_destruction(&Live::system(), &disk.node, consent, Order::Any).map(drop);
        let text = refused.unwrap_err().to_string();
        assert!(text.contains(&format!("{}` is for other data", seen.fingerprint)), "{text}");
        assert!(disk.content() == image, "something was written");
        image[at + 512 - 1] ^= 1;
        disk.hold(&image);
        opened_although(&Live::system(), &disk.node, disk.serial(), &accepted);
        // Once is enough, also where a run was killed before it wrote anything.
        opened(&Live::system(), &disk.node, disk.serial());
    }
}

#[test]
fn accepted_data_stands_for_no_signature() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let mut image = vec![0; disk.content().len()];
    image[4096..8192].fill(0xd7);
    disk.hold(&image);
    let accepted = [unknown(&disk).expect("it is unknown")];
    image[0x438..0x43a].copy_from_slice(b"\x53\xef");
    disk.hold(&image);
    let consent = Consent { serial: disk.serial(), accepted: &accepted };
    let refused = open_for_destruction(&Live::system(), &disk.node, consent, Order::Any)
        .map(drop)
        .unwrap_err();
    assert!(matches!(refused, Refusal::Signature { .. }), "{refused}");
    assert!(disk.content() == image, "something was written");
}

#[test]
fn a_fingerprint_is_eight_digits_and_the_same_in_every_build() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let mut image = vec![0; disk.content().len()];
    image[..8].copy_from_slice(b"database");
    disk.hold(&image);
    let fingerprint = unknown(&disk).expect("it is unknown");
    assert_eq!(fingerprint.to_string(), "44438110");
    assert_eq!("44438110".parse::<Fingerprint>().unwrap(), fingerprint);
    for wrong in ["", "1234567", "123456789", "+1234567", "1234567g", "0x123456"] {
        assert!(wrong.parse::<Fingerprint>().is_err(), "{wrong}");
    }
}

#[test]
fn what_a_partition_holds_is_refused_after_its_table_is_gone() {
    let _alone = alone();
    // The table was zeroed, the kernel still knew the partition, and only the start and the end of
    // the disk were looked at: an unmounted XFS was overwritten.
    let Some(disk) = Loop::with(64 * MIB, &["--partscan"]) else { return };
    let node = disk.node.to_str().unwrap();
    if let Err(why) = run("addpart", &[node, "1", "16384", "65536"]) {
        return skip(why);
    }
    let _part = Undo(|| {
        patiently(|| run("delpart", &[node, "1"])).unwrap();
    });
    let part = format!("{node}p1");
    for (at, name) in [(0x438, "ext"), (0x10040, "btrfs")] {
        let mut image = vec![0; disk.content().len()];
        let magic: &[u8] = if name == "ext" { b"\x53\xef" } else { b"_BHRfS_M" };
        let start = 16384 * 512 + at;
        image[start..start + magic.len()].copy_from_slice(magic);
        disk.hold(&image);
        let refused = refusal(&disk.node, disk.serial());
        let text = refused.to_string();
        let Refusal::Signature { device, found, .. } = refused else { panic!("{text}") };
        assert_eq!((device, found[0].name), (part.clone(), name), "{text}");
        assert!(text.contains(&format!("wipefs --all {part}")), "{text}");
        assert!(disk.content() == image, "something was written");
    }
}

#[test]
fn what_only_udev_knows_is_refused_too() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let number = fs::read_to_string(format!("/sys/block/{}/dev", disk.name())).unwrap();
    let path = format!("/run/udev/data/b{}", number.trim());
    for line in ["E:ID_FS_TYPE=obscurefs", "E:ID_PART_TABLE_TYPE=atari"] {
        let view = Overlay::new().file(&path, &format!("I:77\n{line}\n"));
        let found = destroy(&view, &disk.node, disk.serial()).map(drop).unwrap_err();
        assert!(matches!(found, Refusal::UdevSignature { .. }), "{found}");
    }
    let view = Overlay::new().file(&path, "I:77\nE:ID_FS_TYPE=\nE:ID_SERIAL=x\n");
    opened(&view, &disk.node, disk.serial());
}

#[test]
fn a_link_that_is_pointed_elsewhere_between_check_and_open_is_noticed() {
    let _alone = alone();
    let (Some(checked), Some(other)) = (Loop::new(16 * MIB), Loop::new(16 * MIB)) else { return };
    let link = checked.dir.path().join("link");
    symlink(&*checked.node, &link).unwrap();
    let number = fs::read_to_string(format!("/sys/block/{}/dev", checked.name())).unwrap();
    // The udev database is the last thing that is looked at before the exclusive open.
    let last = format!("/run/udev/data/b{}", number.trim());
    let (path, elsewhere) = (link.clone(), other.node.to_path_buf());
    let view = Overlay::new().when_read(&last, move || {
        fs::remove_file(&path).unwrap();
        symlink(&elsewhere, &path).unwrap();
    });
    let found = destroy(&view, &link, checked.serial()).map(drop).unwrap_err();
    assert!(matches!(found, Refusal::Exchanged { .. }), "{found}");
}

#[test]
fn a_file_system_made_between_check_and_open_is_noticed() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let number = fs::read_to_string(format!("/sys/block/{}/dev", disk.name())).unwrap();
    let last = format!("/run/udev/data/b{}", number.trim());
    let node = disk.node.to_str().unwrap().to_owned();
    let once = std::sync::Once::new();
    let view = Overlay::new().when_read(&last, move || {
        once.call_once(|| drop(run("mkfs.ext4", &["-q", &node]).unwrap()));
    });
    let found = destroy(&view, &disk.node, disk.serial()).map(drop).unwrap_err();
    assert!(matches!(found, Refusal::Signature { .. }), "{found}");
}

#[test]
fn a_memory_disk_is_named_by_its_kernel_name() {
    let _alone = alone();
    // A device added for this test and removed again: `zramctl --find` would take one that was
    // there before, and `zramctl --reset` takes it away for good.
    let control = Path::new("/sys/class/zram-control");
    let Ok(number) = fs::read_to_string(control.join("hot_add")) else {
        return skip("no zram device can be added");
    };
    let number = number.trim().to_owned();
    let _added = Undo(|| patiently(|| fs::write(control.join("hot_remove"), &number)).unwrap());
    fs::write(format!("/sys/block/zram{number}/disksize"), "16M").unwrap();
    let name = format!("/dev/zram{number}");
    let node = Path::new(&name);
    let kernel_name = node.file_name().unwrap().to_str().unwrap();
    let found = refusal(node, &name);
    assert!(matches!(found, Refusal::WrongSerial { .. }), "{found}");
    let device = opened(&Live::system(), node, kernel_name);
    assert_eq!(device.logical_block_bytes(), 4096);
}

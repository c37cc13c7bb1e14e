//! What may be destroyed, how it must be named, and what is on it. On real loop devices.

mod common;

use common::{Loop, MIB, Overlay, alone, opened, patiently, run, skip};
use seekwell_access::{DiscardError, Refusal, discard_range, open_for_destruction};
use seekwell_sys::Live;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

fn refusal(path: &Path, serial: &str) -> Refusal {
    open_for_destruction(&Live::system(), path, serial).map(drop).unwrap_err()
}

/// A page that starts at a multiple of its size, as direct requests need.
#[repr(align(4096))]
struct Page([u8; 4096]);

#[test]
fn an_empty_device_named_by_its_backing_file_opens_writes_and_discards() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let link = disk.dir.path().join("link");
    symlink(&disk.node, &link).unwrap();
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
    match discard_range(&device, MIB, 4096) {
        Ok(()) => assert!(disk.content().iter().all(|b| *b == 0), "the discard did nothing"),
        Err(DiscardError::Unsupported { .. }) => skip("the file system below has no discard"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_discard_outside_the_device_or_of_half_a_block_is_refused_before_the_kernel_sees_it() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let device = opened(&Live::system(), &disk.node, disk.serial());
    for (offset, len) in
        [(16 * MIB, 512), (0, 16 * MIB + 512), (1, 512), (0, 100), (0, 0), (u64::MAX - 511, 512)]
    {
        let error = discard_range(&device, offset, len).unwrap_err();
        assert!(matches!(error, DiscardError::Range { .. }), "{offset}+{len}: {error}");
    }
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
    let found = open_for_destruction(&view, &disk.node, "").map(drop).unwrap_err();
    assert!(matches!(found, Refusal::NoSerial { .. }), "{found}");
}

#[test]
fn whatever_a_mkfs_left_is_refused_until_wipefs_has_removed_it() {
    let _alone = alone();
    let makers: &[(&str, &str, &[&str])] = &[
        ("ext", "mkfs.ext4", &["-q", "-F"]),
        ("ext", "mkfs.ext2", &["-q", "-F", "-b", "1024"]),
        ("xfs", "mkfs.xfs", &["-q", "-f"]),
        ("btrfs", "mkfs.btrfs", &["-q", "-f"]),
        ("vfat", "mkfs.vfat", &[]),
        ("exfat", "mkfs.exfat", &[]),
        ("ntfs", "mkfs.ntfs", &["-Q", "-F"]),
        ("f2fs", "mkfs.f2fs", &["-q", "-f"]),
        ("swap", "mkswap", &[]),
        ("LVM2_member", "pvcreate", &["-ff", "--yes", "--config", "devices{scan=\"/dev\"}"]),
        ("crypto_LUKS", "cryptsetup", &["luksFormat", "--batch-mode", "--key-file=/etc/hostname"]),
    ];
    let Some(disk) = Loop::new(320 * MIB) else { return };
    let mut tried = 0;
    for (name, program, args) in makers {
        if let Err(why) = disk.mkfs(program, args) {
            skip(format!("{name}: {why}"));
            continue;
        }
        tried += 1;
        let found = refusal(&disk.node, disk.serial());
        let text = found.to_string();
        let Refusal::Signature { found, .. } = found else { panic!("{program}: {text}") };
        assert!(found.iter().any(|s| s.name == *name), "{program}: {text}");
        assert!(text.contains(disk.node.to_str().unwrap()), "{text}");
        run("wipefs", &["--all", disk.node.to_str().unwrap()]).unwrap();
        opened(&Live::system(), &disk.node, disk.serial());
    }
    assert!(tried >= 1, "no mkfs at all was there");
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
        let found = refusal(&disk.node, disk.serial());
        let text = found.to_string();
        let Refusal::Signature { found, .. } = found else { panic!("{label}: {text}") };
        assert!(found.iter().any(|s| s.name == name), "{label}: {text}");
        run("wipefs", &["--all", node]).unwrap();
        opened(&Live::system(), &disk.node, disk.serial());
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
        let found = open_for_destruction(&view, &disk.node, disk.serial()).map(drop).unwrap_err();
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
    symlink(&checked.node, &link).unwrap();
    let number = fs::read_to_string(format!("/sys/block/{}/dev", checked.name())).unwrap();
    // The udev database is the last thing that is looked at before the exclusive open.
    let last = format!("/run/udev/data/b{}", number.trim());
    let (path, elsewhere) = (link.clone(), other.node.clone());
    let view = Overlay::new().when_read(&last, move || {
        fs::remove_file(&path).unwrap();
        symlink(&elsewhere, &path).unwrap();
    });
    let found = open_for_destruction(&view, &link, checked.serial()).map(drop).unwrap_err();
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
    let found = open_for_destruction(&view, &disk.node, disk.serial()).map(drop).unwrap_err();
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
    let _added =
        common::Undo(|| patiently(|| fs::write(control.join("hot_remove"), &number)).unwrap());
    fs::write(format!("/sys/block/zram{number}/disksize"), "16M").unwrap();
    let name = format!("/dev/zram{number}");
    let node = Path::new(&name);
    let kernel_name = node.file_name().unwrap().to_str().unwrap();
    let found = refusal(node, &name);
    assert!(matches!(found, Refusal::WrongSerial { .. }), "{found}");
    let device = opened(&Live::system(), node, kernel_name);
    assert_eq!(device.logical_block_bytes(), 4096);
}

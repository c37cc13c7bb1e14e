//! Devices in use are refused, and the refusal names what holds them. On real loop devices.

mod common;

use common::{
    Attached, Loop, MIB, Overlay, Running, Undo, again, alone, destroy, mount, opened, patiently,
    role, run, skip,
};
use seekwell_access::{HolderKind, Refusal};
use seekwell_sys::Live;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, OnceLock};

fn refusal(path: &Path, serial: &str) -> Refusal {
    destroy(&Live::system(), path, serial).map(drop).unwrap_err()
}

#[test]
fn a_mounted_device_is_refused_by_any_name_and_stays_as_it_was() {
    let _alone = alone();
    // fio compared the path with /etc/mtab as text: through a symlink, which is what everything in
    // /dev/disk/by-id is, it wrote to the mounted file system.
    let Some(disk) = Loop::new(32 * MIB) else { return };
    if let Err(why) = disk.mkfs("mkfs.ext4", &["-q"]) {
        return skip(why);
    }
    let at = disk.dir.path().join("mnt");
    let link = disk.dir.path().join("by-id");
    symlink(&*disk.node, &link).unwrap();
    let _mounted = match mount(&disk.node, &at, &["-o", "ro,noload"]) {
        Ok(undo) => undo,
        Err(why) => return skip(why),
    };
    let before = disk.content();
    for path in [&*disk.node, &link] {
        let refusal = refusal(path, disk.serial());
        let text = refusal.to_string();
        let Refusal::Mounted { target, at: places } = refusal else { panic!("{text}") };
        assert_eq!(&target, path);
        assert_eq!(places.len(), 1, "other namespaces share this mount: {text}");
        assert_eq!(places[0].device, disk.node.to_str().unwrap());
        assert_eq!(places[0].mount_point, at.canonicalize().unwrap());
        assert_eq!(places[0].namespace_of_pid, None);
        assert!(text.contains(&format!("umount {}", places[0].mount_point.display())), "{text}");
    }
    assert!(before == disk.content(), "something was written");
}

#[test]
fn a_mount_in_another_namespace_is_found_through_one_of_its_processes() {
    let _alone = alone();
    let Some(disk) = Loop::new(32 * MIB) else { return };
    if let Err(why) = disk.mkfs("mkfs.ext4", &["-q"]) {
        return skip(why);
    }
    let at = disk.dir.path().join("mnt");
    std::fs::create_dir(&at).unwrap();
    let script = format!("mount {} {} && echo ready && read x", disk.node.display(), at.display());
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", &script]);
    let elsewhere = match Running::until_ready(&mut command) {
        Ok(child) => child,
        Err(why) => return skip(why),
    };
    let own = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!own.contains(at.to_str().unwrap()), "the mount leaked into our namespace");
    let refusal = refusal(&disk.node, disk.serial());
    let text = refusal.to_string();
    let Refusal::Mounted { at: places, .. } = refusal else { panic!("{text}") };
    let pid = places[0].namespace_of_pid.expect("it is not mounted in our namespace");
    let namespace = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/mnt")).unwrap();
    assert_eq!(namespace(&pid.to_string()), namespace(&elsewhere.0.id().to_string()));
    assert_ne!(namespace(&pid.to_string()), namespace("self"));
    assert!(text.contains(&format!("nsenter --mount=/proc/{pid}/ns/mnt umount")), "{text}");
}

#[test]
fn a_mounted_btrfs_is_found_although_its_device_number_is_anonymous() {
    let _alone = alone();
    let Some(disk) = Loop::new(256 * MIB) else { return };
    let at = disk.dir.path().join("mnt");
    let mounted = disk.mkfs("mkfs.btrfs", &["-q", "-f"]).and_then(|()| mount(&disk.node, &at, &[]));
    let _mounted = match mounted {
        Ok(undo) => undo,
        Err(why) => return skip(why),
    };
    let refusal = refusal(&disk.node, disk.serial());
    assert!(matches!(refusal, Refusal::Mounted { .. }), "{refusal}");
}

#[test]
fn the_second_device_of_a_mounted_btrfs_is_found_although_no_mount_names_it() {
    let _alone = alone();
    let (Some(first), Some(second)) = (Loop::new(256 * MIB), Loop::new(256 * MIB)) else { return };
    let nodes = [&first.node, &second.node].map(|node| node.to_str().unwrap());
    let at = first.dir.path().join("mnt");
    let mounted = run("mkfs.btrfs", &["-q", "-f", "-m", "raid1", nodes[0], nodes[1]])
        .and_then(|_| run("btrfs", &["device", "scan", nodes[0], nodes[1]]))
        .and_then(|_| mount(&first.node, &at, &[]));
    let _mounted = match mounted {
        Ok(undo) => undo,
        Err(why) => return skip(why),
    };
    let found = [&first, &second].map(|disk| refusal(&disk.node, disk.serial()));
    let mounted = found.iter().filter(|r| matches!(r, Refusal::Mounted { .. })).count();
    let member = found.iter().filter(|r| matches!(r, Refusal::FileSystemMember { .. })).count();
    assert_eq!((mounted, member), (1, 1), "{found:?}");
}

#[test]
fn active_swap_is_refused_with_the_command_that_ends_it() {
    let _alone = alone();
    let Some(disk) = Loop::new(32 * MIB) else { return };
    let node = disk.node.to_str().unwrap().to_owned();
    if let Err(why) = run("mkswap", &[&node]).and_then(|_| run("swapon", &[&node])) {
        return skip(why);
    }
    let active = Undo(|| {
        run("swapoff", &[&node]).unwrap();
    });
    let found = refusal(&disk.node, disk.serial());
    assert!(matches!(found, Refusal::Swap { .. }), "{found}");
    assert!(found.to_string().contains(&format!("swapoff {node}")), "{found}");
    drop(active);
    let found = refusal(&disk.node, disk.serial());
    assert!(matches!(found, Refusal::Signature { .. }), "{found}");
}

#[test]
fn a_device_another_process_claimed_is_busy_and_the_process_is_named() {
    let _alone = alone();
    let test = "a_device_another_process_claimed_is_busy_and_the_process_is_named";
    if let Some(node) = role() {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::RDONLY | OFlags::EXCL;
        let held = rustix::fs::open(node.as_str(), flags, Mode::empty()).unwrap();
        eprintln!("holding {held:?}");
        use std::io::Write;
        writeln!(std::io::stdout().lock(), "\nready").unwrap();
        std::io::stdin().read_line(&mut String::new()).unwrap();
        return;
    }
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let holder = Running::until_ready(&mut again(test, disk.node.to_str().unwrap())).unwrap();
    let found = refusal(&disk.node, disk.serial());
    let text = found.to_string();
    let Refusal::Busy { by, .. } = found else { panic!("{text}") };
    // Others may be looking at the device at the same moment, as udev does.
    assert!(by.iter().any(|it| it.pid == holder.0.id()), "{text}");
    assert!(by.iter().all(|it| it.pid != std::process::id()), "{text}");
    drop(holder);
    opened(&Live::system(), &disk.node, disk.serial());
}

#[test]
fn a_mounted_partition_protects_the_whole_disk_and_a_claimed_disk_its_partitions() {
    let _alone = alone();
    let Some(disk) = Loop::with(64 * MIB, &["--partscan"]) else { return };
    let node = disk.node.to_str().unwrap();
    if let Err(why) = run("addpart", &[node, "1", "2048", "65536"]) {
        return skip(why);
    }
    let part = format!("{node}p1");
    let _part = Undo(|| {
        patiently(|| run("delpart", &[node, "1"])).unwrap();
    });
    run("mkfs.ext4", &["-q", &part]).unwrap();
    let at = disk.dir.path().join("mnt");
    let mounted = mount(Path::new(&part), &at, &[]).unwrap();
    // The whole disk has no signature of its own here: only the partition gives it away.
    for target in [node, &part] {
        let found = refusal(Path::new(target), disk.serial());
        let text = found.to_string();
        let Refusal::Mounted { at: places, .. } = found else { panic!("{text}") };
        assert_eq!(places[0].device, part, "{text}");
    }
    drop(mounted);
    let found = refusal(Path::new(&part), disk.serial());
    assert!(matches!(found, Refusal::Signature { .. }), "{found}");
    run("blkdiscard", &["--zeroout", &part]).unwrap();
    // A partition is named by the serial of its disk.
    let whole = opened(&Live::system(), &disk.node, disk.serial());
    let found = refusal(Path::new(&part), disk.serial());
    assert!(matches!(found, Refusal::Busy { .. }), "{found}");
    drop(whole);
    let opened = opened(&Live::system(), Path::new(&part), disk.serial());
    assert_eq!(opened.size_bytes(), 32 * MIB);
    let found = refusal(&disk.node, disk.serial());
    assert!(matches!(found, Refusal::Busy { .. }), "{found}");
}

#[test]
fn a_whole_disk_in_use_protects_its_partitions() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let number = std::fs::read_to_string(format!("/sys/block/{}/dev", disk.name())).unwrap();
    let number = number.trim();
    // The kernel here has no RAID to hold a disk with, so a view says that this device is the
    // partition of a disk which is.
    let view = Overlay::new()
        .link(&format!("/sys/dev/block/{number}"), "../../devices/x/sdzz/sdzz1")
        .file("/sys/devices/x/sdzz/dev", "259:990")
        .file("/sys/devices/x/sdzz/serial", "ABC")
        .file("/sys/devices/x/sdzz/sdzz1/dev", number)
        .file("/sys/devices/x/sdzz/sdzz1/partition", "1")
        .file("/sys/devices/x/sdzz/sdzz1/ro", "0");
    opened(&view, &disk.node, "ABC");
    let view = view.file("/sys/devices/x/sdzz/holders/md127", "");
    let found = destroy(&view, &disk.node, "ABC").map(drop).unwrap_err();
    let text = found.to_string();
    let Refusal::Held { device, holders, .. } = found else { panic!("{text}") };
    assert_eq!(device, "/dev/sdzz");
    assert_eq!(holders[0].kind, HolderKind::Md);
    assert!(text.contains("mdadm --stop /dev/md127"), "{text}");
}

#[test]
fn holders_are_named_as_people_know_them() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let sysfs = format!("/sys/devices/virtual/block/{}/holders", disk.name());
    for (uuid, kind, command) in [
        ("LVM-abc", HolderKind::Lvm, "lvchange --activate n /dev/mapper/vg0-root"),
        ("CRYPT-LUKS2-abc", HolderKind::Crypt, "cryptsetup close vg0-root"),
        ("mpath-abc", HolderKind::Multipath, "multipath -f vg0-root"),
        ("", HolderKind::DeviceMapper, "dmsetup remove vg0-root"),
    ] {
        let view = Overlay::new()
            .file(&format!("{sysfs}/dm-77"), "")
            .file("/sys/class/block/dm-77/dm/uuid", uuid)
            .file("/sys/class/block/dm-77/dm/name", "vg0-root");
        let found = destroy(&view, &disk.node, disk.serial()).map(drop).unwrap_err();
        let text = found.to_string();
        let Refusal::Held { holders, .. } = found else { panic!("{text}") };
        assert_eq!(holders[0].kind, kind);
        assert!(text.contains(command) && text.contains("(dm-77)"), "{text}");
    }
}

#[test]
fn a_loop_device_over_the_same_data_is_found_although_it_claims_nothing() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    for below in [&*disk.node, &disk.file] {
        let second = match Attached::to(below, &[]) {
            Ok(node) => node,
            Err(why) => return skip(why),
        };
        let found = refusal(&disk.node, disk.serial());
        assert!(matches!(found, Refusal::ShownByLoop { .. }), "{found}");
        let command = format!("losetup --detach {}", second.display());
        assert!(found.to_string().contains(&command), "{found}");
    }
    opened(&Live::system(), &disk.node, disk.serial());
}

#[test]
fn use_that_begins_between_check_and_open_is_noticed() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let number = std::fs::read_to_string(format!("/sys/block/{}/dev", disk.name())).unwrap();
    // The udev database is the last thing that is looked at before the exclusive open. A second
    // loop device claims nothing, so the open itself does not notice it.
    let last = format!("/run/udev/data/b{}", number.trim());
    let second = Arc::new(OnceLock::new());
    let (file, made) = (disk.file.clone(), Arc::clone(&second));
    let view = Overlay::new().when_read(&last, move || {
        made.get_or_init(|| Attached::to(&file, &[]).unwrap());
    });
    let found = destroy(&view, &disk.node, disk.serial()).map(drop);
    second.get().expect("the udev database was read");
    let found = found.unwrap_err();
    assert!(matches!(found, Refusal::ShownByLoop { .. }), "{found}");
}

#[test]
fn what_lies_below_a_loop_device_is_asked_too() {
    let _alone = alone();
    let Some(disk) = Loop::new(32 * MIB) else { return };
    let over = match Attached::to(&disk.node, &["--offset", "16777216"]) {
        Ok(node) => node,
        Err(why) => return skip(why),
    };
    if let Err(why) = disk.mkfs("mkfs.ext4", &["-q"]) {
        return skip(why);
    }
    let at = disk.dir.path().join("mnt");
    let _mounted = match mount(&disk.node, &at, &[]) {
        Ok(undo) => undo,
        Err(why) => return skip(why),
    };
    // From its middle on the upper device shows no signature, and it is not mounted itself.
    let found = refusal(&over, disk.node.to_str().unwrap());
    assert!(matches!(found, Refusal::Mounted { .. }), "{found}");
}

#[test]
fn a_mount_table_that_cannot_be_understood_refuses() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let view = Overlay::new().file("/proc/self/mountinfo", "22 27 0:21 / /proc");
    let found = destroy(&view, &disk.node, disk.serial()).map(drop).unwrap_err();
    assert!(matches!(found, Refusal::Unsure { .. }), "{found}");
}

#[test]
fn a_mounted_file_is_found_through_a_second_loop_device_although_its_name_is_gone() {
    let _alone = alone();
    // The names of backing files were compared: through a hard link that was removed again, a
    // mounted file system was overwritten.
    let Some(disk) = Loop::new(32 * MIB) else { return };
    if let Err(why) = disk.mkfs("mkfs.ext4", &["-q"]) {
        return skip(why);
    }
    let at = disk.dir.path().join("mnt");
    let _mounted = match mount(&disk.node, &at, &[]) {
        Ok(undo) => undo,
        Err(why) => return skip(why),
    };
    let link = disk.dir.path().join("link.img");
    std::fs::hard_link(&disk.file, &link).unwrap();
    let second = Attached::to(&link, &["--offset", "16777216"]).unwrap();
    std::fs::remove_file(&link).unwrap();
    let before = disk.content();
    let found = refusal(&second, link.to_str().unwrap());
    let text = found.to_string();
    let Refusal::ShownByLoop { loop_device, .. } = found else { panic!("{text}") };
    assert_eq!(loop_device, disk.node.to_str().unwrap());
    assert!(before == disk.content(), "something was written");
}

#[test]
fn a_loop_device_that_cannot_be_asked_counts_as_in_use() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let view = Overlay::new()
        .file("/sys/block/loop9999/dev", "7:9999")
        .file("/sys/block/loop9999/loop/backing_file", "/x");
    let found = destroy(&view, &disk.node, disk.serial()).map(drop).unwrap_err();
    assert!(matches!(found, Refusal::UnknownLoop { .. }), "{found}");
    let text = found.to_string();
    assert!(text.contains("losetup --list") && text.contains("mknod /dev/loop9999 b 7 9999"));
    // One that is not bound and has no node shows nothing.
    let view = Overlay::new().file("/sys/block/loop9999/dev", "7:9999");
    opened(&view, &disk.node, disk.serial());
}

/// A process that has a file open until it is dropped.
fn holding(file: &Path, mode: &str) -> Option<Running> {
    let script = format!("exec 9{mode}{} && echo ready && read x", file.display());
    match Running::until_ready(Command::new("sh").args(["-c", &script])) {
        Ok(child) => Some(child),
        Err(why) => {
            skip(why);
            None
        }
    }
}

#[test]
fn a_device_that_another_process_can_write_to_is_refused_and_one_that_is_read_is_not() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let node = disk.dir.path().join("node");
    let number = std::fs::read_to_string(format!("/sys/block/{}/dev", disk.name())).unwrap();
    let (major, minor) = number.trim().split_once(':').unwrap();
    // Through a node of its own that is gone by then: the text of the descriptor's link names
    // nothing.
    run("mknod", &[node.to_str().unwrap(), "b", major, minor]).unwrap();
    for (path, mode) in [(&*disk.node, "<>"), (&disk.file, "<>"), (&disk.file, ">>"), (&node, "<>")]
    {
        let Some(holder) = holding(path, mode) else { return };
        if path == node {
            std::fs::remove_file(&node).unwrap();
        }
        let found = refusal(&disk.node, disk.serial());
        let text = found.to_string();
        let Refusal::OpenForWriting { by, .. } = found else { panic!("{text}") };
        assert!(by.iter().any(|it| it.pid == holder.0.id()), "{text}");
    }
    for path in [&*disk.node, &disk.file] {
        let Some(_holder) = holding(path, "<") else { return };
        opened(&Live::system(), &disk.node, disk.serial());
    }
}

#[test]
fn a_device_that_another_process_opens_in_passing_is_waited_for() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let Some(holder) = holding(&disk.node, "<>") else { return };
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(200));
            drop(holder);
        });
        opened(&Live::system(), &disk.node, disk.serial());
    });
}

#[test]
fn where_the_descriptors_of_others_may_not_be_seen_the_device_is_refused() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let view = Overlay::new().denied("/proc/1/fd");
    let found = destroy(&view, &disk.node, disk.serial()).map(drop).unwrap_err();
    assert!(matches!(found, Refusal::Denied { .. }), "{found}");
    // Who makes a loop device is root, whom sudo would not help.
    assert!(found.to_string().contains("root lacks the capability"), "{found}");
}

#[test]
fn an_active_swap_file_is_found_below_a_loop_device() {
    let _alone = alone();
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let link = disk.dir.path().join("swap file");
    std::fs::hard_link(&disk.file, &link).unwrap();
    let name = link.to_str().unwrap().replace(' ', "\\040");
    let swaps = format!("Filename Type Size Used Priority\n{name} file 16380 0 -2\n");
    let view = Overlay::new().file("/proc/swaps", &swaps);
    let found = destroy(&view, &disk.node, disk.serial()).map(drop).unwrap_err();
    assert!(matches!(found, Refusal::Swap { .. }), "{found}");
    assert!(found.to_string().contains(&format!("swapoff {}", link.display())), "{found}");
    std::fs::remove_file(&link).unwrap();
    let found = destroy(&view, &disk.node, disk.serial()).map(drop).unwrap_err();
    assert!(matches!(found, Refusal::Failed { .. }), "{found}");
}

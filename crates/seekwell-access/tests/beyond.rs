//! Data beyond the places where labels lie. On real loop and zram devices.

mod common;

use common::{
    Attached, Loop, MIB, Undo, alone, destroy, opened, opened_although, patiently, run, skip,
};
use seekwell_access::{Refusal, UnknownData};
use seekwell_sys::Live;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// What is unknown on a device that has to be refused for that.
fn unknown(node: &Path, serial: &str) -> UnknownData {
    match destroy(&Live::system(), node, serial) {
        Err(Refusal::UnknownData { seen, .. }) => *seen,
        other => panic!("{}: {other:?}", node.display()),
    }
}

/// Writes a page of somebody's at each of these places.
fn put(file: &Path, places: &[u64]) {
    let file = File::options().write(true).open(file).unwrap();
    places.iter().for_each(|at| file.write_all_at(&[0xd7; 4096], *at).unwrap());
    file.sync_all().unwrap();
}

#[test]
fn data_anywhere_in_a_sparse_file_is_found_and_accepted_once() {
    let _alone = alone();
    // Only the first 4 MiB and the last 2 MiB were looked at: a file system whose start had been
    // wiped by mistake was overwritten.
    for (size, places) in [
        (64 * MIB, &[5 * MIB][..]),
        (200 * MIB, &[64 * MIB, 128 * MIB]),
        (40 << 30, &[27 << 30, 33 << 30]),
        (3 << 40, &[(1 << 40) + 12_345 * 4096]),
    ] {
        let Some(disk) = Loop::new(size) else { return };
        put(&disk.file, places);
        let seen = unknown(&disk.node, disk.serial());
        assert_eq!(seen.unknown_bytes, 4096 * places.len() as u64, "{size}");
        assert!(places.contains(&seen.offset_bytes), "{seen}");
        assert_eq!((seen.looked_at_bytes, seen.size_bytes), (size, size));
        assert_eq!(unknown(&disk.node, disk.serial()).fingerprint, seen.fingerprint);
        drop(opened_although(&Live::system(), &disk.node, disk.serial(), &[seen.fingerprint]));
        let device = opened(&Live::system(), &disk.node, disk.serial());
        assert_eq!(device.looked_at_bytes(), size);
    }
}

#[test]
fn data_that_only_the_page_cache_of_the_device_holds_is_found() {
    let _alone = alone();
    // A hole of the file is no hole of the device before its pages were written back.
    let Some(disk) = Loop::new(64 * MIB) else { return };
    let held = File::options().read(true).open(&*disk.node).unwrap();
    let node = File::options().write(true).open(&*disk.node).unwrap();
    node.write_all_at(&[0xd7; 4096], 20 * MIB).unwrap();
    drop(node);
    assert_eq!(unknown(&disk.node, disk.serial()).offset_bytes, 20 * MIB);
    drop(held);
}

#[test]
fn a_file_system_whose_start_and_end_were_wiped_is_found_behind_an_offset_too() {
    let _alone = alone();
    for (program, args) in [
        ("mkfs.ext4", &["-q", "-F"][..]),
        ("mkfs.xfs", &["-q", "-f"]),
        ("mkfs.btrfs", &["-q", "-f"]),
    ] {
        let Some(disk) = Loop::new(512 * MIB) else { return };
        if let Err(why) = disk.mkfs(program, args) {
            skip(why);
            continue;
        }
        run("blockdev", &["--flushbufs", disk.node.to_str().unwrap()]).unwrap();
        let file = File::options().write(true).open(&disk.file).unwrap();
        file.write_all_at(&vec![0; 16 * MIB as usize], 0).unwrap();
        file.write_all_at(&vec![0; 16 * MIB as usize], 496 * MIB).unwrap();
        let node = Attached::to(&disk.file, &["--offset=8388608"]).unwrap();
        drop(disk.node);
        unknown(&node, disk.file.to_str().unwrap());
    }
}

#[test]
fn a_device_that_has_no_file_is_looked_at_whole_where_it_is_small() {
    let _alone = alone();
    let control = Path::new("/sys/class/zram-control");
    let Ok(number) = fs::read_to_string(control.join("hot_add")) else {
        return skip("no zram device can be added");
    };
    let name = format!("zram{}", number.trim());
    let _added = Undo(|| {
        patiently(|| fs::write(format!("/sys/block/{name}/reset"), "1")).unwrap();
        patiently(|| fs::write(control.join("hot_remove"), number.trim())).unwrap();
    });
    fs::write(format!("/sys/block/{name}/disksize"), "128M").unwrap();
    let node = Path::new("/dev").join(&name);
    put(&node, &[77 * MIB]);
    let seen = unknown(&node, &name);
    assert_eq!((seen.offset_bytes, seen.unknown_bytes), (77 * MIB, 4096), "{seen}");
    drop(opened_although(&Live::system(), &node, &name, &[seen.fingerprint]));
    opened(&Live::system(), &node, &name);
}

#[test]
fn a_large_device_full_of_data_is_found_to_be_by_its_samples() {
    let _alone = alone();
    // A loop device over a loop device has no file of its own to ask for holes.
    let Some(disk) = Loop::new(6 << 30) else { return };
    let above = match Attached::to(&disk.node, &[]) {
        Ok(node) => node,
        Err(why) => return skip(why),
    };
    // As many places as none of 4096 samples among them would miss.
    let places: Vec<u64> = (1..6).map(|i| i << 30).collect();
    let file = File::options().write(true).open(&disk.file).unwrap();
    places.iter().for_each(|at| file.write_all_at(&vec![0xd7; 8 << 20], *at).unwrap());
    drop(file);
    let serial = disk.node.to_str().unwrap();
    let seen = unknown(&above, serial);
    assert!(seen.looked_at_bytes < 64 * MIB, "{seen}");
    assert_eq!(seen.size_bytes, 6 << 30);
    assert_eq!(unknown(&above, serial).fingerprint, seen.fingerprint);
    drop(opened_although(&Live::system(), &above, serial, &[seen.fingerprint]));
    opened(&Live::system(), &above, serial);
}

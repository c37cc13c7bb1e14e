//! What is opened for reading cannot be changed through the handle, and nothing is created.

mod common;

use common::{Loop, MIB, alone, cached_pages, skip};
use rustix::io::Errno;
use seekwell_access::{AccessError, Opened, OpenedKind, open_read_only};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn a_device_is_opened_through_a_link_and_the_kernel_refuses_writes_to_it() {
    let _alone = alone();
    let Some(disk) = Loop::with(16 * MIB, &["--sector-size", "4096"]) else { return };
    let link = disk.dir.path().join("by-id");
    symlink(&*disk.node, &link).unwrap();
    let opened = open_read_only(&link).unwrap();
    assert_eq!(opened.size_bytes, 16 * MIB);
    assert_eq!(opened.logical_block_bytes, 4096);
    assert!(opened.direct);
    assert!(matches!(opened.kind, OpenedKind::BlockDevice { dev } if dev.major == 7));
    assert_eq!(rustix::io::pwrite(&opened, &[1; 4096], 0), Err(Errno::BADF));
    let opened = Opened::ReadOnly(opened);
    assert!(!opened.writable());
    assert_eq!((opened.size_bytes(), opened.logical_block_bytes()), (16 * MIB, 4096));
}

#[test]
fn a_mounted_device_may_be_read() {
    let _alone = alone();
    let Some(disk) = Loop::new(32 * MIB) else { return };
    let at = disk.dir.path().join("mnt");
    let mounted =
        disk.mkfs("mkfs.ext4", &["-q"]).and_then(|()| common::mount(&disk.node, &at, &[]));
    if let Err(why) = &mounted {
        return skip(why);
    }
    assert_eq!(open_read_only(&disk.node).unwrap().logical_block_bytes, 512);
}

#[test]
fn a_file_is_opened_and_its_blocks_can_be_read() {
    let _alone = alone();
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), vec![7; 8192]).unwrap();
    let opened = open_read_only(file.path()).unwrap();
    assert_eq!(opened.size_bytes, 8192);
    let OpenedKind::File { allocated_bytes, .. } = opened.kind else { panic!("{opened:?}") };
    assert!(allocated_bytes >= 8192 || !opened.direct, "{opened:?}");
    let block = opened.logical_block_bytes as usize;
    let mut memory = vec![0u8; block + 4096];
    let start = memory.as_ptr().align_offset(4096);
    let page = &mut memory[start..start + block];
    assert_eq!(rustix::io::pread(&opened, &mut *page, 0).unwrap(), block);
    assert!(page.iter().all(|b| *b == 7));
    assert_eq!(rustix::io::pwrite(&opened, &[1], 0), Err(Errno::BADF));
}

#[test]
fn a_file_system_without_direct_requests_is_read_through_the_page_cache_and_says_so() {
    let _alone = alone();
    // procfs has files of a size and no direct requests.
    let Ok(config) = fs::metadata("/proc/config.gz") else {
        return skip("no /proc/config.gz here");
    };
    let opened = open_read_only(Path::new("/proc/config.gz")).unwrap();
    assert_eq!(opened.size_bytes, config.len());
    assert!(!opened.direct);
    assert_eq!(opened.logical_block_bytes, 1);
    let mut magic = [0; 2];
    assert_eq!(rustix::io::pread(&opened, &mut magic, 0).unwrap(), 2);
    assert_eq!(magic, [0x1f, 0x8b]);
}

#[test]
fn a_dropped_file_is_read_from_the_disk_again() {
    let _alone = alone();
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), vec![7; MIB as usize]).unwrap();
    file.as_file().sync_all().unwrap();
    let cached = || cached_pages(file.as_file(), MIB as usize);
    assert!(cached() > 0, "what was just written is in memory");
    seekwell_access::drop_cache(file.as_file()).unwrap();
    if matches!(open_read_only(file.path()).unwrap().kind, OpenedKind::File { in_memory: true, .. })
    {
        return skip("the temporary directory is in memory");
    }
    assert_eq!(cached(), 0);
}

#[test]
fn a_file_of_holes_and_a_file_in_memory_can_be_told() {
    let _alone = alone();
    let sparse = tempfile::NamedTempFile::new().unwrap();
    sparse.as_file().set_len(64 * MIB).unwrap();
    let opened = open_read_only(sparse.path()).unwrap();
    let OpenedKind::File { allocated_bytes, .. } = opened.kind else { panic!("{opened:?}") };
    assert_eq!((allocated_bytes, opened.size_bytes), (0, 64 * MIB));
    let Ok(memory) = tempfile::NamedTempFile::new_in("/dev/shm") else {
        return skip("no /dev/shm here");
    };
    fs::write(memory.path(), "x").unwrap();
    let opened = open_read_only(memory.path()).unwrap();
    assert!(matches!(opened.kind, OpenedKind::File { in_memory: true, .. }), "{opened:?}");
}

#[test]
fn a_mistyped_name_is_an_error_and_nothing_is_created() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let in_dir = dir.path().join("typo.img");
    for path in [Path::new("/dev/seekwell-no-such-disk"), &in_dir] {
        let error = open_read_only(path).unwrap_err();
        assert!(matches!(error, AccessError::Missing { .. }), "{error}");
        assert!(!path.exists());
    }
}

#[test]
fn what_cannot_be_measured_is_refused_by_what_it_is() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let empty = dir.path().join("empty");
    fs::write(&empty, "").unwrap();
    let error = open_read_only(&empty).unwrap_err();
    assert!(matches!(error, AccessError::Empty { .. }), "{error}");
    for (path, word) in [(dir.path(), "directory"), (Path::new("/dev/zero"), "character device")] {
        let error = open_read_only(path).unwrap_err();
        assert!(
            matches!(error, AccessError::NotMeasurable { kind, .. } if kind == word),
            "{error}"
        );
    }
    // Opening a pipe would wait for a writer.
    let pipe = dir.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    let error = open_read_only(&pipe).unwrap_err();
    assert!(matches!(error, AccessError::NotMeasurable { kind: "pipe", .. }), "{error}");
}

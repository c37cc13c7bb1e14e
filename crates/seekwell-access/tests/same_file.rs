//! One file under two names that differ in device and inode, and users without a descriptor.

mod common;

use common::{
    Attached, Loop, MIB, Running, Undo, again, alone, destroy, mount, opened, patiently, role, run,
    skip,
};
use seekwell_access::Refusal;
use seekwell_sys::Live;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::Path;
use tempfile::TempDir;

fn refusal(path: &Path, serial: &Path) -> Refusal {
    destroy(&Live::system(), path, serial.to_str().unwrap()).map(drop).unwrap_err()
}

/// A size of its own: a file whose data may be another's may be that of any file of its size, also
/// of those of programs beside this one.
fn size() -> u64 {
    64 * MIB + 4096 * (1 + u64::from(std::process::id() % 4096))
}

fn sparse(path: &Path, bytes: u64) {
    File::create(path).unwrap().set_len(bytes).unwrap();
}

/// An overlay of the folders `lower` and `upper`, shown as `both`; `None` if that cannot be had.
fn overlay(relative: bool) -> Option<(TempDir, impl Sized)> {
    let dir = tempfile::tempdir().unwrap();
    for name in ["lower", "upper", "work", "both"] {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    sparse(&dir.path().join("lower/low"), size());
    sparse(&dir.path().join("upper/up"), size());
    let from = if relative { String::new() } else { format!("{}/", dir.path().display()) };
    let script = format!(
        "cd {} && mount -t overlay overlay -o \
         lowerdir={from}lower,upperdir={from}upper,workdir={from}work both",
        dir.path().display()
    );
    if let Err(why) = run("sh", &["-c", &script]) {
        skip(why);
        return None;
    }
    let both = dir.path().join("both").display().to_string();
    Some((dir, Undo(move || drop(patiently(|| run("umount", &[&both])).unwrap()))))
}

fn attached(file: &Path, how: &[&str]) -> Attached {
    Attached::to(file, how).unwrap()
}

#[test]
fn a_file_that_an_overlay_shows_is_the_file_below_it() {
    let _alone = alone();
    // An overlay gives the file another device number: the file system of one loop device was
    // overwritten through the other.
    let Some((dir, _overlay)) = overlay(false) else { return };
    let at = |name: &str| dir.path().join(name);
    let moved = at("both/moved");
    for (shown, below) in
        [("both/up", "upper/up"), ("upper/up", "both/up"), ("lower/low", "both/low")]
    {
        // Read-only, the overlay shows the file of the lower folder itself.
        let _other = attached(&at(below), &["--offset=16777216", "--read-only"]);
        let node = attached(&at(shown), &[]);
        let found = refusal(&node, &at(shown));
        assert!(matches!(found, Refusal::ShownByLoop { .. }), "{shown}, {below}: {found}");
    }
    fs::rename(at("both/up"), &moved).unwrap();
    for (shown, below) in [(&moved, &at("upper/moved")), (&at("upper/moved"), &moved)] {
        let _other = attached(below, &[]);
        let node = attached(shown, &[]);
        let found = refusal(&node, shown);
        assert!(matches!(found, Refusal::ShownByLoop { .. }), "{found}");
    }
    let held = File::options().write(true).open(at("upper/moved")).unwrap();
    let node = attached(&moved, &[]);
    opened(&Live::system(), &node, moved.to_str().unwrap());
    drop(held);
    // What is copied up is another file than the one it was copied from.
    let low = attached(&at("both/low"), &[]);
    let _below = attached(&at("lower/low"), &[]);
    opened(&Live::system(), &low, at("both/low").to_str().unwrap());
}

#[test]
fn a_file_open_through_an_overlay_is_the_file_below_it() {
    let _alone = alone();
    let Some((dir, _overlay)) = overlay(false) else { return };
    let at = |name: &str| dir.path().join(name);
    for (shown, held) in [("upper/up", "both/up"), ("both/up", "upper/up")] {
        let node = attached(&at(shown), &[]);
        let script = format!("exec 9<>{} && echo ready && read x", at(held).display());
        let mut holder = std::process::Command::new("sh");
        let holder = Running::until_ready(holder.args(["-c", &script])).unwrap();
        let found = refusal(&node, &at(shown));
        let text = found.to_string();
        let Refusal::OpenForWriting { by, .. } = found else { panic!("{text}") };
        assert!(by.iter().any(|it| it.pid == holder.0.id()), "{text}");
        drop(holder);
        opened(&Live::system(), &node, at(shown).to_str().unwrap());
    }
}

#[test]
fn an_overlay_whose_folders_cannot_be_found_refuses() {
    let _alone = alone();
    let Some((dir, _overlay)) = overlay(true) else { return };
    let (up, both) = (dir.path().join("upper/up"), dir.path().join("both/up"));
    let shown = attached(&both, &[]);
    let below = attached(&up, &[]);
    for (node, serial) in [(&shown, &both), (&below, &up)] {
        let found = refusal(node, serial);
        assert!(matches!(found, Refusal::UnclearFile { .. }), "{found}");
        assert!(found.to_string().contains("on overlay"), "{found}");
    }
    // A file of another size is not the same one.
    drop(shown);
    let other = dir.path().join("both/other");
    sparse(&other, size() + 512);
    let _other = attached(&other, &[]);
    opened(&Live::system(), &below, up.to_str().unwrap());
}

#[test]
fn a_file_on_fuse_is_refused_with_the_way_out() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let (real, view) = (dir.path().join("real"), dir.path().join("view"));
    for folder in [&real, &view] {
        fs::create_dir(folder).unwrap();
    }
    sparse(&real.join("disk"), size());
    if let Err(why) = run("bindfs", &[&real, &view]) {
        return skip(why);
    }
    let at = view.display().to_string();
    let _view = Undo(|| drop(patiently(|| run("umount", &[&at])).unwrap()));
    let shown = attached(&view.join("disk"), &["--read-only"]);
    let node = attached(&real.join("disk"), &[]);
    let found = refusal(&node, &real.join("disk"));
    assert!(matches!(found, Refusal::UnclearFile { .. }), "{found}");
    drop(shown);
    opened(&Live::system(), &node, real.join("disk").to_str().unwrap());
    let shown = attached(&view.join("disk"), &[]);
    let found = refusal(&shown, &view.join("disk"));
    let text = found.to_string();
    assert!(matches!(found, Refusal::UnclearFile { .. }), "{text}");
    assert!(text.contains("on fuse") && text.contains("a copy on a local file system"), "{text}");
}

#[test]
fn a_loop_device_over_memory_that_only_a_container_has_mounted_refuses_nobody() {
    let _alone = alone();
    // Its file system was unknown here, and so every other loop device might have shown its file.
    // What is detached while it is open goes with the process.
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().display();
    let script = format!(
        "mount -t tmpfs none {at} && truncate -s 64M {at}/disk && \
         node=$(losetup --find --show {at}/disk) && exec 9<$node && losetup --detach $node && \
         echo ready && read x"
    );
    let mut inside = std::process::Command::new("unshare");
    let inside = match Running::until_ready(inside.args(["--mount", "sh", "-c", &script])) {
        Ok(running) => running,
        Err(why) => return skip(format!("unshare: {why}")),
    };
    let Some(disk) = Loop::new(64 * MIB) else { return };
    opened(&Live::system(), &disk.node, disk.serial());
    drop(inside);
}

#[test]
fn a_loop_device_that_outlives_its_file_system_for_a_moment_refuses_nobody() {
    let _alone = alone();
    // As in a container that is ending: its mounts are gone, its loop devices are not yet. It may
    // not last, because it is in the way of programs beside this one too.
    let Some(disk) = Loop::new(64 * MIB) else { return };
    let dir = tempfile::tempdir().unwrap();
    let Ok(mounted) = mount(Path::new("none"), dir.path(), &["-t", "tmpfs"]) else {
        return skip("tmpfs cannot be mounted");
    };
    let file = dir.path().join("disk");
    sparse(&file, 64 * MIB);
    let orphan = attached(&file, &[]);
    run("umount", &["--lazy", dir.path().to_str().unwrap()]).unwrap();
    std::mem::forget(mounted);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            drop(orphan);
        });
        opened(&Live::system(), &disk.node, disk.serial());
    });
}

#[test]
fn a_device_or_file_that_is_mapped_is_in_use_after_its_descriptor_was_closed() {
    let _alone = alone();
    let test = "a_device_or_file_that_is_mapped_is_in_use_after_its_descriptor_was_closed";
    if let Some(role) = role() {
        let (mode, path) = role.split_once(' ').unwrap();
        let file = File::options().read(true).write(mode != "r").open(path).unwrap();
        let writes = if mode == "r" { 0 } else { libc::PROT_WRITE };
        let kind = if mode == "p" { libc::MAP_PRIVATE } else { libc::MAP_SHARED };
        // SAFETY: a new mapping at an address of the kernel's choice, which nothing touches.
        let at = unsafe {
            let protection = libc::PROT_READ | writes;
            libc::mmap(std::ptr::null_mut(), 4096, protection, kind, file.as_raw_fd(), 0)
        };
        assert_ne!(at, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
        drop(file);
        writeln!(std::io::stdout().lock(), "\nready").unwrap();
        std::io::stdin().read_line(&mut String::new()).unwrap();
        return;
    }
    let Some(disk) = Loop::new(16 * MIB) else { return };
    for path in [&*disk.node, &disk.file] {
        for mode in ["w", "r", "p"] {
            let role = format!("{mode} {}", path.display());
            let holder = Running::until_ready(&mut again(test, &role)).unwrap();
            let found = refusal(&disk.node, &disk.file);
            let text = found.to_string();
            let Refusal::OpenForWriting { by, .. } = found else { panic!("{role}: {text}") };
            assert!(by.iter().any(|it| it.pid == holder.0.id()), "{role}: {text}");
        }
    }
    opened(&Live::system(), &disk.node, disk.serial());
}

#[test]
fn another_partition_in_use_is_told_and_does_not_refuse() {
    let _alone = alone();
    let Some(disk) = Loop::with(96 * MIB, &["--partscan"]) else { return };
    let node = disk.node.to_str().unwrap();
    for (number, start) in [("1", "2048"), ("2", "100352")] {
        if let Err(why) = run("addpart", &[node, number, start, "65536"]) {
            return skip(why);
        }
    }
    let _parts = Undo(|| {
        for number in ["1", "2"] {
            patiently(|| run("delpart", &[node, number])).unwrap();
        }
    });
    let (used, free) = (format!("{node}p1"), format!("{node}p2"));
    run("mkfs.ext4", &["-q", &used]).unwrap();
    assert!(opened(&Live::system(), Path::new(&free), disk.serial()).notes().is_empty());
    let _mounted = mount(Path::new(&used), &disk.dir.path().join("mnt"), &[]).unwrap();
    let device = opened(&Live::system(), Path::new(&free), disk.serial());
    let [note] = device.notes() else { panic!("{:?}", device.notes()) };
    assert!(note.contains("another partition") && note.contains(&used), "{note}");
}

//! Temporary files: their size, their data, and that nothing is ever left of them.

mod common;

use common::{MIB, Mounted, Place, Running, again, alone, cached_pages, role, run, skip};
use rustix::fs::SeekFrom;
use seekwell_access::{AccessError, Fill, FsSpace, GIB, Leftover, Scratch, sweep};
use std::fs;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// `wanted` bytes in `dir`, with something to do after each megabyte.
fn create(
    dir: &Path,
    wanted: u64,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Scratch, AccessError> {
    let fill = Fill { wanted_bytes: wanted, minimum_bytes: MIB, seed: 1, stop, progress };
    Scratch::create(dir, fill)
}

fn simple(dir: &Path, wanted: u64) -> Result<Scratch, AccessError> {
    create(dir, wanted, &AtomicBool::new(false), &mut |_, _| {})
}

fn entries(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "lost+found");
    names
}

/// All of a file, through its descriptor.
fn content(file: impl AsFd, len: u64) -> Vec<u8> {
    rustix::fs::fcntl_setfl(&file, rustix::fs::OFlags::empty()).unwrap();
    let mut bytes = vec![0; len as usize];
    let mut done = 0;
    while done < bytes.len() {
        let read = rustix::io::pread(&file, &mut bytes[done..], done as u64).unwrap();
        assert!(read > 0, "the file ends at {done}");
        done += read;
    }
    bytes
}

#[test]
fn a_temporary_file_is_full_of_real_incompressible_data_and_has_no_name() {
    let _alone = alone();
    let Some(dir) = Place::with_room(4 * MIB) else { return };
    let mut calls = Vec::new();
    let stop = AtomicBool::new(false);
    let scratch = create(dir.path(), 4 * MIB, &stop, &mut |done, all| calls.push((done, all)));
    let scratch = scratch.unwrap();
    assert_eq!(calls, [1, 2, 3, 4].map(|done| (done * MIB, 4 * MIB)));
    assert_eq!(scratch.size_bytes(), 4 * MIB);
    assert_eq!(entries(dir.path()), Vec::<String>::new());
    // A hole or a preallocated extent would make reads lie.
    let hole = rustix::fs::seek(&scratch, SeekFrom::Hole(0)).unwrap();
    assert_eq!(hole, 4 * MIB);
    let bytes = content(&scratch, 4 * MIB);
    let mut counts = [0u32; 256];
    bytes.iter().for_each(|b| counts[usize::from(*b)] += 1);
    let expected = bytes.len() as f64 / 256.0;
    let chi: f64 = counts.iter().map(|c| (f64::from(*c) - expected).powi(2) / expected).sum();
    assert!(chi < 400.0, "bytes are not even: chi-square {chi} of 255 degrees");
    let mut chunks: Vec<&[u8]> = bytes.chunks(4096).collect();
    chunks.sort_unstable();
    chunks.dedup();
    assert_eq!(chunks.len(), 1024, "blocks repeat, so deduplication would find them");
}

#[test]
fn direct_requests_of_the_announced_block_size_work() {
    let _alone = alone();
    let Some(dir) = Place::with_room(2 * MIB) else { return };
    let scratch = simple(dir.path(), 2 * MIB).unwrap();
    if !scratch.direct() {
        return skip("the file system of the temporary directory has no direct requests");
    }
    let block = scratch.logical_block_bytes() as usize;
    let mut memory = vec![0u8; block + 4096];
    let start = memory.as_ptr().align_offset(4096);
    let page = &mut memory[start..start + block];
    assert_eq!(rustix::io::pread(&scratch, &mut *page, block as u64).unwrap(), block);
    assert_eq!(rustix::io::pwrite(&scratch, page, 0).unwrap(), block);
    let flags = rustix::fs::fcntl_getfl(&scratch).unwrap();
    assert!(flags.contains(rustix::fs::OFlags::DIRECT));
}

#[test]
fn the_page_cache_holds_nothing_of_it_when_it_is_handed_over() {
    let _alone = alone();
    let Some(dir) = Place::with_room(4 * MIB) else { return };
    let scratch = simple(dir.path(), 4 * MIB).unwrap();
    if scratch.in_memory() {
        return skip("the temporary directory is in memory");
    }
    assert_eq!(cached_pages(&scratch, 4 << 20), 0);
}

#[test]
fn memory_is_accepted_but_said_to_be_memory() {
    let _alone = alone();
    let dir = match tempfile::tempdir_in("/dev/shm") {
        Ok(dir) => dir,
        Err(why) => return skip(why.to_string()),
    };
    match simple(dir.path(), MIB) {
        Err(why @ AccessError::TooLittleRoom { .. }) => skip(why.to_string()),
        made => assert!(made.unwrap().in_memory()),
    }
}

#[test]
fn the_stop_flag_ends_a_fill_and_nothing_is_left() {
    let _alone = alone();
    let Some(dir) = Place::with_room(64 * MIB) else { return };
    let stop = AtomicBool::new(false);
    let error = create(dir.path(), 64 * MIB, &stop, &mut |done, _| {
        if done == 3 * MIB {
            stop.store(true, Ordering::Relaxed);
        }
    })
    .unwrap_err();
    let AccessError::Stopped { written_bytes, .. } = error else { panic!("{error}") };
    assert_eq!(written_bytes, 3 * MIB);
    assert_eq!(entries(dir.path()), Vec::<String>::new());
}

#[test]
fn a_small_file_system_keeps_its_gibibyte() {
    let _alone = alone();
    let Some(mounted) = Mounted::ext4(512 * MIB, "rw") else { return };
    let dir = &mounted.point;
    let error = simple(dir, 16 * MIB).unwrap_err();
    let AccessError::TooLittleRoom { reserved_bytes, needed_bytes, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(reserved_bytes, GIB);
    assert_eq!(needed_bytes, GIB + MIB);
    assert_eq!(entries(dir), Vec::<String>::new());
}

#[test]
fn a_disk_that_fills_up_meanwhile_is_a_clean_error_and_leaves_nothing() {
    let _alone = alone();
    let Some(mounted) = Mounted::ext4(1300 * MIB, "rw") else { return };
    let dir = &mounted.point;
    let before = FsSpace::of(dir).unwrap().available_bytes;
    let filler = dir.join("somebody-else");
    let stop = AtomicBool::new(false);
    let error = create(dir, 64 * MIB, &stop, &mut |done, _| {
        if done == MIB {
            // Somebody takes all the room but a few megabytes, in one step.
            let left = FsSpace::of(dir).unwrap().available_bytes - 6 * MIB;
            let args = ["--length", &left.to_string(), filler.to_str().unwrap()];
            run("fallocate", &args).unwrap();
        }
    })
    .unwrap_err();
    let AccessError::NoSpace { written_bytes, wanted_bytes, .. } = error else { panic!("{error}") };
    assert!((MIB..16 * MIB).contains(&written_bytes), "{written_bytes}");
    assert_eq!(wanted_bytes, 64 * MIB);
    assert_eq!(entries(dir), ["somebody-else"]);
    fs::remove_file(filler).unwrap();
    // A process that another test is just starting has our descriptors for a moment.
    let back = || FsSpace::of(dir).unwrap().available_bytes.abs_diff(before) < MIB;
    for _ in 0..100 {
        if back() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{before} bytes were available before, {:?} now", FsSpace::of(dir));
}

#[test]
fn a_read_only_file_system_is_named_as_that() {
    let _alone = alone();
    let Some(mounted) = Mounted::ext4(64 * MIB, "ro,noload") else { return };
    let error = simple(&mounted.point, MIB).unwrap_err();
    assert!(matches!(error, AccessError::ReadOnlyFileSystem { .. }), "{error}");
}

#[test]
fn a_directory_of_somebody_else_is_a_matter_of_permission() {
    let _alone = alone();
    let test = "a_directory_of_somebody_else_is_a_matter_of_permission";
    if let Some(dir) = role() {
        let error = simple(Path::new(&dir), MIB).unwrap_err();
        let AccessError::WriteDenied { uid, .. } = error else { panic!("{error}") };
        assert_eq!(uid, 65534);
        assert!(error.to_string().contains("user 65534"), "{error}");
        writeln!(std::io::stdout().lock(), "\nready").unwrap();
        return;
    }
    if !rustix::process::geteuid().is_root() {
        return skip("only root can become somebody else");
    }
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    // A copy of this program where anybody may run it.
    let copy = dir.path().join("test");
    // Copied by another process: a descriptor of ours, open for writing, would be inherited by
    // whatever other tests start at this moment, and make the copy "text file busy".
    let program = std::env::current_exe().unwrap();
    run("cp", &[&program, &copy]).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&copy)
        .args(["--exact", test, "--nocapture"])
        .env("SEEKWELL_ACCESS_ROLE", dir.path())
        .current_dir("/")
        .output();
    let output = match output {
        Ok(output) => output,
        Err(why) => return skip(format!("setpriv: {why}")),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("\nready"), "{output:?}");
}

#[test]
fn a_file_size_limit_is_an_error_and_not_a_signal() {
    let _alone = alone();
    // Past RLIMIT_FSIZE the kernel sends SIGXFSZ, whose default is to kill the process.
    let test = "a_file_size_limit_is_an_error_and_not_a_signal";
    if let Some(dir) = role() {
        let error = simple(Path::new(&dir), 8 * MIB).unwrap_err();
        let AccessError::FileSizeLimit { limit_bytes, needed_bytes } = error else {
            panic!("{error}");
        };
        assert_eq!((limit_bytes, needed_bytes), (2 * MIB, 8 * MIB));
        writeln!(std::io::stdout().lock(), "\nready").unwrap();
        return;
    }
    let Some(dir) = Place::with_room(8 * MIB) else { return };
    let output = Command::new("prlimit")
        .arg("--fsize=2097152")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("SEEKWELL_ACCESS_ROLE", dir.path())
        .output();
    let output = match output {
        Ok(output) => output,
        Err(why) => return skip(format!("prlimit: {why}")),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("\nready"), "{output:?}");
    assert_eq!(entries(dir.path()), Vec::<String>::new());
}

#[test]
fn a_kill_in_the_middle_of_a_fill_leaves_nothing() {
    let _alone = alone();
    let test = "a_kill_in_the_middle_of_a_fill_leaves_nothing";
    if let Some(dir) = role() {
        let stop = AtomicBool::new(false);
        let _ = create(Path::new(&dir), 1 << 40, &stop, &mut |done, _| {
            if done == 8 * MIB {
                writeln!(std::io::stdout().lock(), "\nready").unwrap();
                // It is killed here, with the file half written.
                std::thread::sleep(Duration::from_secs(60));
            }
        });
        panic!("nobody killed it");
    }
    let Some(dir) = Place::with_room(16 * MIB) else { return };
    let before = FsSpace::of(dir.path()).unwrap();
    let mut child = Running::until_ready(&mut again(test, dir.path().to_str().unwrap())).unwrap();
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    assert_eq!(entries(dir.path()), Vec::<String>::new());
    assert_eq!(sweep(dir.path()).unwrap(), []);
    assert_eq!(FsSpace::of(dir.path()).unwrap().total_bytes, before.total_bytes);
}

#[test]
fn the_sweep_removes_leftovers_of_dead_processes_and_nothing_else() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let mut dead = Command::new("true").spawn().unwrap();
    dead.wait().unwrap();
    let leftover = format!(".seekwell-{}-123-0123456789abcdef.tmp", dead.id());
    let reused = format!(".seekwell-{}-1-0123456789abcdef.tmp", std::process::id());
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let start = stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap();
    let spared = [
        format!(".seekwell-{}-{start}-0123456789abcdef.tmp", std::process::id()),
        ".seekwell-1-2-xyz.tmp".to_owned(),
        "holiday.jpg".to_owned(),
    ];
    for name in [&leftover, &reused].into_iter().chain(&spared) {
        fs::write(dir.path().join(name), "x").unwrap();
    }
    let link = format!(".seekwell-{}-124-0123456789abcdef.tmp", dead.id());
    symlink("holiday.jpg", dir.path().join(&link)).unwrap();
    let folder = format!(".seekwell-{}-125-0123456789abcdef.tmp", dead.id());
    fs::create_dir(dir.path().join(&folder)).unwrap();
    let foreign = format!(".seekwell-{}-126-0123456789abcdef.tmp", dead.id());
    fs::write(dir.path().join(&foreign), "x").unwrap();
    let other_user = rustix::process::geteuid().is_root()
        && std::os::unix::fs::chown(dir.path().join(&foreign), Some(65534), None).is_ok();
    if !other_user {
        skip("only root can give a file to somebody else");
    }

    let mut removed = sweep(dir.path()).unwrap();
    let foreign_path = Leftover::Removed(dir.path().join(&foreign));
    removed.retain(|found| other_user || *found != foreign_path);
    let mut wanted = [&leftover, &reused].map(|name| Leftover::Removed(dir.path().join(name)));
    wanted.sort_unstable();
    assert_eq!(removed, wanted);
    let mut left = entries(dir.path());
    left.retain(|name| *name != foreign);
    left.sort_unstable();
    let mut kept = spared.to_vec();
    kept.extend([link, folder]);
    kept.sort_unstable();
    assert_eq!(left, kept);
}

#[test]
fn what_is_no_directory_is_said_to_be_none() {
    let _alone = alone();
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = simple(file.path(), MIB).unwrap_err();
    assert!(matches!(error, AccessError::NotADirectory { .. }), "{error}");
    let error = simple(&file.path().with_extension("gone"), MIB).unwrap_err();
    assert!(matches!(error, AccessError::Missing { .. }), "{error}");
}

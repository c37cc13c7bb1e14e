//! What the program refuses, with which sentence and which exit status, and that nothing was
//! changed or left behind. The known failures of the field's main tool are the first of them.

use crate::common::{self, Loop, Mounted, Ran, run, skip, tool};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const MIB: u64 = 1 << 20;

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn write_to(home: &Path, device: &str, serial: &str) -> Ran {
    let args = [
        "bench",
        "--rw=randwrite",
        "--runtime=600ms",
        "--on",
        device,
        "--destroy",
        serial,
        "--json",
    ];
    run(home, &args)
}

/// Asserts a refusal: status 3, the words, nothing on standard output, the device as it was.
fn refused(disk: &Loop, device: &str, words: &[&str]) {
    refused_beyond(0, disk, device, words);
}

/// The same for a device of which somebody else writes the first `others` bytes.
fn refused_beyond(others: usize, disk: &Loop, device: &str, words: &[&str]) {
    let home = home();
    let before = fs::read(&disk.backing).unwrap();
    let ran = write_to(home.path(), device, disk.backing.to_str().unwrap()).ends(3);
    for word in words {
        assert!(ran.err.contains(word), "{word:?} is not in {:?}", ran.err);
    }
    assert_eq!(ran.out, "");
    let after = fs::read(&disk.backing).unwrap();
    assert!(after[others..] == before[others..], "the device was changed");
}

#[test]
fn a_mistyped_device_is_an_error_and_never_becomes_a_file() {
    // fio --filename=/dev/loopzz creates a regular file in /dev and measures memory, with exit 0.
    for command in [&["checkup", "/dev/loopzz"][..], &["bench", "--on", "/dev/loopzz"]] {
        let home = home();
        let ran = run(home.path(), command).ends(2);
        assert!(ran.err.contains("/dev/loopzz"), "{}", ran.err);
        assert!(!Path::new("/dev/loopzz").exists());
    }
}

#[test]
fn a_path_that_is_not_there_is_a_usage_error() {
    let home = home();
    for command in ["checkup", "inspect"] {
        let ran = run(home.path(), &[command, "/no/such/path"]);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(ran.err.contains("/no/such/path"), "{}", ran.err);
    }
}

#[test]
fn commands_past_the_block_layer_go_to_an_nvme_namespace_and_to_nothing_else() {
    let home = home();
    let file = home.path().join("file");
    fs::write(&file, [7; 8192]).unwrap();
    let args = ["bench", "--engine=io_uring_cmd", "--on", file.to_str().unwrap()];
    let ran = run(home.path(), &args).ends(2);
    assert!(ran.err.contains("only an NVMe namespace does"), "{}", ran.err);
    let ran = run(home.path(), &["bench", "--engine=io_uring_cmd", "--on", "/dev/null"]).ends(2);
    assert!(ran.err.contains("/dev/null is a character device"), "{}", ran.err);
}

#[test]
fn a_mounted_device_is_not_written() {
    let Some(mounted) = Mounted::ext4(16 * MIB, "rw") else { return };
    let point = mounted.point.to_str().unwrap();
    refused(&mounted.disk, &mounted.disk.device, &["mounted", point, "umount"]);
}

#[test]
fn a_mounted_device_is_not_written_through_a_symlink() {
    // fio compares path strings, so a symlink such as /dev/disk/by-id gets written.
    let Some(mounted) = Mounted::ext4(16 * MIB, "rw") else { return };
    let dir = home();
    let link = dir.path().join("by-id");
    std::os::unix::fs::symlink(&mounted.disk.device, &link).unwrap();
    refused(&mounted.disk, link.to_str().unwrap(), &["mounted"]);
}

#[test]
fn swap_is_not_written() {
    let Some(disk) = Loop::new(16 * MIB) else { return };
    struct Swap(String);
    impl Drop for Swap {
        fn drop(&mut self) {
            tool("swapoff", &[&self.0]);
        }
    }
    // The kernel swaps to it when a process beside this test reaches its limit of memory: to the
    // first MiB only.
    let made =
        tool("mkswap", &[&disk.device, "1024"]).and_then(|_| tool("swapon", &[&disk.device]));
    if made.is_none() {
        return skip("swap cannot be switched on here");
    }
    let _swap = Swap(disk.device.clone());
    refused_beyond(1 << 20, &disk, &disk.device, &["swap", "swapoff"]);
}

#[test]
fn a_device_with_a_signature_is_not_written() {
    let Some(disk) = Loop::new(16 * MIB) else { return };
    if tool("mkfs.ext4", &["-q", "-F", &disk.device]).is_none() {
        return skip("mkfs.ext4 is not installed");
    }
    refused(&disk, &disk.device, &["ext", "wipefs"]);
}

#[test]
fn data_without_a_signature_is_written_only_after_it_was_accepted() {
    // A raw volume of a database carries no signature, and was overwritten.
    let Some(disk) = Loop::new(64 * MIB) else { return };
    let mut image = vec![0; 64 << 20];
    image[8192..65536].fill(0xd7);
    fs::write(&disk.backing, &image).unwrap();
    refused(&disk, &disk.device, &["unknown data", "first at byte 8192", "wipefs"]);
    let home = home();
    let serial = disk.backing.to_str().unwrap();
    let ran = write_to(home.path(), &disk.device, serial);
    let fingerprint = ran.err.split("--accept-data ").nth(1).unwrap()[..8].to_owned();
    let accepting = |fingerprint: &str| {
        let target = ["bench", "--rw=randrw", "--runtime=600ms", "--on", &disk.device];
        let consent = ["--destroy", serial, "--accept-data", fingerprint];
        run(home.path(), &[&target[..], &consent[..]].concat())
    };
    for (wrong, status) in [("0badf00d", 3), ("all", 2)] {
        let ran = accepting(wrong);
        assert_eq!(ran.status, status, "{}", ran.err);
        assert!(ran.err.contains("fingerprint") || ran.err.contains("other data"), "{}", ran.err);
        assert!(fs::read(&disk.backing).unwrap() == image, "the device was changed");
    }
    accepting(&fingerprint).ends(0);
    // What it wrote itself may be overwritten, and the old data is gone.
    write_to(home.path(), &disk.device, serial).ends(0);
}

#[test]
fn a_device_that_a_killed_run_wrote_to_is_written_again() {
    let Some(disk) = Loop::new(64 * MIB) else { return };
    let home = home();
    let serial = disk.backing.to_str().unwrap();
    let mut child = common::seekwell(home.path())
        .args(["bench", "--rw=randrw", "--bs=512", "--iodepth=8", "--runtime=60s", "--no-keep"])
        .args(["--on", &disk.device, "--destroy", serial])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let written = || fs::read(&disk.backing).unwrap()[..MIB as usize].iter().any(|b| *b != 0);
    common::wait_for("a write", written);
    child.kill().unwrap();
    child.wait().unwrap();
    write_to(home.path(), &disk.device, serial).ends(0);
}

#[test]
fn a_device_that_another_process_has_open_for_writing_is_not_written() {
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let open = fs::OpenOptions::new().write(true).open(&disk.device).unwrap();
    refused(&disk, &disk.device, &["open for writing", &std::process::id().to_string(), "fuser"]);
    drop(open);
}

#[test]
fn a_wrong_serial_is_refused() {
    let Some(disk) = Loop::new(16 * MIB) else { return };
    let home = home();
    let ran = write_to(home.path(), &disk.device, "WD-12345").ends(3);
    assert!(ran.err.contains("WD-12345"), "{}", ran.err);
}

#[test]
fn an_empty_loop_device_named_by_its_backing_file_is_written() {
    let Some(disk) = Loop::new(64 * MIB) else { return };
    let home = home();
    let document =
        write_to(home.path(), &disk.device, disk.backing.to_str().unwrap()).ends(0).json();
    assert_eq!(document["medium"]["kind"], "destroyed");
    assert!(document["phases"][0]["repeats"][0]["ops"]["write"]["requests"].as_u64() > Some(0));
    assert!(fs::read(&disk.backing).unwrap().iter().any(|b| *b != 0), "nothing was written");
}

#[test]
fn writing_to_a_raw_device_or_a_users_file_without_naming_it_is_refused_as_in_a_job_file() {
    let home = home();
    let file = home.path().join("precious");
    fs::write(&file, vec![7; MIB as usize]).unwrap();
    let ran = run(home.path(), &["bench", "--rw=write", "--on", file.to_str().unwrap()]).ends(3);
    assert!(ran.err.contains("--destroy"), "{}", ran.err);
    assert_eq!(fs::read(&file).unwrap(), vec![7; MIB as usize]);
    let Some(disk) = Loop::new(MIB) else { return };
    run(home.path(), &["bench", "--rw=randrw", "--on", &disk.device]).ends(3);
    let job = home.path().join("job.fio");
    fs::write(&job, format!("[a]\nrw=randrw\nsize=1m\nfilename={}\n", disk.device)).unwrap();
    run(home.path(), &["bench", job.to_str().unwrap()]).ends(3);
}

#[test]
fn checkup_only_reads_a_raw_device() {
    let Some(disk) = Loop::new(64 * MIB) else { return };
    let before = fs::read(&disk.backing).unwrap();
    let home = home();
    let document = run(home.path(), &["checkup", "--quick", &disk.device, "--json"]).ends(0).json();
    assert_eq!(document["medium"]["kind"], "read-only");
    let phases = document["phases"].as_array().unwrap();
    let skipped = |p: &serde_json::Value| p["skipped"].is_string();
    let writes = |p: &serde_json::Value| p["workload"]["read_percent"] != 100;
    assert!(phases.iter().filter(|p| writes(p)).all(skipped), "a write phase was run");
    assert!(phases.iter().any(|p| !skipped(p)), "nothing was read");
    assert!(fs::read(&disk.backing).unwrap() == before, "the device was changed");
}

#[test]
fn a_device_of_one_sector_and_one_of_none_give_a_sentence() {
    let home = home();
    if let Some(disk) = Loop::new(512) {
        let ran = run(home.path(), &["checkup", "--quick", &disk.device]).ends(0);
        assert!(ran.out.contains("too small: 512 bytes in reach"), "{}", ran.out);
    }
    if let Some(disk) = Loop::new(0) {
        let ran = run(home.path(), &["checkup", "--quick", &disk.device]).ends(3);
        assert!(ran.err.contains("empty"), "{}", ran.err);
    }
}

#[test]
fn a_read_only_file_system_is_named() {
    let Some(mounted) = Mounted::ext4(64 * MIB, "ro") else { return };
    let home = home();
    let ran = run(home.path(), &["checkup", "--quick", mounted.point.to_str().unwrap()]).ends(3);
    assert!(ran.err.contains("read-only"), "{}", ran.err);
}

#[test]
fn a_file_system_with_too_little_room_is_refused_before_anything_is_written() {
    let Some(mounted) = Mounted::ext4(64 * MIB, "rw") else { return };
    let home = home();
    let ran = run(home.path(), &["checkup", "--quick", mounted.point.to_str().unwrap()]).ends(3);
    assert!(ran.err.contains("GiB"), "what is needed is said: {}", ran.err);
    assert_eq!(common::names(&mounted.point), ["lost+found"]);
}

#[test]
fn a_directory_without_write_permission_is_refused() {
    if !common::is_root() {
        return skip("only root can become another user");
    }
    let home = home();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = home.path().join("seekwell");
    // By another program: a copy of our own is "text busy" while any test starts a child.
    common::tool("cp", &[env!("CARGO_BIN_EXE_seekwell"), program.to_str().unwrap()]);
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    command.args(["checkup", "--quick", "--no-keep"]).arg(home.path());
    let Ok(output) = command.output() else { return skip("setpriv is not installed") };
    let ran = common::done(output).ends(3);
    assert!(ran.err.contains(home.path().to_str().unwrap()), "{}", ran.err);
}

#[test]
fn a_workload_that_makes_no_sense_is_refused_before_anything_is_laid_out() {
    let home = home();
    let dir = home.path().to_str().unwrap().to_owned();
    let bad = [
        ["--iodepth=0", "depth"],
        ["--numjobs=0", "threads"],
        ["--bs=4x", "4x"],
        ["--bs=1G", "64 MiB"],
        ["--rate_iops=-1", "requests_per_s"],
        ["--rw=sideways", "sideways"],
    ];
    for [option, word] in bad {
        let ran = run(home.path(), &["bench", "--on", &dir, option]);
        assert_eq!(ran.status, 2, "{option}: {}", ran.err);
        assert!(ran.err.contains(word), "{option}: {}", ran.err);
    }
}

#[test]
fn a_directory_that_was_deleted_is_said_to_be() {
    // It was called mounted read-only, or one that could not be looked at.
    let home = home();
    let gone = home.path().join("gone");
    for words in [
        &["inspect", "."][..],
        &["checkup", "."],
        &["bench", "--on", "."],
        &["bench", "--on", ".", "--suite", "fs"],
    ] {
        fs::create_dir(&gone).unwrap();
        let script = "cd \"$1\" && rmdir \"$1\" && shift && exec \"$@\"";
        let program = common::seekwell(home.path());
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script, "sh"]).arg(&gone).arg(program.get_program()).args(words);
        let ran = common::done(command.output().unwrap());
        assert_eq!(ran.status, 2, "{words:?}: {}", ran.err);
        assert!(ran.err.contains(". was deleted"), "{words:?}: {}", ran.err);
    }
}

#[test]
fn a_directory_whose_name_is_not_utf8_is_measured_and_named_without_loss() {
    let Some(place) = common::Place::with_room(64 * MIB) else { return };
    let name = std::ffi::OsStr::from_bytes(b"disk\xff\\x");
    let dir = place.path().join(name);
    fs::create_dir(&dir).unwrap();
    let home = home();
    let ran = |words: &[&str]| {
        common::done(common::seekwell(home.path()).args(words).arg(&dir).output().unwrap())
    };
    let bench = ran(&["bench", "--size=64m", "--runtime=600ms", "--json", "--on"]).ends(0);
    let document = bench.json();
    let shown = document["inspection"]["path"].as_str().unwrap();
    assert!(shown.ends_with("disk\\xff\\x5cx"), "{shown}");
    assert_eq!(seekwell_sys::text_path(shown), dir);
    let inspect = ran(&["inspect", "--json"]);
    assert_eq!((inspect.status, &inspect.json()["path"]), (0, &shown.into()));
    let kept = run(home.path(), &["runs", "show", "last", "--json"]);
    assert_eq!(kept.json()["inspection"]["path"], shown);
    ran(&["bench", "--suite=fsmark", "--quick", "--no-keep", "--on"]).ends(0);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn root_is_not_told_to_use_sudo_and_a_user_is() {
    let home = home();
    let file = home.path().join("disk.img");
    fs::write(&file, vec![0; MIB as usize]).unwrap();
    fs::set_permissions(&file, PermissionsExt::from_mode(0o000)).unwrap();
    fs::set_permissions(home.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let program = common::seekwell(home.path());
    let ran = |drop: &[&str]| {
        let mut command = std::process::Command::new("setpriv");
        command.args(drop).arg(program.get_program());
        let words = ["bench", "--no-keep", "--on", file.to_str().unwrap()];
        command.args(words).output().ok().map(common::done)
    };
    let rights = "-dac_override,-dac_read_search";
    let (bounding, inherited) =
        (format!("--bounding-set={rights}"), format!("--inh-caps={rights}"));
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    for (drop, hint) in [
        (&[bounding.as_str(), inherited.as_str()][..], "root lacks the capability"),
        (&user, "run it again with sudo"),
    ] {
        let Some(ran) = ran(drop).filter(|ran| common::is_root() && ran.status != 127) else {
            return skip("setpriv needs root");
        };
        assert_eq!(ran.status, 3, "{}", ran.err);
        assert!(ran.err.contains(hint), "{}", ran.err);
    }
}

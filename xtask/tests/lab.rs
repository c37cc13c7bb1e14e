//! The quick part of the lab: real kernels on emulated hardware, two boots at a time. Where
//! no QEMU or kernel is available, it says so and ends.

mod program;

use program::program;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{fs, io};

/// More boots at a time than processors make the guests' own timeouts run out.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn lab(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("lab").args(args).arg("--seekwell").arg(program());
    command
}

#[test]
fn the_program_tells_the_truth_in_the_quick_scenarios() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    let output = lab(&["--quick"]).stderr(Stdio::inherit()).output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    for line in table.lines().filter(|l| l.contains(" skipped: ")) {
        let (name, why) = line.split_once(" skipped: ").unwrap();
        let name = name.split_whitespace().next().unwrap_or_default();
        eprintln!("skipped: lab scenario {name}: {why}");
    }
    assert!(output.status.success(), "{table}");
    assert!(table.contains(" 0 failed, "), "{table}");
}

/// Processes whose parent is `parent`.
fn children(parent: u32) -> io::Result<Vec<u32>> {
    let mut out = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|n| n.parse().ok()) else { continue };
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        let after = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        if after.split(' ').nth(1) == Some(&parent.to_string()) {
            out.push(pid);
        }
    }
    Ok(out)
}

fn command_of(pid: u32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ")
}

/// Waits for the lab to start QEMU; `None` when it ends without.
fn qemu_of(lab: &mut Child) -> Option<u32> {
    // The first use unpacks a kernel.
    let deadline = Instant::now() + Duration::from_secs(400);
    while Instant::now() < deadline {
        let all = children(lab.id()).unwrap();
        if let Some(pid) = all.into_iter().find(|p| command_of(*p).contains("-accel tcg")) {
            return Some(pid);
        }
        if lab.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    lab.kill().unwrap();
    panic!("no QEMU was started in time");
}

fn lab_folders(dir: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().flatten().map(|e| e.path());
    entries.collect()
}

#[test]
fn an_interrupted_lab_leaves_no_machine_and_no_image_behind() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    let dir = tempfile::tempdir().unwrap();
    let mut lab = lab(&["ahci"])
        .env("TMPDIR", dir.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let Some(qemu) = qemu_of(&mut lab) else {
        eprintln!("skipped: the lab starts no machine here");
        return;
    };
    std::thread::sleep(Duration::from_secs(1));
    assert!(!lab_folders(dir.path()).is_empty(), "the images are in the temporary folder");
    let pid = rustix::process::Pid::from_child(&lab);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let status = lab.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(!command_of(qemu).contains("-accel tcg"), "QEMU is still running");
    assert_eq!(lab_folders(dir.path()), BTreeSet::new());
}

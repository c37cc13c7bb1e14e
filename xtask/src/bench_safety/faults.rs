//! What surroundings do to programs: limits, full disks, closed outputs, signals, failing devices.

use super::Section;
use super::rig::{Ended, MIB, Rig, tool, tree, wait};
use crate::Failure;
use crate::devices::{Loop, Mount};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const BENCH: [&str; 4] = ["bench", "--rw=randrw", "--size=64m", "--runtime=600ms"];

pub fn run(rig: &mut Rig, section: &mut Section) -> Result<(), Failure> {
    let dir = rig.folder("data")?;
    fs::write(dir.join("notes.txt"), "mine")?;
    let before = tree(&dir)?;
    let on = dir.display().to_string();
    let bench: Vec<&str> = BENCH.iter().copied().chain(["--on", &on]).collect();
    outputs(rig, section)?;
    failing(rig, section)?;
    match rig.measures_in(&dir)? {
        Ok(()) => {
            limits(rig, section);
            signals(rig, section, &dir, &bench)?;
            full(rig, section, &on)?;
        }
        Err(why) => section.leave_out("limits, signals, full disks", why),
    }
    if tree(&dir)? != before {
        section.count("all faults", Err("the folder is not as it was".to_owned()));
    }
    Ok(())
}

/// A documented end, and nothing left in the folder.
fn clean(ended: &Ended, dir: &Path) -> Result<(), String> {
    ended.documented()?;
    empty(dir, "")
}

/// Whether nothing of which the name ends like this was left in the folder.
fn empty(dir: &Path, end: &str) -> Result<(), String> {
    let left: Vec<String> = fs::read_dir(dir)
        .map_err(|e| e.to_string())?
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|name| name != "notes.txt" && name.ends_with(end))
        .collect();
    if left.is_empty() { Ok(()) } else { Err(format!("left behind: {}", left.join(", "))) }
}

const LIMITS: [&str; 7] = [
    "--memlock=0",
    "--fsize=1048576",
    "--fsize=0",
    "--nofile=16",
    "--nproc=1",
    "--core=0",
    "--cpu=1",
];

/// Limits on memory and on the first thread's stack, which every command is held to; the short form
/// takes the first of each.
const MEMORY_KIB: [u64; 8] =
    [200_000, 60_000, 100_000, 130_000, 160_000, 250_000, 400_000, 1_000_000];
const STACK_KIB: [u64; 4] = [128, 64, 256, 512];

/// `DIR` is a folder to measure in.
const MEASURING: [&[&str]; 2] = [
    &["bench", "--rw=randrw", "--size=64m", "--runtime=600ms", "--on=DIR"],
    &["bench", "--suite=fsmark", "--quick", "--on=DIR"],
];
const EVERY: [&[&str]; 21] = [
    MEASURING[0],
    MEASURING[1],
    &["--help"],
    &["bench", "--help"],
    &["bench", "--suite=commit", "--quick", "--on=DIR"],
    &["bench", "--suite=threaded", "--quick", "--on=DIR"],
    &["bench", "--on=null", "--iodepth=8", "--numjobs=16", "--runtime=600ms"],
    &["bench", "--on=DIR", "--engine=threads", "--iodepth=64", "--size=64m", "--runtime=600ms"],
    &["checkup", "--quick", "DIR", "-o", "DIR/page.html"],
    &["checkup", "--quick", "nvme-ssd.toml"],
    &["compare", "last", "last"],
    &["inspect", "--json"],
    &["machine", "check", "nvme-ssd.toml"],
    &["machine", "list"],
    &["replay", "db-heavy", "--on=DIR", "--mode=depth", "--size=64m", "--fit=modulo"],
    &["report", "last", "-o", "DIR/page.html", "--force"],
    &["reproduce", "R4"],
    &["runs", "list"],
    &["runs", "reindex"],
    &["trace", "list"],
    &["tune", "status"],
];

/// Under every limit at once: mostly they wait for their time to be over.
fn limits(rig: &Rig, section: &mut Section) {
    // The short form takes a third of the commands for each.
    let mut limits = LIMITS.map(|limit| (limit.to_owned(), MEASURING.to_vec())).to_vec();
    for (name, all, first) in [("as", &MEMORY_KIB[..], 1), ("stack", &STACK_KIB[..], 0)] {
        let (steps, first, every) = if rig.quick { (1, first, 3) } else { (all.len(), 0, 1) };
        let commands: Vec<_> = EVERY.into_iter().skip(first).step_by(every).collect();
        let limit = |kib: &u64| (format!("--{name}={}", kib << 10), commands.clone());
        limits.extend(all[..steps].iter().map(limit));
    }
    let all: Vec<_> = std::thread::scope(|scope| {
        let begin = |(limit, commands): (String, Vec<&'static [&'static str]>)| {
            let under = limit.clone();
            (limit, scope.spawn(move || limited(rig, &under, &commands)))
        };
        let tries: Vec<_> = limits.into_iter().map(begin).collect();
        let end = |tried: std::thread::ScopedJoinHandle<'_, _>| {
            tried.join().unwrap_or(Err("panicked".to_owned()))
        };
        tries.into_iter().map(|(limit, tried)| (limit, end(tried))).collect()
    });
    for (limit, outcomes) in all {
        match outcomes {
            Ok(outcomes) => outcomes.into_iter().for_each(|(what, outcome)| {
                section.count(&format!("{what} under prlimit {limit}"), outcome);
            }),
            Err(why) => section.leave_out(&format!("prlimit {limit}"), why),
        }
    }
}

type Outcome = (String, Result<(), String>);

/// Commands in a folder of their own.
fn limited(rig: &Rig, limit: &str, commands: &[&[&str]]) -> Result<Vec<Outcome>, String> {
    let own = rig.folder(&format!("limit{limit}")).map_err(|e| e.to_string())?;
    let (dir, runs) = (own.join("data"), own.join("runs"));
    fs::create_dir(&dir).map_err(|e| e.to_string())?;
    let mut outcomes = Vec::new();
    for words in commands {
        let mut command = Command::new("prlimit");
        rig.at_home(&mut command).env("SEEKWELL_RUNS", &runs).arg(limit).arg("--");
        command.arg(&rig.seekwell);
        command.args(words.iter().map(|word| word.replace("DIR", &dir.display().to_string())));
        let ended = rig.finish(&mut command).map_err(|e| e.to_string())?;
        if ended.err.starts_with("prlimit: ") || ended.err.contains("loading shared libraries") {
            return Err(ended.err.trim().to_owned());
        }
        // The kernel kills with SIGSEGV what it cannot map; no command of ours has begun.
        let unmapped = ended.status.and_then(|status| status.signal()) == Some(11);
        if limit.starts_with("--as") && unmapped && ended.err.is_empty() {
            return Err("the program cannot be mapped".to_owned());
        }
        // A limit of processor time ends a program by a signal, as it is meant to, and so does the
        // allocator one that has no memory. The next one removes a suite's folder; files have no
        // name that could be left.
        let by_limit = ended.err.contains("memory allocation of") || limit.starts_with("--cpu");
        if by_limit && ended.status.is_some_and(|s| s.code().is_none()) {
            let left = empty(&dir, ".tmp");
            outcomes.extend(left.err().map(|why| (words.join(" "), Err(why))));
            continue;
        }
        let _ = fs::remove_file(dir.join("page.html"));
        outcomes.push((words.join(" "), clean(&ended, &dir)));
    }
    Ok(outcomes)
}

fn outputs(rig: &Rig, section: &mut Section) -> Result<(), Failure> {
    for (name, words) in [
        ("bench", &["bench", "--on=null", "--runtime=600ms"][..]),
        ("inspect", &["inspect", "--json"]),
        ("runs list", &["runs", "list"]),
        ("machine list", &["machine", "list"]),
    ] {
        let mut command = rig.command(words);
        command.stderr(Stdio::null()).stdout(File::options().write(true).open("/dev/full")?);
        let status = wait(command.spawn()?, Duration::from_secs(60))?;
        let code = status.and_then(|s| s.code());
        let outcome = match code {
            Some(3) => Ok(()),
            code => Err(format!("exit status {code:?}, not 3")),
        };
        section.count(&format!("{name} to a full standard output"), outcome);
        let script = "\"$0\" \"$@\" | head -c 1 >/dev/null; exit ${PIPESTATUS[0]}";
        let mut command = Command::new("bash");
        rig.at_home(&mut command).args(["-c", script]).arg(&rig.seekwell).args(words);
        let ended = rig.finish(&mut command)?;
        section.count(&format!("{name} to a closed pipe"), ended.ended_with(0));
    }
    Ok(())
}

fn signals(
    rig: &mut Rig,
    section: &mut Section,
    dir: &Path,
    bench: &[&str],
) -> Result<(), Failure> {
    let long: Vec<&str> = bench.iter().copied().filter(|w| !w.starts_with("--runtime")).collect();
    for round in 0..if rig.quick { 3 } else { 30 } {
        let name = ["INT", "TERM", "HUP"][round % 3];
        let moment = Duration::from_millis(300 + rig.below(1500));
        let child = rig.command(&long).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        std::thread::sleep(moment);
        let twice = round % 2 == 1;
        for _ in 0..=u32::from(twice) {
            let _ = tool("kill", ["-s", name, &child.id().to_string()]);
        }
        let status = wait(child, Duration::from_secs(30))?;
        let ended = Ended { status, out: String::new(), err: String::new() };
        let outcome = ended.ended_with(130).and_then(|()| clean(&ended, dir));
        let times = if twice { "twice" } else { "once" };
        section.count(&format!("SIG{name} {times} after {} ms", moment.as_millis()), outcome);
    }
    Ok(())
}

/// No room for runs, for pages, or for the index.
fn full(rig: &Rig, section: &mut Section, on: &str) -> Result<(), Failure> {
    let point = rig.folder("full")?;
    let mount = match Mount::new(&["-t", "tmpfs", "-o", "size=2m", "none"], &point) {
        Ok(mount) => mount,
        Err(why) => {
            section.leave_out("a full file system", why);
            return Ok(());
        }
    };
    let runs = mount.point().join("runs");
    let at = |words: &[&str]| {
        let mut command = rig.command(words);
        command.env("SEEKWELL_RUNS", &runs);
        rig.finish(&mut command)
    };
    let bench: Vec<&str> = BENCH.iter().copied().chain(["--on", on]).collect();
    section.count("a run is kept where there is room", at(&bench)?.ended_with(0));
    let mut rest = File::create(mount.point().join("rest"))?;
    let block = [1u8; 4096];
    while std::io::Write::write_all(&mut rest, &block).is_ok() {}
    section.count("runs list on a full disk", at(&["runs", "list"])?.ended_with(0));
    section.count("a run on a full disk", at(&bench)?.documented());
    section.count("runs list after that", at(&["runs", "list"])?.ended_with(0));
    let page = mount.point().join("page.html").display().to_string();
    section.count("a page on a full disk", at(&["report", "last", "-o", &page])?.ended_with(3));
    section.count("runs remove on a full disk", at(&["runs", "remove", "last"])?.ended_with(0));
    section.count("runs list at the end", at(&["runs", "list"])?.ended_with(0));
    Ok(())
}

/// A device that loses its second half while it is measured.
fn failing(rig: &Rig, section: &mut Section) -> Result<(), Failure> {
    let dir = rig.folder("disks")?;
    let disk = match Loop::sparse(&dir, "failing", 64 * MIB) {
        Ok(disk) => disk,
        Err(why) => {
            section.leave_out("a failing device", why);
            return Ok(());
        }
    };
    for (words, name) in [
        (&["bench", "--rw=randread", "--runtime=2s", "--on", disk.name()][..], "bench"),
        (&["checkup", "--quick", disk.name()], "checkup"),
    ] {
        File::options().write(true).open(&disk.backing)?.set_len(64 * MIB)?;
        let child = rig.command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        std::thread::sleep(Duration::from_millis(700));
        File::options().write(true).open(&disk.backing)?.set_len(MIB)?;
        let ended = Ended {
            status: wait(child, Duration::from_secs(60))?,
            out: String::new(),
            err: String::new(),
        };
        section.count(&format!("{name} on a device that fails"), ended.ended_with(4));
    }
    Ok(())
}

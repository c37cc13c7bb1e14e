//! SIGKILL at random moments, over all commands that measure, write or change something.

use super::Section;
use super::rig::{MIB, Rig, changed, digest, filled, tool, tree};
use crate::Failure;
use crate::devices::Loop;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A command, and within which time it is killed, in milliseconds.
type Victim = (&'static str, &'static [&'static str], u64);

/// `DIR` is the measured folder with the user's files, `DISK` a loop device that settings are tried
/// on, `SPARE` one that may be overwritten, `IN` a folder of inputs.
const VICTIMS: &[Victim] = &[
    ("bench on a directory", &["bench", "--on", "DIR", "--rw=randrw", "--size=64m"], 1500),
    ("bench, commits", &["bench", "--on", "DIR", "--rw=write", "--fsync=1", "--size=64m"], 1500),
    ("checkup with a page", &["checkup", "--quick", "DIR", "-o", "DIR/page.html"], 3000),
    ("a job file with logs", &["bench", "IN/job.fio", "--write-logs", "DIR/log"], 1500),
    ("suite fsmark", &["bench", "--suite=fsmark", "--quick", "--on", "DIR"], 2000),
    ("suite sqlite", &["bench", "--suite=sqlite", "--quick", "--on", "DIR"], 2000),
    ("suite fs", &["bench", "--suite=fs", "--quick", "--on", "DIR"], 3000),
    ("suite web", &["bench", "--suite=web", "--quick", "--on", "DIR"], 2000),
    ("suite blog", &["bench", "--suite=blog", "--quick", "--on", "DIR"], 2000),
    ("overwrite", &["bench", "--rw=randwrite", "--on", "SPARE", "--destroy", "SPARE_FILE"], 1500),
    ("record", &["record", "DISK", "-o", "DIR/trace.parquet", "--for", "2s"], 1500),
    ("trace convert", &["trace", "convert", "IN/long.csv", "DIR/out.parquet"], 1200),
    ("trace convert to text", &["trace", "convert", "IN/long.csv", "DIR/out.iolog"], 800),
    ("replay", &["replay", "IN/long.csv", "--on", "DIR", "--mode=depth", "--fit=modulo"], 1500),
    ("experiment", &["experiment", "--on", "DIR", "--aa", "--runtime=600ms", "--size=64m"], 3000),
    ("tune try", &["tune", "try", "DISK", "nr_requests=64", "read_ahead_kb=64", "--for=2s"], 500),
    (
        "tune try --measure",
        &[
            "tune",
            "try",
            "DISK",
            "scheduler=mq-deadline",
            "--measure=randread",
            "--runtime=1s",
            "--for=2s",
        ],
        2500,
    ),
    ("tune auto", &["tune", "auto", "DISK", "--workload=randread,iodepth=8"], 3000),
    ("inspect --save", &["inspect", "--save", "DIR/machine.snap"], 300),
    ("report", &["report", "last", "-o", "DIR/report.html"], 300),
    ("runs reindex", &["runs", "reindex"], 60),
    ("machine fit", &["machine", "fit", "last", "-o", "DIR/fitted.toml"], 400),
];

/// What must be as it was.
struct Before {
    files: BTreeMap<PathBuf, u64>,
    attributes: BTreeMap<PathBuf, String>,
    disk: u64,
}

/// Kills until there were enough.
pub fn run(rig: &mut Rig, section: &mut Section) -> Result<(), Failure> {
    let (inputs, dir) = (rig.folder("inputs")?, rig.folder("data")?);
    prepare(rig, &inputs, &dir)?;
    if let Err(why) = rig.measures_in(&dir)? {
        section.leave_out("kills", why);
        return Ok(());
    }
    let disks = match disks(rig) {
        Ok(disks) => Some(disks),
        Err(why) => {
            section.leave_out("kills of what needs a device", why);
            None
        }
    };
    for round in 0..rig.kills {
        // A short campaign sees other commands with another seed.
        let index = if rig.quick {
            rig.below(VICTIMS.len() as u64) as usize
        } else {
            round as usize % VICTIMS.len()
        };
        let (what, words, within) = &VICTIMS[index];
        let devices = words.iter().any(|w| w.starts_with("DISK") || w.starts_with("SPARE"));
        if devices && disks.is_none() {
            continue;
        }
        let args = given(words, &dir, &inputs, disks.as_ref());
        let before = look(&dir, disks.as_ref())?;
        let moment = Duration::from_micros(rig.below(within * 1000));
        let mut child = rig.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        std::thread::sleep(moment);
        child.kill()?;
        child.wait()?;
        let outcome = after(rig, &dir, disks.as_ref(), &before)?;
        section.count(&format!("{what}, killed after {} ms", moment.as_millis()), outcome);
    }
    Ok(())
}

struct Disks {
    tried: Loop,
    spare: Loop,
}

fn disks(rig: &Rig) -> Result<Disks, Failure> {
    let dir = rig.folder("disks")?;
    let disks = Disks {
        tried: Loop::sparse(&dir, "tried", 32 * MIB)?,
        spare: Loop::sparse(&dir, "spare", 64 * MIB)?,
    };
    tool("mke2fs", ["-q", "-F", disks.tried.name()])?;
    tool("blockdev", ["--flushbufs", disks.tried.name()])?;
    Ok(disks)
}

/// The words of a command for these folders and disks.
fn given(words: &[&str], dir: &Path, inputs: &Path, disks: Option<&Disks>) -> Vec<String> {
    let [dir, inputs] = [dir, inputs].map(|path| path.display().to_string());
    let mut values = vec![("DIR", &*dir), ("IN", &*inputs)];
    let file;
    if let Some(Disks { tried, spare }) = disks {
        file = spare.backing.display().to_string();
        values.extend([("SPARE_FILE", &*file), ("SPARE", spare.name()), ("DISK", tried.name())]);
    }
    words.iter().map(|word| filled(word, &values)).collect()
}

/// The user's files, a long trace, a job, and one kept run.
fn prepare(rig: &mut Rig, inputs: &Path, dir: &Path) -> Result<(), Failure> {
    fs::create_dir(dir.join("precious"))?;
    let mut bytes = vec![0; MIB as usize];
    for name in ["precious/a", "precious/b", "notes.txt", ".seekwell-1-1-mine.tmp"] {
        rig.fill(&mut bytes);
        fs::write(dir.join(name), &bytes)?;
    }
    std::os::unix::fs::symlink("notes.txt", dir.join("link"))?;
    let job = format!("[job]\ndirectory={}\nrw=randrw\nsize=32m\nruntime=2\n", dir.display());
    fs::write(inputs.join("job.fio"), job)?;
    let columns = "queued_ns,issued_ns,completed_ns,op,offset_bytes,length_bytes,device\n";
    let mut trace = columns.to_owned();
    for i in 0..200_000u64 {
        let (at, offset) = (i * 50_000, rig.below(8192) * 4096);
        let op = if i % 3 == 0 { "write" } else { "read" };
        trace += &format!("{at},{at},{},{op},{offset},4096,\"8,0\"\n", at + 40_000);
    }
    fs::write(inputs.join("long.csv"), trace)?;
    Ok(())
}

fn look(dir: &Path, disks: Option<&Disks>) -> Result<Before, Failure> {
    let mut files = tree(dir)?;
    files.retain(|path, _| is_the_users(path));
    let disk = disks.map_or(Ok(0), |disks| digest(&disks.tried.backing))?;
    let attributes = disks.map(|disks| attributes(&disks.tried)).unwrap_or_default();
    Ok(Before { files, attributes, disk })
}

/// What the victims are to write may change.
fn is_the_users(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.components().any(|c| c.as_os_str() == "precious")
        || ["notes.txt", "link", ".seekwell-1-1-mine.tmp"].contains(&&*name)
}

fn attributes(disk: &Loop) -> BTreeMap<PathBuf, String> {
    let entries = fs::read_dir(disk.sysfs().join("queue")).into_iter().flatten().flatten();
    entries.filter_map(|e| Some((e.path(), fs::read_to_string(e.path()).ok()?))).collect()
}

fn after(
    rig: &Rig,
    dir: &Path,
    disks: Option<&Disks>,
    before: &Before,
) -> Result<Result<(), String>, Failure> {
    let mut wrong = Vec::new();
    if let Some(disks) = disks {
        let back = || attributes(&disks.tried) == before.attributes;
        let begun = Instant::now();
        while !back() && begun.elapsed() < Duration::from_secs(15) {
            std::thread::sleep(Duration::from_millis(50));
        }
        if !back() {
            wrong.push("SETTINGS LOST: an attribute did not come back".to_owned());
        }
        // A journal without a guard stays until this is said; without one it is a usage error.
        let undone = rig.run(["tune", "undo", disks.tried.name()])?;
        if undone.documented().is_err() || !matches!(undone.code(), Some(0 | 2)) || !back() {
            wrong.push(format!("tune undo: exit status {:?}: {}", undone.code(), undone.err));
        }
    }
    wrong.extend(rig.measures_in(dir)?.err().map(|e| format!("next command: {e}")));
    wrong.extend(changed(&before.files, &tree(dir)?).iter().map(|w| format!("DATA LOST: {w}")));
    if let Some(disks) = disks
        && digest(&disks.tried.backing)? != before.disk
    {
        wrong.push("DATA LOST: a device that was only read was changed".to_owned());
    }
    for name in left_behind(dir)? {
        wrong.push(format!("left behind: {name}"));
    }
    for name in traces() {
        wrong.push(format!("left behind: the tracefs instance {name}"));
    }
    let runs = rig.run(["runs", "list"])?.ended_with(0);
    wrong.extend(runs.err().map(|e| format!("runs list: {e}")));
    // What was written whole stays whole, and does not stand in the way of the next.
    for name in ["page.html", "report.html"] {
        let path = dir.join(name);
        let text = fs::read_to_string(&path).unwrap_or_else(|_| "</html>".to_owned());
        if !text.trim_end().ends_with("</html>") {
            wrong.push(format!("{name} is cut short"));
        }
    }
    clear(dir)?;
    Ok(if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) })
}

/// Names in the measured folder that are neither the user's nor what a victim was to write.
fn left_behind(dir: &Path) -> Result<Vec<String>, Failure> {
    let mut left = Vec::new();
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        // What is left of a recording can be read; that is what it is for.
        let recording = name.starts_with("trace.parquet");
        let mine = name == ".seekwell-1-1-mine.tmp";
        if name.starts_with('.') && !mine && !recording {
            left.push(name);
        }
    }
    Ok(left)
}

/// Instances of processes that are gone; another program's, or a test's, are not ours to judge.
fn traces() -> Vec<String> {
    let entries = fs::read_dir("/sys/kernel/tracing/instances").into_iter().flatten().flatten();
    let names = entries.map(|e| e.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| {
            let pid = name.strip_prefix("seekwell-").and_then(|rest| rest.split('-').next());
            pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists())
        })
        .collect()
}

/// Every kill begins in the same folder.
fn clear(dir: &Path) -> Result<(), Failure> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if is_the_users(&path) {
            continue;
        }
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    Ok(())
}

//! Hostile files, given to every command that reads one.

use super::Section;
use super::rig::{Rig, filled, tool, tree};
use crate::{Failure, root};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// Where good files of a kind lie in the working tree, and the commands that read one: FILE is its
/// path, OUT one to write.
struct Kind {
    folder: &'static str,
    commands: &'static [&'static [&'static str]],
}

const KINDS: &[Kind] = &[
    Kind {
        folder: "fuzz/seeds/trace",
        commands: &[
            &["trace", "info", "FILE"],
            &["trace", "stats", "FILE"],
            &["trace", "convert", "FILE", "OUT.csv", "--force"],
            &["replay", "FILE", "--on", "null", "--mode=depth", "--no-keep"],
        ],
    },
    Kind {
        folder: "machines",
        commands: &[
            &["machine", "check", "FILE"],
            &["machine", "show", "FILE"],
            &["bench", "--on", "FILE", "--runtime=500ms", "--no-keep"],
        ],
    },
    Kind { folder: "fuzz/seeds/machine", commands: &[&["machine", "check", "FILE"]] },
    Kind {
        folder: "fuzz/seeds/snapshot",
        commands: &[&["inspect", "--from", "FILE"], &["diff", "FILE", "FILE"]],
    },
    Kind { folder: "fuzz/seeds/kernel_log", commands: &[&["inspect", "--log", "FILE"]] },
    Kind { folder: "fuzz/seeds/lspci", commands: &[&["inspect", "--from", "FILE"]] },
    Kind { folder: "fuzz/seeds/bonnie", commands: &[&["compare", "FILE", "FILE"]] },
    Kind { folder: "fuzz/seeds/fio_json", commands: &[&["compare", "FILE", "FILE"]] },
    Kind { folder: "fuzz/seeds/phoronix", commands: &[&["compare", "FILE"]] },
    Kind {
        folder: "fuzz/seeds/run_document",
        commands: &[&["compare", "FILE", "FILE"], &["report", "FILE", "-o", "OUT.html", "--force"]],
    },
    Kind {
        folder: "fuzz/seeds/disksim",
        commands: &[&["machine", "import", "FILE", "-o", "OUT.toml", "--force"]],
    },
];

/// Things that are not files with something in them; devices stand behind a link.
const ODD: [&str; 7] =
    ["empty", "a folder", "a link to itself", "/dev/zero", "a pipe", "/dev/full", "not there"];

/// Damaged files, then what is no file at all.
pub fn run(rig: &mut Rig, section: &mut Section) -> Result<(), Failure> {
    let dir = rig.folder("hostile")?;
    let rounds = if rig.quick { 1 } else { 12 };
    for kind in KINDS {
        let Some(seeds) = seeds(&root().join(kind.folder), rig.quick) else {
            section.leave_out(kind.folder, "no seeds");
            continue;
        };
        for seed in seeds {
            let good = fs::read(&seed)?;
            let name = seed.file_name().unwrap_or_default().to_string_lossy().into_owned();
            for round in 0..rounds {
                let (how, bytes) = damaged(rig, &good);
                let path = dir.join(&name);
                fs::write(&path, bytes)?;
                let commands = kind.commands.iter().enumerate();
                // The short form spreads the commands over the seeds.
                let pick = rig.below(kind.commands.len() as u64) as usize;
                for (_, words) in commands.filter(|(i, _)| !rig.quick || *i == pick) {
                    let what = format!("{} of {name}, {how} (round {round})", words[..2].join(" "));
                    let ended = rig.run(given(words, &path, &dir))?;
                    section.count(&what, ended.documented());
                }
            }
        }
    }
    odd(rig, section, &dir)?;
    labels(rig, section)?;
    includes(rig, section, &dir)?;
    outputs(rig, section)
}

fn seeds(folder: &Path, quick: bool) -> Option<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).ok()?.flatten().map(|e| e.path());
    let mut files: Vec<PathBuf> = entries.filter(|p| p.is_file()).collect();
    files.sort();
    files.truncate(if quick { 2 } else { 8 });
    (!files.is_empty()).then_some(files)
}

/// A command that is given a file.
fn given(words: &[&str], file: &Path, dir: &Path) -> Vec<String> {
    let (file, out) = (file.display().to_string(), dir.join("written").display().to_string());
    words.iter().map(|word| filled(word, &[("FILE", &file), ("OUT", &out)])).collect()
}

/// One kind of damage, drawn at random.
fn damaged(rig: &mut Rig, good: &[u8]) -> (&'static str, Vec<u8>) {
    let mut bytes = good.to_vec();
    let len = bytes.len() as u64;
    let at = rig.below(len) as usize;
    let how = match rig.below(7) {
        0 => {
            bytes.truncate(at);
            "cut short"
        }
        1 => {
            for _ in 0..16 {
                let (at, bit) = (rig.below(len) as usize, rig.below(8));
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << bit;
                }
            }
            "bits flipped"
        }
        2 => {
            let end = (at + 64).min(bytes.len());
            bytes[at..end].fill(0);
            "zeros inside"
        }
        3 => {
            let end = (at + 64).min(bytes.len());
            let mut noise = vec![0; end - at];
            rig.fill(&mut noise);
            bytes[at..end].copy_from_slice(&noise);
            "garbage inside"
        }
        4 => {
            let tail = bytes[at..].to_vec();
            bytes.extend_from_slice(&tail);
            "a part twice"
        }
        5 => {
            // Numbers become larger than any type holds.
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let digit = rig.below(10).to_string();
            bytes = text.replacen(&digit, "99999999999999999999999", 3).into_bytes();
            "huge numbers"
        }
        _ => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            bytes = text.replacen('\n', &"(".repeat(50_000), 1).into_bytes();
            "deep nesting"
        }
    };
    (how, bytes)
}

fn odd(rig: &mut Rig, section: &mut Section, dir: &Path) -> Result<(), Failure> {
    for odd in ODD {
        // Always a name that nothing has yet: what it stands for is never removed.
        let path = dir.join(odd.replace('/', "_"));
        match odd {
            "empty" => fs::write(&path, "")?,
            "a folder" => fs::create_dir(&path)?,
            "a link to itself" => std::os::unix::fs::symlink("odd", &path)?,
            "a pipe" => drop(tool("mkfifo", [&path])?),
            "/dev/zero" | "/dev/full" => std::os::unix::fs::symlink(odd, &path)?,
            _ => {}
        }
        for kind in KINDS {
            for words in kind.commands.iter().take(if rig.quick { 1 } else { 4 }) {
                let what = format!("{} of {odd}", words[..2].join(" "));
                let mut command = std::process::Command::new("prlimit");
                rig.at_home(&mut command).arg("--as=8589934592").arg("--").arg(&rig.seekwell);
                command.args(given(words, &path, dir));
                // A pipe without a writer, and zeros without an end, must not be waited for.
                let child = command
                    .stdout(std::process::Stdio::null())
                    .stderr(std::process::Stdio::null())
                    .spawn();
                let Ok(child) = child else {
                    section.leave_out(odd, "prlimit is not installed");
                    return Ok(());
                };
                let outcome = if odd == "a pipe" { interrupted(child)? } else { ended(child)? };
                section.count(&what, outcome);
            }
        }
    }
    Ok(())
}

fn ended(child: std::process::Child) -> Result<Result<(), String>, Failure> {
    let status = super::rig::wait(child, std::time::Duration::from_secs(60))?;
    let ended = super::rig::Ended { status, out: String::new(), err: String::new() };
    Ok(ended.documented())
}

/// A pipe may be waited for, until the first signal.
fn interrupted(child: std::process::Child) -> Result<Result<(), String>, Failure> {
    std::thread::sleep(std::time::Duration::from_millis(150));
    let _ = tool("kill", ["-s", "TERM", &child.id().to_string()]);
    let status = super::rig::wait(child, std::time::Duration::from_secs(10))?;
    if status.is_some_and(|s| std::os::unix::process::ExitStatusExt::signal(&s) == Some(15)) {
        // Nothing had been begun yet that would have to be put back.
        return Ok(Ok(()));
    }
    let ended = super::rig::Ended { status, out: String::new(), err: String::new() };
    Ok(ended.documented())
}

/// Commands that write one file, OUT, and what follows the name they are given; IN is a trace.
const WRITERS: [(&[&str], &str); 19] = [
    (&["report", "last", "-o", "OUT"], ""),
    (&["report", "last", "--textfile", "OUT"], ""),
    (&["checkup", "--quick", "--no-keep", MODEL, "-o", "OUT"], ""),
    (&["compare", "last", "last", "-o", "OUT"], ""),
    (&["compare", "last", "last", "--phoronix", "OUT"], ""),
    (&["reproduce", "R4", "-o", "OUT"], ""),
    (&["fleet", "report", "-o", "OUT"], ""),
    (&["machine", "fit", "last", "-o", "OUT"], ""),
    (&["machine", "plan", MODEL, "--workload=db-heavy", "--limit=p99=1s", "-o", "OUT"], ""),
    (&["machine", "serve", MODEL, "--nbd=127.0.0.1:0", "--data", "OUT"], ""),
    (&["inspect", "/", "--save", "OUT"], ""),
    (&["inspect", "/", "--textfile", "OUT"], ""),
    (&["trace", "stats", "IN", "-o", "OUT"], ""),
    (&["trace", "convert", "IN", "OUT", "--to=csv"], ""),
    (&["trace", "cut", "IN", "OUT", "--to=seekwell"], ""),
    (&["trace", "convert", "IN", "OUT", "--to=iolog"], ""),
    (&["bench", "--on=null", "--runtime=600ms", "--textfile", "OUT"], ""),
    (&["bench", "--on=null", "--runtime=600ms", "--write-logs", "OUT"], "_bw.1.log"),
    (&["bench", "--on=null", "--rw=read", "--output-dir", "OUT"], "/read-1-1.json"),
];
const MODEL: &str = "p4sbe-ich8-ahci.toml";

/// What an output must neither replace nor open; the loop device of the last is not there.
const PLACES: [&str; 8] = [
    "FIFO",
    "loop device",
    "socket",
    "null device",
    "link",
    "dangling link",
    "folder",
    "full device",
];

fn outputs(rig: &mut Rig, section: &mut Section) -> Result<(), Failure> {
    rig.run(["checkup", "--quick", MODEL])?.ended_with(0)?;
    let trace = root().join("fuzz/seeds/trace/msr").display().to_string();
    let spare =
        (512..).find(|n| !Path::new(&format!("/sys/block/loop{n}")).exists()).unwrap_or(512);
    let made = PathBuf::from(format!("/sys/block/loop{spare}"));
    for (number, (words, end)) in WRITERS.iter().enumerate() {
        for (turn, place) in PLACES.iter().enumerate() {
            // The short form spreads the places over the commands, but tries the worst on each.
            if rig.quick && turn != 0 && turn != 1 + number % (PLACES.len() - 1) {
                continue;
            }
            let dir = rig.folder("outputs")?;
            let out = dir.join("out").display().to_string();
            let path = PathBuf::from(format!("{out}{end}"));
            let Some(_kept) = planted(&path, place, spare) else {
                section.leave_out(place, "no device nodes without root");
                continue;
            };
            let before = tree(&dir)?;
            for force in [&[][..], &["--force"]].into_iter().take(if rig.quick { 1 } else { 2 }) {
                let put = |word: &&str| filled(word, &[("OUT", &out), ("IN", &trace)]);
                if words.contains(&"serve") && !force.is_empty() {
                    continue;
                }
                let ended = rig.run(words.iter().chain(force).map(put))?;
                let same = if tree(&dir)? == before { Ok(()) } else { Err("changed".to_owned()) };
                let asleep =
                    if made.exists() { Err(format!("made {}", made.display())) } else { Ok(()) };
                let what = format!("{} {} onto a {place}", words.join(" "), force.join(""));
                section.count(&what, ended.ended_with(3).and(same).and(asleep));
            }
        }
    }
    Ok(())
}

/// Puts something that is no regular file in a place, with what must live as long.
fn planted(path: &Path, kind: &str, spare: u32) -> Option<Option<UnixListener>> {
    let folder = path.parent()?;
    fs::create_dir_all(folder).ok()?;
    let victim = folder.join("victim");
    fs::write(&victim, "theirs").ok()?;
    let text = path.to_str()?;
    let node = |words: &[&str]| tool("mknod", [&[text], words].concat()).ok();
    match kind {
        "FIFO" => drop(node(&["p"])?),
        "loop device" => drop(node(&["b", "7", &spare.to_string()])?),
        "null device" => drop(node(&["c", "1", "3"])?),
        "full device" => drop(node(&["c", "1", "7"])?),
        "link" => symlink(victim, path).ok()?,
        "dangling link" => symlink("nowhere", path).ok()?,
        "folder" => fs::create_dir(path).ok()?,
        _ => return Some(Some(UnixListener::bind(path).ok()?)),
    }
    Some(None)
}

/// Labels too long to be typed, and one that an earlier version kept.
fn labels(rig: &mut Rig, section: &mut Section) -> Result<(), Failure> {
    for (length, status) in [(200, 0), (201, 2), (5_000, 2), (100_000, 2)] {
        let label = "x".repeat(length);
        let ended = rig.run(["bench", "--on", MODEL, "--runtime=600ms", "--label", &label])?;
        section.count(&format!("a label of {length} characters"), ended.ended_with(status));
    }
    for length in [400_000, 4_000_000] {
        let place = rig.folder("labels")?;
        let at = |words: &[&str]| rig.finish(rig.command(words).env("SEEKWELL_RUNS", &place));
        at(&["bench", "--on", MODEL, "--runtime=600ms", "--label=MARKED"])?.ended_with(0)?;
        let bundle = fs::read_dir(&place)?.flatten().map(|e| e.path().join("run.json"));
        let document = bundle.into_iter().find(|path| path.exists()).ok_or("no kept run")?;
        let text = fs::read_to_string(&document)?.replace("MARKED", &"x".repeat(length));
        fs::write(&document, text)?;
        for words in [&["runs", "reindex"][..], &["runs", "list"], &["runs", "list", "--json"]] {
            let what = format!("{} over a label of {length} characters", words.join(" "));
            section.count(&what, at(words)?.ended_with(0));
        }
    }
    Ok(())
}

/// Job files that include what is none: no word of it is shown.
fn includes(rig: &mut Rig, section: &mut Section, dir: &Path) -> Result<(), Failure> {
    let (job, secret) = (dir.join("includes.fio"), dir.join("secret"));
    for line in ["root:WORD:19000:0:::", "WORD", "password=WORD", "[WORD]", "WORD=1\nrw=read"] {
        fs::write(&secret, format!("{line}\n"))?;
        for text in ["include PATH\n[a]\n", "[a]\ninclude PATH\n", "[global]\ninclude PATH\n[a]\n"]
        {
            fs::write(&job, text.replace("PATH", &secret.display().to_string()))?;
            for how in [&["--show"][..], &["--on=null"]] {
                let words = ["bench", job.to_str().unwrap_or_default()];
                let ended = rig.run(words.iter().chain(how))?;
                let shown = ended.out.contains("WORD") || ended.err.contains("WORD");
                let kept = if shown { Err(format!("shows it: {}", ended.err)) } else { Ok(()) };
                section.count(&format!("include of {line:?}"), ended.ended_with(2).and(kept));
            }
        }
    }
    Ok(())
}

//! `xtask test`: runs the test programs, some side by side because many tests wait, and sums up the
//! results. `make test` builds them first.
//!
//! On the gate's machine (Debian, root, `CI=true`) whatever is skipped must stand in `skips.toml`.
//! `--rounds 20 --hogs 2` shows that no test depends on a quiet machine.

use crate::bench::{Artifact, built};
use crate::busy::Busy;
use crate::{Failure, root};
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};
use rustix::mount::{mount, mount_change, unmount};
use rustix::thread::UnshareFlags;
use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::Mutex;
use std::time::Instant;

/// Tests that run the real program mostly wait for it. With more at a time, or beside others, a
/// program may get no processor for 100 ms, which what it measures then shows.
const TESTS_PER_PROCESSOR: usize = 2;

#[derive(clap::Args)]
pub struct Args {
    /// Run all tests this many times.
    #[arg(long, default_value_t = 1)]
    rounds: u32,

    /// Keep this many processors busy meanwhile.
    #[arg(long, default_value_t = 0)]
    hogs: usize,
}

pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let expected: Expected = toml::from_str(&std::fs::read_to_string(root().join(EXPECTED))?)?;
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        own_mounts().map_err(|e| format!("no mount namespace for the tests: {e}"))?;
    }
    let ci = std::env::var("CI").is_ok_and(|it| it == "true");
    let is_gate = is_root && ci && Path::new("/etc/debian_version").exists();
    let _busy = Busy::on(0..args.hogs);
    let mut is_green = true;
    for round in 1..=args.rounds {
        let begun = Instant::now();
        let mut summary = all_tests()?;
        summary.judge(&expected, is_gate);
        summary.print();
        print_round(round, args, begun);
        is_green &= summary.failed.is_empty();
    }
    Ok(if is_green { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn all_tests() -> Result<Summary, Failure> {
    let processors = std::thread::available_parallelism()?.get();
    let (alone, together) = programs(processors)?;
    let summary = Mutex::new(Summary::default());
    side_by_side(alone, 1, &summary);
    side_by_side(together, processors, &summary);
    Ok(summary.into_inner().unwrap_or_else(|e| e.into_inner()))
}

#[expect(clippy::print_stdout, reason = "a line below the summary")]
fn print_round(round: u32, args: &Args, begun: Instant) {
    if args.rounds > 1 {
        let (rounds, hogs, spent_s) = (args.rounds, args.hogs, begun.elapsed().as_secs());
        println!("round {round} of {rounds}: {spent_s} s beside {hogs} CPU hogs");
    }
}

/// Gives this process and its children mounts of their own, which go with them: tracefs, mounted
/// here or not, and shared memory of their own.
fn own_mounts() -> std::io::Result<()> {
    // SAFETY: this process has one thread, and file descriptors are not unshared.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS)? };
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let tracing = Path::new("/sys/kernel/tracing");
    if tracing.exists() && !tracing.join("instances").exists() {
        mount("nodev", tracing, "tracefs", MountFlags::empty(), None)?;
    }
    std::fs::create_dir_all("/dev/shm")?;
    // What another mount there holds is not in the way of its own.
    let _ = unmount("/dev/shm", UnmountFlags::DETACH);
    mount("nodev", "/dev/shm", "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, None)?;
    Ok(())
}

/// Where it stands what the gate's machine cannot run.
const EXPECTED: &str = "xtask/skips.toml";

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    skip: Vec<Skip>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Skip {
    /// What the test says after `skipped: `, or the beginning of it.
    says: String,
    /// Why it cannot be helped.
    because: String,
}

/// Runs the programs, `workers` at a time.
fn side_by_side(programs: Programs, workers: usize, summary: &Mutex<Summary>) {
    let programs = Mutex::new(programs);
    // A panic in another worker leaves both as good as they were.
    let next = || programs.lock().unwrap_or_else(|e| e.into_inner()).pop_front();
    let work = || {
        while let Some((name, command)) = next() {
            let begun = Instant::now();
            let ran = ran(command);
            let mut summary = summary.lock().unwrap_or_else(|e| e.into_inner());
            summary.add(&name, ran, begun);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
}

/// Commands that run the tests, each with a name.
type Programs = VecDeque<(String, Command)>;

/// What runs alone because it measures, and what runs side by side, the longest first. Programs run
/// as under cargo.
fn programs(processors: usize) -> Result<(Programs, Programs), Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let ours = ["/usr/sbin".into(), "/sbin".into(), root().join("target/python/bin")];
    let path = std::env::join_paths(std::env::split_paths(&path).chain(ours))?;
    let command = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(root()).env("PATH", &path);
        (words.join(" "), command)
    };
    let mut alone = VecDeque::new();
    let mut rest = VecDeque::from([
        command(&["make", "--no-print-directory", "test-python"]),
        command(&["make", "--no-print-directory", "test-page"]),
        command(&["cargo", "test", "--quiet", "--workspace", "--doc", "--no-fail-fast"]),
    ]);
    for artifact in built(&["test", "--no-run", "--workspace"])? {
        let Artifact { executable: Some(program), manifest_path, target, profile } = artifact
        else {
            continue;
        };
        if !profile.test {
            continue;
        }
        let folder = manifest_path.parent().unwrap_or(Path::new("."));
        let package = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (_, mut command) = command(&[&program.to_string_lossy(), "--show-output"]);
        command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
        let name = format!("{package} {}", target.name);
        match package.as_str() {
            "seekwell" => {
                command.env("RUST_TEST_THREADS", (processors * TESTS_PER_PROCESSOR).to_string());
                alone.push_back((name, command));
            }
            // The lab and the safety campaign.
            "xtask" => rest.push_front((name, command)),
            _ => rest.push_back((name, command)),
        }
    }
    Ok((alone, rest))
}

/// How a program ended, and what it wrote to either stream.
fn ran(mut command: Command) -> std::io::Result<(ExitStatus, String)> {
    let (mut reader, writer) = std::io::pipe()?;
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // The writing ends are to be the child's alone.
    drop(command);
    let mut said = Vec::new();
    reader.read_to_end(&mut said)?;
    Ok((child.wait()?, String::from_utf8_lossy(&said).into_owned()))
}

#[derive(Debug, Default)]
struct Summary {
    passed: usize,
    failed: Vec<String>,
    /// How often, by what was said.
    skipped: BTreeMap<String, usize>,
    tried_again: usize,
}

impl Summary {
    /// Counts what one program said, and prints it.
    #[expect(clippy::print_stdout, reason = "the tests' output is the result")]
    fn add(&mut self, name: &str, ran: std::io::Result<(ExitStatus, String)>, begun: Instant) {
        let (ended, said) = match ran {
            Ok((status, said)) => ((!status.success()).then(|| status.to_string()), said),
            Err(error) => (Some(error.to_string()), String::new()),
        };
        println!("\n=== {name}, {:.1} s\n{said}", begun.elapsed().as_secs_f64());
        self.count(name, ended, &said);
    }

    /// `ended`: how, where it did not end well.
    fn count(&mut self, name: &str, ended: Option<String>, said: &str) {
        let before = self.failed.len();
        for line in said.lines() {
            if let Some(test) = line.strip_prefix("test ") {
                self.passed += usize::from(line.ends_with(" ... ok"));
                let failed = test.strip_suffix(" ... FAILED");
                self.failed.extend(failed.map(|test| format!("{name}: {test}")));
            } else if let Some(why) = skip_in(line) {
                *self.skipped.entry(why.to_owned()).or_default() += 1;
            } else {
                self.tried_again += usize::from(line.starts_with("tried again: "));
                self.passed += passed_in(line);
            }
        }
        if let Some(how) = ended.filter(|_| self.failed.len() == before) {
            self.failed.push(format!("{name}: {how}"));
        }
    }

    /// On the gate's machine an unexpected skip is a failure.
    fn judge(&mut self, expected: &Expected, is_gate: bool) {
        let skipped = std::mem::take(&mut self.skipped);
        for (why, times) in skipped {
            let known = expected.skip.iter().find(|skip| why.starts_with(&skip.says));
            if known.is_none() && is_gate {
                self.failed.push(format!("skipped, and not in {EXPECTED}: {why}"));
            }
            let reason = known.map(|skip| format!(" (expected: {})", skip.because));
            self.skipped.insert(why + &reason.unwrap_or_default(), times);
        }
    }

    #[expect(clippy::print_stdout, reason = "the summary is the result")]
    fn print(&self) {
        self.skipped.iter().for_each(|(why, times)| println!("{times} × skipped: {why}"));
        self.failed.iter().for_each(|test| println!("failed: {test}"));
        let (passed, failed) = (self.passed, self.failed.len());
        let skipped: usize = self.skipped.values().sum();
        println!("{} tried again", self.tried_again);
        println!("{passed} passed, {failed} failed, {skipped} skipped in whole or in part");
    }
}

/// Why a test was skipped, as our tests say it or as pytest does: `SKIPPED [1] FILE:LINE: why`.
fn skip_in(line: &str) -> Option<&str> {
    let ours = line.strip_prefix("skipped: ");
    ours.or_else(|| {
        let (_, why) = line.strip_prefix("SKIPPED [")?.split_once(": ")?;
        Some(why.strip_prefix("skipped: ").unwrap_or(why))
    })
}

/// How many tests passed, as pytest (`66 passed, 1 skipped in 9.01s`) and Node (`# pass 12`, on a
/// terminal `ℹ pass 12`) sum up.
fn passed_in(line: &str) -> usize {
    let pytest = line.split_once(" passed").map(|(number, _)| number);
    let node = line.strip_prefix("# pass ").or_else(|| line.strip_prefix("ℹ pass "));
    pytest.or(node).and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_named_and_what_was_skipped_is_counted_by_its_reason() {
        let mut summary = Summary::default();
        let said = "running 3 tests\ntest a::b ... ok\ntest c - should panic ... ok\n\
                    test d ... FAILED\n\n---- a::b stdout ----\nskipped: no fio\n";
        summary.count("seekwell commands", Some("exit status: 101".to_owned()), said);
        summary.count("seekwell-io seekwell_io", None, "test e ... ok\nskipped: no fio\n");
        assert_eq!(summary.passed, 3);
        assert_eq!(summary.failed, ["seekwell commands: d"]);
        assert_eq!(summary.skipped, BTreeMap::from([("no fio".to_owned(), 2)]));
    }

    #[test]
    fn what_pytest_and_node_sum_up_counts_too() {
        let mut summary = Summary::default();
        let said = "SKIPPED [1] tests/test_sweep.py:209: skipped: ray is not installed\n\
                    66 passed, 1 skipped in 9.01s\n";
        summary.count("python", None, said);
        summary.count("page", None, "# tests 12\n# pass 12\n# fail 0\ntried again: a replay\n");
        assert_eq!((summary.passed, summary.tried_again), (78, 1));
        assert_eq!(summary.skipped.keys().collect::<Vec<_>>(), ["ray is not installed"]);
    }

    #[test]
    fn the_gate_fails_for_a_skip_that_is_not_expected() {
        let text = "skip = [{ says = 'no fio', because = 'it is slow' }]";
        let expected: Expected = toml::from_str(text).unwrap();
        let judged = |said, is_gate| {
            let mut summary = Summary::default();
            summary.count("tests", None, said);
            summary.judge(&expected, is_gate);
            (summary.failed, summary.skipped.into_keys().next().unwrap())
        };
        let known = "no fio here (expected: it is slow)".to_owned();
        assert_eq!(judged("skipped: no fio here\n", true), (vec![], known));
        assert_eq!(judged("skipped: no root\n", false), (vec![], "no root".to_owned()));
        let (failed, _) = judged("skipped: no root\n", true);
        assert_eq!(failed, ["skipped, and not in xtask/skips.toml: no root"]);
    }

    #[test]
    fn a_program_that_dies_before_its_tests_end_has_failed() {
        let mut summary = Summary::default();
        let (status, said) = ran({
            let mut command = Command::new("sh");
            command.args(["-c", "echo test a ... ok; echo oh >&2; kill -9 $$"]);
            command
        })
        .unwrap();
        assert_eq!(said, "test a ... ok\noh\n");
        summary.count("tests", Some(status.to_string()), &said);
        assert_eq!(summary.failed, ["tests: signal: 9 (SIGKILL)"]);
    }
}

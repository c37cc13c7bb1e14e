//! `xtask test`: runs the test programs, some side by side because many tests wait, and sums up the
//! results. `make test` builds them first.

use crate::bench::{Artifact, built};
use crate::{Failure, root};
use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::Mutex;
use std::time::Instant;

/// Tests that run the real program mostly wait for it. With more at a time, or beside others, a
/// program may get no processor for 100 ms, and a run of 600 ms is then too short to be valid.
const TESTS_PER_PROCESSOR: usize = 2;

pub fn run() -> Result<ExitCode, Failure> {
    let processors = std::thread::available_parallelism()?.get();
    let (alone, together) = programs(processors)?;
    let summary = Mutex::new(Summary::default());
    side_by_side(alone, 1, &summary);
    side_by_side(together, processors, &summary);
    let summary = summary.into_inner().unwrap_or_else(|e| e.into_inner());
    summary.print();
    Ok(if summary.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs so many at a time.
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
    let command = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(root());
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
        let mut command = Command::new(program);
        command.arg("--show-output").current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
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
    skipped: BTreeMap<String, usize>,
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
            } else if line.starts_with("skipped: ") {
                *self.skipped.entry(line.to_owned()).or_default() += 1;
            }
        }
        if let Some(how) = ended.filter(|_| self.failed.len() == before) {
            self.failed.push(format!("{name}: {how}"));
        }
    }

    #[expect(clippy::print_stdout, reason = "the summary is the result")]
    fn print(&self) {
        self.skipped.iter().for_each(|(why, times)| println!("{times} × {why}"));
        self.failed.iter().for_each(|test| println!("failed: {test}"));
        let (passed, failed) = (self.passed, self.failed.len());
        let skipped: usize = self.skipped.values().sum();
        println!("{passed} passed, {failed} failed, {skipped} skipped in whole or in part");
    }
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
        assert_eq!(summary.skipped, BTreeMap::from([("skipped: no fio".to_owned(), 2)]));
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

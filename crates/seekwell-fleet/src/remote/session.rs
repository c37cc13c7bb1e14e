//! One host: a connection, the program if it is missing there, a run, and what it gave.

use super::pipe::Pipe;
use super::{Bound, Bounds, Fleet, Host, News, Outcome, Stage, Visit};
use crate::error::FleetError;
use rustix::process::{Pid, Signal, kill_process_group};
use seekwell_io::engine::Control;
use seekwell_runs::read::{self, MAX_DETAIL_BYTES, MAX_RUN_BYTES};
use seekwell_runs::{Detail, RunDocument};
use seekwell_sys::thread::start_scoped;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

const SCRIPT: &str = include_str!("host.sh");
/// How often a host that is waited for is looked at.
const TICK: Duration = Duration::from_millis(100);
/// How long a host has to end its run and clean up once it was asked to.
const GRACE: Duration = Duration::from_secs(20);
/// The most that is taken of what a program prints.
const MAX_OUTPUT_BYTES: u64 = 64 << 20;
/// The last lines of standard error that are kept.
const LINES: usize = 20;

/// What a host says.
enum Word {
    Need,
    NoRoom,
    NoStart,
    Running,
    Output(Vec<u8>),
    /// Comes before its run.
    Detail(Detail),
    Run(Box<RunDocument>),
    TooMuch(Bound),
    End(u8),
    /// What could not be understood, and why.
    Unknown(String),
}

/// Runs the program on one host.
pub fn visit(fleet: &Fleet<'_>, host: &Host, tell: &dyn Fn(News)) -> Visit {
    let begun = Instant::now();
    let mut visit = Visit {
        outcome: Outcome::Unreachable,
        said: String::new(),
        output: String::new(),
        took: Duration::ZERO,
    };
    tell(News::At(Stage::Connecting));
    match connect(fleet, host) {
        Err(error) => visit.said = format!("ssh: {error}"),
        Ok(mut child) => {
            visit.outcome = converse(fleet, &mut child, begun, tell, &mut visit);
        }
    }
    visit.took = begun.elapsed();
    visit
}

fn connect(fleet: &Fleet<'_>, host: &Host) -> io::Result<Child> {
    let words = ["sh", "-c", SCRIPT, "seekwell-fleet", fleet.version.unwrap_or_default()];
    let words = words.into_iter().chain(fleet.args.iter().map(String::as_str));
    let remote: Vec<String> = words.map(quote).collect();
    let mut ssh = Command::new("ssh");
    if let Some(config) = fleet.config {
        ssh.arg("-F").arg(config);
    }
    for option in fleet.options {
        ssh.args(["-o", option]);
    }
    // The first value of an option counts, so those above win.
    for option in [
        "BatchMode=yes",
        "ControlMaster=no",
        "ConnectTimeout=10",
        "ServerAliveInterval=5",
        "ServerAliveCountMax=3",
    ] {
        ssh.args(["-o", option]);
    }
    // Ctrl-C is for this program: it ends the remote runs, and then the connections.
    ssh.args(["-T", "--", &host.name, &remote.join(" ")]).process_group(0);
    ssh.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// A word for the shell of the host.
fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn converse(
    fleet: &Fleet<'_>,
    child: &mut Child,
    begun: Instant,
    tell: &dyn Fn(News),
    visit: &mut Visit,
) -> Outcome {
    let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) else {
        return Outcome::Unreachable;
    };
    // One word at a time: a host waits until its runs are saved.
    let (send, words) = sync_channel(1);
    let ended = AtomicBool::new(false);
    let over = &|| ended.load(Relaxed);
    let outcome = std::thread::scope(|scope| {
        let (out, err) = (Pipe::new(out, over), Pipe::new(err, over));
        let listens = start_scoped(scope, "listen", move || {
            listen(BufReader::new(out), fleet.bounds, &send);
        });
        let said = listens
            .and_then(|_| start_scoped(scope, "said", move || last_lines(BufReader::new(err))));
        let mut talk = Talk { fleet, words, begun, told: None, timed_out: false };
        let outcome = match said {
            Ok(_) => talk.through(child, tell, visit),
            Err(_) => Outcome::Unreachable,
        };
        drop(talk);
        end(child);
        ended.store(true, Relaxed);
        visit.said = match said {
            Ok(said) => said.join().unwrap_or_default(),
            Err(why) => why.to_string(),
        };
        outcome
    });
    if let Outcome::Damaged(why) = &outcome {
        visit.said.clone_from(why);
    }
    outcome
}

/// Ends `ssh` and what it started, such as a command that is its connection.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

struct Talk<'a> {
    fleet: &'a Fleet<'a>,
    words: Receiver<Word>,
    begun: Instant,
    /// When the host was asked to stop.
    told: Option<Instant>,
    timed_out: bool,
}

impl Talk<'_> {
    fn through(&mut self, child: &mut Child, tell: &dyn Fn(News), visit: &mut Visit) -> Outcome {
        let mut stdin = child.stdin.take();
        let (mut outcome, mut detail) = (Outcome::Unreachable, Detail::default());
        loop {
            match self.words.recv_timeout(TICK) {
                Ok(Word::Need) => {
                    tell(News::At(Stage::Copying));
                    outcome = Outcome::Lost;
                    // Where it ends too early, the host says why, or ends with its input.
                    stdin = stdin.and_then(|mut pipe| self.copy(&mut pipe).is_ok().then_some(pipe));
                }
                Ok(Word::Running) => {
                    tell(News::At(Stage::Running));
                    outcome = Outcome::Lost;
                }
                Ok(Word::Output(text)) => visit.output = String::from_utf8_lossy(&text).into(),
                Ok(Word::Detail(of_next)) => detail = of_next,
                Ok(Word::Run(run)) => tell(News::Run(run, std::mem::take(&mut detail))),
                Ok(Word::NoRoom) => return Outcome::NoRoom,
                Ok(Word::NoStart) => return Outcome::DoesNotStart,
                Ok(Word::TooMuch(bound)) => return Outcome::TooMuch(bound),
                Ok(Word::Unknown(why)) => return Outcome::Damaged(why),
                Ok(Word::End(_)) if self.timed_out => return Outcome::TimedOut,
                Ok(Word::End(status)) => return Outcome::Ended(status),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return if self.told.is_some() { self.stopped() } else { outcome };
                }
            }
            if self.told.is_none() && self.must_stop() {
                self.told = Some(Instant::now());
                self.timed_out = self.is_late();
                // The end of its input stops the host.
                stdin = None;
            }
            // Where nothing was begun there is nothing to clean up.
            let grace = if outcome == Outcome::Unreachable { Duration::ZERO } else { GRACE };
            let waited_enough = self.told.is_some_and(|told| told.elapsed() > grace);
            if waited_enough || self.fleet.control.abandon.load(Relaxed) {
                return self.stopped();
            }
        }
    }

    fn is_late(&self) -> bool {
        self.fleet.timeout.is_some_and(|limit| self.begun.elapsed() > limit)
    }

    fn must_stop(&self) -> bool {
        let Control { stop, abandon, .. } = self.fleet.control;
        self.is_late() || stop.load(Relaxed) || abandon.load(Relaxed)
    }

    const fn stopped(&self) -> Outcome {
        if self.timed_out { Outcome::TimedOut } else { Outcome::Stopped }
    }

    fn copy(&self, pipe: &mut ChildStdin) -> Result<(), FleetError> {
        let path = self.fleet.program;
        let mut program = File::open(path).map_err(FleetError::io("reading", path))?;
        let size = program.metadata().map_err(FleetError::io("reading", path))?.len();
        let must_stop = || self.must_stop();
        let mut pipe = Pipe::new(pipe, &must_stop);
        let copied = writeln!(pipe, "{size}").and_then(|()| io::copy(&mut program, &mut pipe));
        copied.map(drop).map_err(FleetError::io("copying", path))
    }
}

/// Reads what a host says until it says no more.
fn listen(mut out: impl BufRead, mut left: Bounds, send: &SyncSender<Word>) {
    loop {
        let word = word(&mut out, &mut left).unwrap_or_else(|e| Some(Word::Unknown(e.to_string())));
        let Some(word) = word else { return };
        let last = matches!(word, Word::Unknown(_) | Word::TooMuch(_) | Word::End(_));
        if send.send(word).is_err() || last {
            return;
        }
    }
}

/// The next word; none at the end, also in the middle of one. `left` is what may still come.
fn word(out: &mut impl BufRead, left: &mut Bounds) -> io::Result<Option<Word>> {
    let mut line = Vec::new();
    out.take(256).read_until(b'\n', &mut line)?;
    let Some(line) = line.strip_suffix(b"\n") else {
        return Ok((line.len() == 256).then(|| Word::Unknown("a line without an end".into())));
    };
    let line = String::from_utf8_lossy(line);
    let words: Vec<&str> = line.split(' ').collect();
    let unknown = || Word::Unknown(format!("it says {line:?}"));
    let word = match words.as_slice() {
        ["need"] => Word::Need,
        ["no-room"] => Word::NoRoom,
        ["no-start"] => Word::NoStart,
        ["running"] => Word::Running,
        ["end", status] => status.parse().map_or_else(|_| unknown(), Word::End),
        ["file", name, size] => {
            let most = match *name {
                "output" => MAX_OUTPUT_BYTES,
                "run" => MAX_RUN_BYTES,
                "detail" => MAX_DETAIL_BYTES,
                _ => return Ok(Some(unknown())),
            };
            let Some(size) = size.parse::<u64>().ok().filter(|size| *size <= most) else {
                return Ok(Some(unknown()));
            };
            if let Err(bound) = left.take(usize::from(*name == "run"), size) {
                return Ok(Some(Word::TooMuch(bound)));
            }
            let mut bytes = Vec::new();
            if out.take(size).read_to_end(&mut bytes)? as u64 != size {
                return Ok(None);
            }
            let path = Path::new(name);
            let document = match *name {
                "run" => read::run(&bytes, path).map(|run| Word::Run(Box::new(run))),
                "detail" => read::detail(&bytes, path).map(Word::Detail),
                _ => Ok(Word::Output(bytes)),
            };
            document.unwrap_or_else(|error| Word::Unknown(error.to_string()))
        }
        _ => unknown(),
    };
    Ok(Some(word))
}

/// The last lines that a host says to people.
fn last_lines(mut err: impl BufRead) -> String {
    let mut lines = VecDeque::new();
    let mut line = Vec::new();
    // A line without an end comes in parts.
    while matches!((&mut err).take(4096).read_until(b'\n', &mut line), Ok(1..)) {
        let text = String::from_utf8_lossy(&line);
        let text: String = text.trim_end().chars().filter(|c| !c.is_control()).collect();
        line.clear();
        if !text.is_empty() {
            lines.push_back(text);
        }
        if lines.len() > LINES {
            lines.pop_front();
        }
    }
    Vec::from(lines).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_word_of_the_shell_stays_one_word() {
        let run = |word: &str| {
            let line = format!("printf %s {}", quote(word));
            String::from_utf8(Command::new("sh").args(["-c", &line]).output().unwrap().stdout)
        };
        for word in ["plain", "it's", "$(reboot) `x` \\ \"", "", "a\nb"] {
            assert_eq!(run(word).unwrap(), word);
        }
    }

    /// A host that sent runs without end was listened to until there was no memory left.
    #[test]
    fn what_a_host_may_send_ends_with_its_bounds_before_it_is_read() {
        let heard = |runs, bytes, said: &str| {
            let (send, words) = sync_channel(9);
            listen(said.as_bytes(), Bounds { runs, bytes }, &send);
            drop(send);
            words.iter().last()
        };
        let output = "file output 6\nhello\nend 0\n";
        assert!(matches!(heard(0, 6, output), Some(Word::End(0))));
        assert!(matches!(heard(9, 5, output), Some(Word::TooMuch(Bound::Bytes))));
        assert!(matches!(heard(0, 9, "file run 9\n"), Some(Word::TooMuch(Bound::Runs))));
        let output = output.replace("end 0\n", "file detail 7\n");
        assert!(matches!(heard(9, 12, &output), Some(Word::TooMuch(Bound::Bytes))));
    }

    proptest! {
        #[test]
        fn whatever_a_host_says_ends(bytes in proptest::collection::vec(any::<u8>(), 0..400),
            head in "(need\n|running\n|file (output|run|detail) [0-9]{1,4}\n|end [0-9]{1,3}\n){0,4}") {
            let said: Vec<u8> = head.bytes().chain(bytes).collect();
            let (send, words) = sync_channel(said.len());
            listen(said.as_slice(), Bounds { runs: 1, bytes: 1 << 20 }, &send);
            drop(send);
            prop_assert!(words.iter().count() <= said.len());
        }
    }
}

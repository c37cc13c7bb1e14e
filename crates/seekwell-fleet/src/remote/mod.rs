//! The program on many hosts, over ssh.
//!
//! Each host gets one connection of the system's OpenSSH. A script there takes the program where it
//! is missing or another version, runs it with a folder of its own, sends back what it kept, and
//! removes all of it; it does the same when the connection ends. A host that fails is a result.

mod hosts;
mod pipe;
mod session;

pub use hosts::{Host, hosts};

use crate::error::FleetError;
use jiff::Timestamp;
use seekwell_io::engine::Control;
use seekwell_runs::{Detail, RunDocument, Store, StoreError};
use seekwell_sys::thread::start_scoped;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// What is to be run, and how.
#[derive(Debug, Clone, Copy)]
pub struct Fleet<'a> {
    /// The program's arguments.
    pub args: &'a [String],
    /// The program to copy, which must run on the hosts.
    pub program: &'a Path,
    /// What `seekwell --version` prints where it need not be copied; none copies it always.
    pub version: Option<&'a str>,
    /// A configuration for `ssh` in place of the user's.
    pub config: Option<&'a Path>,
    /// Options for `ssh`, as `Port=2222`.
    pub options: &'a [String],
    /// How many hosts run at once.
    pub jobs: usize,
    /// How many hosts with one value of a label run at once.
    pub per: &'a [(String, usize)],
    /// How long a host may take.
    pub timeout: Option<Duration>,
    /// What a host may send.
    pub bounds: Bounds,
    /// Ends all runs in order, and then at once.
    pub control: &'a Control,
}

/// What a host may send: it is a stranger's word what it holds.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Runs.
    pub runs: usize,
    /// Bytes of runs and of what the program printed, together.
    pub bytes: u64,
}

/// Which of them a host went beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// [`Bounds::runs`].
    Runs,
    /// [`Bounds::bytes`].
    Bytes,
}

impl Bounds {
    /// Takes something off what may still come.
    fn take(&mut self, runs: usize, bytes: u64) -> Result<(), Bound> {
        self.runs = self.runs.checked_sub(runs).ok_or(Bound::Runs)?;
        self.bytes = self.bytes.checked_sub(bytes).ok_or(Bound::Bytes)?;
        Ok(())
    }
}

/// How far a host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Waiting for `ssh`.
    Connecting,
    /// The program is copied there.
    Copying,
    /// The program runs.
    Running,
}

/// How a host's part ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The program ended with this status.
    Ended(u8),
    /// No connection.
    Unreachable,
    /// There is no room for the program or for its results.
    NoRoom,
    /// The program does not start there.
    DoesNotStart,
    /// The connection ended in the middle.
    Lost,
    /// It took longer than allowed, and was stopped.
    TimedOut,
    /// It was stopped, or never begun, because everything was.
    Stopped,
    /// It sent more than it may; the runs up to there are kept.
    TooMuch(Bound),
    /// What came back is not what the program keeps, and why.
    Damaged(String),
}

impl Outcome {
    /// Its name in documents.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ended(0) => "done",
            Self::Ended(_) => "failed",
            Self::Unreachable => "unreachable",
            Self::NoRoom => "no_room",
            Self::DoesNotStart => "does_not_start",
            Self::Lost => "lost",
            Self::TimedOut => "timed_out",
            Self::Stopped => "stopped",
            Self::TooMuch(_) => "too_much",
            Self::Damaged(_) => "damaged",
        }
    }
}

/// What a host gave.
#[derive(Debug)]
pub struct Visit {
    /// How it ended.
    pub outcome: Outcome,
    /// The last lines that the host or `ssh` wrote for people.
    pub said: String,
    /// What the program printed.
    pub output: String,
    /// From the connection to the end.
    pub took: Duration,
}

/// Keeps a run of a host, and gives its id here: two hosts may have drawn the same.
///
/// # Errors
/// [`StoreError`] if it cannot be written.
pub fn keep(store: &Store, mut run: RunDocument, detail: &Detail) -> Result<String, StoreError> {
    let started = run.started_at.parse().unwrap_or_else(|_| Timestamp::now());
    let mut writer = store.create(run.kind, started)?;
    writer.id().clone_into(&mut run.id);
    writer.save(&run, detail)?;
    Ok(run.id)
}

/// News of a host.
#[derive(Debug)]
pub enum News {
    /// It got this far.
    At(Stage),
    /// It sent a run.
    Run(Box<RunDocument>, Detail),
    /// It is done.
    Done(Box<Visit>),
}

impl Fleet<'_> {
    /// Runs the program on all hosts and reports what happens. Hosts that were not begun when
    /// everything is stopped are done at once, as stopped.
    ///
    /// # Errors
    /// [`FleetError::NoSuchLabel`] where a bound names a label that no host has,
    /// [`FleetError::Read`] where the program cannot be read.
    pub fn run(&self, hosts: &[Host], mut tell: impl FnMut(usize, News)) -> Result<(), FleetError> {
        if let Some((key, _)) =
            self.per.iter().find(|(key, _)| !hosts.iter().any(|h| h.labels.contains_key(key)))
        {
            return Err(FleetError::NoSuchLabel { key: key.clone() });
        }
        let unreadable = |source| FleetError::Read { path: self.program.to_path_buf(), source };
        File::open(self.program).map_err(unreadable)?;
        // A host is heard no faster than its runs are saved.
        let (send, news) = sync_channel(1);
        let mut waiting: Vec<usize> = (0..hosts.len()).collect();
        let mut busy = Busy { per: self.per, hosts: 0, labels: BTreeMap::new() };
        std::thread::scope(|scope| {
            while !waiting.is_empty() || busy.hosts > 0 {
                if self.control.stop.load(Relaxed) {
                    for number in waiting.drain(..) {
                        let visit = Visit::never_begun(Outcome::Stopped, String::new());
                        tell(number, News::Done(Box::new(visit)));
                    }
                }
                waiting.retain(|&number| {
                    let free = busy.hosts < self.jobs && busy.admits(&hosts[number]);
                    if free {
                        busy.count(&hosts[number], true);
                        let tell = send.clone();
                        let begun = start_scoped(scope, "host", move || {
                            let tell = |news| drop(tell.send((number, news)));
                            let visit = Box::new(session::visit(self, &hosts[number], &tell));
                            tell(News::Done(visit));
                        });
                        if let Err(why) = begun {
                            let why = why.to_string();
                            let visit = Visit::never_begun(Outcome::Unreachable, why);
                            let _ = send.send((number, News::Done(Box::new(visit))));
                        }
                    }
                    !free
                });
                let next = news.recv_timeout(Duration::from_millis(200));
                let Ok((number, next)) = next else { continue };
                if let News::Done(_) = &next {
                    busy.count(&hosts[number], false);
                }
                tell(number, next);
            }
        });
        Ok(())
    }
}

impl Visit {
    const fn never_begun(outcome: Outcome, said: String) -> Self {
        Self { outcome, said, output: String::new(), took: Duration::ZERO }
    }
}

/// The hosts that run now.
struct Busy<'a> {
    per: &'a [(String, usize)],
    hosts: usize,
    labels: BTreeMap<(&'a str, String), usize>,
}

impl<'a> Busy<'a> {
    fn admits(&self, host: &Host) -> bool {
        self.per.iter().all(|(key, most)| {
            let value = host.labels.get(key);
            value.is_none_or(|value| {
                self.labels.get(&(key.as_str(), value.clone())).is_none_or(|now| now < most)
            })
        })
    }

    fn count(&mut self, host: &Host, begins: bool) {
        let step = |count: &mut usize| *count = if begins { *count + 1 } else { *count - 1 };
        step(&mut self.hosts);
        let per: &'a [(String, usize)] = self.per;
        for (key, _) in per {
            if let Some(value) = host.labels.get(key) {
                step(self.labels.entry((key, value.clone())).or_default());
            }
        }
    }
}

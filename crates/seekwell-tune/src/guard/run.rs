//! What the guard does, from start to exit.

use super::canary::Canary;
use super::health::Health;
use super::kernel_log::LogWatch;
use super::protocol::{Ask, Reply, Report, receive, send};
use crate::apply::{Applier, Change, Difference, RestoreOutcome, WriteError};
use crate::commands;
use crate::disk::{Disk, Identity};
use crate::journal::{Begin, Journal, JournalEntry, JournalError, JournalState, Phase, TrialFiles};
use crate::persist;
use crate::reason::{Reason, Trouble};
use crate::writer::Sysfs;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use seekwell_sys::{DevId, Live, View};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a client that connects may take to send its request.
const REQUEST_TIMEOUT: Duration = Duration::from_millis(500);

/// How long the program that began the trial may take to acknowledge that it is applied.
const ACK_TIMEOUT: Duration = Duration::from_secs(5);

/// Requests in flight without progress for longer than this count as a hang.
const STALL_LIMIT: Duration = Duration::from_secs(5);

/// How often, and for how long, a stuck attribute is tried again.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
const RETRY_LIMIT: Duration = Duration::from_secs(600);

/// Guards the trial of this journal to its end. `report` is where the program that began it
/// listens; `lock` is the disk's, and is held by a descriptor that lives as long as the process.
///
/// # Errors
/// When the journal cannot be read or written before anything was changed.
pub fn main(journal: &Path, lock: OwnedFd, report: OwnedFd) -> Result<(), JournalError> {
    let term = Arc::new(AtomicBool::new(false));
    detach(&term);
    let Some(files) = TrialFiles::of(journal) else { return Ok(()) };
    let Some(state) = files.state()? else { return Ok(()) };
    // Started by hand it would do what somebody else is at work on.
    if state.phase() != Phase::Applying || !state.entries.is_empty() || !files.is_lock(&lock) {
        return Ok(());
    }
    let mut guard = Guard::new(&files, state.begin, term)?;
    let mut report = UnixStream::from(report);
    if !guard.apply(&mut report)? {
        return Ok(());
    }
    guard.watch(&report);
    Ok(())
}

/// Leaves the terminal, locks itself in memory, and ignores every signal but SIGTERM.
fn detach(term: &Arc<AtomicBool>) {
    // Each makes the guard harder to kill by accident; it works without any of them.
    let _ = rustix::process::setsid();
    let unheard = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT] {
        let _ = signal_hook::flag::register(signal, Arc::clone(&unheard));
    }
    let _ = signal_hook::flag::register(SIGTERM, Arc::clone(term));
    let all = rustix::mm::MlockAllFlags::CURRENT | rustix::mm::MlockAllFlags::FUTURE;
    let _ = rustix::mm::mlockall(all);
    let _ = std::fs::write("/proc/self/oom_score_adj", "-1000");
}

struct Guard {
    view: Live,
    files: TrialFiles,
    journal: Journal,
    begin: Begin,
    applier: Applier,
    entries: Vec<JournalEntry>,
    listener: Option<UnixListener>,
    health: Option<Health>,
    log: Option<LogWatch>,
    canary: Option<Canary>,
    blind: Vec<String>,
    term: Arc<AtomicBool>,
    owner: Owner,
    until: Instant,
}

/// The process without which the trial has no use.
enum Owner {
    /// The trial outlives it.
    None,
    /// Readable once it has ended.
    Watched(OwnedFd),
    /// It has ended already.
    Gone,
}

impl Owner {
    fn of(pid: Option<u32>) -> Self {
        let Some(pid) = pid else { return Self::None };
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        match pid.map(|pid| pidfd_open(pid, PidfdFlags::empty())) {
            Some(Ok(fd)) => Self::Watched(fd),
            // Kernels before 5.3 have none; the time limit still holds.
            Some(Err(Errno::NOSYS)) => Self::None,
            _ => Self::Gone,
        }
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        if let Self::Watched(fd) = self { Some(fd.as_fd()) } else { None }
    }

    fn has_ended(&self) -> bool {
        let ended = |fd| {
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Some(&now)) == Ok(1)
        };
        matches!(self, Self::Gone) || self.fd().is_some_and(ended)
    }
}

impl Guard {
    fn new(files: &TrialFiles, begin: Begin, term: Arc<AtomicBool>) -> Result<Self, JournalError> {
        let view = Live::system();
        let mut writer = Sysfs::new();
        let mut blind = Vec::new();
        if let Err(error) = writer.hold_dir(&begin.dir) {
            blind.push(format!("{} could not be held open: {error}", begin.dir.display()));
        }
        // A node held open keeps its device from being detached: only where it is written to.
        let changed = |path: &Path| begin.changes.iter().any(|c| c.path == path);
        let held = begin.originals.iter().map(|o| o.path.as_path());
        held.filter(|path| commands::split(path).is_none() || changed(path))
            .for_each(|path| writer.hold(path));
        // One left by a guard that was killed.
        let _ = std::fs::remove_file(files.socket());
        let listener = UnixListener::bind(files.socket());
        if let Err(error) = &listener {
            blind.push(format!("cannot listen on {}: {error}", files.socket().display()));
        }
        let disk = begin.disk.dev.parse::<DevId>().ok();
        let disk = disk.and_then(|dev| Disk::by_number(&view, dev).ok());
        let log = LogWatch::new(&begin.disk.name, &begin.dir);
        if let Err(error) = &log {
            blind.push(format!("the kernel log cannot be watched: {error}"));
        }
        let node = disk.as_ref().map(Disk::node).unwrap_or_default();
        let limit = begin.canary_ms.map(Duration::from_millis);
        let canary = limit.map(|limit| Canary::new(&node, limit));
        if let Some(Err(error)) = &canary {
            blind.push(format!("{} cannot be read past the cache: {error}", node.display()));
        }
        Ok(Self {
            journal: Journal::resume(&files.journal())?,
            applier: Applier::new(Arc::new(writer), begin.limits),
            health: disk.as_ref().map(|disk| Health::new(&view, disk, STALL_LIMIT)),
            until: Instant::now() + Duration::from_millis(begin.for_ms),
            listener: listener.ok(),
            log: log.ok(),
            canary: canary.and_then(Result::ok),
            owner: Owner::of(begin.owner),
            files: files.clone(),
            entries: Vec::new(),
            view,
            begin,
            blind,
            term,
        })
    }

    fn note(&mut self, entry: JournalEntry) -> Result<(), JournalError> {
        self.journal.append(&entry)?;
        self.entries.push(entry);
        Ok(())
    }

    /// Applies everything and reports; returns whether there is a trial to watch.
    fn apply(&mut self, report: &mut UnixStream) -> Result<bool, JournalError> {
        let changes = self.begin.changes.clone();
        assert_eq!(self.journal.phase(), Some(Phase::Applying), "a trial is applied once");
        assert!(changes.is_sorted_by_key(|c| c.stage), "settings come after those that reset them");
        assert!(
            changes.iter().all(|c| self.begin.can_undo(c)),
            "every old value is in the journal"
        );
        for change in &changes {
            let applied = match self.term.load(Ordering::Relaxed) {
                true => Err(WriteError::Refused { error: "the guard was asked to end".to_owned() }),
                false => self.change(change),
            };
            if let Err(why) = applied {
                let outcome = self.roll_back(Reason::NotApplied);
                let failed = Report::Failed { key: change.key.clone(), why, outcome };
                // It may have been killed; the journal says the same.
                let _ = send(report, &failed);
                self.after(Some(report));
                return Ok(false);
            }
        }
        let side_effects = self.side_effects();
        // The kernel queries the drive again after its cache was switched, and commands that the
        // drive does not know count as errors.
        if changes.iter().any(|c| c.key == "cache_type") {
            let disk = self.begin.disk.dev.parse::<DevId>().ok();
            let disk = disk.and_then(|dev| Disk::by_number(&self.view, dev).ok());
            self.health = disk.map(|disk| Health::new(&self.view, &disk, STALL_LIMIT));
        }
        self.until = Instant::now() + Duration::from_millis(self.begin.for_ms);
        if self.note(JournalEntry::Applied { side_effects: side_effects.clone() }).is_err() {
            self.roll_back(Reason::NotApplied);
            self.after(None);
            return Ok(false);
        }
        let applied = Report::Applied { side_effects, blind: self.blind.clone() };
        let mut word = [0u8; 1];
        let heard = send(report, &applied)
            .and_then(|()| report.set_read_timeout(Some(ACK_TIMEOUT)))
            .and_then(|()| report.read_exact(&mut word));
        if heard.is_err() {
            self.roll_back(Reason::Orphaned);
            self.after(None);
            return Ok(false);
        }
        Ok(true)
    }

    fn change(&mut self, change: &Change) -> Result<(), WriteError> {
        let written = |error: JournalError| WriteError::Refused { error: error.to_string() };
        let (key, to) = (change.key.clone(), change.value.clone());
        self.note(JournalEntry::Write { key, to }).map_err(written)?;
        let noted = matches!(self.entries.last(), Some(JournalEntry::Write { .. }));
        assert!(noted, "a write is synced in the journal before it is made");
        if change.prove {
            self.applier.prove(&change.path, change.freezes)?;
        }
        self.applier.set(&change.path, change.freezes, &change.value).map(drop)
    }

    fn side_effects(&self) -> Vec<Difference> {
        let asked = |key: &str| self.begin.changes.iter().any(|c| c.key == key);
        let mut differences = self.applier.differences(&self.begin.originals);
        differences.retain(|d| !asked(&d.key));
        differences
    }

    fn state(&self) -> JournalState {
        JournalState {
            begin: self.begin.clone(),
            entries: self.entries.clone(),
            cut_short: false,
            damaged: 0,
        }
    }

    /// Puts everything back, even where the journal cannot be written.
    fn roll_back(&mut self, reason: Reason) -> RestoreOutcome {
        assert!(
            matches!(self.journal.phase(), Some(Phase::Applying | Phase::Trying)),
            "a guard rolls back once, and not what was kept"
        );
        let _ = self.note(JournalEntry::Rollback { reason });
        let outcome = self.applier.restore(&self.begin.originals, &self.state().ours());
        let _ = self.note(JournalEntry::Ended { outcome: outcome.clone() });
        outcome
    }

    /// Retries what is stuck until it can be put back, and ends.
    fn after(&mut self, report: Option<&mut UnixStream>) {
        assert!(
            !matches!(self.journal.phase(), Some(Phase::Applying | Phase::Trying)),
            "a guard ends only with what is kept or rolled back"
        );
        if let Some(report) = report {
            let _ = report.shutdown(std::net::Shutdown::Both);
        }
        let begun = Instant::now();
        let stuck = |guard: &Self| {
            let left = guard.state().outcome().map(|o| o.left.clone()).unwrap_or_default();
            left.iter().any(|l| matches!(l.error, WriteError::Blocked { .. }))
        };
        while stuck(self) && begun.elapsed() < RETRY_LIMIT {
            std::thread::sleep(RETRY_INTERVAL);
            let waiting = self.begin.originals.iter().any(|o| self.applier.is_stuck(&o.path));
            if !waiting {
                let outcome = self.applier.restore(&self.begin.originals, &self.state().ours());
                let _ = self.note(JournalEntry::Ended { outcome });
            }
        }
        let _ = std::fs::remove_file(self.files.socket());
    }

    /// Watches until the trial is kept or rolled back.
    fn watch(&mut self, report: &UnixStream) {
        assert_eq!(self.journal.phase(), Some(Phase::Trying), "only what is applied is watched");
        // The program that began the trial has acknowledged it; it may end now.
        let _ = report.shutdown(std::net::Shutdown::Both);
        let every = Duration::from_millis(self.begin.watch_ms);
        let mut next = Instant::now();
        loop {
            let now = Instant::now();
            let end = if self.term.load(Ordering::Relaxed) {
                Some(Reason::Terminated)
            } else if now >= self.until {
                Some(Reason::TimeUp)
            } else if self.owner.has_ended() {
                Some(Reason::Orphaned)
            } else if now >= next {
                next = now + every;
                self.trouble().map(|trouble| Reason::Trouble { trouble })
            } else {
                None
            };
            if let Some(reason) = end {
                self.roll_back(reason);
                return self.after(None);
            }
            let (log, caller) = self.wait(next.min(self.until));
            if log && let Some(trouble) = self.log.as_mut().and_then(|l| l.look(&self.view)) {
                self.roll_back(Reason::Trouble { trouble });
                return self.after(None);
            }
            if caller && self.answer() {
                return self.after(None);
            }
        }
    }

    fn trouble(&mut self) -> Option<Trouble> {
        let log = self.log.as_mut().and_then(|log| log.look(&self.view));
        log.or_else(|| self.health.as_mut().and_then(|health| health.look(&self.view)))
            .or_else(|| self.canary.as_mut().and_then(Canary::look))
    }

    /// Waits for the log, a client, a signal or the time; returns which of the first two came.
    fn wait(&self, until: Instant) -> (bool, bool) {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left.max(Duration::from_millis(1))).ok();
        let log = self.log.as_ref().and_then(LogWatch::fd);
        let caller = self.listener.as_ref().map(|l| l.as_fd());
        let owner = self.owner.fd();
        let fds = log.iter().chain(caller.iter()).chain(owner.iter());
        let mut polled: Vec<PollFd<'_>> = fds.map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        if poll(&mut polled, timeout.as_ref()).is_err() {
            return (false, false);
        }
        let came = |fd: &PollFd<'_>| !fd.revents().is_empty();
        let has_log = usize::from(log.is_some());
        let log = log.is_some() && polled.first().is_some_and(came);
        (log, caller.is_some() && polled.get(has_log).is_some_and(came))
    }

    /// Answers one client; returns whether the trial is over.
    fn answer(&mut self) -> bool {
        let Some(listener) = &self.listener else { return false };
        let Ok((mut caller, _)) = listener.accept() else { return false };
        let ready = caller.set_read_timeout(Some(REQUEST_TIMEOUT)).is_ok()
            && caller.set_write_timeout(Some(REQUEST_TIMEOUT)).is_ok();
        let Some(asked) = ready.then(|| receive::<Ask>(&mut caller).ok()).flatten() else {
            return false;
        };
        let (reply, end) = match asked {
            Ask::Status => (self.status(), false),
            Ask::Heartbeat => {
                self.until = Instant::now() + Duration::from_millis(self.begin.for_ms);
                (self.status(), false)
            }
            Ask::Undo => (Reply::Undone { outcome: self.roll_back(Reason::Asked) }, true),
            Ask::Keep => self.keep(),
        };
        // A client that hangs up changes nothing.
        let _ = send(&mut caller, &reply);
        end
    }

    fn status(&self) -> Reply {
        let left = self.until.saturating_duration_since(Instant::now());
        let remaining_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        Reply::Status { phase: Phase::Trying, remaining_ms }
    }

    fn keep(&mut self) -> (Reply, bool) {
        if let Some(difference) = replaced(&self.view, &self.begin.disk) {
            let name = &self.begin.disk.name;
            let why = format!("{name} is not the disk the trial was begun on: {difference}");
            self.roll_back(Reason::Asked);
            return (Reply::Refused { why }, true);
        }
        match self.note(JournalEntry::Kept) {
            Ok(()) => (Reply::Kept, true),
            Err(error) => (Reply::Refused { why: error.to_string() }, false),
        }
    }
}

/// How the disk differs from the one the trial began on.
pub(crate) fn replaced(view: &dyn View, was: &Identity) -> Option<String> {
    let dev = was.dev.parse::<DevId>().ok()?;
    match Identity::by_number(view, dev) {
        Ok(is) => was.difference(&is),
        Err(error) => Some(error.to_string()),
    }
}

/// Whether its device number no longer exists. A loop device without a backing file is gone, too.
pub(crate) fn is_gone(view: &dyn View, was: &Identity) -> bool {
    let now = was.dev.parse().ok().and_then(|dev| Identity::by_number(view, dev).ok());
    now.is_none_or(|now| was.backing.is_some() && now.backing.is_none())
}

/// Puts back what a guard that died had changed, through a writer of the caller's. The disk's lock
/// must be held, and the disk be the same.
///
/// # Errors
/// [`JournalError`] when the outcome cannot be written down; it was put back all the same.
pub(crate) fn recover(
    path: &Path,
    state: &JournalState,
    applier: &Applier,
    reason: Reason,
) -> Result<RestoreOutcome, JournalError> {
    assert!(
        state.unfinished() || state.phase() == Phase::Kept,
        "only what is not as it was is put back"
    );
    let mut journal = Journal::resume(path)?;
    journal.append(&JournalEntry::Rollback { reason })?;
    let outcome = applier.restore(&state.begin.originals, &state.ours());
    if let Some(rule) = state.rule() {
        persist::remove(rule);
    }
    journal.append(&JournalEntry::Ended { outcome: outcome.clone() })?;
    Ok(outcome)
}

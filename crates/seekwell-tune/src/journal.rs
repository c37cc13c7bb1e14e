//! The journal: what is about to be done, written and synced first.
//!
//! One file per disk in the run folder (`/run/seekwell`), one line per entry:
//!
//! ```text
//! {"sum":"1b2f0c55","entry":{"entry":"begin", … every original value … }}
//! {"sum":"1b2f0c55","entry":{"entry":"begin", … the same … }}
//! {"sum":"90a4e7d1","entry":{"entry":"write","key":"scheduler",…}}
//! {"sum":"5c0e1f22","entry":{"entry":"applied","side_effects":[…]}}
//! {"sum":"03ab9c41","entry":{"entry":"kept"}}
//! ```
//!
//! `sum` is the CRC-32 of the text of `entry`, so a line that was cut short or overwritten is known
//! as such. The first line holds all that is needed to put everything back, and stands twice, so
//! that it survives damage to either copy; the others say how far things had come. A journal gets
//! its name once both copies are synced: one without a valid first line is damaged, and whether
//! anything is still to be put back is then not known.
//!
//! Beside it lies a lock file. Whoever works on the disk holds its lock, the guard for as long as
//! it lives; the lock goes with the process, so an unfinished journal that can be locked is one
//! whose guard is dead.

use crate::apply::{Change, Difference, Limits, Original, RestoreOutcome};
use crate::disk::{Identity, Machine};
use crate::reason::Reason;
use crate::setting::Stage;
use rustix::fs::FlockOperation;
use seekwell_sys::{MAX_TEXT, classify, read_file, sudo_if_denied};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The run folder is root's alone, unless somebody made it before.
const NOFOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

pub const VERSION: u32 = 1;

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("the journal {} cannot be used: {source}{}", path.display(), sudo_if_denied(source))]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "the journal {} is damaged: {damage}; what has to be put back is not known{}: reboot, \
         which resets all settings, or set them by hand, and then remove the file", path.display(),
        match keys.join(", ") {
            keys if keys.is_empty() => keys,
            keys => format!(" (it still names {keys})"),
        }
    )]
    Damaged {
        path: PathBuf,
        damage: Damage,
        /// Settings that its sound lines name.
        keys: Vec<String>,
    },
    #[error(
        "the journal {} is of version {version}, and this program knows {VERSION}: use the \
         seekwell that wrote it", path.display()
    )]
    Version { path: PathBuf, version: u32 },
}

classify!(JournalError {
    Refused: Io, Version;
    Incomplete: Damaged;
});

/// Why a journal without a valid first line has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    #[error("it is empty")]
    Empty,
    /// As some file systems leave a file after a power cut.
    #[error("it holds nothing but zeros")]
    Zeros,
    #[error("its first line is cut short")]
    CutShort,
    #[error("its first line is not as it was written")]
    FirstLine,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    pub version: u32,
    pub machine: Machine,
    pub disk: Identity,
    /// Its folder in sysfs.
    pub dir: PathBuf,
    /// Seconds since 1970.
    pub started_unix_s: u64,
    /// Time after which everything is put back, in milliseconds.
    pub for_ms: u64,
    /// What is to be set, in order.
    pub changes: Vec<Change>,
    /// Keys that may change with it.
    pub resets: BTreeSet<String>,
    /// Every attribute of the disk as it was.
    pub originals: Vec<Original>,
    /// Deadlines of writes.
    pub limits: Limits,
    /// A read that takes longer than this means trouble, in milliseconds; `None` reads nothing.
    pub canary_ms: Option<u64>,
    /// The process without which the trial has no use; `None` for one that outlives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<u32>,
    /// Wait for the health of the disk this often, in milliseconds.
    pub watch_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case")]
pub enum JournalEntry {
    Begin(Box<Begin>),
    Write {
        key: String,
        to: String,
    },
    /// Everything is applied; the timer runs.
    Applied {
        /// What changed beside it.
        side_effects: Vec<Difference>,
    },
    /// Kept until the next boot.
    Kept,
    /// About to write this rule.
    Persisting {
        rule: PathBuf,
    },
    Rollback {
        reason: Reason,
    },
    /// Everything that could be put back is.
    Ended {
        outcome: RestoreOutcome,
    },
    /// Given up: the disk is gone.
    Forgotten {
        why: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    Applying,
    /// Applied; to be kept or put back.
    Trying,
    Kept,
    RollingBack,
    Ended,
}

impl JournalEntry {
    /// The phase it begins; `None` if things stay as they are.
    const fn begins(&self) -> Option<Phase> {
        match self {
            Self::Begin(_) | Self::Write { .. } | Self::Persisting { .. } => None,
            Self::Applied { .. } => Some(Phase::Trying),
            Self::Kept => Some(Phase::Kept),
            Self::Rollback { .. } => Some(Phase::RollingBack),
            Self::Ended { .. } | Self::Forgotten { .. } => Some(Phase::Ended),
        }
    }

    /// Whether it may follow in this phase. A rollback may be repeated: it may have been cut off,
    /// or have left something.
    const fn may_follow(&self, phase: Phase) -> bool {
        match self {
            Self::Begin(_) | Self::Write { .. } | Self::Applied { .. } => {
                matches!(phase, Phase::Applying)
            }
            Self::Kept => matches!(phase, Phase::Trying),
            Self::Persisting { .. } => matches!(phase, Phase::Kept),
            Self::Ended { .. } => matches!(phase, Phase::RollingBack | Phase::Ended),
            Self::Rollback { .. } | Self::Forgotten { .. } => true,
        }
    }
}

impl Begin {
    /// Whether the value that a change replaces is known. A parameter of a scheduler that the same
    /// trial sets first has none yet, and goes with that scheduler.
    pub fn can_undo(&self, change: &Change) -> bool {
        let known = self.originals.iter().any(|o| o.key == change.key && o.path == change.path);
        let with_scheduler = || self.changes.iter().any(|c| c.stage == Stage::Scheduler);
        known || (change.stage == Stage::Iosched && with_scheduler())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalState {
    pub begin: Begin,
    pub entries: Vec<JournalEntry>,
    /// Its last line was cut short.
    pub cut_short: bool,
    /// Lines in its middle that are not as they were written.
    pub damaged: usize,
}

impl JournalState {
    /// Reads the text of a journal. `None` when its first line is lost, but a later one says that
    /// everything was put back.
    ///
    /// # Errors
    /// [`Damage`] and the settings that sound lines name, when the first line is lost.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, (Damage, Vec<String>)> {
        let mut begin = None;
        let mut entries = Vec::new();
        let mut damaged = 0;
        let (mut rest, mut cut_short) = (bytes, false);
        while !rest.is_empty() {
            let (line, after) = match rest.iter().position(|b| *b == b'\n') {
                Some(end) => (&rest[..end], &rest[end + 1..]),
                None => (rest, &rest[rest.len()..]),
            };
            let whole = line.len() < rest.len();
            match line_entry(line).filter(|_| whole) {
                Some(JournalEntry::Begin(first)) => begin = begin.or(Some(*first)),
                Some(entry) => entries.push(entry),
                None if after.is_empty() => cut_short = true,
                None => damaged += 1,
            }
            rest = after;
        }
        let Some(begin) = begin else {
            return match entries.last() {
                Some(JournalEntry::Ended { outcome }) if outcome.complete() => Ok(None),
                Some(JournalEntry::Forgotten { .. }) => Ok(None),
                _ => Err((damage(bytes), named(&entries))),
            };
        };
        Ok(Some(Self { begin, entries, cut_short, damaged }))
    }

    /// The phase, even where lines between are lost.
    pub fn phase(&self) -> Phase {
        self.entries.iter().rev().find_map(JournalEntry::begins).unwrap_or(Phase::Applying)
    }

    /// Whether something is still to be put back.
    pub fn unfinished(&self) -> bool {
        matches!(self.phase(), Phase::Applying | Phase::Trying | Phase::RollingBack)
            || self.outcome().is_some_and(|o| !o.complete())
    }

    /// The result of the last rollback, if it was not forgotten since.
    pub fn outcome(&self) -> Option<&RestoreOutcome> {
        let last = self.entries.iter().rev().find_map(|e| match e {
            JournalEntry::Ended { outcome } => Some(Some(outcome)),
            JournalEntry::Forgotten { .. } => Some(None),
            _ => None,
        });
        last.flatten()
    }

    pub fn reason(&self) -> Option<&Reason> {
        self.entries.iter().rev().find_map(|e| match e {
            JournalEntry::Rollback { reason } => Some(reason),
            _ => None,
        })
    }

    pub fn rule(&self) -> Option<&Path> {
        self.entries.iter().rev().find_map(|e| match e {
            JournalEntry::Persisting { rule } => Some(rule.as_path()),
            _ => None,
        })
    }

    /// The keys that were changed: what was asked for, what that is known to change, and what was
    /// seen to change. Until it was applied and looked at, every key counts.
    pub fn ours(&self) -> BTreeSet<String> {
        let applied = self.entries.iter().find_map(|e| match e {
            JournalEntry::Applied { side_effects } => Some(side_effects),
            _ => None,
        });
        let Some(side_effects) = applied.filter(|_| self.damaged == 0) else {
            return self.begin.originals.iter().map(|o| o.key.clone()).collect();
        };
        let asked = self.begin.changes.iter().map(|c| c.key.clone());
        let seen = side_effects.iter().map(|d| d.key.clone());
        asked.chain(seen).chain(self.begin.resets.iter().cloned()).collect()
    }
}

fn damage(bytes: &[u8]) -> Damage {
    match bytes {
        [] => Damage::Empty,
        _ if bytes.iter().all(|b| *b == 0) => Damage::Zeros,
        _ if !bytes.contains(&b'\n') => Damage::CutShort,
        _ => Damage::FirstLine,
    }
}

/// The settings that entries name.
fn named(entries: &[JournalEntry]) -> Vec<String> {
    let keys = entries.iter().flat_map(|entry| match entry {
        JournalEntry::Write { key, .. } => vec![key.clone()],
        JournalEntry::Applied { side_effects } => {
            side_effects.iter().map(|d| d.key.clone()).collect()
        }
        _ => Vec::new(),
    });
    keys.collect::<BTreeSet<_>>().into_iter().collect()
}

fn sum(text: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(text);
    crc.sum()
}

fn line_of(entry: &JournalEntry) -> io::Result<String> {
    let text = serde_json::to_string(entry)?;
    Ok(format!("{{\"sum\":\"{:08x}\",\"entry\":{text}}}\n", sum(text.as_bytes())))
}

fn line_entry(line: &[u8]) -> Option<JournalEntry> {
    let rest = line.strip_prefix(b"{\"sum\":\"")?;
    let (digits, rest) = rest.split_at_checked(8)?;
    let text = rest.strip_prefix(b"\",\"entry\":")?.strip_suffix(b"}")?;
    let written = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    if written != sum(text) {
        return None;
    }
    serde_json::from_slice(text).ok()
}

/// The files of one disk in the run folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialFiles {
    dir: PathBuf,
    stem: String,
}

impl TrialFiles {
    /// Those of the disk with this number, `8:0`.
    pub fn new(run_dir: &Path, dev: &str) -> Self {
        Self { dir: run_dir.to_path_buf(), stem: format!("b{dev}") }
    }

    /// Those of a journal's path; `None` for another path.
    pub fn of(journal: &Path) -> Option<Self> {
        let stem = journal.file_name()?.to_str()?.strip_suffix(".journal")?;
        Some(Self { dir: journal.parent()?.to_path_buf(), stem: stem.to_owned() })
    }

    /// Every disk with a journal in the folder, which need not exist.
    ///
    /// # Errors
    /// As the system answers: to a user without rights there may be trials all the same.
    pub fn all(run_dir: &Path) -> io::Result<Vec<Self>> {
        let entries = match std::fs::read_dir(run_dir) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut all: Vec<Self> = Vec::new();
        for entry in entries {
            all.extend(Self::of(&entry?.path()));
        }
        all.sort_by(|a, b| a.stem.cmp(&b.stem));
        Ok(all)
    }

    /// The number of the disk, `8:0`.
    pub fn dev(&self) -> &str {
        self.stem.strip_prefix('b').unwrap_or(&self.stem)
    }

    pub fn journal(&self) -> PathBuf {
        self.dir.join(format!("{}.journal", self.stem))
    }

    pub fn socket(&self) -> PathBuf {
        self.dir.join(format!("{}.sock", self.stem))
    }

    /// Where the journal of the `n`th kept trial goes when another is begun.
    fn kept(&self, n: usize) -> PathBuf {
        self.dir.join(format!("{}.kept-{n}", self.stem))
    }

    /// Journals of kept trials from before the present one, the newest first.
    pub fn earlier(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> =
            (1..).map(|n| self.kept(n)).take_while(|p| p.exists()).collect();
        all.reverse();
        all
    }

    /// Moves the journal of a kept trial out of the way of the next.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn set_aside(&self) -> Result<(), JournalError> {
        let to = self.kept(self.earlier().len() + 1);
        let path = self.journal();
        std::fs::rename(&path, to).map_err(|source| JournalError::Io { path, source })
    }

    /// Makes the run folder, for root alone.
    ///
    /// # Errors
    /// As the system answers.
    pub fn make_dir(run_dir: &Path) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(run_dir)
    }

    /// Takes the disk's lock; `None` when it is held.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn lock(&self) -> Result<Option<File>, JournalError> {
        let path = self.dir.join(format!("{}.lock", self.stem));
        let fail = |source| JournalError::Io { path: path.clone(), source };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(NOFOLLOW)
            .open(&path)
            .map_err(fail)?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(fail(errno.into())),
        }
    }

    pub fn is_lock(&self, file: impl std::os::fd::AsFd) -> bool {
        let path = self.dir.join(format!("{}.lock", self.stem));
        match (rustix::fs::fstat(file), rustix::fs::stat(&path)) {
            (Ok(is), Ok(wanted)) => (is.st_dev, is.st_ino) == (wanted.st_dev, wanted.st_ino),
            _ => false,
        }
    }

    /// What the journal says; `None` if absent, or all that is left of it is that
    /// everything was put back.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn state(&self) -> Result<Option<JournalState>, JournalError> {
        read(&self.journal())
    }
}

/// What the journal at `path` says, as for [`TrialFiles::state`].
///
/// # Errors
/// [`JournalError`].
pub fn read(path: &Path) -> Result<Option<JournalState>, JournalError> {
    let path = path.to_path_buf();
    let bytes = match read_file(&path, MAX_TEXT) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(JournalError::Io { path, source }),
    };
    match JournalState::parse(&bytes) {
        Ok(Some(JournalState { begin: Begin { version, .. }, .. })) if version != VERSION => {
            Err(JournalError::Version { path, version })
        }
        Ok(state) => Ok(state),
        Err((damage, keys)) => Err(JournalError::Damaged { path, damage, keys }),
    }
}

#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// How far it has come; `None` for one that could not be read whole when it was resumed.
    phase: Option<Phase>,
}

impl Journal {
    /// Begins one in place of what was there: both copies of the first line are on stable storage,
    /// and the file's name too, when this returns. The disk's lock must be held.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn begin(files: &TrialFiles, begin: Begin) -> Result<Self, JournalError> {
        let path = files.journal();
        let fail = |source| JournalError::Io { path: path.clone(), source };
        let new = path.with_extension("new");
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(NOFOLLOW)
            .open(&new)
            .map_err(fail)?;
        let mut journal = Self { path: path.clone(), file, phase: Some(Phase::Applying) };
        let first = JournalEntry::Begin(Box::new(begin));
        journal.append(&first)?;
        journal.append(&first)?;
        std::fs::rename(&new, &path).map_err(fail)?;
        File::open(&files.dir).and_then(|dir| dir.sync_all()).map_err(fail)?;
        Ok(journal)
    }

    /// Goes on with one. A line that was cut short is ended, so that it spoils none after it.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn resume(path: &Path) -> Result<Self, JournalError> {
        let fail = |source| JournalError::Io { path: path.to_path_buf(), source };
        let bytes = read_file(path, MAX_TEXT).map_err(fail)?;
        let mut file =
            OpenOptions::new().append(true).custom_flags(NOFOLLOW).open(path).map_err(fail)?;
        if bytes.last().is_some_and(|b| *b != b'\n') {
            file.write_all(b"\n").map_err(fail)?;
        }
        let phase = JournalState::parse(&bytes).ok().flatten().map(|state| state.phase());
        Ok(Self { path: path.to_path_buf(), file, phase })
    }

    /// How far it has come, if that is known.
    pub const fn phase(&self) -> Option<Phase> {
        self.phase
    }

    /// Adds a line and syncs it.
    ///
    /// # Panics
    /// When the entry does not follow in the journal's phase: that is a defect of the caller's.
    ///
    /// # Errors
    /// [`JournalError::Io`]: the line may be there in part, which is known when it is read.
    pub fn append(&mut self, entry: &JournalEntry) -> Result<(), JournalError> {
        let write = |file: &mut File| {
            file.write_all(line_of(entry)?.as_bytes())?;
            file.sync_data()
        };
        if let Some(phase) = self.phase {
            assert!(entry.may_follow(phase), "{entry:?} does not follow in phase {phase:?}");
        }
        let written = write(&mut self.file);
        // What cannot be written down does not begin; only a rollback is carried out all the same.
        if written.is_ok() || matches!(entry, JournalEntry::Rollback { .. }) {
            self.phase = self.phase.map(|phase| entry.begins().unwrap_or(phase));
        }
        written.map_err(|source| JournalError::Io { path: self.path.clone(), source })
    }
}

#[cfg(test)]
pub(crate) mod tests;

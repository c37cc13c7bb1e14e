//! Changing attributes and putting them back, one write at a time, each with a deadline.
//!
//! A write to `scheduler`, `nr_requests` and their like waits until no request is in flight: on a
//! disk that hangs, forever, in a state that no signal ends. So every access runs on its own
//! thread and is abandoned when its time is up. And a write that succeeded is not a value that is
//! set: the kernel clamps, rounds and ignores, so everything is read back.

use crate::setting::{Stage, Values};
use crate::writer::Writer;
use seekwell_sys::thread::start_with_stack;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Stack of a thread that makes one system call; all of it is locked in memory.
const STACK: usize = 128 << 10;

/// How often everything is gone through when it is put back: an attribute may reset one that was
/// put back before it.
const PASSES: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Of an ordinary attribute, in milliseconds.
    pub plain_ms: u64,
    /// Of one that waits for requests in flight, in milliseconds.
    pub freezing_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { plain_ms: 2_000, freezing_ms: 10_000 }
    }
}

/// Why an attribute does not have the value it should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum WriteError {
    #[error("the kernel refuses it: {error}")]
    Refused { error: String },
    #[error("the kernel took {wanted} and made it {got}")]
    Changed { wanted: String, got: String },
    #[error(
        "writing it has not returned for {after_ms} ms: the queue is stuck with requests in flight"
    )]
    Blocked {
        /// How long it was waited for, in milliseconds.
        after_ms: u64,
    },
    #[error("it is no longer there")]
    Gone,
    #[error("it cannot be read: {error}")]
    Unreadable { error: String },
}

/// An attribute with the value it had before anything was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Original {
    pub key: String,
    pub path: PathBuf,
    pub value: String,
    pub stage: Stage,
    pub freezes: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub key: String,
    pub path: PathBuf,
    pub value: String,
    pub stage: Stage,
    pub freezes: bool,
    /// Whether to prove first that the present value can be written back.
    pub prove: bool,
}

/// An attribute whose value is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    pub key: String,
    pub was: String,
    pub is: String,
}

/// An attribute that could not be put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    pub key: String,
    pub path: PathBuf,
    /// The value it should have.
    pub wanted: String,
    pub error: WriteError,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreOutcome {
    /// Keys that were written and read back as before.
    pub restored: Vec<String>,
    /// What could not be put back.
    pub left: Vec<Left>,
    /// Changed by someone else in the meantime, and left alone.
    pub foreign: Vec<Difference>,
}

impl RestoreOutcome {
    /// Everything that was changed is as it was.
    pub fn complete(&self) -> bool {
        self.left.is_empty()
    }

    pub fn left_keys(&self) -> Vec<String> {
        self.left.iter().map(|l| l.key.clone()).collect()
    }
}

/// The value an attribute's text says: the word in brackets where it lists several.
pub fn current(text: &str) -> String {
    let chosen = text.split_whitespace().find_map(|w| w.strip_prefix('[')?.strip_suffix(']'));
    chosen.unwrap_or(text.trim()).to_owned()
}

/// What an attribute shows after `value` was written: of a cache's belief, without the word that
/// says that it is no more than that.
fn shown_as(value: &str) -> &str {
    value.strip_prefix("temporary ").unwrap_or(value)
}

/// Writes and reads with deadlines.
#[derive(Clone)]
pub struct Applier {
    writer: Arc<dyn Writer>,
    limits: Limits,
    /// Attributes with a call that has not returned; the flag is set when it has.
    stuck: Arc<Mutex<BTreeMap<PathBuf, Arc<AtomicBool>>>>,
}

impl Applier {
    /// Over this writer, with these deadlines.
    pub fn new(writer: Arc<dyn Writer>, limits: Limits) -> Self {
        Self { writer, limits, stuck: Arc::default() }
    }

    fn limit(&self, freezes: bool) -> Duration {
        let ms = if freezes { self.limits.freezing_ms } else { self.limits.plain_ms };
        Duration::from_millis(ms)
    }

    /// Whether a call on this attribute has not returned yet.
    pub fn is_stuck(&self, path: &Path) -> bool {
        let stuck = self.stuck.lock().unwrap_or_else(PoisonError::into_inner);
        stuck.get(path).is_some_and(|done| !done.load(Ordering::Acquire))
    }

    /// Runs one access on its own thread, and abandons it after `limit`.
    fn timed<T: Send + 'static>(
        &self,
        path: &Path,
        limit: Duration,
        act: impl FnOnce(&dyn Writer) -> Result<T, WriteError> + Send + 'static,
    ) -> Result<T, WriteError> {
        let after_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        if self.is_stuck(path) {
            return Err(WriteError::Blocked { after_ms });
        }
        let (tell, told) = sync_channel(1);
        let done = Arc::new(AtomicBool::new(false));
        let (writer, at_end) = (Arc::clone(&self.writer), Arc::clone(&done));
        let spawned = start_with_stack("write", STACK, move || {
            let result = act(&*writer);
            at_end.store(true, Ordering::Release);
            // Nobody waits any more when the time was up.
            let _ = tell.send(result);
        });
        if let Err(error) = spawned {
            return Err(WriteError::Refused { error: error.to_string() });
        }
        match told.recv_timeout(limit) {
            Ok(result) => result,
            Err(RecvTimeoutError::Disconnected) => {
                Err(WriteError::Refused { error: "the writing thread ended".to_owned() })
            }
            Err(RecvTimeoutError::Timeout) => {
                let mut stuck = self.stuck.lock().unwrap_or_else(PoisonError::into_inner);
                stuck.insert(path.to_path_buf(), done);
                Err(WriteError::Blocked { after_ms })
            }
        }
    }

    /// The value of an attribute.
    ///
    /// # Errors
    /// [`WriteError::Gone`], [`WriteError::Unreadable`] or [`WriteError::Blocked`].
    pub fn read(&self, path: &Path) -> Result<String, WriteError> {
        let at = path.to_path_buf();
        self.timed(path, self.limit(false), move |writer| read(writer, &at))
    }

    /// Writes a value and reads it back.
    ///
    /// # Errors
    /// [`WriteError`]; the attribute may have any value then.
    pub fn set(&self, path: &Path, freezes: bool, value: &str) -> Result<String, WriteError> {
        let (at, value) = (path.to_path_buf(), value.to_owned());
        self.timed(path, self.limit(freezes), move |writer| {
            writer.write(&at, &value).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => WriteError::Gone,
                _ => WriteError::Refused { error: error.to_string() },
            })?;
            let got = read(writer, &at)?;
            if Values::same(&got, shown_as(&value)) {
                return Ok(got);
            }
            Err(WriteError::Changed { wanted: value, got })
        })
    }

    /// Proves that the value an attribute has can be put back, by writing it.
    ///
    /// # Errors
    /// [`WriteError`] says why it cannot.
    pub fn prove(&self, path: &Path, freezes: bool) -> Result<(), WriteError> {
        let present = self.read(path)?;
        self.set(path, freezes, &present).map(drop)
    }

    /// What is not as it was. Missing attributes are skipped: a scheduler's files go with it.
    /// Reading stops at one that does not answer: on a stuck queue every further read would time
    /// out too.
    pub fn differences(&self, originals: &[Original]) -> Vec<Difference> {
        let mut found = Vec::new();
        for o in originals {
            match self.read(&o.path) {
                Ok(is) if !Values::same(&is, &o.value) => {
                    found.push(Difference { key: o.key.clone(), was: o.value.clone(), is });
                }
                Err(WriteError::Blocked { .. }) => break,
                Ok(_) | Err(_) => {}
            }
        }
        found
    }

    /// Puts back what `ours` names, in the order in which settings reset each other, and reads
    /// every one of them back. Others that differ are named and left alone.
    pub fn restore(&self, originals: &[Original], ours: &BTreeSet<String>) -> RestoreOutcome {
        let mut order: Vec<&Original> =
            originals.iter().filter(|o| ours.contains(&o.key)).collect();
        order.sort_by_key(|o| o.stage);
        let mut restored = BTreeSet::new();
        let mut left = Vec::new();
        for _ in 0..PASSES {
            left.clear();
            for original in &order {
                match self.put_back(original) {
                    Ok(true) => drop(restored.insert(original.key.clone())),
                    Ok(false) => {}
                    Err(error) => left.push(Left {
                        key: original.key.clone(),
                        path: original.path.clone(),
                        wanted: original.value.clone(),
                        error,
                    }),
                }
            }
            let again = order.iter().any(|o| {
                !left.iter().any(|l| l.key == o.key)
                    && self.read(&o.path).is_ok_and(|is| !Values::same(&is, &o.value))
            });
            let blocked = left.iter().all(|l| matches!(l.error, WriteError::Blocked { .. }));
            if !again && blocked {
                break;
            }
        }
        let foreign =
            originals.iter().filter(|o| !ours.contains(&o.key)).cloned().collect::<Vec<_>>();
        let stuck = left.iter().any(|l| matches!(l.error, WriteError::Blocked { .. }));
        let foreign = if stuck { Vec::new() } else { self.differences(&foreign) };
        // Reset by another after it was put back.
        restored.retain(|key| !left.iter().any(|l| l.key == *key));
        assert!(restored.is_subset(ours), "nothing but what was changed is put back");
        assert!(left.iter().all(|l| ours.contains(&l.key)));
        assert!(
            foreign.iter().all(|d| !ours.contains(&d.key)),
            "what others changed is left alone"
        );
        RestoreOutcome { restored: restored.into_iter().collect(), left, foreign }
    }

    /// Returns whether it had to be written.
    fn put_back(&self, original: &Original) -> Result<bool, WriteError> {
        let is = self.read(&original.path)?;
        if Values::same(&is, &original.value) {
            return Ok(false);
        }
        self.set(&original.path, original.freezes, &original.value).map(|_| true)
    }
}

fn read(writer: &dyn Writer, path: &Path) -> Result<String, WriteError> {
    match writer.read(path) {
        Ok(text) => Ok(current(&text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(WriteError::Gone),
        Err(error) => match rustix::io::Errno::from_io_error(&error) {
            Some(rustix::io::Errno::NODEV) => Err(WriteError::Gone),
            _ => Err(WriteError::Unreadable { error: error.to_string() }),
        },
    }
}

#[cfg(test)]
mod tests;

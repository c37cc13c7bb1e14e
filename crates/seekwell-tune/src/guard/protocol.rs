//! What is said between the guard and everyone else: JSON, one line each way.

use crate::apply::{Difference, RestoreOutcome, WriteError};
use crate::journal::Phase;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// The longest line anyone may say.
const LONGEST: u64 = 1 << 20;

/// What may be asked of a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Ask {
    /// Leave it as it is, and end.
    Keep,
    /// Put it back, and end.
    Undo,
    /// Say how far things have come.
    Status,
    /// Begin the time anew.
    Heartbeat,
}

/// What it answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Reply {
    /// So far.
    Status {
        /// How far.
        phase: Phase,
        /// Time left, in milliseconds.
        remaining_ms: u64,
    },
    /// It stays.
    Kept,
    /// It was put back.
    Undone {
        /// What that came to.
        outcome: RestoreOutcome,
    },
    /// It cannot be done.
    Refused {
        /// Why, in words.
        why: String,
    },
}

/// What the guard tells the program that began the trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "kebab-case")]
pub enum Report {
    /// Everything is applied; the time runs.
    Applied {
        /// What changed beside it.
        side_effects: Vec<Difference>,
        /// What will not be watched, in words.
        blind: Vec<String>,
    },
    /// A setting could not be applied; everything was put back.
    Failed {
        /// Its key.
        key: String,
        /// Why.
        why: WriteError,
        /// What putting back came to.
        outcome: RestoreOutcome,
    },
}

/// Says one thing.
pub(super) fn send(to: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(what)?;
    line.push('\n');
    to.write_all(line.as_bytes())?;
    to.flush()
}

/// Hears one thing; an end before it is [`io::ErrorKind::UnexpectedEof`].
pub(super) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut line = String::new();
    BufReader::new(from.take(LONGEST)).read_line(&mut line)?;
    if !line.ends_with('\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_str(&line)?)
}

/// Asks the guard at `socket`. Undoing takes as long as the writes take, so `limit` must be long.
///
/// # Errors
/// When nobody listens there, or no answer comes in time.
pub fn ask(socket: &Path, what: Ask, limit: Duration) -> io::Result<Reply> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))?;
    send(&mut stream, &what)?;
    receive(&mut stream)
}

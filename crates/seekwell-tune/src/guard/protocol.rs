//! The guard's protocol: JSON, one line each way.

use crate::apply::{Difference, RestoreOutcome, WriteError};
use crate::journal::Phase;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

const LONGEST: u64 = 1 << 20;

/// A request to a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Ask {
    /// Leave it as it is, and end.
    Keep,
    /// Put it back, and end.
    Undo,
    Status,
    Heartbeat,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Reply {
    Status {
        phase: Phase,
        /// Time left, in milliseconds.
        remaining_ms: u64,
    },
    Kept,
    Undone {
        outcome: RestoreOutcome,
    },
    Refused {
        why: String,
    },
}

/// What the guard sends to the program that began the trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "kebab-case")]
pub enum Report {
    /// Everything is applied; the timer runs.
    Applied {
        side_effects: Vec<Difference>,
        /// What the guard cannot watch.
        blind: Vec<String>,
    },
    /// A setting could not be applied; everything was put back.
    Failed { key: String, why: WriteError, outcome: RestoreOutcome },
}

pub(super) fn send(to: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(what)?;
    line.push('\n');
    to.write_all(line.as_bytes())?;
    to.flush()
}

/// Receives one message; end of file before it is [`io::ErrorKind::UnexpectedEof`].
pub(super) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut line = String::new();
    BufReader::new(from.take(LONGEST)).read_line(&mut line)?;
    if !line.ends_with('\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(line.as_bytes())?)
}

/// Sends a request to the guard at `socket`. Undo takes as long as its writes, so `limit` is long.
///
/// # Errors
/// If nothing listens there, or no answer comes in time.
pub fn ask(socket: &Path, what: Ask, limit: Duration) -> io::Result<Reply> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))?;
    send(&mut stream, &what)?;
    receive(&mut stream)
}

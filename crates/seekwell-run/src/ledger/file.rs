//! The ledger as a file: a line of JSON that describes the writes, then a line for each
//! acknowledgement, with the number of writes that are durable.
//!
//! It is kept where the power stays on and may be cut off anywhere: text after the last line feed
//! is ignored.

use super::plan::{Plan, PlanError};
use rustix::fs::{FileType, fdatasync, fstat};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::os::fd::OwnedFd;

/// The schema of the first line.
pub const SCHEMA: &str = "seekwell/flush-ledger/1";
/// The longest line that is read.
const LONGEST: u64 = 4096;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    schema: String,
    /// The device, as it was named.
    device: String,
    plan: Plan,
}

/// A ledger that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    /// The device, as it was named when it was written.
    pub device: String,
    /// The writes.
    pub plan: Plan,
    /// Writes up to this one are durable.
    pub acknowledged: u32,
    /// How many acknowledgements that took.
    pub acknowledgements: u32,
}

/// What is wrong with a ledger.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum LedgerError {
    #[error("cannot read the ledger: {0}")]
    Read(#[from] io::Error),
    #[error("this is not a ledger: its first line is not that of {SCHEMA} ({why})")]
    Head { why: String },
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(
        "line {number} of the ledger is {found:?}: needed is a multiple of {batch}, more than \
         {before}"
    )]
    Line { number: u32, found: String, batch: u32, before: u32 },
}

impl Ledger {
    /// Reads a ledger to its end.
    ///
    /// # Errors
    /// [`LedgerError`] if it is not a ledger.
    pub fn read(mut from: impl BufRead) -> Result<Self, LedgerError> {
        let mut line = Vec::new();
        let whole = next_line(&mut from, &mut line)?;
        let head = |why: String| LedgerError::Head { why };
        let found: Head = serde_json::from_slice(&line).map_err(|e| head(e.to_string()))?;
        if found.schema != SCHEMA || !whole {
            return Err(head(format!("found {:?}", found.schema)));
        }
        let Head { device, plan, .. } = found;
        let plan = plan.checked()?;
        let mut ledger = Self { device, plan, acknowledged: 0, acknowledgements: 0 };
        while next_line(&mut from, &mut line)? {
            let text = String::from_utf8_lossy(&line);
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            let writes = text.parse().ok().filter(|n: &u32| {
                digits && n.is_multiple_of(plan.batch) && *n > ledger.acknowledged
            });
            ledger.acknowledged = writes.ok_or_else(|| LedgerError::Line {
                number: ledger.acknowledgements + 2,
                found: text.chars().take(40).collect(),
                batch: plan.batch,
                before: ledger.acknowledged,
            })?;
            ledger.acknowledgements += 1;
        }
        Ok(ledger)
    }
}

/// Reads a line without its line feed. Returns whether there was one.
fn next_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    from.by_ref().take(LONGEST).read_until(b'\n', line)?;
    Ok(line.pop_if(|last| *last == b'\n').is_some())
}

/// A ledger that is written.
#[derive(Debug)]
pub struct LedgerWriter {
    file: File,
    /// It lies on a disk, and must outlive the power of this machine.
    sync: bool,
}

impl LedgerWriter {
    /// Begins a ledger on a pipe or file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(to: OwnedFd, device: &str, plan: &Plan) -> io::Result<Self> {
        let sync = FileType::from_raw_mode(fstat(&to)?.st_mode) == FileType::RegularFile;
        let mut own = Self { file: to.into(), sync };
        let head = Head { schema: SCHEMA.into(), device: device.into(), plan: *plan };
        own.line(&serde_json::to_string(&head)?)?;
        Ok(own)
    }

    /// Writes up to this one are durable.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn acknowledged(&mut self, writes: u32) -> io::Result<()> {
        self.line(&writes.to_string())
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        self.file.write_all(format!("{text}\n").as_bytes())?;
        if self.sync {
            fdatasync(&self.file)?;
        }
        Ok(())
    }
}

//! The kernel log as evidence.
//!
//! The kernel says when it slows a disk down, and says it once, in a log nobody reads. [`read`]
//! takes the log from where it is kept (`source`), parses its lines (`record`), knows those that
//! matter (`catalogue`, through `matcher`), ties the names in them to disks (`map`) and puts them
//! together to what happened (`assemble`, `draft`, `incident`). What was said when hardware was
//! found is kept too (`facts`). A log of any size is read as a stream in bounded memory, and
//! anything in it that is no line of a kernel is passed over.

pub mod catalogue;

mod assemble;
mod draft;
mod event;
mod facts;
mod incident;
mod learn;
mod map;
mod matcher;
mod record;
mod source;
mod stamp;
mod states;
mod stream;

pub use event::KernelEvent;
pub use facts::{AhciBanner, AtaDevice, AtaPort, Link, LogFacts, Ncq, Queues};
pub use incident::{Incident, MappedBy, State};
pub use record::{Record, Stamp};
pub use source::{LogError, Source, read};
pub use stream::{Collector, MAX_LINE};

use serde::{Deserialize, Serialize};

/// What a kernel log says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LogReport {
    /// Where it was read from, in words.
    pub source: String,
    /// Why it was not read from where it would have been first.
    pub instead_of: Option<String>,
    /// Lines read; a line of `/dev/kmsg` with its tags counts once for each line.
    pub lines: u64,
    /// Lines that were longer than [`MAX_LINE`] and read up to there.
    pub cut: u64,
    /// How often a kernel said in it that it starts.
    pub boots: u32,
    /// The first time it has a line of, when the log does not reach back to the start of the
    /// kernel: what came before is not known.
    pub incomplete_since: Option<Stamp>,
    /// Time of its first line.
    pub first: Option<Stamp>,
    /// Time of its last line.
    pub last: Option<Stamp>,
    /// What happened, in the order of the first lines.
    pub incidents: Vec<Incident>,
    /// Incidents beyond the number that is kept.
    pub left_out: u64,
    /// What was said when hardware was found, in the latest boot.
    pub facts: LogFacts,
}

/// Text of a log for showing: no control characters, and at most `most` characters.
pub(crate) fn clean(text: &str, most: usize) -> String {
    let shown = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    shown.take(most).collect()
}

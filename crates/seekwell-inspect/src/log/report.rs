//! What a kernel log says.

use super::facts::LogFacts;
use super::incident::Incident;
use super::stamp::Stamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LogReport {
    /// Where it was read from, in words.
    pub source: String,
    /// Why it was not read from where it would have been first.
    pub instead_of: Option<String>,
    /// Lines read; a line of `/dev/kmsg` with its tags counts once for each line.
    pub lines: u64,
    /// Lines that were longer than [`super::MAX_LINE`] and read up to there.
    pub cut: u64,
    /// How often a kernel said in it that it starts.
    pub boots: u32,
    /// The first time it has a line of, when the log does not reach back to the start of the
    /// kernel: what came before is not known.
    pub incomplete_since: Option<Stamp>,
    pub first: Option<Stamp>,
    pub last: Option<Stamp>,
    /// What happened, in the order of the first lines.
    pub incidents: Vec<Incident>,
    /// Incidents beyond the number that is kept.
    pub left_out: u64,
    /// What was said when hardware was found, in the latest boot.
    pub facts: LogFacts,
}

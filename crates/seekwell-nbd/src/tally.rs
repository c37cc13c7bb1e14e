//! What a server did, and how late it was.

use crate::protocol::Command;
use seekwell_io::histogram::Histogram;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;

/// A request answered later than this is late.
const LATE: Nanos = Nanos::from_millis(1);
/// So is one that is later than this share of the time the model gave it: a tenth.
const LATE_SHARE: u64 = 10;
/// Over how long lateness is summed before it is complained of.
const WINDOW: Nanos = Nanos::from_millis(1000);

/// Requests of one kind.
#[derive(Debug, Clone, Default)]
pub struct OpTally {
    /// Bytes read, written or trimmed.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// From the arrival of each request to when the model was done with it.
    pub modelled: Histogram,
    /// From the arrival of each request to when it was answered.
    pub real: Histogram,
}

/// All requests.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    ops: [OpTally; Op::ALL.len()],
    /// Requests answered more than 1 ms, or more than a tenth of their modelled time, too late.
    pub late: u64,
    /// How late the latest was.
    pub worst: Nanos,
    window: Window,
}

#[derive(Debug, Clone, Copy, Default)]
struct Window {
    begin: Nanos,
    modelled_ns: u64,
    late_ns: u64,
    complained: bool,
}

/// The kind of a command.
pub const fn op_of(command: &Command) -> Op {
    match command {
        Command::Read { .. } => Op::Read,
        Command::Write { .. } => Op::Write,
        Command::Flush => Op::Flush,
        Command::Trim { .. } => Op::Discard,
    }
}

impl Tally {
    /// Requests of one kind.
    pub const fn of(&self, op: Op) -> &OpTally {
        &self.ops[op as usize]
    }

    /// All requests answered.
    pub fn requests(&self) -> u64 {
        self.ops.iter().map(|op| op.real.count()).sum()
    }

    /// Adds a request that arrived, was due and was answered at these times. True when requests
    /// of the last second took, for the first time, a tenth longer than modelled.
    pub fn add(&mut self, of: (Op, u64), failed: bool, [arrived, due, sent]: [Nanos; 3]) -> bool {
        let (op, bytes) = of;
        let tally = &mut self.ops[op as usize];
        tally.bytes += bytes;
        tally.errors += u64::from(failed);
        let (modelled, late) = (due.since(arrived), sent.since(due));
        tally.modelled.record(modelled);
        tally.real.record(sent.since(arrived));
        self.late += u64::from(late > LATE || late.0 > modelled.0 / LATE_SHARE);
        self.worst = self.worst.max(late);
        self.window.modelled_ns += modelled.0;
        self.window.late_ns += late.0;
        if sent.since(self.window.begin) < WINDOW {
            return false;
        }
        let behind = self.window.late_ns > self.window.modelled_ns / LATE_SHARE;
        let complained = self.window.complained || behind;
        let first = behind && !self.window.complained;
        self.window = Window { begin: sent, complained, ..Window::default() };
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_is_more_than_a_millisecond_or_a_tenth_and_is_complained_of_once() {
        let mut tally = Tally::default();
        let mut add = |arrived: u64, modelled: u64, late: u64| {
            let times = [arrived, arrived + modelled, arrived + modelled + late].map(Nanos);
            let first = tally.add((Op::Read, 4096), false, times);
            (first, tally.late)
        };
        let ms = 1_000_000;
        assert_eq!(add(0, 10 * ms, ms), (false, 0));
        assert_eq!(add(0, 10 * ms, ms + 1), (false, 1));
        assert_eq!(add(0, ms, ms / 10 + 1), (false, 2));
        // The second is over, and all of it was off by less than a tenth.
        assert_eq!(add(0, 1000 * ms, 2 * ms), (false, 3));
        assert_eq!(add(1100 * ms, ms, ms), (false, 4));
        assert_eq!(add(2100 * ms, ms, ms), (true, 5));
        assert_eq!(add(3200 * ms, ms, ms), (false, 6));
        assert_eq!(tally.worst, Nanos(2 * ms));
        assert_eq!((tally.requests(), tally.of(Op::Read).bytes), (7, 7 * 4096));
    }
}

//! Reads back what was written, in the order of files and offsets.

use super::written::Written;
use seekwell_io::measurement::Failure;
use seekwell_io::request::{Op, Request};
use seekwell_io::units::Nanos;
use seekwell_io::workload::{Next, Source};

/// Every whole write once.
#[derive(Debug)]
pub struct ReadBack<'w> {
    written: &'w Written,
    at: (usize, usize),
    /// Goes on after a failure.
    forgiving: bool,
}

impl<'w> ReadBack<'w> {
    /// All that is in the table; `forgiving` does not end at the first that differs.
    pub const fn new(written: &'w Written, forgiving: bool) -> Self {
        Self { written, at: (0, 0), forgiving }
    }
}

impl Source for ReadBack<'_> {
    fn next(&mut self, _: Nanos) -> Next {
        let Some((piece, next)) = self.written.after(self.at) else { return Next::Done };
        self.at = next;
        Next::Request(Request {
            op: Op::Read,
            offset: piece.address,
            len: piece.len,
            wanted: None,
            id: piece.sequence,
            durable: false,
            queue: 0,
        })
    }

    fn tolerates(&mut self, _: &Failure) -> bool {
        self.forgiving
    }
}

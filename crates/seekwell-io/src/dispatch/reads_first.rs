//! Reads before writes, with a few writes leaking through: DragonFly's disk queue from August 2009
//! (commit 30e5862e, `bioqdisksort` in sys/kern/subr_disk.c).

use super::{Dispatcher, Tags};
use crate::request::{Op, Request};
use crate::units::Nanos;
use std::collections::VecDeque;

/// After this many reads, consecutive writes may pass …
const MINOR_INTERVAL: u32 = 5;
/// … up to this many bytes of them.
const MINOR_BYTES: u64 = 256 << 10;
/// After this many reads, any writes may pass …
const BURST_INTERVAL: u32 = 60;
/// … up to this many bytes of them.
const BURST_BYTES: u64 = 3_000_000;

/// One queue with a mark before the first write. Reads are put in before the mark, writes at the
/// end; anything that orders goes to the end and takes the mark with it. The tags are shared.
#[derive(Debug)]
pub struct ReadsFirst {
    tags: Tags,
    /// What stands before the mark.
    front: VecDeque<Request>,
    /// What stands behind it, a write first.
    behind: VecDeque<Request>,
    behind_bytes: u64,
    reads: u32,
}

impl ReadsFirst {
    /// Over `tags` shared tags, at least one.
    pub fn new(tags: u32) -> Self {
        let (front, behind) = (VecDeque::new(), VecDeque::new());
        Self { tags: Tags::new(tags), front, behind, behind_bytes: 0, reads: 0 }
    }

    /// Moves the mark past up to `bytes` of writes.
    fn leak(&mut self, bytes: u64, consecutive: bool) {
        let (mut moved, mut end) = (0, None);
        while let Some(write) = self.behind.front() {
            let follows = end.is_none_or(|end| end == write.offset);
            if moved >= bytes || (consecutive && !follows) {
                break;
            }
            let write = *write;
            moved += u64::from(write.len);
            end = Some(write.offset + u64::from(write.len));
            self.behind_bytes -= u64::from(write.len);
            self.behind.pop_front();
            self.front.push_back(write);
        }
    }
}

impl Dispatcher for ReadsFirst {
    fn queue(&mut self, request: Request, _: Nanos) {
        match request.op {
            Op::Read => {
                self.front.push_back(request);
                self.reads += 1;
                if self.reads.is_multiple_of(BURST_INTERVAL) && self.behind_bytes > BURST_BYTES {
                    self.leak(BURST_BYTES, false);
                } else if self.reads.is_multiple_of(MINOR_INTERVAL) {
                    self.leak(MINOR_BYTES, true);
                }
            }
            Op::Write => {
                self.behind_bytes += u64::from(request.len);
                self.behind.push_back(request);
            }
            Op::Flush | Op::Discard => {
                self.front.append(&mut self.behind);
                self.behind_bytes = 0;
                self.front.push_back(request);
            }
        }
    }

    fn release(&mut self, _: Nanos) -> Option<Request> {
        if !self.tags.any_free() {
            return None;
        }
        let request = match self.front.pop_front() {
            Some(request) => request,
            None => {
                let write = self.behind.pop_front()?;
                self.behind_bytes -= u64::from(write.len);
                write
            }
        };
        self.tags.take();
        Some(request)
    }

    fn complete(&mut self, _: Op) {
        self.tags.put_back();
    }
}

//! Reads and writes kept apart, so that neither can take every tag: what DragonFly's CAM disk
//! driver does since commit af0aa0ac (10 April 2011, sys/bus/cam/scsi/scsi_da.c).

use super::{Dispatcher, Tags};
use crate::request::{Op, Request};
use crate::units::Nanos;
use std::collections::VecDeque;

/// Each side may hold `tags · 2/3 + 1` tags; reads go first; a flush counts as a write; discards
/// have a queue of their own with one outstanding, taken before both.
///
/// The driver passes one tag fewer than the device has: AHCI keeps a slot for error recovery.
#[derive(Debug)]
pub struct SplitTags {
    tags: Tags,
    limit: u32,
    reads: VecDeque<Request>,
    writes: VecDeque<Request>,
    discards: VecDeque<Request>,
    reads_out: u32,
    writes_out: u32,
    discards_out: u32,
}

impl SplitTags {
    /// Over `tags` tags, at least one.
    pub fn new(tags: u32) -> Self {
        Self {
            tags: Tags::new(tags),
            limit: Self::limit(tags),
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            discards: VecDeque::new(),
            reads_out: 0,
            writes_out: 0,
            discards_out: 0,
        }
    }

    /// The most tags either side may hold.
    pub const fn limit(tags: u32) -> u32 {
        tags * 2 / 3 + 1
    }
}

impl Dispatcher for SplitTags {
    fn queue(&mut self, request: Request, _: Nanos) {
        let side = match request.op {
            Op::Read => &mut self.reads,
            Op::Write | Op::Flush => &mut self.writes,
            Op::Discard => &mut self.discards,
        };
        side.push_back(request);
    }

    fn release(&mut self, _: Nanos) -> Option<Request> {
        if !self.tags.any_free() {
            return None;
        }
        let sides = [
            (&mut self.discards, &mut self.discards_out, 1),
            (&mut self.reads, &mut self.reads_out, self.limit),
            (&mut self.writes, &mut self.writes_out, self.limit),
        ];
        for (waiting, out, limit) in sides {
            if *out < limit
                && let Some(request) = waiting.pop_front()
            {
                *out += 1;
                self.tags.take();
                return Some(request);
            }
        }
        None
    }

    fn complete(&mut self, op: Op) {
        let out = match op {
            Op::Read => &mut self.reads_out,
            Op::Write | Op::Flush => &mut self.writes_out,
            Op::Discard => &mut self.discards_out,
        };
        debug_assert!(*out > 0, "more requests completed than released");
        *out -= 1;
        self.tags.put_back();
    }
}

//! A device whose driver hands out tags by a policy of its own.
//!
//! Where a machine is one device, the engine's dispatcher is that driver. Where it is two, as an
//! SSD in front of a disk, each has its own.

use crate::part::{Command, Done, Part, Usage};
use crate::serial::ByTag;
use seekwell_io::dispatch::{Dispatcher, TagPolicy};
use seekwell_io::request::{Op, Request};
use seekwell_io::units::Nanos;

/// The most commands that wait for tags or hold them.
const MOST: u32 = 1 << 16;

/// A device behind its driver's tag policy.
pub struct Tagged<P> {
    part: P,
    rule: Box<dyn Dispatcher + Send>,
    ops: ByTag<Option<Op>>,
}

impl<P: Part> Tagged<P> {
    /// A device that gets commands as `policy` hands out `tags`, at least one.
    pub fn new(policy: TagPolicy, tags: u32, part: P) -> Self {
        Self { part, rule: policy.over(tags), ops: ByTag::default() }
    }

    fn release(&mut self, now: Nanos) {
        while let Some(Request { op, offset, len, id, durable, .. }) = self.rule.release(now) {
            self.part.submit(Command { tag: id, op, offset, len, durable }, now);
        }
    }
}

impl<P: Part> Part for Tagged<P> {
    fn capacity(&self) -> u64 {
        self.part.capacity()
    }

    fn depth(&self) -> u32 {
        MOST
    }

    fn submit(&mut self, command: Command, now: Nanos) {
        let Command { tag: id, op, offset, len, durable } = command;
        self.ops.set(id, Some(op));
        self.rule.queue(Request { op, offset, len, wanted: None, id, durable, queue: 0 }, now);
        self.release(now);
    }

    fn next(&self) -> Nanos {
        self.part.next()
    }

    fn advance(&mut self, now: Nanos, done: &mut Vec<Done>) {
        let before = done.len();
        self.part.advance(now, done);
        for op in done[before..].iter().filter_map(|end| self.ops.get(end.tag)) {
            self.rule.complete(op);
        }
        self.release(now);
    }

    fn host_waits(&mut self, until: Nanos, now: Nanos) {
        self.part.host_waits(until, now);
    }

    fn usage(&self) -> Usage {
        self.part.usage()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{FakeDrive, arrivals, command, drain, lawful};
    use proptest::prelude::*;

    #[test]
    fn a_flood_of_writes_leaves_tags_to_the_reads_of_its_device() {
        let mut split = Tagged::new(TagPolicy::Split, 3, FakeDrive::new(8, 500));
        for tag in 0..6 {
            split.submit(command(tag, Op::Write, u64::from(tag) << 20, 4096), Nanos::ZERO);
        }
        split.submit(command(6, Op::Read, 0, 4096), Nanos::ZERO);
        drain(&mut split);
        let ops = split.part.ops();
        assert_eq!((ops.len(), ops.iter().position(|op| *op == Op::Read)), (7, Some(3)));
    }

    proptest! {
        #[test]
        fn it_keeps_the_laws_of_parts(
            arrivals in arrivals(),
            policy in prop::sample::select(TagPolicy::ALL.to_vec()),
            tags in 1_u32..8,
        ) {
            let mut tagged = Tagged::new(policy, tags, FakeDrive::new(8, 20_000));
            lawful(&mut tagged, 64, &arrivals);
        }
    }
}

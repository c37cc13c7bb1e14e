//! Where a drawn request goes: to a file that is not finished, and there to the offset that was
//! drawn or, on a zoned device, to the one its zones assign.

use super::{Cut, JobSource, Walk};
use crate::job::ThinkAt;
use crate::play::zones::Placed;
use seekwell_io::request::Op;
use seekwell_io::units::Nanos;
use seekwell_io::workload::Next;

/// A request that was drawn and has no offset yet.
#[derive(Debug, Clone, Copy)]
pub struct Wish {
    pub op: Op,
    pub address: u64,
    pub len: u32,
    pub due: Option<Nanos>,
}

/// How long a clone waits for another clone's write before it asks again.
const LOOK_AGAIN: Nanos = Nanos::from_micros(20);

impl JobSource {
    /// Where the next request of a kind goes, in any file that is not finished; starts the next
    /// pass when all are. `None` only if even a fresh pass has no room for it.
    pub(super) fn place(&mut self, op: Op, len: u32) -> Option<(u64, u32)> {
        for fresh in [false, true] {
            if fresh {
                if self.walks.iter().any(Walk::is_one_pass) {
                    return None;
                }
                self.walks.iter_mut().for_each(Walk::begin_again);
            }
            while let Some(file) = self.picker.pick(&self.walks, &mut self.rng) {
                if let Some((offset, len)) = self.walks[file].next(op, len, &mut self.rng) {
                    return Some((self.address.join(file as u32, offset), len));
                }
            }
        }
        None
    }

    /// Starts another pass if zones ended one in which something was done.
    pub(super) fn pass_over(&mut self, op: Op, now: Nanos) -> Next {
        if !std::mem::take(&mut self.placed) {
            return Next::Done;
        }
        self.drawn = Some(op);
        match self.quota.by_pass {
            true => self.quota.left = 0,
            false => self.walks.iter_mut().for_each(Walk::begin_again),
        }
        self.draw(now)
    }

    /// Issues a request at the offset that was drawn, or that its zones assign.
    pub(super) fn settle(&mut self, wish: Wish, now: Nanos) -> Next {
        let Wish { op, address, due, .. } = wish;
        let (file, offset) = self.address.split(address);
        let (address, len) = match self.zones.get_mut(file as usize) {
            None => (address, wish.len),
            Some(zones) => match zones.place(op, offset, wish.len.into(), now) {
                Ok(Placed::At(at, len)) => {
                    let len = len as u32;
                    self.placed = true;
                    self.walks[file as usize].went_to(op, at, len);
                    (self.address.join(file, at), len)
                }
                Ok(Placed::Wait) => {
                    self.wished = Some(wish);
                    let own = self.outstanding > 0;
                    return Next::NotBefore(if own { Nanos::MAX } else { now + LOOK_AGAIN });
                }
                Ok(Placed::NotBefore(at)) => {
                    self.wished = Some(wish);
                    return Next::NotBefore(at);
                }
                // Nothing can be read before something was written.
                Ok(Placed::Through) if op == Op::Read && self.kinds.other(op).is_some() => {
                    return self.settle(Wish { op: Op::Write, ..wish }, now);
                }
                Ok(Placed::Through) => {
                    self.walks[file as usize].end_pass();
                    if self.walks.iter().all(Walk::is_through) {
                        return self.pass_over(op, now);
                    }
                    self.drawn = Some(op);
                    return self.draw(now);
                }
                Err(unchanged) => {
                    self.cut = Some(Cut::Zone(unchanged));
                    return Next::Done;
                }
            },
        };
        self.quota.left = self.quota.left.saturating_sub(u64::from(len));
        self.quota.requests -= 1;
        if let Some(pacer) = &mut self.pacer {
            pacer.issued(op, len, &mut self.rng);
        }
        if let Some(think) = &mut self.think {
            think.count(ThinkAt::Issue);
        }
        if let Some(flow) = &mut self.flow {
            flow.issued();
        }
        let request = self.issue(op, address, len, due, now);
        self.hand_out(request)
    }
}

//! From a workload to its requests, for one thread.

use super::draw::{below, exponential};
use super::{Discards, Next, Pace, SizeShare, Source, Spread, Workload};
use crate::request::{Completion, Op, Request};
use crate::units::Nanos;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;

/// Draws requests. Equal workload, thread and times asked give equal requests, on any machine.
#[derive(Debug)]
pub struct Generator {
    rng: Xoshiro256PlusPlus,
    place: Place,
    start: u64,
    align: u64,
    region_end: u64,
    read_percent: u8,
    discards: Discards,
    /// Blocks that are discarded and still to be written.
    discarded: VecDeque<(u64, u32)>,
    discarding: u32,
    sizes: Vec<SizeShare>,
    weight_sum: u64,
    left: u64,
    arrivals: Option<Arrivals>,
    flush_every: u32,
    unflushed: u32,
    first_unflushed: Nanos,
}

#[derive(Debug)]
enum Place {
    Sequential { next: u64 },
    Drawn(Spread),
}

#[derive(Debug)]
struct Arrivals {
    mean_gap_ns: f64,
    poisson: bool,
    /// Time of the next arrival in nanoseconds; a fraction so that even gaps do not drift.
    next_ns: Option<f64>,
}

impl Generator {
    /// The share of `thread` (below `workload.threads`) of a workload that passed its check.
    pub fn new(workload: &Workload, thread: u32) -> Self {
        debug_assert!(workload.check().is_ok(), "the loop checks workloads first");
        let align = u64::from(workload.alignment());
        let start = workload.offset_bytes;
        let region_end = start + workload.region_bytes;
        let blocks = (workload.region_bytes - u64::from(workload.max_bytes())) / align + 1;
        let place = match workload.pattern.law() {
            None => {
                // Threads begin evenly spread, so that they do not read each other's data twice.
                let share = blocks / u64::from(workload.threads) * u64::from(thread);
                Place::Sequential { next: start + share * align }
            }
            Some(law) => Place::Drawn(Spread::new(&law, blocks)),
        };
        let arrivals = match workload.pace {
            Pace::Closed { .. } => None,
            Pace::Open { requests_per_s, poisson, .. } => {
                Some(Arrivals { mean_gap_ns: 1e9 / requests_per_s, poisson, next_ns: None })
            }
        };
        let seed = workload.seed ^ (u64::from(thread) << 48);
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            place,
            start,
            align,
            region_end,
            read_percent: workload.read_percent,
            discards: workload.discards,
            discarded: VecDeque::new(),
            discarding: 0,
            weight_sum: workload.sizes.iter().map(|s| u64::from(s.weight)).sum(),
            sizes: workload.sizes.clone(),
            left: if workload.requests == 0 { u64::MAX } else { workload.requests },
            arrivals,
            flush_every: workload.flush_every,
            unflushed: 0,
            first_unflushed: Nanos::ZERO,
        }
    }

    /// Counts a write towards the next flush.
    #[inline]
    const fn wrote(&mut self, now: Nanos) {
        if self.unflushed == 0 {
            self.first_unflushed = now;
        }
        self.unflushed += (self.flush_every > 0) as u32;
    }

    #[inline]
    fn op(&mut self) -> Op {
        if self.discards != Discards::None {
            return Op::Discard;
        }
        let read = match self.read_percent {
            100 => true,
            0 => false,
            percent => below(&mut self.rng, 100) < u64::from(percent),
        };
        if read { Op::Read } else { Op::Write }
    }

    #[inline]
    fn size(&mut self) -> u32 {
        if let [only] = self.sizes[..] {
            return only.bytes;
        }
        let mut draw = below(&mut self.rng, self.weight_sum);
        for share in &self.sizes {
            match draw.checked_sub(u64::from(share.weight)) {
                None => return share.bytes,
                Some(rest) => draw = rest,
            }
        }
        unreachable!("weights add up to weight_sum")
    }

    #[inline]
    fn offset(&mut self, len: u32) -> u64 {
        match &mut self.place {
            Place::Sequential { next } => {
                if *next + u64::from(len) > self.region_end {
                    *next = self.start;
                }
                let at = *next;
                *next += u64::from(len).next_multiple_of(self.align);
                at
            }
            Place::Drawn(spread) => self.start + spread.draw(&mut self.rng) * self.align,
        }
    }
}

impl Source for Generator {
    #[inline]
    fn next(&mut self, now: Nanos) -> Next {
        if self.flush_every > 0 && self.unflushed == self.flush_every {
            self.unflushed = 0;
            let wanted = Some(self.first_unflushed);
            return Next::Request(Request {
                op: Op::Flush,
                offset: 0,
                len: 0,
                wanted,
                id: 0,
                durable: false,
                queue: 0,
            });
        }
        if let Some((offset, len)) = self.discarded.pop_front() {
            self.wrote(now);
            let op = Op::Write;
            return Next::Request(Request {
                op,
                offset,
                len,
                wanted: None,
                id: 0,
                durable: false,
                queue: 0,
            });
        }
        if self.left == 0 {
            // A discard that is outstanding is followed by a write.
            let more = self.discards == Discards::BeforeWrites && self.discarding > 0;
            return if more { Next::NotBefore(Nanos::MAX) } else { Next::Done };
        }
        let wanted = match &mut self.arrivals {
            None => None,
            Some(arrivals) => {
                let due = arrivals.due(now, &mut self.rng);
                let at = Nanos(due as u64);
                if at > now {
                    return Next::NotBefore(at);
                }
                arrivals.next_ns = Some(due + arrivals.gap(&mut self.rng));
                Some(at)
            }
        };
        self.left -= 1;
        let len = self.size();
        let op = self.op();
        match op {
            Op::Write => self.wrote(now),
            Op::Discard => self.discarding += 1,
            Op::Read | Op::Flush => {}
        }
        Next::Request(Request {
            op,
            offset: self.offset(len),
            len,
            wanted,
            id: 0,
            durable: false,
            queue: 0,
        })
    }

    #[inline]
    fn completed(&mut self, request: &Request, _: Nanos, _: &Completion) {
        if request.op == Op::Discard {
            self.discarding -= 1;
            if self.discards == Discards::BeforeWrites {
                self.discarded.push_back((request.offset, request.len));
            }
        }
    }
}

impl Arrivals {
    /// When the next request is wanted; the first comes one gap after the first question.
    fn due(&mut self, now: Nanos, rng: &mut Xoshiro256PlusPlus) -> f64 {
        match self.next_ns {
            Some(due) => due,
            None => {
                let due = now.0 as f64 + self.gap(rng);
                *self.next_ns.insert(due)
            }
        }
    }

    fn gap(&self, rng: &mut Xoshiro256PlusPlus) -> f64 {
        if self.poisson { exponential(rng) * self.mean_gap_ns } else { self.mean_gap_ns }
    }
}

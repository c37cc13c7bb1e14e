//! In which order addresses come: sequential, near what came before, or anywhere.

use super::document::{self, Seek};
use super::log_bins::LogBins;
use super::ratio::share;
use super::seen::{Reads, Seen};
use super::sum::{Sum, sums};
use crate::record::Fields;
use seekwell_io::request::Op;

/// Requests looked back on.
const WINDOW: usize = 32;
/// Farther than this from all of them is random.
const NEAR_BITS: u32 = 17;
const SLOTS: usize = 512;

/// The last requests of one device. Two small tables of counts say at once that nothing can be
/// near, which is so for most requests of a random load; only otherwise are the 32 compared.
#[derive(Debug)]
pub(super) struct Recent {
    starts: [u64; WINDOW],
    ends: [u64; WINDOW],
    near: [u8; SLOTS],
    ending: [u8; SLOTS],
    filled: usize,
    next: usize,
}

const fn slot(value: u64) -> usize {
    (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize
}

impl Default for Recent {
    fn default() -> Self {
        Self {
            starts: [0; WINDOW],
            ends: [0; WINDOW],
            near: [0; SLOTS],
            ending: [0; SLOTS],
            filled: 0,
            next: 0,
        }
    }
}

impl Recent {
    /// The end of the last one.
    fn last(&self) -> Option<u64> {
        (self.filled > 0).then(|| self.ends[(self.next + WINDOW - 1) % WINDOW])
    }

    fn continues(&self, start: u64) -> bool {
        self.ending[slot(start)] > 0 && self.ends[..self.filled].contains(&start)
    }

    fn is_near(&self, start: u64) -> bool {
        let piece = start >> NEAR_BITS;
        let maybe = [piece.wrapping_sub(1), piece, piece + 1].map(|p| self.near[slot(p)]);
        let near = |other: &u64| start.abs_diff(*other) <= 1 << NEAR_BITS;
        maybe != [0; 3] && self.starts[..self.filled].iter().any(near)
    }

    fn push(&mut self, start: u64, end: u64) {
        let at = self.next;
        if self.filled == WINDOW {
            self.near[slot(self.starts[at] >> NEAR_BITS)] -= 1;
            self.ending[slot(self.ends[at])] -= 1;
        } else {
            self.filled += 1;
        }
        (self.starts[at], self.ends[at]) = (start, end);
        self.near[slot(start >> NEAR_BITS)] += 1;
        self.ending[slot(end)] += 1;
        self.next = (at + 1) % WINDOW;
    }
}

sums! {
    /// Sequence, distances and randomness of reads and writes.
    struct Sequence {
        requests: u64,
        continued: u64,
        random: u64,
        /// Requests that have another one of their device before them.
        followers: u64,
        /// Requests that begin where the one before them on their device ended.
        none: u64,
        /// Forward, backward.
        seeks: [LogBins; 2],
    }
}

impl Reads for Sequence {
    const FIELDS: Fields = Fields::OFFSET.and(Fields::LENGTH);
}

impl Sequence {
    /// A request of the device; whether it begins where the one before it ended.
    #[inline]
    pub fn add(&mut self, recent: &mut Recent, record: &Seen<Self>) -> bool {
        if !matches!(record.op(), Op::Read | Op::Write) || record.len() == 0 {
            return false;
        }
        let (start, end) = (record.offset(), record.end());
        self.requests += 1;
        let before = recent.last();
        if let Some(before) = before {
            self.followers += 1;
            self.continued += u64::from(recent.continues(start));
            self.random += u64::from(!recent.is_near(start));
            let distance = start.abs_diff(before);
            if distance == 0 {
                self.none += 1;
            } else {
                self.seeks[usize::from(start < before)].add(distance);
            }
        }
        recent.push(start, end);
        before == Some(start)
    }

    pub fn finish(&self) -> document::Order {
        document::Order {
            sequential_share: share(self.none, self.requests),
            sequential_in_window_share: share(self.continued, self.requests),
            random_share: share(self.random, self.followers),
            window_requests: WINDOW as u32,
            random_beyond_bytes: 1 << NEAR_BITS,
            seek: self.seek(),
        }
    }

    fn seek(&self) -> Seek {
        let [forward, backward] = &self.seeks;
        let mut powers: Vec<(u64, u64, u64)> = Vec::new();
        for (power, n) in forward.powers_of_two() {
            powers.push((power, n, 0));
        }
        for (power, n) in backward.powers_of_two() {
            match powers.binary_search_by_key(&power, |p| p.0) {
                Ok(at) => powers[at].2 = n,
                Err(at) => powers.insert(at, (power, 0, n)),
            }
        }
        let mut all = forward.clone();
        all.merge(backward.clone());
        all.add_many(0, self.none);
        Seek {
            requests: self.followers,
            none_share: share(self.none, self.followers),
            forward_share: share(forward.count(), self.followers),
            backward_share: share(backward.count(), self.followers),
            bytes_mean: all.mean(),
            bytes_p50: all.quantile(0.5),
            powers_of_two: powers,
        }
    }
}

//! Plain counts: operations, sizes, alignment, durability.

use super::document::{Alignment, Durability, Operation, Size, Sizes};
use super::log_bins::LogBins;
use super::ratio::{rate, share};
use super::seen::{Reads, Seen};
use super::sum::{Counts, sums, total};
use crate::record::{Fields, Flags};
use seekwell_io::request::Op;

sums! {
    /// Requests and bytes of each operation.
    struct Operations {
        requests: [u64; 4],
        bytes: [u64; 4],
        failed: u64,
        preflushes: u64,
        fua_writes: u64,
    }
}

impl Reads for Operations {
    const FIELDS: Fields = Fields::LENGTH.and(Fields::ERROR);
}

impl Operations {
    #[inline]
    pub fn add(&mut self, record: &Seen<Self>) {
        let op = record.op() as usize;
        self.requests[op] += 1;
        self.bytes[op] += u64::from(record.len());
        self.failed += u64::from(record.error() != 0);
        let write = u64::from(record.op() == Op::Write);
        self.preflushes += write * u64::from(record.flags().has(Flags::PREFLUSH));
        self.fua_writes += write * u64::from(record.flags().has(Flags::FUA));
    }

    pub fn requests(&self) -> u64 {
        total(&self.requests)
    }

    pub fn of(&self, op: Op) -> u64 {
        self.requests[op as usize]
    }

    pub fn bytes_of(&self, op: Op) -> u64 {
        self.bytes[op as usize]
    }

    pub fn finish(&self) -> Vec<Operation> {
        let (requests, bytes) = (self.requests(), total(&self.bytes));
        let one = |op: Op| Operation {
            op,
            requests: self.of(op),
            bytes: self.bytes_of(op),
            share: share(self.of(op), requests).unwrap_or(0.0),
            bytes_share: share(self.bytes_of(op), bytes).unwrap_or(0.0),
        };
        Op::ALL.into_iter().map(one).collect()
    }

    pub fn durability(&self, duration_ns: Option<u64>) -> Durability {
        let flushes = self.of(Op::Flush) + self.preflushes;
        let writes = self.of(Op::Write);
        Durability {
            flushes: self.of(Op::Flush),
            preflushes: self.preflushes,
            fua_writes: self.fua_writes,
            fua_share: share(self.fua_writes, writes),
            flushes_per_s: rate(flushes, duration_ns),
            writes_per_flush: (flushes > 0).then(|| writes as f64 / flushes as f64),
        }
    }
}

/// Every size below this is counted by itself.
const SMALL: usize = 64 << 10;
/// Multiples of 512 bytes up to this too.
const COMMON: u32 = 1 << 20;
const SIZES: usize = SMALL + (COMMON >> 9) as usize + 1;

sums! {
    /// How large reads and writes are.
    struct SizeCounts {
        /// Reads and writes of each size class.
        exact: [Counts<SIZES>; 2],
        /// Of other sizes.
        others: [LogBins; 2],
        bytes: u64,
    }
}

impl Reads for SizeCounts {
    const FIELDS: Fields = Fields::LENGTH;
}

impl SizeCounts {
    #[inline]
    pub fn add(&mut self, record: &Seen<Self>) {
        if !matches!(record.op(), Op::Read | Op::Write) {
            return;
        }
        let (len, side) = (record.len(), record.op() as usize);
        self.bytes += u64::from(len);
        if (len as usize) < SMALL {
            self.exact[side].0[len as usize] += 1;
        } else if len <= COMMON && len.is_multiple_of(512) {
            self.exact[side].0[SMALL + (len >> 9) as usize] += 1;
        } else {
            self.others[side].add(u64::from(len));
        }
    }

    pub fn finish(&self) -> Sizes {
        let mut all: Vec<Size> = Vec::new();
        let [reads, writes] = &self.exact;
        for (at, (&reads, &writes)) in reads.0.iter().zip(&writes.0).enumerate() {
            if reads + writes > 0 {
                let bytes = if at < SMALL { at } else { (at - SMALL) << 9 } as u64;
                all.push(Size { bytes, reads, writes });
            }
        }
        for (side, others) in self.others.iter().enumerate() {
            for (bytes, n) in others.sparse() {
                let (reads, writes) = if side == 0 { (n, 0) } else { (0, n) };
                all.push(Size { bytes, reads, writes });
            }
        }
        all.sort_unstable_by_key(|s| s.bytes);
        all.dedup_by(|next, one| {
            let same = next.bytes == one.bytes;
            if same {
                (one.reads, one.writes) = (one.reads + next.reads, one.writes + next.writes);
            }
            same
        });
        let count = |s: &Size| s.reads + s.writes;
        let requests = all.iter().fold(0_u64, |sum, s| sum.saturating_add(count(s)));
        let mut seen = 0_u128;
        let median = all.iter().find(|s| {
            seen += u128::from(count(s));
            seen * 2 >= u128::from(requests)
        });
        let median_bytes = median.map(|s| s.bytes);
        let mut powers: Vec<Size> = Vec::new();
        for s in &all {
            let low = s.bytes.checked_ilog2().map_or(0, |power| 1 << power);
            match powers.last_mut().filter(|power| power.bytes == low) {
                Some(power) => {
                    power.reads = power.reads.saturating_add(s.reads);
                    power.writes = power.writes.saturating_add(s.writes);
                }
                None => powers.push(Size { bytes: low, ..*s }),
            }
        }
        all.sort_by_key(|s| std::cmp::Reverse(count(s)));
        all.truncate(10);
        let mean_bytes = share(self.bytes, requests);
        Sizes { mean_bytes, median_bytes, top: all, powers_of_two: powers }
    }
}

/// The largest power of two looked at.
const ALIGNED_MOST: u32 = 20;

sums! {
    /// Where reads and writes begin and end.
    struct Alignments {
        powers: [u64; ALIGNED_MOST as usize + 1],
        starts: u64,
        writes: u64,
        partial_writes: u64,
    }
}

impl Reads for Alignments {
    const FIELDS: Fields = Fields::OFFSET.and(Fields::LENGTH);
}

impl Alignments {
    #[inline]
    pub fn add(&mut self, record: &Seen<Self>) {
        if !matches!(record.op(), Op::Read | Op::Write) || record.len() == 0 {
            return;
        }
        let both = record.offset() | u64::from(record.len());
        self.powers[both.trailing_zeros().min(ALIGNED_MOST) as usize] += 1;
        self.starts += u64::from(record.offset().trailing_zeros() >= 12);
        let write = u64::from(record.op() == Op::Write);
        self.writes += write;
        self.partial_writes += write * u64::from(both.trailing_zeros() < 12);
    }

    pub fn finish(&self) -> Alignment {
        let all = total(&self.powers);
        let powers = self.powers.iter().enumerate().filter(|(_, n)| **n > 0);
        Alignment {
            both_4k_share: share(total(&self.powers[12..]), all),
            start_4k_share: share(self.starts, all),
            partial_writes_share: share(self.partial_writes, self.writes),
            powers_of_two: powers.map(|(i, n)| (1 << i, *n)).collect(),
        }
    }
}

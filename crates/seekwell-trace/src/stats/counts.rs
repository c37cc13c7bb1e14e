//! Plain counts: operations, sizes, alignment, durability.

use super::document::{Alignment, Durability, Operation, Size, Sizes};
use super::ratio::{rate, share};
use crate::record::{Flags, Record};
use seekwell_io::request::Op;
use std::collections::HashMap;

/// Requests and bytes of each operation.
#[derive(Debug, Default)]
pub(super) struct Operations {
    requests: [u64; 4],
    bytes: [u64; 4],
    failed: u64,
    preflushes: u64,
    fua_writes: u64,
}

impl Operations {
    #[inline]
    pub fn add(&mut self, record: &Record) {
        let op = record.op as usize;
        self.requests[op] += 1;
        self.bytes[op] += u64::from(record.len);
        self.failed += u64::from(record.error != 0);
        let write = u64::from(record.op == Op::Write);
        self.preflushes += write * u64::from(record.flags.has(Flags::PREFLUSH));
        self.fua_writes += write * u64::from(record.flags.has(Flags::FUA));
    }

    pub fn requests(&self) -> u64 {
        self.requests.iter().sum()
    }

    pub fn failed(&self) -> u64 {
        self.failed
    }

    pub fn of(&self, op: Op) -> u64 {
        self.requests[op as usize]
    }

    pub fn bytes_of(&self, op: Op) -> u64 {
        self.bytes[op as usize]
    }

    pub fn finish(&self) -> Vec<Operation> {
        let (requests, bytes) = (self.requests(), self.bytes.iter().sum());
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

/// Sizes in steps of 512 bytes below this are counted in an array.
const COMMON_BYTES: u32 = 1 << 20;
/// Other sizes told apart; what comes beyond counts with its power of two only.
const OTHER_SIZES: usize = 1 << 16;

/// How large reads and writes are.
#[derive(Debug)]
pub(super) struct SizeCounts {
    common: Vec<[u64; 2]>,
    others: HashMap<u32, [u64; 2]>,
    powers: [[u64; 2]; 33],
    bytes: u64,
}

impl Default for SizeCounts {
    fn default() -> Self {
        Self {
            common: vec![[0; 2]; (COMMON_BYTES >> 9) as usize + 1],
            others: HashMap::new(),
            powers: [[0; 2]; 33],
            bytes: 0,
        }
    }
}

impl SizeCounts {
    #[inline]
    pub fn add(&mut self, record: &Record) {
        if !matches!(record.op, Op::Read | Op::Write) {
            return;
        }
        let (len, side) = (record.len, record.op as usize);
        self.bytes += u64::from(len);
        self.powers[(u32::BITS - len.leading_zeros()) as usize][side] += 1;
        if len <= COMMON_BYTES && len.is_multiple_of(512) {
            self.common[(len >> 9) as usize][side] += 1;
        } else {
            self.uncommon(len, side);
        }
    }

    #[cold]
    fn uncommon(&mut self, len: u32, side: usize) {
        if self.others.len() < OTHER_SIZES || self.others.contains_key(&len) {
            self.others.entry(len).or_default()[side] += 1;
        }
    }

    pub fn finish(&self) -> Sizes {
        let size = |bytes, [reads, writes]: [u64; 2]| Size { bytes, reads, writes };
        let count = |s: &Size| s.reads + s.writes;
        let common = self.common.iter().enumerate().map(|(i, n)| size((i as u64) << 9, *n));
        let others = self.others.iter().map(|(len, n)| size(u64::from(*len), *n));
        let mut all: Vec<Size> = common.chain(others).filter(|s| count(s) > 0).collect();
        all.sort_unstable_by_key(|s| s.bytes);
        let told: u64 = all.iter().map(count).sum();
        let mut seen = 0;
        let median = all.iter().find(|s| {
            seen += count(s);
            seen * 2 >= told
        });
        let median_bytes = median.map(|s| s.bytes);
        all.sort_by_key(|s| std::cmp::Reverse(count(s)));
        all.truncate(10);
        let requests: u64 = self.powers.iter().flatten().sum();
        let low = |i: usize| if i == 0 { 0 } else { 1u64 << (i - 1) };
        let powers = self.powers.iter().enumerate().map(|(i, n)| size(low(i), *n));
        Sizes {
            mean_bytes: share(self.bytes, requests),
            median_bytes,
            top: all,
            powers_of_two: powers.filter(|s| count(s) > 0).collect(),
        }
    }
}

/// The largest power of two looked at.
const ALIGNED_MOST: u32 = 20;

/// Where reads and writes begin and end.
#[derive(Debug, Default)]
pub(super) struct Alignments {
    powers: [u64; ALIGNED_MOST as usize + 1],
    starts: u64,
    writes: u64,
    partial_writes: u64,
}

impl Alignments {
    #[inline]
    pub fn add(&mut self, record: &Record) {
        if !matches!(record.op, Op::Read | Op::Write) || record.len == 0 {
            return;
        }
        let both = record.offset | u64::from(record.len);
        self.powers[both.trailing_zeros().min(ALIGNED_MOST) as usize] += 1;
        self.starts += u64::from(record.offset.trailing_zeros() >= 12);
        let write = u64::from(record.op == Op::Write);
        self.writes += write;
        self.partial_writes += write * u64::from(both.trailing_zeros() < 12);
    }

    pub fn finish(&self) -> Alignment {
        let all = self.powers.iter().sum();
        let powers = self.powers.iter().enumerate().filter(|(_, n)| **n > 0);
        Alignment {
            both_4k_share: share(self.powers[12..].iter().sum(), all),
            start_4k_share: share(self.starts, all),
            partial_writes_share: share(self.partial_writes, self.writes),
            powers_of_two: powers.map(|(i, n)| (1 << i, *n)).collect(),
        }
    }
}

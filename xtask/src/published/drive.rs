//! How long one 7200 rpm SATA drive would have taken.
//!
//! One arm over platters that turn: a request costs the move, the wait for its sector and its
//! transfer. Where a sector is follows from the clock, so that a write that comes just too late
//! waits a turn, as each commit of a journal does. Writes are answered out of a volatile cache and
//! go out in order of place, at the latest when the cache is full or a flush asks for it; reads go
//! before them. Reads are served as they come, but faster the more of them wait, by what the
//! measured depth curve of such a drive, an ST2000DM006, gained (57.6 reads a second at depth 1,
//! 93.6 at 32: a tenth for each doubling).
//!
//! A turn follows from 7200 a minute and the average seek of 8.5 ms is usual in data sheets of the
//! class. The shortest move, the command overhead and the number of writes that the cache holds are
//! assumed.

use crate::storagemark::disk::Timing;
use std::collections::{BTreeMap, VecDeque};

/// A turn at 7200 a minute.
const TURN_NS: f64 = 60e9 / 7200.0;
/// A sector that went by so shortly ago is still caught: the inaccuracy of the sums.
const CAUGHT_NS: f64 = 20_000.0;
/// The shortest move.
const SEEK_LEAST_NS: f64 = 0.8e6;
/// The average one, over a third of the drive.
const SEEK_MEAN_NS: f64 = 8.5e6;
/// What electronics and link take of every request.
const OVERHEAD_NS: u64 = 100_000;
/// Time of a byte on a link of 3 Gb/s.
const LINK_BYTE_NS: f64 = 1e9 / 300e6;
/// Most writes in the cache.
const CACHED_WRITES: usize = 64;
/// What a read's time is divided by for each doubling of the reads that wait.
const GAIN: f64 = 1.10;
/// Most requests that the drive chooses from.
const DEPTH: usize = 31;

/// What tells drives apart.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Bytes on the whole drive, from which distances follow.
    pub capacity: u64,
    /// Bytes that a second moves at the platter.
    pub bytes_per_s: f64,
    /// Bytes of cache for writes.
    pub cache: u64,
}

/// The drive's clockwork.
#[derive(Debug)]
pub struct Drive {
    kind: Kind,
    /// When the arm is free. Never before the last call.
    free_at_ns: u64,
    /// The byte behind the last one that was moved.
    head: u64,
    /// Writes in the cache: offset and length.
    cached: BTreeMap<u64, u64>,
    cached_bytes: u64,
    /// When the reads that wait are done.
    reads: VecDeque<u64>,
}

impl Drive {
    /// An idle one with an empty cache.
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            free_at_ns: 0,
            head: 0,
            cached: BTreeMap::new(),
            cached_bytes: 0,
            reads: VecDeque::new(),
        }
    }

    /// Writes out what time allowed until `now`.
    fn catch_up(&mut self, now: u64) {
        while self.free_at_ns < now && self.write_out() {}
        self.free_at_ns = self.free_at_ns.max(now);
    }

    /// Writes the next of the cache, upwards from the head and then from the lowest again. Returns
    /// whether there was one.
    fn write_out(&mut self) -> bool {
        let above = self.cached.range(self.head..).next();
        let Some((&offset, &len)) = above.or_else(|| self.cached.first_key_value()) else {
            return false;
        };
        self.cached.remove(&offset);
        self.cached_bytes -= len;
        self.serve(offset, len, 1.0);
        true
    }

    /// Moves `len` bytes at `offset`, from when the arm is free on.
    fn serve(&mut self, offset: u64, len: u64, effort: f64) {
        let takes = self.position_ns(offset) * effort + len as f64 * self.byte_ns();
        self.free_at_ns += takes as u64;
        self.head = offset + len;
    }

    fn byte_ns(&self) -> f64 {
        1e9 / self.kind.bytes_per_s
    }

    /// The way to a byte: the move, and the wait until the platter has turned to it.
    fn position_ns(&self, offset: u64) -> f64 {
        let track = TURN_NS / self.byte_ns();
        let away = self.head.abs_diff(offset) as f64;
        let seek = if away <= track { 0.0 } else { self.seek_ns(away) };
        let angle_ns = (offset as f64 % track) * self.byte_ns();
        let wait = (angle_ns - self.free_at_ns as f64 - seek).rem_euclid(TURN_NS);
        seek + if wait > TURN_NS - CAUGHT_NS { 0.0 } else { wait }
    }

    /// Grows with the root of the distance.
    fn seek_ns(&self, away: f64) -> f64 {
        let share = (away / self.kind.capacity as f64).min(1.0);
        SEEK_LEAST_NS + (SEEK_MEAN_NS - SEEK_LEAST_NS) * (3.0 * share).sqrt()
    }

    fn link_ns(len: u64) -> u64 {
        OVERHEAD_NS + (len as f64 * LINK_BYTE_NS) as u64
    }
}

impl Timing for Drive {
    fn read(&mut self, now: u64, offset: u64, len: u64) -> u64 {
        self.catch_up(now);
        while self.reads.front().is_some_and(|end| *end <= now) {
            self.reads.pop_front();
        }
        if offset == self.head {
            // Read ahead already.
            self.free_at_ns += (len as f64 * self.byte_ns()) as u64;
            self.head += len;
        } else {
            let depth = (self.reads.len() + 1).min(DEPTH);
            self.serve(offset, len, GAIN.powf(-(depth as f64).log2()));
        }
        self.reads.push_back(self.free_at_ns);
        self.free_at_ns + OVERHEAD_NS
    }

    fn write(&mut self, now: u64, offset: u64, len: u64) -> u64 {
        self.catch_up(now);
        let mut room_at = now;
        while self.cached.len() >= CACHED_WRITES || self.cached_bytes + len > self.kind.cache {
            if !self.write_out() {
                break;
            }
            room_at = self.free_at_ns;
        }
        let before = self.cached.insert(offset, len).unwrap_or(0);
        self.cached_bytes = self.cached_bytes + len - before;
        room_at + Self::link_ns(len)
    }

    fn flush(&mut self, now: u64) -> u64 {
        self.catch_up(now);
        while self.write_out() {}
        self.free_at_ns + OVERHEAD_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind { capacity: 250_000_000_000, bytes_per_s: 120e6, cache: 16 << 20 };

    /// A place of 4 KiB on the drive, the same in every run.
    fn place(number: u64) -> u64 {
        ((number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % (KIND.capacity >> 12)) << 12
    }

    /// Random reads a second with so many outstanding.
    fn reads_per_s(depth: usize) -> f64 {
        let mut drive = Drive::new(KIND);
        let mut ends = VecDeque::from(vec![0_u64; depth]);
        let count = 5_000;
        for number in 0..count {
            let now = ends.pop_front().unwrap();
            ends.push_back(drive.read(now, place(number), 4096));
        }
        count as f64 * 1e9 / *ends.back().unwrap() as f64
    }

    #[test]
    fn a_random_read_takes_a_seek_and_half_a_turn_and_many_at_once_gain_as_the_measured_drive() {
        let alone = reads_per_s(1);
        assert!((75.0..82.0).contains(&alone), "{alone}");
        let gain = reads_per_s(31) / alone;
        assert!((1.5..1.8).contains(&gain), "{gain}");
    }

    #[test]
    fn reads_in_a_row_go_at_the_rate_of_the_platter() {
        let mut drive = Drive::new(KIND);
        let first = drive.read(0, 1 << 30, 1 << 20);
        let last = (1..=100).fold(first, |now, n| drive.read(now, (1 << 30) + (n << 20), 1 << 20));
        let rate = 100.0 * f64::from(1 << 20) * 1e9 / (last - first) as f64;
        // Each also takes the overhead, for one comes after the other.
        assert!((118e6..120e6).contains(&rate), "{rate}");
    }

    #[test]
    fn a_journals_commits_wait_for_the_platter_to_come_round() {
        let mut drive = Drive::new(KIND);
        let mut now = 0;
        for n in 0..50 {
            now = drive.write(now, n << 12, 4096);
            now = drive.flush(now);
        }
        let turns = now as f64 / 50.0 / TURN_NS;
        assert!((0.95..1.05).contains(&turns), "{turns}");
    }

    #[test]
    fn writes_are_answered_at_once_until_the_cache_is_full_and_a_flush_waits_for_all() {
        let mut drive = Drive::new(KIND);
        let count = CACHED_WRITES as u64;
        let answers: Vec<u64> = (1..=2 * count).map(|n| drive.write(1, place(n), 4096)).collect();
        let (soon, late) = answers.split_at(CACHED_WRITES);
        assert!(soon.iter().all(|at| *at < SEEK_LEAST_NS as u64));
        assert!(late.iter().all(|at| *at > SEEK_LEAST_NS as u64));
        let flushed = drive.flush(1) - late[late.len() - 1];
        let each_ms = flushed as f64 / 1e6 / count as f64;
        // Sorted by place, short moves and half a turn each.
        assert!((4.0..9.4).contains(&each_ms), "{each_ms}");
        assert_eq!(drive.flush(flushed * 9) - flushed * 9, OVERHEAD_NS);
    }

    #[test]
    fn reads_go_before_writes_that_are_cached() {
        let mut drive = Drive::new(KIND);
        for number in 0..60 {
            drive.write(0, place(number), 4096);
        }
        let longest = TURN_NS + drive.seek_ns(KIND.capacity as f64);
        assert!((drive.read(0, place(99), 4096) as f64) < longest + 1e6);
    }
}

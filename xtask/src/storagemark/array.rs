//! How long the disks of the document would have taken.
//!
//! Four drives of 15,000 turns a minute, mirrored in pairs and striped over (RAID-10), behind a
//! controller that answers writes out of its own memory. Every drive serves one request after the
//! other: move, wait for the sector, transfer. Data are kept elsewhere; here is only the time.
//!
//! A turn follows from 15,000 a minute. The rest is assumed, as is usual for drives of that class,
//! and checked against no data sheet: average seek 3.8 ms, 60 MB/s from the platter; stripes of
//! 64 KiB, 32 MiB of memory for writes, which go out sorted and so cost half the movement.

use super::disk::Timing;
use std::collections::VecDeque;

/// Bytes of a stripe's part on one pair.
const STRIPE: u64 = 64 << 10;
/// Mirrored pairs.
const PAIRS: usize = 2;
/// Bytes the whole array holds: heads of a small file system move little.
const CAPACITY: f64 = 73e9;
/// The shortest move.
const SEEK_LEAST_NS: f64 = 0.5e6;
/// What a move over the whole drive takes beyond the shortest; with a root law the average, over a
/// third of it, is 3.8 ms.
const SEEK_SPAN_NS: f64 = 5.7e6;
/// A turn at 15,000 a minute.
const TURN_NS: f64 = 4e6;
/// Time of a byte at 60 MB/s.
const BYTE_NS: f64 = 1e9 / 60e6;
/// What the controller and the bus take of every request.
const OVERHEAD_NS: u64 = 150_000;
/// What the controller keeps of writes before one has to wait.
const CACHE: u64 = 32 << 20;
/// Share of seek and turn that a write out of the cache costs.
const SORTED: f64 = 0.5;

#[derive(Debug, Clone, Copy, Default)]
struct Drive {
    free_at_ns: u64,
    head: u64,
}

/// The array's clockwork. Times are nanoseconds on the caller's clock.
#[derive(Debug)]
pub struct Array {
    drives: [[Drive; 2]; PAIRS],
    /// Writes in the controller: when each is on disk, and its bytes.
    dirty: VecDeque<(u64, u64)>,
    dirty_bytes: u64,
    /// How many times smaller the scene is than the document's.
    scale: f64,
    state: u64,
}

impl Array {
    /// An idle one. Distances grow by `scale`, as if everything on it had its full size.
    pub fn new(scale: u32) -> Self {
        Self {
            drives: Default::default(),
            dirty: VecDeque::new(),
            dirty_bytes: 0,
            scale: f64::from(scale),
            state: 0x9e37_79b9_7f4a_7c15,
        }
    }
}

impl Timing for Array {
    fn read(&mut self, now: u64, offset: u64, len: u64) -> u64 {
        let mut done = now;
        for (pair, at, bytes) in chunks(offset, len) {
            let mirrors = &self.drives[pair];
            let nearer = |drive: &Drive| (drive.free_at_ns.max(now), drive.head.abs_diff(at));
            let side = usize::from(nearer(&mirrors[1]) < nearer(&mirrors[0]));
            done = done.max(self.serve(pair, side, now, (at, bytes), 1.0));
        }
        done + OVERHEAD_NS
    }

    /// Its way to the drives keeps them busy after the answer.
    fn write(&mut self, now: u64, offset: u64, len: u64) -> u64 {
        let mut answered = now;
        self.forget(now);
        while self.dirty_bytes + len > CACHE {
            let Some((at, bytes)) = self.dirty.pop_front() else { break };
            self.dirty_bytes -= bytes;
            answered = answered.max(at);
        }
        let mut on_disk = now;
        for (pair, at, bytes) in chunks(offset, len) {
            for side in 0..2 {
                on_disk = on_disk.max(self.serve(pair, side, now, (at, bytes), SORTED));
            }
        }
        self.dirty.push_back((on_disk, len));
        self.dirty_bytes += len;
        answered + OVERHEAD_NS
    }

    /// At once: the controller's memory outlives a power cut.
    fn flush(&mut self, now: u64) -> u64 {
        now + OVERHEAD_NS
    }
}

impl Array {
    fn forget(&mut self, now: u64) {
        while let Some((at, bytes)) = self.dirty.front().copied() {
            if at > now {
                break;
            }
            self.dirty.pop_front();
            self.dirty_bytes -= bytes;
        }
    }

    fn serve(&mut self, pair: usize, side: usize, now: u64, part: (u64, u64), effort: f64) -> u64 {
        let (at, bytes) = part;
        let turn = self.uniform() * TURN_NS;
        let scale = self.scale;
        let drive = &mut self.drives[pair][side];
        let away = drive.head.abs_diff(at);
        let moving = if away == 0 { 0.0 } else { seek_ns(away as f64 * scale) + turn };
        let takes = moving * effort + bytes as f64 * BYTE_NS;
        drive.free_at_ns = drive.free_at_ns.max(now) + takes as u64;
        drive.head = at + bytes;
        drive.free_at_ns
    }

    /// Evenly spread in 0…1 (xorshift), the same in every run.
    fn uniform(&mut self) -> f64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn seek_ns(bytes: f64) -> f64 {
    let share = (bytes / (CAPACITY / PAIRS as f64)).min(1.0);
    SEEK_LEAST_NS + SEEK_SPAN_NS * share.sqrt()
}

/// A request cut at stripes: pair, first byte on its drives, bytes. Neighbours on a drive are one.
fn chunks(offset: u64, len: u64) -> Vec<(usize, u64, u64)> {
    let mut parts: Vec<(usize, u64, u64)> = Vec::new();
    let (mut at, end) = (offset, offset.saturating_add(len));
    while at < end {
        let stripe = at / STRIPE;
        let bytes = (STRIPE - at % STRIPE).min(end - at);
        let pair = (stripe % PAIRS as u64) as usize;
        let place = stripe / PAIRS as u64 * STRIPE + at % STRIPE;
        match parts.iter_mut().find(|p| p.0 == pair && p.1 + p.2 == place) {
            Some(part) => part.2 += bytes,
            None => parts.push((pair, place, bytes)),
        }
        at += bytes;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean time of random reads of 4 KiB over the whole array with so many outstanding, and the
    /// reads a second that come of it.
    fn closed(depth: usize) -> (f64, f64) {
        let mut array = Array::new(1);
        let (mut ends, mut total) = (vec![0_u64; depth], 0.0);
        let rounds = 20_000;
        for _ in 0..rounds {
            let next = ends.iter().enumerate().min_by_key(|(_, at)| **at).unwrap().0;
            let now = ends[next];
            let offset = (array.uniform() * CAPACITY) as u64 / 4096 * 4096;
            ends[next] = array.read(now, offset, 4096);
            total += (ends[next] - now) as f64;
        }
        let last = *ends.iter().max().unwrap() as f64;
        (total / f64::from(rounds), f64::from(rounds) * 1e9 / last)
    }

    #[test]
    fn a_random_read_takes_a_short_seek_and_half_a_turn_and_four_drives_share_the_work() {
        let (alone_ns, alone_per_s) = closed(1);
        // One drive would take 5.8 ms; of two the nearer answers.
        assert!((4.5e6..5.3e6).contains(&alone_ns), "{alone_ns}");
        assert!((1e9 / alone_ns - alone_per_s).abs() < 1.0);
        let (_, busy_per_s) = closed(32);
        assert!((3.4..4.1).contains(&(busy_per_s / alone_per_s)), "{busy_per_s} {alone_per_s}");
    }

    #[test]
    fn a_read_that_goes_on_where_the_last_ended_does_not_move() {
        let mut array = Array::new(4);
        let first = array.read(0, 0, STRIPE);
        // The other mirror is as far as it was; the one that was read is in place.
        let second = array.read(first, STRIPE * PAIRS as u64, STRIPE);
        assert_eq!(second - first, (STRIPE as f64 * BYTE_NS) as u64 + OVERHEAD_NS);
    }

    #[test]
    fn writes_are_answered_at_once_until_the_controller_is_full_and_then_wait_for_drives() {
        let mut array = Array::new(1);
        let answers: Vec<u64> =
            (0..200).map(|n| array.write(0, n * 97 * STRIPE, 1 << 20)).collect();
        assert!(answers[..32].iter().all(|at| *at == OVERHEAD_NS));
        assert!(answers[32..].iter().all(|at| *at > OVERHEAD_NS));
        assert_eq!(array.flush(7), 7 + OVERHEAD_NS);
    }

    #[test]
    fn a_request_is_cut_at_stripes_and_joined_on_each_drive() {
        assert_eq!(chunks(0, 4096), [(0, 0, 4096)]);
        assert_eq!(chunks(STRIPE - 512, 1024), [(0, STRIPE - 512, 512), (1, 0, 512)]);
        assert_eq!(chunks(0, 4 * STRIPE), [(0, 0, 2 * STRIPE), (1, 0, 2 * STRIPE)]);
        assert!(chunks(5, 0).is_empty());
    }
}

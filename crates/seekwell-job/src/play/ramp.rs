//! What a job does before it is measured: for a time (`ramp_time`) or a number of bytes
//! (`ramp_size`), whichever is reached first.

use crate::job::Timing;
use seekwell_io::units::Nanos;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How far a clone is in its ramp. Copies of one ramp count the same bytes.
#[derive(Debug, Clone)]
pub struct Ramp {
    time: Nanos,
    bytes: u64,
    moved: Arc<AtomicU64>,
    start: Option<Nanos>,
    end: Option<Nanos>,
}

impl Ramp {
    /// The ramp of a job; `moved` is shared with the clones whose bytes count together.
    pub const fn new(timing: &Timing, moved: Arc<AtomicU64>) -> Self {
        Self { time: timing.ramp, bytes: timing.ramp_bytes, moved, start: None, end: None }
    }

    /// When measuring begins, which may be later than `now`; `None` while only bytes decide. The
    /// ramp starts with the first call.
    #[inline]
    pub fn end(&mut self, now: Nanos) -> Option<Nanos> {
        if self.end.is_none() {
            let by_time = *self.start.get_or_insert(now) + self.time;
            let timed = self.bytes == 0 || (self.time > Nanos::ZERO && now >= by_time);
            let moved = self.bytes > 0 && self.moved.load(Relaxed) >= self.bytes;
            self.end = if timed { Some(by_time) } else { moved.then_some(now) };
        }
        self.end
    }

    /// Whether it is over.
    #[inline]
    pub fn is_over(&mut self, now: Nanos) -> bool {
        self.end(now).is_some_and(|end| now >= end)
    }

    /// Counts the bytes of a request.
    #[inline]
    pub fn completed(&self, len: u32) {
        if self.end.is_none() {
            self.moved.fetch_add(u64::from(len), Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(time: u64, bytes: u64) -> Ramp {
        let timing = Timing { ramp: Nanos(time), ramp_bytes: bytes, ..Timing::default() };
        Ramp::new(&timing, Arc::default())
    }

    #[test]
    fn a_ramp_ends_with_its_time_or_its_bytes_whichever_comes_first() {
        assert_eq!(ramp(0, 0).end(Nanos(7)), Some(Nanos(7)));
        assert_eq!(ramp(10, 0).end(Nanos(7)), Some(Nanos(17)), "known beforehand");
        for (time, bytes, over_at) in [(0, 8192, 9), (100, 8192, 9), (2, 8192, 7)] {
            let mut ramp = ramp(time, bytes);
            let over = (5..).find(|now| {
                let over = ramp.is_over(Nanos(*now));
                ramp.completed(2048);
                over
            });
            assert_eq!(over, Some(over_at), "{time} ns, {bytes} bytes");
        }
    }

    #[test]
    fn clones_that_are_reported_together_count_together() {
        let (mut one, mut other) = (ramp(0, 4096), ramp(0, 4096));
        assert!(!one.is_over(Nanos(1)));
        other.moved = Arc::clone(&one.moved);
        other.completed(4096);
        assert!(one.is_over(Nanos(2)) && other.is_over(Nanos(2)));
    }
}
